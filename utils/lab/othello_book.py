"""The opening book of Othello grows by own search: `python -m utils.lab.othello_book book.npz --search 1000 --level 10`

A line of the book ends where a move leads to a position that it does not hold. The next to be searched is the end of
the line that costs least: each move costs what it is worse than the best of its position, and `PLY_COST` (drop-out
expansion: Lincke, Strategies for the automatic construction of opening books, 2000). So much played lines become long,
and doubtful ones are looked at once. What a move is worth is what the book says of the position that it leads to. What
was found before Ctrl-C is written.
"""

import heapq
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np
from tqdm import tqdm

from pydlshogi.catalogue import engine_named
from pydlshogi.games.othello.openings import NO_OPENINGS, OpeningBook, key_of, read_openings, standing
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import START, Position
from pydlshogi.player.ask import ask
from pydlshogi.player.base_player import BasePlayer, Info
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import apply_settings
from pydlshogi.support.arrays import write_arrays
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.pool import Task, WorkerPool

PLY_COST: Final = 50
"""Hundredths of a disc."""
_DECIDED: Final = 1500
"""Lines that are worth so much to somebody do not grow."""
_SIDE_BY_SIDE: Final = 32
"""Positions that one worker gets at once."""
LineEnd = tuple[Position, list[Position]]
"""Where the book ends, and what that leads to and the book does not hold."""


class GrowingBook:
    """Positions as `standing` has them; what they are worth to the side to move, in hundredths of a disc."""

    def __init__(self, book: OpeningBook) -> None:
        self.known: dict[Position, int] = {}
        """What positions were worth when they became known."""
        self.after: dict[Position, list[Position]] = {}
        """Positions of which all that they lead to is known, and that."""
        for position in (waiting := [standing(START)]):
            known = {standing(position.play(move)): -round(100 * worth) for move, worth in book.moves(position).items()}
            if known:
                waiting += [each for each in known if each not in self.known]
                self.known |= known
                self.after[position] = [*known]

    def worths(self) -> dict[Position, int]:
        """What they are worth by all that the book knows."""

        @cache
        def worth(position: Position) -> int:
            after = self.after.get(position)
            return max(-worth(each) for each in after) if after else self.known[position]

        return {position: worth(position) for position in self.known | self.after}

    def line_ends(self, count: int, without: set[Position]) -> list[LineEnd]:
        """`count` ends of lines from the start, or fewer, those that cost least first; none that leads to a position of
        `without`, which is extended."""
        worths = self.worths()
        waiting, seen, ends = [(0, standing(START))], set[Position](), list[LineEnd]()
        while waiting and len(ends) < count:
            cost, position = heapq.heappop(waiting)
            if position in seen:
                continue
            seen.add(position)
            if position not in self.after:
                if position not in without:
                    without.add(position)
                    ends.append((position, [each for each in _children(position) if each not in self.known]))
                continue
            for after in self.after[position]:
                if abs(worths[after]) < _DECIDED:
                    heapq.heappush(waiting, (cost + PLY_COST + worths[position] + worths[after], after))
        return ends

    def grow(self, count: int, pool: WorkerPool, task: Task[list[LineEnd], list[list[int]]]) -> None:
        """Search `count` positions, fewer where no line goes on. Raises PoolError."""
        under_way: set[Position] = set()
        searched = asked = 0

        def items() -> Iterator[list[LineEnd]]:
            nonlocal asked
            while ends := self.line_ends(min(_SIDE_BY_SIDE, count - asked), under_way):
                asked += len(ends)
                yield ends

        with tqdm(total=count, unit=" positions", disable=None) as bar:
            before = -1
            while before < searched < count:
                before, asked = searched, searched
                for ends, found in pool.map(task, items()):
                    for (position, unknown), said in zip(ends, found, strict=True):
                        self.known |= zip(unknown, said, strict=True)
                        self.after[position] = _children(position)
                    searched += len(ends)
                    bar.update(len(ends))

    def save(self, path: Path) -> None:
        """Write it. Raises OSError."""
        worths = self.worths()
        keys = np.array([key_of(position) for position in worths], np.uint64)
        order = np.argsort(keys)
        write_arrays(path, OpeningBook(keys[order], np.array([*worths.values()], np.int16)[order]))


def _children(position: Position) -> list[Position]:
    return list(dict.fromkeys(standing(position.play(move)) for move in position.moves()))


@contextmanager
def judging(level: int) -> Iterator[Callable[[list[LineEnd]], list[list[int]]]]:
    """A task of a pool: what the unknown positions at the ends of lines are worth."""
    engine = engine_named("othello", "alphabeta")
    apply_settings(engine.options, {"Openings": "false", "Level": str(level)})
    player = engine.load()
    player.prepare()
    yield lambda ends: [[judged_evenly(player, each) for each in unknown] for _, unknown in ends]


def judged_evenly(player: BasePlayer, position: Position) -> int:
    """What a position is worth: the mean of what the two deepest searches find, for one of which either side makes the
    last move. The side that makes it seems better by two discs, and positions of the book are searched from both."""
    if position.over:
        return 100 * position.score
    said: list[Info] = []
    ask(player, OthelloPosition(position), Clock(Limits(infinite=True)), hear=said.extend)
    last = said[-1:] if said[-1].exact else said[-2:]
    return round(sum(info.score_cp or 0 for info in last) / len(last))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.othello_book", __doc__)
    parser.add_argument("book", type=Path, help="its file, .npz; there need be none yet")
    parser.add_argument("--search", type=positive, required=True, metavar="N", help="positions to add")
    parser.add_argument("--level", type=positive, default=10, help="plies to search")
    parser.add_argument("--workers", type=natural, default=0, help="processes; 0: one for each core")
    options = parser.parse_args(arguments)

    def run() -> None:
        book = GrowingBook(read_openings(options.book) if options.book.exists() else NO_OPENINGS)
        with pool_of(options.workers, None) as pool:
            try:
                book.grow(options.search, pool, partial(judging, options.level))
            finally:
                book.save(options.book)
        print(f"{options.book}: {len(book.known.keys() | book.after.keys())} positions")

    return exit_status("othello_book", run)


if __name__ == "__main__":
    sys.exit(main())
