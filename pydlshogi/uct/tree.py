"""The tree, a graph of nodes, and the playouts under way in it, all kept as arrays.

A node is a position at a ply. The same position reached by another order of moves is the same node: its evaluation,
its moves and all below it are shared, and a network that sees the last moves saw those of the first order. Visits and
value sums are kept per edge, because what a move is worth was learned by the playouts that chose it.

At a million nodes 96 of 100 edges have never been visited. So an edge is a move and a prior, and gets its `STAT` at
its first visit. The visited edges of a node come first, in the order of their first visits. The unvisited edge of the
highest prior is the next. The others follow in no particular order.

Values are win rates in [0, 1]; a node's and its edges' values are those of the side to move at that node.

A batch of playouts goes through these steps:

select             walk down from the roots, counting visits; a ROW for each playout whose value is not known
(the rules)        key, verdict and legal moves of the position where each row ends
add_leaves         the ends become nodes; rows are backed up, undone, or wait for an evaluation
(the evaluator)    priors and values of the positions asked for
expand             nodes that were evaluated get their edges
backup             the playouts that waited for the values are backed up

This file has the arrays of these steps; what takes the steps is in selection.py and backup.py.
"""

from typing import Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import BoolArray, Float32Array, Int32Array, Int64Array, Records, Uint16Array, Uint64Array
from pydlshogi.support.kernels.compiled import rule
from pydlshogi.uct.puct import Puct

NONE: Final = -1
"""No node: `child` of an edge that nobody has followed yet, and the answer of a table that is full."""

# A node's state.
AWAITED: Final = 0
"""A playout has met it and asked for its evaluation, which is not there yet."""
LEAF: Final = 1
"""Without edges: not evaluated often enough to get them, or there was no room for them."""
EXPANDED: Final = 2
"""Evaluated; its edges have priors."""
TERMINAL: Final = 3
"""The rules give its value; it has no edges."""

NODE: Final = np.dtype(
    [
        ("key", np.uint64),
        ("board_key", np.uint64),
        ("value_sum", np.float64),  # its evaluations and all values backed up through it; see `mean`
        ("first", np.int32),  # its first edge: they lie side by side
        ("stats", np.int32),  # the STAT of its first edge, the others follow; while AWAITED: the request it waits for
        ("visits", np.int32),  # sum of the visits of its edges: its own evaluations are not among them
        ("in_flight", np.int32),  # those of its visits that are not backed up yet: the virtual loss
        ("references", np.int32),  # how many edges and roots lead here
        ("value", np.float32),  # its first evaluation, or the verdict of the rules
        ("visited_policy", np.float32),  # the visited policy mass: sum of the priors of its visited edges
        ("ply", np.int16),
        ("count", np.int16),  # how many edges it has
        ("visited_edges", np.int16),  # how many of them have a STAT: these come first
        ("proof", np.int16),  # n + 1: a win within n plies; -(n + 1): a loss within n plies; 0: not known
        ("state", np.int8),
        ("capacity", np.int8),  # 2 ** capacity STATs are reserved for it; 0: none
        ("evaluations", np.int8),  # how often it was evaluated
        ("to_free", np.int8),  # 1: it is in `Tree.to_free`
    ],
    align=True,
)
STAT: Final = np.dtype(
    [
        ("value_sum", np.float64),  # sum of the values backed up, for the side that makes the move
        ("squares", np.float64),  # sum of their squares
        ("visits", np.int32),  # playouts that went this way, those in flight included
        ("child", np.int32),  # the node it leads to, or NONE
    ],
    align=True,
)


@rule
def clear_node(nodes: Records, node: int) -> None:
    """Make a node that has no edges LEAF, with nothing known of it."""
    nodes[node].state = LEAF
    nodes[node].first = 0
    nodes[node].stats = 0
    nodes[node].count = 0
    nodes[node].visited_edges = 0
    nodes[node].visits = 0
    nodes[node].in_flight = 0
    nodes[node].evaluations = 0
    nodes[node].value = 0.0
    nodes[node].value_sum = 0.0
    nodes[node].visited_policy = 0.0
    nodes[node].proof = 0


@rule
def clear_stat(stats: Records, stat: int) -> None:
    """Make a STAT that of an edge without visits."""
    stats[stat].value_sum = 0.0
    stats[stat].squares = 0.0
    stats[stat].visits = 0
    stats[stat].child = NONE


LARGEST_CAPACITY: Final = 16
"""The largest `capacity` of a node: it has room for more edges than any position has moves."""

# The counters of `Tree.allocator`.
NEXT_NODE, NEXT_EDGE, NEXT_STAT = 0, 1, 2
"""Where what was never used begins."""
FREE_NODE: Final = 3
"""The first of the freed nodes; each names the next in `first`."""
TO_FREE: Final = 4
"""How many nodes wait in `Tree.to_free`."""
USED_NODES, USED_EDGES = 5, 6
FREE_STATS: Final = 8
"""From here on, one entry for each capacity: the first freed STAT of its list; each names the next in `child`."""
GAPS: Final = FREE_STATS + LARGEST_CAPACITY + 1
"""From here on, one entry for each number of blocks, the last for all larger ones: the first gap of its list."""


class Tree(NamedTuple):
    """The arrays of a table, as kernels take them."""

    nodes: Records
    """NODE"""
    moves: Uint16Array
    priors: Float32Array
    """The move and the prior of every edge."""
    words: Int32Array
    """The memory of `moves` as int32, in which a gap between edges keeps its numbers."""
    stats: Records
    """STAT"""
    slots: Int32Array
    """The nodes by key and ply: open addressing, linear probing."""
    to_free: Int32Array
    """A stack of nodes that lost their last reference; they are freed unless they have a new one by then."""
    allocator: Int64Array
    """Counters, and the heads of the lists of what is free."""
    lock: tuple[int, int]
    """The addresses of the table's Mutex."""


# Playouts: a ROW is one of the batch under way, a STEP is an edge of its path

MAX_BATCH: Final = 1024
"""Most playouts of one tree in one batch."""
MAX_DEPTH: Final = 256
"""A playout that gets this deep ends with the mean value of the node there."""

FOLLOWED: Final = -2
"""`child` of an edge whose first playout is on its way: `add_leaves` links it to the node where that ends."""

# How a playout ended.
DESCENDING: Final = -1
NEW: Final = 0
"""At an edge that leads to no node yet."""
AT_LEAF: Final = 1
"""At a LEAF, which is to be evaluated: a root for the first time, another once more."""
REPEATED: Final = 2
"""At a node whose board stood before on its own path, or in the game."""
COLLIDED: Final = 3
"""At a node that awaits its evaluation."""
KNOWN: Final = 4
"""At a known value."""

# What becomes of a playout.
UNDO: Final = 0
"""It ended where an evaluation is awaited already: its visits do not count."""
BACKUP: Final = 1
"""Its value is known."""
ASK: Final = 2
"""Its value comes with the evaluation of its end, which it asks for."""
WAIT: Final = 3
"""Its value comes with an evaluation that another playout of its batch asks for."""

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
        ("first_step", np.int32),
        ("length", np.int32),  # how many steps follow from there on
        ("node", np.int32),  # where it ends, or NONE
        ("request", np.int32),  # the evaluation it waits for, or NONE
        ("count", np.int32),  # legal moves where it ends
        ("edges", np.int32),  # the first of those reserved for the node where it ends, or NONE
        ("known_value", np.float32),  # the `value` of the node where it ends, if that was evaluated before; else nan
        ("verdict", np.int16),  # of the rules, see game.py
        ("move", np.uint16),  # its last
        ("ending", np.int8),  # how it ended: NEW, AT_LEAF, REPEATED, COLLIDED or KNOWN
        ("fate", np.int8),  # what becomes of it: UNDO, BACKUP, ASK or WAIT
        ("by_path", np.bool_),  # the verdict holds for this path only
        ("expands", np.bool_),  # the node gets its edges with the evaluation asked for
    ],
    align=True,
)
STEP: Final = np.dtype([("board_key", np.uint64), ("node", np.int32), ("edge", np.int32)], align=True)


CONSTANTS: Final = np.dtype([(name, np.float64) for name in Puct._fields])


def constants(puct: Puct) -> Records:
    """The constants of selection as one record of CONSTANTS, in an array as kernels take it."""
    return np.array([puct], CONSTANTS)


class Selection(NamedTuple):
    """What a batch of playouts begins with."""

    tree: Tree
    roots: Records
    """ROOT"""
    wanted: Int32Array
    """int32 [trees]: how many playouts to begin in each."""
    puct: Records
    """CONSTANTS: one."""
    only: BoolArray
    """See `Search.only`."""
    past: Uint64Array
    """uint64 [trees, most]: the board keys of the games before their roots, the oldest first."""
    residues: Uint64Array
    """uint64 [trees, RESIDUE_WORDS]: see `residues_of`."""
    salts: Uint64Array
    """uint64 [trees]: they keep the nodes of different trees apart."""
    repeats: bool
    """Whether a position can occur twice in a game."""
    freed: int
    """How many nodes without references are freed before the playouts, at most."""


# Boards that stood before: on the path of a playout, and in the game before its root

SHORTEST_CYCLE: Final = 2
"""Plies after which a board can stand again, with the same side to move: every second ply."""
_RESIDUES: Final = 1 << 12
RESIDUE_WORDS: Final = _RESIDUES // 64


def residues_of(board_keys: Uint64Array) -> Uint64Array:
    """The keys modulo 4096, as a set of bits: uint64 [RESIDUE_WORDS]."""
    words = np.zeros(RESIDUE_WORDS, np.uint64)
    each = board_keys % np.uint64(_RESIDUES)
    np.bitwise_or.at(words, each >> np.uint64(6), np.uint64(1) << (each & np.uint64(63)))
    return words


def with_row(table: Records, row: int, values: Records) -> Records:
    """`table`, or a larger one, with the first of its row `row` set to `values`."""
    rows, columns = max(len(table), row + 1), max(table.shape[1], len(values))
    if table.shape != (rows, columns):
        larger = np.zeros((rows, columns), table.dtype)
        larger[: len(table), : table.shape[1]] = table
        table = larger
    table[row, : len(values)] = values
    return table


@rule
def same_board(
    steps: Records, first: int, depth: int, past: Uint64Array, residues: Uint64Array, key: int, least: int
) -> int:
    """How many plies ago, `least` or more, the board at the end of a path stood last; 0: never.

    The path has `depth` steps from `first` on, and `key` is the board key at its end. `past` holds the board keys of
    the game before the root, the oldest first. Most keys that are not among them are not in `residues` either, which
    saves the comparison with each.
    """
    distance = least
    while distance <= depth:
        if steps[first + depth - distance].board_key == key:
            return distance
        distance += SHORTEST_CYCLE
    residue = key % np.uint64(_RESIDUES)
    if (residues[residue >> np.uint64(6)] >> (residue & np.uint64(63))) & np.uint64(1):
        while distance <= depth + len(past):
            if past[len(past) + depth - distance] == key:
                return distance
            distance += SHORTEST_CYCLE
    return 0
