"""GTP, the Go Text Protocol (version 2), as programs of Othello speak it: lines in, lines out.

It knows engines, but no search. Beside the commands that every GTP program has, there are `hint N` (the best moves with
scores in discs), `level N`, `setup_board` (64 characters and the side to move) and what Quarry asks: `set_game`,
`list_games`. The side that must pass may be passed over without a word. A line `# interrupt` ends the thinking.
"""

import logging
import re
from collections.abc import Callable, Iterable
from typing import Final

from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.loaded_engine import Line, LoadedEngine, discs_of
from pydlshogi.games.othello.rules import PASS, START, IllegalMove, Position, move_name, parse_move, position_of
from pydlshogi.player.ask import Thought
from pydlshogi.player.base_player import Info
from pydlshogi.player.clock import Limits
from pydlshogi.support import __version__

MOST_HINTS: Final = 5

_LINE: Final = re.compile(r"(?:([0-9]+)(?: +|$))?(.*)")
_MOST_STONES: Final = 1000
_COLOURS: Final = {"b": 0, "black": 0, "w": 1, "white": 1}

log = logging.getLogger(__name__)


class CommandError(Exception):
    """A command that fails; the text is what GTP says of it."""


class Gtp:
    """One conversation with one controller."""

    def __init__(self, engine: LoadedEngine) -> None:
        self._engine = engine
        self._line: Line
        self._game = [OthelloPosition()]
        """The positions of the game, as they can be returned to; passes that were not played are none."""
        self._settings: Limits | None = None
        self._left: dict[int, Limits | None] = dict.fromkeys((0, 1))
        """What is left to Black (0) and to White (1); None while no clock runs."""
        self._quit = False
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "final_score": self._final_score,
            "genmove": self._genmove,
            "hint": self._hint,
            "komi": self._komi,
            "known_command": lambda words: "true" if words[0] in self._commands else "false",
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
            "showboard": lambda _: "\n".join(["", *self._game[-1].describe()]),
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

    @property
    def _now(self) -> Position:
        return self._game[-1].now

    def _begin(self, start: Position) -> None:
        self._game = [OthelloPosition(start, ply=61 - start.empties)]
        self._left = dict.fromkeys((0, 1), self._settings)
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

    def _end(self, _: list[str]) -> str:
        self._quit = True
        return ""

    def _play(self, words: list[str]) -> str:
        try:
            position, move = self._turn(words[0]), parse_move(words[1])
            if not (position.now.over and move == PASS):  # which `genmove` answers then
                self._game.append(played(position, move))
        except IllegalMove as error:
            raise CommandError("illegal move") from error
        return ""

    def _turn(self, colour: str) -> OthelloPosition:
        """The position with this colour to move; the other one may have to pass. Raises IllegalMove, LookupError."""
        turn, position = _COLOURS[colour.lower()], self._game[-1]
        return position if position.turn == turn or position.now.over else played(position, PASS)

    def _genmove(self, words: list[str]) -> str:
        position, answer = self._think(words)
        if answer is None:
            return "PASS"
        if left := self._left[position.turn]:
            left = left.after(answer.clock.elapsed())
            self._left[position.turn] = _limits(left.btime or 0, left.byoyomi or 0)
        self._game.append(played(position, position.move_from_usi(answer.move)))
        return answer.move.upper()

    def _reg_genmove(self, words: list[str]) -> str:
        _, answer = self._think(words)
        return answer.move.upper() if answer else "PASS"

    def _think(self, words: list[str]) -> tuple[OthelloPosition, Thought | None]:
        """The position with the colour of the command to move, and the engine's answer; None: the game is over."""
        try:
            position = self._turn(words[0])
        except IllegalMove as error:
            raise CommandError("illegal move") from error
        return position, None if position.now.over else self._ask(position)

    def _ask(self, position: OthelloPosition, lines: int = 1) -> Thought:
        return self._engine.ask(position, self._left[position.turn], lines=lines, stopped=self._line.interrupted)

    def _hint(self, words: list[str]) -> str:
        most = int(words[0]) if words else MOST_HINTS
        if most < 1:
            raise ValueError(most)
        if self._now.over:
            raise CommandError("the game is over")
        return "\n".join(map(_described, self._ask(self._game[-1], most).lines))

    def _level(self, words: list[str]) -> str:
        self._engine.set_level(int(words[0]))
        return ""

    def _time_settings(self, words: list[str]) -> str:
        main, byoyomi, stones = float(words[0]), float(words[1]), int(words[2])
        if not 0 <= main < float("inf") or not 0 <= byoyomi < float("inf") or not 0 <= stones <= _MOST_STONES:
            raise ValueError(words)
        # Byoyomi for no move is GTP's way to say that there is no limit.
        limited = (main > 0 and not byoyomi) or (byoyomi > 0 and stones > 0)
        self._settings = _limits(1000 * main, 1000 * byoyomi / max(1, stones)) if limited else None
        self._left = dict.fromkeys((0, 1), self._settings)
        return ""

    def _time_left(self, words: list[str]) -> str:
        turn, seconds, stones = _COLOURS[words[0].lower()], float(words[1]), int(words[2])
        if not 0 <= seconds < float("inf") or not 0 <= stones <= _MOST_STONES:
            raise ValueError(words)
        byoyomi = 0 if self._settings is None else self._settings.byoyomi or 0
        self._left[turn] = _limits(0, 1000 * seconds / stones) if stones else _limits(1000 * seconds, byoyomi)
        return ""

    def _undo(self, _: list[str]) -> str:
        if len(self._game) == 1:
            raise CommandError("cannot undo")
        self._game.pop()
        return ""

    def _final_score(self, _: list[str]) -> str:
        if not self._now.over:
            raise CommandError("cannot score")
        lead = self._now.lead
        return f"{'B' if lead > 0 else 'W'}+{abs(lead)}" if lead else "0"


def _plain(line: str) -> str:
    """A line as GTP reads it: no comment, no control characters, single blanks at most."""
    text = line.partition("#")[0].replace("\t", " ")
    return " ".join("".join(letter for letter in text if letter >= " " and letter != "\x7f").split())


def played(position: OthelloPosition, move: int) -> OthelloPosition:
    """The position after `move`. Raises IllegalMove."""
    if move not in position.now.moves():
        raise IllegalMove(f"{move_name(move)} cannot be played")
    after = position.copy()
    after.push(move)
    return after


def _limits(main: float, byoyomi: float) -> Limits:
    """Of a clock with `main` milliseconds, and `byoyomi` for each move after that; also of one that has run out."""
    left = max(0 if byoyomi else 1, round(main))
    return Limits(btime=left, wtime=left, byoyomi=round(byoyomi))


def _described(info: Info) -> str:
    discs = discs_of(info)
    score = "" if discs is None else f" {discs:+.2f}{' exact' if info.exact else f' depth {info.depth}'}"
    return f"{info.pv[0].upper()}{score}"


def interrupts(line: str) -> bool:
    """Whether a line ends the thinking that was asked for before."""
    return line.strip() == "# interrupt"
