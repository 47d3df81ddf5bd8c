"""Some of the positions of a file, with the visits that are known of their moves."""

from typing import Any, NamedTuple

import numpy as np

from pydlshogi.games.shogi.training.records import LOSS, WIN, Positions
from pydlshogi.support.arrays import BoolArray, Int64Array, Uint16Array


class Part(NamedTuple):
    """Some of the positions of a file, in its order."""

    positions: Positions
    """POSITION [n]. hcpe3: NO_RESULT and NO_EVAL where a position is not to be learned from."""
    counts: Int64Array
    """int64 [n]: of how many moves of each the visits are known."""
    moves: Uint16Array
    """uint16 [all]: these moves; where nothing else is known, those of the positions."""
    visits: Uint16Array
    """uint16 [all]."""


class Taken(NamedTuple):
    """What the beginning of a block of bytes holds."""

    part: Part
    used: int
    """Bytes."""
    records: int
    """Positions or games."""
    broken: int
    """Of these."""
    nonsense: bool = False
    """What follows is no game."""


def played_alone(positions: Positions) -> Part:
    """`positions` with one visit to the move of each that has one."""
    has_move = positions["move"] != 0
    moves = positions["move"][has_move]
    return Part(positions, has_move.astype(np.int64), moves, np.ones(len(moves), np.uint16))


def chosen(part: Part, kept: BoolArray) -> Part:
    """Those positions of a part that are `kept`."""
    of_kept = np.repeat(kept, part.counts)
    return Part(part.positions[kept], part.counts[kept], part.moves[of_kept], part.visits[of_kept])


def for_black(positions: Positions) -> Any:
    """The results of the games: 1 where Black has won, 2 where White has, 0 where it is drawn or unknown."""
    mover = positions["hcp"][:, 0] & 1
    results = positions["result"]
    return np.where(np.abs(results) == WIN, 1 + (mover ^ (results == LOSS)), 0).astype(np.int64)
