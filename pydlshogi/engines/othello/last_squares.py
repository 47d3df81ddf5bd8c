"""The score of a position with four empty squares at most, without a table: most positions of an end game are such.

A kernel may not call itself, so there is a function for each number of empty squares. All answer whether the score is
above `alpha`: with a bound above it, or one that is not.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from pydlshogi.games.othello.bits import count, lowest
from pydlshogi.games.othello.rules import ONE, ZERO, final_score, flips
from pydlshogi.support.arrays import Uint64Array
from pydlshogi.support.compiled import compiled, compiled_for, inlined, rule

LAST: Final = 4
_NONE: Final = -65
"""Below every score: the side to move cannot play."""
_QUADRANTS: Final = np.array([0x0F0F0F0F, 0xF0F0F0F0, 0x0F0F0F0F << 32, 0xF0F0F0F0 << 32], np.uint64)


def _beside() -> Uint64Array:
    """uint64 [64]: the squares beside each one."""
    files, ranks = np.arange(64) % 8, np.arange(64) // 8
    near = (abs(files[:, None] - files) <= 1) & (abs(ranks[:, None] - ranks) <= 1) & ~np.eye(64, dtype=np.bool_)
    return np.packbits(near, axis=1, bitorder="little").view(np.uint64)[:, 0]


BESIDE: Final = _beside()


@inlined
def odd_quadrants(empty: np.uint64) -> np.uint64:
    """The quadrants with an odd number of empty squares: who plays there has the last move there."""
    odd = ZERO
    for quadrant in _QUADRANTS:
        if count(empty & quadrant) & 1:
            odd |= quadrant
    return odd


def _one(mover: np.uint64, opponent: np.uint64, empty: np.uint64, _alpha: int) -> int:
    """With one empty square, or none."""
    if empty == ZERO:
        return final_score(mover, opponent)
    square = lowest(empty)
    turned = flips(mover, opponent, square)
    if turned != ZERO:
        return 2 * count(mover | turned) - 62
    turned = flips(opponent, mover, square)
    if turned != ZERO:
        return 2 * count(mover ^ turned) - 64
    return final_score(mover, opponent)


below: Callable[[np.uint64, np.uint64, np.uint64, int], int] = _one
"""The function for one square less: see `compiled_for`."""


def _more(mover: np.uint64, opponent: np.uint64, empty: np.uint64, alpha: int) -> int:
    """With more of them: first those moves that leave an even number of empty squares in their quadrant."""
    odd, sign = odd_quadrants(empty), 1
    for _ in range(2):
        best = _NONE
        for part in (empty & odd, empty & ~odd):
            left = part
            while left != ZERO:
                square = lowest(left)
                left &= left - ONE
                if BESIDE[square] & opponent == ZERO:
                    continue
                turned = flips(mover, opponent, square)
                if turned != ZERO:
                    disc = ONE << square
                    best = max(best, -below(opponent ^ turned, mover | turned | disc, empty ^ disc, -alpha - 1))
                    if best > alpha:
                        return sign * best
        if best != _NONE:
            return sign * best
        mover, opponent, alpha, sign = opponent, mover, -alpha - 1, -sign
    return final_score(mover, opponent)


_FUNCTIONS: list[Callable[..., int]] = [rule(_one)]
for _squares in range(2, LAST + 1):
    _FUNCTIONS.append(compiled_for(f"{_squares}", _more, below=_FUNCTIONS[-1]))
_one_left, _two_left, _three_left, _four_left = _FUNCTIONS


@compiled
def last_score(mover: np.uint64, opponent: np.uint64, empty: np.uint64, empties: int, alpha: int) -> int:
    """The answer for a position with at most `LAST` empty squares."""
    if empties == 4:
        return _four_left(mover, opponent, empty, alpha)
    if empties == 3:
        return _three_left(mover, opponent, empty, alpha)
    if empties == 2:
        return _two_left(mover, opponent, empty, alpha)
    return _one_left(mover, opponent, empty, alpha)
