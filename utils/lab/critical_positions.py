"""How often a network keeps the value of a game in positions whose values are known.

    python -m utils.lab.critical_positions --network runs/dobutsu/net.npz --playouts 0 64 800

Games come to the positions in which half of the moves are random ones and the others the best; the solution of Dobutsu
shogi (`python -m pydlshogi.games.dobutsu.solve`) says that some moves keep their value and others do not. Counted are
those in which the move chosen keeps it, by the search with which the engine plays. 0 playouts: the move that the policy
likes best.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from pydlshogi.catalogue import game_named
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.dobutsu.critical import POSITIONS, critical
from pydlshogi.learning.forest import value_keeping
from pydlshogi.network.loading import load_backend
from pydlshogi.player.mcts_options import GENERAL_TEMPERATURE
from pydlshogi.support.command_line import exit_status, natural, parser_for, positive


def measure(options: argparse.Namespace) -> None:
    """Print a line for each number of playouts."""
    game = game_named("dobutsu")
    backend = load_backend("auto", options.network, game.encodings, threads=1)
    positions = list(islice(critical(options.seed), options.positions))
    for playouts in options.playouts:
        share = value_keeping(game, positions, NetworkEvaluator(backend, GENERAL_TEMPERATURE / 100), playouts)
        what = f"{playouts} playouts" if playouts else "the policy"
        print(f"{what}: the value is kept in {share:.1%} of {len(positions):,} positions", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.critical_positions", __doc__)
    parser.add_argument("--positions", type=positive, default=POSITIONS, metavar="N")
    parser.add_argument("--seed", type=int, default=1, help="another one takes others")
    parser.add_argument("--network", type=Path, metavar="NPZ", required=True, help="whose moves are judged")
    parser.add_argument("--playouts", type=natural, nargs="+", default=[0, 64, 800], metavar="N")
    return exit_status("critical_positions", partial(measure, parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
