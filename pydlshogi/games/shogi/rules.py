"""The rules of shogi, compiled: `RULES`. There are no others: searches, positions and records go by them."""

from typing import Final

import numpy as np

from pydlshogi.game import DRAWN, UNDECIDED, Rules
from pydlshogi.games.shogi.board import army, has_all, held, of_side
from pydlshogi.games.shogi.moves import MOST_MOVES, legal_moves, zone
from pydlshogi.games.shogi.names import BISHOP, PAWN, ROOK
from pydlshogi.games.shogi.short_mates import SCRATCH, mate_within_three
from pydlshogi.games.shogi.state import STATE, board_key, board_of, key, play
from pydlshogi.support.arrays import Record, Records, Uint16Array
from pydlshogi.support.kernels.bits import bit, count
from pydlshogi.support.kernels.compiled import rule, wide

SETTINGS: Final = np.dtype(
    [
        ("draw_ply", np.int32),  # the last move of the game; 0: there is none
        ("mate_plies", np.int32),  # the longest mates that are seen
        ("points", np.int32, 2),  # what Black and White need to declare
    ]
)
"""What the rules need to know of a game."""

_WON: Final = 1
_LOST: Final = -1
_IN_ONE: Final = 2
_FEWEST_INVADERS: Final = 10


@rule
def declares(state: Record, settings: Record) -> bool:
    """The side to move may win by declaration.

    Its king stands on the three farthest ranks, not in check, and at least ten of its other pieces; these and those in
    hand are worth the points, a bishop or a rook 5, the others 1.
    """
    board, side = board_of(state), wide(state.turn)
    camp = zone(side)
    if state.check or not camp & bit(wide(state.kings[side])):
        return False
    invaders = count(of_side(board, side) & camp) - 1
    if invaders < _FEWEST_INVADERS:
        return False
    men, hand = army(board, side), state.hands[side]
    points = invaders + 4 * count((men.bishops | men.rooks | men.horses | men.dragons) & camp)
    for kind in range(PAWN, 8):
        points += held(hand, kind)
    points += 4 * (held(hand, BISHOP) + held(hand, ROOK))
    return bool(points >= settings.points[side])


@rule
def verdict(state: Record, ply: int, moves: Uint16Array, number: int, settings: Record, scratch: Record) -> int:
    """Draw by the number of moves, declaration, a mate within `mate_plies`; not by missing legal moves.

    `number`: of the legal moves, which are in `moves`. Where a king is missing only mates in one are seen.
    """
    if settings.draw_ply and ply > settings.draw_ply:
        return UNDECIDED if state.check and number == 0 else DRAWN
    if declares(state, settings):
        return _IN_ONE
    plies = wide(settings.mate_plies)
    if settings.draw_ply:
        plies = min(plies, wide(settings.draw_ply) - ply + 1)
    mate = mate_within_three(state, plies, moves, number, scratch)
    return mate + 1 if mate else UNDECIDED


@rule
def _always_in_check(trail: Records, last: int) -> bool:
    """Whether the side to move at trail[last] is in check there and each time before, but for the first position."""
    always = True
    for i in range(last, 0, -2):
        always &= trail[i].check != 0
    return always


@rule
def repetition(trail: Records, distance: int) -> int:
    """The verdict on trail[distance] if its board stood at trail[0] too, with the same side to move.

    A draw; or won or lost, if the opponent or the side to move gave check with every move since. With another hand: won
    or lost for the side to move if it has more or less than then.
    """
    now, then = trail[distance], trail[0]
    if now.hands_key == then.hands_key:
        if _always_in_check(trail, distance - 1):
            return _LOST
        return _WON if _always_in_check(trail, distance) else DRAWN
    side = wide(now.turn)
    if has_all(now.hands[side], then.hands[side]):
        return _WON
    return _LOST if has_all(then.hands[side], now.hands[side]) else UNDECIDED


RULES: Final = Rules(
    name="shogi",
    state=STATE,
    settings=SETTINGS,
    scratch=SCRATCH,
    most_moves=MOST_MOVES,
    average_moves=80,
    repeats=True,
    play=play,
    key=key,
    board_key=board_key,
    legal_moves=legal_moves,
    verdict=verdict,
    repetition=repetition,
)
