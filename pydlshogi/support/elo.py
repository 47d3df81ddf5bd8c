"""What a match proves: Elo with its error bar, likelihood of superiority, sequential test.

Pure arithmetic over a histogram. `counts[i]` says how often the score was i / (len(counts) - 1): five counts for pairs
of games (0, 1/2, 1, 3/2, 2 points of 2; "pentanomial"), three for single games. Games of one pair share their opening
and are not independent; pairs are, so pairs are what error bars are made of. It does not know games or engines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import erfc, inf, isfinite, log, log10, sqrt
from typing import Final, Literal, NamedTuple

from pydlshogi.support import OneLineError

MOST_ELO: Final = 1200.0
"""A larger difference is as good as winning every game."""
Z95 = 1.959963984540054
UNSEEN = 1e-3
"""How often a score that never occurred is taken to have occurred, so that no hypothesis becomes impossible."""


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


def score_of_elo(difference: float) -> float:
    """Expected score (0..1) at an Elo difference."""
    return 1 / (1 + 10 ** (-difference / 400))


def mean_score(counts: Sequence[float]) -> float:
    """Average score, 0..1. Raises ZeroDivisionError when nothing was counted."""
    return sum(score * count for score, count in _weighed(counts)) / sum(counts)


def estimate(counts: Sequence[int]) -> Elo:
    """Elo difference with its 95 % interval.

    The interval is the normal one around the mean score. Where every score was the same it would have no width: then
    Wilson's interval for as many single trials is given, which is wider than the truth because no score in 0..1 varies
    more than a coin with that mean.
    """
    n = sum(counts)
    mean = mean_score(counts)
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


@dataclass(frozen=True)
class Sprt:
    """Sequential probability ratio test of "Elo difference is elo1" against "it is elo0" (Wald 1945).

    Either is taken wrongly in one of twenty.
    """

    elo0: float
    elo1: float

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            wanted = f"elo0 < elo1, {-MOST_ELO:g} to {MOST_ELO:g}"
            raise OneLineError(f"SPRT needs {wanted}, not {self.elo0:g} and {self.elo1:g}")

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which elo0 and elo1 are accepted."""
        return -log(19), log(19)

    def llr(self, counts: Sequence[int]) -> float:
        """Generalised log-likelihood ratio of elo1 over elo0, as Stockfish's fishtest computes it.

        The frequencies of the scores are unknown under either hypothesis; each side is given its most likely ones.
        """
        n = sum(counts)
        if n == 0:
            return 0.0
        seen = [count or UNSEEN for count in counts]
        observed = [count / sum(seen) for count in seen]
        under0 = _most_likely(observed, score_of_elo(self.elo0))
        under1 = _most_likely(observed, score_of_elo(self.elo1))
        return n * sum(p * log(p1 / p0) for p, p0, p1 in zip(observed, under0, under1, strict=True))

    def verdict(self, counts: Sequence[int]) -> Literal["elo0", "elo1"] | None:
        """The accepted hypothesis, or None while the match has to go on."""
        (low, high), llr = self.bounds, self.llr(counts)
        return "elo0" if llr <= low else "elo1" if llr >= high else None


def _weighed(counts: Sequence[float]) -> list[tuple[float, float]]:
    """(score in 0..1, how often) for each cell of the histogram."""
    return [(index / (len(counts) - 1), count) for index, count in enumerate(counts)]


def _most_likely(observed: Sequence[float], mean: float) -> list[float]:
    """Frequencies with the given mean score under which `observed` (all positive, sum 1) is most likely.

    They are observed / (1 + t (score - mean)) with the t that makes the mean come true (Owen, Empirical Likelihood,
    2001, section 2.9); the sum below falls as t grows, so t is found by bisection.
    """
    deviations = [score - mean for score, _ in _weighed(observed)]
    low, high = -1 / deviations[-1], -1 / deviations[0]
    for _ in range(100):
        t = (low + high) / 2
        if sum(p * d / (1 + t * d) for p, d in zip(observed, deviations, strict=True)) > 0:
            low = t
        else:
            high = t
    return [p / (1 + t * d) for p, d in zip(observed, deviations, strict=True)]
