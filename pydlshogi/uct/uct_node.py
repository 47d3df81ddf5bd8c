"""The UctNode table: a graph of nodes found by hash, kept as arrays.

A node is a position at a ply. The same position reached by another order of moves is the same node: its evaluation,
its moves and all below it are shared, and a network that sees the last moves saw those of the first order. Visits and
value sums are kept per edge, because what a move is worth was learned by the playouts that chose it. The table knows no
rules, no formulas and no evaluator.

At a million nodes 96 of 100 edges have never been visited. So an edge is a move and a prior, and gets its `STAT` when
it is visited first: the visited edges of a node come first, in the order of their first visits, the unvisited edge of
the highest prior is the next, and the others follow in no order worth knowing.

Each node counts its references: the edges and roots that lead to it. A node without references is freed, but only a few
nodes at a time, so that no new root has to wait for the old tree.

Values are win rates in [0, 1]; a node's and its edges' values are those of the side to move at that node.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array, Records, Uint16Array
from pydlshogi.support.compiled import compiled, rule, wide
from pydlshogi.support.mutex import Mutex

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
        ("value_sum", np.float64),  # its evaluations and all values backed up through it; see `mean` in kernels.py
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

_STATS_PER_NODE: Final = 4
_SLOTS_PER_NODE: Final = 1.5
_EDGES_PER_BLOCK: Final = 8
"""Edges are reserved in multiples of this."""
_EDGE_BYTES: Final = np.dtype(np.uint16).itemsize + np.dtype(np.float32).itemsize
_LARGEST_CAPACITY: Final = 16

# The counters of `Tree.heap`.
_NEXT_NODE, _NEXT_EDGE, _NEXT_STAT = 0, 1, 2
"""Where what was never used begins."""
_FREE_NODE: Final = 3
"""The first of the freed nodes; each names the next in `first`."""
_TO_FREE: Final = 4
"""How many nodes wait in `Tree.to_free`."""
_USED_NODES, _USED_EDGES = 5, 6
_FREE_STATS: Final = 8
"""For each capacity the first of the freed STATs; each names the next in `child`."""
_GAPS: Final = _FREE_STATS + _LARGEST_CAPACITY + 1
"""For each number of blocks, the last of them standing for all larger ones, the first of the gaps among the edges."""

# A gap is noted in the place of its own edges: in `Tree.words` of its first block
_NEXT, _BEFORE, _LENGTH = 0, 1, 2
"""the gaps next to it in its list, or NONE, and how many blocks it has,"""
_LENGTH_AGAIN: Final = 3
"""which its last block says too."""
_GAP: Final[Any] = np.float32(-1)
"""The prior with which the first and the last block of a gap begin, and no edge in use."""


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


class UctNodeTable:
    """All nodes and edges of a search, allocated once."""

    def __init__(self, megabytes: int, average_moves: int, most_moves: int, state_bytes: int = 0) -> None:
        """Room for about `megabytes` MiB of nodes; the system lends the memory only as it is filled.

        `average_moves`, `most_moves`: what to expect of a position; `state_bytes`: kept elsewhere for every node.
        """
        self.megabytes = megabytes
        most_nodes = max(64, _most_nodes(megabytes, average_moves, state_bytes))
        self._node_bytes = _node_bytes(state_bytes)
        self.lock: Final = Mutex()
        """Held while the tree is changed or read, unless no playout is under way. The kernels of a batch of playouts
        take it themselves; nothing in this file does."""
        self._most_edges = most_nodes * _edges_per_node(average_moves)
        edges = self._most_edges + most_moves + _EDGES_PER_BLOCK  # one position of the most moves must fit
        moves = np.zeros(edges + -edges % _EDGES_PER_BLOCK, np.uint16)
        self.tree = Tree(
            nodes=np.zeros(most_nodes, NODE),
            moves=moves,
            words=moves.view(np.int32),
            priors=np.zeros(len(moves), np.float32),
            stats=np.zeros(most_nodes * _STATS_PER_NODE, STAT),
            slots=np.full(int(most_nodes * _SLOTS_PER_NODE), NONE, np.int32),
            to_free=np.zeros(most_nodes, np.int32),
            heap=np.zeros(_GAPS + most_moves // _EDGES_PER_BLOCK + 2, np.int64),
            lock=self.lock.addresses,
        )
        self.clear()

    def __len__(self) -> int:
        """Nodes in use."""
        return int(self.tree.heap[_USED_NODES])

    @property
    def most_nodes(self) -> int:
        return len(self.tree.nodes)

    @property
    def full(self) -> bool:
        """No new node can be inserted, or none gets edges."""
        return self.fullness >= 1

    @property
    def fullness(self) -> float:
        """Share of the room in use, 0 to 1."""
        return min(1.0, max(len(self) / self.most_nodes, int(self.tree.heap[_USED_EDGES]) / self._most_edges))

    @property
    def bytes_used(self) -> int:
        """What the nodes in use take, with what is kept elsewhere for each."""
        edges = int(self.tree.heap[_USED_EDGES]) * _EDGE_BYTES
        return len(self) * self._node_bytes + edges + int(self.tree.heap[_NEXT_STAT]) * STAT.itemsize

    def clear(self) -> None:
        """Forget all nodes."""
        self.tree.slots.fill(NONE)
        self.tree.heap.fill(0)
        self.tree.heap[_FREE_NODE] = NONE
        self.tree.heap[_FREE_STATS:] = NONE

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

    def unlink_root(self, node: int) -> None:
        """Take the reference of a root back."""
        unlink(self.tree, node)


def _bits(key: int) -> int:
    """A key as kernels take it."""
    return np.uint64(key)  # type: ignore[return-value]


def _most_nodes(megabytes: int, average_moves: int, state_bytes: int) -> int:
    """How many nodes a table of about `megabytes` MiB has: so few that 32 bits name each of their edges and slots."""
    edges = _edges_per_node(average_moves)
    size = _node_bytes(state_bytes) + edges * _EDGE_BYTES + _STATS_PER_NODE * STAT.itemsize
    return min(megabytes * 2**20 // size, (2**31 - 2**16) // edges)


def _node_bytes(state_bytes: int) -> int:
    """What a node takes without its edges: its record, its state, its slots and its place in `Tree.to_free`."""
    return NODE.itemsize + state_bytes + int(np.dtype(np.int32).itemsize * (1 + _SLOTS_PER_NODE))


def _edges_per_node(average_moves: int) -> int:
    return average_moves + _EDGES_PER_BLOCK // 2


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
    node = heap[_FREE_NODE]
    if node != NONE:
        heap[_FREE_NODE] = nodes[node].first
    elif heap[_NEXT_NODE] < len(nodes):
        node = heap[_NEXT_NODE]
        heap[_NEXT_NODE] += 1
    else:
        return NONE
    heap[_USED_NODES] += 1
    tree.slots[slot] = node
    nodes[node].key = key
    nodes[node].board_key = board_key
    nodes[node].ply = ply
    nodes[node].references = 0
    nodes[node].to_free = 0
    nodes[node].capacity = 0
    empty(tree, node)
    return wide(node)


@rule
def empty(tree: Tree, node: int) -> None:
    """Make a node that has no edges LEAF, with nothing known of it."""
    nodes = tree.nodes
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


@compiled
def _link_root(tree: Tree, key: int, board_key: int, ply: int) -> int:
    slot = slot_of(tree, key, ply)
    node = wide(tree.slots[slot])
    if node == NONE:
        if tree.heap[_NEXT_NODE] == len(tree.nodes) and tree.heap[_FREE_NODE] == NONE:
            free_unreferenced(tree, 1)
            slot = slot_of(tree, key, ply)
        node = insert(tree, slot, key, board_key, ply)
    elif tree.nodes[node].state == TERMINAL:
        # A mate in one ended it, say: as a root it is searched all the same.
        empty(tree, node)
    if node != NONE:
        tree.nodes[node].references += 1
    return node


@rule
def _unlink(tree: Tree, node: int) -> None:
    """Take a reference to `node` back; it waits to be freed if none is left."""
    tree.nodes[node].references -= 1
    if tree.nodes[node].references == 0 and tree.nodes[node].to_free == 0:
        tree.nodes[node].to_free = 1
        tree.to_free[tree.heap[_TO_FREE]] = node
        tree.heap[_TO_FREE] += 1


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
    while most > 0 and heap[_TO_FREE] > 0:
        heap[_TO_FREE] -= 1
        node = tree.to_free[heap[_TO_FREE]]
        nodes[node].to_free = 0
        if nodes[node].references > 0:
            continue
        _remove(tree, node)
        first = nodes[node].stats
        for edge in range(nodes[node].visited_edges):
            if stats[first + edge].child >= 0:
                _unlink(tree, stats[first + edge].child)
        if nodes[node].capacity > 0:
            _free_stats(tree, first, wide(nodes[node].capacity))
        if nodes[node].count > 0:
            _free_edges(tree, wide(nodes[node].first), _blocks(nodes[node].count))
        nodes[node].first = heap[_FREE_NODE]
        heap[_FREE_NODE] = node
        heap[_USED_NODES] -= 1
        most -= 1


# Edges


@rule
def _blocks(count: int) -> int:
    return (wide(count) + _EDGES_PER_BLOCK - 1) // _EDGES_PER_BLOCK


@rule
def _list_of(tree: Tree, blocks: int) -> int:
    """Where in the heap the list of gaps of so many blocks begins."""
    return wide(min(_GAPS + blocks, len(tree.heap) - 1))


@rule
def _add_gap(tree: Tree, first: int, blocks: int) -> None:
    """Note that these edges are a gap."""
    here, last = first // 2, first + (blocks - 1) * _EDGES_PER_BLOCK
    place = _list_of(tree, blocks)
    following = wide(tree.heap[place])
    tree.heap[place] = first
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
        tree.heap[_list_of(tree, blocks)] = following
    else:
        tree.words[before // 2 + _NEXT] = following
    if following != NONE:
        tree.words[following // 2 + _BEFORE] = before
    return blocks


@rule
def _free_edges(tree: Tree, first: int, blocks: int) -> None:
    """Free edges. With the gaps beside them they become one, or larger positions would never find room again."""
    heap = tree.heap
    heap[_USED_EDGES] -= blocks * _EDGES_PER_BLOCK
    behind = first + blocks * _EDGES_PER_BLOCK
    if behind < heap[_NEXT_EDGE] and tree.priors[behind] == _GAP:
        blocks += _take_gap(tree, behind)
    if first > 0 and tree.priors[first - _EDGES_PER_BLOCK] == _GAP:
        first -= tree.words[(first - _EDGES_PER_BLOCK) // 2 + _LENGTH_AGAIN] * _EDGES_PER_BLOCK
        blocks += _take_gap(tree, first)
    if first + blocks * _EDGES_PER_BLOCK == heap[_NEXT_EDGE]:
        heap[_NEXT_EDGE] = first
    else:
        _add_gap(tree, first, blocks)


@rule
def reserve_edges(tree: Tree, count: int) -> int:
    """The first of `count` edges side by side; NONE if there is no room for them."""
    heap = tree.heap
    blocks = _blocks(count)
    place = _list_of(tree, blocks)
    first = wide(heap[_NEXT_EDGE])
    if heap[place] == NONE and first + blocks * _EDGES_PER_BLOCK <= len(tree.moves):
        heap[_NEXT_EDGE] += blocks * _EDGES_PER_BLOCK
    else:
        while place < len(heap) - 1 and heap[place] == NONE:
            place += 1
        first = wide(heap[place])
        if first == NONE:
            return NONE
        left = _take_gap(tree, first) - blocks
        if left > 0:
            _add_gap(tree, first + blocks * _EDGES_PER_BLOCK, left)
    heap[_USED_EDGES] += blocks * _EDGES_PER_BLOCK
    tree.priors[first] = tree.priors[first + (blocks - 1) * _EDGES_PER_BLOCK] = 0.0
    return first


@rule
def reserve_root_edges(tree: Tree, count: int) -> int:
    """The same for a root: nodes without references are freed at once, as without edges nothing can be searched."""
    first = reserve_edges(tree, count)
    while first == NONE and tree.heap[_TO_FREE] > 0:
        free_unreferenced(tree, count)
        first = reserve_edges(tree, count)
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
def _free_stats(tree: Tree, first: int, capacity: int) -> None:
    tree.stats[first].child = tree.heap[_FREE_STATS + capacity]
    tree.heap[_FREE_STATS + capacity] = first


@rule
def _reserve_stats(tree: Tree, capacity: int) -> int:
    """The first of 2 ** capacity STATs side by side; NONE if there is no room for them."""
    heap = tree.heap
    first = heap[_FREE_STATS + capacity]
    if first != NONE:
        heap[_FREE_STATS + capacity] = tree.stats[first].child
    elif heap[_NEXT_STAT] + (1 << capacity) <= len(tree.stats):
        first = heap[_NEXT_STAT]
        heap[_NEXT_STAT] += 1 << capacity
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
            _free_stats(tree, old, capacity)
        nodes[node].stats = new
        nodes[node].capacity = capacity + 1
    stat = nodes[node].stats + visited
    stats[stat].value_sum = 0.0
    stats[stat].squares = 0.0
    stats[stat].visits = 0
    stats[stat].child = NONE
    nodes[node].visited_edges = visited + 1
    first = wide(nodes[node].first)
    if edge != visited:
        _bring(tree, first + edge, first + visited)
    else:
        bring_best(tree, first + visited + 1, first + nodes[node].count)
    return visited
