"""Room for edges and for their statistics: reserved, freed, and kept in order. It knows no nodes but by their numbers.

Edges are reserved in blocks. What is freed between others is a gap, and gaps side by side are one; STATs are reserved
by powers of two, and a node that needs more gets twice as many elsewhere.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.support.compiled import rule, wide
from pydlshogi.uct.tree import FREE_STATS, GAPS, NEXT_EDGE, NEXT_STAT, NONE, USED_EDGES, Tree, clear_stat

EDGES_PER_BLOCK: Final = 8
"""Edges are reserved in multiples of this."""

# A gap is noted in the place of its own edges, as numbers of `Tree.words`.
_NEXT, _BEFORE = 0, 1
"""In its first block: the gaps next to it in its list, or NONE."""
_LENGTH, _LENGTH_AGAIN = 2, 3
"""In its first block and in its last one: how many blocks it has."""
_GAP: Final[Any] = np.float32(-1)
"""The prior with which the first and the last block of a gap begin, and no edge in use."""


@rule
def blocks_of(count: int) -> int:
    return (wide(count) + EDGES_PER_BLOCK - 1) // EDGES_PER_BLOCK


@rule
def _list_of(tree: Tree, blocks: int) -> int:
    """Where in the heap the list of gaps of so many blocks begins."""
    return wide(min(GAPS + blocks, len(tree.heap) - 1))


@rule
def _add_gap(tree: Tree, first: int, blocks: int) -> None:
    """Note that these edges are a gap."""
    here, last = first // 2, first + (blocks - 1) * EDGES_PER_BLOCK
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
def free_edges(tree: Tree, first: int, blocks: int) -> None:
    """Free edges. With the gaps beside them they become one, or larger positions would never find room again."""
    heap = tree.heap
    heap[USED_EDGES] -= blocks * EDGES_PER_BLOCK
    behind = first + blocks * EDGES_PER_BLOCK
    if behind < heap[NEXT_EDGE] and tree.priors[behind] == _GAP:
        blocks += _take_gap(tree, behind)
    if first > 0 and tree.priors[first - EDGES_PER_BLOCK] == _GAP:
        first -= tree.words[(first - EDGES_PER_BLOCK) // 2 + _LENGTH_AGAIN] * EDGES_PER_BLOCK
        blocks += _take_gap(tree, first)
    if first + blocks * EDGES_PER_BLOCK == heap[NEXT_EDGE]:
        heap[NEXT_EDGE] = first
    else:
        _add_gap(tree, first, blocks)


@rule
def reserve_edges(tree: Tree, count: int) -> int:
    """The first of `count` edges side by side; NONE if there is no room for them."""
    heap = tree.heap
    blocks = blocks_of(count)
    place = _list_of(tree, blocks)
    first = wide(heap[NEXT_EDGE])
    if heap[place] == NONE and first + blocks * EDGES_PER_BLOCK <= len(tree.moves):
        heap[NEXT_EDGE] += blocks * EDGES_PER_BLOCK
    else:
        while place < len(heap) - 1 and heap[place] == NONE:
            place += 1
        first = wide(heap[place])
        if first == NONE:
            return NONE
        left = _take_gap(tree, first) - blocks
        if left > 0:
            _add_gap(tree, first + blocks * EDGES_PER_BLOCK, left)
    heap[USED_EDGES] += blocks * EDGES_PER_BLOCK
    # No gap any more, also to those who free the edges beside them before these are written.
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
    tree.stats[first].child = tree.heap[FREE_STATS + capacity]
    tree.heap[FREE_STATS + capacity] = first


@rule
def _reserve_stats(tree: Tree, capacity: int) -> int:
    """The first of 2 ** capacity STATs side by side; NONE if there is no room for them."""
    heap = tree.heap
    first = heap[FREE_STATS + capacity]
    if first != NONE:
        heap[FREE_STATS + capacity] = tree.stats[first].child
    elif heap[NEXT_STAT] + (1 << capacity) <= len(tree.stats):
        first = heap[NEXT_STAT]
        heap[NEXT_STAT] += 1 << capacity
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
