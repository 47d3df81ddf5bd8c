"""When the end of a game is solved rather than searched, and what a lead is worth: the same for both engines."""

import math
from typing import Final

from pydlshogi.player.clock import Clock

DISCS: Final = 6.0
"""A lead of so many discs is a win rate of 1 / (1 + 1/e), 73 %."""
SOLVED_FROM: Final = 22
"""So many empty squares are solved where nothing limits the time: it takes a second or two."""
SOLVED_EARLIER: Final = 8
"""A level solves the end of the game so many plies earlier than it searches deep."""
LAST_PLY: Final = 42
"""Up to it the main time is spread: from then on the end is solved, and the moves after that cost nothing."""
_MS_AT_20: Final = 400.0
"""Milliseconds that it takes to solve 20 empty squares, which is exceeded in one game of five."""
_GROWTH: Final = 1.8
"""So many times as long with each square more."""


def win_rate(discs: float) -> float:
    """Of a lead of so many discs, also of a proven one: what a move cost is the difference of two of them."""
    return 1 / (1 + math.exp(-discs / DISCS))


def time_to_solve(clock: Clock) -> float:
    """Milliseconds that solving may take now. Half of a main time: the moves that follow are known then."""
    budget = clock.budget
    return max(budget.optimum, budget.maximum / 2) - clock.spent()


def solvable(empties: int, clock: Clock, level: int) -> bool:
    """Whether to solve a position with so many empty squares. `level`: plies that are searched at most; 0: any."""
    if level and empties > level + SOLVED_EARLIER:
        return False
    left = time_to_solve(clock)
    if math.isinf(left):
        return level > 0 or empties <= SOLVED_FROM
    expected: float = _MS_AT_20 * _GROWTH ** (empties - 20)
    return expected <= left
