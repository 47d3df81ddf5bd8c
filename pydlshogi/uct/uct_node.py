"""The UctNode table: a graph of nodes found by hash, kept as arrays of records.

A node is a position at a ply. The same position reached by another order of moves is the same node: its evaluation,
its moves and all below it are shared. Visits and value sums are kept per edge, because what a move is worth was
learned by the playouts that chose it. The table knows no rules, no formulas and no evaluator.

Values are win rates in [0, 1]; a node's and its edges' values are those of the side to move at that node.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pydlshogi.compiled import compiled

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]

NONE: Final = -1
"""No node: `child` of an edge that nobody has followed yet, and the answer of a table that is full."""

# A node's state.
AWAITED: Final = 0
"""Met by a playout; its evaluation is still out."""
EXPANDED: Final = 1
"""Evaluated; its edges have priors."""
TERMINAL: Final = 2
"""The rules give its value; it has no edges."""

MAX_BATCH: Final = 1024
"""Most nodes that may be inserted between two looks at how full the table is."""

_AVERAGE_MOVES: Final = 80
_MOST_MOVES: Final = 600  # shogi's record is 593
_BYTES_OF_INDEX: Final = 150  # an entry of the dict, with its two integers


NODE: Final = np.dtype(
    [
        ("key", np.int64),
        (
            "value_sum",
            np.float64,
        ),  # `value` plus all that its edges were paid; mean = value_sum / (1 + visits - unpaid)
        ("first", np.int32),  # its first edge; they lie side by side in the order of the legal moves
        ("count", np.int32),  # how many edges it has
        ("visits", np.int32),  # sum of the visits of its edges: its own evaluation is not among them
        ("unpaid", np.int32),  # those of its visits that have not been paid yet: the virtual loss
        ("value", np.float32),  # the evaluator's opinion, or the verdict of the rules
        ("seen", np.float32),  # sum of the priors of its visited edges
        ("proof", np.int16),  # n + 1: a win within n plies; -(n + 1): a loss within n plies; 0: not known
        ("state", np.int8),
    ],
    align=True,
)
EDGE: Final = np.dtype(
    [
        ("value_sum", np.float64),  # sum of the scores paid, for the side that makes the move
        ("move", np.int32),  # as the game numbers it
        ("prior", np.float32),
        ("visits", np.int32),  # playouts that went this way, paid or not
        ("child", np.int32),  # the node it leads to, or NONE
    ],
    align=True,
)
Records = npt.NDArray[Any]


class UctNodeTable:
    """All nodes and edges of a search, allocated once."""

    def __init__(self, megabytes: int) -> None:
        """Room for about `megabytes` MiB of nodes; the system lends the memory only as it is filled."""
        self.megabytes = megabytes
        self._most_nodes = most_nodes(megabytes)
        self._most_edges = self._most_nodes * _AVERAGE_MOVES
        self.nodes: Records = np.zeros(self._most_nodes, NODE)
        # Nodes are let in as long as one edge is free, so the moves of one batch more must fit.
        self.edges: Records = np.zeros(self._most_edges + MAX_BATCH * _MOST_MOVES, EDGE)
        # From key << 16 | ply to the node.
        self._index: dict[int, int] = {}
        self._used_nodes = 0
        self._used_edges = 0

    def __len__(self) -> int:
        return self._used_nodes

    @property
    def full(self) -> bool:
        """No new node can be inserted."""
        return self._used_nodes >= self._most_nodes or self._used_edges >= self._most_edges

    @property
    def fullness(self) -> float:
        """Share of the room in use, 0 to 1."""
        return min(1.0, max(self._used_nodes / self._most_nodes, self._used_edges / self._most_edges))

    def clear(self) -> None:
        """Forget all nodes."""
        self._index.clear()
        self._used_nodes = 0
        self._used_edges = 0

    def find(self, key: int, ply: int) -> int:
        """The node of this position at this ply, or NONE."""
        return self._index.get(key << 16 | ply, NONE)

    def find_or_insert(self, key: int, ply: int) -> tuple[int, bool]:
        """The node of this position at this ply, and whether it is new; (NONE, False) when the table is full.

        A new node must be given its edges (`reserve`) or its verdict (`close`) before the next batch.
        """
        place = key << 16 | ply
        node = self._index.get(place, NONE)
        if node != NONE or self.full:
            return node, False
        node = self._used_nodes
        self._index[place] = node
        self._used_nodes += 1
        return node, True

    def reserve(self, new_nodes: Int32Array, keys: Int64Array, counts: Int32Array, moves: Int32Array) -> None:
        """Give each new node its edges: `counts[i]` of them with the next of `moves`, unvisited and without priors.

        Nodes come in the order in which they were inserted; NONE among them is passed over.
        """
        self._used_edges = _reserve(self.nodes, self.edges, self._used_edges, new_nodes, keys, counts, moves)

    def close(self, node: int, key: int, value: float, proof: int) -> None:
        """Make a new node TERMINAL: the rules give it `value`, and `proof` if that is a win or a loss."""
        _close(self.nodes, node, key, value, proof)

    def keep(self, root: int) -> int:
        """Give back every node that cannot be reached from `root`; returns the new number of `root`.

        The nodes that stay get new numbers. No node may be AWAITED.
        """
        numbers, self._used_nodes, self._used_edges = _keep(self.nodes, self.edges, self._used_nodes, root)
        new_number = numbers.tolist()
        self._index = {place: new_number[node] for place, node in self._index.items() if new_number[node] != NONE}
        return int(new_number[root])


def most_nodes(megabytes: int) -> int:
    """How many nodes a table of about `megabytes` MiB has: so few that 32 bits name each of their edges."""
    size = NODE.itemsize + _BYTES_OF_INDEX + _AVERAGE_MOVES * EDGE.itemsize
    nameable = (2**31 - MAX_BATCH * _MOST_MOVES) // _AVERAGE_MOVES
    return max(64, min(megabytes * 2**20 // size, nameable))


@compiled
def _reserve(
    nodes: Records,
    edges: Records,
    used_edges: int,
    new_nodes: Int32Array,
    keys: Int64Array,
    counts: Int32Array,
    moves: Int32Array,
) -> int:
    taken = 0
    for i in range(len(new_nodes)):
        node = new_nodes[i]
        count = counts[i]
        if node != NONE:
            nodes[node].key = keys[i]
            nodes[node].state = AWAITED
            nodes[node].first = used_edges
            nodes[node].count = count
            nodes[node].visits = 0
            nodes[node].unpaid = 0
            nodes[node].value_sum = 0.0
            nodes[node].seen = 0.0
            nodes[node].proof = 0
            for offset in range(count):
                edge = used_edges + offset
                edges[edge].move = moves[taken + offset]
                edges[edge].visits = 0
                edges[edge].value_sum = 0.0
                edges[edge].child = NONE
            used_edges += count
        taken += count
    return used_edges


@compiled
def _close(nodes: Records, node: int, key: int, value: float, proof: int) -> None:
    nodes[node].key = key
    nodes[node].state = TERMINAL
    nodes[node].first = 0
    nodes[node].count = 0
    nodes[node].visits = 0
    nodes[node].unpaid = 0
    nodes[node].value = value
    nodes[node].value_sum = value
    nodes[node].seen = 0.0
    nodes[node].proof = proof


@compiled
def _keep(nodes: Records, edges: Records, size: int, root: int) -> tuple[Int32Array, int, int]:
    """Move all that `root` reaches to the front of the arrays.

    Returns the new number of each of the `size` nodes (NONE if it is given back), and how many nodes and edges stay.
    """
    new_number = np.full(size, NONE, np.int32)
    reached = np.empty(size, np.int32)
    new_number[root] = 0  # until the second pass: reached
    reached[0] = root
    count = 1
    looked = 0
    while looked < count:
        node = reached[looked]
        looked += 1
        for edge in range(nodes[node].first, nodes[node].first + nodes[node].count):
            child = edges[edge].child
            if child != NONE and new_number[child] == NONE:
                new_number[child] = 0
                reached[count] = child
                count += 1

    # Nodes and edges were handed out in the same order, so a record only ever moves to a place that is free already.
    new = 0
    new_edge = 0
    for node in range(size):
        if new_number[node] == NONE:
            continue
        new_number[node] = new
        first = nodes[node].first
        nodes[new] = nodes[node]
        nodes[new].first = new_edge
        for edge in range(first, first + nodes[new].count):
            edges[new_edge] = edges[edge]
            new_edge += 1
        new += 1
    for edge in range(new_edge):
        if edges[edge].child != NONE:
            edges[edge].child = new_number[edges[edge].child]
    return new_number, new, new_edge
