"""How a book grows by own search, whatever the game: which positions are searched next, and what all of them say.

A line of the book ends where a move leads to a position that it does not hold. The next to be searched is the end of
the line that costs least: each move costs what it is worse than the best of its position, and `ply_cost` (drop-out
expansion: Lincke, Strategies for the automatic construction of opening books, 2000). So much played lines become long,
and doubtful ones are looked at once. What a move is worth is what the book says of the position that it leads to, as
YaneuraOu's `makebook peta_shock` backs values up; a repetition is worth 0.
"""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import chain
from typing import Final, Generic, TypeVar

import numpy as np
from tqdm import tqdm

from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.pool import Task, WorkerPool

Key = TypeVar("Key")
End = TypeVar("End")
Found = TypeVar("Found")

SIDE_BY_SIDE: Final = 32
"""Positions that one worker gets at once."""
_DECIDED: Final = 1500
"""Lines that are worth so much to somebody do not grow."""
_LONGEST: Final = 512
"""Plies over which values are backed up."""


class GrowingBook(ABC, Generic[Key, End, Found]):
    """Positions and their moves; values are hundredths of a pawn or of a disc."""

    def __init__(self, start: Key, ply_cost: int) -> None:
        self.start, self._ply_cost = start, ply_cost
        self.after: dict[Key, list[Key]] = {}
        """Where the moves of a position lead to."""
        self.values: dict[Key, list[int]] = {}
        self.depths: dict[Key, list[int]] = {}
        """How long the lines behind the moves are."""

    @abstractmethod
    def end(self, key: Key, before: Key | None, move: int, number: int) -> End:
        """What a worker needs of `key`: to it leads a `move`, by its place, of the position `before`, if of any."""

    @abstractmethod
    def add(self, end: End, found: Found) -> None:
        """What a search says."""

    def put(self, key: Key, values: list[int], after: list[Key]) -> None:
        self.values[key], self.depths[key], self.after[key] = values, [1] * len(values), after

    def back_up(self) -> None:
        """Give each move the value of the position that it leads to."""
        keys = [key for key, after in self.after.items() if after]
        if not keys:
            return
        rows = {key: row for row, key in enumerate(keys)}
        firsts = np.cumsum([0, *(len(self.after[key]) for key in keys)])[:-1]
        after = np.array([rows.get(key, -1) for key in chain.from_iterable(self.after[key] for key in keys)])
        values = np.array([*chain.from_iterable(self.values[key] for key in keys)])
        for kept, column in zip((self.values, self.depths), _backed_up(values, firsts, after), strict=True):
            kept.update(zip(keys, (each.tolist() for each in np.split(column, firsts[1:])), strict=True))

    def line_ends(self, count: int, without: set[Key]) -> list[End]:
        """`count` ends of lines from the start, or fewer, those that cost least first; none that leads to a position of
        `without`, which is extended."""
        waiting: list[tuple[int, int, Key, Key | None, int]] = [(0, 1, self.start, None, 0)]
        seen: set[Key] = set()
        ends: list[End] = []
        while waiting and len(ends) < count:
            cost, number, key, before, move = heapq.heappop(waiting)
            if key in seen:
                continue
            seen.add(key)
            if key not in self.after:
                if key not in without:
                    without.add(key)
                    ends.append(self.end(key, before, move, number - 1))
                continue
            best = max(self.values[key], default=0)
            for place, (value, after) in enumerate(zip(self.values[key], self.after[key], strict=True)):
                if abs(value) < _DECIDED:
                    further = cost + self._ply_cost + best - value
                    heapq.heappush(waiting, (further, number + 1, after, key, place))
        return ends

    def grow(self, count: int, pool: WorkerPool, task: Task[list[End], list[Found]], deadline: float) -> None:
        """Search `count` positions, fewer where no line goes on; for SIDE_BY_SIDE of them a worker may take `deadline`
        seconds. What was found before Ctrl-C stays. Raises PoolError."""
        under_way: set[Key] = set()
        searched = asked = 0

        def items() -> Iterator[list[End]]:
            nonlocal asked
            while ends := self.line_ends(min(SIDE_BY_SIDE, count - asked), under_way):
                asked += len(ends)
                yield ends

        with tqdm(total=count, unit=" positions", disable=None) as bar:
            before = -1
            while before < searched < count:
                before, asked = searched, searched
                for ends, found in pool.map(task, items(), deadline):
                    for end, said in zip(ends, found, strict=True):
                        self.add(end, said)
                    searched += len(ends)
                    bar.update(len(ends))
                    self.back_up()


def _backed_up(values: Int64Array, firsts: Int64Array, after: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Values and depths of moves, int64 [moves]: those of a position begin at `firsts`, int64 [positions]; `after`:
    the number of the position that a move leads to, -1 for none that is known."""
    known = after >= 0
    values, depths = np.where(known, 0, values), np.ones_like(values)
    for _ in range(_LONGEST):
        # Of moves of the same value the one with the shortest line.
        best = np.maximum.reduceat((values << 16) - depths, firsts)
        best_depth = -best & 0xFFFF
        best_value = (best + best_depth) >> 16
        backed_up = -best_value[after[known]]
        if np.array_equal(values[known], backed_up):
            break
        values[known], depths[known] = backed_up, best_depth[after[known]] + 1
    return values, depths
