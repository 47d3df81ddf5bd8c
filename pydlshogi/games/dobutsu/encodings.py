"""How networks see Dobutsu shogi: 22 planes of 4 ranks by 3 files, or the rows of a sparse network; and 132 labels, the
moves' own numbers.

Planes 0 to 4: where the own chicks, elephants, giraffes, lion and hens stand; 5 to 9: those of the enemy. Planes 10 to
15 are full where the own side holds at least one and at least two chicks, elephants, giraffes; 16 to 21 the enemy. A
row says where a piece stands, and whether it is attacked and defended, or what is in hand.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.encoding import Encoding, Symmetry, listed_by, no_planes, own_numbers
from pydlshogi.games.dobutsu.position import DobutsuPosition
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
    attacked,
    held,
    piece_on,
)
from pydlshogi.support.arrays import Int32Array, Record, Uint32Array
from pydlshogi.support.kernels.compiled import rule, word

_ON_BOARD: Final = 2 * HEN
_PLANES: Final = _ON_BOARD + 2 * 2 * IN_HAND
_32_BITS: Final[Any] = np.uint64(32)


@rule
def pack(state: Record, words: Uint32Array) -> None:
    """The state's number as two words."""
    words[0], words[1] = state.pieces, state.pieces >> _32_BITS


@rule
def _list_active(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    a = f = 0
    pieces = word(packed[0]) | word(packed[1]) << _32_BITS
    # Somebody may send words with pieces that there are no planes for.
    for square in range(SQUARES):
        piece = piece_on(pieces, square)
        plane = piece - 1 if piece < ENEMY else HEN + piece - ENEMY - 1
        if 0 <= plane < _ON_BOARD:
            active[a] = SQUARES * plane + square
            a += 1
    for place in range(2 * IN_HAND):
        for i in range(min(held(pieces, place), 2)):
            full[f] = _ON_BOARD + 2 * place + i
            f += 1
    return a, f


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
    list_active=listed_by("dobutsu", _list_active),
    start=DobutsuPosition,
    symmetries=(_mirror(),),
)

_HELD: Final = 2 * HEN * SQUARES * 4
"""The first row of what is in hand."""
_MOST_HELD: Final = 2
_PIECES: Final = 8
"""On the board and in hand."""


@rule
def _pack_rows(state: Record, words: Uint32Array) -> None:
    """Fill uint32 [1 + _PIECES]: a row is 4 x (12 x piece + square) + 2 x attacked + defended, the enemy's pieces after
    the own ones; behind these 2 x place + number - 1 for each kind in hand."""
    pieces, count = state.pieces, 0
    for square in range(SQUARES):
        piece = piece_on(pieces, square)
        if piece:
            colour = piece & ENEMY
            plane = piece - 1 if colour == 0 else HEN + piece - ENEMY - 1
            row = 4 * (SQUARES * plane + square)
            row += 2 if attacked(pieces, square, ENEMY - colour) else 0
            count += 1
            words[count] = row + 1 if attacked(pieces, square, colour) else row
    for place in range(2 * IN_HAND):
        number = held(pieces, place)
        if number:
            count += 1
            words[count] = _HELD + _MOST_HELD * place + number - 1
    words[0] = count


DOBUTSU_SPARSE: Final = DOBUTSU._replace(
    name="dobutsu_sparse",
    planes=0,
    words=1 + _PIECES,
    pack=_pack_rows,
    list_active=no_planes,
    symmetries=(),
    features=_HELD + _MOST_HELD * 2 * IN_HAND,
    label_parts=(LABELS, 1, 1),
)

ENCODINGS: Final = (DOBUTSU, DOBUTSU_SPARSE)
