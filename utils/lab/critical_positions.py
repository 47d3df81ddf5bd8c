"""How often a network keeps the value of a game in positions whose values are known.

    python -m utils.lab.critical_positions --network runs/dobutsu/net.npz --playouts 0 64 800

Positions of Dobutsu shogi in which some moves keep the value and others do not are taken at random from the solution of
the game (`python -m pydlshogi.games.dobutsu.solve`). Counted are those in which the move chosen is worth as much as the
best one, by the search with which the engine plays. 0 playouts: the move that the policy likes best.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from pydlshogi.catalogue import game_named
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.dobutsu import solution_file
from pydlshogi.games.dobutsu.position import DobutsuPosition, write_sfen
from pydlshogi.games.dobutsu.solve import Solution
from pydlshogi.learning.forest import Forest
from pydlshogi.network.loading import load_backend
from pydlshogi.player.mcts_options import GENERAL_TEMPERATURE
from pydlshogi.support.command_line import exit_status, natural, parser_for, positive
from pydlshogi.uct.batch import Evaluator
from pydlshogi.uct.puct import DEFAULT_PUCT

_AT_ONCE = 256


def critical(solution: Solution, seed: int) -> Iterator[tuple[DobutsuPosition, frozenset[int]]]:
    """Positions of a solution, at random, each with the moves that keep its value; others do not."""
    rng = np.random.default_rng(seed)
    while True:
        position = DobutsuPosition(write_sfen(solution.any_position(rng), white=False, ply=1))
        moves = solution.moves(position)
        best = max(ends.value for ends in moves.values())
        keeping = frozenset(move for move, ends in moves.items() if ends.value == best)
        if position.outcome() is None and len(keeping) < len(moves):
            yield position, keeping


def value_keeping(
    positions: Sequence[tuple[DobutsuPosition, frozenset[int]]], evaluator: Evaluator, playouts: int
) -> float:
    """The share of such positions in which the move chosen after `playouts` keeps the value."""
    forest, kept = Forest(game_named("dobutsu"), evaluator, DEFAULT_PUCT, playouts, _AT_ONCE), 0
    for first in range(0, len(positions), _AT_ONCE):
        part = positions[first : first + _AT_ONCE]
        found = forest.search({tree: position for tree, (position, _) in enumerate(part)}, playouts)
        kept += sum(found[tree][0].move in keeping for tree, (_, keeping) in enumerate(part))
    return kept / len(positions)


def measure(options: argparse.Namespace) -> None:
    """Print a line for each number of playouts."""
    encodings = game_named("dobutsu").encodings
    backend = load_backend("auto", options.network, encodings, threads=1, batch_size=_AT_ONCE)
    positions = list(islice(critical(Solution(solution_file()), options.seed), options.positions))
    for playouts in options.playouts:
        share = value_keeping(positions, NetworkEvaluator(backend, GENERAL_TEMPERATURE / 100), playouts)
        what = f"{playouts} playouts" if playouts else "the policy"
        print(f"{what}: the value is kept in {share:.1%} of {len(positions):,} positions", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.critical_positions", __doc__)
    parser.add_argument("--positions", type=positive, default=4096, metavar="N")
    parser.add_argument("--seed", type=int, default=1, help="another one takes others")
    parser.add_argument("--network", type=Path, metavar="NPZ", required=True, help="whose moves are judged")
    parser.add_argument("--playouts", type=natural, nargs="+", default=[0, 64, 800], metavar="N")
    return exit_status("critical_positions", partial(measure, parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
