"""Some of the positions of a file, with the visits of their moves; and files that are a position after the other:
`.psv`, `.hcpe`, and this program's own `.positions`; see `formats`."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.shogi.training.huffman import (
    READ_HCP,
    READ_PSFEN,
    WRITE_PSFEN,
    checked,
    codes_of,
    moves_from_psv,
    moves_to_psv,
    states_of,
)
from pydlshogi.games.shogi.training.records import DRAW, LOSS, NO_RESULT, POSITION, WIN, Positions
from pydlshogi.support.arrays import BoolArray, Int64Array, Records, Uint8Array, Uint16Array


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


_PSV: Final = np.dtype(
    [
        ("sfen", np.uint8, 32),
        ("score", "<i2"),
        ("move", "<u2"),
        ("gamePly", "<u2"),
        ("game_result", "i1"),
        ("padding", "u1"),
    ]
)
_HCPE: Final = np.dtype(
    [("hcp", np.uint8, 32), ("eval", "<i2"), ("bestMove16", "<u2"), ("gameResult", "i1"), ("dummy", "u1")]
)
"""Names as cshogi's."""


def _take_fixed(record: np.dtype[Any], read: Callable[[Records, Positions], BoolArray], block: Uint8Array) -> Taken:
    records = block[: len(block) // record.itemsize * record.itemsize].view(record)
    positions = np.zeros(len(records), POSITION)
    good = read(records, positions)
    good &= positions["hcp"].any(axis=1)
    part = played_alone(positions if good.all() else positions[good])
    return Taken(part, len(records) * record.itemsize, len(records), int(len(good) - good.sum()))


def _of_psv(records: Records, positions: Positions) -> BoolArray:
    positions["move"] = moves = moves_from_psv(records["move"])
    positions["hcp"] = checked(records["sfen"], READ_PSFEN, moves)
    positions["eval"], positions["result"] = records["score"], records["game_result"]
    positions["ply"] = np.maximum(records["gamePly"], 1) - 1
    return np.abs(records["game_result"].astype(np.int64)) <= WIN


def _of_hcpe(records: Records, positions: Positions) -> BoolArray:
    positions["move"] = records["bestMove16"].view(np.uint16)
    positions["hcp"] = codes = checked(records["hcp"], READ_HCP, positions["move"])
    result = records["gameResult"].view(np.uint8)
    positions["eval"], positions["ending"] = records["eval"], result & ~np.uint8(3)
    winner = result & 3  # 0 for nobody, 1 for Black, 2 for White
    positions["result"] = np.where(winner == 0, DRAW, np.where(winner == 1 + (codes[:, 0] & 1), WIN, LOSS))
    return np.asarray(winner < 3)


def _of_own(records: Records, positions: Positions) -> BoolArray:
    positions[:] = records
    positions["hcp"] = checked(records["hcp"], READ_HCP, positions["move"])
    return np.isin(records["result"], (WIN, DRAW, LOSS, NO_RESULT))


def give_psv(part: Part) -> bytes:
    positions = part.positions
    records = np.zeros(len(positions), _PSV)
    records["sfen"] = codes_of(states_of(positions["hcp"]), WRITE_PSFEN)
    records["move"] = moves_to_psv(positions["move"])
    records["score"], records["game_result"] = positions["eval"], positions["result"]
    records["gamePly"] = positions["ply"] + 1
    return records.tobytes()


def give_hcpe(part: Part) -> bytes:
    positions = part.positions
    records = np.zeros(len(positions), _HCPE)
    records["hcp"], records["eval"] = positions["hcp"], positions["eval"]
    records["bestMove16"] = positions["move"].view(np.int16)
    records["gameResult"] = for_black(positions)
    return records.tobytes()


take_psv: Final = partial(_take_fixed, _PSV, _of_psv)
take_hcpe: Final = partial(_take_fixed, _HCPE, _of_hcpe)
take_own: Final = partial(_take_fixed, POSITION, _of_own)
"""Each: what a block of bytes, uint8, holds of its kind."""
