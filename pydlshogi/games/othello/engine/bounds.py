"""What bounds the score of a position before its moves are tried: discs that can never be turned again, and a table of
what a solver has proven, which several threads may read and write at once.

An entry of the table is three words, and a thread may find words of two writers there. So the first is the mover's
discs mixed with the other two: it fits both, or the entry says nothing.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.games.othello.squares import ZERO
from pydlshogi.support.arrays import Records
from pydlshogi.support.kernels.compiled import compiled, inlined, wide, word

NOT_A: Final = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_H: Final = np.uint64(0x7F7F7F7F7F7F7F7F)
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_FILES: Final = np.uint64(0x8181818181818181)
_RANKS: Final = np.uint64(0xFF000000000000FF)
_ONE, _SEVEN, _EIGHT, _NINE = map(np.uint64, (1, 7, 8, 9))


@inlined
def _reached(squares: np.uint64, step: np.uint64, above: np.uint64, below: np.uint64) -> np.uint64:
    """The squares on the lines through `squares`: a step up ends in one of `above`, a step down in one of `below`."""
    up, down = squares, squares
    for _ in range(3):
        up |= above & (up << step)
        down |= below & (down >> step)
        above &= above << step
        below &= below >> step
        step += step
    return up | down


@compiled
def stable_discs(discs: np.uint64, empty: np.uint64) -> np.uint64:
    """A side's discs that are seen to be stable: on each line they end it, or nothing is empty there, or they stand
    beside another one.
    """
    rank = _FILES | ~_reached(empty, _ONE, NOT_A, NOT_H)
    file = _RANKS | ~_reached(empty, _EIGHT, _ALL, _ALL)
    rising = _FILES | _RANKS | ~_reached(empty, _NINE, NOT_A, NOT_H)
    falling = _FILES | _RANKS | ~_reached(empty, _SEVEN, NOT_H, NOT_A)
    stable, before = discs & rank & file & rising & falling, ZERO
    while stable != before:
        before = stable
        stable |= (
            discs
            & (rank | (stable << _ONE) | (stable >> _ONE))
            & (file | (stable << _EIGHT) | (stable >> _EIGHT))
            & (rising | (stable << _NINE) | (stable >> _NINE))
            & (falling | (stable << _SEVEN) | (stable >> _SEVEN))
        )
    return stable


# The table

PROVEN: Final = np.dtype([("mixed", np.uint64), ("opponent", np.uint64), ("bounds", np.uint64)])
"""`bounds`: the lower and the upper bound of the score, each 128 more, the move that proves the lower one or, where
there is none yet, is a guess, and the number of empty squares: a byte each, the first the lowest."""

_BYTE: Final = np.uint64(0xFF)
_UPPER, _MOVE, _EMPTIES = map(np.uint64, (8, 16, 24))
_OFFSET: Final = 128


@inlined
def lower_bound(bounds: np.uint64) -> int:
    return wide(bounds & _BYTE) - _OFFSET


@inlined
def upper_bound(bounds: np.uint64) -> int:
    return wide(bounds >> _UPPER & _BYTE) - _OFFSET


@inlined
def proving_move(bounds: np.uint64) -> np.uint64:
    return bounds >> _MOVE & _BYTE


@inlined
def packed(lower: int, upper: int, move: Any, empties: int) -> Any:
    """The word `bounds` of an entry."""
    return word(lower + _OFFSET) | word(upper + _OFFSET) << _UPPER | word(move) << _MOVE | word(empties) << _EMPTIES


@inlined
def bucket(table: Records, mover: np.uint64, opponent: np.uint64) -> Any:
    """The first of the two entries where a position may be."""
    mixed = mover * np.uint64(0x9E3779B97F4A7C15) ^ (opponent + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((mixed >> np.uint64(32)) & np.uint64(len(table) - 2))


@inlined
def _mixed(mover: np.uint64, opponent: np.uint64, bounds: np.uint64) -> np.uint64:
    return mover ^ opponent * np.uint64(0xC2B2AE3D27D4EB4F) ^ bounds * np.uint64(0x9E3779B97F4A7C15)


@inlined
def bounds_in(entry: Any, mover: np.uint64, opponent: np.uint64) -> Any:
    """The bounds of the position that the entry holds; 0 where it holds another one."""
    bounds = entry.bounds
    if entry.opponent == opponent and entry.mixed == _mixed(mover, opponent, bounds):
        return bounds
    return ZERO


@inlined
def known_bounds(table: Records, mover: np.uint64, opponent: np.uint64) -> Any:
    """What is known of a position; 0: nothing."""
    first = bucket(table, mover, opponent)
    bounds = bounds_in(table[first], mover, opponent)
    return bounds if bounds != ZERO else bounds_in(table[first + 1], mover, opponent)


@compiled
def keep(table: Records, mover: np.uint64, opponent: np.uint64, bounds: np.uint64) -> None:
    """Write what is known of a position. Of a bucket's two entries the first keeps what has more empty squares."""
    place = bucket(table, mover, opponent)
    if bounds_in(table[place], mover, opponent) == ZERO and (
        bounds_in(table[place + 1], mover, opponent) != ZERO or bounds >> _EMPTIES < table[place].bounds >> _EMPTIES
    ):
        place += 1
    entry = table[place]
    entry.mixed, entry.opponent, entry.bounds = _mixed(mover, opponent, bounds), opponent, bounds
