"""Who wins a position of Dobutsu shogi, and in how many plies: all positions that the game can reach, from its end
backwards.

A position is lost in n plies if every move leads to one that the enemy wins, in n - 1 plies at most; it is won in n
plies if a move leads to one lost in n - 1 plies, and in none before. What is left at the end is drawn.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.dobutsu.numbering import Numbering, number_of, numbered, pieces_of
from pydlshogi.games.dobutsu.rules import (
    CHICK,
    ENEMY,
    FILES,
    GIRAFFE,
    HANDS,
    HEN,
    IN_HAND,
    LION,
    LOST,
    NEIGHBOUR,
    OFF,
    RULES,
    SQUARES,
    attacked,
    goes,
    held,
    legal_moves,
    piece_on,
    play,
    square_of,
    turned,
)
from pydlshogi.support.arrays import Int64Array, Records, Uint8Array, Uint16Array, Uint64Array
from pydlshogi.support.kernels.compiled import compiled, inlined, rule, wide, word

NOT_REACHED, DRAWN, DECIDED = 0, 1, 2
"""What a table says of a position; DECIDED + n: the game ends after n plies more, won if n is odd, else lost."""
_REACHED, _TOUCHED = 255, 254
"""While it is made: not looked at yet; a move from there has just been found to lose."""
_WON_IN_1, _LOST_IN_2 = DECIDED + 1, DECIDED + 2
_AT_ONCE: Final = 1 << 21
_MOST_BEFORE: Final = 512


class _Room(NamedTuple):
    """What a kernel works with."""

    states: Records
    moves: Uint16Array
    before: Uint64Array


def _room() -> _Room:
    return _Room(
        states=np.zeros(2, RULES.state),
        moves=np.zeros(RULES.most_moves, np.uint16),
        before=np.zeros(_MOST_BEFORE, np.uint64),
    )


def solved(
    starts: Iterable[int], numbers: Numbering, threads: int, tell: Callable[[int, int], None] = lambda *_: None
) -> Uint8Array:
    """The table of all positions that can be reached from `starts`, which are states' pieces: uint8 [numbers.size].

    Nobody plays on where the enemy's lion can be taken. `tell` gets each number of plies with how many
    positions it decides, and first 0 plies with how many there are.
    """
    table = np.zeros(numbers.size, np.uint8)
    for pieces in starts:
        table[numbered(pieces, numbers)] = _REACHED
    with ThreadPoolExecutor(threads) as pool:

        def each(code: int, kernel: Callable[..., int], *arguments: Any) -> int:
            """Let `kernel` look at all positions with this code; the sum of what it returns."""

            def part(first: int) -> int:
                found = np.flatnonzero(table[first : first + _AT_ONCE] == code)
                return kernel(table, found + first, numbers, _room(), *arguments) if len(found) else 0

            return sum(pool.map(part, range(0, len(table), _AT_ONCE)))

        reached = 0
        while fresh := each(_REACHED, _reach):
            reached += fresh
        tell(0, reached + each(DECIDED, _count))
        tell(1, each(_WON_IN_1, _count))
        lost, code = each(DRAWN, _judge, _LOST_IN_2), _LOST_IN_2
        while lost:
            tell(code - DECIDED, lost)
            tell(code - DECIDED + 1, each(code, _mark_before, code + 1))
            each(code + 1, _mark_before, _TOUCHED)
            code += 2
            lost = each(_TOUCHED, _judge, code)
    return table


def _count(table: Uint8Array, found: Int64Array, numbers: Numbering, room: _Room) -> int:
    return len(found)


# Whichever kernel comes first, it writes the same into an entry: they need no lock.


@compiled
def _reach(table: Uint8Array, found: Int64Array, numbers: Numbering, room: _Room) -> int:
    """Mark what follows the positions `found` as reached; how many there were."""
    state, after = room.states[0], room.states[1]
    for number in found:
        state.pieces = pieces_of(number, numbers)
        won = attacked(state.pieces, square_of(state.pieces, ENEMY + LION), 0)
        for move in room.moves[: 0 if won else legal_moves(state, room.moves)]:
            play(state, move, after)
            following = number_of(after.pieces, numbers)
            if after.pieces & LOST:
                table[following] = DECIDED
                won = True
            elif table[following] == NOT_REACHED:
                table[following] = _REACHED
        table[number] = _WON_IN_1 if won else DRAWN
    return len(found)


@compiled
def _judge(table: Uint8Array, found: Int64Array, numbers: Numbering, room: _Room, code: int) -> int:
    """Give the code to those of the positions `found` in which every move loses; how many there are."""
    state, after = room.states[0], room.states[1]
    lost = 0
    for number in found:
        state.pieces = pieces_of(number, numbers)
        loses = True
        for move in room.moves[: legal_moves(state, room.moves)]:
            play(state, move, after)
            following = table[number_of(after.pieces, numbers)]
            # A position that is being found to be lost is no longer undecided, but it is not won either.
            if following <= DECIDED or following >= _TOUCHED or following % 2 == DECIDED % 2:
                loses = False
                break
        table[number] = code if loses else DRAWN
        lost += loses
    return lost


@compiled
def _mark_before(table: Uint8Array, found: Int64Array, numbers: Numbering, room: _Room, code: int) -> int:
    """Give the code to the undecided positions from which a move leads to one of `found`; how many there are."""
    marked = 0
    for number in found:
        for pieces in room.before[: before(pieces_of(number, numbers), room.before)]:
            earlier = number_of(pieces, numbers)
            if table[earlier] == DRAWN:
                table[earlier] = code
                marked += 1
    return marked


@rule
def before(pieces: int, states: Uint64Array) -> int:
    """Fill `states` with all from which a move that ends no game leads to `pieces`; how many there are.

    Positions that cannot come about are among them.
    """
    pieces, number = turned(pieces), 0  # now the side that has moved stands below
    for target in range(SQUARES):
        piece = piece_on(pieces, target)
        if piece == 0 or piece > ENEMY:
            continue
        without = pieces & ~_put(15, target)
        if CHICK <= piece <= GIRAFFE:
            states[number] = without + _one_in_hand(piece - 1)
            number += 1
        for direction in range(8):
            origin = wide(NEIGHBOUR[target, direction ^ 4])
            if origin == OFF or piece_on(pieces, origin):
                continue
            if goes(piece, direction) and not (piece == CHICK and target < FILES):
                number = _taken_back(without | _put(piece, origin), target, states, number)
            if piece == HEN and target < FILES and goes(CHICK, direction):
                number = _taken_back(without | _put(CHICK, origin), target, states, number)
    return number


@rule
def _taken_back(pieces: int, target: int, states: Uint64Array, number: int) -> int:
    """Add `pieces`, and with every piece that may have been taken on `target`; how many states there are then."""
    states[number] = pieces
    number += 1
    for place in range(IN_HAND):
        if held(pieces, place):
            kept = pieces - _one_in_hand(place)
            states[number] = kept | _put(ENEMY + place + 1, target)
            number += 1
            if place + 1 == CHICK:
                states[number] = kept | _put(ENEMY + HEN, target)
                number += 1
    return number


@inlined
def _put(piece: int, square: int) -> int:
    return word(piece) << word(4 * square)


@inlined
def _one_in_hand(place: int) -> int:
    return word(1) << word(HANDS + 2 * place)
