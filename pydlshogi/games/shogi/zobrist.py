"""cshogi's Zobrist numbers, learned from its hashes: each is the sum of one number for every piece, and 1 for White.

So a key can be kept apart for the board and for the hands, and cshogi's keys and compiled ones are the same.
"""

from collections.abc import Sequence
from itertools import chain
from operator import mul
from typing import Final

import cshogi
import numpy as np

from pydlshogi.support.arrays import Uint64Array

HELD: Final = (cshogi.PAWN, cshogi.LANCE, cshogi.KNIGHT, cshogi.SILVER, cshogi.GOLD, cshogi.BISHOP, cshogi.ROOK)
"""The order of cshogi's hands."""
COLOUR: Final = 16
"""What cshogi's numbers of White's pieces have more than those of Black's."""
WORD: Final = 2**64 - 1


def _learned() -> tuple[Uint64Array, Uint64Array]:
    board = cshogi.Board()
    empty, nothing = [0] * 81, [0] * 7
    on_board, in_hand = np.zeros((2 * COLOUR, 81), np.uint64), np.zeros(2 * COLOUR, np.uint64)
    for piece in filter(None, cshogi.PIECES):
        for square in range(81):
            board.set_pieces([*empty[:square], piece, *empty[square + 1 :]], (nothing, nothing))
            on_board[piece, square] = board.zobrist_hash()
    for place, kind in enumerate(HELD):
        hand = [int(other == place) for other in range(7)]
        for side, hands in ((cshogi.BLACK, (hand, nothing)), (cshogi.WHITE, (nothing, hand))):
            board.set_pieces(empty, hands)
            in_hand[COLOUR * side + kind] = board.zobrist_hash()
    return on_board, in_hand


ON_BOARD, IN_HAND = _learned()
"""Of each piece on each square, uint64 [32, 81], and of each piece in the hand of its side, uint64 [32]."""


_HAND_NUMBERS: Final = [int(IN_HAND[COLOUR * side + kind]) for side in (cshogi.BLACK, cshogi.WHITE) for kind in HELD]


def hands_key(hands: Sequence[Sequence[int]]) -> int:
    """The part of a key that the hands make up: `pieces_in_hand` of a `cshogi.Board`."""
    return int(sum(map(mul, chain(*hands), _HAND_NUMBERS))) & WORD
