"""The squares of the board: which lie beside each other, and where they are when it is turned or mirrored."""

from typing import Final

import numpy as np
import numpy.typing as npt

from pydlshogi.games.othello.bits import lowest
from pydlshogi.games.othello.rules import ONE, ZERO, Position
from pydlshogi.support.arrays import BoolArray, Int8Array, Uint64Array
from pydlshogi.support.compiled import compiled, word

_X, _Y = np.arange(64) % 8, np.arange(64) // 8
RIGHT, UP = _X - _X[:, None], _Y - _Y[:, None]
"""int64 [64, 64]: files and ranks from one square to another."""


def sets_of(inside: BoolArray) -> Uint64Array:
    """uint64 [64]: of each square the squares for which `inside`, bool [64, 64], is true."""
    return np.packbits(inside, axis=1, bitorder="little").view(np.uint64)[:, 0]


BESIDE: Final = sets_of((abs(RIGHT) <= 1) & (abs(UP) <= 1) & ~np.eye(64, dtype=np.bool_))
"""uint64 [64]: the squares beside each one."""


def _seen(turn: int) -> npt.NDArray[np.int64]:
    file, rank = 7 - _X if turn & 1 else _X, 7 - _Y if turn & 2 else _Y
    return 8 * file + rank if turn & 4 else 8 * rank + file


TURNED: Final[Int8Array] = np.stack([_seen(turn) for turn in range(8)]).astype(np.int8)
"""int8 [8, 64]: where each square is seen when the board is mirrored left and right (1), up and down (2), along its
diagonal (4), or several of these one after the other: as it is, and in the seven other ways that play the same."""


@compiled
def turned(squares: np.uint64, turn: int) -> np.uint64:
    """A set of squares where it is seen: see TURNED."""
    seen = ZERO
    while squares != ZERO:
        seen |= ONE << word(TURNED[turn, lowest(squares)])
        squares &= squares - ONE
    return seen


def standing(position: Position) -> Position:
    """The position turned so that all its rotations and mirror images are the same, Black to move."""
    mover, opponent = np.uint64(position.mover), np.uint64(position.opponent)
    return Position(*min((int(turned(mover, turn)), int(turned(opponent, turn))) for turn in range(8)))
