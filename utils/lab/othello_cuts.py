"""What othello_learn.py learns of shallow searches: what they say of deep ones (Multi-ProbCut, Buro 1997).

Positions of games are searched 1, 2, 3 ... plies deep. A pair of depths is a line through the values of all positions,
deep = slope x shallow + offset, and how far off the values are. There are two forms. The tutorial's has one pair for
each depth, a slope of 1, and the same numbers for the whole game. The form by stages has several pairs for each depth,
and numbers that change evenly with the number of empty squares. Either cuts where the deep value is predicted to leave
the window by more than a number of deviations. The pairs that are known are in use while deeper ones are measured.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.alphabeta_search import AlphaBeta, Found, Probing, depths_to
from pydlshogi.games.othello.engine.cuts import CutPair, Cuts, probing_of
from pydlshogi.games.othello.rules import PASS, Position
from pydlshogi.games.othello.transcript import Transcript
from pydlshogi.support.arrays import Float64Array, Int16Array
from pydlshogi.support.pool import WorkerPool

FIRST_PLY: Final = 9
"""Positions are taken from a game after this many moves, as the tutorial does,"""
ROOM: Final = 15
"""while this many more squares are empty than a search is deep."""
MOST_POSITIONS: Final = 8000
"""More would only take time: a line has four numbers."""
LEAST_POSITIONS: Final = 30
"""From fewer nothing is concluded."""
LEAST_DEPTH: Final = 3
"""Searches that are less deep are not worth a shallow one."""
LEAST_SLOPE: Final = 0.1
"""A line that falls would turn the cuts round."""
_TASK: Final = 20
"""Positions that a process searches at a time."""


class Form(NamedTuple):
    """A way to cut."""

    by_stage: bool
    deviations: float
    """The margin."""
    everywhere: bool
    """See `Probing`."""

    def shallow(self, depth: int) -> list[int]:
        """The shallow searches to try before one of `depth`, in their order."""
        if depth < LEAST_DEPTH:
            return []
        if not self.by_stage:
            return [TUTORIAL_PAIRS[depth]] if depth in TUTORIAL_PAIRS else []
        return sorted({part - (part + depth) % 2 for part in (depth // 3, depth // 2)} - {0, -1})


TUTORIAL_PAIRS: Final = {3: 1, 4: 2, 5: 1, 6: 2, 7: 3, 8: 4, 9: 3, 10: 4, 11: 5, 12: 6, 13: 5, 14: 6}
FORMS: Final = {
    "tutorial": Form(by_stage=False, deviations=1.4, everywhere=True),
    "stages": Form(by_stage=True, deviations=1.1, everywhere=False),
}


def samples(games: Iterable[Transcript]) -> list[Position]:
    """The positions to measure on: those after the first moves in which the side to move can play.

    Of more than MOST_POSITIONS that number is chosen at random, always the same.
    """
    positions = []
    for game in games:
        position = game.start
        for ply, move in enumerate(game.moves):
            if ply >= FIRST_PLY and move != PASS:
                positions.append(position)
            position = position.play(move)
    return random.Random(0).sample(positions, MOST_POSITIONS) if len(positions) > MOST_POSITIONS else positions


def values(positions: Sequence[Position], depth: int, weights: Int16Array, probing: Probing) -> list[int]:
    """What searches of `depth` plies find, in thousandths of a disc."""
    search = AlphaBeta(weights, probing, megabytes=4)
    return [deepened(search, position, depth).value for position in positions]


def fit(depth: int, shallow: int, deep: Float64Array, less: Float64Array, passed: Float64Array, form: Form) -> CutPair:
    """The pair through the values of a deep search and of a shallow one; `passed` is the share of the game, 0 to 1."""
    if not form.by_stage:
        slope, offset = (1.0, 1.0), (float(np.mean(deep - less)),) * 2
        deviation = (float(np.std(deep - less)),) * 2
    else:
        terms = np.stack([less, less * passed, np.ones_like(less), passed], axis=1)
        (a, a_rise, b, b_rise), *_ = np.linalg.lstsq(terms, deep, rcond=None)
        slope = (max(LEAST_SLOPE, float(a)), max(LEAST_SLOPE, float(a + a_rise)))
        offset = (float(b), float(b + b_rise))
        # A normal error is on average sqrt(2 / pi) deviations in size.
        sizes = np.abs(deep - terms @ [a, a_rise, b, b_rise]) * math.sqrt(math.pi / 2)
        (s, s_rise), *_ = np.linalg.lstsq(terms[:, 2:], sizes, rcond=None)
        least = float(np.mean(sizes)) / 4
        deviation = (max(least, float(s)), max(least, float(s + s_rise)))
    correlation = float(np.corrcoef(less, deep)[0, 1])
    return CutPair(depth, shallow, slope, offset, deviation, len(deep), correlation)


def deepened(search: AlphaBeta, position: Position, depth: int) -> Found:
    """A search after shallower ones that order its moves; nothing is known from the moves before."""
    search.clear()
    *_, last = [search.search(position, each) for each in depths_to(depth)]
    assert last is not None
    return last


def measure(
    positions: Sequence[Position], form: Form, deepest: int, weights: Int16Array, pool: WorkerPool
) -> Iterator[Cuts]:
    """With the pairs of all depths up to 1, 2, 3 ... `deepest`, as far as there are positions for it."""
    cuts = Cuts(form.deviations, form.everywhere, ())
    known: dict[int, Float64Array] = {}
    empties = np.array([position.empties for position in positions])
    for depth in range(1, deepest + 1):
        roomy = [position for position in positions if position.empties > depth + ROOM]
        if len(roomy) < LEAST_POSITIONS:
            return
        tasks = [roomy[first : first + _TASK] for first in range(0, len(roomy), _TASK)]
        work = partial(values, depth=depth, weights=weights, probing=probing_of(cuts))
        bar = tqdm(pool.in_order(work, tasks), total=len(tasks), desc=f"depth {depth}", disable=None)
        found = np.full(len(positions), np.nan)
        found[empties > depth + ROOM] = np.concatenate(list(bar))
        known[depth] = found
        there = ~np.isnan(found)
        passed = (60 - empties[there]) / 60
        pairs = tuple(
            fit(depth, shallow, found[there], known[shallow][there], passed, form) for shallow in form.shallow(depth)
        )
        cuts = cuts._replace(pairs=cuts.pairs + pairs)
        yield cuts
