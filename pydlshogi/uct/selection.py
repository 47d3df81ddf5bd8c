"""The way down: each playout follows the edges of highest score from its root to a position without a value."""

import math
from typing import Final

from pydlshogi.game import DRAWN
from pydlshogi.support.arrays import BoolArray, Record, Records
from pydlshogi.support.kernels.compiled import inlined, rule, wide
from pydlshogi.support.kernels.mutex import hold, pass_on, release
from pydlshogi.uct import puct as formula
from pydlshogi.uct.backup import backup_path, mean, value_of_verdict
from pydlshogi.uct.tree import (
    AT_LEAF,
    AWAITED,
    COLLIDED,
    DESCENDING,
    FOLLOWED,
    KNOWN,
    LEAF,
    MAX_DEPTH,
    NEW,
    NONE,
    REPEATED,
    SHORTEST_CYCLE,
    TERMINAL,
    Selection,
    Tree,
    same_board,
)
from pydlshogi.uct.uct_node import add_stat, free_unreferenced

_TURN: Final = 8
"""Playouts after which a thread that selects lets those with less to do change the tree."""

_exploration: Final = inlined(formula.exploration)
_first_value: Final = inlined(formula.first_value)
_score: Final = inlined(formula.score)
_lost_score: Final = inlined(formula.lost_score)


@rule
def select(selection: Selection, rows: Records, steps: Records) -> tuple[int, int]:
    """Walk down from every root, once for each playout wanted; `rows` and `steps` get the paths.

    Returns how many rows are used, and how many playouts use none: they ended at a known value and are backed up.
    """
    tree, roots = selection.tree, selection.roots
    hold(tree.lock)
    free_unreferenced(tree, selection.freed)
    used, known, step = 0, 0, 0
    for root in range(len(roots)):
        most = selection.wanted[root]
        if roots[root].node == NONE or tree.nodes[roots[root].node].state == AWAITED:
            continue
        begun, collisions = 0, 0
        while begun < most and collisions <= most and used < len(rows) and step + MAX_DEPTH <= len(steps):
            row = rows[used]
            row.tree = root
            row.first_step = step
            _descend(selection, row, steps)
            if row.ending == COLLIDED:
                collisions += 1
            else:
                begun += 1
            if row.ending == KNOWN:
                backup_path(tree, steps, step, wide(row.length), wide(row.node), row.value)
                roots[root].playouts += 1
                known += 1
                continue
            used += 1
            step += wide(row.length)
            if row.length == 0:
                break  # nothing else can begin before the root is evaluated
            if used % _TURN == 0:
                pass_on(tree.lock)
    release(tree.lock)
    return used, known


@inlined
def _descend(selection: Selection, row: Record, steps: Records) -> None:
    """Walk down from the root. `row` has its tree and first step; it gets where and how the playout ends."""
    tree, first = selection.tree, wide(row.first_step)
    nodes, stats = tree.nodes, tree.stats
    node = wide(selection.roots[row.tree].node)
    depth = 0
    ending = DESCENDING
    if nodes[node].state == LEAF:
        nodes[node].state = AWAITED
        ending = AT_LEAF
    while ending == DESCENDING:
        edge = _followed_edge(selection, node, depth == 0)
        if edge == NONE:
            row.value = mean(nodes, node)
            ending = KNOWN
            break
        stat = nodes[node].stats + edge
        place = nodes[node].first + edge
        if stats[stat].visits == 0:
            nodes[node].visited_policy += tree.priors[place]
        stats[stat].visits += 1
        nodes[node].visits += 1
        nodes[node].in_flight += 1
        steps[first + depth].node = node
        steps[first + depth].edge = edge
        steps[first + depth].board_key = nodes[node].board_key
        row.move = tree.moves[place]
        depth += 1
        node = wide(stats[stat].child)
        if node == NONE:
            stats[stat].child = FOLLOWED
            ending = NEW
        elif node == FOLLOWED or nodes[node].state == AWAITED:
            node = NONE
            ending = COLLIDED
        else:
            ending = _arrive(selection, row, steps, node, depth)
    row.length = depth
    row.node = node
    row.ending = ending


@inlined
def _arrive(selection: Selection, row: Record, steps: Records, node: int, depth: int) -> int:
    """How a playout ends that has come to `node`, or DESCENDING; `row` gets the value where it is KNOWN."""
    nodes, puct = selection.tree.nodes, selection.puct[0]
    if nodes[node].state == TERMINAL or nodes[node].proof != 0:
        proof = wide(nodes[node].proof)
        row.value = value_of_verdict(proof if proof != 0 else DRAWN, puct, depth)
        return KNOWN
    if depth == MAX_DEPTH:
        row.value = mean(nodes, node)
        return KNOWN
    if selection.repeats:
        past = selection.past[row.tree, : selection.roots[row.tree].past]
        residues = selection.residues[row.tree]
        if same_board(steps, wide(row.first_step), depth, past, residues, nodes[node].board_key, SHORTEST_CYCLE):
            return REPEATED
    if nodes[node].state != LEAF:
        return DESCENDING
    if puct.evaluate_anew or not 0 < nodes[node].evaluations < puct.expand_at - 1:
        nodes[node].state = AWAITED
        return AT_LEAF
    row.value = nodes[node].value
    nodes[node].value_sum += nodes[node].value
    nodes[node].evaluations += 1
    return KNOWN


@inlined
def _followed_edge(selection: Selection, node: int, at_root: bool) -> int:
    """The edge of `node` that the playout follows; it has a STAT. NONE: none has, and there is no room for one."""
    tree = selection.tree
    visited = wide(tree.nodes[node].visited_edges)
    edge = NONE
    # Without room for another STAT the choice is among the edges that have one.
    for most in (wide(tree.nodes[node].count), visited):
        edge = _best_edge(tree, node, most, selection.puct[0], at_root, selection.only)
        if edge >= visited:
            edge = add_stat(tree, node, edge)
        if edge != NONE:
            break
    return edge


@inlined
def _best_edge(tree: Tree, node: int, most: int, puct: Record, at_root: bool, only: BoolArray) -> int:
    """The edge that the next playout follows: a proven win, else the highest score among those not proven lost.

    It is one of the first `most` edges. `only`, if not empty, says for every move whether the root may play it. Of the
    unvisited edges the one of the highest prior has the highest score: it is the first of them, unless `only` forbids
    it. NONE: no edge may be followed.
    """
    nodes, priors = tree.nodes, tree.priors
    explored = _exploration(puct, at_root, nodes[node].visits)
    unvisited = _first_value(puct, at_root, mean(nodes, node), nodes[node].visited_policy)
    first, visited, first_stat = wide(nodes[node].first), wide(nodes[node].visited_edges), nodes[node].stats
    restricted = at_root and len(only) > 0
    best, best_score = NONE, -math.inf
    for edge in range(visited):
        if restricted and not only[tree.moves[first + edge]]:
            continue
        prior, stat = priors[first + edge], tree.stats[first_stat + edge]
        visits = float(stat.visits)
        score = _score(puct, stat.value_sum / visits if visits > 0 else unvisited, prior, visits, explored)
        if visits > 0 and stat.child >= 0 and nodes[stat.child].proof != 0:
            if nodes[stat.child].proof < 0:
                return edge
            score = _lost_score(prior, explored)
        if not score <= best_score:  # some edge is followed even where a broken network says nan
            best, best_score = edge, score
    untried = visited
    if restricted:
        untried = _first_allowed(tree, first + visited, first + most, only) - first
    if untried < most and not _score(puct, unvisited, priors[first + untried], 0, explored) <= best_score:
        best = untried
    return best


@rule
def _first_allowed(tree: Tree, first: int, stop: int, only: BoolArray) -> int:
    """The edge of the highest prior from `first` on that may be played; `stop` if none may."""
    best = stop
    for edge in range(first, stop):
        if only[tree.moves[edge]] and (best == stop or tree.priors[edge] > tree.priors[best]):
            best = edge
    return best
