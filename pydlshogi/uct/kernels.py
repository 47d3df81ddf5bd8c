"""What a playout does to the tree: walk down, enter a node, be paid. Every step is compiled, and none knows a game.

A batch of playouts goes through three kernels, with the rules and the evaluator between them:

    select   walk down from the roots, counting visits; a row of ROW for each playout that is not paid at once
    enter    rows whose ends the rules have looked at become nodes, are paid or are taken back
    back_up  nodes that were evaluated get their edges, and the playouts that waited for the evaluations are paid
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
from pydlshogi.uct.uct_node import (
    AWAITED,
    EXPANDED,
    LEAF,
    NONE,
    TERMINAL,
    Tree,
    bring_best,
    free_condemned,
    give_stat,
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
"""A playout that gets this deep is paid with what the node there is worth."""
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
_PAID: Final = 4
"""At a known value."""

# What becomes of a playout.
_UNDO: Final = 0
"""It ended where an evaluation is awaited already: its visits are taken back."""
_PAY: Final = 1
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
        ("value", np.float64),  # what it is paid
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
    """Mean of the node's own evaluations and all that was paid below it; 1 or 0 where a win or a loss is proven."""
    if nodes[node].proof != 0:
        return 1.0 if nodes[node].proof > 0 else 0.0
    return float(nodes[node].value_sum / (nodes[node].evaluations + nodes[node].visits - nodes[node].unpaid))


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


@inlined
def _best_edge(tree: Tree, node: int, count: int, puct: Records, at_root: bool, only: BoolArray) -> int:
    """The edge that the next playout follows: a proven win, else the highest score among those not proven lost.

    Only the first `count` edges are looked at. `only`, if not empty, tells for every move whether the root may
    play it. Of the unvisited edges the one of the highest prior has the highest score; it is the first of them, but
    where `only` forbids it.
    """
    nodes, stats, priors = tree.nodes, tree.stats, tree.priors
    constants = puct[0]
    c_init, c_base, reduction = constants.c_init, constants.c_base, constants.fpu_reduction
    if at_root:
        c_init, c_base, reduction = constants.c_init_root, constants.c_base_root, constants.fpu_reduction_root
    visits = nodes[node].visits
    exploration = (c_init + math.log((visits + c_base + 1) / c_base)) * math.sqrt(max(visits, 1))
    unvisited = constants.unvisited
    if math.isnan(unvisited):
        # Taking collisions back can leave `seen` a rounding error below zero.
        unvisited = max(0.0, mean(nodes, node) - reduction * math.sqrt(max(0.0, nodes[node].seen)))
    first, given = wide(nodes[node].first), wide(nodes[node].given)
    first_stat = nodes[node].stats
    restricted = at_root and len(only) > 0
    forced = constants.forced_playouts * visits if at_root else 0.0
    best = NONE
    # Its score as a fraction: products are compared sooner than quotients are made.
    best_over = -math.inf
    best_under = 1.0
    offset = constants.u_offset
    for edge in range(given):
        if restricted and not only[tree.moves[first + edge]]:
            continue
        stat = first_stat + edge
        visited = float(stats[stat].visits)
        bonus = exploration * priors[first + edge]
        over, under = unvisited * offset + bonus, offset
        if visited > 0:
            child = stats[stat].child
            under = visited * (offset + visited)
            over = stats[stat].value_sum * (offset + visited) + bonus * visited
            if child >= 0 and nodes[child].proof != 0:
                if nodes[child].proof < 0:
                    return edge
                # Lost: below every other score, with hardly any exploration: it is taken only if all are lost.
                over, under = -0.5 + bonus * 2.0**-30, 1.0
            elif forced > 0 and visited < math.sqrt(forced * priors[first + edge]):
                return edge
        if not over * best_under <= best_over * under:  # some edge is followed even where a broken network says nan
            best_over, best_under = over, under
            best = edge
    untried = given
    if restricted:
        untried = _first_allowed(tree, first + given, first + count, only) - first
    if untried < count:
        over = unvisited * offset + exploration * priors[first + untried]
        if not over * best_under <= best_over * offset:
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
    given_back: int
    """How many condemned nodes make room before, at most."""


@compiled
def select(walk: Walk, rows: Records, steps: Records) -> tuple[int, int]:
    """Begin playouts in every tree; returns how many rows they take, and how many take none.

    The latter end at a known value and are paid at once.
    """
    tree, roots, puct, only = walk.tree, walk.roots, walk.puct, walk.only
    hold(tree.lock)
    free_condemned(tree, walk.given_back)
    nodes, stats = tree.nodes, tree.stats
    used = 0
    paid = 0
    step = 0
    for root_index in range(len(roots)):
        root = wide(roots[root_index].node)
        most = walk.wanted[root_index]
        if root == NONE or nodes[root].state == AWAITED:
            continue
        history = walk.past[root_index, : roots[root_index].past]
        residues = walk.residues[root_index]
        begun = 0
        collisions = 0
        while begun < most and collisions <= most and used < len(rows) and step + MAX_DEPTH <= len(steps):
            node = root
            depth = 0
            ending = _DESCENDING
            value = 0.0
            move = 0
            if nodes[root].state == LEAF:
                nodes[root].state = AWAITED
                ending = AGAIN
                begun = most  # nothing else can begin before the root is evaluated
            while ending == _DESCENDING:
                if depth == 0 and walk.first_moves[root_index] != ANY_MOVE:
                    edge = _edge_of(tree, node, walk.first_moves[root_index])
                else:
                    edge = _best_edge(tree, node, wide(nodes[node].count), puct, depth == 0, only)
                if edge >= nodes[node].given:
                    edge = give_stat(tree, node, edge)
                if edge == NONE:
                    # There is no room for statistics: one of the edges that have some is followed.
                    edge = _best_edge(tree, node, wide(nodes[node].given), puct, depth == 0, only)
                if edge == NONE:
                    value = mean(nodes, node)
                    ending = _PAID
                    break
                stat = nodes[node].stats + edge
                prior_place = nodes[node].first + edge
                if stats[stat].visits == 0:
                    nodes[node].seen += tree.priors[prior_place]
                stats[stat].visits += 1
                nodes[node].visits += 1
                nodes[node].unpaid += 1
                steps[step + depth].node = node
                steps[step + depth].edge = edge
                steps[step + depth].board_key = nodes[node].board_key
                move = tree.moves[prior_place]
                depth += 1
                node = wide(stats[stat].child)
                if node == NONE:
                    stats[stat].child = FOLLOWED
                    ending = NEW
                elif node == FOLLOWED or nodes[node].state == AWAITED:
                    node = NONE
                    ending = COLLIDED
                elif nodes[node].state == TERMINAL:
                    value = nodes[node].value
                    if value == 0.5:
                        value = draw_value(puct, depth)
                    ending = _PAID
                elif nodes[node].proof != 0 or depth == MAX_DEPTH:
                    value = mean(nodes, node)
                    ending = _PAID
                elif walk.repeats and same_board(
                    steps, step, depth, history, residues, nodes[node].board_key, SHORTEST_CYCLE
                ):
                    ending = REPEATED
                elif nodes[node].state == LEAF:
                    if puct[0].evaluate_anew or not 0 < nodes[node].evaluations < puct[0].expand_at - 1:
                        nodes[node].state = AWAITED
                        ending = AGAIN
                    else:
                        value = nodes[node].value
                        nodes[node].value_sum += value
                        nodes[node].evaluations += 1
                        ending = _PAID
            if ending == _PAID:
                _pay(tree, steps, step, depth, node, value)
                roots[root_index].playouts += 1
                paid += 1
                begun += 1
                continue
            rows[used].tree = root_index
            rows[used].first = step
            rows[used].length = depth
            rows[used].node = node
            rows[used].move = move
            rows[used].ending = ending
            used += 1
            step += depth
            if ending == COLLIDED:
                collisions += 1
            else:
                begun += 1
            if used % _TURN == 0:
                pass_on(tree.lock)
    release(tree.lock)
    return used, paid


# The ends of paths


@compiled
def enter(walk: Walk, rows: Records, steps: Records, asked: Int32Array) -> tuple[int, int]:
    """Settle what the rules have told of the ends of `rows`; returns how many evaluations are asked for, and how many
    of the rows are playouts: not undone, and no mere evaluations of a root.

    `asked`, int32 [rows], gets the row of each. A verdict that follows from the path is not kept in a node, which other
    paths reach too.
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
            row.fate = _PAY
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
            row.fate = _PAY
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
            row.fate = _PAY
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
    """Link a path to its end; pay it if its value is known, take it back if it collided."""
    nodes, stats = tree.nodes, tree.stats
    first, depth = wide(row.first), wide(row.length)
    if row.ending == NEW:
        last = steps[first + depth - 1]
        stats[nodes[last.node].stats + last.edge].child = row.node
        if row.node != NONE:
            nodes[row.node].links += 1
    if row.fate == _UNDO:
        for level in range(first, first + depth):
            node = steps[level].node
            edge = steps[level].edge
            stat = nodes[node].stats + edge
            stats[stat].visits -= 1
            nodes[node].visits -= 1
            nodes[node].unpaid -= 1
            if stats[stat].visits == 0:
                nodes[node].seen -= tree.priors[nodes[node].first + edge]
    elif row.fate == _PAY:
        _pay(tree, steps, first, depth, wide(row.node), row.value)


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
    """Expand the nodes of the rows `asked` for, and pay the playouts that waited with `values`, one for each request.

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
            _pay(tree, steps, wide(row.first), wide(row.length), NONE, float(values[row.request]))
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


# Payment and proof


@inlined
def _pay(tree: Tree, steps: Records, first: int, depth: int, end: int, value: float) -> None:
    """Pay a playout of `depth` steps from `first` on that ended at node `end` (or NONE) with `value` for its mover.

    The value changes sides with every edge on the way up. A proof at the end goes up as far as it proves something,
    and from there on a win or a loss is paid in place of the value.
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
        nodes[node].unpaid -= 1
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
    if nodes[node].given < nodes[node].count:
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
    """Make the edges of `root` unvisited whose playouts were paid when the game had another past.

    Those that lead to no node were a repetition, which the game may make of them no longer, or a position that the full
    table had no room for, which it may have now. Those to a board that is among the `past` board keys are a repetition
    now. A proof stays: a mate is a mate whatever was played before.
    """
    nodes, stats = tree.nodes, tree.stats
    for edge in range(nodes[root].given):
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
        nodes[root].seen -= tree.priors[nodes[root].first + edge]
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
    seen = 0.0
    for edge in range(nodes[root].count):
        tree.priors[first + edge] = (1 - share) * tree.priors[first + edge] + share * noise[edge]
        if edge < nodes[root].given and tree.stats[nodes[root].stats + edge].visits > 0:
            seen += tree.priors[first + edge]
    nodes[root].seen = seen
    bring_best(tree, first + nodes[root].given, first + nodes[root].count)
