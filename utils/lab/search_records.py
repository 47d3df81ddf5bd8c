"""Positions searched anew by a network: `python -m utils.lab.search_records games.jsonl.xz --out searched`

    python -m utils.lab.search_records games.jsonl.xz --network net.npz --playouts 128 --sets 400 --out searched
    python -m pydlshogi.train --searched searched --val games.jsonl.xz --out runs/soft --hours 1

A record knows one move of a position; a search says how good all of them are, and what the position is worth. The
positions are those of records, of training data as `utils.convert` reads it, or of a folder of `utils.lab.teach`. The
searches have dlshogi's constants, and no random moves. A set is a file in the folder: 256 positions, sampled from the
training split. Sets that are there are not searched again.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.catalogue import game_named
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.training.dataset import Settings
from pydlshogi.games.shogi.training.formats import load
from pydlshogi.games.shogi.training.huffman import states_of
from pydlshogi.games.shogi.training.recorded import Searched
from pydlshogi.games.shogi.training.records import Positions, limit_repeats
from pydlshogi.learning.forest import Forest
from pydlshogi.learning.moves import improved_policy
from pydlshogi.learning.tasks import load_network
from pydlshogi.player.mcts_options import GENERAL_TEMPERATURE
from pydlshogi.support.arrays import Int64Array, Uint8Array, Uint16Array, write_arrays
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.files import cache_folder
from pydlshogi.training.settings import DatasetError
from pydlshogi.uct.puct import DEFAULT_PUCT

_SIDE_BY_SIDE: Final = 256
"""Positions of a set, which are searched at once: one of each tree makes a batch."""
_LEAST_SHARE: Final = 1 / 256
"""Smaller shares of a policy are left out: most moves have less."""


class Item(NamedTuple):
    """A set to be searched."""

    number: int
    positions: Positions
    starts: Uint8Array
    """uint8 [n, 32]: up to two moves earlier, where those positions are known."""
    since: Uint16Array
    """uint16 [n, 2]: the moves from there, the last one first, 0 where there is none."""


def item_of(number: int, positions: Positions, rows: Int64Array) -> Item:
    """The positions with these numbers."""
    back = np.zeros(len(rows), np.int64)
    for moves in (1, 2):
        earlier = positions[np.maximum(rows - moves, 0)]
        follows = earlier["ply"] + moves == positions["ply"][rows]
        follows &= (earlier["move"] == positions["before"][rows, moves - 1]) & (earlier["move"] != 0)
        back[follows & (back == moves - 1)] = moves
    since = np.where(back[:, None] > np.arange(2), positions["before"][rows], 0).astype(np.uint16)
    return Item(number, np.array(positions[rows]), positions["hcp"][rows - back], since)


def reached(item: Item) -> list[ShogiPosition]:
    """The positions of an item, with what a network may see of their past."""
    positions = [ShogiPosition(states) for states in states_of(item.starts).reshape(-1, 1)]
    for position, moves in zip(positions, item.since.tolist(), strict=True):
        for move in filter(None, reversed(moves)):
            position.push(move)
    return positions


@contextmanager
def searching(network: bytes, suffix: str, playouts: int) -> Iterator[Callable[[Item], Searched]]:
    """A task of a pool, with a network of a file with that suffix."""
    game = game_named("shogi")
    backend = load_network(game, network, _SIDE_BY_SIDE, suffix=suffix)
    evaluator = NetworkEvaluator(backend, GENERAL_TEMPERATURE / 100)
    yield partial(searched, Forest(game, evaluator, DEFAULT_PUCT, playouts, _SIDE_BY_SIDE), playouts)


def searched(forest: Forest, playouts: int, item: Item) -> Searched:
    """What the positions of `item` teach, those left out in which there is nothing to choose."""
    positions = reached(item)
    open_ones = [i for i, each in enumerate(positions) if each.outcome() is None and len(each.legal_moves()) > 1]
    found = forest.search({tree: positions[i] for tree, i in enumerate(open_ones)}, playouts)
    moves, weights, values, exact = [], [], [], []
    for tree in range(len(open_ones)):
        root = forest.root(tree)
        priors = np.array([move.prior for move in found[tree]]) ** (GENERAL_TEMPERATURE / 100)
        shares = improved_policy(found[tree], priors, root.value)
        kept = np.flatnonzero(shares >= _LEAST_SHARE)
        moves.append(np.array([found[tree][i].move for i in kept.tolist()], np.uint16))
        weights.append((shares[kept] / shares[kept].sum()).astype(np.float32))
        values.append(root.value)
        exact.append(root.plies is not None)
    return Searched(
        item.positions[open_ones],
        np.array([len(each) for each in moves]),
        np.concatenate([np.zeros(0, np.uint16), *moves]),
        np.concatenate([np.zeros(0, np.float32), *weights]),
        np.array(values, np.float32),
        np.array(exact, np.bool_),
    )


def search(options: argparse.Namespace) -> None:
    """Search the sets that the folder lacks."""
    positions = load(options.records, "train", options.cache or cache_folder())
    generator = np.random.default_rng(options.seed)
    rows = generator.permutation(limit_repeats(positions, Settings.repeats, generator))
    if len(rows) < options.sets * _SIDE_BY_SIDE:
        raise DatasetError(f"{options.records} has positions for {len(rows) // _SIDE_BY_SIDE} sets, not {options.sets}")
    options.out.mkdir(parents=True, exist_ok=True)
    paths = [options.out / f"{number:05}.npz" for number in range(options.sets)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    items = (
        item_of(number, positions, rows[number * _SIDE_BY_SIDE : (number + 1) * _SIDE_BY_SIDE]) for number in missing
    )
    task = partial(searching, options.network.read_bytes(), options.network.suffix, options.playouts)
    with pool_of(options.workers, None) as pool:
        for item, found in tqdm(pool.map(task, items), total=len(missing), unit="set", disable=None):
            write_arrays(paths[item.number], found)
    print(f"{options.out} holds {options.sets} sets")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.search_records", "Search positions of records or of a teacher, to learn from them.")
    parser.add_argument("records", type=Path, help="as utils.convert reads them, or a folder of utils.lab.teach")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the sets")
    parser.add_argument("--network", type=Path, default=Path("model/pydlshogi.npz"), help="(default: %(default)s)")
    parser.add_argument("--playouts", type=positive, default=128, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--sets", type=positive, default=400, metavar="N", help="in all")
    parser.add_argument("--seed", type=natural, default=0, help="of the sample")
    parser.add_argument("--cache", type=Path, help="folder of packed positions (default: in the user's cache folder)")
    parser.add_argument("--workers", type=natural, default=0, help="processes; 0: one for each core")
    options = parser.parse_args(arguments)
    return exit_status("search_records", partial(search, options))


if __name__ == "__main__":
    sys.exit(main())
