"""Files that are a position after the other: `.psv`, `.hcpe`, and this program's own `.positions`; see `formats`."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from pydlshogi.games.shogi.training.huffman import HCP, HCP_TO_PSFEN, MAILBOX, PSFEN_TO_HCP, codes_of, fits, read_code
from pydlshogi.games.shogi.training.parts import Part, Taken, for_black, played_alone
from pydlshogi.games.shogi.training.records import DRAW, LOSS, NO_RESULT, POSITION, WIN, Positions
from pydlshogi.support.arrays import BoolArray, Int32Array, Records, Uint8Array, Uint16Array, Uint32Array
from pydlshogi.support.compiled import compiled, wide

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


@compiled
def _translate(codes: Uint32Array, moves: Uint16Array, table: Int32Array, boards: Records, other: Uint32Array) -> None:
    """Write `codes`, uint32 [n, 8], in another way; one that is no position, or has not this move, becomes 0."""
    board = boards[0]
    for i in range(len(codes)):
        move = wide(moves[i])
        if not (read_code(codes[i], table, board, other[i]) and (move == 0 or fits(board, move))):
            for place in range(8):
                other[i, place] = 0


def _translated(codes: Uint8Array, moves: Uint16Array, table: Int32Array) -> Uint8Array:
    words, other = np.ascontiguousarray(codes).view(np.uint32), np.zeros((len(codes), 8), np.uint32)
    _translate(words, np.ascontiguousarray(moves), table, np.zeros(1, MAILBOX), other)
    return other.view(np.uint8)


def psfen_of(states: Records) -> bytes:
    """YaneuraOu's code of the first of some positions."""
    return _translated(codes_of(states), np.zeros(1, np.uint16), HCP_TO_PSFEN).tobytes()


def move_of_psv(move: int) -> int:
    """YaneuraOu's 16 bits of a move as ours."""
    return int(_move_of_psv(np.array([move], np.uint16))[0])


def _move_of_psv(moves: Uint16Array) -> Uint16Array:
    """YaneuraOu's 16 bits of a move as cshogi's; what is no move, "resign" say, as 0."""
    target, origin = moves & 127, moves >> 7 & 127
    other = target | np.where(moves & 1 << 14, origin + 80, origin) << 7 | moves >> 15 << 14
    return np.where((target == origin) & (moves < 1 << 14), 0, other).astype(np.uint16)


def _move_to_psv(moves: Uint16Array) -> Uint16Array:
    origin = moves >> 7 & 127
    other = moves & 127 | np.where(origin > 80, origin - 80 | 1 << 7, origin) << 7 | (moves >> 14 & 1) << 15
    return other.astype(np.uint16)


def _take_fixed(record: np.dtype[Any], read: Callable[[Records, Positions], BoolArray], block: Uint8Array) -> Taken:
    records = block[: len(block) // record.itemsize * record.itemsize].view(record)
    positions = np.zeros(len(records), POSITION)
    good = read(records, positions)
    good &= positions["hcp"].any(axis=1)
    part = played_alone(positions if good.all() else positions[good])
    return Taken(part, len(records) * record.itemsize, len(records), int(len(good) - good.sum()))


def _of_psv(records: Records, positions: Positions) -> BoolArray:
    positions["move"] = moves = _move_of_psv(records["move"])
    positions["hcp"] = _translated(records["sfen"], moves, PSFEN_TO_HCP)
    positions["eval"], positions["result"] = records["score"], records["game_result"]
    positions["ply"] = np.maximum(records["gamePly"], 1) - 1
    return np.abs(records["game_result"].astype(np.int64)) <= WIN


def _of_hcpe(records: Records, positions: Positions) -> BoolArray:
    positions["move"] = records["bestMove16"].view(np.uint16)
    positions["hcp"] = codes = _translated(records["hcp"], positions["move"], HCP)
    result = records["gameResult"].view(np.uint8)
    positions["eval"], positions["ending"] = records["eval"], result & ~np.uint8(3)
    winner = result & 3  # 0 for nobody, 1 for Black, 2 for White
    positions["result"] = np.where(winner == 0, DRAW, np.where(winner == 1 + (codes[:, 0] & 1), WIN, LOSS))
    return np.asarray(winner < 3)


def _of_own(records: Records, positions: Positions) -> BoolArray:
    positions[:] = records
    positions["hcp"] = _translated(records["hcp"], positions["move"], HCP)
    return np.isin(records["result"], (WIN, DRAW, LOSS, NO_RESULT))


def give_psv(part: Part) -> bytes:
    positions = part.positions
    records = np.zeros(len(positions), _PSV)
    records["sfen"] = _translated(positions["hcp"], positions["move"], HCP_TO_PSFEN)
    records["move"] = _move_to_psv(positions["move"])
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
