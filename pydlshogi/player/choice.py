"""Which of the searched moves to play: pure functions."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # options are read before numpy is there
    from pydlshogi.uct.root import MoveStats


class SeededRng(random.Random):
    """Random numbers by a seed that the user may set; 0: each time otherwise."""

    def begin(self, seed: int) -> None:
        """Begin anew: another game."""
        self.begun_with = seed
        self.seed(seed or None)

    def begin_if_changed(self, seed: int) -> None:
        """Begin anew if another seed was set."""
        if seed != self.begun_with:
            self.begin(seed)


DEVIATIONS: Final = 5.0
"""Standard errors between the value of a move and its lower bound."""
LEAST_SHARE: Final = 0.15
"""A move with less than this share of the most visits is not compared."""
LEAST_VISITS: Final = 10
"""A move with fewer visits is not compared either: a few values may agree by chance."""


def lcb_move(moves: Sequence[MoveStats]) -> MoveStats:
    """The move whose value has the highest lower bound [KataGo's LCB].

    `moves` are sorted, as by `Root.moves`. The first is chosen if it is proven. Else it is compared with moves of
    enough visits whose value is as high or higher. (KataGo compares lower values too, and so prefers a sure draw to a
    likely win.) With few visits the bound lies deeper, much as Student's distribution has it.

    >>> from pydlshogi.uct.root import MoveStats
    >>> most = MoveStats(move=1, visits=100, value=0.50, error=0.02, prior=0.6, plies=None)
    >>> better = MoveStats(move=2, visits=60, value=0.62, error=0.01, prior=0.3, plies=None)
    >>> lcb_move([most, better]).move
    2
    """

    def bound(move: MoveStats) -> float:
        # The first term of the expansion of Cornish and Fisher.
        quantile = DEVIATIONS + (DEVIATIONS**3 + DEVIATIONS) / (4 * (move.visits - 1))
        return move.value - quantile * move.error

    best = moves[0]
    if best.plies is not None:
        return best
    least = max(LEAST_VISITS, LEAST_SHARE * best.visits)
    compared = [move for move in moves if move.plies is None and move.visits >= least and move.value >= best.value]
    return max((move for move in compared if not math.isnan(move.error)), key=bound, default=best)


def sample(moves: Sequence[MoveStats], cutoff: float, generator: random.Random) -> MoveStats:
    """One of the moves whose value is within `cutoff`, 0 to 1, of the first one's, sampled by visits.

    The first itself if it is proven, or before any of its visits is backed up.
    """
    best = moves[0]
    if best.plies is not None or math.isnan(best.value):
        return best
    near = [move for move in moves if move.plies is None and move.value >= best.value - cutoff]
    return generator.choices(near, [move.visits for move in near])[0]


WEAK_LEVELS: Final = 8
"""Skill levels below it play by the policy, however the search went."""
_WEAKEST_TEMPERATURE: Final = 5.0


def weak_move(moves: Sequence[MoveStats], level: int, generator: random.Random) -> MoveStats:
    """What a player of a skill level below WEAK_LEVELS plays: a move that seems plausible, without a search.

    The lower the level, the higher the temperature of the policy: so it errs as people do, and not by dice alone.
    """
    temperature = 1 + (_WEAKEST_TEMPERATURE - 1) * ((WEAK_LEVELS - level) / WEAK_LEVELS) ** 2
    weights = [max(move.prior, 0.0) ** (1 / temperature) for move in moves]
    return generator.choices(moves, weights)[0] if sum(weights) > 0 else moves[0]


def should_resign(best: MoveStats, threshold: float) -> bool:
    """Whether to resign although `best` could be played: it wins less often than `threshold`; 0: never."""
    if best.plies is not None:
        return best.plies < 0 and threshold > 0
    return best.value < threshold  # never while it is nan
