"""How a sparse network sees Dobutsu shogi: where each piece stands, whether it is attacked and defended, and the hands.

A move's label is its own number.
"""

from typing import Final

from pydlshogi.encoding import no_planes
from pydlshogi.games.dobutsu.encodings import DOBUTSU
from pydlshogi.games.dobutsu.rules import ENEMY, HEN, IN_HAND, LABELS, SQUARES, attacked, held, piece_on
from pydlshogi.support.arrays import Record, Uint32Array
from pydlshogi.support.compiled import rule

_HELD: Final = 2 * HEN * SQUARES * 4
"""The first row of what is in hand."""
_MOST_HELD: Final = 2
_PIECES: Final = 8
"""On the board and in hand."""


@rule
def pack(state: Record, words: Uint32Array) -> None:
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
    pack=pack,
    unpack=no_planes,
    symmetries=(),
    features=_HELD + _MOST_HELD * 2 * IN_HAND,
    label_parts=(LABELS, 1, 1),
)

ENCODINGS: Final = (DOBUTSU, DOBUTSU_SPARSE)
