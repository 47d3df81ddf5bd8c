"""Which move is played of those that were searched, and whether the search goes on beyond the optimum of its time."""

import math
import random
from itertools import pairwise

import pytest
from test_search import Opinions, SearchOfOne
from tic_tac_toe import Letters

from pydlshogi.player.choice import WEAK_LEVELS, lcb_move, sample, should_resign, weak_move
from pydlshogi.player.clock import Budget, Clock
from pydlshogi.player.latency import Latency, WindowedMaximum
from pydlshogi.player.thinking import MateSearcher, Thinking
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.pipeline import Pipeline
from pydlshogi.uct.root import MoveStats


def move(name: str, visits: int, value: float, error: float = 0.01, plies: int | None = None) -> MoveStats:
    return MoveStats(ord(name), visits, value, error, 0.1, plies)


@pytest.mark.parametrize(
    ("moves", "chosen"),
    [
        ([move("a", 100, 0.50, 0.01), move("b", 60, 0.55, 0.01)], "b"),
        ([move("a", 100, 0.50, 0.01), move("b", 60, 0.501, 0.01)], "a"),  # with fewer visits less is sure
        ([move("a", 100, 0.50, 0.01), move("b", 60, 0.55, 0.03)], "a"),
        ([move("a", 100, 0.50, 0.01), move("b", 14, 0.90, 0.01)], "a"),  # fewer than 15 % of the most visits
        ([move("a", 100, 0.50, 0.01), move("b", 15, 0.90, 0.01)], "b"),
        ([move("a", 500, 0.53, 0.0067), move("b", 80, 0.50, 0.0)], "a"),  # a sure draw
        ([move("a", 24, 0.37, 0.079), move("b", 6, 0.005, 0.0004)], "a"),  # surely lost
        ([move("a", 9, 0.50, 0.01, plies=3), move("b", 90, 0.90, 0.01)], "a"),
        ([move("a", 100, 0.50, 0.01), move("b", 90, 0.90, 0.01, plies=-4)], "a"),
        ([move("a", 1, 0.50, math.nan), move("b", 1, 0.90, math.nan)], "a"),
        ([move("a", 3, 0.50, 0.2), move("b", 1, 0.90, math.nan)], "a"),
        ([move("a", 12, 0.50, 0.05), move("b", 3, 0.60, 1e-4), move("c", 9, 0.60, 1e-4)], "a"),  # chance may do so
    ],
)
def test_the_lcb_move(moves: list[MoveStats], chosen: str) -> None:
    assert chr(lcb_move(moves).move) == chosen


def test_the_lowest_levels_play_by_a_policy_that_is_flatter_the_lower_they_are() -> None:
    moves = [MoveStats(place, 0, math.nan, math.nan, prior, None) for place, prior in enumerate((0.9, 0.09, 0.01))]

    def share_of_the_first(level: int) -> float:
        rng = random.Random(0)
        return sum(weak_move(moves, level, rng).move == 0 for _ in range(2000)) / 2000

    shares = [share_of_the_first(level) for level in (0, 4, WEAK_LEVELS)]
    # 0.9, 0.09 and 0.01 to the powers of 1/5, 1/2 and 1, as shares of their sums
    assert shares == pytest.approx([0.50, 0.70, 0.90], abs=0.03)


def test_a_sampled_move_is_nearly_as_good_and_comes_as_often_as_it_was_visited() -> None:
    moves = [move("1", 60, 0.50), move("2", 20, 0.48), move("3", 20, 0.75), move("4", 99, 0.47)]
    moves.append(move("5", 99, 0.6, plies=-2))
    rng = random.Random(1)
    drawn = [chr(sample(moves, 0.02, rng).move) for _ in range(3000)]
    assert {*drawn} == {*"123"}
    assert drawn.count("1") == pytest.approx(1800, abs=100)


@pytest.mark.parametrize("best", [move("1", 10, 0.5, plies=3), move("1", 10, 0.5, plies=-4), move("1", 10, math.nan)])
def test_a_best_move_that_is_proven_or_not_yet_judged_is_not_sampled_away(best: MoveStats) -> None:
    rng = random.Random(1)
    assert {sample([best, move("2", 1000, 0.5)], 1.0, rng).move for _ in range(20)} == {ord("1")}


@pytest.mark.parametrize(
    ("best", "threshold", "resigns"),
    [(move("1", 9, 0.009), 0.01, True), (move("1", 9, 0.01), 0.01, False), (move("1", 9, 0.0), 0.0, False),
     (move("1", 9, math.nan), 0.5, False), (move("1", 9, 0.9, plies=-2), 0.01, True),
     (move("1", 9, 0.9, plies=-2), 0.0, False), (move("1", 9, 0.0, plies=1), 0.01, False)],
)  # fmt: skip
def test_it_resigns(best: MoveStats, threshold: float, resigns: bool) -> None:
    assert should_resign(best, threshold) == resigns


SECOND = 1000.0
"""So much longer than a batch that no delay of the machine counts."""


class Ticking(Opinions):
    """Each batch takes a second of a clock of its own."""

    now = 0.0

    def evaluate(self, batch: Batch) -> Evaluations:
        self.now += SECOND
        return super().evaluate(batch)


@pytest.mark.parametrize(
    ("prior", "value", "extended"),
    [
        (1 / 2, 0.5, True),  # as many visits as the other one
        (2 / 3, 0.5, True),  # 19 to 16
        (3 / 4, 0.5, False),  # 19 to 10, more than 1.5 times as many, and worth as much
        (0.97, 0.45, True),  # 19 to 1, but worth less
    ],
)
def test_it_goes_on_while_the_best_move_is_in_doubt(prior: float, value: float, extended: bool) -> None:
    """R has two moves, each with one line; to play the first is worth `value`, to play the other one half."""
    lines = [[chr(place + number) for number in range(200)] for place in (1000, 2000)]
    graph = {here: after for line in lines for here, after in pairwise(line)}
    values = {letter: value if ply % 2 else 1 - value for ply, letter in enumerate(lines[0])}
    search = SearchOfOne(Letters({"R": lines[0][0] + lines[1][0], **graph}, "R"))
    evaluator = Ticking(values, {chr(1000): prior, chr(2000): 1 - prior})
    clock = Clock(now=lambda: evaluator.now)
    optimum = 20 * SECOND
    clock.set_budget(lambda _: Budget(minimum=optimum, optimum=optimum, extended=optimum + SECOND, maximum=99 * SECOND))
    pipeline = Pipeline(search, evaluator, batch_size=2)
    thinking = Thinking(pipeline, MateSearcher(), clock, Latency(), WindowedMaximum(0.0))
    thinking.run(lambda: None, 99 * SECOND, lambda: 0.0, lambda: False)
    pipeline.close()
    assert clock.may_extend != extended
