"""Discs that can never be turned again."""

from typing import Final

import numpy as np

from pydlshogi.games.othello.rules import ZERO
from pydlshogi.support.compiled import compiled, inlined

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
