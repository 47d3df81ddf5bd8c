"""Grow the opening book that the engine plays from: `python -m utils.othello.register FILE --search 1000`

    python -m utils.othello.register book.npz --search 1000 --level 12
    python -m utils.othello.register book.npz --loss 300 --level 18

`--search` searches what follows a number of positions, where the book is thin (see `utils.growth`). The book is
written every minute, and at Ctrl-C; what it knows is not searched again. `--loss` says how many discs moves lose in
positions from lines of the book, as a search of --level plies sees it: those that the engine chooses without the book,
by level, and those of the book, by spread.
"""

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.openings import NO_OPENINGS, OpeningBook, key_of, read_openings
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.loaded_engine import LoadedEngine
from pydlshogi.games.othello.rules import START, Position
from pydlshogi.games.othello.squares import standing
from pydlshogi.player.base_player import Info
from pydlshogi.player.clock import Limits
from pydlshogi.support.arrays_file import write_arrays
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.files import check_writable
from pydlshogi.support.processes import available_cores
from utils.growth import GrowingBook
from utils.othello.even import add_judge_options, judge_of, judged

PLY_COST: Final = 50
"""Hundredths of a disc."""
PLIES: Final = (6, 20)
_DEADLINE: Final = 3600.0
"""Seconds that a worker may take for what it gets at once."""
LineEnd = tuple[Position, list[Position]]
"""Where the book ends, and what that leads to and the book does not hold; all lie as `standing` has them."""


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
def judging(options: argparse.Namespace) -> Iterator[Callable[[list[LineEnd]], list[list[int]]]]:
    """With its argument a task of a pool: what the unknown positions at the ends of lines are worth."""
    engine = judge_of(options)
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


def sampled(book: OpeningBook, count: int) -> list[Position]:
    """`count` different positions of lines that both sides play by the book, or fewer, where there is a choice."""
    rng, found = random.Random(1), dict[Position, None]()
    for _ in range(10 * count):
        position = START
        for _ in range(rng.randint(*PLIES)):
            chosen = book.choose(position, rng)
            position = position.play(chosen[0]) if chosen else position
        found[standing(position)] = None
    return [each for each in found if len(book.moves(each)) > 1][:count]


def losses(book: OpeningBook, position: Position, engine: LoadedEngine, judge: int) -> dict[str, float]:
    """How many discs a move loses by each way to choose one, of several moves the mean."""
    engine.new_game()
    known, chosen = book.moves(position), dict[str, list[int]]()
    for level in (*range(2, 13, 2), judge):
        engine.set_level(level)
        chosen[f"level {level}"] = [*judged(engine, position)]
    chosen["book"] = [*book.good(position)]
    for spread in (0.0, 0.5, 1.0, 2.0):
        chosen[f"up to {spread}"] = [move for move in known if known[move] >= max(known.values()) - spread]
    candidates = sorted(set[int]().union(*chosen.values()))
    worth = judged(engine, position, len(candidates), candidates)
    return {name: max(worth.values()) - fmean(worth[move] for move in moves) for name, moves in chosen.items()}


def print_losses(book: OpeningBook, options: argparse.Namespace) -> None:
    """What `--loss` asks for."""
    engine = judge_of(options)
    bar = tqdm(sampled(book, options.loss), unit="position", dynamic_ncols=True, disable=None)
    lost = [losses(book, position, engine, options.level) for position in bar]
    print(f"{len(lost)} positions")
    for name in lost[0] if lost else ():
        column = np.array([each[name] for each in lost])
        print(f"{name:9} {column.mean():5.2f} ± {1.96 * column.std() / len(lost) ** 0.5:.2f} discs")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.othello.register", __doc__.split(":", 1)[0])
    parser.add_argument("file", type=Path, help="the book; it is made if there is none, and what it knows stays")
    parser.add_argument("--search", type=natural, default=0, metavar="N", help="positions to search where it is thin")
    parser.add_argument("--workers", type=positive, default=available_cores(), help="processes (default: all cores)")
    parser.add_argument("--loss", type=positive, metavar="N", help="tell what moves lose in N positions of the book")
    add_judge_options(parser)
    options = parser.parse_args(arguments)

    def run() -> None:
        if options.loss:
            print_losses(read_openings(options.file), options)
            return
        check_writable(options.file)
        known = read_openings(options.file) if options.file.exists() else NO_OPENINGS
        book = OthelloBook(known)
        with pool_of(options.workers, None) as pool:
            task, save = partial(judging, options), partial(book.save, options.file)
            book.grow(options.search, pool, task, _DEADLINE, save)
        print(f"{options.file}: {len(book.known.keys() | book.after.keys())} positions, {len(known.keys)} were known")

    return exit_status("register", run)


if __name__ == "__main__":
    sys.exit(main())
