"""A shogi board as a value, compiled: sets of squares, what attacks them, and the board after a move.

The pieces are kept as planes of bits: a piece is cshogi's number of it, and `ones` are the squares of the pieces whose
number has its lowest bit set, and so on. Five sets hold what 81 bytes would, the squares of a kind of piece are a few
operations away, and so are the attacks of a whole side: all its pieces that step up, say, are shifted at once. Only
sliding pieces are looked at one by one.

cshogi's numbers are 1 to 7 for pawn, lance, knight, silver, bishop, rook and gold, 8 for the king, 9 to 14 for the
promoted ones, and COLOUR more for White's. A hand is 64 bits: a byte for each of the kinds 1 to 7, the pawns' lowest.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.shogi.names import (
    BISHOP,
    BLACK,
    COLOUR,
    GOLD,
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
from pydlshogi.games.shogi.tables import (
    ABOVE_H,
    ABOVE_I,
    AXIS,
    BELOW_A,
    BELOW_B,
    BOARD,
    FALL,
    FALLING,
    FILE,
    NO_AXIS,
    PLACES,
    RANK,
    REACH,
    RISE,
    RISING,
)
from pydlshogi.support.kernels.bits import (
    bit,
    bits_from,
    entry,
    fixed,
    highest,
    lowest,
    nothing,
    up_to_lowest,
    without_lowest,
)
from pydlshogi.support.kernels.compiled import inlined, rule, wide, word

# A move, as in cshogi's lowest 16 bits.
ORIGIN: Final = 7
"""Bits 0 to 6: the destination; from here on 7 bits of the origin, or DROP + the kind of the piece dropped."""
SEVEN_BITS: Final = 127
DROP: Final = 80
PROMOTE: Final = 1 << 14

_BYTE: Final[Any] = np.uint64(255)
HIGH_BITS: Final[Any] = np.uint64(0x8080808080808080)


class Board(NamedTuple):
    """The pieces on the board: a plane for each bit of their numbers."""

    ones: int
    twos: int
    fours: int
    eights: int
    white: int


class Army(NamedTuple):
    """The pieces of one side, by how they move."""

    pawns: int
    lances: int
    knights: int
    silvers: int
    golds: int
    bishops: int
    rooks: int
    kings: int
    horses: int
    dragons: int


class Aims(NamedTuple):
    """Where pieces may go, by what they are when they get there."""

    pawns: int
    lances: int
    knights: int
    silvers: int
    golds: int
    bishops: int
    rooks: int
    horses: int
    dragons: int


@inlined
def occupied(board: Board) -> int:
    """All squares with a piece."""
    return board.ones | board.twos | board.fours | board.eights


@inlined
def of_side(board: Board, side: int) -> int:
    """The squares of the pieces of one side."""
    return occupied(board) & ~board.white if side == BLACK else board.white


@rule
def army(board: Board, side: int) -> Army:
    """The pieces of one side."""
    own = of_side(board, side)
    plain, promoted = own & ~board.eights, own & board.eights
    ones, twos, fours = board.ones, board.twos, board.fours
    neither = ~(ones | twos)
    return Army(
        pawns=plain & ones & ~twos & ~fours,
        lances=plain & twos & ~ones & ~fours,
        knights=plain & twos & ones & ~fours,
        silvers=plain & fours & neither,
        golds=(plain & fours & twos & ones) | (promoted & ((fours & neither) | ((ones | twos) & ~fours))),
        bishops=plain & fours & ones & ~twos,
        rooks=plain & fours & twos & ~ones,
        kings=promoted & ~fours & neither,
        horses=promoted & fours & ones & ~twos,
        dragons=promoted & fours & twos & ~ones,
    )


@inlined
def of_kind(board: Board, squares: int, kind: int) -> int:
    """Those of some squares on which a piece of a kind, PAWN to PROM_ROOK, stands."""
    squares &= board.ones if kind & 1 else ~board.ones
    squares &= board.twos if kind & 2 else ~board.twos
    squares &= board.fours if kind & 4 else ~board.fours
    return squares & (board.eights if kind & 8 else ~board.eights)


@inlined
def among(men: Army, squares: int) -> Army:
    """Those of the pieces that stand on some squares."""
    return Army(
        men.pawns & squares,
        men.lances & squares,
        men.knights & squares,
        men.silvers & squares,
        men.golds & squares,
        men.bishops & squares,
        men.rooks & squares,
        men.kings & squares,
        men.horses & squares,
        men.dragons & squares,
    )


@inlined
def piece_at(board: Board, square: int) -> int:
    """The piece on a square, 0 if there is none."""
    here = bit(square)
    piece = 0
    if board.ones & here:
        piece |= 1
    if board.twos & here:
        piece |= 2
    if board.fours & here:
        piece |= 4
    if board.eights & here:
        piece |= 8
    if board.white & here:
        piece |= COLOUR
    return piece


@inlined
def reach(piece: int, square: int) -> int:
    """What a piece attacks from a square on an empty board: see REACH."""
    return entry(REACH, PLACES * piece + square)


# Steps of whole sets of squares, as Black sees them.


@inlined
def up(squares: int) -> int:
    return (squares & fixed(BELOW_A)) >> 1


@inlined
def down(squares: int) -> int:
    return (squares & fixed(ABOVE_I)) << 1


@inlined
def left(squares: int) -> int:
    return (squares << 9) & fixed(BOARD)


@inlined
def right(squares: int) -> int:
    return squares >> 9


# Slides.


@inlined
def rising(axis: int, square: int, blockers: int) -> int:
    """The squares of higher number along an axis up to the first of the blockers, and that one too."""
    ray = entry(RISE, PLACES * axis + square)
    return ray & up_to_lowest(ray & blockers)


@inlined
def falling(axis: int, square: int, blockers: int) -> int:
    """The same of lower number."""
    ray = entry(FALL, PLACES * axis + square)
    return ray & bits_from(highest(ray & blockers | bit(0)))


@rule
def straight(square: int, blockers: int) -> int:
    """What a rook attacks."""
    squares = nothing()
    for axis in (FILE, RANK):
        squares |= rising(axis, square, blockers) | falling(axis, square, blockers)
    return squares


@rule
def diagonal(square: int, blockers: int) -> int:
    """What a bishop attacks."""
    squares = nothing()
    for axis in (FALLING, RISING):
        squares |= rising(axis, square, blockers) | falling(axis, square, blockers)
    return squares


@inlined
def forward(side: int, square: int, blockers: int) -> int:
    """What a lance of a side attacks."""
    axis = wide(FILE)
    return falling(axis, square, blockers) if side == BLACK else rising(axis, square, blockers)


@inlined
def between(one: int, other: int) -> int:
    """The squares between two on one axis; none if they are on no axis."""
    axis = wide(AXIS[one, other])
    if axis == NO_AXIS:
        return nothing()
    rise, fall = entry(RISE, PLACES * axis + one), entry(FALL, PLACES * axis + one)
    return (rise & entry(FALL, PLACES * axis + other)) | (fall & entry(RISE, PLACES * axis + other))


@inlined
def line_through(one: int, other: int) -> int:
    """All squares on the axis of two squares but the first of these; none if they are on no axis."""
    axis = wide(AXIS[one, other])
    if axis == NO_AXIS:
        return nothing()
    return entry(RISE, PLACES * axis + one) | entry(FALL, PLACES * axis + one)


# Attacks.


@rule
def steps(men: Army, side: int) -> tuple[int, ...]:
    """What the pieces of a side attack by a step or a jump, ten sets of squares: one for each direction, so that in
    each a square is attacked by one piece at most."""
    golden = men.golds | men.kings
    ahead, ahead_askew = golden | men.silvers | men.pawns | men.horses, golden | men.silvers | men.dragons
    behind, behind_askew = golden | men.horses, men.silvers | men.kings | men.dragons
    if side == BLACK:
        above, above_askew, below, below_askew = up(ahead), up(ahead_askew), down(behind), down(behind_askew)
        jumps = (men.knights & fixed(BELOW_B)) >> 2
    else:
        above, above_askew, below, below_askew = up(behind), up(behind_askew), down(ahead), down(ahead_askew)
        jumps = (men.knights & fixed(ABOVE_H)) << 2
    beside = golden | men.horses
    return (
        above,
        below,
        left(beside),
        right(beside),
        left(above_askew),
        right(above_askew),
        left(below_askew),
        right(below_askew),
        left(jumps),
        right(jumps),
    )


@inlined
def sliders(men: Army) -> int:
    """The pieces that slide."""
    return men.lances | men.bishops | men.rooks | men.horses | men.dragons


@inlined
def slide(men: Army, side: int, slider: int, blockers: int) -> int:
    """What a sliding piece on a square attacks by sliding."""
    here = bit(slider)
    if here & (men.rooks | men.dragons):
        return straight(slider, blockers)
    if here & (men.bishops | men.horses):
        return diagonal(slider, blockers)
    return forward(side, slider, blockers)


@rule
def attack(piece: int, square: int, blockers: int) -> int:
    """What one piece attacks from a square."""
    side, kind = piece // COLOUR, piece % COLOUR
    if kind == LANCE:
        return forward(side, square, blockers)
    if kind == BISHOP:
        return diagonal(square, blockers)
    if kind == ROOK:
        return straight(square, blockers)
    if kind == PROM_BISHOP:
        return diagonal(square, blockers) | reach(KING, square)
    if kind == PROM_ROOK:
        return straight(square, blockers) | reach(KING, square)
    return reach(piece, square)


@rule
def attacked(men: Army, side: int, blockers: int) -> int:
    """All squares that the pieces of a side attack."""
    squares = nothing()
    for step in steps(men, side):
        squares |= step
    sliding = sliders(men)
    while sliding:
        squares |= slide(men, side, lowest(sliding), blockers)
        sliding = without_lowest(sliding)
    return squares


class Cover(NamedTuple):
    """What the pieces of a side attack, and what more they would."""

    once: int
    twice: int
    """By two pieces at least."""
    xray_blockers: int
    """Pieces of the side that stand in the way of its own."""
    behind: int
    """What a sliding piece would attack if the door before it left."""


@rule
def cover(men: Army, side: int, blockers: int, own: int) -> Cover:
    """The cover of a side whose pieces are `own`."""
    once = twice = xray_blockers = behind = nothing()
    for step in steps(men, side):
        once, twice = once | step, twice | (once & step)
    sliding = sliders(men)
    while sliding:
        slider = lowest(sliding)
        near = slide(men, side, slider, blockers)
        once, twice = once | near, twice | (once & near)
        shut = near & own
        xray_blockers |= shut
        behind |= slide(men, side, slider, blockers & ~shut) & ~near
        sliding = without_lowest(sliding)
    return Cover(once, twice, xray_blockers, behind)


@rule
def attackers(men: Army, side: int, square: int, blockers: int) -> int:
    """The pieces of a side that attack a square."""
    seen_back = COLOUR if side == BLACK else 0  # where a piece of ours attacks a square, one of theirs is attacked
    files = straight(square, blockers)
    return (
        (men.pawns & reach(seen_back + PAWN, square))
        | (men.knights & reach(seen_back + KNIGHT, square))
        | (men.silvers & reach(seen_back + SILVER, square))
        | (men.golds & reach(seen_back + GOLD, square))
        | ((men.kings | men.horses | men.dragons) & reach(KING, square))
        | ((men.rooks | men.dragons) & files)
        | ((men.bishops | men.horses) & diagonal(square, blockers))
        | (men.lances & files & reach(seen_back + LANCE, square))
    )


@rule
def screens(men: Army, side: int, king: int, blockers: int) -> int:
    """The pieces, of either side, that alone stand between the enemy's king and a sliding piece of a side."""
    seen_back = COLOUR if side == BLACK else 0
    snipers = (
        ((men.rooks | men.dragons) & reach(ROOK, king))
        | ((men.bishops | men.horses) & reach(BISHOP, king))
        | (men.lances & reach(seen_back + LANCE, king))
    )
    screening = nothing()
    while snipers:
        hidden_by = between(king, lowest(snipers)) & blockers
        if not without_lowest(hidden_by):
            screening |= hidden_by
        snipers = without_lowest(snipers)
    return screening


@inlined
def held(hand: int, kind: int) -> int:
    """How many pieces of a kind, PAWN to GOLD, a hand holds."""
    return wide((word(hand) >> word(8 * (kind - 1))) & _BYTE)


@inlined
def one_kind(kind: int) -> int:
    """The part of a hand that has the pieces of a kind."""
    return _BYTE << word(8 * (kind - 1))  # type: ignore[no-any-return]


@inlined
def one_held(kind: int) -> int:
    """A piece of a kind as a hand."""
    return word(1 << 8 * (kind - 1))


@inlined
def has_all(hand: int, other: int) -> bool:
    """Whether a hand has at least as much of each kind as another: no byte of the difference borrows. (Apery's way.)"""
    return bool(((word(hand) | HIGH_BITS) - word(other)) & HIGH_BITS == HIGH_BITS)


@inlined
def hand_after(board: Board, hand: int, move: int) -> int:
    """The hand of who makes a move, after it."""
    origin = (move >> ORIGIN) & SEVEN_BITS
    if origin > DROP:
        return hand - one_held(origin - DROP)
    taken = piece_at(board, move & SEVEN_BITS)
    return hand + one_held(taken & 7) if taken else hand


@inlined
def _changed(plane: int, kept: int, target: int, holds: int) -> int:
    return (plane & kept) | target if holds else plane & kept


@rule
def moved(board: Board, side: int, move: int) -> Board:
    """The board after a move by a side."""
    target, origin = bit(move & SEVEN_BITS), (move >> ORIGIN) & SEVEN_BITS
    if origin > DROP:
        piece, kept = origin - DROP + COLOUR * side, ~target
    else:
        piece, kept = piece_at(board, origin), ~(target | bit(origin))
        if move & PROMOTE:
            piece += PROMOTED
    return Board(
        ones=_changed(board.ones, kept, target, piece & 1),
        twos=_changed(board.twos, kept, target, piece & 2),
        fours=_changed(board.fours, kept, target, piece & 4),
        eights=_changed(board.eights, kept, target, piece & 8),
        white=_changed(board.white, kept, target, piece & COLOUR),
    )
