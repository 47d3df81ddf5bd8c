"""Positions of Dobutsu shogi as numbers without a gap: where they stand in a table of all of them.

A position and its mirror image have one number. A numbering is made for a set of pieces, of which each is on the board
or in hand; that of the whole game has 855,232,344 numbers, a third of which can be reached.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.dobutsu.rules import (
    CHICK,
    ELEPHANT,
    ENEMY,
    FILES,
    GIRAFFE,
    HANDS,
    HEN,
    IN_HAND,
    LION,
    SQUARES,
    held,
    piece_on,
    square_of,
)
from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.kernels.bits import bits_of, count
from pydlshogi.support.kernels.compiled import compiled, inlined, rule, wide, word

_MOST: Final = 2
"""Pieces of a kind."""
_PLACES: Final = SQUARES - 2
"""Squares that the lions leave."""
_LEFT_FILE: Final[Any] = np.uint64(0x00F00F00F00F)
_RIGHT_FILE: Final[Any] = np.uint64(0xF00F00F00F00)
_OTHERS: Final[Any] = ~(_LEFT_FILE | _RIGHT_FILE)
_TWO_SQUARES: Final[Any] = np.uint64(8)
_NOTHING: Final[Any] = np.uint64(0)
_EACH: Final[Any] = np.uint64(0x111111111111)
_ONE: Final[Any] = np.uint64(1)
_TWO: Final[Any] = np.uint64(2)
_THREE: Final[Any] = np.uint64(3)
_WAYS: Final = np.array([[1, places, places * (places - 1) // 2] for places in range(SQUARES)])
"""[places, pieces]: in how many ways the pieces, at most 2, stand on the places."""

_LIONS: Final = [
    (own, enemy)
    for own in range(SQUARES)
    for enemy in range(SQUARES)
    if own != enemy and (own % FILES == 0 or (own % FILES == 1 and enemy % FILES < 2))
]
"""Squares of both lions, one of each two pairs that mirror each other."""
_LION_NUMBER: Final = np.array(
    [
        [_LIONS.index(pair) if (pair := (own, enemy)) in _LIONS else 0 for enemy in range(SQUARES)]
        for own in range(SQUARES)
    ]
)
_LION_SQUARES: Final = np.array(_LIONS)


class Numbering(NamedTuple):
    """The numbers of all positions of a set of pieces."""

    pieces: Int64Array
    """int64 [3]: how many chicks, elephants and giraffes there are, at most 2 of each."""
    first: Int64Array
    """int64 [3, 3, 3]: the first number of the positions with as many of each on the board."""
    size: int


def numbering(chicks: int = _MOST, elephants: int = _MOST, giraffes: int = _MOST) -> Numbering:
    """The numbering of a set of pieces beside the lions."""
    pieces, first, size = np.array([chicks, elephants, giraffes]), np.zeros((3, 3, 3), np.int64), 0
    for on_board in np.ndindex(chicks + 1, elephants + 1, giraffes + 1):
        first[on_board] = size
        places, block = _PLACES, len(_LIONS)
        for kind in (1, 2, 0):
            block *= int(_WAYS[places, on_board[kind]]) * (int(pieces[kind]) - on_board[kind] + 1)
            block <<= on_board[kind] * (2 if kind == 0 else 1)
            places -= on_board[kind]
        size += block
    return Numbering(pieces, first, size)


@inlined
def _mirrored(pieces: Any) -> Any:
    return (pieces & _LEFT_FILE) << _TWO_SQUARES | (pieces & _RIGHT_FILE) >> _TWO_SQUARES | pieces & _OTHERS


@rule
def number_of(pieces: int, numbers: Numbering) -> int:
    """The number of a state's `pieces`, of the set that `numbers` are made for."""
    own, enemy = square_of(pieces, LION), square_of(pieces, ENEMY + LION)
    side, other = own % FILES, enemy % FILES
    if side == 2 or (side == 1 and (other == 2 or (other == 1 and _mirrored(pieces) < pieces))):
        pieces = _mirrored(pieces)
        own, enemy = own + 2 - 2 * side, enemy + 2 - 2 * other

    kinds, enemies = pieces & ~(_EACH << _THREE), pieces >> _THREE & _EACH
    elephant, giraffe, hen = _equal(kinds, ELEPHANT), _equal(kinds, GIRAFFE), _equal(kinds, HEN)
    chick = _equal(kinds, CHICK) | hen
    elephants, giraffes, chicks = _many(elephant), _many(giraffe), _many(chick)
    places = _EACH & ~_equal(kinds, LION)

    number = wide(_LION_NUMBER[own, enemy])
    number = number * _WAYS[_PLACES, elephants] + _way(elephant, places)
    places &= ~elephant
    number = number * _WAYS[_PLACES - elephants, giraffes] + _way(giraffe, places)
    places &= ~giraffe
    number = number * _WAYS[_PLACES - elephants - giraffes, chicks] + _way(chick, places)
    number = number << elephants | _marks(enemies, elephant)
    number = number << giraffes | _marks(enemies, giraffe)
    number = number << chicks | _marks(enemies, chick)
    number = number << chicks | _marks(hen, chick)
    for kind, many in ((CHICK, chicks), (ELEPHANT, elephants), (GIRAFFE, giraffes)):
        number = number * (numbers.pieces[kind - 1] - many + 1) + held(pieces, kind - 1)
    return wide(numbers.first[chicks, elephants, giraffes] + number)


# Sets of squares: the lowest of the four bits of each square.


@inlined
def _many(squares: Any) -> int:
    return count(bits_of(squares, _NOTHING))


@inlined
def _equal(kinds: Any, kind: int) -> Any:
    """Where this kind stands."""
    other = kinds ^ _EACH * word(kind)
    return ~(other | other >> _ONE | other >> _TWO) & _EACH


@inlined
def _way(squares: Any, places: Any) -> Any:
    """Which one of the ways to choose these squares, at most 2, among `places`."""
    highest = squares & (squares - _ONE)
    lowest = squares ^ highest
    if highest:
        return _WAYS[_many(places & (highest - _ONE)), 2] + _many(places & (lowest - _ONE))
    return _many(places & (lowest - _ONE)) if lowest else 0


@inlined
def _marks(marked: Any, squares: Any) -> Any:
    """One bit for each of the squares, at most 2: whether it is among the marked ones."""
    highest = squares & (squares - _ONE)
    return ((marked & (squares ^ highest)) != _NOTHING) + 2 * ((marked & highest) != _NOTHING)


@inlined
def _empty(pieces: int, place: int) -> int:
    """The empty square before which there are `place` others."""
    for square in range(SQUARES):
        if piece_on(pieces, square) == 0:
            if place == 0:
                return square
            place -= 1
    return 0


@inlined
def _in_hand(kind: int, own: int, enemy: int) -> int:
    return word(own) << word(HANDS + 2 * (kind - 1)) | word(enemy) << word(HANDS + 2 * (kind - 1 + IN_HAND))


@rule
def _placed(pieces: int, many: int, way: int, first: int, second: int) -> int:
    """`pieces` with `many` more on the board: `first` and `second`, on the empty squares that `way` says."""
    if many == 0:
        return pieces
    further = 0
    if many == 2:
        further = 1
        while (further + 1) * further // 2 <= way:
            further += 1
        way -= further * (further - 1) // 2
        with_second = word(second) << word(4 * _empty(pieces, further))
        return pieces | with_second | word(first) << word(4 * _empty(pieces, way))
    return pieces | word(first) << word(4 * _empty(pieces, way))


@rule
def pieces_of(number: int, numbers: Numbering) -> int:
    """The state's pieces that have this number: those of one of two mirror images."""
    chicks = elephants = giraffes = 0
    for on_board in range(27):
        c, e, g = on_board // 9, on_board // 3 % 3, on_board % 3
        if c <= numbers.pieces[0] and e <= numbers.pieces[1] and g <= numbers.pieces[2]:
            if numbers.first[c, e, g] > number:
                break
            chicks, elephants, giraffes = c, e, g
    number -= numbers.first[chicks, elephants, giraffes]

    pieces = _NOTHING
    for kind, on_board in ((GIRAFFE, giraffes), (ELEPHANT, elephants), (CHICK, chicks)):
        hand = numbers.pieces[kind - 1] - on_board
        pieces |= _in_hand(kind, number % (hand + 1), hand - number % (hand + 1))
        number //= hand + 1

    hens, number = number & ((1 << chicks) - 1), number >> chicks
    chick_sides, number = number & ((1 << chicks) - 1), number >> chicks
    giraffe_sides, number = number & ((1 << giraffes) - 1), number >> giraffes
    elephant_sides, number = number & ((1 << elephants) - 1), number >> elephants
    ways = wide(_WAYS[_PLACES - elephants - giraffes, chicks])
    chick_squares, number = number % ways, number // ways
    ways = wide(_WAYS[_PLACES - elephants, giraffes])
    giraffe_squares, number = number % ways, number // ways
    ways = wide(_WAYS[_PLACES, elephants])
    elephant_squares, lions = number % ways, number // ways

    pieces |= word(LION) << word(4 * _LION_SQUARES[lions, 0])
    pieces |= word(ENEMY + LION) << word(4 * _LION_SQUARES[lions, 1])
    first, second = elephant_sides & 1, elephant_sides >> 1
    pieces = _placed(pieces, elephants, elephant_squares, ELEPHANT + ENEMY * first, ELEPHANT + ENEMY * second)
    first, second = giraffe_sides & 1, giraffe_sides >> 1
    pieces = _placed(pieces, giraffes, giraffe_squares, GIRAFFE + ENEMY * first, GIRAFFE + ENEMY * second)
    first, second = _chick(chick_sides & 1, hens & 1), _chick(chick_sides >> 1, hens >> 1)
    return _placed(pieces, chicks, chick_squares, first, second)


@inlined
def _chick(enemy: int, hen: int) -> int:
    """What stands on a square where a chick may be a hen."""
    return CHICK + ENEMY * enemy + (HEN - CHICK) * hen


@compiled
def numbered(pieces: int, numbers: Numbering) -> int:
    """`number_of`, for Python; -1 for another set of pieces, and where a side has lost."""
    pieces = word(pieces)
    number = number_of(pieces, numbers)
    if not 0 <= number < numbers.size:
        return -1
    found = pieces_of(number, numbers)
    return number if found in (pieces, _mirrored(pieces)) else -1
