"""The rules under a search: what they say of the positions at the ends of paths, and how these enter a batch.

The state of the game is kept beside each node, so that a position is one move from that of its parent.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.encoding import Encoding, LabelMoves, Pack, own_numbers, pack_nothing
from pydlshogi.game import UNDECIDED, Position, Rules
from pydlshogi.support.arrays import (
    BoolArray,
    Float32Array,
    Int32Array,
    Record,
    Records,
    Uint16Array,
    Uint32Array,
    Uint64Array,
)
from pydlshogi.support.kernels.compiled import compiled_for, rule, rule_for, rule_of_game, wide
from pydlshogi.uct.backup import add_leaves
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.selection import select
from pydlshogi.uct.tree import COLLIDED, MAX_DEPTH, NONE, REPEATED, SHORTEST_CYCLE, Selection, same_board, with_row

_LOST: Final = -1
"""The verdict on a position without legal moves."""


class Paths(NamedTuple):
    """A batch of paths from roots to leaves, and what the rules say of their ends."""

    rows: Records
    """ROW"""
    steps: Records
    """STEP: those of each row side by side."""
    moves: Uint16Array
    """uint16 [rows, most moves]: the legal moves at the ends."""
    ends: Records
    """The states at the ends."""
    asked: Int32Array
    """int32 [rows]: the rows that ask for an evaluation."""


class StoredBoards:
    """The compiled rules of one game, for the positions of one search, with the state of each node beside it."""

    def __init__(self, rules: Rules, settings: Records, most_nodes: int, encoding: Encoding | None = None) -> None:
        """`settings`: one record of `rules.settings`; others may take its place. `encoding`: of the batches filled."""
        self.most_moves = rules.most_moves
        """Most legal moves of any position."""
        self.repeats = rules.repeats
        """Whether a position can occur twice in a game."""
        self.state = rules.state
        self.settings = settings
        self._rules = rules
        self.states = np.zeros(most_nodes, rules.state)
        """That of each node."""
        self._past = np.zeros((1, 0), rules.state)
        self._spare: list[tuple[Records, Records]] = []
        """Arrays that the rules work in, free to use again: making them takes seven microseconds."""
        apply = rule_for(
            rules.name,
            _apply_rules,
            play=rules.play,
            key_of=rules.key,
            board_key_of=rules.board_key,
            legal_moves=rules.legal_moves,
            verdict_on=rules.verdict,
            repetition=rules.repetition,
            repeats=rules.repeats,
        )
        self._select_leaves = compiled_for(rules.name, _select_leaves, apply_rules=apply)
        labels, packs = (encoding.label_moves, encoding.pack) if encoding else (own_numbers(rules.name), pack_nothing)
        name = f"{rules.name}_{encoding.name}" if encoding else rules.name
        self._add_to_batch = compiled_for(name, _add_to_batch, label_moves=labels, pack=packs)

    def set_root(self, tree: int, node: int, position: Position) -> None:
        """`position` is the root of `tree` now, at `node`: keep its state, and those of its past."""
        states = position.states
        self.states[node] = states[-1]
        if self.repeats:
            self._past = with_row(self._past, tree, states[:-1])

    def select_leaves(self, selection: Selection, paths: Paths) -> tuple[int, int, int]:
        """Begin playouts: `select`, then key, verdict and legal moves by the rules, then `add_leaves`.

        Returns how many rows they take, how many playouts were begun, and how many evaluations are asked for. May be
        called by several threads at once, for different paths.
        """
        longest = selection.past.shape[1] + MAX_DEPTH + 1 if self.repeats else 1
        try:
            scratch, trail = self._spare.pop()
        except IndexError:
            scratch, trail = np.empty(1, self._rules.scratch), np.empty(longest, self._rules.state)
        if len(trail) < longest:
            trail = np.empty(longest, self._rules.state)
        rows, playouts, requests = self._select_leaves(
            selection, paths, self._past, self.states, self.settings, scratch, trail
        )
        self._spare.append((scratch, trail))
        return rows, playouts, requests

    def add_to_batch(self, paths: Paths, requests: int, batch: Batch) -> int:
        """Add the `requests` positions that are asked for to `batch`; returns the number of the first there."""
        first = batch.take(requests)
        self._add_to_batch(
            paths,
            requests,
            self.states,
            first,
            batch.keys,
            batch.firsts,
            batch.labels,
            batch.packed,
            batch.known_values,
            batch.expands,
        )
        return first


# The kernels of StoredBoards. What follows are the places of a game's functions in them: see `compiled_for`.

repeats = True
play: Callable[[Record, int, Record], None] = rule_of_game
key_of: Callable[[Record], int] = rule_of_game
board_key_of: Callable[[Record], int] = rule_of_game
legal_moves: Callable[[Record, Uint16Array], int] = rule_of_game
verdict_on: Callable[[Record, int, Uint16Array, int, Record, Record], int] = rule_of_game
repetition: Callable[[Records, int], int] = rule_of_game
label_moves: LabelMoves = rule_of_game
pack: Pack = rule_of_game
apply_rules: Callable[[Selection, Paths, int, Records, Records, Records, Records, Records], None] = rule_of_game


def _select_leaves(
    selection: Selection,
    paths: Paths,
    past_states: Records,
    states: Records,
    settings: Records,
    scratch: Records,
    trail: Records,
) -> tuple[int, int, int]:
    """See `StoredBoards.select_leaves`."""
    used, known = select(selection, paths.rows, paths.steps)
    apply_rules(selection, paths, used, past_states, states, settings, scratch, trail)
    requests, waiting = add_leaves(selection, paths.rows[:used], paths.steps, paths.asked)
    return used, known + waiting, requests


def _apply_rules(
    selection: Selection,
    paths: Paths,
    count: int,
    past_states: Records,
    states: Records,
    settings: Records,
    scratch: Records,
    trail: Records,
) -> None:
    """Play the last move of each path, and ask the rules. A root is searched whatever they say of it."""
    ends, moves = paths.ends, paths.moves
    for i in range(count):
        row = paths.rows[i]
        row.verdict = UNDECIDED
        row.by_path = False
        row.count = 0
        if row.ending == COLLIDED:
            continue
        first, length = wide(row.first_step), wide(row.length)
        if length == 0 or row.ending == REPEATED:
            ends[i] = states[row.node]
        else:
            play(states[paths.steps[first + length - 1].node], row.move, ends[i])
        row.key = key_of(ends[i])
        row.board_key = board_key_of(ends[i])
        root = selection.roots[row.tree]
        if repeats and length > 0:
            # At each earlier time at which this board stood: the rules judge what was played since.
            history, residues = selection.past[row.tree, : root.past], selection.residues[row.tree]
            distance = SHORTEST_CYCLE
            while row.verdict == UNDECIDED:
                distance = same_board(paths.steps, first, length, history, residues, row.board_key, distance)
                if distance == 0:
                    break
                _retrace(paths.steps, first, length, states, past_states[row.tree, : root.past], trail[:distance])
                trail[distance] = ends[i]
                row.verdict = repetition(trail, distance)
                distance += SHORTEST_CYCLE
            row.by_path = row.verdict != UNDECIDED
        if row.by_path or row.ending == REPEATED:
            continue
        row.count = legal_moves(ends[i], moves[i])
        if length > 0:
            row.verdict = verdict_on(ends[i], root.ply + length, moves[i], row.count, settings[0], scratch[0])
            if row.verdict == UNDECIDED and row.count == 0:
                row.verdict = _LOST


@rule
def _retrace(steps: Records, first: int, depth: int, states: Records, past: Records, trail: Records) -> None:
    """Fill `trail` with the states before the end of a path of `depth` steps from `first` on, the nearest one last.

    It may begin before the root: in the game, whose states are `past`.
    """
    for place in range(len(trail)):
        level = depth - len(trail) + place
        trail[place] = states[steps[first + level].node] if level >= 0 else past[len(past) + level]


def _add_to_batch(
    paths: Paths,
    requests: int,
    states: Records,
    first: int,
    keys: Uint64Array,
    firsts: Int32Array,
    labels: Int32Array,
    packed: Uint32Array,
    known_values: Float32Array,
    expands: BoolArray,
) -> None:
    """Lay the states of new nodes beside them, and add the positions to a batch from number `first` on."""
    for i in range(requests):
        asked = paths.asked[i]
        row, end = paths.rows[asked], paths.ends[asked]
        if row.node != NONE:
            states[row.node] = end
        keys[first + i] = row.key
        known_values[first + i] = row.known_value
        expands[first + i] = row.expands
        start, count = wide(firsts[first + i]), wide(row.count) if row.expands else 0
        label_moves(end, paths.moves[asked], count, labels[start : start + count])
        firsts[first + i + 1] = start + count
        pack(end, packed[first + i])
