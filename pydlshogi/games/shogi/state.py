"""The state of a shogi game as a record, and `play`: for searches that keep one beside every node.

A state has cshogi's Zobrist keys: those of the board with the side to move, and of the hands, apart, because repetition
compares the boards first.
"""

from collections.abc import Sequence
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
from pydlshogi.games.shogi.names import KING
from pydlshogi.games.shogi.tables import PROMOTED
from pydlshogi.games.shogi.zobrist import COLOUR, HELD, IN_HAND, ON_BOARD, WORD, hands_key
from pydlshogi.support.arrays import Record, Records, Uint16Array
from pydlshogi.support.bits import bits_of, high_word, low_word
from pydlshogi.support.compiled import compiled, inlined, rule, wide

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


def state_of(board: Any) -> Records:
    """A `cshogi.Board` as one record of STATE."""
    states = np.zeros(1, STATE)
    state = states[0]
    pieces, hands = [(1 << square, piece) for square, piece in enumerate(board.pieces) if piece], board.pieces_in_hand
    for plane in range(5):
        squares = sum(square for square, piece in pieces if piece >> plane & 1)
        state["low"][plane], state["high"][plane] = squares & WORD, squares >> 64
    state["hands_key"] = in_hand = hands_key(hands)
    state["board_key"] = (board.zobrist_hash() - in_hand) & WORD
    for side, hand in enumerate(hands):
        state["hands"][side] = sum(many << 8 * (kind - 1) for kind, many in zip(HELD, hand, strict=True))
        state["kings"][side] = board.king_square(side)
    state["turn"], state["check"] = board.turn, board.is_check()
    note_steps(state, board.history[:-3:-1])
    return states


def note_steps(state: Record, moves: Sequence[int]) -> None:
    """Fill `steps` with the moves that led to a state, the last one first; 0 is none."""
    for i, move in enumerate(moves):
        target, origin = move & SEVEN_BITS, move >> ORIGIN & SEVEN_BITS
        state["steps"][2 * i : 2 * i + 2] = (target + 1, origin + 1 if origin <= DROP else 0) if move else 0


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


def states_of(board: Any) -> Records:
    """The states of the game that led to a `cshogi.Board`, the oldest first, the present one last."""
    start = board.copy()
    for _ in board.history:
        start.pop()
    return through(state_of(start), board.history)
