"""cshogi's Huffman codes of positions as states, compiled: records hold millions of them."""

from itertools import product
from typing import Any, Final

import numpy as np
from cshogi import BISHOP, GOLD, KING, KNIGHT, LANCE, PAWN, ROOK, SILVER

from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS, army, attackers, occupied, one_held
from pydlshogi.games.shogi.mate import NO_SQUARE
from pydlshogi.games.shogi.state import board_of
from pydlshogi.games.shogi.tables import PROMOTED
from pydlshogi.games.shogi.zobrist import COLOUR, IN_HAND, ON_BOARD
from pydlshogi.support.arrays import Int8Array, Record, Uint8Array, Uint16Array
from pydlshogi.support.compiled import inlined, rule, wide, word

_ON_BOARD_FIRST: Final = {
    PAWN: "10",
    LANCE: "1100",
    SILVER: "1101",
    KNIGHT: "1110",
    GOLD: "11110",
    BISHOP: "111110",
    ROOK: "111111",
}
"""How the code of a kind begins, the lowest bit first. The colour follows, and, but for gold, the promotion."""
_IN_HAND_FIRST: Final = {
    PAWN: "00",
    LANCE: "1000",
    SILVER: "1010",
    KNIGHT: "1100",
    GOLD: "1110",
    BISHOP: "111110",
    ROOK: "111111",
}
"""The colour follows. Pieces that nobody has come last, with codes of their own."""
_BITS: Final = 8
"""Of the longest code."""


def _table(codes: dict[str, int]) -> Int8Array:
    """int8 [256, 2]: the piece whose code the lowest bits are, and the length of that; 0 for bits that are no code."""
    table = np.zeros((1 << _BITS, 2), np.int8)
    for code, piece in codes.items():
        for rest in range(1 << (_BITS - len(code))):
            table[int(code[::-1], 2) | rest << len(code)] = piece, len(code)
    return table


def _on_board() -> dict[str, int]:
    codes = {"0": 0}
    for (kind, code), side, promoted in product(_ON_BOARD_FIRST.items(), range(2), range(2)):
        if kind != GOLD:
            codes[f"{code}{side}{promoted}"] = COLOUR * side + kind + PROMOTED * promoted
        elif not promoted:
            codes[f"{code}{side}"] = COLOUR * side + kind
    return codes


_ON_BOARD: Final = _table(_on_board())
_IN_HAND: Final = _table(
    {f"{code}{side}": COLOUR * side + kind for (kind, code), side in product(_IN_HAND_FIRST.items(), range(2))}
)
_LAST_BIT: Final = 256
_TURN_KEY: Final[Any] = np.uint64(1)


@inlined
def _bits(code: Uint8Array, first: int) -> int:
    """Eight bits of `code` from bit `first` on."""
    byte = first >> 3
    bits = wide(code[byte])
    if byte + 1 < len(code):
        bits |= wide(code[byte + 1]) << 8
    return bits >> (first & 7) & 255


@inlined
def _seen(square: int, mirrored: int) -> int:
    return square + 9 * (8 - 2 * (square // 9)) if mirrored else square


@rule
def mirrored_move(move: int) -> int:
    """A move of 16 bits with left and right exchanged."""
    target, origin = wide(move) & SEVEN_BITS, wide(move) >> ORIGIN & SEVEN_BITS
    if origin <= DROP:
        origin = _seen(origin, 1)
    return wide(move) & PROMOTE | origin << ORIGIN | _seen(target, 1)


@rule
def lay(code: Uint8Array, before: Uint16Array, mirrored: int, state: Record) -> None:
    """Fill `state` with the position of `code`, uint8 [32].

    before: uint16 [2], the moves that led to it, the last one first, 0 for none. mirrored: 1: left and right are
    exchanged, of the moves too.
    """
    low, high, hands, kings = state.low, state.high, state.hands, state.kings
    for plane in range(5):
        low[plane], high[plane] = 0, 0
    turn = wide(code[0]) & 1
    black, white = _bits(code, 1) & 127, _bits(code, 8) & 127
    board_key, hands_key = word(turn) * _TURN_KEY, word(0)
    place = 15
    for square in range(81):
        if square == black:
            piece = wide(KING)
        elif square == white:
            piece = wide(COLOUR + KING)
        else:
            bits = _bits(code, place)
            piece = wide(_ON_BOARD[bits, 0])
            place += wide(_ON_BOARD[bits, 1])
        if piece:
            seen = _seen(square, mirrored)
            board_key += ON_BOARD[piece, seen]
            for plane in range(5):
                if piece >> plane & 1:
                    if seen < 64:
                        low[plane] |= word(1) << word(seen)
                    else:
                        high[plane] |= 1 << (seen - 64)
    hands[0], hands[1] = word(0), word(0)
    while place < _LAST_BIT:
        bits = _bits(code, place)
        piece = wide(_IN_HAND[bits, 0])
        if not piece:
            break
        place += wide(_IN_HAND[bits, 1])
        hands[piece // COLOUR] += one_held(piece % COLOUR)
        hands_key += IN_HAND[piece]
    kings[0] = _seen(black, mirrored) if black < NO_SQUARE else NO_SQUARE
    kings[1] = _seen(white, mirrored) if white < NO_SQUARE else NO_SQUARE
    state.board_key, state.hands_key, state.turn = board_key, hands_key, turn
    board, other = board_of(state), 1 - turn
    state.check = 1 if attackers(army(board, other), other, wide(kings[turn]), occupied(board)) else 0
    steps = state.steps
    for i in range(2):
        move = mirrored_move(before[i]) if mirrored and before[i] else wide(before[i])
        target, origin = move & SEVEN_BITS, move >> ORIGIN & SEVEN_BITS
        steps[2 * i] = target + 1 if move else 0
        steps[2 * i + 1] = origin + 1 if move and origin <= DROP else 0
