"""How networks see Othello: 3 planes of 8 ranks by 8 files, and 65 labels, the moves' own numbers.

Plane 0: the discs of the side to move; 1: those of its opponent; 2: the squares where the side to move may play.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.encoding import Encoding, Symmetry, listed_by, own_numbers
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import PASS, mobility
from pydlshogi.games.othello.squares import ONE, TURNED, ZERO, lowest
from pydlshogi.support.arrays import Int32Array, Record, Uint32Array
from pydlshogi.support.kernels.compiled import inlined, rule, wide, word

_PLANES: Final = 3
_SIDE: Final = 8
WORDS: Final = 4
"""Of a packed position: the discs of the side to move and of its opponent, the lower 32 bits first."""
_32_BITS: Final[Any] = np.uint64(32)


@rule
def pack(state: Record, words: Uint32Array) -> None:
    """Both sets of discs, in halves."""
    words[0], words[1] = state.mover, state.mover >> _32_BITS
    words[2], words[3] = state.opponent, state.opponent >> _32_BITS


@inlined
def unpacked(packed: Uint32Array) -> tuple[np.uint64, np.uint64]:
    """The discs of the side to move, and of its opponent."""
    return word(packed[0]) | word(packed[1]) << _32_BITS, word(packed[2]) | word(packed[3]) << _32_BITS


@rule
def _list_active(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    mover, opponent = unpacked(packed)
    a = first = 0
    for squares in (mover, opponent, mobility(mover, opponent)):
        left = squares
        while left != ZERO:
            active[a] = first + wide(lowest(left))
            a += 1
            left &= left - ONE
        first += _SIDE * _SIDE
    return a, 0


def _symmetry(turn: int) -> Symmetry:
    """The board as TURNED has it."""
    labels = np.append(TURNED[turn], PASS).astype(np.int32)
    squares = np.argsort(TURNED[turn]).astype(np.int32)
    return Symmetry(squares=squares, planes=np.arange(_PLANES, dtype=np.int32), labels=labels)


OTHELLO: Final = Encoding(
    name="othello",
    planes=_PLANES,
    height=_SIDE,
    width=_SIDE,
    labels=PASS + 1,
    words=WORDS,
    label_moves=own_numbers("othello"),
    pack=pack,
    list_active=listed_by("othello", _list_active),
    start=OthelloPosition,
    symmetries=tuple(_symmetry(turn) for turn in range(1, 8)),
)

ENCODINGS: Final = (OTHELLO,)
