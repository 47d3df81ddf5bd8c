"""Checks, and mates in one and three plies, compiled.

They are exact, and complete but where a pawn interposed would parry a mate by being mate itself, which is against the
rules. A mating move is looked for backwards: the attackers leave the king some squares to flee to, the piece that gives
check must cover all of these, and mostly there is no square from which one could. Only what passes this sieve is played
and answered.
"""

from typing import Final, NamedTuple

import numpy as np

from pydlshogi.games.shogi.board import (
    DROP,
    ORIGIN,
    SEVEN_BITS,
    Aims,
    Army,
    Board,
    Cover,
    among,
    army,
    attacked,
    attackers,
    between,
    cover,
    diagonal,
    hand_after,
    held,
    line_through,
    moved,
    occupied,
    of_side,
    reach,
    screens,
    straight,
)
from pydlshogi.games.shogi.moves import (
    MOST_MOVES,
    anywhere,
    drop_places,
    escapes,
    legal_moves,
    list_drops,
    list_moves,
    list_pieces,
    pawn_places,
    without_suicides,
)
from pydlshogi.games.shogi.names import BISHOP, COLOUR, GOLD, KING, KNIGHT, LANCE, PAWN, ROOK, SILVER
from pydlshogi.games.shogi.state import board_of, play
from pydlshogi.games.shogi.tables import AXIS, NO_AXIS, NO_SQUARE
from pydlshogi.support.arrays import Record, Uint16Array
from pydlshogi.support.kernels.bits import bit, lowest, nothing, without_lowest
from pydlshogi.support.kernels.compiled import inlined, rule, wide, word

SCRATCH: Final = np.dtype([(ply, np.uint16, MOST_MOVES) for ply in ("first", "second", "third")])
"""Room for the moves of each ply of a mate in three."""


class Lists(NamedTuple):
    """Lists of a record of SCRATCH as arrays like any other: numba compiles a function anew for its fields."""

    first: Uint16Array
    second: Uint16Array
    third: Uint16Array


@inlined
def _checking(side: int, king: int, blockers: int) -> Aims:
    """From where pieces of a side give check to the enemy's king."""
    seen_back = COLOUR * (1 - side)
    straights, diagonals, around = straight(king, blockers), diagonal(king, blockers), reach(KING, king)
    return Aims(
        pawns=reach(seen_back + PAWN, king),
        lances=straights & reach(seen_back + LANCE, king),
        knights=reach(seen_back + KNIGHT, king),
        silvers=reach(seen_back + SILVER, king),
        golds=reach(seen_back + GOLD, king),
        bishops=diagonals,
        rooks=straights,
        horses=diagonals | around,
        dragons=straights | around,
    )


@inlined
def _covering(aims: Aims, side: int, flights: int) -> Aims:
    """Those of the squares from which a piece attacks all `flights`, or would on an empty board."""
    seen_back = COLOUR * (1 - side)
    pawns, lances, knights, silvers, golds, bishops, rooks, horses, dragons = aims
    while flights:
        flight = lowest(flights)
        lances &= reach(seen_back + LANCE, flight)
        silvers &= reach(seen_back + SILVER, flight)
        golds &= reach(seen_back + GOLD, flight)
        crosswise, endwise, around = reach(BISHOP, flight), reach(ROOK, flight), reach(KING, flight)
        bishops &= crosswise
        rooks &= endwise
        horses &= crosswise | around
        dragons &= endwise | around
        pawns = knights = nothing()
        flights = without_lowest(flights)
    return Aims(pawns, lances, knights, silvers, golds, bishops, rooks, horses, dragons)


@inlined
def _within(aims: Aims, squares: int) -> Aims:
    pawns, lances, knights, silvers, golds, bishops, rooks, horses, dragons = aims
    return Aims(
        pawns & squares,
        lances & squares,
        knights & squares,
        silvers & squares,
        golds & squares,
        bishops & squares,
        rooks & squares,
        horses & squares,
        dragons & squares,
    )


@inlined
def _any(aims: Aims) -> bool:
    pawns, lances, knights, silvers, golds, bishops, rooks, horses, dragons = aims
    return bool(pawns | lances | knights | silvers | golds | bishops | rooks | horses | dragons)


@inlined
def _drops(aims: Aims, hand: int, empty: int) -> Aims:
    """Where the pieces in a hand may be dropped, of the squares they aim at; pawns nowhere."""
    nowhere = nothing()
    return Aims(
        pawns=nowhere,
        lances=aims.lances & empty if held(hand, LANCE) else nowhere,
        knights=aims.knights & empty if held(hand, KNIGHT) else nowhere,
        silvers=aims.silvers & empty if held(hand, SILVER) else nowhere,
        golds=aims.golds & empty if held(hand, GOLD) else nowhere,
        bishops=aims.bishops & empty if held(hand, BISHOP) else nowhere,
        rooks=aims.rooks & empty if held(hand, ROOK) else nowhere,
        horses=nowhere,
        dragons=nowhere,
    )


@rule
def _list_aimed_drops(drops: Aims, moves: Uint16Array) -> int:
    number = list_moves(DROP + LANCE, drops.lances, moves, wide(0))
    number = list_moves(DROP + KNIGHT, drops.knights, moves, number)
    number = list_moves(DROP + SILVER, drops.silvers, moves, number)
    number = list_moves(DROP + GOLD, drops.golds, moves, number)
    number = list_moves(DROP + BISHOP, drops.bishops, moves, number)
    return list_moves(DROP + ROOK, drops.rooks, moves, number)


@rule
def _list_discovered_checks(
    men: Army,
    side: int,
    blockers: int,
    own: int,
    discovering: int,
    own_king: int,
    king: int,
    moves: Uint16Array,
    number: int,
) -> int:
    """List the moves by which pieces step out of the way of their own sliding ones to the enemy's king."""
    while discovering:
        origin = lowest(discovering)
        aside = ~(own | line_through(king, origin))
        if origin == own_king:
            number = list_moves(origin, reach(KING, origin) & aside, moves, number)
        else:
            number = list_pieces(among(men, bit(origin)), side, blockers, anywhere(aside), moves, number)
        discovering = without_lowest(discovering)
    return number


@rule
def list_checks(state: Record, moves: Uint16Array, after: Record) -> int:
    """Fill `moves` with the legal moves that give check; returns how many there are. `after`: room for a state.

    Promotions come right before the same moves without. The enemy's king stands.
    """
    if state.check:
        kept = wide(0)
        for i in range(legal_moves(state, moves)):
            play(state, moves[i], after)
            if after.check:
                moves[kept] = moves[i]
                kept += 1
        return kept
    board, side = board_of(state), wide(state.turn)
    own_king, king, hand = wide(state.kings[side]), wide(state.kings[1 - side]), state.hands[side]
    blockers, own = occupied(board), of_side(board, side)
    men, enemies = army(board, side), army(board, 1 - side)
    checking = _checking(side, king, blockers)
    number = _list_aimed_drops(_drops(checking, hand, ~blockers), moves)
    if held(hand, PAWN):
        places = reach(COLOUR * (1 - side) + PAWN, king) & pawn_places(men, side) & ~blockers
        if places:
            move = lowest(places) | (DROP + PAWN) << ORIGIN
            if escapes(moved(board, side, move), 1 - side, king, word(0)):
                moves[number] = move
                number += 1
    doubtful = number
    discovering = own & screens(men, side, king, blockers)
    number = list_pieces(among(men, ~discovering), side, blockers, _within(checking, ~own), moves, number)
    forbidden = nothing()
    while discovering:
        origin = lowest(discovering)
        line = line_through(king, origin)
        aside = ~(own | line)
        if origin == own_king:
            number = list_moves(origin, reach(KING, origin) & aside, moves, number)
            forbidden = attacked(enemies, 1 - side, blockers & ~bit(own_king))
        else:
            man = among(men, bit(origin))
            number = list_pieces(man, side, blockers, _within(checking, line & ~own), moves, number)
            number = list_pieces(man, side, blockers, anywhere(aside), moves, number)
        discovering = without_lowest(discovering)
    pinned = own & screens(enemies, 1 - side, own_king, blockers)
    return without_suicides(moves, doubtful, number, own_king, forbidden, pinned)


@inlined
def cover_of(board: Board, side: int, king: int) -> Cover:
    """What a side covers, seen through the enemy's king."""
    return cover(army(board, side), side, occupied(board) & ~bit(king), of_side(board, side))


@inlined
def _exposed(board: Board, side: int, king: int) -> bool:
    """The king of a side is attacked."""
    return bool(attackers(army(board, 1 - side), 1 - side, king, occupied(board)))


@inlined
def _king_after(king: int, move: int) -> int:
    """Where a king stands after a move of its side."""
    return move & SEVEN_BITS if (move >> ORIGIN) & SEVEN_BITS == king else king


@rule
def mate_in_one(
    board: Board, side: int, own_king: int, king: int, hand: int, enemy_hand: int, cover: Cover, moves: Uint16Array
) -> int:
    """A move that mates at once, or 0. The side is not in check.

    `cover`: as `cover_of` says. `moves`: room for a list.
    """
    enemy, own, blockers = 1 - side, of_side(board, side), occupied(board)
    men, around = army(board, side), reach(KING, king)
    flights = around & ~((blockers & ~own) | cover.once)
    checking = _checking(side, king, blockers)
    covering = _covering(checking, side, flights)
    drops = _drops(covering, hand, ~blockers)
    # Beside the king a piece must be guarded by another one, if only by one that stood behind it.
    landing = cover.once & ~own & (cover.twice | cover.behind | ~around)
    steps = _within(covering, landing)
    opened = flights & cover.behind
    screening = screens(men, side, king, blockers)
    if not (_any(drops) or _any(steps) or opened or own & screening):
        return 0
    number = _list_aimed_drops(drops, moves)
    if _any(steps):
        number = list_pieces(men, side, blockers, steps, moves, number)
    if opened:
        steps = _within(_covering(checking, side, flights & ~opened), landing)
        number = list_pieces(among(men, cover.xray_blockers), side, blockers, steps, moves, number)
    number = _list_discovered_checks(men, side, blockers, own, own & screening, own_king, king, moves, number)
    if number == 0:
        return 0
    # Nor may a piece that is free to do so take it or step between, unless the move changes what is free to do so.
    enemies = among(army(board, enemy), blockers & ~(own | bit(king)))
    answered = attacked(among(enemies, ~screening), enemy, blockers)
    filled = (answered | drop_places(enemies, enemy, enemy_hand)) & ~blockers
    unpredictable = own & (cover.xray_blockers | screening)
    for i in range(number):
        move = wide(moves[i])
        target = move & SEVEN_BITS
        if not unpredictable & bit(move >> ORIGIN & SEVEN_BITS):
            taking = blockers & bit(target)
            if answered & bit(target) or (not taking and filled & between(king, target)):
                continue
        after = moved(board, side, move)
        if not escapes(after, enemy, king, enemy_hand) and not _exposed(after, side, _king_after(own_king, move)):
            return move
    return 0


@rule
def _list_other_evasions(board: Board, side: int, king: int, enemy_king: int, hand: int, moves: Uint16Array) -> int:
    """List the legal moves, but those of the king, of a side in check."""
    blockers, own = occupied(board), of_side(board, side)
    men, enemies = army(board, side), army(board, 1 - side)
    checkers = attackers(enemies, 1 - side, king, blockers)
    if without_lowest(checkers):
        return 0
    gap = between(king, lowest(checkers))
    free = own & ~screens(enemies, 1 - side, king, blockers)
    number = list_pieces(among(men, free), side, blockers, anywhere(gap | checkers), moves, wide(0))
    return list_drops(board, side, enemy_king, hand, gap, moves, number)


@rule
def _parried(board: Board, side: int, own_king: int, king: int, hand: int, enemy_hand: int, lists: Lists) -> bool:
    """Whether the enemy, whom the side gave check, has a move after which no move mates. A counter-check is one."""
    enemy, own = 1 - side, of_side(board, side)
    cover = cover_of(board, side, king)
    flights = reach(KING, king) & ~(of_side(board, enemy) | cover.once)
    discovers = False
    if AXIS[own_king, king] != NO_AXIS:
        discovers = bool(screens(army(board, enemy), enemy, own_king, occupied(board)) & bit(king))
    while flights:
        quiet = flights & ~own
        flight = lowest(quiet if quiet else flights)
        flights &= ~bit(flight)
        if discovers and not line_through(own_king, king) & bit(flight):
            return True
        move = flight | king << ORIGIN
        after, their_hand = moved(board, enemy, move), enemy_hand
        if not quiet:
            cover, their_hand = cover_of(after, side, flight), hand_after(board, enemy_hand, move)
        if not mate_in_one(after, side, own_king, flight, hand, their_hand, cover, lists.third):
            return True
    number = _list_other_evasions(board, enemy, king, own_king, enemy_hand, lists.second)
    for i in range(number):
        move = wide(lists.second[i])
        after, their_hand = moved(board, enemy, move), hand_after(board, enemy_hand, move)
        if _exposed(after, side, own_king):
            return True
        cover = cover_of(after, side, king)
        if not mate_in_one(after, side, own_king, king, hand, their_hand, cover, lists.third):
            return True
    return False


@rule
def forces_mate(state: Record, move: int, lists: Lists) -> bool:
    """Whether a legal move that gives check mates at once, or in three whatever the enemy does. Both kings stand."""
    board, side = board_of(state), wide(state.turn)
    own_king, king = _king_after(wide(state.kings[side]), move), wide(state.kings[1 - side])
    after, hand = moved(board, side, move), hand_after(board, state.hands[side], move)
    return not _parried(after, side, own_king, king, hand, state.hands[1 - side], lists)


@rule
def _mate_in_three(
    board: Board,
    side: int,
    own_king: int,
    king: int,
    hand: int,
    enemy_hand: int,
    cover: Cover,
    evasions: int,
    lists: Lists,
) -> int:
    """How many plies a mate within three takes, or 0: there is none.

    `evasions`: if the side is in check, how many legal moves it has, which are in `lists.first`; else 0.
    """
    enemy, own, blockers = 1 - side, of_side(board, side), occupied(board)
    number = evasions
    if not evasions:
        men = army(board, side)
        checking = _checking(side, king, blockers)
        number = _list_aimed_drops(_drops(checking, hand, ~blockers), lists.first)
        number = list_pieces(men, side, blockers, _within(checking, cover.once & ~own), lists.first, number)
        discovering = own & screens(men, side, king, blockers)
        number = _list_discovered_checks(men, side, blockers, own, discovering, own_king, king, lists.first, number)
        if held(hand, PAWN):
            places = reach(COLOUR * enemy + PAWN, king) & pawn_places(men, side) & ~blockers
            number = list_moves(DROP + PAWN, places, lists.first, number)
    doubtful = bit(own_king) | screens(army(board, enemy), enemy, own_king, blockers)
    for i in range(number):
        move = wide(lists.first[i])
        after, own_hand, stands = moved(board, side, move), hand_after(board, hand, move), _king_after(own_king, move)
        if evasions:
            if not _exposed(after, enemy, king):
                continue
        elif doubtful & bit(move >> ORIGIN & SEVEN_BITS) and _exposed(after, side, stands):
            continue
        if _parried(after, side, stands, king, own_hand, enemy_hand, lists):
            continue
        if escapes(after, enemy, king, enemy_hand):
            return 3
        if evasions or move >> ORIGIN != DROP + PAWN:  # a pawn may not be dropped to mate
            return 1
    return 0


@rule
def mate_within_three(state: Record, plies: int, moves: Uint16Array, number: int, scratch: Record) -> int:
    """How many plies the first mate found takes, of those within `plies`, 1 or 3; 0: there is none.

    `number`: of the legal moves, which are in `moves`. Where a king is missing only mates in one are looked for.
    """
    side = wide(state.turn)
    own_king, king = wide(state.kings[side]), wide(state.kings[1 - side])
    if king == NO_SQUARE or number == 0:
        return 0
    lists = Lists(scratch.first[:], scratch.second[:], scratch.third[:])
    board, hand, enemy_hand = board_of(state), state.hands[side], state.hands[1 - side]
    cover = cover_of(board, side, king)
    evasions = 0
    if state.check:
        evasions = number
        for i in range(number):
            lists.first[i] = moves[i]
    elif mate_in_one(board, side, own_king, king, hand, enemy_hand, cover, lists.third):
        return 1
    if plies < 3 or own_king == NO_SQUARE:
        return 0
    return _mate_in_three(board, side, own_king, king, hand, enemy_hand, cover, evasions, lists)
