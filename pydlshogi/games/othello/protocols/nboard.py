"""The protocol of NBoard (version 2), a board for Othello: lines in, lines out.

It knows engines, but no search. Whatever NBoard says while the engine is thinking, but `go` and `hint`, ends the
thinking. A line of another kind is passed over, as the protocol demands; one that is wrong is answered by a
status.
"""

import logging
from collections.abc import Callable, Iterable

from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.gtp import played
from pydlshogi.games.othello.protocols.loaded_engine import Line, LoadedEngine, discs_of
from pydlshogi.games.othello.rules import PASS, parse_move
from pydlshogi.games.othello.transcript import parse_ggf
from pydlshogi.player.ask import Lines, Thought

log = logging.getLogger(__name__)


class NBoard:
    """One conversation with one board."""

    def __init__(self, engine: LoadedEngine, write: Callable[[str], None]) -> None:
        """`write` says a line."""
        self._engine, self._write = engine, write
        self._line: Line
        self._position: OthelloPosition | None = OthelloPosition()
        """None: the game that was to be set was refused, and no other is meant."""
        self._commands: dict[str, Callable[[str], None]] = {
            "nboard": lambda _: self._write(f"set myname {self._engine.name}"),
            "set": self._set,
            "move": self._move,
            "hint": self._hint,
            "go": self._go,
            "ping": lambda text: self._write(f"pong {text}".rstrip()),
            "learn": lambda _: self._write("learned"),
        }

    def run(self, inbox: Iterable[Line]) -> None:
        """Obey the lines of `inbox` until `quit` or their end."""
        for self._line in inbox:
            command, text = [*self._line.text.split(maxsplit=1), "", ""][:2]
            if command == "quit":
                return
            try:
                if command in self._commands:  # the protocol may say others one day
                    self._commands[command](text.strip())
            except OSError:
                raise  # NBoard is gone
            except ValueError as error:
                self._complain(str(error))
            except Exception as error:
                log.exception("a defect, please report it")
                self._complain(f"{type(error).__name__}: {error}")

    def _complain(self, text: str) -> None:
        self._write(f"status Error! {' '.join(text.split())[:200]}")

    def _set(self, text: str) -> None:
        what, value = [*text.split(maxsplit=1), "", ""][:2]
        match what:
            case "depth":
                level = int(value)
                self._engine.set_level(level)
                self._write(f"set myname {self._engine.name} {level}")
            case "game":
                self._position = None
                games = list(parse_ggf(value))
                if len(games) != 1:
                    raise ValueError("that is no game in GGF")
                position = OthelloPosition(games[0].start, ply=61 - games[0].start.empties)
                for move in games[0].moves:
                    position.push(move)
                self._position = position

    def _move(self, text: str) -> None:
        """`F5`, or `F5/eval/seconds`."""
        move = parse_move(text.partition("/")[0].strip())
        position = self._there()
        if position.now.moves() == [PASS] != [move]:
            position = played(position, PASS)
        self._position = played(position, move)

    def _there(self, wanted: str = "") -> OthelloPosition:
        if self._position is None:
            raise ValueError(f"{wanted}there is no game: the last one was refused")
        return self._position

    def _hint(self, text: str) -> None:
        most, position = max(1, int(text or 1)), self._there()
        if position.now.over:
            self._write("status The game is over")
            return
        self._write("status Analyzing")
        self._end(self._ask(position, most))

    def _go(self, _: str) -> None:
        position = self._there("go: ")  # counts as the answer, as there is none with `===`
        if position.now.over:
            self._write("=== PA")
            return
        self._write("status Thinking")
        answer = self._ask(position)
        discs = discs_of(answer.lines[0])
        value = "" if discs is None else f"/{discs:.2f}/{answer.clock.elapsed() / 1000:.2f}"
        self._write(f"=== {_name(answer.move)}{value}")
        self._end(answer)

    def _ask(self, position: OthelloPosition, lines: int = 1) -> Thought:
        return self._engine.ask(position, lines=lines, stopped=self._line.interrupted, hear=self._hear)

    def _hear(self, lines: Lines) -> None:
        for info in lines:
            if (discs := discs_of(info)) is not None:
                depth = "100%" if info.exact else str(info.depth)
                self._write(f"search {''.join(map(_name, info.pv))} {discs:.2f} 0 {depth}")

    def _end(self, answer: Thought) -> None:
        nodes = max(info.nodes or 0 for info in answer.lines)
        self._write(f"nodestats {nodes} {answer.clock.elapsed() / 1000:.2f}")
        self._write("status")


def _name(move: str) -> str:
    return "PA" if move == "pass" else move.upper()


def interrupts(line: str) -> bool:
    """Whether a line ends the thinking that was asked for before."""
    return line.split(maxsplit=1)[:1] not in ([], ["go"], ["hint"])
