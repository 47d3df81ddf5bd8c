"""Which move is played of those that were searched."""

import math
import random

import pytest

from pydlshogi.player.choice import WEAK_LEVELS, lcb_move, weak_move
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
