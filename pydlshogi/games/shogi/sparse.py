"""How a sparse network sees shogi: the numbers of the feature rows of a position, and the labels of its legal moves.

As in the other encodings the board is seen by the side to move: for White it is turned by 180 degrees. A feature says
of a piece where it stands and whether it is attacked and defended, of a hand what is in it, where the last two moves
went, what stands beside the kings and who controls the squares there, and what exchanges win.

A move is labelled by three numbers: its direction, destination and what becomes of it there; the pieces that move and
are taken; and how safe its two squares are.
"""

from math import prod
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.encoding import no_planes
from pydlshogi.games.shogi.board import (
    DROP,
    ORIGIN,
    PROMOTE,
    SEVEN_BITS,
    Board,
    army,
    diagonal,
    down,
    forward,
    held,
    left,
    occupied,
    of_kind,
    of_side,
    piece_at,
    reach,
    right,
    straight,
    up,
)
from pydlshogi.games.shogi.encodings import DLSHOGI, ENCODINGS, dlshogi_label
from pydlshogi.games.shogi.exchange import SWING, best_exchanges
from pydlshogi.games.shogi.names import (
    BISHOP,
    BLACK,
    COLOUR,
    GOLD,
    KING,
    KNIGHT,
    LANCE,
    NUM_LABELS,
    PAWN,
    PROM_BISHOP,
    PROM_ROOK,
    PROMOTED,
    ROOK,
    SILVER,
    WHITE,
)
from pydlshogi.games.shogi.state import board_of
from pydlshogi.games.shogi.tables import ABOVE_H, BELOW_B
from pydlshogi.support.arrays import Int8Array, Int32Array, Record, Uint16Array, Uint32Array
from pydlshogi.support.kernels.bits import bit, fixed, lowest, mirrored, nothing, without_lowest
from pydlshogi.support.kernels.compiled import inlined, rule, wide

_KINDS: Final = PROM_ROOK
_SIDES: Final = 2
_SAFETY: Final = 5
"""A piece is: not attacked, not attacked but defended; attacked and defended by pieces no cheaper than itself; attacked
by a cheaper one; attacked and not defended."""
_NEAR: Final = 49
"""Squares at most three steps from a king."""
_BESIDE: Final = 8
_CONTROL: Final = 6
"""Of a square beside a king: how many enemies attack it (0, 1, more), and whether others than the king defend it."""
_MOST_HELD: Final = 18
_STEPS: Final = 4
_GAINS: Final = 24
_GAIN_WIDTH: Final = 100
"""Centipawns."""

# Where the rows of each sort of feature begin.
_PIECES: Final = 0
_HELD: Final = _PIECES + _SIDES * _KINDS * 81 * _SAFETY
_CHECK: Final = _HELD + _SIDES * 7 * _MOST_HELD
_LAST: Final = _CHECK + 1
_EXCHANGES: Final = _LAST + _STEPS * 81
_NEIGHBOURS: Final = _EXCHANGES + 2 * _SIDES * _GAINS
_AROUND: Final = _NEIGHBOURS + _SIDES * _SIDES * _KINDS * _NEAR
_FEATURES: Final = _AROUND + _SIDES * _BESIDE * _CONTROL
_MOST_FEATURES: Final = 40 + _SIDES * 7 + 1 + _STEPS + 2 * _SIDES + _SIDES * (40 + _BESIDE)

# The parts of a label.
_FATES: Final = 4
_LOSES, _EVEN, _WINS, _CHECKS = range(_FATES)
_TAKEN: Final = _KINDS + 1
_MOVING: Final = _KINDS + 7
_WEIGHTS: Final = 5
_DESTINATIONS: Final = 6
_ORIGINS: Final = 3
_EXPOSED: Final = np.array([0, 0, 1, 2, 2], np.int8)
"""How a piece stands before it moves, by its safety: not attacked (or dropped), attacked, to be lost."""
_LABEL_PARTS: Final = (NUM_LABELS * _FATES, _MOVING * _TAKEN * 2, _WEIGHTS * _DESTINATIONS * _ORIGINS * 2)

_WEIGHT: Final[Int8Array] = np.zeros(COLOUR, np.int8)
"""By kind: pawn, minor piece, gold, major piece, king; a cheaper attacker is one of a lower number."""
for _weight, _members in enumerate(
    (
        (PAWN,),
        (LANCE, KNIGHT, SILVER),
        (GOLD, *(kind + PROMOTED for kind in (PAWN, LANCE, KNIGHT, SILVER))),
        (BISHOP, ROOK, PROM_BISHOP, PROM_ROOK),
        (KING,),
    )
):
    _WEIGHT[list(_members)] = _weight
_COST: Final = np.array([180, 810, 1080, 1900, 30000], np.int64)
"""About what a piece of each weight is worth to who takes it, as `SWING`."""


def _nearness() -> Int8Array:
    files, ranks = np.divmod(np.arange(81), 9)
    across, along = files[None, :] - files[:, None], ranks[None, :] - ranks[:, None]
    near = (abs(across) <= 3) & (abs(along) <= 3)
    return np.where(near, 7 * (across + 3) + along + 3, -1).astype(np.int8)


_NEARNESS: Final = _nearness()
"""int8 [81, 81]: by the squares of a king and a piece, the number of the latter among those near the king, or -1."""


class Control(NamedTuple):
    """What the pieces of a side attack."""

    once: int
    twice: int
    """By two pieces at least."""
    pawns: int
    """What its pieces attack up to a weight: pawns alone,"""
    minors: int
    """these and lances, knights and silvers,"""
    golds: int
    """these and golds and what moves like them,"""
    majors: int
    """all but the king."""


@inlined
def _more(once: int, twice: int, squares: int) -> tuple[int, int]:
    return once | squares, twice | (once & squares)


@rule
def _control(board: Board, side: int) -> Control:
    men, blockers = army(board, side), occupied(board)
    golden = men.golds
    once, twice = up(men.pawns) if side == BLACK else down(men.pawns), nothing()
    pawns = once
    ahead = up(men.silvers) if side == BLACK else down(men.silvers)
    jumps = (men.knights & fixed(BELOW_B)) >> 2 if side == BLACK else (men.knights & fixed(ABOVE_H)) << 2
    above, below = up(men.silvers), down(men.silvers)
    for squares in (ahead, left(jumps), right(jumps), left(above), right(above), left(below), right(below)):
        once, twice = _more(once, twice, squares)
    lances = men.lances
    while lances:
        once, twice = _more(once, twice, forward(side, lowest(lances), blockers))
        lances = without_lowest(lances)
    minors = once
    above, below = up(golden), down(golden)
    ahead = above if side == BLACK else below
    for squares in (above, below, left(golden), right(golden), left(ahead), right(ahead)):
        once, twice = _more(once, twice, squares)
    golds = once
    movers = men.bishops | men.horses
    while movers:
        once, twice = _more(once, twice, diagonal(lowest(movers), blockers))
        movers = without_lowest(movers)
    movers = men.rooks | men.dragons
    while movers:
        once, twice = _more(once, twice, straight(lowest(movers), blockers))
        movers = without_lowest(movers)
    above, below = up(men.dragons), down(men.dragons)
    for squares in (left(above), right(above), left(below), right(below)):
        once, twice = _more(once, twice, squares)
    horses = men.horses
    for squares in (up(horses), down(horses), left(horses), right(horses)):
        once, twice = _more(once, twice, squares)
    majors = once
    if men.kings:
        once, twice = _more(once, twice, reach(KING, lowest(men.kings)))
    return Control(once, twice, pawns, minors, golds, majors)


@inlined
def _cheapest_weight(control: Control, square: int) -> int:
    """The weight of the cheapest piece that attacks `square`, one bit, which is attacked."""
    if square & control.pawns:
        return 0
    if square & control.minors:
        return 1
    if square & control.golds:
        return 2
    return 3 if square & control.majors else 4


@inlined
def _turned(squares: int, turn: int) -> int:
    return mirrored(squares) >> 47 if turn == WHITE else squares  # bit 80 of 128 becomes bit 0


@rule
def _seen(state: Record) -> Board:
    """The board of a state as the side to move sees it: its pieces are Black's."""
    board, turn = board_of(state), wide(state.turn)
    return Board(
        _turned(board.ones, turn),
        _turned(board.twos, turn),
        _turned(board.fours, turn),
        _turned(board.eights, turn),
        _turned(of_side(board, 1 - turn), turn),
    )


@inlined
def _safety(kind: int, square: int, attackers: Control, defenders: Control) -> int:
    """How safe a piece of a kind is on a square, one bit: 0 to 4, see _SAFETY."""
    defended = 1 if square & defenders.once else 0
    if not square & attackers.once:
        return defended
    if not defended:
        return 4
    return 3 if _cheapest_weight(attackers, square) < _WEIGHT[kind] else 2


@rule
def pack(state: Record, words: Uint32Array) -> None:
    """Fill uint32 [1 + most features] with the number of features, and their rows."""
    board = _seen(state)
    own, other = _control(board, 0), _control(board, 1)
    kings = of_kind(board, occupied(board), KING)
    count = 0
    for side in range(_SIDES):
        attackers, defenders = (other, own) if side == 0 else (own, other)
        ours = of_side(board, side)
        pieces = ours
        while pieces:
            square = lowest(pieces)
            pieces = without_lowest(pieces)
            kind = piece_at(board, square) & 15
            piece = _KINDS * side + kind - 1
            count += 1
            words[count] = (piece * 81 + square) * _SAFETY + _safety(kind, bit(square), attackers, defenders)
            for whose in range(_SIDES):
                king = kings & of_side(board, whose)
                if king:
                    near = wide(_NEARNESS[lowest(king), square])
                    if near >= 0:
                        count += 1
                        words[count] = _NEIGHBOURS + (_SIDES * _KINDS * whose + piece) * _NEAR + near
        hand = state.hands[state.turn if side == 0 else 1 - state.turn]
        for kind in range(PAWN, 8):
            many = held(hand, kind)
            if many:
                count += 1
                words[count] = _HELD + (7 * side + kind - 1) * _MOST_HELD + many - 1
        king = kings & ours
        if king:
            around = reach(KING, lowest(king))
            while around:
                beside = around & ~without_lowest(around)
                around = without_lowest(around)
                square = _direction_from(lowest(king), lowest(beside))
                many = 2 if beside & attackers.twice else 1 if beside & attackers.once else 0
                guarded = 1 if beside & (defenders.twice | defenders.majors) else 0
                count += 1
                words[count] = _AROUND + (_BESIDE * side + square) * _CONTROL + 2 * many + guarded
    if state.check:
        count += 1
        words[count] = _CHECK
    for i in range(_STEPS):
        step = wide(state.steps[i])
        if step:
            count += 1
            words[count] = _LAST + 81 * i + (81 - step if state.turn else step - 1)
    for side in range(_SIDES):
        mine, theirs = (own, other) if side == 0 else (other, own)
        best, second = best_exchanges(board, side, mine.once, theirs.once)
        for rank in range(2):
            gain = best if rank == 0 else second
            count += 1
            words[count] = (
                _EXCHANGES + (2 * side + rank) * _GAINS + min((gain + _GAIN_WIDTH - 1) // _GAIN_WIDTH, _GAINS - 1)
            )
    words[0] = count


@inlined
def _direction_from(king: int, beside: int) -> int:
    """The number of a square beside a king, 0 to 7."""
    place = 3 * (beside // 9 - king // 9 + 1) + beside % 9 - king % 9 + 1
    return place - 1 if place > 4 else place


@inlined
def _checks(kind: int, square: int, king: int, files: int, diagonals: int) -> bool:
    """Whether a piece of the side to move gives check from a square, one bit, to the enemy's king.

    `files` and `diagonals`: what a rook and a bishop would attack from where the king stands.
    """
    reached = reach(COLOUR + kind, king)
    if kind == LANCE:
        reached &= files
    elif kind == ROOK:
        reached = files
    elif kind == BISHOP:
        reached = diagonals
    elif kind == PROM_ROOK:
        reached = files | reach(KING, king)
    elif kind == PROM_BISHOP:
        reached = diagonals | reach(KING, king)
    return bool(square & reached)


@rule
def label_moves(state: Record, moves: Uint16Array, count: int, out: Int32Array) -> None:
    """Fill the first `count` of `out` with the labels of legal moves."""
    board = _seen(state)
    blockers = occupied(board)
    own, other = _control(board, 0), _control(board, 1)
    king_squares = of_kind(board, of_side(board, 1), KING)
    king = lowest(king_squares) if king_squares else wide(81)
    files = straight(king, blockers) if king_squares else nothing()
    diagonals = diagonal(king, blockers) if king_squares else nothing()
    last = wide(state.steps[0]) - 1
    before = kind = wide(-1)
    exposed = wide(0)
    for i in range(count):
        move = wide(moves[i])
        target, origin = move & SEVEN_BITS, move >> ORIGIN & SEVEN_BITS
        retakes = 1 if target == last else 0
        if state.turn:
            target = 80 - target
        there = bit(target)
        taken = wide(0)
        if origin > DROP:
            kind = origin - DROP
            becomes = kind
            moving = _KINDS + kind - 1
            guarded = 1 if there & own.once else 0
            danger_here = wide(0)
            before = wide(-1)
        else:
            if origin != before:
                before = origin
                here = 80 - origin if state.turn else origin
                kind = piece_at(board, here) & 15
                exposed = wide(_EXPOSED[_safety(kind, bit(here), other, own)])
            becomes = kind + PROMOTED if move & PROMOTE else kind
            moving = kind - 1
            if there & blockers:
                taken = wide(piece_at(board, target) & 15)
            guarded = 1 if there & own.twice else 0
            danger_here = exposed
        gain = SWING[taken]
        danger = 0
        if there & other.once:
            attacker = _cheapest_weight(other, there)
            danger = 2 if attacker < _WEIGHT[becomes] else 1
            if not guarded:
                gain -= SWING[becomes]
            elif attacker < 4:
                gain -= max(0, SWING[becomes] - _COST[attacker])
        checking = 1 if _checks(becomes, there, king, files, diagonals) else 0
        fate = _LOSES if gain < 0 else _CHECKS if checking else _WINS if gain > 0 else _EVEN
        first = wide(dlshogi_label(state, move)) * _FATES + fate
        second = (moving * _TAKEN + taken) * 2 + retakes
        third = ((_WEIGHT[becomes] * _DESTINATIONS + 2 * danger + guarded) * _ORIGINS + danger_here) * 2 + checking
        out[i] = (first * _LABEL_PARTS[1] + second) * _LABEL_PARTS[2] + third


SPARSE: Final = DLSHOGI._replace(
    name="shogi_sparse",
    planes=0,
    labels=prod(_LABEL_PARTS),
    words=1 + _MOST_FEATURES,
    label_moves=label_moves,
    pack=pack,
    list_active=no_planes,
    symmetries=(),
    parts=(),
    features=_FEATURES,
    label_parts=_LABEL_PARTS,
)

ALL_ENCODINGS: Final = (*ENCODINGS, SPARSE)
