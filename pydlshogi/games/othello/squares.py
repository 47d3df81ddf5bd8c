"""Sets of squares: what processors do with them, which squares lie beside each other, and the board when it is turned.

A set is a number of 64 bits, bit n for square n: 0 = a1, 7 = h1, 63 = h8.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pydlshogi.support.arrays import BoolArray, Int8Array, Uint64Array
from pydlshogi.support.kernels.compiled import compiled, word

ZERO: Final = np.uint64(0)
ONE: Final = np.uint64(1)

# Instructions that numba has no names for. For kernels only.

_FALSE = ir.Constant(ir.IntType(1), 0)


def _instruction(emit: Callable[[Any, Any], Any], result: Any = types.uint64) -> Any:
    """A function of kernels that becomes the one instruction `emit(builder, bits)`."""

    def typed(_context: Any, _bits: Any) -> Any:
        return result(types.uint64), lambda _, builder, __, arguments: emit(builder, *arguments)

    return intrinsic(typed)


count = cast(Callable[[np.uint64], int], _instruction(lambda builder, bits: builder.ctpop(bits), types.int64))
"""How many squares are in the set."""

lowest = cast(Callable[[np.uint64], np.uint64], _instruction(lambda builder, bits: builder.cttz(bits, _FALSE)))
"""The lowest square of the set; 64 for the empty one."""

zeros_above = cast(Callable[[np.uint64], np.uint64], _instruction(lambda builder, bits: builder.ctlz(bits, _FALSE)))
"""63 less the highest square of the set; 64 for the empty one."""

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
