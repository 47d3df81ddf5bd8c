"""The way up: the ends of playouts become nodes, are evaluated, and what they are worth is backed up."""

from typing import Final

import numpy as np

from pydlshogi.game import UNDECIDED
from pydlshogi.support.arrays import Float32Array, Int32Array, Record, Records, Uint16Array
from pydlshogi.support.compiled import compiled, inlined, rule, wide
from pydlshogi.support.mutex import hold_soon, release
from pydlshogi.uct.edges import bring_best, reserve_edges
from pydlshogi.uct.playouts import AGAIN, ASK, BACK_UP, COLLIDED, NEW, UNDO, WAIT, Walk
from pydlshogi.uct.tree import AWAITED, EXPANDED, LEAF, NONE, Tree
from pydlshogi.uct.uct_node import insert, reserve_root_edges, slot_of
from pydlshogi.uct.values import back_up_path, close, mean, value_of_verdict

_MAX_EVALUATIONS: Final = 100
"""Most evaluations of one node that count."""


@rule
def enter(walk: Walk, rows: Records, steps: Records, asked: Int32Array) -> tuple[int, int]:
    """Settle what the rules have told of the ends of `rows`; returns how many evaluations are asked for, and how many
    of the rows are playouts: not undone, and no mere evaluations of a root.

    `asked`, int32 [rows], gets the row of each evaluation.
    """
    tree, roots = walk.tree, walk.roots
    hold_soon(tree.lock)
    requests = 0
    for i in range(len(rows)):
        row = rows[i]
        row.request = NONE
        row.fate = _fate(walk, row)
        if row.fate == ASK:
            _ask(walk, row, requests)
            asked[requests] = i
            requests += 1
        elif row.fate == WAIT:
            # The node knows the number of its request, but not in whose batch: the row that asked tells.
            request = wide(tree.nodes[row.node].stats)
            if request < requests and rows[asked[request]].node == row.node:
                row.request = request
            else:
                row.fate = UNDO
    playouts = 0
    for i in range(len(rows)):
        row = rows[i]
        _settle(tree, row, steps)
        if row.fate != UNDO and row.length > 0:
            playouts += 1
            roots[row.tree].playouts += 1
            roots[row.tree].deepest = max(roots[row.tree].deepest, row.length)
    release(tree.lock)
    return requests, playouts


@inlined
def _fate(walk: Walk, row: Record) -> int:
    """What becomes of a playout; its `row` gets the node where it ends, and the value where that is known."""
    nodes, puct, depth = walk.tree.nodes, walk.puct[0], wide(row.length)
    if row.ending == COLLIDED:
        return UNDO
    if row.by_path:
        # The verdict is not kept in the node, which other paths reach too.
        if row.ending == AGAIN:
            nodes[row.node].state = LEAF
        row.node = NONE
    elif row.ending == NEW:
        ply = walk.roots[row.tree].ply + depth
        key = row.key ^ walk.salts[row.tree]
        slot = slot_of(walk.tree, key, ply)
        row.node = walk.tree.slots[slot]
        if row.node == NONE:  # and so it stays where there is no room
            row.node = insert(walk.tree, slot, key, row.board_key, ply)
    node = wide(row.node)
    unmet = row.ending == AGAIN or (row.ending == NEW and (node == NONE or nodes[node].state == LEAF))
    if row.verdict != UNDECIDED:
        if unmet and node != NONE:
            close(nodes, node, row.verdict)
        row.value = value_of_verdict(row.verdict, puct, depth)
        return BACK_UP
    if unmet:
        return ASK
    if nodes[node].state == AWAITED:
        return WAIT
    # A known position, reached by another order of moves; or a board that stood before and is no repetition.
    row.value = mean(nodes, node)
    return BACK_UP


@inlined
def _ask(walk: Walk, row: Record, request: int) -> None:
    """Let `row` wait for evaluation number `request` of this batch, which is that of its end."""
    nodes, node = walk.tree.nodes, wide(row.node)
    row.request = request
    row.known = np.nan
    row.expands = False
    if node != NONE:
        nodes[node].state = AWAITED
        nodes[node].stats = request
        if nodes[node].evaluations > 0:
            row.known = nodes[node].value
        row.expands = row.length == 0 or nodes[node].evaluations + 1 >= walk.puct[0].expand_at


@rule
def _settle(tree: Tree, row: Record, steps: Records) -> None:
    """Link a path to its end; back it up if its value is known, undo it if it collided."""
    nodes, stats = tree.nodes, tree.stats
    first, depth = wide(row.first), wide(row.length)
    if row.ending == NEW:
        last = steps[first + depth - 1]
        stats[nodes[last.node].stats + last.edge].child = row.node
        if row.node != NONE:
            nodes[row.node].references += 1
    if row.fate == UNDO:
        for level in range(first, first + depth):
            node = steps[level].node
            edge = steps[level].edge
            stat = nodes[node].stats + edge
            stats[stat].visits -= 1
            nodes[node].visits -= 1
            nodes[node].in_flight -= 1
            if stats[stat].visits == 0:
                nodes[node].visited_policy -= tree.priors[nodes[node].first + edge]
    elif row.fate == BACK_UP:
        back_up_path(tree, steps, first, depth, wide(row.node), row.value)


@compiled
def back_up(
    tree: Tree,
    puct: Records,
    rows: Records,
    steps: Records,
    asked: Int32Array,
    moves: Uint16Array,
    first_priors: Int32Array,
    priors: Float32Array,
    values: Float32Array,
    lasting: Float32Array,
) -> None:
    """Expand the nodes of the rows `asked` for, and back up the `values`, one for each request.

    `moves`, uint16 [rows, most moves], are the legal moves of each row. The priors of request i begin at
    `first_priors[i]` in `priors`. `lasting` is what lasts of the `values`, see `Evaluations`.
    """
    hold_soon(tree.lock)
    for i in range(len(asked)):
        row = rows[asked[i]]
        # Without room for its edges a node stays LEAF and is evaluated at each visit.
        row.edges = NONE
        if row.length == 0:
            row.edges = reserve_root_edges(tree, wide(row.count))
        elif row.node != NONE and row.expands:
            row.edges = reserve_edges(tree, wide(row.count))
    release(tree.lock)
    # Nobody looks for edges at a node that awaits its evaluation, so others may have the lock meanwhile.
    for i in range(len(asked)):
        first, count = wide(rows[asked[i]].edges), wide(rows[asked[i]].count)
        if first != NONE:
            for edge in range(count):
                tree.moves[first + edge] = moves[asked[i], edge]
                tree.priors[first + edge] = priors[first_priors[i] + edge] + np.float32(puct[0].prior_bonus)
            bring_best(tree, first, first + count)
    hold_soon(tree.lock)
    for i in range(len(asked)):
        if rows[asked[i]].node != NONE:
            _note(tree, rows[asked[i]], values[i], lasting[i])
    for i in range(len(rows)):
        row = rows[i]
        if row.request != NONE:
            # NONE as the end: a node that was just evaluated proves nothing.
            back_up_path(tree, steps, wide(row.first), wide(row.length), NONE, float(values[row.request]))
    release(tree.lock)


@inlined
def _note(tree: Tree, row: Record, value: float, lasting: float) -> None:
    """Note an evaluation in the node where `row` ends, and its edges."""
    nodes, node = tree.nodes, wide(row.node)
    if nodes[node].evaluations == 0:
        nodes[node].value = lasting
    if nodes[node].evaluations < _MAX_EVALUATIONS:
        nodes[node].value_sum += value
        nodes[node].evaluations += 1
    nodes[node].state = LEAF
    nodes[node].stats = 0
    if row.edges != NONE:
        nodes[node].state = EXPANDED
        nodes[node].first = row.edges
        nodes[node].count = row.count
