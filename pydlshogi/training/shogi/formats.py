"""The training data of the field, streamed: `.psv`, `.hcpe`, `.hcpe3`, `.pack`, and this program's own `.positions`.

* `.psv` (also `.bin`): YaneuraOu's PackedSfenValue, 40 bytes a position. The result is the mover's.
* `.hcpe`: Apery's HuffmanCodedPosAndEval, 38 bytes a position. The result is Black's.
* `.hcpe3`: dlshogi's games, with the visits of the moves. A position without any is not to be learned from.
* `.pack`: the games of YaneuraOu-ScriptCollection's GenSfen, four bytes a position; its `GenSfen/readme.md` is the
  specification.

Evaluations are centipawns for the side to move in all of them; none has a word for an unknown result or evaluation.
cshogi names their types; YaneuraOu-ScriptCollection's `teacher/convert_teacher.py` converts them in the same sense.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import cshogi
import numpy as np
from tqdm import tqdm

from pydlshogi.games.shogi.moves import MOST_MOVES, legal_moves
from pydlshogi.games.shogi.state import STATE
from pydlshogi.support.arrays import BoolArray, Int8Array, Int64Array, Records, Uint8Array, Uint16Array, Uint32Array
from pydlshogi.support.compiled import compiled, rule, wide
from pydlshogi.support.files import open_plain, replacing, stamp_of
from pydlshogi.support.pool import WorkerPool
from pydlshogi.training.shogi.huffman import (
    MAILBOX,
    READ_HCP,
    READ_PSFEN,
    WRITE_HCP,
    WRITE_PSFEN,
    fits,
    lay,
    play_on,
    read_code,
    write_code,
)
from pydlshogi.training.shogi.records import (
    DRAW,
    FORMAT,
    LOSS,
    NO_EVAL,
    NO_RESULT,
    OWN,
    POSITION,
    WIN,
    DatasetError,
    Positions,
    Split,
    load_positions,
    one_a_core,
)

_BLOCK: Final = 1 << 20
"""Bytes that are read at once, or more where a game has more."""
_LONGEST_GAME: Final = 512
"""Moves; dlshogi reads no longer ones."""
_MOST_CANDIDATES: Final = 593
_REPETITION, _DECLARED, _MOVE_LIMIT = 4, 8, 16
"""How a game ended, as dlshogi marks it; in `ending` of POSITION."""
_OF_REASON: Final = np.zeros(256, np.uint8)
"""The same by the reason that ends a game of a pack."""
_OF_REASON[[1, 6]] = _REPETITION
_OF_REASON[[10, 11, 12, 13]] = _DECLARED
_OF_REASON[2] = _MOVE_LIMIT
_REASONS: Final = {
    (DRAW, 0): 1, (DRAW, _REPETITION): 1, (DRAW, _DECLARED): 11, (DRAW, _MOVE_LIMIT): 2,
    (WIN, _REPETITION): 6, (WIN, _DECLARED): 12,
}  # fmt: skip
"""And back, by whether somebody won; 0, resignation, where there is none."""

HCPE3: Final = np.dtype([("hcp", np.uint8, 32), ("moves", "<u2"), ("result", np.uint8), ("opponent", np.uint8)])
"""The beginning of a game. result: 1 for Black, 2 for White, 0 for a draw, and how it ended."""
HCPE3_MOVE: Final = np.dtype([("move", "<u2"), ("eval", "<i2"), ("candidates", "<u2")])
HCPE3_VISITS: Final = np.dtype([("move", "<u2"), ("visits", "<u2")])
_PACK_MOVE: Final = np.dtype([("move", "<u2"), ("eval", "<i2")])
_PACK_END: Final = np.dtype([("result", "<u2"), ("reason", np.uint8)])
_PACK_START: Final = np.dtype([("kind", np.uint8), ("hcp", np.uint8, 32), ("ply", "<u2")])


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


# Codes


@compiled
def _translate(
    codes: Uint32Array, moves: Uint16Array, reading: Int8Array, writing: Uint8Array, boards: Records, told: Uint32Array
) -> None:
    """Write `codes`, uint32 [n, 8], in another way; one that is no position, or has not this move, becomes 0."""
    board = boards[0]
    for i in range(len(codes)):
        move = wide(moves[i])
        if read_code(codes[i], reading, board) and (move == 0 or fits(board, move)):
            write_code(board, writing, told[i])


def _translated(codes: Uint8Array, moves: Uint16Array, reading: Int8Array, writing: Uint8Array) -> Uint8Array:
    words, told = np.ascontiguousarray(codes).view(np.uint32), np.zeros((len(codes), 8), np.uint32)
    _translate(words, np.ascontiguousarray(moves), reading, writing, np.zeros(1, MAILBOX), told)
    return told.view(np.uint8)


@compiled
def _follow(
    codes: Uint32Array, moves: Uint16Array, boards: Records, codes_after: Uint32Array, follows: BoolArray
) -> None:
    """Mark each position that the move of the one before it leads to."""
    board, known = boards[0], False
    for i in range(len(codes) - 1):
        move, follows[i + 1] = wide(moves[i]), False
        known = known or read_code(codes[i], READ_HCP, board)
        if not known or move == 0 or not fits(board, move):
            known = False
            continue
        play_on(board, move)
        write_code(board, WRITE_HCP, codes_after[0])
        known = True
        for place in range(8):
            known = known and codes_after[0, place] == codes[i + 1, place]
        follows[i + 1] = known


@compiled
def _find_legal(
    codes: Uint8Array, moves: Uint16Array, none: Uint16Array, states: Records, room: Uint16Array, legal: BoolArray
) -> None:
    for i in range(len(codes)):
        lay(codes[i], none, 0, states[0])
        legal[i] = False
        for place in range(legal_moves(states[0], room)):
            legal[i] = legal[i] or room[place] == moves[i]


def legal(positions: Positions) -> BoolArray:
    """bool [n]: whether the move of each is legal."""
    result = np.zeros(len(positions), np.bool_)
    codes, moves = np.ascontiguousarray(positions["hcp"]), np.ascontiguousarray(positions["move"])
    _find_legal(codes, moves, np.zeros(2, np.uint16), np.zeros(1, STATE), np.zeros(MOST_MOVES, np.uint16), result)
    return result


# Positions


def _move_of_psv(moves: Uint16Array) -> Uint16Array:
    """YaneuraOu's 16 bits of a move as cshogi's; what is no move, "resign" say, as 0."""
    target, origin = moves & 127, moves >> 7 & 127
    told = target | np.where(moves & 1 << 14, origin + 80, origin) << 7 | moves >> 15 << 14
    return np.where((target == origin) & (moves < 1 << 14), 0, told).astype(np.uint16)


def _move_to_psv(moves: Uint16Array) -> Uint16Array:
    origin = moves >> 7 & 127
    told = moves & 127 | np.where(origin > 80, origin - 80 | 1 << 7, origin) << 7 | (moves >> 14 & 1) << 15
    return told.astype(np.uint16)


def _for_mover(black: Any, codes: Uint8Array) -> Any:
    """By 0, 1 for Black and 2 for White, and whose move it is: the result for the side to move."""
    return np.where(black == 0, DRAW, np.where(black == 1 + (codes[:, 0] & 1), WIN, LOSS))


def _for_black(positions: Positions) -> Any:
    """The other way; what is unknown as drawn."""
    mover = positions["hcp"][:, 0] & 1
    results = positions["result"]
    return np.where(np.abs(results) == WIN, 1 + (mover ^ (results == LOSS)), 0).astype(np.int64)


def _take_fixed(record: np.dtype[Any], told: Callable[[Records, Positions], BoolArray], block: Uint8Array) -> Taken:
    records = block[: len(block) // record.itemsize * record.itemsize].view(record)
    positions = np.zeros(len(records), POSITION)
    good = told(records, positions)
    good &= positions["hcp"].any(axis=1)
    part = played_alone(positions if good.all() else positions[good])
    return Taken(part, len(records) * record.itemsize, len(records), int(len(good) - good.sum()))


def _of_psv(records: Records, positions: Positions) -> BoolArray:
    positions["move"] = moves = _move_of_psv(records["move"])
    positions["hcp"] = _translated(records["sfen"], moves, READ_PSFEN, WRITE_HCP)
    positions["eval"], positions["result"] = records["score"], records["game_result"]
    positions["ply"] = np.maximum(records["gamePly"], 1) - 1
    return np.abs(records["game_result"].astype(np.int64)) <= WIN


def _of_hcpe(records: Records, positions: Positions) -> BoolArray:
    positions["move"] = records["bestMove16"].view(np.uint16)
    positions["hcp"] = codes = _translated(records["hcp"], positions["move"], READ_HCP, WRITE_HCP)
    result = records["gameResult"].view(np.uint8)
    positions["eval"], positions["ending"] = records["eval"], result & ~np.uint8(3)
    positions["result"] = _for_mover(result & 3, codes)
    return np.asarray(result & 3 < 3)


def _of_own(records: Records, positions: Positions) -> BoolArray:
    positions[:] = records
    return np.ones(len(records), np.bool_)


def _give_psv(part: Part) -> bytes:
    positions = part.positions
    records = np.zeros(len(positions), cshogi.PackedSfenValue)
    records["sfen"] = _translated(positions["hcp"], positions["move"], READ_HCP, WRITE_PSFEN)
    records["move"] = _move_to_psv(positions["move"])
    records["score"], records["game_result"] = positions["eval"], positions["result"]
    records["gamePly"] = positions["ply"] + 1
    return records.tobytes()


def _give_hcpe(part: Part) -> bytes:
    positions = part.positions
    records = np.zeros(len(positions), cshogi.HuffmanCodedPosAndEval)
    records["hcp"], records["eval"] = positions["hcp"], positions["eval"]
    records["bestMove16"] = positions["move"].view(np.int16)
    records["gameResult"] = _for_black(positions)
    return records.tobytes()


# Games


@rule
def _number(data: Uint8Array, place: int) -> int:
    return wide(data[place]) | wide(data[place + 1]) << 8


@rule
def _begin(data: Uint8Array, place: int, words: Uint32Array, board: Any) -> bool:
    """Set up the position whose code begins at `place`."""
    for i in range(8):
        words[i] = _number(data, place + 4 * i) | _number(data, place + 4 * i + 2) << 16
    return read_code(words, READ_HCP, board)


@rule
def _step(row: Any, board: Any, words: Uint32Array, move: int, score: int) -> bool:
    """Note a position in `row`, and play on; False where it has not this move."""
    if not fits(board, move):
        return False
    write_code(board, WRITE_HCP, words)
    for i in range(8):
        for byte in range(4):
            row.hcp[4 * i + byte] = wide(words[i]) >> 8 * byte & 255
    row.move, row.eval = move, score
    play_on(board, move)
    return True


@rule
def _end(rows: Positions, first: int, end: int, result: int, ending: int, ply: int) -> None:
    """What positions `first` to `end` have of their game, and of each other."""
    for i in range(first, end):
        row = rows[i]
        row.ply, row.length, row.ending = ply + i - first, ply + end - first, ending
        for back in range(2):
            row.before[back] = rows[i - back - 1].move if i - back > first else 0
        if row.result != NO_RESULT:
            row.result = DRAW if result == 0 else WIN if result == 1 + (row.hcp[0] & 1) else LOSS


@compiled
def _unroll_pack(
    data: Uint8Array,
    start: Uint8Array,
    endings: Uint8Array,
    boards: Records,
    words: Uint32Array,
    rows: Positions,
    told: Int64Array,
) -> None:
    """Fill `rows` with the positions of the whole games that `data` begins with, but for broken ones.

    told: the bytes used, positions, games, broken ones, and whether what follows is no game.
    """
    board, place, count = boards[0], wide(0), wide(0)
    while place < len(data):
        at, first, ply = place + 1, count, wide(0)
        good = True
        if data[place] == 1:
            _begin(start, 0, words, board)
        elif data[place] == 0 and place + 35 <= len(data):
            good = _begin(data, at, words, board)
            ply, at = max(_number(data, at + 32), 1) - 1, at + 34
        else:
            told[4] = data[place] > 1
            return
        ended = False
        while not ended:
            if at + 3 > len(data):
                return
            move = _number(data, at)
            ended = move & 127 == move >> 7
            if not ended:
                if at + 4 > len(data):
                    return
                score = _number(data, at + 2)
                good = good and _step(rows[count], board, words, move, score - (score >> 15 << 16))
                count, at = count + good, at + 4
        if good and move & 127 <= 2:
            _end(rows, first, count, move & 127, wide(endings[data[at + 2]]), ply)
        else:
            count = first
            told[3] += 1
        place = at + 3
        told[0], told[1] = place, count
        told[2] += 1


@compiled
def _unroll_hcpe3(
    data: Uint8Array,
    boards: Records,
    words: Uint32Array,
    rows: Positions,
    counts: Int64Array,
    moves: Uint16Array,
    visits: Uint16Array,
    told: Int64Array,
) -> None:
    """The same of hcpe3, with the visits; told has their number besides."""
    board, place, count, candidates = boards[0], wide(0), wide(0), wide(0)
    while place + 36 <= len(data):
        first, first_candidate = count, candidates
        good, length, result = _begin(data, place, words, board), _number(data, place + 32), wide(data[place + 34])
        at = place + 36
        for _ in range(length):
            if at + 6 > len(data):
                return
            move, score, many = _number(data, at), _number(data, at + 2), _number(data, at + 4)
            if many > _MOST_CANDIDATES:
                told[4] = 1
                return
            at += 6
            if at + 4 * many > len(data):
                return
            if good:
                row = rows[count]
                row.result = DRAW if many else NO_RESULT
                good = _step(row, board, words, move, score - (score >> 15 << 16) if many else NO_EVAL)
                counts[count] = many
                for i in range(many):
                    moves[candidates], visits[candidates] = _number(data, at + 4 * i), _number(data, at + 4 * i + 2)
                    candidates += 1
                count += good
            at += 4 * many
        if good and result & 3 < 3:
            _end(rows, first, count, result & 3, result & ~3, wide(0))
        else:
            count, candidates = first, first_candidate
            told[3] += 1
        place = at
        told[0], told[1], told[5] = place, count, candidates
        told[2] += 1


def _start_code() -> Uint8Array:
    code = np.zeros(32, np.uint8)
    cshogi.Board().to_hcp(code)
    return code


_START: Final = _start_code()


def _take_pack(block: Uint8Array) -> Taken:
    rows, told = np.zeros(len(block) // 4 + 1, POSITION), np.zeros(6, np.int64)
    _unroll_pack(block, _START, _OF_REASON, np.zeros(1, MAILBOX), np.zeros(8, np.uint32), rows, told)
    return Taken(played_alone(rows[: told[1]]), int(told[0]), int(told[2]), int(told[3]), bool(told[4]))


def _take_hcpe3(block: Uint8Array) -> Taken:
    room = len(block) // 4 + 1
    rows, counts, told = np.zeros(room, POSITION), np.zeros(room, np.int64), np.zeros(6, np.int64)
    moves, visits = np.zeros(room, np.uint16), np.zeros(room, np.uint16)
    _unroll_hcpe3(block, np.zeros(1, MAILBOX), np.zeros(8, np.uint32), rows, counts, moves, visits, told)
    part = Part(rows[: told[1]], counts[: told[1]], moves[: told[5]], visits[: told[5]])
    return Taken(part, int(told[0]), int(told[2]), int(told[3]), bool(told[4]))


class _Games(NamedTuple):
    """A part cut into games: runs of positions of which each follows from the one before, with the same result."""

    firsts: Int64Array
    """Of each game its first position."""
    lengths: Int64Array
    results: Any
    """0 for a draw, 1 for Black, 2 for White."""


def _games_of(positions: Positions) -> _Games:
    follows, results = np.zeros(len(positions), np.bool_), _for_black(positions)
    codes = np.ascontiguousarray(positions["hcp"]).view(np.uint32)
    moves = np.ascontiguousarray(positions["move"])
    _follow(codes, moves, np.zeros(1, MAILBOX), np.zeros((1, 8), np.uint32), follows)
    follows[1:] &= results[1:] == results[:-1]
    firsts = np.flatnonzero(~follows)
    runs = np.diff(np.append(firsts, len(positions)))
    firsts = np.flatnonzero(~follows | ((np.arange(len(positions)) - np.repeat(firsts, runs)) % _LONGEST_GAME == 0))
    return _Games(firsts, np.diff(np.append(firsts, len(positions))), results[firsts])


def _assembled(*pieces: tuple[Int64Array, Records]) -> bytes:
    """Records, each put at its place in bytes: int64 [n] and the n records of a kind."""
    data = np.zeros(max(int(places[-1]) + records.itemsize for places, records in pieces if len(records)), np.uint8)
    for places, records in pieces:
        data[places[:, None] + np.arange(records.itemsize)] = records.view(np.uint8).reshape(-1, records.itemsize)
    return data.tobytes()


def _ends(sizes: Int64Array) -> Int64Array:
    """Where things of these sizes begin, one after the other, and the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _give_hcpe3(part: Part) -> bytes:
    positions, counts, (firsts, lengths, results) = part.positions, part.counts, _games_of(part.positions)
    games = np.zeros(len(firsts), HCPE3)
    games["hcp"], games["moves"] = positions["hcp"][firsts], lengths
    games["result"] = results | positions["ending"][firsts]
    moves = np.zeros(len(positions), HCPE3_MOVE)
    moves["move"], moves["eval"], moves["candidates"] = positions["move"], positions["eval"], counts
    visits = np.zeros(len(part.moves), HCPE3_VISITS)
    visits["move"], visits["visits"] = part.moves, part.visits
    is_first = np.zeros(len(positions), np.int64)
    is_first[firsts] = HCPE3.itemsize
    starts = _ends(is_first + HCPE3_MOVE.itemsize + HCPE3_VISITS.itemsize * counts)[:-1]
    places = starts + is_first
    earlier = np.arange(len(visits)) - np.repeat(_ends(counts)[:-1], counts)
    of_visits = np.repeat(places, counts) + HCPE3_MOVE.itemsize + HCPE3_VISITS.itemsize * earlier
    return _assembled((starts[firsts], games), (places, moves), (of_visits, visits))


def _give_pack(part: Part) -> bytes:
    positions, (firsts, lengths, results) = part.positions, _games_of(part.positions)
    from_start = (positions["hcp"][firsts] == _START).all(axis=1)
    starts = np.zeros(len(firsts), _PACK_START)
    starts["hcp"], starts["ply"] = positions["hcp"][firsts], positions["ply"][firsts] + 1
    moves = np.zeros(len(positions), _PACK_MOVE)
    moves["move"], moves["eval"] = positions["move"], positions["eval"]
    ends = np.zeros(len(firsts), _PACK_END)
    ends["result"] = results | results << 7
    for (won, ending), reason in _REASONS.items():
        ends["reason"][((results > 0) == (won == WIN)) & (positions["ending"][firsts] == ending)] = reason
    of_start = np.where(from_start, 1, _PACK_START.itemsize)
    sizes = np.full(len(positions), _PACK_MOVE.itemsize)
    sizes[firsts] += of_start
    sizes[firsts + lengths - 1] += _PACK_END.itemsize
    places = _ends(sizes)
    of_ends = places[firsts + lengths] - _PACK_END.itemsize
    of_moves = places[:-1].copy()
    of_moves[firsts] += of_start
    plain = np.ones(int(from_start.sum()), np.uint8)
    begin = places[firsts]
    return _assembled(
        (begin[~from_start], starts[~from_start]), (begin[from_start], plain), (of_moves, moves), (of_ends, ends)
    )


# Files


class Format(NamedTuple):
    """How a file is read and written."""

    take: Callable[[Uint8Array], Taken]
    give: Callable[[Part], bytes]
    complete: bool = True
    """A position needs a move and a result."""


_PSV: Final = Format(partial(_take_fixed, cshogi.PackedSfenValue, _of_psv), _give_psv)
FORMATS: Final = {
    ".psv": _PSV,
    ".bin": _PSV,
    ".hcpe": Format(partial(_take_fixed, cshogi.HuffmanCodedPosAndEval, _of_hcpe), _give_hcpe),
    ".hcpe3": Format(_take_hcpe3, _give_hcpe3),
    ".pack": Format(_take_pack, _give_pack),
    OWN: Format(partial(_take_fixed, POSITION, _of_own), lambda part: part.positions.tobytes(), complete=False),
}
"""By the ending of a file's name."""


def files_of(source: Path) -> list[Path]:
    """`source`, or what is in it if it is a folder, as far as it is of FORMATS; in order of the names."""
    paths = sorted(source.iterdir()) if source.is_dir() else [source]
    return [path for path in paths if path.suffix.lower() in FORMATS]


def read_parts(path: Path, complain: Callable[[str], None]) -> Iterator[Part]:
    """What a file of FORMATS holds, some thousands of positions at a time.

    What is broken is left out, and nothing is read from where it breaks off; `complain` is told so in a line at the
    end. Raises OSError.
    """
    take = FORMATS[path.suffix.lower()].take
    records, broken, place, rest, nonsense = 0, 0, 0, b"", False
    with open_plain(path) as file:
        while not nonsense and (data := file.read(max(_BLOCK, len(rest)))):
            block = bytearray(rest + data)
            part, used, many, left_out, nonsense = take(np.frombuffer(block, np.uint8))
            records, broken, place, rest = records + many, broken + left_out, place + used, bytes(block[used:])
            if len(part.positions):
                yield part
    if broken or rest:
        ends = f"; it breaks off at byte {place}, what came before is kept" if rest else ""
        complain(f"{path}: {broken} of {records} records are broken and left out{ends}")


def give(path: Path, part: Part) -> tuple[bytes, int]:
    """A part as a file like `path` has it, and how many positions had to be left out: those without a move or a result,
    where it has no word for that. Evaluations that are not known are 0 there, as dlshogi writes them."""
    form = FORMATS[path.suffix.lower()]
    if form.complete:
        kept = (part.positions["result"] != NO_RESULT) & (part.positions["move"] != 0)
        whole = part if kept.all() else chosen(part, kept)
        positions = whole.positions.copy()
        positions["eval"][positions["eval"] == NO_EVAL] = 0
        left_out, part = len(kept) - len(positions), whole._replace(positions=positions)
    else:
        left_out = 0
    return (form.give(part) if len(part.positions) else b""), left_out


def load(
    source: Path,
    split: Split,
    cache: Path,
    say: Callable[[str], None] = tqdm.write,
    hire: Callable[[], WorkerPool] = one_a_core,
) -> Positions:
    """The positions of `source`: a file of FORMATS, a folder of such files, or game records as `load_positions` takes
    them. Files have no splits; of "val" are all positions with a move.

    What was converted is kept in `cache`; positions whose move is not legal are left out. Raises DatasetError, OSError,
    PoolError.
    """
    paths = files_of(source)
    if not paths:
        return load_positions(source, split, cache, say, hire)
    if all(path.suffix == OWN for path in paths):
        parts = [part.positions for path in paths for part in read_parts(path, say)]
        return np.concatenate([np.zeros(0, POSITION), *parts])
    stamps = repr([(str(path.resolve()), stamp_of(path)) for path in paths])
    path = cache / f"{hashlib.sha256(stamps.encode()).hexdigest()[:24]}-{FORMAT}{OWN}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            _copy(paths, file, say)
    if not path.stat().st_size:
        raise DatasetError(f"{source} holds no positions to learn from")
    positions = np.memmap(path, POSITION, "r")
    return positions if split == "train" else positions[positions["move"] != 0]


def _copy(paths: Sequence[Path], file: BinaryIO, say: Callable[[str], None]) -> None:
    illegal = 0
    with tqdm(desc="converting", unit=" positions", unit_scale=True, disable=None) as bar:
        for part in chain.from_iterable(read_parts(path, say) for path in paths):
            positions = part.positions[(part.positions["result"] != NO_RESULT) | (part.positions["eval"] != NO_EVAL)]
            kept = legal(positions) | (positions["move"] == 0)
            illegal += int(len(kept) - kept.sum())
            file.write(positions[kept].tobytes())
            bar.update(len(positions))
    if illegal:
        say(f"left out: {illegal} positions whose moves are not legal")
