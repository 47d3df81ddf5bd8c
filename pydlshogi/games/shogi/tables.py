"""The geometry of the board as tables: what a piece could reach, the lines through a square, ranks and zones; and
Apery's Zobrist numbers.

Pieces and squares have cshogi's numbers. Squares run down the files from the right: 0 is 1a, 8 is 1i, 80 is 9i. A set
of squares is a number with a bit for each (`kernels.bits`); tables of sets are read with `entry`, constants by `fixed`.
"""

from collections.abc import Iterator
from functools import cache
from itertools import count, product
from typing import Final

import numpy as np

from pydlshogi.games.shogi.names import (
    BISHOP,
    BLACK,
    COLOUR,
    GOLD,
    HELD,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROM_BISHOP,
    PROM_ROOK,
    PROMOTED,
    ROOK,
    SILVER,
)
from pydlshogi.support.arrays import Int8Array, Uint64Array
from pydlshogi.support.kernels.bits import table_of, words_of

NO_SQUARE: Final = 81
"""Where cshogi says that a king stands that is missing."""
PLACES: Final = NO_SQUARE + 1
"""The squares, and NO_SQUARE, from where nothing is reached: rows of tables."""

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

_WORD: Final = 2**64 - 1


def _twisted() -> Iterator[int]:
    """The numbers of the 64-bit Mersenne Twister that C++ calls mt19937_64, with its default seed."""
    words = [5489]
    for i in range(1, 312):
        words.append((6364136223846793005 * (words[-1] ^ words[-1] >> 62) + i) & _WORD)
    for i in count():
        upper, lower = words[i] >> 31 << 31, words[i + 1] & (1 << 31) - 1
        words.append(words[i + 156] ^ (upper | lower) >> 1 ^ (lower & 1) * 0xB5026F5AA96619E9)
        number = words[-1] ^ words[-1] >> 29 & 0x5555555555555555
        number ^= number << 17 & 0x71D67FFFEDA60000
        number ^= number << 37 & 0xFFF7EEE000000000
        yield number ^ number >> 43


def _drawn() -> tuple[Uint64Array, Uint64Array]:
    """The numbers that cshogi's hashes are made of, in Apery's order: a key is the sum of one for every piece, so that
    it can be kept apart for the board and for the hands, and 1 for White, the lowest bit."""
    numbers = (number & ~1 for number in _twisted())
    on_board, in_hand = np.zeros((2 * COLOUR, 81), np.uint64), np.zeros(2 * COLOUR, np.uint64)
    for kind, square, side in product(range(PROM_ROOK + 1), range(81), range(2)):
        on_board[COLOUR * side + kind, square] = next(numbers)
    for kind, side in product(HELD, range(2)):
        in_hand[COLOUR * side + kind] = next(numbers)
    on_board[[0, COLOUR]] = 0
    return on_board, in_hand


ON_BOARD, IN_HAND = _drawn()
"""Of each piece on each square, uint64 [32, 81], and of each piece in the hand of its side, uint64 [32]."""
