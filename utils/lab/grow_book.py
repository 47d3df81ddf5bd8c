"""An opening book that grows by own search: `python -m utils.lab.grow_book book.db --search 10000`

    python -m utils.lab.grow_book book.db --search 10000 --playouts 800         shogi, by a network
    python -m utils.lab.grow_book book.npz --search 1000 --level 10             Othello, by alpha-beta

It adds positions to the book where it is thin (growth.py), whether it grew before, was made of games
(`utils.make_book`) or is missing. What was found before Ctrl-C is written.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from pydlshogi.catalogue import game_named
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.shogi.engine.book_files import Book, BookError, BookMove, key_of
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN, move_of
from pydlshogi.learning.forest import Forest
from pydlshogi.learning.tasks import deadline, load_network
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mcts_options import GENERAL_EVAL_COEF, GENERAL_TEMPERATURE
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.files import shipped_model
from pydlshogi.support.pool import WorkerPool
from pydlshogi.uct.puct import DEFAULT_PUCT
from pydlshogi.uct.root import MoveStats
from utils.lab.growth import SIDE_BY_SIDE, GrowingBook
from utils.make_book import write

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
    longest = deadline(SIDE_BY_SIDE, options.playouts, options.network.stat().st_size)
    try:
        book.grow(options.search, pool, task, longest)
    finally:
        write(book.numbered(), options.book)
    return sum(map(bool, book.after.values()))


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
        from utils.lab import othello_book

        with pool_of(options.workers, None) as pool:
            positions = (grow if options.book.suffix == ".db" else othello_book.grow)(options, pool)
        print(f"{options.book}: {positions} positions")

    return exit_status("grow_book", run)


if __name__ == "__main__":
    sys.exit(main())
