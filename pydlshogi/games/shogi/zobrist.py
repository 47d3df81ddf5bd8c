"""Apery's Zobrist numbers, which cshogi's hashes are made of: a key is the sum of one for every piece, and 1 for White.

So a key can be kept apart for the board and for the hands.
"""

from collections.abc import Iterator
from itertools import count, product
from typing import Final

import numpy as np

from pydlshogi.games.shogi.names import BISHOP, GOLD, KNIGHT, LANCE, PAWN, PROM_ROOK, ROOK, SILVER
from pydlshogi.support.arrays import Uint64Array

HELD: Final = (PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK)
"""The order in hands."""
COLOUR: Final = 16
"""What the numbers of White's pieces have more than those of Black's."""
WORD: Final = 2**64 - 1


def _twisted() -> Iterator[int]:
    """The numbers of the 64-bit Mersenne Twister that C++ calls mt19937_64, with its default seed."""
    words = [5489]
    for i in range(1, 312):
        words.append((6364136223846793005 * (words[-1] ^ words[-1] >> 62) + i) & WORD)
    for i in count():
        upper, lower = words[i] >> 31 << 31, words[i + 1] & (1 << 31) - 1
        words.append(words[i + 156] ^ (upper | lower) >> 1 ^ (lower & 1) * 0xB5026F5AA96619E9)
        number = words[-1] ^ words[-1] >> 29 & 0x5555555555555555
        number ^= number << 17 & 0x71D67FFFEDA60000
        number ^= number << 37 & 0xFFF7EEE000000000
        yield number ^ number >> 43


def _drawn() -> tuple[Uint64Array, Uint64Array]:
    """In Apery's order. The lowest bit is that of the side to move."""
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
