"""GTP, the Go Text Protocol (version 2), as programs of Othello speak it: lines in, lines out.

It knows engines, but no search. Beside the commands that every GTP program has, there are `hint N` (the best moves with
scores in discs), `level N`, `setup_board` (64 characters and the side to move) and what Quarry asks: `set_game`,
`list_games`. The side that must pass may be passed over without a word. A line `# interrupt` ends the thinking.
"""

import logging
import re
from collections.abc import Callable, Iterable
from typing import Final

from pydlshogi import __version__
from pydlshogi.engines.othello.clock import Clock, Effort, TimeLeft, allot
from pydlshogi.engines.othello.engine import Hint, OthelloEngine, thinking, unheard
from pydlshogi.games.othello.board import board_of
from pydlshogi.games.othello.rules import PASS, START, IllegalMove, Position, move_name, parse_move, position_of
from pydlshogi.protocols.inbox import Line

MOST_HINTS: Final = 5

_LINE: Final = re.compile(r"(?:([0-9]+)(?: +|$))?(.*)")
_MOST_STONES: Final = 1000
_COLOURS: Final = {"b": True, "black": True, "w": False, "white": False}

log = logging.getLogger(__name__)


class CommandError(Exception):
    """A command that fails; the text is what GTP says of it."""


class Gtp:
    """One conversation with one controller."""

    def __init__(self, engine: OthelloEngine, effort: Effort) -> None:
        """`effort`: what a move may cost while no clock runs."""
        self._engine, self._effort = engine, effort
        self._line: Line
        self._game = [START]
        """The positions of the game, as they can be returned to; passes that were not played are none."""
        self._settings: TimeLeft | None = None
        self._left: dict[bool, TimeLeft | None] = dict.fromkeys((True, False))
        """What is left to Black (True) and to White; None while no clock runs."""
        self._quit = False
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "final_score": self._final_score,
            "genmove": self._genmove,
            "hint": self._hint,
            "komi": self._komi,
            "known_command": self._known_command,
            "level": self._level,
            "list_commands": lambda _: "\n".join(sorted(self._commands)),
            "list_games": lambda _: "Othello",
            "name": lambda _: self._engine.name,
            "play": self._play,
            "protocol_version": lambda _: "2",
            "quit": self._end,
            "reg_genmove": self._reg_genmove,
            "set_game": self._set_game,
            "setup_board": self._setup_board,
            "showboard": lambda _: "\n" + board_of(self._game[-1]),
            "time_left": self._time_left,
            "time_settings": self._time_settings,
            "undo": self._undo,
            "version": lambda _: __version__,
        }

    def run(self, inbox: Iterable[Line], write: Callable[[str], None]) -> None:
        """Obey the lines of `inbox` until `quit` or their end; `write` says an answer, which ends in an empty line."""
        for self._line in inbox:
            text = _plain(self._line.text)
            if not text:
                continue
            found = _LINE.fullmatch(text)
            assert found is not None
            status, answer = self._answer(found[2].split())
            blank = "" if not answer or answer.startswith("\n") else " "
            write(f"{status}{found[1] or ''}{blank}{answer}\n\n")
            if self._quit:
                return

    def _answer(self, words: list[str]) -> tuple[str, str]:
        """`=` and the answer to a command, or `?` and why there is none."""
        if not words or words[0] not in self._commands:
            return "?", "unknown command"
        try:
            return "=", self._commands[words[0]](words[1:])
        except CommandError as error:
            return "?", str(error)
        except (ValueError, LookupError):
            return "?", "syntax error"
        except Exception as error:
            log.exception("a defect, please report it")
            return "?", f"{type(error).__name__}: {error}".splitlines()[0]

    def _boardsize(self, words: list[str]) -> str:
        if int(words[0]) != 8:
            raise CommandError("unacceptable size")
        return self._clear_board([])

    def _clear_board(self, _: list[str]) -> str:
        self._begin(START)
        return ""

    def _begin(self, start: Position) -> None:
        self._game = [start]
        self._left = dict.fromkeys((True, False), self._settings)
        self._engine.new_game()

    def _setup_board(self, words: list[str]) -> str:
        self._begin(position_of("".join(words)))
        return ""

    def _set_game(self, words: list[str]) -> str:
        if words[0].lower() != "othello":
            raise CommandError("unsupported game")
        return self._clear_board([])

    def _komi(self, words: list[str]) -> str:
        float(words[0])
        return ""

    def _known_command(self, words: list[str]) -> str:
        return "true" if words[0] in self._commands else "false"

    def _end(self, _: list[str]) -> str:
        self._quit = True
        return ""

    def _play(self, words: list[str]) -> str:
        try:
            position = self._turn(words[0])
            self._game.append(position.play(parse_move(words[1])))
        except IllegalMove as error:
            raise CommandError("illegal move") from error
        return ""

    def _turn(self, colour: str) -> Position:
        """The position with this colour to move; the other one may have to pass. Raises IllegalMove, LookupError."""
        black, position = _COLOURS[colour.lower()], self._game[-1]
        return position if position.black_to_move == black or position.over else position.play(PASS)

    def _genmove(self, words: list[str]) -> str:
        position, hint, seconds = self._think(words)
        if left := self._left[position.black_to_move]:
            self._left[position.black_to_move] = left.after(seconds, self._settings or left)
        if not position.over:
            self._game.append(position.play(hint.move))
        return _vertex(hint.move)

    def _reg_genmove(self, words: list[str]) -> str:
        _, hint, _ = self._think(words)
        return _vertex(hint.move)

    def _think(self, words: list[str]) -> tuple[Position, Hint, float]:
        """The position with the colour of the command to move, the engine's move, and the seconds that it took."""
        try:
            position = self._turn(words[0])
        except IllegalMove as error:
            raise CommandError("illegal move") from error
        if position.over:
            return position, Hint(PASS, None, ()), 0.0
        clock = self._clock(position)
        with thinking():
            return position, self._engine.choose(position, clock, unheard), clock.elapsed

    def _clock(self, position: Position) -> Clock:
        left = self._left[position.black_to_move]
        return Clock(allot(left, position.empties) if left else self._effort, self._line.interrupted)

    def _hint(self, words: list[str]) -> str:
        most = int(words[0]) if words else MOST_HINTS
        position = self._game[-1]
        if most < 1:
            raise ValueError(most)
        if position.over:
            raise CommandError("the game is over")
        clock = self._clock(position)
        with thinking():
            return "\n".join(map(_described, self._engine.hints(position, most, clock, unheard)))

    def _level(self, words: list[str]) -> str:
        level = int(words[0])
        if not 1 <= level <= 60:
            raise ValueError(level)
        self._effort = Effort(level=level)
        return ""

    def _time_settings(self, words: list[str]) -> str:
        main, byoyomi, stones = float(words[0]), float(words[1]), int(words[2])
        if not 0 <= main < float("inf") or not 0 <= byoyomi < float("inf") or not 0 <= stones <= _MOST_STONES:
            raise ValueError(words)
        # Byoyomi for no move is GTP's way to say that there is no limit.
        limited = (main > 0 and not byoyomi) or (byoyomi > 0 and stones > 0)
        self._settings = TimeLeft(main, byoyomi, stones if byoyomi else 0) if limited else None
        self._left = dict.fromkeys((True, False), self._settings)
        return ""

    def _time_left(self, words: list[str]) -> str:
        black, seconds, stones = _COLOURS[words[0].lower()], float(words[1]), int(words[2])
        if not 0 <= seconds < float("inf") or not 0 <= stones <= _MOST_STONES:
            raise ValueError(words)
        main = (self._settings or TimeLeft(0.0))._replace(main=seconds)
        self._left[black] = TimeLeft(0.0, seconds, stones) if stones else main
        return ""

    def _undo(self, _: list[str]) -> str:
        if len(self._game) == 1:
            raise CommandError("cannot undo")
        self._game.pop()
        return ""

    def _final_score(self, _: list[str]) -> str:
        position = self._game[-1]
        if not position.over:
            raise CommandError("cannot score")
        lead = position.lead
        return f"{'B' if lead > 0 else 'W'}+{abs(lead)}" if lead else "0"


def _plain(line: str) -> str:
    """A line as GTP reads it: no comment, no control characters, single blanks at most."""
    text = line.partition("#")[0].replace("\t", " ")
    return " ".join("".join(letter for letter in text if letter >= " " and letter != "\x7f").split())


def _vertex(move: int) -> str:
    return move_name(move).upper()


def _described(hint: Hint) -> str:
    score = "" if hint.score is None else f" {hint.score:+.2f}{' exact' if hint.exact else f' depth {hint.depth}'}"
    return f"{_vertex(hint.move)}{score}"


def interrupts(line: str) -> bool:
    """Whether a line ends the thinking that was asked for before."""
    return line.strip() == "# interrupt"
