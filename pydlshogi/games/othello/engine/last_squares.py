"""The score of a position with few empty squares, without a table: most positions of an end game are such.

A kernel may not call itself, so there is a function for each number of empty squares. All answer whether the score is
above `alpha`: with a bound above it, or one that is not.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from pydlshogi.games.othello.rules import Position, final_score, flips
from pydlshogi.games.othello.squares import BESIDE, ONE, RIGHT, UP, ZERO, count, lowest, sets_of
from pydlshogi.support.kernels.compiled import compiled, compiled_for, inlined

LAST: Final = 7
_NONE: Final = -65
"""Below every score: the side to move cannot play."""
_QUADRANTS: Final = np.array([0x0F0F0F0F, 0xF0F0F0F0, 0x0F0F0F0F << 32, 0xF0F0F0F0 << 32], np.uint64)
_FILE: Final = np.uint64(0x0101010101010101)
"""A factor that brings a line with no two squares on one file into the highest byte, which `_HIGHEST` shifts down."""
_RANK: Final = np.uint64(0x0102040810204080)
"""The factor for the a-file."""
_HIGHEST: Final = np.uint64(56)


_HALVES: Final = np.arange(64) // 32, np.arange(64) // 4 % 2
_QUADRANT: Final = sets_of(np.logical_and(*(half == half[:, None] for half in _HALVES)))
"""uint64 [64]: the quadrant of each square."""
_LINES: Final = np.stack([sets_of(step * RIGHT == UP) for step in (0, 1, -1)], axis=1)
"""uint64 [64, 3]: the rank and the diagonals through each square: they have no two squares on one file."""


def _turned() -> npt.NDArray[np.uint8]:
    """uint8 [8, 256]: what a disc on each square of a full row turns, by the squares that the side to move has."""
    turned = np.zeros((8, 256), np.uint8)
    for square in range(8):
        for own in range(256):
            for step in (-1, 1):
                end = next(
                    (to for to in range(square + step, 8 if step > 0 else -1, step) if own >> to & 1), square + step
                )
                turned[square, own] += abs(end - square) - 1
    return turned


_TURNED: Final = _turned()


@inlined
def odd_quadrants(empty: np.uint64) -> np.uint64:
    """The quadrants with an odd number of empty squares: who plays there has the last move there."""
    odd = ZERO
    for quadrant in _QUADRANTS:
        if count(empty & quadrant) & 1:
            odd |= quadrant
    return odd


@inlined
def _last_turned(mover: np.uint64, square: np.uint64) -> int:
    """How many discs the side to move turns on the last empty square."""
    x, y = square & np.uint64(7), square >> np.uint64(3)
    file = (((mover >> x) & _FILE) * _RANK) >> _HIGHEST
    turned = int(_TURNED[y, file])
    for line in range(3):
        turned += int(_TURNED[x, ((mover & _LINES[square, line]) * _FILE) >> _HIGHEST])
    return turned


def _one(mover: np.uint64, opponent: np.uint64, empty: np.uint64, _odd: np.uint64, _alpha: int) -> int:
    """With one empty square."""
    square, own = lowest(empty), count(mover)
    turned = _last_turned(mover, square)
    if turned > 0:
        return 2 * (own + turned) - 62
    turned = _last_turned(opponent, square)
    if turned > 0:
        return 2 * (own - turned) - 64
    return final_score(mover, opponent)


below: Callable[[np.uint64, np.uint64, np.uint64, np.uint64, int], int] = _one
"""The function for one square less: see `compiled_for`."""


def _more(mover: np.uint64, opponent: np.uint64, empty: np.uint64, odd: np.uint64, alpha: int) -> int:
    """With more of them: first those moves that leave an even number of empty squares in their quadrant."""
    sign = 1
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
                    after = opponent ^ turned, mover | turned | disc, empty ^ disc, odd ^ _QUADRANT[square], -alpha - 1
                    best = max(best, -below(*after))
                    if best > alpha:
                        return sign * best
        if best != _NONE:
            return sign * best
        mover, opponent, alpha, sign = opponent, mover, -alpha - 1, -sign
    return final_score(mover, opponent)


_FUNCTIONS: list[Callable[..., int]] = [compiled(_one)]
for _squares in range(2, LAST + 1):
    _FUNCTIONS.append(compiled_for(f"{_squares}", _more, below=_FUNCTIONS[-1]))
last_score = _FUNCTIONS[-1]
"""The answer for a position with `LAST` empty squares."""


def load_functions() -> None:
    """Load what `exact_score` calls: no game is to wait for it."""
    for function in _FUNCTIONS:
        function(ZERO, ZERO, ONE, ZERO, 0)


def exact_score(position: Position) -> int:
    """The score of a position with `LAST` empty squares at most."""
    if position.over:
        return position.score
    mover, opponent = np.uint64(position.mover), np.uint64(position.opponent)
    empty, low, high = ~(mover | opponent), -64, 64
    while low < high:
        alpha = (low + high) // 2 | 1
        # Which quadrants are odd only says in what order moves are tried.
        answer = _FUNCTIONS[position.empties - 1](mover, opponent, empty, ZERO, alpha)
        low, high = (answer, high) if answer > alpha else (low, answer)
    return low
