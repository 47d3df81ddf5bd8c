"""Mates by checks, and that there is none: a df-pn search, compiled, whose verdicts are proofs.

It knows states, and no player, clock or network. A position has a proof number and a disproof number, about how many
positions must yet be seen to be mates, or to be none, until it is proven to be one, or refuted. Each look goes on where
the last one ended: what it learned is in a table, by the board and what the attacker holds. Who has more in hand mates
too, who has less does not: so with a proof is kept what it needs in hand, with a refutation the most that it allows.

A position that comes back with no more in hand than before is no progress, so the attacker may not go there. What is
refuted by that alone is so on this path only, and is kept apart, by path. What had to be cut, because the path or the
room for its moves came to an end, is never refuted, nor is anything that hangs on it.

What was played before the root it does not know. A mate is one from there on, by the rules that count from there on; a
refutation holds whatever was played. `MateSearch.may_repeat` says whether a mate may lead through earlier positions.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from pydlshogi.games.shogi.board import (
    DROP,
    HIGH_BITS,
    ORIGIN,
    PROMOTE,
    SEVEN_BITS,
    Board,
    army,
    attackers,
    between,
    has_all,
    held,
    occupied,
    of_kind,
    one_held,
    piece_at,
)
from pydlshogi.games.shogi.moves import MOST_MOVES, legal_moves
from pydlshogi.games.shogi.names import BISHOP, PAWN, PROMOTED, ROOK
from pydlshogi.games.shogi.sfen import read_sfen
from pydlshogi.games.shogi.short_mates import Lists, cover_of, forces_mate, list_checks, mate_in_one
from pydlshogi.games.shogi.state import STATE, board_of, key_after, play, through
from pydlshogi.games.shogi.tables import NO_SQUARE
from pydlshogi.support.arrays import Int32Array, Record, Records, Uint16Array
from pydlshogi.support.kernels.bits import bit, count, lowest, nothing, without_lowest
from pydlshogi.support.kernels.compiled import compiled, inlined, rule, wide, word

Line: TypeAlias = tuple[int, ...]
"""The moves of a mate, as in cshogi's lowest 16 bits, the attacker's first and last: the longest defence against it.
Empty: no mate."""

_MATE_IN_ONE: Final = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"

ENDLESS: Final = 1 << 20
"""Plies: a mate may be of any length."""
_LONGEST: Final = 2000
"""Plies of a path, and room for their moves."""
_MOST_CHILDREN: Final = 1 << 16
_INFINITE: Final = 1 << 30
_CLUSTER: Final = 16
"""Entries among which a position has its place."""
_CUT: Final = -1
"""A refutation hangs on a position of the path: on this one it hangs on a cut,"""
_NOTHING: Final = 1 << 20
"""and on this one on none."""
_PATH_BITS: Final = 4095

ENTRY: Final = np.dtype(
    [
        ("key", np.uint64),  # of the board and who attacks; 0: free
        ("hand", np.uint64),  # the attacker's; with a proof the least, with a refutation the most
        ("proof", np.uint32),  # 0: mate
        ("disproof", np.uint32),  # 0: no mate
        ("plies", np.uint16),  # of a mate
        ("move", np.uint16),  # that begins it
        ("work", np.uint32),  # nodes that it cost
    ],
    align=True,
)
_LOOP: Final = np.dtype([("key", np.uint64), ("hand", np.uint64), ("hangs_on", np.int64)], align=True)
"""What is refuted on one path: the position on which it hangs. The key is of the path too."""
_FRAME: Final = np.dtype(
    [
        ("key", np.uint64),
        ("hand", np.uint64),
        ("path", np.uint64),  # a key of all that came before
        ("begun", np.int64),  # nodes before it
        ("proof_threshold", np.int64),  # it is left when a number gets there
        ("disproof_threshold", np.int64),
        ("first", np.int32),  # its children
        ("number", np.int32),
        ("child", np.int32),  # the one being looked at
    ],
    align=True,
)
_CHILD: Final = np.dtype(
    [
        ("key", np.uint64),
        ("hand", np.uint64),
        ("bound", np.uint64),  # the least hand of a proof, the most of a refutation
        ("proof", np.int32),
        ("disproof", np.int32),
        ("hangs_on", np.int32),
        ("plies", np.int32),
        ("move", np.uint16),
        ("waits", np.uint8),  # for the one before it, or for another drop on the same square
    ],
    align=True,
)

_MIX: Final[Any] = np.uint64(0x9E3779B97F4A7C15)
_BY_PLIES: Final[Any] = np.uint64(0xD6E8FEB86659FD93)
_LOW: Final[Any] = np.uint64(0x7F7F7F7F7F7F7F7F)
_BYTE: Final[Any] = np.uint64(255)
_TURN: Final[Any] = np.uint64(1)
_WORD: Final[Any] = np.uint64


class _Arrays(NamedTuple):
    """All that a search holds."""

    table: Records  # ENTRY [a power of two]
    loops: Records  # _LOOP [a power of two]
    states: Records  # STATE [plies]: those of the path
    frames: Records  # _FRAME [plies]
    children: Records  # _CHILD: those of all frames
    passed: Int32Array  # [_PATH_BITS + 1]: how many frames have keys with such bits
    spare: Records  # STATE [2]
    moves: Uint16Array
    replies: Uint16Array
    others: Uint16Array


class _Job(NamedTuple):
    """What is looked for."""

    attacker: int
    salt: int  # tells attackers, and sets of pieces, apart in a table
    plies: int


# Hands


@inlined
def _kinds(high: int) -> int:
    """Whole bytes from their highest bits."""
    return word((high >> word(7)) * _BYTE)


@inlined
def _union(one: int, other: int) -> int:
    more = _kinds(((one | HIGH_BITS) - other) & HIGH_BITS)
    return (one & more) | (other & ~more)


@inlined
def _intersection(one: int, other: int) -> int:
    more = _kinds(((one | HIGH_BITS) - other) & HIGH_BITS)
    return (other & more) | (one & ~more)


@inlined
def _held_kinds(hand: int) -> int:
    return _kinds((hand + _LOW) & HIGH_BITS)


@rule
def _before(board: Board, move: int, hand: int) -> int:
    """What must be held to hold `hand` after a move, or may be."""
    origin = (move >> ORIGIN) & SEVEN_BITS
    if origin > DROP:
        return hand + one_held(origin - DROP)
    taken = piece_at(board, move & SEVEN_BITS)
    return hand - one_held(taken & 7) if taken and held(hand, taken & 7) else hand


@rule
def _without_interposing(state: Record, attacker: int, hand: int) -> int:
    """`hand`, and all that the attacker holds of what the defender in check lacks and could else put between."""
    board, king = board_of(state), wide(state.kings[1 - attacker])
    checkers = attackers(army(board, attacker), attacker, king, occupied(board))
    if without_lowest(checkers) or not between(king, lowest(checkers)):
        return hand
    there = _held_kinds(state.hands[1 - attacker])
    return word((hand & there) | (state.hands[attacker] & ~there))


# The table


class _Known(NamedTuple):
    proof: int
    disproof: int
    plies: int
    bound: int
    move: int
    known: bool


@rule
def _lookup(table: Records, key: int, hand: int) -> _Known:
    """The shortest mate that is known; a refutation; or numbers, and at least those of who holds more or less."""
    mask = word(len(table) - 1)
    start = (key * _MIX) >> word(20)
    proof = disproof = wide(1)
    known = False
    plies, bound, move = wide(ENDLESS), word(hand), wide(0)
    for i in range(_CLUSTER):
        entry = table[(start + word(i)) & mask]
        if entry.key == 0:  # nothing was ever put beyond
            break
        if entry.key != key:
            continue
        if entry.proof == 0:
            if wide(entry.plies) < plies and has_all(hand, entry.hand):
                plies, bound, move = wide(entry.plies), word(entry.hand), wide(entry.move)
        elif entry.disproof == 0:
            if has_all(entry.hand, hand):
                return _Known(wide(_INFINITE), wide(0), wide(0), word(entry.hand), wide(0), True)
        elif entry.hand == hand:
            known = True
            proof, disproof = max(proof, wide(entry.proof)), max(disproof, wide(entry.disproof))
        elif has_all(entry.hand, hand):
            known = True
            proof = max(proof, wide(entry.proof))
        elif has_all(hand, entry.hand):
            known = True
            disproof = max(disproof, wide(entry.disproof))
    if plies < ENDLESS:
        return _Known(wide(0), wide(_INFINITE), plies, bound, move, True)
    return _Known(proof, disproof, wide(0), word(hand), wide(0), known)


@inlined
def _within(key: int, plies: int) -> int:
    """The key of what is known of a position where a mate must come within so many plies."""
    return key if plies >= ENDLESS else key ^ (((word(plies) + word(1)) * _BY_PLIES) & ~_TURN)


@rule
def _lookup_within(table: Records, key: int, hand: int, plies: int) -> _Known:
    known = _lookup(table, key, hand)
    if plies >= ENDLESS or known.disproof == 0 or (known.proof == 0 and known.plies <= plies):
        return known
    return _lookup(table, _within(key, plies), hand)


@rule
def _store(
    table: Records, key: int, exact: int, bound: int, proof: int, disproof: int, plies: int, move: int, work: int
) -> None:
    """Keep what is known of a position where `exact` is held, in the place of what is known no better.

    If there is none, and none is free, in the place of what cost the least; a mate is worth more, as part of lines.
    Others cost less from then on, so that what is old makes room some day.
    """
    mask = word(len(table) - 1)
    start = (key * _MIX) >> word(20)
    place, rank, least = word(0), wide(0), wide(1) << wide(40)
    for i in range(_CLUSTER):
        at = (start + word(i)) & mask
        entry = table[at]
        if entry.key == 0:
            if rank < 2:
                place, rank = at, wide(2)
            break
        if entry.key == key:
            if entry.proof == 0:
                if proof == 0:
                    if has_all(bound, entry.hand) and entry.plies <= plies:
                        return
                    if has_all(entry.hand, bound) and plies <= entry.plies:
                        place, rank = at, wide(4)
            elif entry.disproof == 0:
                if disproof == 0 and has_all(bound, entry.hand):
                    place, rank = at, wide(4)
            elif entry.hand == exact and rank < 3:
                place, rank = at, wide(3)
        worth = wide(entry.work) << wide(4) if entry.proof == 0 else wide(entry.work)
        if worth < least:
            least = worth
            if rank < 2:
                place, rank = at, wide(1)
    if rank == 1:
        for i in range(_CLUSTER):
            entry = table[(start + word(i)) & mask]
            entry.work -= entry.work >> 3
    entry = table[place]
    entry.key, entry.hand = key, bound
    entry.proof, entry.disproof = min(proof, wide(_INFINITE)), min(disproof, wide(_INFINITE))
    entry.plies, entry.move, entry.work = plies, move, min(work, wide(_INFINITE))


@inlined
def _path_key(key: int, hand: int, path: int) -> int:
    return word(((key ^ (hand * _MIX) ^ path) * _MIX) | _TURN)


@rule
def _recall(arrays: _Arrays, child: Record, path: int, plies: int) -> bool:
    """Fill a child with what is known of it on this path; whether anything is."""
    known = _lookup_within(arrays.table, child.key, child.hand, plies)
    hangs_on = wide(_NOTHING)
    proof, disproof = known.proof, known.disproof
    if proof and disproof:
        code = _path_key(child.key, child.hand, path)
        loop = arrays.loops[(code >> word(20)) & word(len(arrays.loops) - 1)]
        if loop.key == code and loop.hand == child.hand and plies >= ENDLESS:
            proof, disproof, hangs_on = wide(_INFINITE), wide(0), wide(loop.hangs_on)
        elif not known.known:
            return False
    child.proof, child.disproof, child.plies, child.bound = proof, disproof, known.plies, known.bound
    child.hangs_on = hangs_on
    return True


@rule
def _ancestor(arrays: _Arrays, depth: int, key: int, hand: int) -> int:
    """The last position of the path, up to `depth`, with this board and as much in hand or more; else _NOTHING."""
    if arrays.passed[wide(key >> word(30)) & _PATH_BITS] == 0:
        return _NOTHING
    while depth >= 0:
        frame = arrays.frames[depth]
        if frame.key == key and has_all(frame.hand, hand):
            return depth
        depth -= 2
    return _NOTHING


# The children of a position


@inlined
def _settle(child: Record, proof: int, bound: int) -> None:
    """The child is proven to be a mate, `proof` 0, or refuted, _INFINITE."""
    child.proof, child.disproof, child.bound = proof, _INFINITE - proof, bound
    child.plies, child.hangs_on = 0, _NOTHING


@rule
def _mating_move(state: Record, replies: Uint16Array) -> int:
    """A move that mates at once, or 0; 0 also where the side is in check."""
    if state.check:
        return 0
    board, side = board_of(state), wide(state.turn)
    own_king, king = wide(state.kings[side]), wide(state.kings[1 - side])
    hand, enemy_hand = state.hands[side], state.hands[1 - side]
    return mate_in_one(board, side, own_king, king, hand, enemy_hand, cover_of(board, side, king), replies)


@rule
def _look_at_check(arrays: _Arrays, job: _Job, state: Record, child: Record, plies: int) -> None:
    """First numbers of a position after a check: the more evasions the harder. No evasion is a mate."""
    after = arrays.spare[0]
    play(state, child.move, after)
    evasions = legal_moves(after, arrays.replies)
    if evasions == 0:
        _settle(child, wide(0), _without_interposing(after, job.attacker, word(0)))
    elif plies < 2:
        _settle(child, wide(_INFINITE), child.hand)
    else:
        child.proof, child.disproof, child.hangs_on = 1 + (evasions >> 1), 1, _NOTHING


@rule
def _look_at_evasion(arrays: _Arrays, job: _Job, state: Record, child: Record) -> None:
    """First numbers of a position after an evasion: how many checks there are, unless one of them mates."""
    after = arrays.spare[0]
    play(state, child.move, after)
    mate = _mating_move(after, arrays.replies)
    if mate:
        play(after, mate, arrays.spare[1])
        bound = _before(board_of(after), mate, _without_interposing(arrays.spare[1], job.attacker, word(0)))
        _settle(child, wide(0), bound)
        child.plies = 1
        _store(arrays.table, child.key, child.hand, bound, wide(0), wide(_INFINITE), wide(1), mate, wide(1))
    else:
        child.proof, child.disproof, child.hangs_on = 1, 1, _NOTHING


@rule
def _expand(arrays: _Arrays, job: _Job, depth: int, known: bool) -> None:
    """List the children of the last position of the path, and what is known of them.

    A move that mates within three is listed alone; a position that is `known` has none. Where a pawn, bishop or rook
    may promote, not to do so waits; so does a second kind of piece to put on the same square between the king and the
    checking piece.
    """
    frame, state = arrays.frames[depth], arrays.states[depth]
    side, first, left = wide(state.turn), wide(frame.first), job.plies - depth
    attacks = side == job.attacker
    board, forced = board_of(state), False
    if attacks:
        number = list_checks(state, arrays.moves, arrays.spare[0])
        if not known and left > 2 and state.kings[side] != NO_SQUARE:
            lists = Lists(arrays.moves, arrays.replies, arrays.others)
            for i in range(number):
                if forces_mate(state, wide(arrays.moves[i]), lists):
                    arrays.moves[0], number, forced = arrays.moves[i], wide(1), True
                    break
    else:
        number = legal_moves(state, arrays.moves)
    frame.number = number
    left = left - 1 if job.plies < ENDLESS else wide(ENDLESS)
    for i in range(number):
        child = arrays.children[first + i]
        move = wide(arrays.moves[i])
        origin = (move >> ORIGIN) & SEVEN_BITS
        key, hand = key_after(state, move)
        if attacks:
            kind = piece_at(board, origin) & 15 if origin <= DROP else wide(0)
            stays = i > 0 and wide(arrays.moves[i - 1]) == move | PROMOTE
            child.waits = stays and kind in (PAWN, BISHOP, ROOK)
        else:
            hand = state.hands[job.attacker]
            child.waits = origin > DROP
        key ^= job.salt
        child.key, child.hand, child.move = key, hand, move
        child.plies, child.bound = 0, hand
        if left >= ENDLESS:
            ancestor = _ancestor(arrays, depth - 1, key, hand)
            if ancestor != _NOTHING:
                _settle(child, wide(_INFINITE), hand)
                child.hangs_on = ancestor
                continue
        elif left < 1 and not attacks:
            _settle(child, wide(_INFINITE), hand)
            continue
        if _recall(arrays, child, frame.path, left):
            continue
        if forced:
            child.proof, child.disproof, child.hangs_on = 1, 1, _NOTHING
        elif attacks:
            _look_at_check(arrays, job, state, child, left)
            if child.proof == 0:
                frame.number = i + 1
                return
        else:
            _look_at_evasion(arrays, job, state, child)


# The search


class _Sum(NamedTuple):
    """The numbers of a position by those of its children."""

    least: int  # of the child to look at: a proof number if the attacker moves, else a disproof number
    total: int  # the other number
    best: int
    second: int  # the least of the others
    others: int  # the total without the best child's


@rule
def _add_up(children: Records, first: int, end: int, attacks: bool) -> _Sum:
    """The total is the greatest number and one for each other child: sums of numbers that share much get too large.

    Evasions share less: half way to their sum. With all of it mates by way of repetitions are not found.
    """
    least = second = wide(_INFINITE)
    most = many = added = wide(0)
    best, number_of_best = wide(-1), wide(-1)
    waiting_for = nothing()
    for i in range(first, end):
        child = children[i]
        one, other = wide(child.proof), wide(child.disproof)
        if not attacks:
            one, other = other, one
        if child.waits and other:
            if attacks:
                if children[i - 1].disproof:
                    continue
            else:
                square = bit(wide(child.move) & SEVEN_BITS)
                if waiting_for & square:
                    continue
                waiting_for |= square
        if other:
            most = max(most, other)
            many += 1
            added += other
        if one < least or (one == least and other > number_of_best):
            second = least
            least, best, number_of_best = one, i, other
        elif one < second:
            second = one
    total = most + many - 1
    if not attacks:
        total += (added - total) >> 1
    total = min(total, wide(_INFINITE - 1)) if 0 < most < _INFINITE else most
    return _Sum(least, total, best, second, total - number_of_best)


class _Outcome(NamedTuple):
    """What becomes of a position when it is left."""

    proof: int
    disproof: int
    plies: int
    hangs_on: int
    bound: int


@rule
def _prove(arrays: _Arrays, job: _Job, depth: int, work: int) -> _Outcome:
    """A position is a mate. It is stored with what its proof needs in hand."""
    frame, state = arrays.frames[depth], arrays.states[depth]
    first, end = wide(frame.first), wide(frame.first) + wide(frame.number)
    plies, move, bound = wide(0), wide(0), word(0)
    if wide(state.turn) == job.attacker:
        plies = wide(ENDLESS)
        for i in range(first, end):
            child = arrays.children[i]
            if child.proof == 0 and wide(child.plies) + 1 < plies:
                plies, move, bound = wide(child.plies) + 1, wide(child.move), word(child.bound)
        bound = _before(board_of(state), move, bound)
    else:
        for i in range(first, end):
            child = arrays.children[i]
            plies, bound = max(plies, wide(child.plies) + 1), _union(bound, child.bound)
        bound = _without_interposing(state, job.attacker, bound)
    _store(arrays.table, frame.key, frame.hand, bound, wide(0), wide(_INFINITE), plies, move, work)
    return _Outcome(wide(0), wide(_INFINITE), plies, wide(_NOTHING), bound)


@rule
def _refute(arrays: _Arrays, job: _Job, depth: int, work: int) -> _Outcome:
    """A position is no mate, and stored as such if that hangs on nothing that came before; else by its path."""
    frame, state = arrays.frames[depth], arrays.states[depth]
    first, end = wide(frame.first), wide(frame.first) + wide(frame.number)
    everything = state.hands[0] + state.hands[1]
    if wide(state.turn) == job.attacker:
        hangs_on, bound = wide(_NOTHING), everything & _held_kinds(frame.hand)
        for i in range(first, end):
            child = arrays.children[i]
            hangs_on = min(hangs_on, wide(child.hangs_on))
            bound = _intersection(bound, _before(board_of(state), wide(child.move), word(child.bound)))
    else:
        hangs_on, bound = wide(_CUT - 1), word(0)
        for i in range(first, end):
            child = arrays.children[i]
            if child.disproof == 0 and wide(child.hangs_on) > hangs_on:
                hangs_on, bound = wide(child.hangs_on), word(child.bound)
    if hangs_on >= depth:
        key = _within(frame.key, job.plies - depth if job.plies < ENDLESS else wide(ENDLESS))
        _store(arrays.table, key, frame.hand, bound, wide(_INFINITE), wide(0), wide(0), wide(0), work)
        return _Outcome(wide(_INFINITE), wide(0), wide(0), wide(_NOTHING), bound)
    return _by_path(arrays, frame, hangs_on)


@rule
def _by_path(arrays: _Arrays, frame: Record, hangs_on: int) -> _Outcome:
    """A refutation that hangs on something before it."""
    code = _path_key(frame.key, frame.hand, frame.path)
    loop = arrays.loops[(code >> word(20)) & word(len(arrays.loops) - 1)]
    loop.key, loop.hand, loop.hangs_on = code, frame.hand, hangs_on
    return _Outcome(wide(_INFINITE), wide(0), wide(0), hangs_on, word(frame.hand))


@inlined
def _passed_at(frame: Record) -> int:
    return wide(frame.key >> word(30)) & _PATH_BITS


@compiled
def _search(arrays: _Arrays, job: _Job, nodes: int) -> tuple[int, int, int, int]:
    """Look at states[0] with about so many nodes.

    Returns its proof and disproof numbers, on what it hangs, and how many nodes it were.
    """
    depth = spent = wide(0)
    frame = arrays.frames[0]
    frame.key, frame.hand = arrays.states[0].board_key ^ job.salt, arrays.states[0].hands[job.attacker]
    frame.path, frame.first, frame.begun = word(0), 0, 0
    frame.proof_threshold = frame.disproof_threshold = _INFINITE
    arrays.passed[_passed_at(frame)] += 1
    known = False
    _expand(arrays, job, depth, known)
    spent += 1
    while True:
        frame = arrays.frames[depth]
        attacks = wide(arrays.states[depth].turn) == job.attacker
        end = wide(frame.first) + wide(frame.number)
        sums = _add_up(arrays.children, wide(frame.first), end, attacks)
        proof, disproof = (sums.least, sums.total) if attacks else (sums.total, sums.least)
        left = job.plies - depth if job.plies < ENDLESS else wide(ENDLESS)
        cut = depth + 1 == len(arrays.frames) or end + MOST_MOVES > len(arrays.children)
        over = spent >= nodes or proof >= frame.proof_threshold or disproof >= frame.disproof_threshold
        if over or cut or proof == 0 or disproof == 0:
            work = spent - wide(frame.begun)
            if proof == 0:
                outcome = _prove(arrays, job, depth, work)
            elif disproof == 0:
                outcome = _refute(arrays, job, depth, work)
            elif cut:
                outcome = _by_path(arrays, frame, wide(_CUT))
            else:
                key = _within(frame.key, left)
                _store(arrays.table, key, frame.hand, frame.hand, proof, disproof, wide(0), wide(0), work)
                outcome = _Outcome(proof, disproof, wide(0), wide(_NOTHING), word(frame.hand))
            arrays.passed[_passed_at(frame)] -= 1
            if depth == 0:
                return outcome.proof, outcome.disproof, outcome.hangs_on, spent
            depth -= 1
            child = arrays.children[arrays.frames[depth].child]
            child.proof, child.disproof, child.hangs_on = outcome.proof, outcome.disproof, outcome.hangs_on
            child.plies, child.bound = outcome.plies, outcome.bound
            continue
        child = arrays.children[sums.best]
        proof, disproof = wide(child.proof), wide(child.disproof)
        known = _recall(arrays, child, frame.path, left - 1 if left < ENDLESS else wide(ENDLESS))
        if known and (wide(child.proof) != proof or wide(child.disproof) != disproof):
            continue
        frame.child = sums.best
        least = sums.second + 1 + (sums.second >> 3)
        after = arrays.frames[depth + 1]
        if attacks:
            after.proof_threshold = min(wide(frame.proof_threshold), least)
            after.disproof_threshold = wide(frame.disproof_threshold) - sums.others
        else:
            after.disproof_threshold = min(wide(frame.disproof_threshold), least)
            after.proof_threshold = wide(frame.proof_threshold) - sums.others
        play(arrays.states[depth], child.move, arrays.states[depth + 1])
        after.key, after.hand, after.begun = child.key, child.hand, spent
        after.path = (frame.path ^ frame.key ^ (frame.hand * _MIX)) * _MIX + _TURN
        after.first = end
        depth += 1
        arrays.passed[_passed_at(after)] += 1
        spent += 1
        _expand(arrays, job, depth, known)


@compiled
def _follow(arrays: _Arrays, job: _Job, plies: int, line: Uint16Array) -> tuple[int, int]:
    """Fill `line` with the mate within `plies` of states[0], by the table: how many moves, and how many plies are left.

    0 plies are left where it is whole. Else the table has lost what comes after these moves; there is a mate within
    so many plies. What turns out to be shorter than the table says is put right there, and the line begun anew.
    """
    while True:
        depth, left, shortened = wide(0), plies, False
        while not shortened:
            state, answered = arrays.states[0], arrays.states[2]
            if depth == 0:
                arrays.states[1] = state
            state = arrays.states[1]
            known = _lookup(arrays.table, state.board_key ^ job.salt, state.hands[job.attacker])
            if known.proof or known.plies > left:
                return depth, left
            play(state, known.move, answered)
            line[depth] = known.move
            number = legal_moves(answered, arrays.moves)
            longest, evasion = wide(-1), wide(0)
            for i in range(number):
                key, _ = key_after(answered, arrays.moves[i])
                reply = _lookup(arrays.table, key ^ job.salt, answered.hands[job.attacker])
                if reply.proof or reply.plies > known.plies - 2:
                    line[depth + 1] = arrays.moves[i]
                    return depth + 2, known.plies - 2
                if reply.plies > longest:
                    longest, evasion = reply.plies, wide(arrays.moves[i])
            if longest + 2 < known.plies:
                key, hand = state.board_key ^ job.salt, state.hands[job.attacker]
                # With less in hand, as the proof may have, it need not be shorter.
                mate = longest + 2
                _store(arrays.table, key, hand, hand, wide(0), wide(_INFINITE), mate, known.move, wide(plies))
                shortened = True
            elif number == 0:
                return depth + 1, wide(0)
            else:
                line[depth + 1] = evasion
                play(answered, evasion, arrays.states[1])
                depth += 2
                left = known.plies - 2


@compiled
def _least_known(arrays: _Arrays, job: _Job, states: Records) -> int:
    """Plies of the shortest mate that the table has of some states, whoever moves there; ENDLESS: it has none."""
    least = wide(ENDLESS)
    for i in range(len(states)):
        known = _lookup(arrays.table, states[i].board_key ^ job.salt, states[i].hands[job.attacker])
        if known.proof == 0:
            least = min(least, known.plies)
    return least


@compiled
def _salt(states: Records, attacker: int) -> int:
    """A key for the attacker and the pieces that there are: what is in a hand tells the other hand only with these."""
    state = states[0]
    board, salt = board_of(state), word(attacker + 1)
    for kind in range(1, 8):
        plain, promoted = of_kind(board, occupied(board), kind), of_kind(board, occupied(board), kind | PROMOTED)
        men = count(plain | promoted) + held(state.hands[0], kind) + held(state.hands[1], kind)
        salt = (salt ^ word(men)) * _MIX
    return word(salt & ~_TURN)


class Verdict(Enum):
    """What is known of a position."""

    MATE = "mate"
    NO_MATE = "nomate"
    OPEN = "open"
    CUT = "cut"
    """Further looks find nothing either: something is too long for the room that there is."""


class MateSearch:
    """Looks for mates by whoever is to move. One thread at a time may use it, and holds no GIL while it looks."""

    def __init__(self, megabytes: float = 64, plies: int = _LONGEST, children: int = _MOST_CHILDREN) -> None:
        """`megabytes` of table; how long a path may be, and how many moves may be listed along it."""
        entries = 1 << max(4, int(megabytes * 2**20 / ENTRY.itemsize)).bit_length() - 1
        self._arrays = _Arrays(
            table=np.zeros(entries, ENTRY),
            loops=np.zeros(max(16, entries >> 3), _LOOP),
            states=np.zeros(max(plies, 3), STATE),
            frames=np.zeros(plies, _FRAME),
            children=np.zeros(children + MOST_MOVES, _CHILD),
            passed=np.zeros(_PATH_BITS + 1, np.int32),
            spare=np.zeros(2, STATE),
            moves=np.zeros(MOST_MOVES, np.uint16),
            replies=np.zeros(MOST_MOVES, np.uint16),
            others=np.zeros(MOST_MOVES, np.uint16),
        )
        self.nodes = 0
        """All that were made."""

    def forget(self) -> None:
        """Forget all that was found."""
        self._arrays.table[:] = 0
        self._arrays.loops[:] = 0

    def look(self, states: Records, nodes: int, plies: int = ENDLESS) -> Verdict:
        """Go on looking for a mate within `plies` at states[0], with so many nodes or a few more."""
        if plies < 1 or states[0]["kings"][1 - states[0]["turn"]] == NO_SQUARE:
            return Verdict.NO_MATE
        self._arrays.states[0] = states[0]
        proof, disproof, hangs_on, spent = _search(self._arrays, self._job(states, plies), nodes)
        self.nodes += spent
        if proof == 0:
            return Verdict.MATE
        if disproof == 0:
            return Verdict.CUT if hangs_on == _CUT else Verdict.NO_MATE
        return Verdict.OPEN

    def plies(self, states: Records) -> int:
        """How long the mate at states[0] is as far as is known; 0: none is known."""
        known = _least_known(self._arrays, self._job(states), states[:1])
        return known if known < ENDLESS else 0

    def line(self, states: Records, nodes: int) -> Line:
        """The mate known at states[0], whole. What the table has lost of it is looked for again, with so many nodes."""
        line: Uint16Array = np.zeros(self.plies(states) + 1, np.uint16)
        end = self.nodes + nodes
        while len(line) > 1:
            self._arrays.states[0] = states[0]
            played, left = _follow(self._arrays, self._job(states), len(line) - 1, line)
            if not left:
                return tuple(line[:played].tolist())
            lost = through(states, line[:played])[-1:]
            if self.nodes >= end or self.look(lost, end - self.nodes, left) != Verdict.MATE:
                break
        return ()

    def shorter(self, states: Records, line: Line, nodes: int, looks: int) -> Iterator[Line]:
        """Ever shorter mates than `line`, each looked for with at most so many nodes; () after each of some looks."""
        end = self.nodes + nodes
        while len(line) > 1 and self.nodes < end:
            verdict = self.look(states, min(looks, end - self.nodes), len(line) - 2)
            if verdict == Verdict.MATE and (found := self.line(states, looks)):
                line, end = found, self.nodes + nodes
                yield line
            elif verdict in {Verdict.MATE, Verdict.OPEN}:
                yield ()
            else:
                return

    def may_repeat(self, states: Records, plies: int, past: Records) -> bool:
        """Whether a mate in so many plies at states[0] may lead through one of the positions `past`.

        All positions of a mate are known as shorter ones, unless the table has lost them.
        """
        return bool(_least_known(self._arrays, self._job(states), past) < plies)

    def _job(self, states: Records, plies: int = ENDLESS) -> _Job:
        attacker = int(states[0]["turn"])
        return _Job(attacker, _WORD(_salt(states, attacker)), plies)


def prepare() -> None:
    """Have all kernels ready."""
    search, states = MateSearch(0, plies=8, children=64), read_sfen(_MATE_IN_ONE)[0]
    search.look(states, 100)
    search.may_repeat(through(states, search.line(states, 100)), 1, states)
