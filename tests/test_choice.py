"""Which move is played of those that were searched."""

import math
import random

import pytest

from pydlshogi.player.choice import WEAK_LEVELS, SeededRng, lcb_move, sample, should_resign, weak_move
from pydlshogi.uct.root import MoveStats


def move(name: str, visits: int, value: float, error: float, plies: int | None = None) -> MoveStats:
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


def stats(move: int, visits: int, value: float, plies: int | None = None) -> MoveStats:
    return MoveStats(move, visits, value, error=0.01, prior=0.1, plies=plies)


def test_a_sampled_move_is_nearly_as_good_and_comes_as_often_as_it_was_visited() -> None:
    moves = [stats(1, 60, 0.50), stats(2, 20, 0.48), stats(3, 20, 0.75), stats(4, 99, 0.47), stats(5, 99, 0.6, -2)]
    rng = random.Random(1)
    drawn = [sample(moves, 0.02, rng).move for _ in range(3000)]
    assert {*drawn} == {1, 2, 3}
    assert drawn.count(1) == pytest.approx(1800, abs=100)


@pytest.mark.parametrize("best", [stats(1, 10, 0.5, plies=3), stats(1, 10, 0.5, plies=-4), stats(1, 10, math.nan)])
def test_a_best_move_that_is_proven_or_not_yet_judged_is_not_sampled_away(best: MoveStats) -> None:
    rng = random.Random(1)
    assert {sample([best, stats(2, 1000, 0.5)], 1.0, rng).move for _ in range(20)} == {1}


@pytest.mark.parametrize(
    ("best", "threshold", "resigns"),
    [
        (stats(1, 9, 0.009), 0.01, True),
        (stats(1, 9, 0.01), 0.01, False),
        (stats(1, 9, 0.0), 0.0, False),
        (stats(1, 9, math.nan), 0.5, False),
        (stats(1, 9, 0.9, plies=-2), 0.01, True),
        (stats(1, 9, 0.9, plies=-2), 0.0, False),
        (stats(1, 9, 0.0, plies=1), 0.01, False),
    ],
)
def test_it_resigns(best: MoveStats, threshold: float, resigns: bool) -> None:
    assert should_resign(best, threshold) == resigns


def test_a_seed_repeats_its_numbers_and_none_does_not() -> None:
    def numbers(seed: int) -> list[float]:
        rng = SeededRng()
        rng.begin(seed)
        return [rng.random() for _ in range(3)]

    assert numbers(7) == numbers(7) != numbers(8)
    assert numbers(0) != numbers(0)
    rng = SeededRng()
    rng.begin(7)
    first = rng.random()
    rng.begin_if_changed(7)  # goes on
    assert rng.random() != first
    rng.begin_if_changed(8)
    rng.begin_if_changed(7)
    assert rng.random() == first
