"""The UctNode table: nodes found by hash, and room for their edges. It knows no rules, no formulas and no evaluator.

Each node counts its references: the edges and roots that lead to it. A node without references is freed, but only a few
nodes at a time, so that no new root has to wait for the old tree.

Edges are reserved in blocks. What is freed between others is a gap, and gaps side by side become one.
STATs are reserved by powers of two: a node that needs more gets twice as many elsewhere.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.support.kernels.compiled import compiled, rule, wide
from pydlshogi.support.kernels.mutex import Mutex
from pydlshogi.uct.tree import (
    FREE_NODE,
    FREE_STATS,
    GAPS,
    NEXT_EDGE,
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
    clear_stat,
)

EDGES_PER_BLOCK: Final = 8
"""Edges are reserved in multiples of this."""

# A gap is noted in the place of its own edges, as numbers of `Tree.words`.
_NEXT, _BEFORE = 0, 1
"""In its first block: the gaps next to it in its list, or NONE."""
_LENGTH, _LENGTH_AGAIN = 2, 3
"""In its first block and in its last one: how many blocks it has."""
_GAP: Final[Any] = np.float32(-1)
"""The prior of the first edge in the first and in the last block of a gap; an edge in use has none below 0."""

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
        # Bytes of a node: its record, its state, its slots and its place in `Tree.to_free`; and of its edges.
        size = NODE.itemsize + state_bytes + int(np.dtype(np.int32).itemsize * (1 + _SLOTS_PER_NODE))
        size += edges_per_node * _EDGE_BYTES + _STATS_PER_NODE * STAT.itemsize
        # Few enough for 32 bits to name each of their edges and slots.
        self.most_nodes = max(64, min(megabytes * 2**20 // size, (2**31 - 2**16) // edges_per_node))
        self.lock: Final = Mutex()
        """The lock of the table. `pydlshogi.uct` says who takes it; nothing in this file does."""
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
            allocator=np.zeros(GAPS + most_moves // EDGES_PER_BLOCK + 2, np.int64),
            lock=self.lock.addresses,
        )
        self.clear()

    def __len__(self) -> int:
        """Nodes in use."""
        return int(self.tree.allocator[USED_NODES])

    @property
    def full(self) -> bool:
        """No new node can be inserted, or none gets edges."""
        return self.fullness >= 1

    @property
    def fullness(self) -> float:
        """Share of the room in use, 0 to 1."""
        return min(1.0, max(len(self) / self.most_nodes, int(self.tree.allocator[USED_EDGES]) / self._most_edges))

    def clear(self) -> None:
        """Forget all nodes."""
        self.tree.slots.fill(NONE)
        self.tree.allocator.fill(0)
        self.tree.allocator[FREE_NODE] = NONE
        self.tree.allocator[FREE_STATS:] = NONE

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


# Edges


@rule
def blocks_of(count: int) -> int:
    """Blocks that `count` edges take."""
    return (wide(count) + EDGES_PER_BLOCK - 1) // EDGES_PER_BLOCK


@rule
def _list_of(tree: Tree, blocks: int) -> int:
    """Where in the allocator the list of gaps of `blocks` blocks begins."""
    return wide(min(GAPS + blocks, len(tree.allocator) - 1))


@rule
def _add_gap(tree: Tree, first: int, blocks: int) -> None:
    """Note that these edges are a gap."""
    here, last = first // 2, first + (blocks - 1) * EDGES_PER_BLOCK
    place = _list_of(tree, blocks)
    following = wide(tree.allocator[place])
    tree.allocator[place] = first
    tree.priors[first] = tree.priors[last] = _GAP
    tree.words[here + _NEXT], tree.words[here + _BEFORE] = following, NONE
    tree.words[here + _LENGTH] = tree.words[last // 2 + _LENGTH_AGAIN] = blocks
    if following != NONE:
        tree.words[following // 2 + _BEFORE] = first


@rule
def _take_gap(tree: Tree, first: int) -> int:
    """Take a gap out of its list; returns how many blocks it has."""
    here = first // 2
    following, before = wide(tree.words[here + _NEXT]), wide(tree.words[here + _BEFORE])
    blocks = wide(tree.words[here + _LENGTH])
    if before == NONE:
        tree.allocator[_list_of(tree, blocks)] = following
    else:
        tree.words[before // 2 + _NEXT] = following
    if following != NONE:
        tree.words[following // 2 + _BEFORE] = before
    return blocks


@rule
def free_edges(tree: Tree, first: int, blocks: int) -> None:
    """Free edges. With the gaps beside them they become one, or larger positions would never find room again."""
    allocator = tree.allocator
    allocator[USED_EDGES] -= blocks * EDGES_PER_BLOCK
    behind = first + blocks * EDGES_PER_BLOCK
    if behind < allocator[NEXT_EDGE] and tree.priors[behind] == _GAP:
        blocks += _take_gap(tree, behind)
    if first > 0 and tree.priors[first - EDGES_PER_BLOCK] == _GAP:
        first -= tree.words[(first - EDGES_PER_BLOCK) // 2 + _LENGTH_AGAIN] * EDGES_PER_BLOCK
        blocks += _take_gap(tree, first)
    if first + blocks * EDGES_PER_BLOCK == allocator[NEXT_EDGE]:
        allocator[NEXT_EDGE] = first
    else:
        _add_gap(tree, first, blocks)


@rule
def reserve_edges(tree: Tree, count: int) -> int:
    """The first of `count` edges side by side; NONE if there is no room for them."""
    allocator = tree.allocator
    blocks = blocks_of(count)
    place = _list_of(tree, blocks)
    first = wide(allocator[NEXT_EDGE])
    if allocator[place] == NONE and first + blocks * EDGES_PER_BLOCK <= len(tree.moves):
        allocator[NEXT_EDGE] += blocks * EDGES_PER_BLOCK
    else:
        while place < len(allocator) - 1 and allocator[place] == NONE:
            place += 1
        first = wide(allocator[place])
        if first == NONE:
            return NONE
        left = _take_gap(tree, first) - blocks
        if left > 0:
            _add_gap(tree, first + blocks * EDGES_PER_BLOCK, left)
    allocator[USED_EDGES] += blocks * EDGES_PER_BLOCK
    # `free_edges` beside them looks for a gap here, perhaps before these edges are written.
    tree.priors[first] = tree.priors[first + (blocks - 1) * EDGES_PER_BLOCK] = 0.0
    return first


@rule
def bring_best(tree: Tree, first: int, stop: int) -> None:
    """Bring the highest prior of the edges `first` to `stop` - 1, of equals the first, to the front.

    The others keep their order, so that equals always come in the order of the legal moves.
    """
    if first >= stop:
        return
    best = first
    for edge in range(first + 1, stop):
        if tree.priors[edge] > tree.priors[best]:
            best = edge
    _bring(tree, best, first)


@rule
def _bring(tree: Tree, edge: int, front: int) -> None:
    """Move an edge to `front`, and those between back by one."""
    move, prior = tree.moves[edge], tree.priors[edge]
    for place in range(edge, front, -1):
        tree.moves[place] = tree.moves[place - 1]
        tree.priors[place] = tree.priors[place - 1]
    tree.moves[front], tree.priors[front] = move, prior


# Statistics


@rule
def free_stats(tree: Tree, first: int, capacity: int) -> None:
    """Free 2 ** capacity STATs."""
    tree.stats[first].child = tree.allocator[FREE_STATS + capacity]
    tree.allocator[FREE_STATS + capacity] = first


@rule
def _reserve_stats(tree: Tree, capacity: int) -> int:
    """The first of 2 ** capacity STATs side by side; NONE if there is no room for them."""
    allocator = tree.allocator
    first = allocator[FREE_STATS + capacity]
    if first != NONE:
        allocator[FREE_STATS + capacity] = tree.stats[first].child
    elif allocator[NEXT_STAT] + (1 << capacity) <= len(tree.stats):
        first = allocator[NEXT_STAT]
        allocator[NEXT_STAT] += 1 << capacity
    return wide(first)


@rule
def add_stat(tree: Tree, node: int, edge: int) -> int:
    """Add a STAT for `edge` of `node`, which has none yet; returns its new number, or NONE if there is no room."""
    nodes, stats = tree.nodes, tree.stats
    visited, capacity = wide(nodes[node].visited_edges), wide(nodes[node].capacity)
    if visited == (1 << capacity if capacity else 0):
        new = _reserve_stats(tree, capacity + 1)
        if new == NONE:
            return NONE
        old = nodes[node].stats
        for i in range(visited):
            stats[new + i] = stats[old + i]
        if capacity:
            free_stats(tree, old, capacity)
        nodes[node].stats = new
        nodes[node].capacity = capacity + 1
    clear_stat(stats, nodes[node].stats + visited)
    nodes[node].visited_edges = visited + 1
    first = wide(nodes[node].first)
    if edge != visited:
        _bring(tree, first + edge, first + visited)
    else:
        bring_best(tree, first + visited + 1, first + nodes[node].count)
    return visited


# Nodes


@rule
def insert(tree: Tree, slot: int, key: int, board_key: int, ply: int) -> int:
    """A new node at the empty `slot` of the index, LEAF and without references; NONE if the table is full."""
    nodes, allocator = tree.nodes, tree.allocator
    node = allocator[FREE_NODE]
    if node != NONE:
        allocator[FREE_NODE] = nodes[node].first
    elif allocator[NEXT_NODE] < len(nodes):
        node = allocator[NEXT_NODE]
        allocator[NEXT_NODE] += 1
    else:
        return NONE
    allocator[USED_NODES] += 1
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
        if tree.allocator[NEXT_NODE] == len(tree.nodes) and tree.allocator[FREE_NODE] == NONE:
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
        tree.to_free[tree.allocator[TO_FREE]] = node
        tree.allocator[TO_FREE] += 1


@compiled
def unlink(tree: Tree, node: int) -> None:
    """Take a reference to `node` back."""
    _unlink(tree, node)


@rule
def free_unreferenced(tree: Tree, most: int) -> None:
    """Free up to `most` nodes without references.

    Every edge leads one ply further, so no node leads back to itself: to count references is enough.
    """
    nodes, stats, allocator = tree.nodes, tree.stats, tree.allocator
    while most > 0 and allocator[TO_FREE] > 0:
        allocator[TO_FREE] -= 1
        node = tree.to_free[allocator[TO_FREE]]
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
        nodes[node].first = allocator[FREE_NODE]
        allocator[FREE_NODE] = node
        allocator[USED_NODES] -= 1
        most -= 1


@rule
def reserve_root_edges(tree: Tree, count: int) -> int:
    """As `reserve_edges`, for a root: all nodes without references are freed, if it takes that, to make room."""
    first = reserve_edges(tree, count)
    while first == NONE and tree.allocator[TO_FREE] > 0:
        free_unreferenced(tree, count)
        first = reserve_edges(tree, count)
    return first
