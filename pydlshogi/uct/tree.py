"""The tree: a graph of nodes, kept as arrays.

A node is a position at a ply. The same position reached by another order of moves is the same node: its evaluation,
its moves and all below it are shared, and a network that sees the last moves saw those of the first order. Visits and
value sums are kept per edge, because what a move is worth was learned by the playouts that chose it.

At a million nodes 96 of 100 edges have never been visited. So an edge is a move and a prior, and gets its `STAT` when
it is visited first: the visited edges of a node come first, in the order of their first visits, the unvisited edge of
the highest prior is the next, and the others follow in no order worth knowing.

Values are win rates in [0, 1]; a node's and its edges' values are those of the side to move at that node.
"""

from typing import Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array, Records, Uint16Array
from pydlshogi.support.compiled import rule

NONE: Final = -1
"""No node: `child` of an edge that nobody has followed yet, and the answer of a table that is full."""

# A node's state.
AWAITED: Final = 0
"""Met by a playout; an evaluation is still out."""
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
"""Of a node."""

# The counters of `Tree.heap`.
NEXT_NODE, NEXT_EDGE, NEXT_STAT = 0, 1, 2
"""Where what was never used begins."""
FREE_NODE: Final = 3
"""The first of the freed nodes; each names the next in `first`."""
TO_FREE: Final = 4
"""How many nodes wait in `Tree.to_free`."""
USED_NODES, USED_EDGES = 5, 6
FREE_STATS: Final = 8
"""For each capacity the first of the freed STATs; each names the next in `child`."""
GAPS: Final = FREE_STATS + LARGEST_CAPACITY + 1
"""For each number of blocks, the last of them standing for all larger ones, the first of the gaps among the edges."""


class Tree(NamedTuple):
    """The arrays of a table, as kernels take them."""

    nodes: Records
    """NODE"""
    moves: Uint16Array
    priors: Float32Array
    """The move and the prior of every edge."""
    words: Int32Array
    """The moves once more, two by two, for the gaps between the edges."""
    stats: Records
    """STAT"""
    slots: Int32Array
    """The nodes by key and ply: open addressing, linear probing."""
    to_free: Int32Array
    """A stack of nodes that lost their last reference; they are freed unless they have a new one by then."""
    heap: Int64Array
    """Counters, and the heads of the lists of what is free."""
    lock: tuple[int, int]
    """The addresses of the table's Mutex."""
