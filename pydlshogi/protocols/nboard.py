"""The protocol of NBoard (version 2), a board for Othello: lines in, lines out.

It knows engines, but no search. Whatever NBoard says while the engine is thinking, but `go` and `hint`, ends the
thinking. A line that is not understood is passed over, as the protocol demands; one that is wrong is answered by a
status.
"""

import logging
from collections.abc import Callable, Iterable

from pydlshogi.engines.othello.clock import Clock, Effort
from pydlshogi.engines.othello.engine import Hint, OthelloEngine, thinking
from pydlshogi.games.othello.ggf import parse_ggf
from pydlshogi.games.othello.rules import PASS, START, Position, move_name, parse_move
from pydlshogi.protocols.inbox import Line

log = logging.getLogger(__name__)


class NBoard:
    """One conversation with one board."""

    def __init__(self, engine: OthelloEngine, effort: Effort, write: Callable[[str], None]) -> None:
        """`effort`: what a move may cost until NBoard sets a depth; `write` says a line."""
        self._engine, self._effort, self._write = engine, effort, write
        self._line: Line
        self._position: Position | None = START
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
                self._commands.get(command, _ignore)(text.strip())
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
                if not 1 <= level <= 60:
                    raise ValueError(f"a depth of {level}; it is 1 to 60")
                self._effort = Effort(level=level)
                self._write(f"set myname {self._engine.name} {level}")
            case "game":
                self._position = None
                games = list(parse_ggf(value))
                if len(games) != 1:
                    raise ValueError("that is no game in GGF")
                self._position = games[0].end

    def _move(self, text: str) -> None:
        """`F5`, or `F5/eval/seconds`."""
        move = parse_move(text.partition("/")[0].strip())
        position = self._there()
        if position.moves() == [PASS] != [move]:
            position = position.play(PASS)
        self._position = position.play(move)

    def _there(self) -> Position:
        if self._position is None:
            raise ValueError("there is no game: the last one was refused")
        return self._position

    def _hint(self, text: str) -> None:
        most, position = max(1, int(text or 1)), self._there()
        if position.over:
            self._write("status The game is over")
            return
        self._write("status Analyzing")
        clock = self._clock()
        with thinking():
            self._engine.hints(position, most, clock, self._report)
        self._end(clock)

    def _go(self, _: str) -> None:
        position = self._there()
        if position.over:
            self._write("=== PA")
            return
        self._write("status Thinking")
        clock = self._clock()
        with thinking():
            hint = self._engine.choose(position, clock, self._report)
        value = "" if hint.score is None else f"/{hint.score:.2f}/{clock.elapsed:.2f}"
        self._write(f"=== {_name(hint.move)}{value}")
        self._end(clock)

    def _clock(self) -> Clock:
        self._nodes = 0
        return Clock(self._effort, self._line.interrupted)

    def _report(self, hint: Hint) -> None:
        self._nodes = hint.nodes
        if hint.score is not None:
            depth = "100%" if hint.exact else str(hint.depth)
            self._write(f"search {''.join(map(_name, hint.line))} {hint.score:.2f} 0 {depth}")

    def _end(self, clock: Clock) -> None:
        self._write(f"nodestats {self._nodes} {clock.elapsed:.2f}")
        self._write("status")


def _name(move: int) -> str:
    return "PA" if move == PASS else move_name(move).upper()


def _ignore(_: str) -> None:
    """What the protocol may say one day."""


def interrupts(line: str) -> bool:
    """Whether a line ends the thinking that was asked for before."""
    return line.split(maxsplit=1)[:1] not in ([], ["go"], ["hint"])
