"""The UctNode table: the nodes of a search, found by hash. It knows no rules, no formulas and no evaluator.

Each node counts its references: the edges and roots that lead to it. A node without references is freed, but only a few
nodes at a time, so that no new root has to wait for the old tree.
"""

from typing import Final

import numpy as np

from pydlshogi.support.compiled import compiled, rule, wide
from pydlshogi.support.mutex import Mutex
from pydlshogi.uct.edges import EDGES_PER_BLOCK, blocks_of, free_edges, free_stats, reserve_edges
from pydlshogi.uct.tree import (
    FREE_NODE,
    FREE_STATS,
    GAPS,
    NEXT_NODE,
    NEXT_STAT,
    NODE,
    NONE,
    STAT,
    TERMINAL,
    TO_FREE,
    USED_EDGES,
    USED_NODES,
    Tree,
    clear_node,
)

_STATS_PER_NODE: Final = 4
_SLOTS_PER_NODE: Final = 1.5
_EDGE_BYTES: Final = np.dtype(np.uint16).itemsize + np.dtype(np.float32).itemsize


class UctNodeTable:
    """All nodes and edges of a search, allocated once."""

    def __init__(self, megabytes: int, average_moves: int, most_moves: int, state_bytes: int = 0) -> None:
        """Room for about `megabytes` MiB of nodes; the system lends the memory only as it is filled.

        `average_moves`, `most_moves`: what to expect of a position; `state_bytes`: kept elsewhere for every node.
        """
        self.megabytes = megabytes
        edges_per_node = average_moves + EDGES_PER_BLOCK // 2
        self._node_bytes = NODE.itemsize + state_bytes + int(np.dtype(np.int32).itemsize * (1 + _SLOTS_PER_NODE))
        """What a node takes without its edges: its record, its state, its slots and its place in `Tree.to_free`."""
        size = self._node_bytes + edges_per_node * _EDGE_BYTES + _STATS_PER_NODE * STAT.itemsize
        # So few that 32 bits name each of their edges and slots.
        self.most_nodes = max(64, min(megabytes * 2**20 // size, (2**31 - 2**16) // edges_per_node))
        self.lock: Final = Mutex()
        """Of the tree. Who holds it is told in `pydlshogi.uct`; nothing in this file takes it."""
        self._most_edges = self.most_nodes * edges_per_node
        edges = self._most_edges + most_moves + EDGES_PER_BLOCK  # one position of the most moves must fit
        moves = np.zeros(edges + -edges % EDGES_PER_BLOCK, np.uint16)
        self.tree = Tree(
            nodes=np.zeros(self.most_nodes, NODE),
            moves=moves,
            words=moves.view(np.int32),
            priors=np.zeros(len(moves), np.float32),
            stats=np.zeros(self.most_nodes * _STATS_PER_NODE, STAT),
            slots=np.full(int(self.most_nodes * _SLOTS_PER_NODE), NONE, np.int32),
            to_free=np.zeros(self.most_nodes, np.int32),
            heap=np.zeros(GAPS + most_moves // EDGES_PER_BLOCK + 2, np.int64),
            lock=self.lock.addresses,
        )
        self.clear()

    def __len__(self) -> int:
        """Nodes in use."""
        return int(self.tree.heap[USED_NODES])

    @property
    def full(self) -> bool:
        """No new node can be inserted, or none gets edges."""
        return self.fullness >= 1

    @property
    def fullness(self) -> float:
        """Share of the room in use, 0 to 1."""
        return min(1.0, max(len(self) / self.most_nodes, int(self.tree.heap[USED_EDGES]) / self._most_edges))

    @property
    def bytes_used(self) -> int:
        """What the nodes in use take, with what is kept elsewhere for each."""
        edges = int(self.tree.heap[USED_EDGES]) * _EDGE_BYTES
        return len(self) * self._node_bytes + edges + int(self.tree.heap[NEXT_STAT]) * STAT.itemsize

    def clear(self) -> None:
        """Forget all nodes."""
        self.tree.slots.fill(NONE)
        self.tree.heap.fill(0)
        self.tree.heap[FREE_NODE] = NONE
        self.tree.heap[FREE_STATS:] = NONE

    def find(self, key: int, ply: int) -> int:
        """The node of this position at this ply, or NONE."""
        return int(self.tree.slots[_slot_of(self.tree, _bits(key), ply)])

    def link_root(self, key: int, board_key: int, ply: int) -> int:
        """The node of this position at this ply, LEAF if it is new, with one reference more: it is a root.

        MemoryError if it is new and there is no room.
        """
        node = int(_link_root(self.tree, _bits(key), _bits(board_key), ply))
        if node == NONE:
            raise MemoryError("the table is full")
        return node


def _bits(key: int) -> int:
    """A key as kernels take it."""
    return np.uint64(key)  # type: ignore[return-value]


# The index


@rule
def _home(tree: Tree, key: int, ply: int) -> int:
    """The slot where the search for a node begins: Fibonacci hashing (Knuth 6.4), scaled to the length of the index."""
    mixed = (np.uint64(key) ^ np.uint64(ply)) * np.uint64(0x9E3779B97F4A7C15)
    return wide(((mixed >> np.uint64(32)) * np.uint64(len(tree.slots))) >> np.uint64(32))


@rule
def slot_of(tree: Tree, key: int, ply: int) -> int:
    """The slot of the index that holds this node, or the empty one where it would go."""
    slot = _home(tree, key, ply)
    while True:
        node = tree.slots[slot]
        if node == NONE or (tree.nodes[node].key == key and tree.nodes[node].ply == ply):
            return slot
        slot += 1
        if slot == len(tree.slots):
            slot = 0


@compiled
def _slot_of(tree: Tree, key: int, ply: int) -> int:
    return slot_of(tree, key, ply)


@rule
def _remove(tree: Tree, node: int) -> None:
    """Take `node` out of the index, and close the gap (Knuth 6.4, algorithm R)."""
    slots = tree.slots
    gap = slot_of(tree, tree.nodes[node].key, wide(tree.nodes[node].ply))
    slot = gap
    while True:
        slot += 1
        if slot == len(slots):
            slot = 0
        other = slots[slot]
        if other == NONE:
            break
        home = _home(tree, tree.nodes[other].key, wide(tree.nodes[other].ply))
        # It may move to the gap unless its home lies behind the gap, up to its slot.
        behind = gap < home <= slot if gap < slot else (gap < home or home <= slot)
        if not behind:
            slots[gap] = other
            gap = slot
    slots[gap] = NONE


# Nodes


@rule
def insert(tree: Tree, slot: int, key: int, board_key: int, ply: int) -> int:
    """A new node at the empty `slot` of the index, LEAF and without references; NONE if the table is full."""
    nodes, heap = tree.nodes, tree.heap
    node = heap[FREE_NODE]
    if node != NONE:
        heap[FREE_NODE] = nodes[node].first
    elif heap[NEXT_NODE] < len(nodes):
        node = heap[NEXT_NODE]
        heap[NEXT_NODE] += 1
    else:
        return NONE
    heap[USED_NODES] += 1
    tree.slots[slot] = node
    nodes[node].key = key
    nodes[node].board_key = board_key
    nodes[node].ply = ply
    nodes[node].references = 0
    nodes[node].to_free = 0
    nodes[node].capacity = 0
    clear_node(tree.nodes, node)
    return wide(node)


@compiled
def _link_root(tree: Tree, key: int, board_key: int, ply: int) -> int:
    slot = slot_of(tree, key, ply)
    node = wide(tree.slots[slot])
    if node == NONE:
        if tree.heap[NEXT_NODE] == len(tree.nodes) and tree.heap[FREE_NODE] == NONE:
            free_unreferenced(tree, 1)
            slot = slot_of(tree, key, ply)
        node = insert(tree, slot, key, board_key, ply)
    elif tree.nodes[node].state == TERMINAL:
        # A mate in one ended it, say: as a root it is searched all the same.
        clear_node(tree.nodes, node)
    if node != NONE:
        tree.nodes[node].references += 1
    return node


@rule
def _unlink(tree: Tree, node: int) -> None:
    """Take a reference to `node` back; it waits to be freed if none is left."""
    tree.nodes[node].references -= 1
    if tree.nodes[node].references == 0 and tree.nodes[node].to_free == 0:
        tree.nodes[node].to_free = 1
        tree.to_free[tree.heap[TO_FREE]] = node
        tree.heap[TO_FREE] += 1


@compiled
def unlink(tree: Tree, node: int) -> None:
    """Take a reference to `node` back."""
    _unlink(tree, node)


@rule
def free_unreferenced(tree: Tree, most: int) -> None:
    """Free up to `most` nodes without references.

    A ply more with every edge: no node leads to itself, so none keeps itself alive.
    """
    nodes, stats, heap = tree.nodes, tree.stats, tree.heap
    while most > 0 and heap[TO_FREE] > 0:
        heap[TO_FREE] -= 1
        node = tree.to_free[heap[TO_FREE]]
        nodes[node].to_free = 0
        if nodes[node].references > 0:
            continue
        _remove(tree, node)
        first = nodes[node].stats
        for edge in range(nodes[node].visited_edges):
            if stats[first + edge].child >= 0:
                _unlink(tree, stats[first + edge].child)
        if nodes[node].capacity > 0:
            free_stats(tree, first, wide(nodes[node].capacity))
        if nodes[node].count > 0:
            free_edges(tree, wide(nodes[node].first), blocks_of(nodes[node].count))
        nodes[node].first = heap[FREE_NODE]
        heap[FREE_NODE] = node
        heap[USED_NODES] -= 1
        most -= 1


@rule
def reserve_root_edges(tree: Tree, count: int) -> int:
    """As `reserve_edges`, for a root: nodes without references are freed at once, or nothing could be searched."""
    first = reserve_edges(tree, count)
    while first == NONE and tree.heap[TO_FREE] > 0:
        free_unreferenced(tree, count)
        first = reserve_edges(tree, count)
    return first
