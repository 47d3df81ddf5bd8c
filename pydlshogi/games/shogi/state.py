"""The state of a shogi game as a record, and `play`: for searches that keep one beside every node.

A state has cshogi's Zobrist keys: those of the board with the side to move, and of the hands, apart, because repetition
compares the boards first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from pydlshogi.games.shogi.board import (
    DROP,
    ORIGIN,
    PROMOTE,
    SEVEN_BITS,
    Board,
    army,
    attackers,
    moved,
    occupied,
    one_held,
    piece_at,
)
from pydlshogi.games.shogi.names import COLOUR, HELD, KING, PROMOTED
from pydlshogi.games.shogi.tables import IN_HAND, NO_SQUARE, ON_BOARD
from pydlshogi.support.arrays import Int8Array, Record, Records, Uint16Array
from pydlshogi.support.kernels.bits import bits_of, high_word, low_word
from pydlshogi.support.kernels.compiled import compiled, inlined, rule, wide, word

STATE: Final = np.dtype(
    [
        ("board_key", np.uint64),  # of the board and the side to move
        ("hands_key", np.uint64),  # the position's is the sum of both
        ("hands", np.uint64, 2),  # of Black and White: a byte for each kind of piece, see `held`
        ("low", np.uint64, 5),  # the planes of Board: the squares below 64,
        ("high", np.uint32, 5),  # and from 64 on
        ("kings", np.uint8, 2),  # where they stand; NO_SQUARE: one is missing
        ("turn", np.uint8),
        ("check", np.uint8),  # 1: the side to move is in check
        ("steps", np.uint8, 4),  # where the last move went to and came from, and the one before: 1 + the square, or 0
    ],
    align=True,
)

_63_BITS: Final[Any] = np.uint64(2**63 - 1)
_TURN_KEY: Final[Any] = np.uint64(1)


@inlined
def board_of(state: Record) -> Board:
    """Its pieces on the board."""
    low, high = state.low, state.high
    return Board(
        ones=bits_of(low[0], high[0]),
        twos=bits_of(low[1], high[1]),
        fours=bits_of(low[2], high[2]),
        eights=bits_of(low[3], high[3]),
        white=bits_of(low[4], high[4]),
    )


@inlined
def _lay(board: Board, state: Record) -> None:
    """Put a board into a state."""
    low, high = state.low, state.high
    low[0], high[0] = low_word(board.ones), high_word(board.ones)
    low[1], high[1] = low_word(board.twos), high_word(board.twos)
    low[2], high[2] = low_word(board.fours), high_word(board.fours)
    low[3], high[3] = low_word(board.eights), high_word(board.eights)
    low[4], high[4] = low_word(board.white), high_word(board.white)


@rule
def play(state: Record, move: int, after: Record) -> None:
    """Fill `after` with the state after a legal move."""
    board, side = board_of(state), wide(state.turn)
    own = COLOUR * side
    target, origin = wide(move) & SEVEN_BITS, (wide(move) >> ORIGIN) & SEVEN_BITS
    board_key, hands_key, hand = state.board_key ^ _TURN_KEY, state.hands_key, state.hands[side]
    king = wide(state.kings[side])
    if origin > DROP:
        piece = own + origin - DROP
        hand -= one_held(origin - DROP)
        hands_key -= IN_HAND[piece]
    else:
        piece, taken = piece_at(board, origin), piece_at(board, target)
        board_key -= ON_BOARD[piece, origin]
        if taken:
            kind = taken & 7
            board_key -= ON_BOARD[taken, target]
            hand += one_held(kind)
            hands_key += IN_HAND[own + kind]
        if wide(move) & PROMOTE:
            piece += PROMOTED
        if piece == own + KING:
            king = target
    after.board_key = board_key + ON_BOARD[piece, target]
    after.hands_key = hands_key
    after.hands[side] = hand
    after.hands[1 - side] = state.hands[1 - side]
    after.kings[side] = king
    after.kings[1 - side] = state.kings[1 - side]
    after.turn = 1 - side
    after.steps[2], after.steps[3] = state.steps[0], state.steps[1]
    after.steps[0], after.steps[1] = target + 1, origin + 1 if origin <= DROP else 0
    board = moved(board, side, wide(move))
    _lay(board, after)
    after.check = 1 if attackers(army(board, side), side, wide(state.kings[1 - side]), occupied(board)) else 0


@inlined
def key_after(state: Record, move: int) -> tuple[int, int]:
    """The key of the board after a legal move, and the hand of who moved."""
    board, own = board_of(state), COLOUR * wide(state.turn)
    target, origin = wide(move) & SEVEN_BITS, (wide(move) >> ORIGIN) & SEVEN_BITS
    key, hand = state.board_key ^ _TURN_KEY, state.hands[wide(state.turn)]
    if origin > DROP:
        piece = own + origin - DROP
        hand -= one_held(origin - DROP)
    else:
        piece, taken = piece_at(board, origin), piece_at(board, target)
        key -= ON_BOARD[piece, origin]
        if taken:
            key -= ON_BOARD[taken, target]
            hand += one_held(taken & 7)
        if wide(move) & PROMOTE:
            piece += PROMOTED
    return key + ON_BOARD[piece, target], hand


@rule
def board_key(state: Record) -> int:
    """cshogi's key of the board and the side to move."""
    return state.board_key  # type: ignore[no-any-return]


@rule
def key(state: Record) -> int:
    """cshogi's key without its highest bit."""
    return (state.board_key + state.hands_key) & _63_BITS  # type: ignore[no-any-return]


@inlined
def _put(state: Record, piece: int, square: int) -> None:
    """Put a piece on an empty square."""
    state.board_key += ON_BOARD[piece, square]
    if piece % COLOUR == KING:
        state.kings[piece // COLOUR] = square
    for plane in range(5):
        if piece >> plane & 1:
            if square < 64:
                state.low[plane] |= word(1) << word(square)
            else:
                state.high[plane] |= 1 << (square - 64)


@rule
def arrange(state: Record, squares: Int8Array, held: Int8Array, turn: int) -> None:
    """Make it the state with these pieces on the 81 squares, and as many of each piece in hand; no move led there."""
    for plane in range(5):
        state.low[plane], state.high[plane] = 0, 0
    for side in range(2):
        state.hands[side], state.kings[side] = word(0), NO_SQUARE
    for i in range(4):
        state.steps[i] = 0
    state.board_key, state.hands_key, state.turn = word(turn), word(0), turn
    for square in range(NO_SQUARE):
        if squares[square]:
            _put(state, wide(squares[square]), square)
    for piece in range(2 * COLOUR):
        for _ in range(held[piece]):
            state.hands[piece // COLOUR] += one_held(piece % COLOUR)
            state.hands_key += IN_HAND[piece]
    board = board_of(state)
    state.check = 1 if attackers(army(board, 1 - turn), 1 - turn, wide(state.kings[turn]), occupied(board)) else 0


@compiled
def _arrange(states: Records, squares: Int8Array, held: Int8Array, turn: int) -> None:
    arrange(states[0], squares, held, turn)


Hands = Sequence[Mapping[int, int]]
"""How many of each kind Black and White have in hand, from the rook down."""


def set_up(squares: Sequence[int], hands: Hands, turn: int) -> Records:
    """One record of STATE: the pieces of the 81 squares, and those in hand."""
    states, held = np.zeros(1, STATE), np.zeros(2 * COLOUR, np.int8)
    for side, hand in enumerate(hands):
        for kind, many in hand.items():
            held[COLOUR * side + kind] = many
    _arrange(states, np.array(squares, np.int8), held, turn)
    return states


@compiled
def _read(states: Records, squares: Int8Array) -> None:
    board = board_of(states[0])
    for square in range(NO_SQUARE):
        squares[square] = piece_at(board, square)


def squares_of(states: Records) -> list[int]:
    """The pieces of the 81 squares of the first of some states."""
    squares = np.empty(NO_SQUARE, np.int8)
    _read(states, squares)
    return squares.tolist()


def hands_of(states: Records) -> Hands:
    """What is in hand there."""
    hands = states["hands"][0].tolist()
    return [{kind: many for kind in HELD[::-1] if (many := hand >> 8 * (kind - 1) & 255)} for hand in hands]


def pieces_of(states: Records) -> Counter[int]:
    """How many of each kind there are on the board and in hand, promoted ones counted as what they were."""
    pieces = Counter(piece & 7 for piece in squares_of(states))
    for hand in hands_of(states):
        pieces.update(hand)
    return pieces


@compiled
def _play_on(states: Records, moves: Any) -> None:
    """Fill each of `states` but the first with the one before it after one of `moves`, uint16."""
    for i in range(len(moves)):
        play(states[i], moves[i], states[i + 1])


def through(states: Records, moves: Sequence[int] | Uint16Array) -> Records:
    """states[0] and those after each of some moves from there on."""
    played = np.zeros(1 + len(moves), STATE)
    played[0] = states[0]
    _play_on(played, np.array(moves, np.int64).astype(np.uint16))
    return played
