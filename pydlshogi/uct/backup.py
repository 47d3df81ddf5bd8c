"""After the way down: the ends of playouts become nodes, evaluated nodes get edges, and values go up the paths.

`add_leaves` comes before the evaluation of a batch, `expand` and `backup` after it.

A proof is coded as a verdict of `game.py` is: n + 1 a win within n plies, -(n + 1) a loss, 0 not known. One ply more to
the end is one more in it. A draw is never proven.
"""

from typing import Final

import numpy as np

from pydlshogi.game import DRAWN, UNDECIDED
from pydlshogi.support.arrays import Float32Array, Int32Array, Record, Records, Uint16Array
from pydlshogi.support.kernels.compiled import compiled, inlined, rule, wide
from pydlshogi.support.kernels.mutex import hold_soon, release
from pydlshogi.uct.tree import (
    ASK,
    AT_LEAF,
    AWAITED,
    BACKUP,
    COLLIDED,
    EXPANDED,
    LEAF,
    NEW,
    NONE,
    TERMINAL,
    UNDO,
    WAIT,
    Selection,
    Tree,
)
from pydlshogi.uct.uct_node import bring_best, insert, reserve_edges, reserve_root_edges, slot_of

_MAX_EVALUATIONS: Final = 100
"""Most evaluations of one node that count."""


@rule
def add_leaves(selection: Selection, rows: Records, steps: Records, asked: Int32Array) -> tuple[int, int]:
    """Make nodes of the ends of `rows`, given what the rules say of them. Returns how many evaluations are asked for,
    and how many of the rows count as playouts: undone ones do not, nor does the evaluation of a root.

    `asked`, int32 [rows], gets the row that asks for each evaluation.
    """
    tree, roots = selection.tree, selection.roots
    hold_soon(tree.lock)
    requests = 0
    for i in range(len(rows)):
        row = rows[i]
        row.request = NONE
        row.fate = _fate(selection, row)
        if row.fate == ASK:
            _ask(selection, row, requests)
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
def _fate(selection: Selection, row: Record) -> int:
    """What becomes of a playout; its `row` gets the node where it ends, and the value where that is known."""
    nodes, puct, depth = selection.tree.nodes, selection.puct[0], wide(row.length)
    if row.ending == COLLIDED:
        return UNDO
    if row.by_path:
        # The verdict is not kept in the node, which other paths reach too.
        if row.ending == AT_LEAF:
            nodes[row.node].state = LEAF
        row.node = NONE
    elif row.ending == NEW:
        ply = selection.roots[row.tree].ply + depth
        key = row.key ^ selection.salts[row.tree]
        slot = slot_of(selection.tree, key, ply)
        row.node = selection.tree.slots[slot]
        if row.node == NONE:
            row.node = insert(selection.tree, slot, key, row.board_key, ply)
    node = wide(row.node)
    unmet = row.ending == AT_LEAF or (row.ending == NEW and (node == NONE or nodes[node].state == LEAF))
    if row.verdict != UNDECIDED:
        if unmet and node != NONE:
            make_terminal(nodes, node, row.verdict)
        row.value = value_of_verdict(row.verdict, puct, depth)
        return BACKUP
    if unmet:
        return ASK
    if nodes[node].state == AWAITED:
        return WAIT
    # A known position, reached by another order of moves; or a board that stood before and is no repetition.
    row.value = mean(nodes, node)
    return BACKUP


@inlined
def _ask(selection: Selection, row: Record, request: int) -> None:
    """Ask for the evaluation of the position where `row` ends: it is number `request` of this batch."""
    nodes, node = selection.tree.nodes, wide(row.node)
    row.request = request
    row.known_value = np.nan
    row.expands = False
    if node != NONE:
        nodes[node].state = AWAITED
        nodes[node].stats = request
        if nodes[node].evaluations > 0:
            row.known_value = nodes[node].value
        row.expands = row.length == 0 or nodes[node].evaluations + 1 >= selection.puct[0].expand_at


@rule
def _settle(tree: Tree, row: Record, steps: Records) -> None:
    """Link a path to its end; back it up if its value is known, undo it if it collided."""
    nodes, stats = tree.nodes, tree.stats
    first, depth = wide(row.first_step), wide(row.length)
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
    elif row.fate == BACKUP:
        backup_path(tree, steps, first, depth, wide(row.node), row.value)


@compiled
def expand_and_backup(
    tree: Tree,
    puct: Records,
    rows: Records,
    steps: Records,
    asked: Int32Array,
    moves: Uint16Array,
    first_priors: Int32Array,
    priors: Float32Array,
    values: Float32Array,
    without_rollouts: Float32Array,
) -> None:
    """`expand`, then `backup`, with the evaluations of a batch: one for each row in `asked`.

    moves, first_priors, priors: see `expand`. values, without_rollouts: float32 [asked], as in `Evaluations`.
    """
    expand(tree, rows, asked, moves, first_priors, priors, puct[0].prior_bonus)
    backup(tree, rows, steps, asked, values, without_rollouts)


@inlined
def expand(
    tree: Tree,
    rows: Records,
    asked: Int32Array,
    moves: Uint16Array,
    first_priors: Int32Array,
    priors: Float32Array,
    prior_bonus: float,
) -> None:
    """Make edges, with moves and priors, for the nodes where the rows in `asked` end. `backup` lets others see them.

    `moves`, uint16 [rows, most moves], are the legal moves of each row. The priors of request i begin at
    `first_priors[i]` in `priors`.
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
    # No thread reads the edges of a node that awaits its evaluation, so others may have the lock meanwhile.
    for i in range(len(asked)):
        first, count = wide(rows[asked[i]].edges), wide(rows[asked[i]].count)
        if first != NONE:
            for edge in range(count):
                tree.moves[first + edge] = moves[asked[i], edge]
                tree.priors[first + edge] = priors[first_priors[i] + edge] + np.float32(prior_bonus)
            bring_best(tree, first, first + count)


@inlined
def backup(
    tree: Tree, rows: Records, steps: Records, asked: Int32Array, values: Float32Array, without_rollouts: Float32Array
) -> None:
    """Note the `values` in the nodes where the rows in `asked` end, and back them up along all paths that wait."""
    hold_soon(tree.lock)
    for i in range(len(asked)):
        if rows[asked[i]].node != NONE:
            _note(tree, rows[asked[i]], values[i], without_rollouts[i])
    for i in range(len(rows)):
        row = rows[i]
        if row.request != NONE:
            # NONE as the end: a node that was just evaluated proves nothing.
            backup_path(tree, steps, wide(row.first_step), wide(row.length), NONE, float(values[row.request]))
    release(tree.lock)


@inlined
def _note(tree: Tree, row: Record, value: float, without_rollouts: float) -> None:
    """Note an evaluation in the node where `row` ends, and its edges."""
    nodes, node = tree.nodes, wide(row.node)
    if nodes[node].evaluations == 0:
        nodes[node].value = without_rollouts
    if nodes[node].evaluations < _MAX_EVALUATIONS:
        nodes[node].value_sum += value
        nodes[node].evaluations += 1
    nodes[node].state = LEAF
    nodes[node].stats = 0
    if row.edges != NONE:
        nodes[node].state = EXPANDED
        nodes[node].first = row.edges
        nodes[node].count = row.count


# Values


@inlined
def proven_value(proof: int) -> float:
    """What a proven win or loss is worth."""
    return 1.0 if proof > 0 else 0.0


@inlined
def mean(nodes: Records, node: int) -> float:
    """Mean of the node's own evaluations and of all values backed up; 1 or 0 where a win or a loss is proven."""
    if nodes[node].proof != 0:
        return proven_value(nodes[node].proof)
    return float(nodes[node].value_sum / (nodes[node].evaluations + nodes[node].visits - nodes[node].in_flight))


@rule
def value_of_verdict(verdict: int, puct: Record, depth: int) -> float:
    """What a verdict is worth to the side to move `depth` plies below the root."""
    if verdict != DRAWN:
        return proven_value(verdict)
    return float(puct.draw_value if depth % 2 == 0 else 1.0 - puct.draw_value)


@rule
def make_terminal(nodes: Records, node: int, verdict: int) -> None:
    """Make a node TERMINAL: the rules give its value."""
    nodes[node].state = TERMINAL
    nodes[node].evaluations = 1
    if verdict == DRAWN:
        nodes[node].value = 0.5
    else:
        nodes[node].value = proven_value(verdict)
        nodes[node].proof = verdict
    nodes[node].value_sum = nodes[node].value


@inlined
def backup_path(tree: Tree, steps: Records, first: int, depth: int, end: int, value: float) -> None:
    """Back up `value`, for the side to move at node `end` (or NONE), along `depth` steps from `first` on.

    The value changes sides with every edge on the way up. A proof at the end goes up as far as it proves something,
    and from there on a win or a loss takes the place of the value.
    """
    nodes = tree.nodes
    child = end
    for level in range(first + depth - 1, first - 1, -1):
        node = wide(steps[level].node)
        value = 1.0 - value
        stat = nodes[node].stats + steps[level].edge
        tree.stats[stat].value_sum += value
        tree.stats[stat].squares += value * value
        nodes[node].value_sum += value
        nodes[node].in_flight -= 1
        if child != NONE and nodes[child].proof != 0 and _prove(tree, node, wide(nodes[child].proof)):
            value = proven_value(nodes[node].proof)
        child = node


@rule
def _prove(tree: Tree, node: int, child_proof: int) -> bool:
    """Let the proof of a child prove `node`, and return whether it does.

    A node is won as soon as one child is lost, and lost when all its children are won.
    """
    nodes = tree.nodes
    if child_proof < 0:
        _prove_win(nodes, node, 1 - child_proof)
        return True
    if nodes[node].visited_edges < nodes[node].count:
        return False
    longest = 0
    for stat in range(nodes[node].stats, nodes[node].stats + nodes[node].count):
        child = tree.stats[stat].child
        if child < 0 or nodes[child].proof <= 0:
            return False
        longest = wide(max(longest, nodes[child].proof))
    nodes[node].proof = -longest - 1
    return True


@rule
def _prove_win(nodes: Records, node: int, proof: int) -> None:
    """Give a node the `proof` of a win, unless it has a shorter one."""
    if nodes[node].proof <= 0 or proof < nodes[node].proof:
        nodes[node].proof = proof


@compiled
def prove_path(tree: Tree, path: Int32Array, proof: int) -> None:
    """Give the last node of `path` the `proof` of a win, and let it prove those before."""
    nodes = tree.nodes
    _prove_win(nodes, path[len(path) - 1], proof)
    for level in range(len(path) - 2, -1, -1):
        if not _prove(tree, wide(path[level]), wide(nodes[path[level + 1]].proof)):
            break
