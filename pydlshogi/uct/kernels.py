"""What a playout does to the tree: select, enter a node, back up. Every step is compiled, and none knows a game.

A batch of playouts goes through three steps, with the rules and the evaluator between them:

    select   walk down from the roots, counting visits; a ROW for each playout whose value is not known
    enter    rows whose ends the rules have looked at become nodes, are backed up or are undone
    back_up  nodes that were evaluated get their edges, and the playouts that waited for them are backed up
"""

import math
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.game import DRAWN, UNDECIDED
from pydlshogi.support.arrays import (
    BoolArray,
    Float32Array,
    Int32Array,
    Record,
    Records,
    Uint16Array,
    Uint64Array,
)
from pydlshogi.support.compiled import compiled, inlined, rule, wide
from pydlshogi.support.mutex import hold, hold_soon, pass_on, release
from pydlshogi.uct.puct import exploration, score
from pydlshogi.uct.uct_node import (
    AWAITED,
    EXPANDED,
    LEAF,
    NONE,
    TERMINAL,
    Tree,
    add_stat,
    bring_best,
    free_unreferenced,
    insert,
    reserve_edges,
    reserve_root_edges,
    slot_of,
    unlink,
)

MAX_BATCH: Final = 1024
"""Most playouts of one tree in one batch."""
_TURN: Final = 8
"""Playouts after which a thread that selects lets those with less to do change the tree."""
MAX_DEPTH: Final = 256
"""A playout that gets this deep ends with the mean value of the node there."""
MAX_EVALUATIONS: Final = 100
"""Most evaluations of one node that count."""
SHORTEST_CYCLE: Final = 2
"""Plies after which a board can stand again, with the same side to move: every second ply."""

FOLLOWED: Final = -2
"""`child` of an edge that a playout under way took first, until `enter` links it to its end."""
ANY_MOVE: Final = -1

# How a playout ended.
_DESCENDING: Final = -1
NEW: Final = 0
"""At an edge that leads to no node yet."""
AGAIN: Final = 1
"""At a LEAF, which is to be evaluated once more; or at a root, which has no evaluation."""
REPEATED: Final = 2
"""At a node whose board stood before on its own path, or in the game."""
COLLIDED: Final = 3
"""At a node that awaits its evaluation."""
_KNOWN: Final = 4
"""At a known value."""

# What becomes of a playout.
_UNDO: Final = 0
"""It ended where an evaluation is awaited already: its visits do not count."""
_BACK_UP: Final = 1
"""Its value is known."""
_WAIT: Final = 2
"""Its value comes with the evaluation of this batch."""

ROOT: Final = np.dtype(
    [
        ("node", np.int32),  # NONE: no tree
        ("ply", np.int32),
        ("past", np.int32),  # how many positions the game has been through before
        ("playouts", np.int32),  # begun since the root was set, without those that were undone
        ("deepest", np.int32),  # plies to the deepest leaf since then
    ],
    align=True,
)
ROW: Final = np.dtype(
    [
        ("key", np.uint64),
        ("board_key", np.uint64),
        ("value", np.float64),  # for the side to move where it ends
        ("tree", np.int32),  # which root it began at
        ("first", np.int32),  # its first step
        ("length", np.int32),  # how many steps it has
        ("node", np.int32),  # where it ends, or NONE
        ("request", np.int32),  # the evaluation it waits for, or NONE
        ("count", np.int32),  # legal moves where it ends
        ("edges", np.int32),  # the first of those reserved for the node where it ends, or NONE
        ("known", np.float32),  # what lasts of the first evaluation of the node where it ends; nan: there was none
        ("verdict", np.int16),  # of the rules, see game.py
        ("move", np.uint16),  # its last
        ("ending", np.int8),
        ("fate", np.int8),
        ("by_path", np.bool_),  # the verdict holds for this path only
        ("expands", np.bool_),  # the node gets its edges with the evaluation asked for
    ],
    align=True,
)
STEP: Final = np.dtype([("board_key", np.uint64), ("node", np.int32), ("edge", np.int32)], align=True)


@inlined
def mean(nodes: Records, node: int) -> float:
    """Mean of the node's own evaluations and of all values backed up; 1 or 0 where a win or a loss is proven."""
    if nodes[node].proof != 0:
        return 1.0 if nodes[node].proof > 0 else 0.0
    return float(nodes[node].value_sum / (nodes[node].evaluations + nodes[node].visits - nodes[node].in_flight))


@inlined
def draw_value(puct: Records, depth: int) -> float:
    """What a draw is worth to the side to move `depth` plies below the root."""
    return float(puct[0].draw_value if depth % 2 == 0 else 1.0 - puct[0].draw_value)


@rule
def value_of_verdict(verdict: int, puct: Records, depth: int) -> float:
    """What a verdict is worth to the side to move `depth` plies below the root."""
    if verdict == DRAWN:
        return draw_value(puct, depth)
    return 1.0 if verdict > 0 else 0.0


# Selection


_exploration: Final = inlined(exploration)
_score: Final = inlined(score)


@inlined
def _best_edge(tree: Tree, node: int, most: int, puct: Records, at_root: bool, only: BoolArray) -> int:
    """The edge that the next playout follows: a proven win, else the highest score among those not proven lost.

    Only the first `most` edges are looked at. `only`, if not empty, tells for every move whether the root may
    play it. Of the unvisited edges the one of the highest prior has the highest score; it is the first of them, but
    where `only` forbids it. NONE: no edge may be followed.
    """
    nodes, stats, priors = tree.nodes, tree.stats, tree.priors
    constants = puct[0]
    c_init, c_base, reduction = constants.c_init, constants.c_base, constants.fpu_reduction
    if at_root:
        c_init, c_base, reduction = constants.c_init_root, constants.c_base_root, constants.fpu_reduction_root
    explored = _exploration(c_init, c_base, nodes[node].visits)
    unvisited = constants.unvisited
    if math.isnan(unvisited):
        # Undoing collisions can leave the visited policy a rounding error below zero.
        unvisited = max(0.0, mean(nodes, node) - reduction * math.sqrt(max(0.0, nodes[node].visited_policy)))
    first, visited, first_stat = wide(nodes[node].first), wide(nodes[node].visited_edges), nodes[node].stats
    restricted = at_root and len(only) > 0
    forced = constants.forced_playouts * nodes[node].visits if at_root else 0.0
    best, best_score = NONE, -math.inf
    for edge in range(visited):
        if restricted and not only[tree.moves[first + edge]]:
            continue
        prior = priors[first + edge]
        visits = float(stats[first_stat + edge].visits)
        if visits == 0:
            edge_score = _score(unvisited, prior, visits, explored, constants.u_offset)
        else:
            edge_score = _score(
                stats[first_stat + edge].value_sum / visits, prior, visits, explored, constants.u_offset
            )
            child = stats[first_stat + edge].child
            if child >= 0 and nodes[child].proof != 0:
                if nodes[child].proof < 0:
                    return edge
                # Lost: below every other score, with hardly any exploration: it is followed only if all are lost.
                edge_score = -0.5 + explored * prior * 2.0**-30
            elif forced > 0 and visits < math.sqrt(forced * prior):
                return edge
        if not edge_score <= best_score:  # some edge is followed even where a broken network says nan
            best, best_score = edge, edge_score
    untried = visited
    if restricted:
        untried = _first_allowed(tree, first + visited, first + most, only) - first
    if untried < most and not _score(unvisited, priors[first + untried], 0, explored, constants.u_offset) <= best_score:
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


@rule
def _edge_of(tree: Tree, node: int, move: int) -> int:
    """The edge of `node` that is `move`."""
    first = wide(tree.nodes[node].first)
    for edge in range(tree.nodes[node].count):
        if tree.moves[first + edge] == move:
            return edge
    return NONE


@rule
def same_board(
    steps: Records, first: int, depth: int, past: Uint64Array, residues: Uint64Array, key: int, least: int
) -> int:
    """How many plies before the end of a path, `least` or more, its board stood last; 0: never.

    The path has `depth` steps from `first` on, and `key` is the board key at its end. `past` holds the board keys of
    the game before the root, and `residues` which of 4096 residues they have: mostly that tells that there is none.
    """
    distance = least
    while distance <= depth:
        if steps[first + depth - distance].board_key == key:
            return distance
        distance += SHORTEST_CYCLE
    residue = key & np.uint64(4095)
    if (residues[residue >> np.uint64(6)] >> (residue & np.uint64(63))) & np.uint64(1):
        while distance <= depth + len(past):
            if past[len(past) + depth - distance] == key:
                return distance
            distance += SHORTEST_CYCLE
    return 0


class Walk(NamedTuple):
    """What a batch of playouts begins with."""

    tree: Tree
    roots: Records
    """ROOT"""
    wanted: Int32Array
    """int32 [trees]: how many playouts to begin in each."""
    first_moves: Int32Array
    """int32 [trees]: by which move they begin, or ANY_MOVE."""
    puct: Records
    only: BoolArray
    """As `Search.only`."""
    past: Uint64Array
    """uint64 [trees, most]: the board keys of the games before their roots, the oldest first."""
    residues: Uint64Array
    """uint64 [trees, 64]: which residues these have, see `same_board`."""
    salts: Uint64Array
    """uint64 [trees]: they keep the nodes of different trees apart."""
    repeats: bool
    """Whether a position can occur twice in a game."""
    freed: int
    """How many nodes without references to free before, at most."""


@rule
def select(walk: Walk, rows: Records, steps: Records) -> tuple[int, int]:
    """Begin playouts in every tree; returns how many rows they take, and how many take none.

    The latter end at a known value and are backed up at once.
    """
    tree, roots = walk.tree, walk.roots
    hold(tree.lock)
    free_unreferenced(tree, walk.freed)
    used, known, step = 0, 0, 0
    for root in range(len(roots)):
        most = walk.wanted[root]
        if roots[root].node == NONE or tree.nodes[roots[root].node].state == AWAITED:
            continue
        begun, collisions = 0, 0
        while begun < most and collisions <= most and used < len(rows) and step + MAX_DEPTH <= len(steps):
            row = rows[used]
            row.tree = root
            row.first = step
            _descend(walk, row, steps)
            if row.ending == COLLIDED:
                collisions += 1
            else:
                begun += 1
            if row.ending == _KNOWN:
                _back_up_path(tree, steps, step, wide(row.length), wide(row.node), row.value)
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
def _descend(walk: Walk, row: Record, steps: Records) -> None:
    """Walk down from the root of a `row`, which has its tree and first step, to the playout's end, and note that."""
    tree, root, first = walk.tree, wide(row.tree), wide(row.first)
    nodes, stats = tree.nodes, tree.stats
    node = wide(walk.roots[root].node)
    depth = 0
    ending = _DESCENDING
    if nodes[node].state == LEAF:
        nodes[node].state = AWAITED
        ending = AGAIN
    while ending == _DESCENDING:
        edge = _followed_edge(walk, node, root, depth == 0)
        if edge == NONE:
            row.value = mean(nodes, node)
            ending = _KNOWN
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
            ending = _arrive(walk, row, steps, node, depth)
    row.length = depth
    row.node = node
    row.ending = ending


@inlined
def _followed_edge(walk: Walk, node: int, root: int, at_root: bool) -> int:
    """The edge of `node` that the playout follows; it has a STAT. NONE: no edge has one, and there is no room."""
    tree = walk.tree
    visited = wide(tree.nodes[node].visited_edges)
    edge = NONE
    if at_root and walk.first_moves[root] != ANY_MOVE:
        edge = _edge_of(tree, node, walk.first_moves[root])
    for most in (wide(tree.nodes[node].count), visited):
        if edge == NONE:
            edge = _best_edge(tree, node, most, walk.puct, at_root, walk.only)
        if edge >= visited:
            edge = add_stat(tree, node, edge)
        if edge != NONE:
            break
    return edge


@inlined
def _arrive(walk: Walk, row: Record, steps: Records, node: int, depth: int) -> int:
    """How a playout ends that has come to `node`, if it does; `row` gets the value where it is known."""
    nodes, puct = walk.tree.nodes, walk.puct
    if nodes[node].state == TERMINAL:
        row.value = draw_value(puct, depth) if nodes[node].value == 0.5 else nodes[node].value
        return _KNOWN
    if nodes[node].proof != 0 or depth == MAX_DEPTH:
        row.value = mean(nodes, node)
        return _KNOWN
    if walk.repeats:
        past = walk.past[row.tree, : walk.roots[row.tree].past]
        residues = walk.residues[row.tree]
        if same_board(steps, wide(row.first), depth, past, residues, nodes[node].board_key, SHORTEST_CYCLE):
            return REPEATED
    if nodes[node].state != LEAF:
        return _DESCENDING
    if puct[0].evaluate_anew or not 0 < nodes[node].evaluations < puct[0].expand_at - 1:
        nodes[node].state = AWAITED
        return AGAIN
    row.value = nodes[node].value
    nodes[node].value_sum += nodes[node].value
    nodes[node].evaluations += 1
    return _KNOWN


# The ends of paths


@rule
def enter(walk: Walk, rows: Records, steps: Records, asked: Int32Array) -> tuple[int, int]:
    """Settle what the rules have told of the ends of `rows`; returns how many evaluations are asked for, and how many
    of the rows are playouts: not undone, and no mere evaluations of a root.

    One function, though a long one: all of it happens with the lock. `asked`, int32 [rows], gets the row of each. A
    verdict that follows from the path is not kept in a node, which other paths reach too.
    """
    tree, roots, puct = walk.tree, walk.roots, walk.puct
    hold_soon(tree.lock)
    nodes = tree.nodes
    requests = 0
    for i in range(len(rows)):
        row = rows[i]
        row.fate = _UNDO
        row.request = NONE
        if row.ending == COLLIDED:
            continue
        depth = wide(row.length)
        node = wide(row.node)
        if row.by_path:
            row.fate = _BACK_UP
            row.value = value_of_verdict(row.verdict, puct, depth)
            if row.ending == AGAIN:
                nodes[node].state = LEAF
            row.node = NONE
            continue
        new = row.ending == AGAIN
        if row.ending == NEW:
            ply = roots[row.tree].ply + depth
            key = row.key ^ walk.salts[row.tree]
            slot = slot_of(tree, key, ply)
            node = wide(tree.slots[slot])
            if node == NONE:
                node = insert(tree, slot, key, row.board_key, ply)
                new = True
            row.node = node
        if row.verdict != UNDECIDED:
            row.fate = _BACK_UP
            row.value = value_of_verdict(row.verdict, puct, depth)
            if new and node != NONE:
                _close(nodes, node, row.verdict)
        elif new or (row.ending == NEW and nodes[node].state == LEAF):
            row.fate = _WAIT
            row.request = requests
            row.known = np.nan
            row.expands = False
            if node != NONE:
                nodes[node].state = AWAITED
                nodes[node].stats = requests
                if nodes[node].evaluations > 0:
                    row.known = nodes[node].value
                row.expands = depth == 0 or nodes[node].evaluations + 1 >= puct[0].expand_at
            asked[requests] = i
            requests += 1
        elif nodes[node].state != AWAITED:
            # A known position, reached by another order of moves; or a board that stood before and is no repetition.
            row.fate = _BACK_UP
            row.value = mean(nodes, node)
        else:
            request = wide(nodes[node].stats)
            if request < requests and rows[asked[request]].node == node:
                row.fate = _WAIT
                row.request = request
    playouts = 0
    for i in range(len(rows)):
        _settle(tree, rows[i], steps)
        if rows[i].fate != _UNDO and rows[i].length > 0:
            playouts += 1
            roots[rows[i].tree].playouts += 1
            roots[rows[i].tree].deepest = max(roots[rows[i].tree].deepest, rows[i].length)
    release(tree.lock)
    return requests, playouts


@rule
def _close(nodes: Records, node: int, verdict: int) -> None:
    """Make a node TERMINAL: the rules give its value."""
    nodes[node].state = TERMINAL
    nodes[node].evaluations = 1
    if verdict == DRAWN:
        nodes[node].value = 0.5
    else:
        nodes[node].value = 1.0 if verdict > 0 else 0.0
        nodes[node].proof = verdict
    nodes[node].value_sum = nodes[node].value


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
    if row.fate == _UNDO:
        for level in range(first, first + depth):
            node = steps[level].node
            edge = steps[level].edge
            stat = nodes[node].stats + edge
            stats[stat].visits -= 1
            nodes[node].visits -= 1
            nodes[node].in_flight -= 1
            if stats[stat].visits == 0:
                nodes[node].visited_policy -= tree.priors[nodes[node].first + edge]
    elif row.fate == _BACK_UP:
        _back_up_path(tree, steps, first, depth, wide(row.node), row.value)


# Evaluations


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
        if row.fate == _WAIT:
            # NONE as the end: a node that was just evaluated proves nothing.
            _back_up_path(tree, steps, wide(row.first), wide(row.length), NONE, float(values[row.request]))
    release(tree.lock)


@inlined
def _note(tree: Tree, row: Record, value: float, lasting: float) -> None:
    """Note an evaluation in the node where `row` ends, and its edges."""
    nodes, node = tree.nodes, wide(row.node)
    if nodes[node].evaluations == 0:
        nodes[node].value = lasting
    if nodes[node].evaluations < MAX_EVALUATIONS:
        nodes[node].value_sum += value
        nodes[node].evaluations += 1
    nodes[node].state = LEAF
    nodes[node].stats = 0
    if row.edges != NONE:
        nodes[node].state = EXPANDED
        nodes[node].first = row.edges
        nodes[node].count = row.count


# Values and proofs


@inlined
def _back_up_path(tree: Tree, steps: Records, first: int, depth: int, end: int, value: float) -> None:
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
            value = 1.0 if nodes[node].proof > 0 else 0.0
        child = node


@rule
def _prove(tree: Tree, node: int, child_proof: int) -> bool:
    """Let the proof of a child prove `node`, and return whether it does.

    A node is won as soon as one child is lost, and lost when all its children are won. One ply more to the end is one
    more in the coding of `proof`.
    """
    nodes = tree.nodes
    if child_proof < 0:
        proof = 1 - child_proof
        if nodes[node].proof <= 0 or proof < nodes[node].proof:
            nodes[node].proof = proof
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


@compiled
def prove_path(tree: Tree, path: Int32Array, proof: int) -> None:
    """Give the last node of `path` the `proof` of a win, unless it has a shorter one, and let it prove those before."""
    nodes = tree.nodes
    last = path[len(path) - 1]
    if nodes[last].proof <= 0 or proof < nodes[last].proof:
        nodes[last].proof = proof
    for level in range(len(path) - 2, -1, -1):
        if not _prove(tree, wide(path[level]), wide(nodes[path[level + 1]].proof)):
            break


# A new root


@compiled
def forget_repetitions(tree: Tree, root: int, past: Uint64Array) -> None:
    """Make the edges of `root` unvisited whose playouts were made when the game had another past.

    Those that lead to no node were a repetition, which the game may make of them no longer, or a position that the full
    table had no room for, which it may have now. Those to a board that is among the `past` board keys are a repetition
    now. A proof stays: a mate is a mate whatever was played before.
    """
    nodes, stats = tree.nodes, tree.stats
    for edge in range(nodes[root].visited_edges):
        stat = nodes[root].stats + edge
        child = wide(stats[stat].child)
        forgotten = child == NONE
        if child != NONE and nodes[child].proof == 0:
            for earlier in range(len(past)):
                forgotten = forgotten or past[earlier] == nodes[child].board_key
        if not forgotten or stats[stat].visits == 0:
            continue
        nodes[root].visits -= stats[stat].visits
        nodes[root].value_sum -= stats[stat].value_sum
        nodes[root].visited_policy -= tree.priors[nodes[root].first + edge]
        stats[stat].visits = 0
        stats[stat].value_sum = 0.0
        stats[stat].squares = 0.0
        stats[stat].child = NONE
        if child != NONE:
            unlink(tree, child)


@compiled
def mix_priors(tree: Tree, root: int, noise: Float32Array, share: float) -> None:
    """Replace a `share` of the priors of `root` by `noise`, float32 [edges], in the order of its edges."""
    nodes = tree.nodes
    first = wide(nodes[root].first)
    visited_policy = 0.0
    for edge in range(nodes[root].count):
        tree.priors[first + edge] = (1 - share) * tree.priors[first + edge] + share * noise[edge]
        if edge < nodes[root].visited_edges and tree.stats[nodes[root].stats + edge].visits > 0:
            visited_policy += tree.priors[first + edge]
    nodes[root].visited_policy = visited_policy
    bring_best(tree, first + nodes[root].visited_edges, first + nodes[root].count)
