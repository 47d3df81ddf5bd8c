"""The geometry of the board as tables: what a piece could reach, the lines through a square, ranks and zones.

Pieces and squares have cshogi's numbers. Squares run down the files from the right: 0 is 1a, 8 is 1i, 80 is 9i. A set
of squares is a number with a bit for each (`support.bits`); tables of sets are read with `entry`, constants with
`fixed`.
"""

from functools import cache
from itertools import product
from typing import Final

import numpy as np

from pydlshogi.games.shogi.names import (
    BISHOP,
    BLACK,
    GOLD,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROM_BISHOP,
    PROM_ROOK,
    ROOK,
    SILVER,
)
from pydlshogi.games.shogi.zobrist import COLOUR
from pydlshogi.support.arrays import Int8Array
from pydlshogi.support.bits import table_of, words_of

NO_SQUARE: Final = 81
"""Where cshogi says that a king stands that is missing."""
PLACES: Final = NO_SQUARE + 1
"""The squares, and NO_SQUARE, from where nothing is reached: rows of tables."""
PROMOTED: Final = 8
"""What its numbers of promoted pieces have more; the king's is 8 too."""

_Step = tuple[int, int]  # files to the left and ranks down, as Black sees it

_FORWARD: Final = (0, -1)
_GOLD: Final = (_FORWARD, (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1))
_SILVER: Final = (_FORWARD, (1, -1), (-1, -1), (1, 1), (-1, 1))
_STRAIGHT: Final = (_FORWARD, (1, 0), (-1, 0), (0, 1))
_DIAGONAL: Final = ((1, -1), (-1, -1), (1, 1), (-1, 1))

_STEPS: Final = {
    PAWN: (_FORWARD,),
    KNIGHT: ((1, -2), (-1, -2)),
    SILVER: _SILVER,
    **dict.fromkeys((GOLD, *(kind + PROMOTED for kind in (PAWN, LANCE, KNIGHT, SILVER))), _GOLD),
    KING: _STRAIGHT + _DIAGONAL,
    PROM_BISHOP: _STRAIGHT,
    PROM_ROOK: _DIAGONAL,
}
_SLIDES: Final = {
    LANCE: (_FORWARD,),
    BISHOP: _DIAGONAL,
    ROOK: _STRAIGHT,
    PROM_BISHOP: _DIAGONAL,
    PROM_ROOK: _STRAIGHT,
}


def _ranks(first: int, last: int) -> int:
    """The squares of the ranks from `first` to `last` (0 = a)."""
    return sum(1 << 9 * file + rank for file, rank in product(range(9), range(first, last + 1)))


@cache
def _ray(square: int, step: _Step, most: int = 8) -> int:
    """The squares that lie from `square` on in the direction of a step."""
    file, rank = divmod(square, 9)
    squares = 0
    for _ in range(most if square < NO_SQUARE else 0):
        file, rank = file + step[0], rank + step[1]
        if not (0 <= file < 9 and 0 <= rank < 9):
            break
        squares |= 1 << 9 * file + rank
    return squares


def _reached(piece: int, square: int) -> int:
    side, kind = divmod(piece, COLOUR)
    turn = 1 if side == BLACK else -1
    squares = 0
    for steps, most in ((_STEPS, 1), (_SLIDES, 8)):
        for file, rank in steps.get(kind, ()):
            squares |= _ray(square, (turn * file, turn * rank), most)
    return squares


REACH: Final = table_of(_reached(piece, square) for piece in range(2 * COLOUR) for square in range(PLACES))
"""At PLACES * piece + square: what the piece attacks from there on an empty board.

It stands too where a piece of this kind, but of the other side, attacks `square`.
"""

AXES: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
"""File, rank and the two diagonals: steps to squares of higher number."""
FILE, RANK, FALLING, RISING = range(4)
RISE: Final = table_of(_ray(square, axis) for axis in AXES for square in range(PLACES))
"""At PLACES * axis + square: the squares of higher number that lie from there on along the axis."""
FALL: Final = table_of(_ray(square, (-file, -rank)) for file, rank in AXES for square in range(PLACES))
"""The same of lower number."""

NO_AXIS: Final = -1


def _axes() -> Int8Array:
    axes = np.full((PLACES, PLACES), NO_AXIS, np.int8)
    for (number, (file, rank)), one in product(enumerate(AXES), range(PLACES)):
        line = _ray(one, (file, rank)) | _ray(one, (-file, -rank))
        axes[one, [other for other in range(NO_SQUARE) if line >> other & 1]] = number
    return axes


AXIS: Final = _axes()
"""int8 [PLACES, PLACES]: the axis on which two squares lie, or NO_AXIS."""

BOARD: Final = words_of(_ranks(0, 8))
BELOW_A: Final = words_of(_ranks(1, 8))
BELOW_B: Final = words_of(_ranks(2, 8))
ABOVE_I: Final = words_of(_ranks(0, 7))
ABOVE_H: Final = words_of(_ranks(0, 6))
RANK_I: Final = words_of(_ranks(8, 8))
LAST_RANKS: Final = table_of(
    _ranks(first, last) for first, last in ((1, 0), (0, 0), (0, 1), (0, 2), (1, 0), (8, 8), (7, 8), (6, 8))
)
"""At 4 * side + n: the n ranks farthest from the side; on three of them its pieces promote."""
