"""A book of Othello that grows: see grow_book.py and growth.py. Positions lie as `standing` has them."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.games.othello.engine.openings import NO_OPENINGS, OpeningBook, key_of, read_openings
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.loaded_engine import LoadedEngine, engine_with
from pydlshogi.games.othello.rules import START, Position
from pydlshogi.games.othello.squares import standing
from pydlshogi.player.base_player import Info
from pydlshogi.player.clock import Limits
from pydlshogi.support.arrays import write_arrays
from pydlshogi.support.pool import WorkerPool
from utils.lab.growth import GrowingBook

PLY_COST: Final = 50
"""Hundredths of a disc."""
_DEADLINE: Final = 3600.0
"""Seconds that a worker may take for what it gets at once."""
LineEnd = tuple[Position, list[Position]]
"""Where the book ends, and what that leads to and the book does not hold."""


class OthelloBook(GrowingBook[Position, LineEnd, list[int]]):
    """Positions of which all that they lead to is known, with what that is worth in hundredths of a disc."""

    def __init__(self, book: OpeningBook) -> None:
        super().__init__(standing(START), PLY_COST)
        self.known: dict[Position, int] = {}
        """What positions were worth to the side to move when they became known."""
        for position in (waiting := [self.start]):
            known = {standing(position.play(move)): -round(100 * worth) for move, worth in book.moves(position).items()}
            if known:
                waiting += [each for each in known if each not in self.known]
                self.known |= known
                self.put(position, [-worth for worth in known.values()], [*known])

    def end(self, key: Position, *_: object) -> LineEnd:
        return key, [each for each in _children(key) if each not in self.known]

    def add(self, end: LineEnd, found: Sequence[int]) -> None:
        position, unknown = end
        self.known |= zip(unknown, found, strict=True)
        children = _children(position)
        self.put(position, [-self.known[each] for each in children], children)

    def save(self, path: Path) -> None:
        """Write it. Raises OSError."""
        worths = self.known | {key: max(values) for key, values in self.values.items() if values}
        keys = np.array([key_of(position) for position in worths], np.uint64)
        order = np.argsort(keys)
        write_arrays(path, OpeningBook(keys[order], np.array([*worths.values()], np.int16)[order]))


def _children(position: Position) -> list[Position]:
    return list(dict.fromkeys(standing(position.play(move)) for move in position.moves()))


@contextmanager
def judging(level: int) -> Iterator[Callable[[list[LineEnd]], list[list[int]]]]:
    """A task of a pool: what the unknown positions at the ends of lines are worth."""
    engine = LoadedEngine(engine_with("alphabeta", ["Openings=false"]), level)
    yield lambda ends: [[judged_evenly(engine, each) for each in unknown] for _, unknown in ends]


def judged_evenly(engine: LoadedEngine, position: Position) -> int:
    """What a position is worth: the mean of what the two deepest searches find, for one of which either side makes the
    last move. The side that makes it seems better by two discs, and positions of the book are searched from both."""
    if position.over:
        return 100 * position.score
    said: list[Info] = []
    engine.ask(OthelloPosition(position), Limits(infinite=True), hear=said.extend)
    last = said[-1:] if said[-1].exact else said[-2:]
    return round(sum(info.score_cp or 0 for info in last) / len(last))


def grow(options: argparse.Namespace, pool: WorkerPool) -> int:
    """Add to a book of Othello; returns how many positions it knows."""
    book = OthelloBook(read_openings(options.book) if options.book.exists() else NO_OPENINGS)
    try:
        book.grow(options.search, pool, partial(judging, options.level), _DEADLINE)
    finally:
        book.save(options.book)
    return len(book.known.keys() | book.after.keys())
