"""How a network sees Dobutsu shogi: 22 planes of 4 ranks by 3 files, and 132 labels, the moves' own numbers.

Planes 0 to 4: where the own chicks, elephants, giraffes, lion and hens stand; 5 to 9: those of the enemy. Planes 10 to
15 are full where the own side holds at least one and at least two chicks, elephants, giraffes; 16 to 21 the enemy.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.encoding import Encoding, Symmetry, own_numbers
from pydlshogi.games.dobutsu.rules import (
    DROPS,
    ENEMY,
    FILES,
    HEN,
    IN_HAND,
    LABELS,
    RANKS,
    SQUARES,
    WAYS,
    held,
    piece_on,
)
from pydlshogi.support.arrays import Float32Array, Record, Uint32Array
from pydlshogi.support.compiled import compiled, rule, word

_ON_BOARD: Final = 2 * HEN
_PLANES: Final = _ON_BOARD + 2 * 2 * IN_HAND
_32_BITS: Final[Any] = np.uint64(32)


@rule
def pack(state: Record, words: Uint32Array) -> None:
    """The state's number as two words."""
    words[0], words[1] = state.pieces, state.pieces >> _32_BITS


@compiled
def _unpack(packed: Uint32Array, planes: Float32Array) -> None:
    flat = planes.reshape(len(planes), _PLANES * SQUARES)
    flat[:] = 0.0
    for row in range(len(packed)):
        pieces = word(packed[row, 0]) | word(packed[row, 1]) << _32_BITS
        for square in range(SQUARES):
            piece = piece_on(pieces, square)
            if piece:
                plane = piece - 1 if piece < ENEMY else HEN + piece - ENEMY - 1
                flat[row, SQUARES * plane + square] = 1.0
        for place in range(2 * IN_HAND):
            first = SQUARES * (_ON_BOARD + 2 * place)
            # Never more than there are planes for, whatever words somebody sends.
            for element in range(first, first + SQUARES * min(held(pieces, place), 2)):
                flat[row, element] = 1.0


def _mirror() -> Symmetry:
    """Left and right exchanged."""
    squares = np.arange(SQUARES).reshape(RANKS, FILES)[:, ::-1].ravel()
    ways = np.array([-way % 8 if way < DROPS else way for way in range(WAYS)])
    return Symmetry(
        squares=squares.astype(np.int32),
        planes=np.arange(_PLANES, dtype=np.int32),
        labels=(WAYS * squares[:, None] + ways).ravel().astype(np.int32),
    )


DOBUTSU: Final = Encoding(
    name="dobutsu",
    planes=_PLANES,
    height=RANKS,
    width=FILES,
    labels=LABELS,
    words=2,
    label_moves=own_numbers("dobutsu"),
    pack=pack,
    unpack=_unpack,
    symmetries=(_mirror(),),
)
