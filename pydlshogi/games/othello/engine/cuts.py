"""What shallow searches say of deep ones (Multi-ProbCut), as a search takes it and as a file that people can read.

They are measured by `python -m utils.lab.othello_learn cuts`.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.othello.engine.alphabeta_search import CUT, Probing
from pydlshogi.games.othello.engine.patterns import STAGES
from pydlshogi.support.files import read_plain, replacing

SHIPPED_CUTS: Final = "othello_probcut.toml"
_LARGEST_FILE: Final = 1 << 20
"""Bytes."""
_LARGEST_NUMBER: Final = 1e9


class CutPair(NamedTuple):
    """A line through the values of two depths: deep = slope x shallow + offset, in thousandths of a disc.

    Of two numbers the first holds at 60 empty squares and the second at none; in between they change evenly.
    """

    depth: int
    shallow: int
    slope: tuple[float, float]
    offset: tuple[float, float]
    deviation: tuple[float, float]
    """By how much the deep values miss the line."""
    positions: int
    """That it was measured on."""
    correlation: float
    """Of the values of the two depths."""


class Cuts(NamedTuple):
    """Pairs, those of one depth in the order in which they are tried, and how they are used."""

    deviations: float
    """How many deviations outside the window a predicted value must be."""
    everywhere: bool
    """See `Probing`."""
    pairs: tuple[CutPair, ...]


def probing_of(cuts: Cuts) -> Probing:
    """The same for a search."""
    deepest = max((pair.depth for pair in cuts.pairs), default=0)
    most = max((sum(pair.depth == depth for pair in cuts.pairs) for depth in range(deepest + 1)), default=0)
    table = np.zeros((STAGES, deepest + 1, most), CUT)
    table["shallow"] = -1
    filled = [0] * (deepest + 1)
    for pair in cuts.pairs:
        for stage in range(STAGES):
            slope, offset, deviation = (at_stage(stage, ends) for ends in (pair.slope, pair.offset, pair.deviation))
            table[stage, pair.depth, filled[pair.depth]] = pair.shallow, slope, offset, cuts.deviations * deviation
        filled[pair.depth] += 1
    return Probing(table, cuts.everywhere)


def at_stage(stage: int, ends: tuple[float, float]) -> float:
    """One of a pair's numbers in the middle of a stage."""
    passed = (4 * stage + 1.5) / 60
    return ends[0] + passed * (ends[1] - ends[0])


def write_cuts(path: Path, cuts: Cuts) -> None:
    """Write a file that people can read. Raises OSError."""
    lines = [
        "# Multi-ProbCut: a search `shallow` plies deep predicts one `depth` plies deep as slope x value + offset,",
        "# in thousandths of a disc. Of two numbers the first holds at 60 empty squares, the second at none.",
        f"deviations = {cuts.deviations}  # by how many the window must be missed",
        f"everywhere = {str(cuts.everywhere).lower()}  # whether to cut on the principal variation too",
    ]
    for pair in cuts.pairs:
        slope, offset, deviation = (
            ", ".join(f"{end:.{places}f}" for end in ends)
            for ends, places in ((pair.slope, 3), (pair.offset, 0), (pair.deviation, 0))
        )
        lines += [
            "",
            "[[pair]]",
            f"depth = {pair.depth}",
            f"shallow = {pair.shallow}",
            f"slope = [{slope}]",
            f"offset = [{offset}]",
            f"deviation = [{deviation}]",
            f"positions = {pair.positions}",
            f"correlation = {pair.correlation:.4f}",
        ]
    with replacing(path) as file:
        file.write("\n".join([*lines, ""]).encode())


def read_cuts(path: Path) -> Cuts:
    """The cuts of a file. Raises ValueError, OSError."""
    try:
        content = tomllib.loads(read_plain(path, _LARGEST_FILE).decode())
        pairs = tuple(
            CutPair(*(read(pair[name]) for name, read in zip(CutPair._fields, _READ, strict=True)))
            for pair in content["pair"]
        )
        cuts = Cuts(float(content["deviations"]), bool(content["everywhere"]), pairs)
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no cuts: {error}") from error
    numbers = [cuts.deviations, *(end for pair in pairs for end in (*pair.slope, *pair.offset, *pair.deviation))]
    if not all(abs(number) <= _LARGEST_NUMBER for number in numbers):  # nor is nan
        raise ValueError(f"{path}: a number that is none, or too large")
    if not all(0 < pair.shallow < pair.depth <= 60 and min(pair.slope) > 0 for pair in pairs):
        raise ValueError(f"{path}: a shallow search is one of fewer plies, and slopes are above 0")
    return cuts


def _two(ends: Any) -> tuple[float, float]:
    first, second = ends
    return float(first), float(second)


_READ: Final[tuple[Callable[[Any], Any], ...]] = (int, int, _two, _two, _two, int, float)
"""What reads each field of a pair."""


def described(pair: CutPair) -> str:
    """A line for people."""
    offset, deviation = (
        " to ".join(f"{end:.0f}" for end in dict.fromkeys(map(round, ends))) for ends in (pair.offset, pair.deviation)
    )
    slope = " to ".join(f"{end:.2f}" for end in dict.fromkeys(pair.slope))
    return (
        f"depth {pair.depth:2} from {pair.shallow:2}: slope {slope}, offset {offset}, deviation {deviation}, "
        f"correlation {pair.correlation:.3f}, {pair.positions} positions"
    )
