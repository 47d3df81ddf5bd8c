"""How networks see shogi: the encodings of the python-dlshogi book and of dlshogi, and the moves themselves.

All see the board by the side to move: for White it is turned by 180 degrees. A position is packed as the board itself,
so turned, and the hands: 76 bytes, of which each network makes its planes. Those that see the last two
moves, or which side is Black, have these in bits that the others leave empty.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.encoding import Encoding, Symmetry, labelled_by, listed_by, no_planes, pack_nothing
from pydlshogi.games.shogi.board import (
    DROP,
    ORIGIN,
    PROMOTE,
    SEVEN_BITS,
    Board,
    army,
    attack,
    held,
    occupied,
    of_kind,
    of_side,
    piece_at,
)
from pydlshogi.games.shogi.moves import zone
from pydlshogi.games.shogi.names import (
    BISHOP,
    COLOUR,
    GOLD,
    HELD,
    LABEL_PLANES,
    MAX_PIECES_IN_HAND,
    MOVE_DIRECTIONS,
    NUM_LABELS,
    NUM_PLANES,
    PAWN,
    PLANES_PER_SIDE,
    PROM_ROOK,
    ROOK,
    UNPROMOTED_DIRECTIONS,
    WHITE,
)
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.state import board_of
from pydlshogi.support.arrays import Int8Array, Int32Array, Record, Uint32Array
from pydlshogi.support.kernels.bits import (
    bits_of,
    count,
    high_word,
    low_word,
    lowest,
    mirrored,
    nothing,
    without_lowest,
)
from pydlshogi.support.kernels.compiled import inlined, rule, wide, word

# Packed: for each plane of Board three words, the lowest squares first, and of `white` the side not to move; then the
# hands of both sides, a byte for each kind, PAWN's the lowest; the highest byte of the mover's: 1 when it is in check.
_PLANES: Final = 5
_HANDS: Final = 3 * _PLANES
_WORDS: Final = _HANDS + 4
_32_BITS: Final[Any] = np.uint64(32)
_CHECK_BIT: Final[Any] = np.uint64(56)
_UPPER_SQUARES: Final[Any] = np.uint32((1 << 17) - 1)
_KINDS: Final = PROM_ROOK


@inlined
def _put(words: Uint32Array, plane: int, squares: int, side: int) -> None:
    if side == WHITE:
        squares = mirrored(squares) >> 47  # bit 80 of 128 becomes bit 0
    low = low_word(squares)
    words[3 * plane], words[3 * plane + 1] = low, low >> _32_BITS
    words[3 * plane + 2] = high_word(squares)


@rule
def pack(state: Record, words: Uint32Array) -> None:
    """Fill uint32 [19] with the position."""
    board, side = board_of(state), wide(state.turn)
    _put(words, 0, board.ones, side)
    _put(words, 1, board.twos, side)
    _put(words, 2, board.fours, side)
    _put(words, 3, board.eights, side)
    _put(words, 4, of_side(board, 1 - side), side)
    own = state.hands[side] | word(state.check) << _CHECK_BIT
    words[_HANDS], words[_HANDS + 1] = own, own >> _32_BITS
    other = state.hands[1 - side]
    words[_HANDS + 2], words[_HANDS + 3] = other, other >> _32_BITS


@rule
def pack_nyugyoku(state: Record, words: Uint32Array) -> None:
    """The same with the side to move, in the highest byte of the opponent's hand: White declares with a point less."""
    pack(state, words)
    words[_HANDS + 3] = wide(words[_HANDS + 3]) | wide(state.turn) << 24


_STEPS: Final = 4
_STEP_BITS: Final = 17


@rule
def pack_history(state: Record, words: Uint32Array) -> None:
    """The same with the squares of the last two moves: `steps` of the state, each above the squares of a plane."""
    pack(state, words)
    for i in range(_STEPS):
        step = wide(state.steps[i])
        if step and state.turn:
            step = 82 - step
        words[3 * i + 2] = wide(words[3 * i + 2]) | step << _STEP_BITS


# Networks are timed on random words, and servers take them from others: what is read from them is kept within bounds.
@inlined
def _plane(words: Uint32Array, plane: int) -> int:
    low = word(words[3 * plane]) | word(words[3 * plane + 1]) << _32_BITS
    return bits_of(low, words[3 * plane + 2] & _UPPER_SQUARES)


@inlined
def _board(words: Uint32Array) -> Board:
    """The board of a packed position; the side to move is Black."""
    return Board(_plane(words, 0), _plane(words, 1), _plane(words, 2), _plane(words, 3), _plane(words, 4))


@inlined
def _hand(words: Uint32Array, side: int) -> int:
    """What a side holds, BLACK being the side to move, with the bit of the check."""
    first = _HANDS + 2 * side
    return word(words[first] | word(words[first + 1]) << _32_BITS)


# The book's order: squares go along the ranks from 9a; gold comes before bishop and rook, on the board and in hand.
_BOOK_SQUARE: Final[Int8Array] = np.array([9 * (square % 9) + 8 - square // 9 for square in range(81)], np.int8)
"""By cshogi's number of a square."""
_BOOK_PLANE: Final[Int8Array] = np.array([0, 0, 1, 2, 3, 5, 6, 4, 7, 8, 9, 10, 11, 12, 13], np.int8)
"""By cshogi's kind of a piece, its plane among those of its side."""
_BOOK_HELD: Final = np.array(HELD)
_BOOK_MOST_HELD: Final = np.array(MAX_PIECES_IN_HAND)


@inlined
def _list(active: Int32Array, a: int, first: int, squares: int, order: Int8Array) -> int:
    """List a set of squares of the plane whose numbers begin at `first`, behind `a` others; their number with these."""
    while squares:
        active[word(a)] = first + order[lowest(squares)]
        a += 1
        squares = without_lowest(squares)
    return a


@inlined
def _list_hand(full: Int32Array, f: int, first: int, hand: int, most: Any) -> int:
    """The same of the planes of a hand: for n pieces of a kind, the first n of those that there are for it."""
    for place in range(7):
        for plane in range(first, first + min(held(hand, _BOOK_HELD[place]), most[place])):
            full[f] = plane
            f += 1
        first += most[place]
    return f


@rule
def _list_book(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    a = f = 0
    board = _board(packed)
    for side in range(2):
        own, first = of_side(board, side), side * PLANES_PER_SIDE
        for kind in range(1, _KINDS + 1):
            a = _list(active, a, 81 * (first + _BOOK_PLANE[kind]), of_kind(board, own, kind), _BOOK_SQUARE)
        f = _list_hand(full, f, first + _KINDS, _hand(packed, side), _BOOK_MOST_HELD)
    return a, f


def _direction(origin: int, target: int) -> int:
    """The number of the direction of a move in `names.MOVE_DIRECTIONS`, as Black sees it."""
    left, up = target // 9 - origin // 9, origin % 9 - target % 9
    if up == 2 and abs(left) == 1:
        return 8 if left > 0 else 9
    if up == 0:
        return 3 if left > 0 else 4
    return (0 if up > 0 else 5) + (0 if left == 0 else 1 if left > 0 else 2)


_DIRECTION: Final[Int8Array] = np.array(
    [[_direction(origin, target) for target in range(81)] for origin in range(81)], np.int8
)
_DROPS: Final = 2 * UNPROMOTED_DIRECTIONS
_BOOK_DROP: Final[Int8Array] = np.array([0, 0, 1, 2, 3, 5, 6, 4], np.int8)
"""By cshogi's kind of the piece dropped, its place among the drops."""


@inlined
def _label(state: Record, move: int, squares: Int8Array, drops: Int8Array) -> int:
    """81 x kind + destination, as the mover sees it.

    Kinds 0 to 9 are the directions UP to UP2_RIGHT, 10 to 19 the same with promotion, 20 to 26 drops. A label names no
    distance: only the nearest piece in its direction can reach the destination.
    """
    target, origin = wide(move) & SEVEN_BITS, wide(move) >> ORIGIN & SEVEN_BITS
    seen = 80 - target if state.turn else target
    if origin > DROP:
        return wide(81 * (_DROPS + drops[origin - DROP]) + squares[seen])
    direction = wide(_DIRECTION[80 - origin if state.turn else origin, seen])
    if wide(move) & PROMOTE:
        direction += UNPROMOTED_DIRECTIONS
    return wide(81 * direction + squares[seen])


@rule
def book_label(state: Record, move: int) -> int:
    """The drops in the order P L N S G B R."""
    return _label(state, move, _BOOK_SQUARE, _BOOK_DROP)


# dlshogi's order is cshogi's.
_DLSHOGI_SQUARE: Final[Int8Array] = np.arange(81, dtype=np.int8)
_DLSHOGI_DROP: Final[Int8Array] = np.arange(-1, 7, dtype=np.int8)
_DLSHOGI_MOST_HELD: Final = np.array([8, 4, 4, 4, 4, 2, 2])
"""By the place of a kind in `MAX_PIECES_IN_HAND`, the planes that there are for it."""
_COUNTED: Final = 3
"""Planes that count attackers: the n-th shows the squares that at least n pieces attack."""
_DLSHOGI_PER_SIDE: Final = 2 * _KINDS + _COUNTED
"""Planes of a side on the board: its pieces, in cshogi's order, come first."""
_DLSHOGI_HELD: Final = 28
"""Planes of a hand."""
_DLSHOGI_PLANES: Final = 2 * (_DLSHOGI_PER_SIDE + _DLSHOGI_HELD) + 1
_HISTORY_PLANES: Final = _DLSHOGI_PLANES + _STEPS
_NYUGYOKU_PIECES, _NYUGYOKU_POINTS = 10, 20
"""Planes that count down what a declaration lacks."""
_NYUGYOKU_PER_SIDE: Final = 1 + _NYUGYOKU_PIECES + _NYUGYOKU_POINTS
_NYUGYOKU_PLANES: Final = _DLSHOGI_PLANES + 2 * _NYUGYOKU_PER_SIDE


@rule
def _list_dlshogi(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    a = f = 0
    board = _board(packed)
    blockers = occupied(board)
    for side in range(2):
        own, first = of_side(board, side), 81 * _DLSHOGI_PER_SIDE * side
        once = twice = thrice = nothing()
        for kind in range(1, _KINDS + 1):
            pieces = of_kind(board, own, kind)
            a = _list(active, a, first + 81 * (kind - 1), pieces, _DLSHOGI_SQUARE)
            attacked = nothing()
            while pieces:
                squares = attack(COLOUR * side + kind, lowest(pieces), blockers)
                once, twice, thrice = once | squares, twice | (once & squares), thrice | (twice & squares)
                attacked |= squares
                pieces = without_lowest(pieces)
            a = _list(active, a, first + 81 * (_KINDS + kind - 1), attacked, _DLSHOGI_SQUARE)
        for squares in (once, twice, thrice):
            a = _list(active, a, first + 81 * 2 * _KINDS, squares, _DLSHOGI_SQUARE)
            first += 81
        f = _list_hand(full, f, 2 * _DLSHOGI_PER_SIDE + side * _DLSHOGI_HELD, _hand(packed, side), _DLSHOGI_MOST_HELD)
    if packed[_HANDS + 1] >> 24 & 1:
        full[f] = _DLSHOGI_PLANES - 1
        f += 1
    return a, f


@rule
def _list_history(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    a, f = _list_dlshogi(packed, active, full)
    for i in range(_STEPS):
        step = wide(packed[3 * i + 2]) >> _STEP_BITS
        if 1 <= step <= 81:
            active[a] = 81 * (_DLSHOGI_PLANES + i) + step - 1
            a += 1
    return a, f


@rule
def _list_nyugyoku(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    a, f = _list_dlshogi(packed, active, full)
    board, turn = _board(packed), packed[_HANDS + 3] >> 24 & 1
    for side in range(2):
        men, first = army(board, side), _DLSHOGI_PLANES + side * _NYUGYOKU_PER_SIDE
        inside = of_side(board, side) & zone(side)
        if inside & men.kings:
            full[f] = first
            f += 1
        pieces = count(inside & ~men.kings)
        hand, held_points = _hand(packed, side), wide(0)
        for kind in range(PAWN, GOLD + 1):
            held_points += held(hand, kind) * (5 if kind in (BISHOP, ROOK) else 1)
        large = count(inside & (men.bishops | men.rooks | men.horses | men.dragons))
        pieces_missing = 10 - pieces
        points_missing = (28 if side == turn else 27) - pieces - 4 * large - held_points
        if 0 <= pieces_missing < _NYUGYOKU_PIECES:
            full[f] = first + 1 + pieces_missing
            f += 1
        if 0 <= points_missing < _NYUGYOKU_POINTS:
            full[f] = first + 1 + _NYUGYOKU_PIECES + points_missing
            f += 1
    return a, f


@rule
def dlshogi_label(state: Record, move: int) -> int:
    """The same with dlshogi's order of squares and drops."""
    return _label(state, move, _DLSHOGI_SQUARE, _DLSHOGI_DROP)


@rule
def whole_move(state: Record, move: int) -> int:
    """cshogi's move with the kinds of the piece that moves and of the one that is taken."""
    board, target, origin = board_of(state), wide(move) & SEVEN_BITS, wide(move) >> ORIGIN & SEVEN_BITS
    if origin > DROP:
        return wide(move)
    return wide(move) | (piece_at(board, origin) & 15) << 16 | (piece_at(board, target) & 15) << 20


def _mirror(planes: int, step: int) -> Symmetry:
    """Left and right exchanged; `step`: from a square to its neighbour on the same rank, in the encoding's order."""
    squares = np.arange(81)
    file = squares // step % 9
    exchanged = [name.replace("LEFT", "?").replace("RIGHT", "LEFT").replace("?", "RIGHT") for name in MOVE_DIRECTIONS]
    other_side = list(map(MOVE_DIRECTIONS.index, exchanged))
    kinds = np.array(other_side + list(range(_DROPS, LABEL_PLANES)))
    mirrored_squares = squares + step * (8 - 2 * file)
    return Symmetry(
        squares=mirrored_squares.astype(np.int32),
        planes=np.arange(planes, dtype=np.int32),
        labels=(81 * kinds[:, None] + mirrored_squares).ravel().astype(np.int32),
    )


BOOK: Final = Encoding(
    name="book",
    planes=NUM_PLANES,
    height=9,
    width=9,
    labels=NUM_LABELS,
    words=_WORDS,
    label_moves=labelled_by("book", book_label),
    pack=pack,
    list_active=listed_by("book", _list_book),
    start=ShogiPosition,
    symmetries=(_mirror(NUM_PLANES, step=1),),
)
"""The book's: planes 0 to 51 are of the side to move, 52 to 103 the same of its opponent.

    0 to 13    where its pieces stand, a plane for each of `names.PIECE_TYPES`
    14 to 51   what it holds in hand: 18 planes for pawns, 4 each for lances, knights, silvers and golds, 2 each for
               bishops and rooks; for n pieces of a kind, the first n of its planes are full of ones

Squares go along the ranks, as in python-shogi: 0 = 9a (Black's far left), 8 = 1a, 80 = 1i.
"""

DLSHOGI: Final = BOOK._replace(
    name="dlshogi",
    planes=_DLSHOGI_PLANES,
    label_moves=labelled_by("dlshogi", dlshogi_label),
    list_active=listed_by("dlshogi", _list_dlshogi),
    symmetries=(_mirror(_DLSHOGI_PLANES, step=9),),
    parts=(2 * _DLSHOGI_PER_SIDE, 2 * _DLSHOGI_HELD + 1),
)
"""dlshogi's 62 planes of the board and 57 of hands and check: where pieces stand, what they attack, how often a square
is attacked, as `cshogi.dlshogi.make_input_features` makes them; labels as `make_move_label`."""

HISTORY: Final = DLSHOGI._replace(
    name="history",
    planes=_HISTORY_PLANES,
    pack=pack_history,
    list_active=listed_by("history", _list_history),
    symmetries=(_mirror(_HISTORY_PLANES, step=9),),
    parts=(),
)
"""dlshogi's, and four planes of one square each: where the last move went to, where it came from, and the same of the
move before. Empty where there was no such move, or the piece was dropped."""

NYUGYOKU: Final = DLSHOGI._replace(
    name="nyugyoku",
    planes=_NYUGYOKU_PLANES,
    pack=pack_nyugyoku,
    list_active=listed_by("nyugyoku", _list_nyugyoku),
    symmetries=(_mirror(_NYUGYOKU_PLANES, step=9),),
    parts=(2 * _DLSHOGI_PER_SIDE, _NYUGYOKU_PLANES - 2 * _DLSHOGI_PER_SIDE),
)
"""dlshogi's default since May 2026, 62 and 119 planes: `cshogi.dlshogi.use_nyugyoku_features`. For each side one more
that is full when its king has entered, ten for the pieces that it lacks there to declare, and twenty for the points;
none of these is set where it has more than enough."""

ENCODINGS: Final = (BOOK, DLSHOGI, HISTORY, NYUGYOKU)
"""Of networks; a file is matched with the first that suits it."""

MOVES: Final = BOOK._replace(
    name="moves",
    planes=0,
    labels=1 << 24,
    words=0,
    label_moves=labelled_by("moves", whole_move),
    pack=pack_nothing,
    list_active=no_planes,
    symmetries=(),
)
"""No planes; the label is cshogi's whole move."""
