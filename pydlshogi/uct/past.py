"""Boards that stood before: on the path of a playout, and in the game before its root."""

from typing import Final

import numpy as np

from pydlshogi.support.arrays import Records, Uint64Array
from pydlshogi.support.compiled import rule

SHORTEST_CYCLE: Final = 2
"""Plies after which a board can stand again, with the same side to move: every second ply."""
_RESIDUES: Final = 1 << 12
RESIDUE_WORDS: Final = _RESIDUES // 64


def residues_of(board_keys: Uint64Array) -> Uint64Array:
    """Which residues by 4096 these keys have, as bits of uint64 [RESIDUE_WORDS]."""
    words = np.zeros(RESIDUE_WORDS, np.uint64)
    each = board_keys % np.uint64(_RESIDUES)
    np.bitwise_or.at(words, each >> np.uint64(6), np.uint64(1) << (each & np.uint64(63)))
    return words


def row_of(table: Records, row: int, values: Records) -> Records:
    """`table`, or a larger one, with the first of its row `row` set to `values`."""
    rows, columns = max(len(table), row + 1), max(table.shape[1], len(values))
    if table.shape != (rows, columns):
        larger = np.zeros((rows, columns), table.dtype)
        larger[: len(table), : table.shape[1]] = table
        table = larger
    table[row, : len(values)] = values
    return table


@rule
def same_board(
    steps: Records, first: int, depth: int, past: Uint64Array, residues: Uint64Array, key: int, least: int
) -> int:
    """How many plies before the end of a path, `least` or more, its board stood last; 0: never.

    The path has `depth` steps from `first` on, and `key` is the board key at its end. `past` holds the board keys of
    the game before the root, the oldest first, and `residues` those that they have: mostly these tell that none is it.
    """
    distance = least
    while distance <= depth:
        if steps[first + depth - distance].board_key == key:
            return distance
        distance += SHORTEST_CYCLE
    residue = key % np.uint64(_RESIDUES)
    if (residues[residue >> np.uint64(6)] >> (residue & np.uint64(63))) & np.uint64(1):
        while distance <= depth + len(past):
            if past[len(past) + depth - distance] == key:
                return distance
            distance += SHORTEST_CYCLE
    return 0
