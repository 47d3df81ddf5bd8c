"""Huffman codes of positions, compiled: records hold millions of them. cshogi's, which are Apery's and dlshogi's, and
YaneuraOu's, the packed sfen: the same but for some kinds, and the places of colour and promotion."""

from itertools import product
from typing import Any, Final

import numpy as np

from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS, held, piece_at
from pydlshogi.games.shogi.moves import MOST_MOVES, is_legal
from pydlshogi.games.shogi.names import BISHOP, COLOUR, GOLD, HELD, KING, KNIGHT, LANCE, PAWN, PROMOTED, ROOK, SILVER
from pydlshogi.games.shogi.state import STATE, arrange, board_of
from pydlshogi.support.arrays import Record, Records, Uint8Array, Uint16Array, Uint32Array
from pydlshogi.support.kernels.compiled import compiled, inlined, rule, wide, word

_KINDS: Final = (PAWN, LANCE, SILVER, KNIGHT, GOLD, BISHOP, ROOK)
_FIRST: Final = dict(zip(_KINDS, "10 1100 1101 1110 11110 111110 111111".split(), strict=True))
"""How the code of a kind on the board begins, the lowest bit first. The colour follows, and, but for gold, the
promotion."""
_IN_HAND: Final = dict(zip(_KINDS, "00 1000 1010 1100 1110 111110 111111".split(), strict=True))
"""The colour follows."""
_IN_BOX: Final = dict(zip(_KINDS, "010 10010 10110 11010 10111 1111000 1111010".split(), strict=True))
"""The last bits: pieces that nobody has."""
UNOWNED: Final = 2 * COLOUR
"""What the number of such a piece has more than that of its kind."""
Codes = tuple[dict[int, str], dict[int, str]]
"""By piece: on the board, 0 being an empty square, and beside it."""


def _of_cshogi() -> Codes:
    board, beside = {0: "0"}, {UNOWNED + kind: code for kind, code in _IN_BOX.items()}
    for (kind, code), side, promoted in product(_FIRST.items(), range(2), range(2)):
        beside[COLOUR * side + kind] = f"{_IN_HAND[kind]}{side}"
        if kind != GOLD:
            board[COLOUR * side + kind + PROMOTED * promoted] = f"{code}{side}{promoted}"
        elif not promoted:
            board[COLOUR * side + kind] = f"{code}{side}"
    return board, beside


def _of_yaneuraou() -> Codes:
    """The promotion comes before the colour. Beside the board the first bit is left out, and promoted is unowned."""
    first = {**_FIRST, KNIGHT: _FIRST[SILVER], SILVER: _FIRST[KNIGHT]}
    board, beside = {0: "0"}, {}
    for (kind, code), side, promoted in product(first.items(), range(2), range(2)):
        if kind != GOLD:
            board[COLOUR * side + kind + PROMOTED * promoted] = f"{code}{promoted}{side}"
        elif not promoted:
            board[COLOUR * side + kind] = f"{code}{side}"
        beside[COLOUR * side + kind] = code[1:] + ("" if kind == GOLD else "0") + str(side)
        beside[UNOWNED + kind] = code[1:] + "10" if kind != GOLD else f"{first[SILVER][1:]}11"
    return board, beside


_BITS: Final = 8
"""Of the longest code."""
_LENGTH, _PIECE = 15, 4


def _reading(codes: Codes) -> Uint16Array:
    """uint16 [2, 256]: on and beside the board, of the code that the lowest bits are: its length, from _PIECE on the
    piece; 0 for bits that are no code."""
    table = np.zeros((2, 1 << _BITS), np.uint16)
    for place, of_piece in enumerate(codes):
        for piece, code in of_piece.items():
            table[place, int(code[::-1], 2) :: 1 << len(code)] = len(code) | piece << _PIECE
    return table


def _writing(codes: Codes) -> Uint8Array:
    """uint8 [2, 64, 2]: on and beside the board, by piece, its code and the length of that; 0 for kings."""
    table = np.zeros((2, UNOWNED + COLOUR, 2), np.uint8)
    for place, of_piece in enumerate(codes):
        for piece, code in of_piece.items():
            table[place, piece] = int(code[::-1], 2), len(code)
    return table


READ_HCP, WRITE_HCP = _reading(_of_cshogi()), _writing(_of_cshogi())
READ_PSFEN, WRITE_PSFEN = _reading(_of_yaneuraou()), _writing(_of_yaneuraou())
_COUNTED: Final = np.array(
    [1 << 8 * (piece & 7) if piece & 15 not in (0, KING) else 0 for piece in range(64)], np.int64
)
"""By piece, one of its kind: a byte for each."""
_FULL_SET: Final = sum(
    count << 8 * kind for kind, count in {PAWN: 18, LANCE: 4, KNIGHT: 4, SILVER: 4, GOLD: 4, BISHOP: 2, ROOK: 2}.items()
)
MAILBOX: Final = np.dtype(
    [
        ("squares", np.int8, 81),  # cshogi's pieces
        ("beside", np.int8, UNOWNED + COLOUR),  # how many of each piece are in hand, or of no side
        ("kings", np.int8, 2),
        ("turn", np.int8),
    ]
)
"""A board that is quick to read from a code and to write as one."""
_CODE_BITS: Final[Any] = np.uint64((1 << _BITS) - 1)
_32_BITS: Final[Any] = np.uint64((1 << 32) - 1)


@inlined
def _next(code: Uint32Array, table: Uint16Array, bits: int, ready: int, taken: int) -> tuple[int, int, int, int]:
    """The entry of the next piece in the table, and what is left: where few bits are, with the next word of `code`."""
    if ready <= 32 and taken < 8:
        bits, ready, taken = bits | word(code[taken]) << word(ready), ready + 32, taken + 1
    entry = wide(table[wide(bits & _CODE_BITS)])
    length = entry & _LENGTH
    return entry, bits >> word(length), ready - length, taken


@rule
def read_code(code: Uint32Array, table: Uint16Array, board: Record) -> bool:
    """Fill `board`, of MAILBOX, from `code`, uint32 [8], by one of the tables above. False where it is no position with
    two kings and a full set of pieces."""
    first = wide(code[0])
    black, white = first >> 1 & 127, first >> 8 & 127
    if black > 80 or white > 80 or black == white:
        return False
    board.turn, board.kings[0], board.kings[1] = first & 1, black, white
    for piece in range(UNOWNED + COLOUR):
        board.beside[piece] = 0
    bits, ready, taken, pieces = word(first >> 15) | word(code[1]) << word(17), wide(49), wide(2), wide(0)
    for square in range(81):
        if square in (black, white):
            board.squares[square] = KING if square == black else COLOUR + KING
            continue
        entry, bits, ready, taken = _next(code, table[0], bits, ready, taken)
        if not entry:
            return False
        board.squares[square] = entry >> _PIECE
        pieces += _COUNTED[entry >> _PIECE]
    while ready > 0:
        entry, bits, ready, taken = _next(code, table[1], bits, ready, taken)
        if not entry:
            return False
        board.beside[entry >> _PIECE] += 1
        pieces += _COUNTED[entry >> _PIECE]
    return ready == 0 and pieces == _FULL_SET


@inlined
def _add(code: Uint32Array, entry: Uint8Array, bits: int, filled: int, done: int) -> tuple[int, int, int]:
    """Behind the bits that are not yet in `code` one more piece; full words go there."""
    bits |= word(entry[0]) << word(filled)
    filled += wide(entry[1])
    if filled >= 32:
        code[done] = bits & _32_BITS
        return bits >> word(32), filled - 32, done + 1
    return bits, filled, done


@rule
def write_code(state: Record, table: Uint8Array, code: Uint32Array) -> None:
    """Fill `code`, uint32 [8], by one of the tables above with that of a state of two kings and at most 18 pawns."""
    board, left = board_of(state), wide(_FULL_SET)
    bits, filled, done = word(state.turn | wide(state.kings[0]) << 1 | wide(state.kings[1]) << 8), wide(15), wide(0)
    for square in range(81):
        piece = piece_at(board, square)
        left -= _COUNTED[piece]
        bits, filled, done = _add(code, table[0, piece], bits, filled, done)
    for side in range(3):
        for place in range(7):
            kind = HELD[place]
            number = held(state.hands[side], kind) if side < 2 else left >> 8 * kind & 255
            left -= number << 8 * kind
            for _ in range(number):
                bits, filled, done = _add(code, table[1, COLOUR * side + kind], bits, filled, done)


@inlined
def _mirrored(square: int) -> int:
    return square + 9 * (8 - 2 * (square // 9))


@rule
def mirrored_move(move: int) -> int:
    """A move of 16 bits with left and right exchanged."""
    target, origin = wide(move) & SEVEN_BITS, wide(move) >> ORIGIN & SEVEN_BITS
    if origin <= DROP:
        origin = _mirrored(origin)
    return wide(move) & PROMOTE | origin << ORIGIN | _mirrored(target)


@rule
def lay(code: Uint32Array, before: Uint16Array, mirrored: int, board: Record, state: Record) -> None:
    """Fill `state` with the position of cshogi's `code`, uint32 [8]; what `board`, of MAILBOX, holds is of no use.

    before: uint16 [2], the moves that led to it, the last one first, 0 for none. mirrored: 1: left and right are
    exchanged, of the moves too.
    """
    read_code(code, READ_HCP, board)
    squares = board.squares
    for square in range(36 if mirrored else 0):
        other = _mirrored(square)
        squares[square], squares[other] = squares[other], squares[square]
    arrange(state, squares, board.beside, wide(board.turn))
    steps = state.steps
    for i in range(2):
        move = mirrored_move(before[i]) if mirrored and before[i] else wide(before[i])
        target, origin = move & SEVEN_BITS, move >> ORIGIN & SEVEN_BITS
        steps[2 * i] = target + 1 if move else 0
        steps[2 * i + 1] = origin + 1 if move and origin <= DROP else 0


@compiled
def _write_all(states: Records, table: Uint8Array, codes: Uint32Array) -> None:
    for i in range(len(states)):
        write_code(states[i], table, codes[i])


def codes_of(states: Records, table: Uint8Array = WRITE_HCP) -> Uint8Array:
    """uint8 [n, 32]: the codes of states, cshogi's or those of another table."""
    codes = np.zeros((len(states), 8), np.uint32)
    _write_all(states, table, codes)
    return codes.view(np.uint8)


@compiled
def _lay_all(codes: Uint32Array, before: Uint16Array, boards: Records, states: Records) -> None:
    for i in range(len(codes)):
        lay(codes[i], before, 0, boards[0], states[i])


def states_of(codes: Uint8Array) -> Records:
    """The positions of cshogi's codes, uint8 [n, 32], as records of STATE."""
    states = np.zeros(len(codes), STATE)
    _lay_all(words_of(codes), np.zeros(2, np.uint16), np.zeros(1, MAILBOX), states)
    return states


def words_of(codes: Uint8Array) -> Uint32Array:
    """uint32 [n, 8]: codes of 32 bytes as kernels take them."""
    return np.ascontiguousarray(codes).view(np.uint32)


@compiled
def _check(
    codes: Uint32Array,
    table: Uint16Array,
    moves: Uint16Array,
    boards: Records,
    states: Records,
    room: Uint16Array,
    out: Uint32Array,
) -> None:
    board, state = boards[0], states[0]
    for i in range(len(codes)):
        if read_code(codes[i], table, board):
            arrange(state, board.squares, board.beside, wide(board.turn))
            if moves[i] == 0 or is_legal(state, wide(moves[i]), room):
                write_code(state, WRITE_HCP, out[i])


def checked(codes: Uint8Array, table: Uint16Array, moves: Uint16Array) -> Uint8Array:
    """Codes of a notation as cshogi's; 0 for one that is no position, or whose move, if there is one, is not legal."""
    out, room = np.zeros((len(codes), 8), np.uint32), np.zeros(MOST_MOVES, np.uint16)
    _check(words_of(codes), table, np.ascontiguousarray(moves), np.zeros(1, MAILBOX), np.zeros(1, STATE), room, out)
    return out.view(np.uint8)


def moves_from_psv(moves: Uint16Array) -> Uint16Array:
    """YaneuraOu's 16 bits of moves as cshogi's; what is no move, "resign" say, as 0."""
    target, origin = moves & 127, moves >> 7 & 127
    other = target | np.where(moves & 1 << 14, origin + 80, origin) << 7 | moves >> 15 << 14
    return np.where((target == origin) & (moves < 1 << 14), 0, other).astype(np.uint16)


def moves_to_psv(moves: Uint16Array) -> Uint16Array:
    """And back."""
    origin = moves >> 7 & 127
    other = moves & 127 | np.where(origin > 80, origin - 80 | 1 << 7, origin) << 7 | (moves >> 14 & 1) << 15
    return other.astype(np.uint16)
