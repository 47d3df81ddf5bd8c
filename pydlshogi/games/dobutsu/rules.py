"""The rules of Dobutsu shogi, compiled: `RULES`, for searches that keep a state beside every node.

The side to move always sees its own pieces below. Squares are numbered from its far left, 3 x rank + file: 0 to 2 are
the enemy's home, 9 to 11 its own. A state is one number: four bits for each square, from square 0 up, two bits for each
kind in hand, the own ones first, and one that says that the side to move has lost.

A move is a number too, and the label of a network at once: 11 x destination + way, where the ways 0 to 7 are the
directions moved in, clockwise from straight ahead, and 8 to 10 drops of a chick, an elephant and a giraffe.

Who takes the lion wins, and so does who brings the own one to the last rank where it cannot be taken at once: the move
that brings it there is judged, not where it stands later. It is legal, and a mistake, to leave the lion to be taken. A
chick that moves to the last rank becomes a hen; one that is dropped there does not.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.game import DRAWN, UNDECIDED, Rules
from pydlshogi.support.arrays import Int8Array, Record, Records, Uint16Array
from pydlshogi.support.kernels.compiled import inlined, rule, wide, word
from pydlshogi.support.kernels.hashes import splitmix

FILES: Final = 3
RANKS: Final = 4
SQUARES: Final = FILES * RANKS
WAYS: Final = 11
LABELS: Final = SQUARES * WAYS

CHICK, ELEPHANT, GIRAFFE, LION, HEN = range(1, 6)
ENEMY: Final = 8
"""What the number of an enemy's piece has more."""
IN_HAND: Final = 3
"""Kinds that can be held: CHICK, ELEPHANT and GIRAFFE."""
DROPS: Final = 8
"""The way of the drop of a chick."""

STATE: Final = np.dtype([("pieces", np.uint64)])
SETTINGS: Final = np.dtype([("draw_ply", np.int32)])
"""The last move of the game; 0: there is none."""
SCRATCH: Final = np.dtype([("nothing", np.uint8)])

OFF: Final = -1
_NOTHING: Final[Any] = np.uint64(0)
_ONE: Final[Any] = np.uint64(1)
_SQUARE: Final[Any] = np.uint64(15)
LOST: Final[Any] = np.uint64(1 << 60)
"""In a state: the game is over, and the side to move has lost."""
HANDS: Final = 4 * SQUARES
"""The first bit of what is in hand."""
_IN_ONE: Final = 2

_DIRECTIONS: Final = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
_MOVES: Final = {
    CHICK: (0,),
    ELEPHANT: (1, 3, 5, 7),
    GIRAFFE: (0, 2, 4, 6),
    LION: tuple(range(8)),
    HEN: (0, 1, 2, 4, 6, 7),
}


def _neighbour(square: int, direction: int) -> int:
    rank, file = divmod(square, FILES)
    right, down = _DIRECTIONS[direction]
    inside = 0 <= file + right < FILES and 0 <= rank + down < RANKS
    return FILES * (rank + down) + file + right if inside else OFF


NEIGHBOUR: Final[Int8Array] = np.array(
    [[_neighbour(square, direction) for direction in range(8)] for square in range(SQUARES)], np.int8
)
"""int8 [squares, directions]: the next square in a direction, or OFF."""
GOES: Final = np.array([sum(1 << way for way in _MOVES.get(piece, ())) for piece in range(ENEMY)], np.uint8)
"""By kind of piece: the directions in which it moves, as bits."""


@inlined
def piece_on(pieces: int, square: int) -> int:
    """The piece on a square, 0 if there is none."""
    return wide(pieces >> word(4 * square)) & 15


@inlined
def held(pieces: int, place: int) -> int:
    """How many pieces are in hand: of kind `place` + 1 of the own side, or of kind `place` - 2 of the enemy."""
    return wide(pieces >> word(HANDS + 2 * place)) & 3


@inlined
def goes(piece: int, direction: int) -> bool:
    return bool(GOES[piece] >> direction & 1)


@inlined
def square_of(pieces: int, piece: int) -> int:
    """Where a piece stands of which there is one, or OFF."""
    for square in range(SQUARES):
        if piece_on(pieces, square) == piece:
            return square
    return OFF


@rule
def attacked(pieces: int, square: int, colour: int) -> bool:
    """A piece of the side to move (colour 0) or of the enemy (colour ENEMY) could move to the square."""
    # The enemy sees the board turned round: what comes from our direction goes in the same one of its own.
    turn = 0 if colour else 4
    for direction in range(8):
        origin = wide(NEIGHBOUR[square, direction])
        if origin != OFF:
            kind = piece_on(pieces, origin) - colour
            if 0 < kind < ENEMY and goes(kind, direction ^ turn):
                return True
    return False


@rule
def turned(pieces: int) -> int:
    """The same position as the other side sees it."""
    turned: int = _NOTHING
    for square in range(SQUARES):
        piece = piece_on(pieces, square)
        if piece:
            turned |= word(piece ^ ENEMY) << word(4 * (SQUARES - 1 - square))
    for place in range(2 * IN_HAND):
        turned |= word(held(pieces, place)) << word(HANDS + 2 * ((place + IN_HAND) % (2 * IN_HAND)))
    return turned


@rule
def play(state: Record, move: int, after: Record) -> None:
    """Fill `after` with the state after a legal move."""
    pieces, lost = state.pieces, _NOTHING
    target, way = wide(move) // WAYS, wide(move) % WAYS
    if way >= DROPS:
        piece = way - DROPS + CHICK
        pieces -= _ONE << word(HANDS + 2 * (way - DROPS))
    else:
        origin, taken = wide(NEIGHBOUR[target, way ^ 4]), piece_on(pieces, target)
        piece = piece_on(pieces, origin)
        pieces &= ~(_SQUARE << word(4 * origin) | _SQUARE << word(4 * target))
        if piece == CHICK and target < FILES:
            piece = HEN
        if taken == ENEMY + LION or (piece == LION and target < FILES and not attacked(pieces, target, ENEMY)):
            lost = LOST
        if taken and taken != ENEMY + LION:
            kind = CHICK if taken == ENEMY + HEN else taken - ENEMY
            pieces += _ONE << word(HANDS + 2 * (kind - CHICK))
    after.pieces = turned(pieces | word(piece) << word(4 * target)) | lost


@rule
def legal_moves(state: Record, moves: Uint16Array) -> int:
    """Fill `moves` with the legal moves; returns how many there are: none if the game is lost."""
    pieces, number = state.pieces, 0
    if pieces & LOST:
        return 0
    for square in range(SQUARES):
        piece = piece_on(pieces, square)
        if piece == 0:
            for place in range(IN_HAND):
                if held(pieces, place):
                    moves[number] = WAYS * square + DROPS + place
                    number += 1
        elif piece < ENEMY:
            for direction in range(8):
                target = wide(NEIGHBOUR[square, direction])
                if target != OFF and goes(piece, direction):
                    other = piece_on(pieces, target)
                    if other == 0 or other > ENEMY:
                        moves[number] = WAYS * target + direction
                        number += 1
    return number


@rule
def verdict(state: Record, ply: int, moves: Uint16Array, number: int, settings: Record, scratch: Record) -> int:
    """Draw by the number of moves; a win by taking the lion, or by bringing the own one safely to the last rank."""
    pieces = state.pieces
    if number == 0:
        return UNDECIDED
    if settings.draw_ply and ply > settings.draw_ply:
        return DRAWN
    if attacked(pieces, square_of(pieces, ENEMY + LION), 0):
        return _IN_ONE
    lion = square_of(pieces, LION)
    if lion < 2 * FILES:
        for direction in (6, 7, 0, 1, 2):
            target = wide(NEIGHBOUR[lion, direction])
            if OFF < target < FILES:
                other = piece_on(pieces, target)
                if (other == 0 or other > ENEMY) and not attacked(pieces, target, ENEMY):
                    return _IN_ONE
    return UNDECIDED


@rule
def key(state: Record) -> int:
    """63 bits of a hash."""
    return splitmix(state.pieces) >> _ONE  # type: ignore[no-any-return]


@rule
def repetition(trail: Records, distance: int) -> int:
    """A draw."""
    return DRAWN if trail[distance].pieces == trail[0].pieces else UNDECIDED


RULES: Final = Rules(
    name="dobutsu",
    state=STATE,
    settings=SETTINGS,
    scratch=SCRATCH,
    most_moves=64,
    average_moves=16,
    repeats=True,
    play=play,
    key=key,
    board_key=key,
    legal_moves=legal_moves,
    verdict=verdict,
    repetition=repetition,
)
