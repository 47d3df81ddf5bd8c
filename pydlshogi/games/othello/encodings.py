"""How a network sees Othello: 3 planes of 8 ranks by 8 files, and 65 labels, the moves' own numbers.

Plane 0: the discs of the side to move; 1: those of its opponent; 2: the squares where the side to move may play.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.encoding import Encoding, Symmetry, own_numbers
from pydlshogi.games.othello.rules import PASS, mobility
from pydlshogi.games.othello.squares import TURNED
from pydlshogi.support.arrays import Float32Array, Record, Uint32Array
from pydlshogi.support.compiled import compiled, inlined, rule, word

_PLANES: Final = 3
_SIDE: Final = 8
WORDS: Final = 4
"""Of a packed position: the discs of the side to move and of its opponent, the lower 32 bits first."""
_32_BITS: Final[Any] = np.uint64(32)
_ONE: Final[Any] = np.uint64(1)


@rule
def pack(state: Record, words: Uint32Array) -> None:
    """Both sets of discs, in halves."""
    words[0], words[1] = state.mover, state.mover >> _32_BITS
    words[2], words[3] = state.opponent, state.opponent >> _32_BITS


@inlined
def unpacked(packed: Uint32Array, row: int) -> tuple[np.uint64, np.uint64]:
    """The discs of the side to move, and of its opponent."""
    mover = word(packed[row, 0]) | word(packed[row, 1]) << _32_BITS
    opponent = word(packed[row, 2]) | word(packed[row, 3]) << _32_BITS
    return mover, opponent


@compiled
def _unpack(packed: Uint32Array, planes: Float32Array) -> None:
    flat = planes.reshape(len(planes), _PLANES, _SIDE * _SIDE)
    for row in range(len(packed)):
        mover, opponent = unpacked(packed, row)
        moves = mobility(mover, opponent)
        for square in range(_SIDE * _SIDE):
            flat[row, 0, square] = mover >> word(square) & _ONE
            flat[row, 1, square] = opponent >> word(square) & _ONE
            flat[row, 2, square] = moves >> word(square) & _ONE


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
    unpack=_unpack,
    symmetries=tuple(_symmetry(turn) for turn in range(1, 8)),
)
