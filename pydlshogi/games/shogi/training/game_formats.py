"""Files of games: dlshogi's `.hcpe3`, with the visits of the moves, and `.pack` of YaneuraOu-ScriptCollection; see
`formats`. Every move is replayed."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from pydlshogi.games.shogi.moves import MOST_MOVES, is_legal
from pydlshogi.games.shogi.sfen import START_SFEN, read_sfen
from pydlshogi.games.shogi.state import STATE, arrange, key, play
from pydlshogi.games.shogi.training.fixed_formats import Part, Taken, for_black, played_alone
from pydlshogi.games.shogi.training.huffman import (
    MAILBOX,
    READ_HCP,
    WRITE_HCP,
    codes_of,
    read_code,
    states_of,
    write_code,
)
from pydlshogi.games.shogi.training.records import DRAW, LOSS, NO_EVAL, NO_RESULT, POSITION, WIN, Positions
from pydlshogi.support.arrays import BoolArray, Int64Array, Record, Records, Uint8Array, Uint16Array, Uint32Array
from pydlshogi.support.kernels.compiled import compiled, rule, wide

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
_SUMMARY: Final = np.dtype(
    [
        ("used", np.int64),
        ("records", np.int64),
        ("broken", np.int64),
        ("nonsense", np.bool_),
        ("positions", np.int64),
        ("candidates", np.int64),
    ]
)
"""Of a block as far as it is read: what `Taken` has, and the positions and candidates found; one row."""
_PACK_START: Final = np.dtype([("kind", np.uint8), ("hcp", np.uint8, 32), ("ply", "<u2")])


@rule
def _number(data: Uint8Array, place: int) -> int:
    return wide(data[place]) | wide(data[place + 1]) << 8


@rule
def _begin(data: Uint8Array, place: int, words: Uint32Array, board: Any, state: Record) -> bool:
    """Set up the position whose code begins at `place`."""
    for i in range(8):
        words[i] = _number(data, place + 4 * i) | _number(data, place + 4 * i + 2) << 16
    if not read_code(words, READ_HCP, board):
        return False
    arrange(state, board.squares, board.beside, wide(board.turn))
    return True


@rule
def _step(row: Any, words: Uint32Array, states: Records, room: Uint16Array, move: int, score: int) -> bool:
    """Note the position states[0] in `row`, and play on; False where it has not this move."""
    if not is_legal(states[0], move, room):
        return False
    write_code(states[0], WRITE_HCP, words)
    for i in range(8):
        for byte in range(4):
            row.hcp[4 * i + byte] = wide(words[i]) >> 8 * byte & 255
    row.move, row.eval = move, score
    play(states[0], move, states[1])
    states[0] = states[1]
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
    states: Records,
    room: Uint16Array,
    rows: Positions,
    summary: Records,
) -> None:
    """Fill `rows` with the positions of the whole games that `data` begins with, but for broken ones.

    summary: a row of _SUMMARY.
    """
    board, say, place, count = boards[0], summary[0], wide(0), wide(0)
    while place < len(data):
        at, first, ply = place + 1, count, wide(0)
        good = True
        if data[place] == 1:
            _begin(start, 0, words, board, states[0])
        elif data[place] == 0 and place + 35 <= len(data):
            good = _begin(data, at, words, board, states[0])
            ply, at = max(_number(data, at + 32), 1) - 1, at + 34
        else:
            say.nonsense = data[place] > 1
            return
        ended = False
        while not ended:
            if at + 3 > len(data):
                return
            move = _number(data, at)
            ended = move & 127 == move >> 7  # from a square to itself: how the game ended
            if not ended:
                if at + 4 > len(data):
                    return
                score = _number(data, at + 2)
                good = good and _step(rows[count], words, states, room, move, score - (score >> 15 << 16))
                count, at = count + good, at + 4
        if good and move & 127 <= 2:
            _end(rows, first, count, move & 127, wide(endings[data[at + 2]]), ply)
        else:
            count = first
            say.broken += 1
        place = at + 3
        say.used, say.positions = place, count
        say.records += 1


@compiled
def _unroll_hcpe3(
    data: Uint8Array,
    boards: Records,
    words: Uint32Array,
    states: Records,
    room: Uint16Array,
    rows: Positions,
    counts: Int64Array,
    moves: Uint16Array,
    visits: Uint16Array,
    summary: Records,
) -> None:
    """The same of hcpe3, with the candidates of each position and their visits."""
    board, say, place, count, candidates = boards[0], summary[0], wide(0), wide(0), wide(0)
    while place + 36 <= len(data):
        first, first_candidate = count, candidates
        good, length, result = (
            _begin(data, place, words, board, states[0]),
            _number(data, place + 32),
            wide(data[place + 34]),
        )
        at = place + 36
        for _ in range(length):
            if at + 6 > len(data):
                return
            move, score, many = _number(data, at), _number(data, at + 2), _number(data, at + 4)
            if many > _MOST_CANDIDATES:
                say.nonsense = True
                return
            at += 6
            if at + 4 * many > len(data):
                return
            if good:
                row = rows[count]
                row.result = DRAW if many else NO_RESULT
                good = _step(row, words, states, room, move, score - (score >> 15 << 16) if many else NO_EVAL)
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
            say.broken += 1
        place = at
        say.used, say.positions, say.candidates = place, count, candidates
        say.records += 1


_START: Final = codes_of(read_sfen(START_SFEN)[0])[0]


def _scratch() -> tuple[Records, Uint32Array, Records, Uint16Array]:
    return np.zeros(1, MAILBOX), np.zeros(8, np.uint32), np.zeros(2, STATE), np.zeros(MOST_MOVES, np.uint16)


def take_pack(block: Uint8Array) -> Taken:
    rows, summary = np.zeros(len(block) // 4 + 1, POSITION), np.zeros(1, _SUMMARY)
    _unroll_pack(block, _START, _OF_REASON, *_scratch(), rows, summary)
    used, records, broken, nonsense, positions, _ = summary[0].item()
    return Taken(played_alone(rows[:positions]), used, records, broken, nonsense)


def take_hcpe3(block: Uint8Array) -> Taken:
    room = len(block) // 4 + 1
    rows, counts, summary = np.zeros(room, POSITION), np.zeros(room, np.int64), np.zeros(1, _SUMMARY)
    moves, visits = np.zeros(room, np.uint16), np.zeros(room, np.uint16)
    _unroll_hcpe3(block, *_scratch(), rows, counts, moves, visits, summary)
    used, records, broken, nonsense, positions, candidates = summary[0].item()
    part = Part(rows[:positions], counts[:positions], moves[:candidates], visits[:candidates])
    return Taken(part, used, records, broken, nonsense)


@compiled
def _follow(states: Records, moves: Uint16Array, room: Uint16Array, after: Records, follows: BoolArray) -> None:
    """Mark each position that the move of the one before it leads to."""
    for i in range(len(moves) - 1):
        follows[i + 1] = is_legal(states[i], wide(moves[i]), room)
        if follows[i + 1]:
            play(states[i], wide(moves[i]), after[0])
            follows[i + 1] = key(after[0]) == key(states[i + 1])


def _games_of(positions: Positions) -> Iterator[tuple[int, int, int]]:
    """Cut positions into games: runs of which each follows from the one before, with the same result.

    Of each game its first position, its length, and its result: 0 for a draw, 1 for Black, 2 for White.
    """
    follows, results = np.zeros(len(positions), np.bool_), for_black(positions)
    states, moves = states_of(positions["hcp"]), np.ascontiguousarray(positions["move"])
    _follow(states, moves, np.zeros(MOST_MOVES, np.uint16), np.zeros(1, STATE), follows)
    follows[1:] &= results[1:] == results[:-1]
    firsts = np.flatnonzero(~follows)
    runs = np.diff(np.append(firsts, len(positions)))
    firsts = np.flatnonzero(~follows | ((np.arange(len(positions)) - np.repeat(firsts, runs)) % _LONGEST_GAME == 0))
    lengths = np.diff(np.append(firsts, len(positions)))
    return zip(firsts.tolist(), lengths.tolist(), results[firsts].tolist(), strict=True)


def give_hcpe3(part: Part) -> bytes:
    positions, ends, data = part.positions, np.cumsum([0, *part.counts]), list[bytes]()
    moves = np.zeros(len(positions), HCPE3_MOVE)
    moves["move"], moves["eval"], moves["candidates"] = positions["move"], positions["eval"], part.counts
    visits = np.zeros(len(part.moves), HCPE3_VISITS)
    visits["move"], visits["visits"] = part.moves, part.visits
    for first, length, result in _games_of(positions):
        start = positions[first]
        data.append(np.array([(start["hcp"], length, result | start["ending"], 0)], HCPE3).tobytes())
        for i in range(first, first + length):
            data += [moves[i].tobytes(), visits[ends[i] : ends[i + 1]].tobytes()]
    return b"".join(data)


def give_pack(part: Part) -> bytes:
    positions, data = part.positions, list[bytes]()
    moves = np.zeros(len(positions), _PACK_MOVE)
    moves["move"], moves["eval"] = positions["move"], positions["eval"]
    for first, length, result in _games_of(positions):
        start = positions[first]
        set_up = np.array([(0, start["hcp"], start["ply"] + 1)], _PACK_START)
        reason = _REASONS.get((WIN if result else DRAW, int(start["ending"])), 0)
        end = np.array([(result | result << 7, reason)], _PACK_END)
        data.append(b"\1" if np.array_equal(start["hcp"], _START) else set_up.tobytes())
        data += [moves[first : first + length].tobytes(), end.tobytes()]
    return b"".join(data)
