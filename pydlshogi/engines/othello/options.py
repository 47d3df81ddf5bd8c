"""The options of the command line that choose what the searching engine thinks with."""

import argparse
from pathlib import Path
from typing import Final

from pydlshogi.engines.othello.alphabeta_options import DEFAULT_LEVEL, EngineChoice, add_effort_options, effort_of
from pydlshogi.engines.othello.clock import Effort, TimeLeft, allot
from pydlshogi.engines.othello.engine import EngineError, OthelloEngine
from pydlshogi.engines.othello.search import IAGO_ROLLOUTS, Mind, SearchEngine

_IAGO_SECONDS: Final = 10.0


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_effort_options(parser, "32 playouts, doubled so many times")
    parser.add_argument("--playouts", type=int, help="for a move at most, and no end is solved; 1: the policy alone")
    parser.add_argument(
        "--iago",
        action="store_true",
        help=f"search as IaGo did, with rollouts and {_IAGO_SECONDS:.0f} seconds a move unless something else is said",
    )
    parser.add_argument("--rollouts", type=float, help="their share in the value of a position, 0 to 1 (default 0)")
    parser.add_argument("--network", type=Path, help="to think with, .npz or .onnx (default: tables of the package)")
    parser.add_argument("--memory", type=int, default=256, help="MiB for the tree (default %(default)s)")


def _engine_of(options: argparse.Namespace) -> tuple[OthelloEngine, Effort]:
    if not 1 <= options.memory <= 1 << 16:
        raise EngineError("--memory is 1 to 65536")
    if options.playouts is not None and options.playouts < 1:
        raise EngineError("--playouts is above 0")
    if options.rollouts is not None and not 0 <= options.rollouts <= 1:
        raise EngineError("--rollouts is 0 to 1")
    default = Effort(level=None if options.playouts else DEFAULT_LEVEL)
    if options.iago:
        default = allot(TimeLeft(0.0, _IAGO_SECONDS, 1), empties=60)
    share = options.rollouts
    if share is None:
        share = IAGO_ROLLOUTS if options.iago else 0.0
    mind = Mind(options.network, options.iago, share, options.playouts, options.memory)
    return SearchEngine(mind), effort_of(options, default)


SEARCH: Final = EngineChoice("pydlshogi.engines.othello", _add_options, _engine_of)
