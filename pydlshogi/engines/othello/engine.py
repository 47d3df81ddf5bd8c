"""What protocols, matches and people ask of an engine that plays Othello, whatever it thinks with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Protocol

from pydlshogi.engines.othello.clock import Clock
from pydlshogi.games.othello.rules import Position


class EngineError(Exception):
    """An engine cannot be used; the text says why, in one line."""


DISCS: Final = 6.0
"""A lead of so many discs is a win rate of 1 / (1 + 1/e), 73 %."""


class Hint(NamedTuple):
    """A move, and what an engine thinks of it."""

    move: int
    score: float | None
    """By how many discs the side to move will win. None: the engine did not think about it."""
    line: tuple[int, ...]
    """How the game may go on; the move comes first."""
    depth: int = 0
    """Plies searched; all that are left where the score is exact. 0: none, the move is a registered opening."""
    exact: bool = False
    """The score is proven."""
    nodes: int = 0
    """Positions looked at since the engine was asked."""


Report = Callable[[Hint], None]
"""Hears what an engine thinks while it is thinking."""


def unheard(_: Hint) -> None:
    """Where nobody wants to know what an engine thinks on the way."""


@contextmanager
def thinking() -> Iterator[None]:
    """Where an engine thinks for a protocol: a ValueError or LookupError in there, which would mean that the line is
    wrong, becomes a RuntimeError."""
    try:
        yield
    except (ValueError, LookupError) as error:
        raise RuntimeError(repr(error)) from error


class OthelloEngine(Protocol):
    """An engine. One thread at a time calls its methods; only the clock is another's too."""

    name: str

    def prepare(self) -> None:
        """Get ready to play. Raises EngineError."""

    def new_game(self) -> None:
        """What comes next is another game."""

    def choose(self, position: Position, clock: Clock, report: Report) -> Hint:
        """The move to play in `position`, in which there is one."""

    def hints(self, position: Position, most: int, clock: Clock, report: Report) -> list[Hint]:
        """The best moves of `position`, in which there is one, the best first: `most`, or as many as there are."""
