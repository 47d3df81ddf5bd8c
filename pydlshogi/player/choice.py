"""Which move to play of those that were searched: pure functions."""

import math
import random
from collections.abc import Sequence

from pydlshogi.uct.root import MoveStats


def draw(moves: Sequence[MoveStats], cutoff: float, generator: random.Random) -> MoveStats:
    """One of the moves whose value is within `cutoff` of the best, drawn by visits.

    The best itself if it is proven, or none of its visits has been paid yet.
    """
    best = moves[0]
    if best.plies is not None or math.isnan(best.value):
        return best
    near = [move for move in moves if move.plies is None and move.value >= best.value - cutoff]
    return generator.choices(near, [move.visits for move in near])[0]


def hopeless(best: MoveStats, threshold: float) -> bool:
    """Whether to resign although `best` could be played: it wins less often than `threshold`; 0: never."""
    if best.plies is not None:
        return best.plies < 0 and threshold > 0
    return best.value < threshold  # never while it is nan
