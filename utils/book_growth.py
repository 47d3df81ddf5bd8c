"""A book that grows by own search: which positions are searched next, and what all of them say together.

A line of the book ends where a move leads to a position that it does not hold. The next to be searched is the end of
the line that costs least: each move costs what it is worse than the best of its position, and PLY_COST (drop-out
expansion: Lincke, Strategies for the automatic construction of opening books, 2000). So much played lines become long,
and doubtful ones are looked at once. What a move is worth is what the book says of the position that it leads to, as
YaneuraOu's `makebook peta_shock` backs values up; a repetition is worth 0. Knows no files and no pool.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

import cshogi
import numpy as np

from pydlshogi.engines.shogi.book_files import BookMove, key_of
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.catalogue import game_named
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.learning.forest import Forest
from pydlshogi.learning.tasks import load_network
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mcts_options import GENERAL_EVAL_COEF, GENERAL_TEMPERATURE
from pydlshogi.support.arrays import Int64Array
from pydlshogi.uct.puct import DEFAULT_PUCT
from pydlshogi.uct.root import MoveStats

SIDE_BY_SIDE: Final = 32
"""Positions that one worker searches at once."""
PLY_COST: Final = 20
"""Centipawns."""
_DECIDED: Final = 1500
"""Centipawns: lines that are worth so much to somebody do not grow."""
_LEAST_SHARE: Final = 0.02
"""Of the visits; moves with fewer do not enter the book."""
_LONGEST: Final = 512
"""Plies over which values are backed up."""


class LineEnd(NamedTuple):
    """Where the book ends."""

    sfen: str
    """The last position that it holds."""
    move: str
    """"": this position itself is missing."""

    def position(self) -> ShogiPosition:
        """The one to be searched."""
        position = ShogiPosition(self.sfen)
        if self.move:
            position.push_usi(self.move)
        return position


class GrowingBook:
    """Positions and their moves."""

    def __init__(self, positions: Mapping[bytes, Sequence[BookMove]]) -> None:
        """positions: what is known, by `key_of`."""
        self.moves: dict[bytes, list[BookMove]] = {}
        self._after: dict[bytes, list[bytes]] = {}
        for key, moves in positions.items():
            self._set(key, moves)

    def add(self, end: LineEnd, moves: Sequence[BookMove]) -> None:
        """What a search says of the position at the end of a line."""
        self._set(key_of(end.position().board.sfen().encode()), moves)

    def _set(self, key: bytes, moves: Sequence[BookMove]) -> None:
        board = cshogi.Board(f"{key.decode()} 1")
        self.moves[key], self._after[key] = [], []
        for move in moves:
            if legal := board.move_from_usi(move.move):
                board.push(legal)
                self.moves[key].append(move)
                self._after[key].append(key_of(board.sfen().encode()))
                board.pop()

    def back_up(self) -> None:
        """Give each move the value of the position that it leads to, and the length of the line behind it as depth."""
        keys = [key for key, moves in self.moves.items() if moves]
        if not keys:
            return
        rows = {key: row for row, key in enumerate(keys)}
        firsts = np.cumsum([0, *(len(self.moves[key]) for key in keys)])[:-1]
        moves = list(chain.from_iterable(self.moves[key] for key in keys))
        after = np.array([rows.get(key, -1) for key in chain.from_iterable(self._after[key] for key in keys)])
        values, depths = _backed_up(np.array([move.value for move in moves]), firsts, after)
        told = iter(zip(values.tolist(), depths.tolist(), strict=True))
        for key in keys:
            self.moves[key] = [
                move._replace(value=value, depth=depth)
                for move, (value, depth) in zip(self.moves[key], told, strict=False)
            ]

    def line_ends(self, count: int, without: set[bytes]) -> list[LineEnd]:
        """So many ends of lines from the start, or fewer, those that cost least first; none that leads to a position of
        `without`, which is extended."""
        start = key_of(cshogi.STARTING_SFEN.encode())
        waiting: list[tuple[int, int, bytes, LineEnd]] = [(0, 1, start, LineEnd(cshogi.STARTING_SFEN, ""))]
        seen: set[bytes] = set()
        ends: list[LineEnd] = []
        while waiting and len(ends) < count:
            cost, ply, key, end = heapq.heappop(waiting)
            if key in seen:
                continue
            seen.add(key)
            if key not in self.moves:
                if key not in without:
                    without.add(key)
                    ends.append(end)
                continue
            sfen = f"{key.decode()} {ply}"
            best = max((move.value for move in self.moves[key]), default=0)
            for move, after in zip(self.moves[key], self._after[key], strict=True):
                if abs(move.value) < _DECIDED:
                    further = cost + PLY_COST + best - move.value
                    heapq.heappush(waiting, (further, ply + 1, after, LineEnd(sfen, move.move)))
        return ends

    def numbered(self) -> Iterator[tuple[bytes, int, list[BookMove]]]:
        """Each position that has moves, sorted, with its move number, 1 where the start does not lead to it."""
        plies = {key_of(cshogi.STARTING_SFEN.encode()): 1}
        for key in (waiting := list(plies)):
            for after in self._after.get(key, ()):
                if after not in plies:
                    plies[after] = plies[key] + 1
                    waiting.append(after)
        for key, moves in sorted(self.moves.items()):
            if moves:
                yield key, plies.get(key, 1), sorted(moves, key=lambda move: (-move.value, -move.played, move.move))


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


@dataclass(frozen=True)
class SearchLineEnds:
    """A task of a pool: the moves of positions at the ends of lines, none where a game has ended."""

    network: bytes
    """Of a file with that suffix."""
    suffix: str
    playouts: int

    @contextmanager
    def __call__(self) -> Iterator[Callable[[list[LineEnd]], list[list[BookMove]]]]:
        game = game_named("shogi")
        backend = load_network(game, self.network, SIDE_BY_SIDE, suffix=self.suffix)
        evaluator = NetworkEvaluator(backend, GENERAL_TEMPERATURE / 100)
        yield partial(self._searched, Forest(game, evaluator, DEFAULT_PUCT, self.playouts, SIDE_BY_SIDE))

    def _searched(self, forest: Forest, ends: list[LineEnd]) -> list[list[BookMove]]:
        positions = dict(enumerate(end.position() for end in ends))
        open_ones = {i: each for i, each in positions.items() if each.outcome() is None and len(each.legal_moves())}
        found = forest.search(open_ones, self.playouts)
        return [[*_book_moves(positions[i], found[i])] if i in found else [] for i in positions]


def _book_moves(position: ShogiPosition, moves: Sequence[MoveStats]) -> Iterator[BookMove]:
    """Those that were looked at enough, and the best at least."""
    total = sum(move.visits for move in moves)
    for rank, move in enumerate(moves):
        won = None if move.plies is None else float(move.plies > 0)
        if rank == 0 or (move.visits >= total * _LEAST_SHARE and move.visits > 1):
            value = 0.5 if won is None and not move.visits else move.value if won is None else won
            yield BookMove(position.usi(move.move), None, centipawns(value, GENERAL_EVAL_COEF), 1, move.visits)
