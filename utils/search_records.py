"""Positions of game records searched anew by a network: `python -m utils.search_records games.jsonl.xz --out searched`

    python -m utils.search_records games.jsonl.xz --network model/pydlshogi.npz --playouts 128 --sets 400 --out searched
    python -m pydlshogi.train --train games.jsonl.xz --searched searched --init model/pydlshogi.npz --out runs/soft ...

A record knows one move of a position; a search says how good all of them are, and what the position is worth. The
searches have dlshogi's constants, and no random moves. A set is 256 random positions of the training split, and a file
in the folder; sets that are there are not searched again. A folder is of one network, one number of playouts and one
drawing.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from tqdm import tqdm

from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.catalogue import game_named
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.learning.forest import Forest
from pydlshogi.learning.targets import expected_score, pruned_visits
from pydlshogi.learning.tasks import deadline, load_network
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import BackendError
from pydlshogi.network.weights import read_network
from pydlshogi.player.mcts_options import GENERAL_TEMPERATURE
from pydlshogi.support.arrays import Int64Array, Uint8Array, Uint16Array
from pydlshogi.support.command_line import add_pool_options, exit_status, natural, pool_of, positive
from pydlshogi.support.files import cache_folder, digest, reserved
from pydlshogi.support.pool import WorkerPool
from pydlshogi.support.settings import SettingError, settle
from pydlshogi.training.shogi.records import DatasetError, limit_repeats, load_positions
from pydlshogi.training.shogi.searched import Searched
from pydlshogi.training.shogi.settings import Settings
from pydlshogi.uct.puct import DEFAULT_PUCT

_OF_A_SET: Final = 256
"""Positions, searched side by side: one of each tree makes a batch."""
Item = tuple[int, Int64Array, Uint8Array, Uint16Array]
"""The number of a set; numbers of its positions; uint8 [n, 32], the positions two moves earlier or at the first move;
uint16 [n, 2], the moves from there, the last one first, 0 where there is none."""


def reached(starts: Uint8Array, before: Uint16Array) -> list[ShogiPosition]:
    """The positions of an item, with what a network may see of their past."""
    positions = [ShogiPosition() for _ in starts]
    for position, code, moves in zip(positions, starts, before.tolist(), strict=True):
        position.board.set_hcp(code)
        for move in filter(None, reversed(moves)):
            position.push(move)
    return positions


@dataclass(frozen=True)
class SearchSets:
    """A task of a pool."""

    network: bytes
    """Of a file with that suffix."""
    suffix: str
    playouts: int

    @contextmanager
    def __call__(self) -> Iterator[Callable[[Item], Searched]]:
        game = game_named("shogi")
        backend = load_network(game, self.network, _OF_A_SET, suffix=self.suffix)
        evaluator = NetworkEvaluator(backend, GENERAL_TEMPERATURE / 100)
        forest = Forest(game, evaluator, DEFAULT_PUCT, self.playouts, _OF_A_SET)
        yield partial(self._searched, forest)

    def _searched(self, forest: Forest, item: Item) -> Searched:
        """What the positions of `item` teach, those left out in which there is nothing to choose."""
        _, rows, starts, before = item
        positions = reached(starts, before)
        hcp = np.zeros((len(rows), 32), np.uint8)
        for position, code in zip(positions, hcp, strict=True):
            position.board.to_hcp(code)
        open_ones = [i for i, each in enumerate(positions) if each.outcome() is None and len(each.legal_moves()) > 1]
        found = forest.search({tree: positions[i] for tree, i in enumerate(open_ones)}, self.playouts)
        moves, weights, values, exact = [], [], [], []
        for tree in range(len(open_ones)):
            visits = pruned_visits(found[tree], DEFAULT_PUCT)
            visited = np.flatnonzero(visits)
            moves.append(np.array([found[tree][i].move for i in visited.tolist()], np.uint16))
            weights.append((visits[visited] / visits.sum()).astype(np.float32))
            value, proven = expected_score(forest.root(tree))
            values.append(value)
            exact.append(proven)
        return Searched(
            rows[open_ones],
            hcp[open_ones],
            np.array([len(each) for each in moves]),
            np.concatenate([np.zeros(0, np.uint16), *moves]),
            np.concatenate([np.zeros(0, np.float32), *weights]),
            np.array(values, np.float32),
            np.array(exact, np.bool_),
        )


def search(options: argparse.Namespace, pool: WorkerPool) -> None:
    """Search the sets that the folder lacks."""
    positions = load_positions(options.records, "train", options.cache or cache_folder())
    generator = np.random.default_rng(options.seed)
    rows = generator.permutation(limit_repeats(positions, Settings.repeats, generator))
    if len(rows) < options.sets * _OF_A_SET:
        raise DatasetError(f"{options.records} has positions for {len(rows) // _OF_A_SET} sets, not {options.sets}")
    about = {
        "positions": hashlib.sha256(positions["hcp"][rows[:_OF_A_SET]].tobytes()).hexdigest(),
        "network": digest(options.network),
        "playouts": options.playouts,
        "seed": options.seed,
    }
    settle(options.out / "searched.json", about)
    paths = [options.out / f"{number:05}.npz" for number in range(options.sets)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    parts = (rows[number * _OF_A_SET : (number + 1) * _OF_A_SET] for number in missing)
    items = (
        (number, part, positions["hcp"][part - np.minimum(positions["ply"][part], 2)], positions["before"][part])
        for number, part in zip(missing, parts, strict=True)
    )
    with tqdm(total=options.sets, initial=options.sets - len(missing), unit="set", disable=None) as bar:
        task = SearchSets(options.network.read_bytes(), options.network.suffix, options.playouts)
        longest = deadline(_OF_A_SET, options.playouts, options.network.stat().st_size)
        for (number, *_), searched in pool.map(task, items, longest):
            searched.write(paths[number])
            bar.update()
    print(f"{options.out} holds {options.sets} sets")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m utils.search_records", description="Search positions of game records, to learn from them."
    )
    parser.add_argument("records", type=Path, help="games.jsonl(.xz), or a list of record files")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the sets; give it again to go on")
    parser.add_argument("--network", type=Path, default=Path("model/pydlshogi.npz"), help="(default: %(default)s)")
    parser.add_argument("--playouts", type=positive, default=128, metavar="N", help="a position (default: %(default)s)")
    parser.add_argument("--sets", type=positive, default=400, metavar="N", help="in all (default: %(default)s)")
    parser.add_argument("--seed", type=natural, default=0, help="other seeds, other positions (default: %(default)s)")
    parser.add_argument("--cache", type=Path, help="folder of packed positions (default: in the user's cache folder)")
    add_pool_options(parser)
    options = parser.parse_args(arguments)

    def run() -> None:
        if options.network.suffix != ".onnx":
            # Or the workers would complain of a file of theirs.
            read_network(options.network, game_named("shogi").encodings)
        options.out.mkdir(parents=True, exist_ok=True)
        with reserved(options.out), pool_of(options.workers, options.cluster) as pool:
            search(options, pool)

    errors = (BackendError, DatasetError, ModelError, SettingError)
    return exit_status("search_records", run, *errors, resume="the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
