"""The legal moves of shogi, compiled, in the order in which cshogi lists them.

That order is part of what a search does, so it is kept: drops, then the pieces kind by kind, then the king; in check
the king first, and drops last. The list begins with moves that leave the king to be taken, and each of those is then
replaced by the last of the list.
"""

from typing import Final

import numpy as np

from pydlshogi.games.shogi.board import (
    DROP,
    ORIGIN,
    PROMOTE,
    SEVEN_BITS,
    Aims,
    Army,
    Board,
    among,
    army,
    attacked,
    attackers,
    between,
    diagonal,
    down,
    forward,
    held,
    line_through,
    moved,
    occupied,
    of_side,
    one_kind,
    reach,
    screens,
    straight,
    up,
)
from pydlshogi.games.shogi.names import BISHOP, BLACK, COLOUR, GOLD, KING, KNIGHT, LANCE, PAWN, ROOK, SILVER
from pydlshogi.games.shogi.state import board_of
from pydlshogi.games.shogi.tables import BOARD, LAST_RANKS, RANK_I
from pydlshogi.support.arrays import Record, Uint16Array
from pydlshogi.support.kernels.bits import bit, entry, fixed, lowest, nothing, without_lowest
from pydlshogi.support.kernels.compiled import inlined, rule, wide, word

MOST_MOVES: Final = 600
"""Room in a list of moves: 593 are known to be possible."""
_DROP_ORDER: Final = np.array([KNIGHT, LANCE, SILVER, GOLD, BISHOP, ROOK], np.int64)
"""After the pawns. On the last rank it begins with the third, on the last but one with the second."""


@inlined
def last_ranks(side: int, many: int) -> int:
    """The `many` ranks farthest from a side."""
    return entry(LAST_RANKS, 4 * side + many)


@inlined
def zone(side: int) -> int:
    """Those on which a side promotes."""
    return last_ranks(side, 3)


@inlined
def files_without(pawns: int) -> int:
    """All squares of the files on which none of the pawns stands.

    A file is a number of nine bits, rank i the highest: 256 less the bit of a pawn has not this bit, 256 less nothing
    has it, and 256 + 256 - 1 is a full file. (The way of YaneuraOu.)
    """
    rank_i = fixed(RANK_I)
    free = (rank_i - pawns) & rank_i
    return free | (free - (free >> 8))


@inlined
def pawn_places(men: Army, side: int) -> int:
    """Where a side may drop a pawn, as far as the rules of the files and of the last rank go."""
    return files_without(men.pawns) & ~last_ranks(side, 1)


@inlined
def drop_places(men: Army, side: int, hand: int) -> int:
    """Where a side may drop one or another piece that it holds, if nothing stands there."""
    places = nothing()
    if held(hand, SILVER) + held(hand, GOLD) + held(hand, BISHOP) + held(hand, ROOK):
        places = ~places
    if held(hand, LANCE):
        places |= ~last_ranks(side, 1)
    if held(hand, KNIGHT):
        places |= ~last_ranks(side, 2)
    if held(hand, PAWN):
        places |= pawn_places(men, side)
    return places


@rule
def escapes(board: Board, side: int, king: int, hand: int) -> bool:
    """Whether the side whose king is in check has a legal move. An interposed pawn that mates is taken for one."""
    blockers, own = occupied(board), of_side(board, side)
    enemies = army(board, 1 - side)
    if reach(KING, king) & ~(own | attacked(enemies, 1 - side, blockers & ~bit(king))):
        return True
    checkers = attackers(enemies, 1 - side, king, blockers)
    if without_lowest(checkers):
        return False
    gap = between(king, lowest(checkers))
    men = army(board, side)
    # A piece that is pinned helps against no other check.
    free = own & ~(bit(king) | screens(enemies, 1 - side, king, blockers))
    if attacked(among(men, free), side, blockers) & (checkers | gap):
        return True
    return bool(gap & drop_places(men, side, hand))


@inlined
def list_moves(origin: int, targets: int, moves: Uint16Array, count: int) -> int:
    """Moves from `origin` without promotion."""
    while targets:
        moves[count] = lowest(targets) | origin << ORIGIN
        count += 1
        targets = without_lowest(targets)
    return count


@inlined
def _list_both(origin: int, targets: int, promoting: int, staying: int, moves: Uint16Array, count: int) -> int:
    """Moves from `origin`, with promotion to those of the targets that are `promoting`, without to those `staying`."""
    if not targets & promoting:
        return list_moves(origin, targets & staying, moves, count)
    while targets:
        others = without_lowest(targets)
        here = targets ^ others
        move = lowest(targets) | origin << ORIGIN
        if here & promoting:
            moves[count] = move | PROMOTE
            count += 1
        if here & staying:
            moves[count] = move
            count += 1
        targets = others
    return count


@inlined
def _list_pawns(pawns: int, side: int, promoting: int, staying: int, moves: Uint16Array, count: int) -> int:
    """Moves of all pawns, as `_list_both`, those that enter the zone of promotion first."""
    targets = up(pawns) if side == BLACK else down(pawns)
    back = 1 if side == BLACK else -1
    entering = targets & zone(side) & (promoting | staying)
    while entering:
        target = lowest(entering)
        count = _list_both(target + back, bit(target), promoting, staying, moves, count)
        entering = without_lowest(entering)
    targets &= staying & ~zone(side)
    while targets:
        target = lowest(targets)
        moves[count] = target | (target + back) << ORIGIN
        count += 1
        targets = without_lowest(targets)
    return count


@inlined
def _promoting(side: int, origin: int, aim: int) -> int:
    """Where a silver, bishop or rook from `origin` may promote, of the squares it aims at."""
    return aim if bit(origin) & zone(side) else aim & zone(side)


@rule
def list_pieces(men: Army, side: int, blockers: int, aims: Aims, moves: Uint16Array, count: int) -> int:
    """Moves of all pieces but the king to the squares they may aim at."""
    colour = COLOUR * side
    promoting = zone(side) & aims.golds
    count = _list_pawns(men.pawns, side, promoting, aims.pawns & ~last_ranks(side, 1), moves, count)
    staying = aims.lances & ~last_ranks(side, 1)
    pieces = men.lances if promoting | staying else nothing()
    while pieces:
        origin = lowest(pieces)
        count = _list_both(origin, forward(side, origin, blockers), promoting, staying, moves, count)
        pieces = without_lowest(pieces)
    staying = aims.knights & ~last_ranks(side, 2)
    pieces = men.knights if promoting | staying else nothing()
    while pieces:
        origin = lowest(pieces)
        count = _list_both(origin, reach(colour + KNIGHT, origin), promoting, staying, moves, count)
        pieces = without_lowest(pieces)
    pieces = men.silvers if aims.golds | aims.silvers else nothing()
    while pieces:
        origin = lowest(pieces)
        promoting = _promoting(side, origin, aims.golds)
        count = _list_both(origin, reach(colour + SILVER, origin), promoting, aims.silvers, moves, count)
        pieces = without_lowest(pieces)
    pieces = men.bishops if aims.bishops | aims.horses else nothing()
    while pieces:
        origin = lowest(pieces)
        promoting = _promoting(side, origin, aims.horses)
        count = _list_both(origin, diagonal(origin, blockers), promoting, aims.bishops, moves, count)
        pieces = without_lowest(pieces)
    pieces = men.rooks if aims.rooks | aims.dragons else nothing()
    while pieces:
        origin = lowest(pieces)
        promoting = _promoting(side, origin, aims.dragons)
        count = _list_both(origin, straight(origin, blockers), promoting, aims.rooks, moves, count)
        pieces = without_lowest(pieces)
    pieces = men.golds | men.horses | men.dragons if aims.golds | aims.horses | aims.dragons else nothing()
    while pieces:
        origin = lowest(pieces)
        here = bit(origin)
        if here & men.golds:
            targets = reach(colour + GOLD, origin) & aims.golds
        elif here & men.horses:
            targets = (reach(KING, origin) | diagonal(origin, blockers)) & aims.horses
        else:
            targets = (reach(KING, origin) | straight(origin, blockers)) & aims.dragons
        count = list_moves(origin, targets, moves, count)
        pieces = without_lowest(pieces)
    return count


@inlined
def anywhere(squares: int) -> Aims:
    """All pieces may go to these squares."""
    return Aims(squares, squares, squares, squares, squares, squares, squares, squares, squares)


@rule
def _list_drops_from(place: int, hand: int, targets: int, moves: Uint16Array, count: int) -> int:
    """Drops of the pieces in _DROP_ORDER from `place` on, square by square."""
    kinds = 0
    for later in range(place, len(_DROP_ORDER)):
        if held(hand, _DROP_ORDER[later]):
            kinds += 1
    if kinds == 0:
        return count
    end = count
    while targets:  # the squares alone, with room for each kind
        moves[end] = lowest(targets)
        end += kinds
        targets = without_lowest(targets)
    room = kinds
    later = len(_DROP_ORDER)
    while room > 0:
        later -= 1
        if held(hand, _DROP_ORDER[later]):
            room -= 1
            dropped = (DROP + _DROP_ORDER[later]) << ORIGIN
            first = count
            while first < end:
                moves[first + room] = moves[first] | dropped
                first += kinds
    return end


@rule
def list_drops(board: Board, side: int, enemy_king: int, hand: int, gap: int, moves: Uint16Array, count: int) -> int:
    """Drops to the empty squares `gap`."""
    if held(hand, PAWN):
        places = gap & pawn_places(army(board, side), side)
        checking = places & reach(COLOUR * (1 - side) + PAWN, enemy_king)
        if checking:
            move = lowest(checking) | (DROP + PAWN) << ORIGIN
            if escapes(moved(board, side, move), 1 - side, enemy_king, word(0)):
                moves[count] = move
                count += 1
        count = list_moves(DROP + PAWN, places & ~checking, moves, count)
    squares = gap & last_ranks(side, 1)
    for place in (2, 1, 0):
        count = _list_drops_from(place, hand, squares, moves, count)
        gap &= ~squares
        squares = gap & last_ranks(side, 2) if place == 2 else gap
    return count


@rule
def without_suicides(moves: Uint16Array, first: int, count: int, king: int, forbidden: int, pinned: int) -> int:
    """Replace each move from `first` on that leaves the king to be taken by the last one; returns how many are left.

    The king may not go to the squares `forbidden`; `pinned` pieces move on the line from it only.
    """
    while first < count:
        move = wide(moves[first])
        target, origin = move & SEVEN_BITS, move >> ORIGIN & SEVEN_BITS
        if origin == king:
            illegal = bool(forbidden & bit(target))
        else:
            illegal = bool(pinned & bit(origin)) and not line_through(king, origin) & bit(target)
        if illegal:
            count -= 1
            moves[first] = moves[count]
        else:
            first += 1
    return count


@inlined
def list_legal(state: Record, hand: int, origins: int, targets: int, moves: Uint16Array) -> int:
    """Those legal moves that go from some squares, or drop what is in `hand`, to some squares: see `legal_moves`."""
    board, side = board_of(state), wide(state.turn)
    king, enemy_king = wide(state.kings[side]), wide(state.kings[1 - side])
    blockers, own = occupied(board), of_side(board, side)
    men, enemies = army(board, side), army(board, 1 - side)
    steps = reach(KING, king) & ~own & targets if bit(king) & origins else nothing()
    movers = among(men, origins)
    seen_through = blockers & ~bit(king)
    pinned = own & screens(enemies, 1 - side, king, blockers)
    if not state.check:
        empty = ~blockers & fixed(BOARD) & targets
        doubtful = list_drops(board, side, enemy_king, hand, empty, moves, wide(0))
        count = list_pieces(movers, side, blockers, anywhere(~own & targets), moves, doubtful)
        if not pinned:
            doubtful = count
        count = list_moves(king, steps, moves, count)
    else:
        doubtful = 0
        checkers = attackers(enemies, 1 - side, king, blockers)
        # cshogi does not list the squares that the checking pieces attack in the first place.
        steps &= ~attacked(among(enemies, checkers), 1 - side, seen_through)
        count = list_moves(king, steps, moves, wide(0))
        if not without_lowest(checkers):
            gap = between(king, lowest(checkers))
            count = list_pieces(movers, side, blockers, anywhere((gap | checkers) & targets), moves, count)
            count = list_drops(board, side, enemy_king, hand, gap & targets, moves, count)
    return without_suicides(
        moves, doubtful, count, king, attacked(enemies, 1 - side, seen_through) if steps else nothing(), pinned
    )


@rule
def legal_moves(state: Record, moves: Uint16Array) -> int:
    """Fill `moves`, uint16 [MOST_MOVES], with the legal moves of a state; returns how many there are."""
    return list_legal(state, state.hands[wide(state.turn)], ~nothing(), ~nothing(), moves)


@rule
def is_legal(state: Record, move: int, moves: Uint16Array) -> bool:
    """Whether any 16 bits are a legal move of a state; `moves` is room for some."""
    origin, hand, origins = move >> ORIGIN & SEVEN_BITS, word(0), nothing()
    if origin <= DROP:
        origins = bit(origin)
    elif origin <= DROP + GOLD:
        hand = state.hands[wide(state.turn)] & one_kind(origin - DROP)
    place, number = 0, list_legal(state, hand, origins, bit(move & SEVEN_BITS), moves)
    while place < number and moves[place] != move:
        place += 1
    return place < number
