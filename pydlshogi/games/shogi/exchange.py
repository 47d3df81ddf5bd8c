"""What captures on one square win, compiled: the static exchange evaluation of a board.

Both sides capture on the square with their cheapest piece first, and each may stop. Pins are not looked at.
"""

from typing import Final

import numpy as np

from pydlshogi.games.shogi.board import Army, Board, among, army, attackers, occupied, of_kind, of_side, piece_at
from pydlshogi.games.shogi.names import (
    BISHOP,
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
from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.kernels.bits import bit, lowest
from pydlshogi.support.kernels.compiled import inlined, rule, wide

_ON_BOARD: Final = {
    PAWN: 90,
    LANCE: 315,
    KNIGHT: 405,
    SILVER: 495,
    GOLD: 540,
    BISHOP: 855,
    ROOK: 990,
    PROM_BISHOP: 945,
    PROM_ROOK: 1395,
    **dict.fromkeys((kind + PROMOTED for kind in (PAWN, LANCE, KNIGHT, SILVER)), 540),
}


def _swings() -> Int64Array:
    swings = np.zeros(COLOUR, np.int64)
    for kind, value in _ON_BOARD.items():
        swings[kind] = value + _ON_BOARD[kind if kind <= GOLD else kind - PROMOTED]
    swings[KING] = 30000
    return swings


SWING: Final = _swings()
"""int64 [16]: by cshogi's kind of a piece, the centipawns by which its capture changes the balance: what it was worth
on the board and what it is worth in the hand of who takes it (values of Apery and YaneuraOu)."""
_CHEAPEST_FIRST: Final = np.array([kind for kind in np.argsort(SWING, kind="stable") if SWING[kind]])


@inlined
def _cheapest(board: Board, squares: int) -> int:
    """The kind of the cheapest piece on some squares, of which at least one has a piece."""
    place = 0
    while not of_kind(board, squares, _CHEAPEST_FIRST[place]):
        place += 1
    return wide(_CHEAPEST_FIRST[place])


@rule
def exchange(board: Board, square: int, side: int) -> int:
    """Centipawns that a side wins, at least 0, if it begins to capture on a square where a piece of the other stands.

    The value of stopping after each capture is the balance so far; alpha-beta over these needs no list of them.
    """
    blockers = occupied(board)
    men = army(board, side)
    others = army(board, 1 - side)
    standing, balance = SWING[piece_at(board, square) & 15], 0
    least, most = 0, wide(1 << 20)
    ours = True
    while least < most:
        attacking = _attacking(men if ours else others, side if ours else 1 - side, square, blockers)
        if not attacking:
            break
        kind = _cheapest(board, attacking)
        if kind == KING and _attacking(others if ours else men, 1 - side if ours else side, square, blockers):
            break
        balance += standing if ours else -standing
        blockers &= ~bit(lowest(of_kind(board, attacking, kind)))
        standing = SWING[kind]
        ours = not ours
        if ours:
            least = max(least, balance)
        else:
            most = min(most, balance)
    if least < most:
        return wide(min(max(balance, least), most))
    return most if ours else least


@inlined
def _attacking(men: Army, side: int, square: int, blockers: int) -> int:
    """Those of the pieces that still stand and attack a square."""
    return attackers(among(men, blockers), side, square, blockers) & ~bit(square)


@rule
def best_exchanges(board: Board, side: int, reached: int, guarded: int) -> tuple[int, int]:
    """The two best exchanges, on different squares, that a side may begin, in centipawns; 0 where there is none.

    `reached`: what the side attacks; `guarded`: what the other side attacks. A piece not guarded is won whole."""
    best = second = wide(0)
    targets = of_side(board, 1 - side) & reached
    while targets:
        square = lowest(targets)
        targets &= ~bit(square)
        kind = piece_at(board, square) & 15
        if kind == KING:
            continue
        gain = exchange(board, square, side) if bit(square) & guarded else wide(SWING[kind])
        if gain > best:
            best, second = gain, best
        elif gain > second:
            second = gain
    return best, second
