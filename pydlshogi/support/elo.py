"""What a match proves: Elo with its error bar, likelihood of superiority.

Pure arithmetic over a histogram. `counts[i]` says how often the score was i / (len(counts) - 1): five counts for pairs
of games (0, 1/2, 1, 3/2, 2 points of 2; "pentanomial"), three for single games. Games of one pair share their opening
and are not independent; pairs are, so pairs are what error bars are made of. It does not know games or engines.
"""

from collections.abc import Mapping, Sequence
from math import erfc, inf, isfinite, log10, sqrt
from typing import Final, NamedTuple

MOST_ELO: Final = 1200.0
"""A larger difference is as good as winning every game."""
Z95 = 1.959963984540054


class Elo(NamedTuple):
    """An Elo difference and the ends of its 95 % confidence interval; an end may be infinite."""

    difference: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval: the number behind the plus-minus sign."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.difference:+.0f} ± {self.margin:.0f}" if isfinite(self.difference + self.margin) else "-"


def histogram_of_pairs(points: Mapping[int, float]) -> list[int]:
    """How many pairs of games brought the first engine 0, 1/2, 1, 3/2 and 2 points.

    `points`: 0, 1/2 or 1 by the number of the game, from 0; 2 n and 2 n + 1 are a pair. A game without its twin does
    not count.
    """
    counts = [0] * 5
    for number in points:
        if number % 2 == 0 and number + 1 in points:
            counts[round(2 * (points[number] + points[number + 1]))] += 1
    return counts


def elo_of_score(score: float) -> float:
    """Elo difference at which `score` (0..1) is expected: 400 log10(s / (1 - s))."""
    if score <= 0:
        return -inf
    return inf if score >= 1 else 400 * log10(score / (1 - score))


def estimate(counts: Sequence[int]) -> Elo:
    """Elo difference with its 95 % interval. Raises ZeroDivisionError when nothing was counted.

    The interval is the normal one around the mean score. Where every score was the same it would have no width: then
    Wilson's interval for as many single trials is given, which is wider than the truth because no score in 0..1 varies
    more than a coin with that mean.
    """
    n = sum(counts)
    mean = sum(score * count for score, count in _weighed(counts)) / n
    variance = sum(count * (score - mean) ** 2 for score, count in _weighed(counts)) / n
    if variance > 0:
        low, high = mean - Z95 * sqrt(variance / n), mean + Z95 * sqrt(variance / n)
    else:
        centre = (mean + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
        reach = Z95 * sqrt(mean * (1 - mean) / n + (Z95 / (2 * n)) ** 2) / (1 + Z95**2 / n)
        # A score of 0 or 1 is itself an end of its interval, which rounding would miss.
        low, high = centre - reach if mean > 0 else 0.0, centre + reach if mean < 1 else 1.0
    return Elo(elo_of_score(mean), elo_of_score(low), elo_of_score(high))


def superiority(counts: Sequence[int]) -> float:
    """Likelihood (0..1) that the first engine is the stronger one; 1/2 where nothing speaks for either.

    For single games this is the usual 1/2 + 1/2 erf((wins - losses) / sqrt(2 (wins + losses))).
    """
    lead = sum(count * (score - 0.5) for score, count in _weighed(counts))
    spread = sum(count * (score - 0.5) ** 2 for score, count in _weighed(counts))
    return 0.5 if spread == 0 else erfc(-lead / sqrt(2 * spread)) / 2


def _weighed(counts: Sequence[int]) -> list[tuple[float, float]]:
    """(score in 0..1, how often) for each cell of the histogram."""
    return [(index / (len(counts) - 1), count) for index, count in enumerate(counts)]
