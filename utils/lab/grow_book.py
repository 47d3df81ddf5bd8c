"""An opening book that grows by own search: `python -m utils.lab.grow_book book.db --search 10000`

    python -m utils.lab.grow_book book.db --search 10000 --playouts 800         shogi, by a network
    python -m utils.lab.grow_book book.npz --search 1000 --level 10             Othello, by alpha-beta

A line of the book ends where a move leads to a position that it does not hold. The next to be searched is the end of
the line that costs least: each move costs what it is worse than the best of its position, and `ply_cost` (drop-out
expansion: Lincke, Strategies for the automatic construction of opening books, 2000). So much played lines become long,
and doubtful ones are looked at once. What a move is worth is what the book says of the position that it leads to, as
YaneuraOu's `makebook peta_shock` backs values up; a repetition is worth 0. What was found before Ctrl-C is written.
"""

import argparse
import heapq
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from tqdm import tqdm

from pydlshogi.catalogue import engine_named, game_named
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.othello.openings import NO_OPENINGS, OpeningBook, read_openings, standing
from pydlshogi.games.othello.openings import key_of as othello_key
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import START, Position
from pydlshogi.games.shogi.engine.book_files import Book, BookError, BookMove, key_of
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN, move_of
from pydlshogi.learning.forest import Forest
from pydlshogi.learning.tasks import load_network
from pydlshogi.player.ask import ask
from pydlshogi.player.base_player import BasePlayer, Info
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mcts_options import GENERAL_EVAL_COEF, GENERAL_TEMPERATURE
from pydlshogi.player.options import apply_settings
from pydlshogi.support.arrays import Int64Array, write_arrays
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.files import shipped_model
from pydlshogi.support.pool import Task, WorkerPool
from pydlshogi.uct.puct import DEFAULT_PUCT
from pydlshogi.uct.root import MoveStats
from utils.make_book import write

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

    def grow(self, count: int, pool: WorkerPool, task: Task[list[End], list[Found]]) -> None:
        """Search `count` positions, fewer where no line goes on. What was found before Ctrl-C stays. Raises
        PoolError."""
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
                for ends, found in pool.map(task, items()):
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


# Shogi

PLY_COST: Final = 20
"""Centipawns."""
_LEAST_SHARE: Final = 0.02
"""Of the visits; moves with fewer do not enter the book."""


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


class ShogiBook(GrowingBook[bytes, LineEnd, list[BookMove]]):
    """Positions by `key_of`."""

    def __init__(self, positions: Mapping[bytes, Sequence[BookMove]]) -> None:
        super().__init__(key_of(START_SFEN.encode()), PLY_COST)
        self._moves: dict[bytes, list[BookMove]] = {}
        for key, moves in positions.items():
            self._add(key, moves)

    def end(self, key: bytes, before: bytes | None, move: int, number: int) -> LineEnd:
        if before is None:
            return LineEnd(START_SFEN, "")
        return LineEnd(f"{before.decode()} {number}", self._moves[before][move].move)

    def add(self, end: LineEnd, found: Sequence[BookMove]) -> None:
        self._add(key_of(end.position().sfen().encode()), found)

    def _add(self, key: bytes, moves: Sequence[BookMove]) -> None:
        position = ShogiPosition(key.decode())
        self._moves[key], after = [], []
        for move in moves:
            if position.follow([move_of(move.move)]):
                self._moves[key].append(move)
                after.append(key_of(position.sfen().encode()))
                position.pop()
        self.put(key, [move.value for move in self._moves[key]], after)

    def moves(self, key: bytes) -> list[BookMove]:
        """The moves of a position that is known, the best first."""
        known = zip(self._moves[key], self.values[key], self.depths[key], strict=True)
        moves = [move._replace(value=value, depth=depth) for move, value, depth in known]
        return sorted(moves, key=lambda move: (-move.value, -move.played, move.move))

    def numbered(self) -> Iterator[tuple[bytes, int, list[BookMove]]]:
        """Each position that has moves, sorted, with its move number, 1 where the start does not lead to it."""
        plies = {self.start: 1}
        for key in (waiting := list(plies)):
            for after in self.after.get(key, ()):
                if after not in plies:
                    plies[after] = plies[key] + 1
                    waiting.append(after)
        for key in sorted(self.after):
            if moves := self.moves(key):
                yield key, plies.get(key, 1), moves


@contextmanager
def searching(network: bytes, suffix: str, playouts: int) -> Iterator[Callable[[list[LineEnd]], list[list[BookMove]]]]:
    """With a network, of a file of this suffix, a task of a pool: the moves at the ends of lines, if games go on."""
    game = game_named("shogi")
    backend = load_network(game, network, SIDE_BY_SIDE, suffix=suffix)
    evaluator = NetworkEvaluator(backend, GENERAL_TEMPERATURE / 100)
    yield partial(_searched, Forest(game, evaluator, DEFAULT_PUCT, playouts, SIDE_BY_SIDE), playouts)


def _searched(forest: Forest, playouts: int, ends: list[LineEnd]) -> list[list[BookMove]]:
    positions = dict(enumerate(end.position() for end in ends))
    open_ones = {i: each for i, each in positions.items() if each.outcome() is None and len(each.legal_moves())}
    found = forest.search(open_ones, playouts)
    return [[*_book_moves(positions[i], found[i])] if i in found else [] for i in positions]


def _book_moves(position: ShogiPosition, moves: Sequence[MoveStats]) -> Iterator[BookMove]:
    """Those that were looked at enough, and the best at least."""
    total = sum(move.visits for move in moves)
    for rank, move in enumerate(moves):
        won = None if move.plies is None else float(move.plies > 0)
        if rank == 0 or (move.visits >= total * _LEAST_SHARE and move.visits > 1):
            value = 0.5 if won is None and not move.visits else move.value if won is None else won
            yield BookMove(position.usi(move.move), None, centipawns(value, GENERAL_EVAL_COEF), 1, move.visits)


def grow(options: argparse.Namespace, pool: WorkerPool) -> int:
    """Add to a book of shogi; returns how many positions it holds."""
    book = ShogiBook({})
    if options.book.exists():
        there = Book(options.book, large=sys.maxsize)
        if there.bad_lines:  # they would be lost
            raise BookError(f"{options.book}: {there.bad_lines[0]}")
        book = ShogiBook(there.positions())
    task = partial(searching, options.network.read_bytes(), options.network.suffix, options.playouts)
    try:
        book.grow(options.search, pool, task)
    finally:
        write(book.numbered(), options.book)
    return sum(map(bool, book.after.values()))


# Othello: positions lie as `standing` has them

_OTHELLO_PLY_COST: Final = 50
"""Hundredths of a disc."""
_OthelloEnd = tuple[Position, list[Position]]
"""Where the book ends, and what that leads to and the book does not hold."""


class OthelloBook(GrowingBook[Position, _OthelloEnd, list[int]]):
    """Positions of which all that they lead to is known, with what that is worth in hundredths of a disc."""

    def __init__(self, book: OpeningBook) -> None:
        super().__init__(standing(START), _OTHELLO_PLY_COST)
        self.known: dict[Position, int] = {}
        """What positions were worth to the side to move when they became known."""
        for position in (waiting := [self.start]):
            known = {standing(position.play(move)): -round(100 * worth) for move, worth in book.moves(position).items()}
            if known:
                waiting += [each for each in known if each not in self.known]
                self.known |= known
                self.put(position, [-worth for worth in known.values()], [*known])

    def end(self, key: Position, *_: object) -> _OthelloEnd:
        return key, [each for each in _children(key) if each not in self.known]

    def add(self, end: _OthelloEnd, found: Sequence[int]) -> None:
        position, unknown = end
        self.known |= zip(unknown, found, strict=True)
        children = _children(position)
        self.put(position, [-self.known[each] for each in children], children)

    def save(self, path: Path) -> None:
        """Write it. Raises OSError."""
        worths = self.known | {key: max(values) for key, values in self.values.items() if values}
        keys = np.array([othello_key(position) for position in worths], np.uint64)
        order = np.argsort(keys)
        write_arrays(path, OpeningBook(keys[order], np.array([*worths.values()], np.int16)[order]))


def _children(position: Position) -> list[Position]:
    return list(dict.fromkeys(standing(position.play(move)) for move in position.moves()))


@contextmanager
def judging(level: int) -> Iterator[Callable[[list[_OthelloEnd]], list[list[int]]]]:
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


def grow_othello(options: argparse.Namespace, pool: WorkerPool) -> int:
    """Add to a book of Othello; returns how many positions it knows."""
    book = OthelloBook(read_openings(options.book) if options.book.exists() else NO_OPENINGS)
    try:
        book.grow(options.search, pool, partial(judging, options.level))
    finally:
        book.save(options.book)
    return len(book.known.keys() | book.after.keys())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.grow_book", __doc__)
    parser.add_argument("book", type=Path, help=".db: of shogi, .npz: of Othello")
    parser.add_argument("--search", type=positive, required=True, metavar="N", help="positions to add")
    parser.add_argument("--playouts", type=positive, default=800, metavar="N", help="for each, in shogi")
    network = shipped_model() / "pydlshogi.npz"
    parser.add_argument("--network", type=Path, default=network, help="(default: the shipped)")
    parser.add_argument("--level", type=positive, default=10, help="plies to search, in Othello")
    parser.add_argument("--workers", type=natural, default=0, help="processes; 0: one for each core")
    options = parser.parse_args(arguments)

    def run() -> None:
        with pool_of(options.workers, None) as pool:
            positions = (grow if options.book.suffix == ".db" else grow_othello)(options, pool)
        print(f"{options.book}: {positions} positions")

    return exit_status("grow_book", run)


if __name__ == "__main__":
    sys.exit(main())
