"""The options of the command line that choose an engine and what its moves may cost."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from pydlshogi.engines.othello.clock import Effort, TimeLeft, allot
from pydlshogi.engines.othello.engine import EngineError, OthelloEngine
from pydlshogi.engines.othello.player import SHIPPED_OPENINGS, AlphaBetaEngine
from pydlshogi.support.files import shipped_model

DEFAULT_LEVEL: Final = 10


class EngineChoice(NamedTuple):
    """An engine as the command line offers it."""

    name: str
    """Of the module's folder: `python -m NAME.serve` starts it."""
    add_options: Callable[[argparse.ArgumentParser], None]
    engine_of: Callable[[argparse.Namespace], tuple[OthelloEngine, Effort]]
    """The engine that the options ask for, and what its moves may cost. Raises EngineError."""


def add_effort_options(parser: argparse.ArgumentParser, level: str) -> None:
    """Options for `effort_of`; `level` says what one is."""
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--level", type=int, help=f"{level} (default {DEFAULT_LEVEL})")
    effort.add_argument("--seconds", type=float, help="for a move, instead of a level")


def effort_of(options: argparse.Namespace, default: Effort) -> Effort:
    """What a move may cost. Raises EngineError."""
    if options.seconds is not None and not 0 < options.seconds < math.inf:
        raise EngineError("--seconds is above 0")
    if options.level is not None and not 1 <= options.level <= 60:
        raise EngineError("--level is 1 to 60")
    if options.seconds is not None:
        return allot(TimeLeft(0.0, options.seconds, 1), empties=60)
    return default if options.level is None else Effort(level=options.level)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_effort_options(parser, "plies to search")
    parser.add_argument("--weights", type=Path, help="of the patterns, .npz (default: those of the package)")
    parser.add_argument("--cuts", type=Path, help="for Multi-ProbCut, .toml (default: those of the package)")
    parser.add_argument("--plain", action="store_true", help="without Multi-ProbCut")
    parser.add_argument("--openings", type=Path, help="file to play from (default: that of the package)")
    parser.add_argument("--no-openings", action="store_true", help="think from the first move on")
    parser.add_argument("--memory", type=int, default=64, help="MiB for each of two tables (default %(default)s)")


def _engine_of(options: argparse.Namespace) -> tuple[OthelloEngine, Effort]:
    if not 1 <= options.memory <= 1 << 16:
        raise EngineError("--memory is 1 to 65536")
    effort = effort_of(options, Effort(level=DEFAULT_LEVEL))
    openings = None if options.no_openings else options.openings or shipped_model() / SHIPPED_OPENINGS
    engine = AlphaBetaEngine(
        options.weights, options.cuts, plain=options.plain, openings=openings, megabytes=options.memory
    )
    return engine, effort


ALPHABETA: Final = EngineChoice("pydlshogi.games.othello", _add_options, _engine_of)
