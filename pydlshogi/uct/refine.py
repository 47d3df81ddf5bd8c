"""Two evaluators in one search: a quick one at every leaf, a better one where the search comes back often.

A node that reaches a number of visits is shown to the better evaluator once. Its priors replace those of the node, and
its value moves the mean of the node, and of all edges on the path on which the node was noticed, as some playouts that
ended there would. Visits stay what they are: they say where the search went.
"""

from threading import Lock
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import Float32Array, Int32Array, Records, Uint16Array, Uint64Array
from pydlshogi.support.compiled import compiled, wide
from pydlshogi.support.mutex import hold_soon, release
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.boards import StoredBoards
from pydlshogi.uct.kernels import STEP
from pydlshogi.uct.search import Leaves, Search
from pydlshogi.uct.uct_node import EXPANDED, Tree, bring_best

_LONGEST: Final = 64
"""Steps of a path that are kept; what is found deeper is not refined."""
_WAITING: Final = 1 << 12
"""Nodes that may wait at once; those noticed beyond are noticed again later."""


class _Queue(NamedTuple):
    """Nodes that wait, as kernels take them."""

    nodes: Int32Array
    keys: Uint64Array
    """Of these nodes: a node may be given back meanwhile."""
    lengths: Int32Array
    """Steps from the root to each."""
    paths: Records
    """STEP [waiting, _LONGEST]"""
    ends: Int32Array
    """int32 [2]: how many nodes have left the queue, and how many have entered it."""


class Refinement:
    """The better evaluator of a search. Several threads may use it at once, each with a batch of its own."""

    def __init__(self, search: Search, evaluator: Evaluator, batch_size: int, visits: int, weight: int) -> None:
        """`visits`: at which a node is shown; `weight`: for how many playouts its value counts."""
        assert isinstance(search.boards, StoredBoards)
        self._boards = search.boards
        self.evaluator = evaluator
        self.batch_size = batch_size
        self.evaluated = 0
        """Nodes shown so far."""
        self._search = search
        self._visits = visits
        self._weight = weight
        self._noticed: Uint64Array = np.zeros(search.table.most_nodes, np.uint64)
        """uint64 [nodes]: the key of the position that each node had when it was noticed."""
        self._emptied = search.emptied
        self._queue = _Queue(
            np.zeros(_WAITING, np.int32),
            np.zeros(_WAITING, np.uint64),
            np.zeros(_WAITING, np.int32),
            np.zeros((_WAITING, _LONGEST), STEP),
            np.zeros(2, np.int32),
        )
        self._lock = Lock()

    def __len__(self) -> int:
        """Nodes that wait."""
        return int(self._queue.ends[1] - self._queue.ends[0])

    def notice(self, leaves: Leaves) -> None:
        """Let nodes wait that lie on the paths of a batch and have enough visits.

        To be called before its backup, after which its leaves may be in use again.
        """
        with self._lock:
            if self._emptied != self._search.emptied:
                self._emptied = self._search.emptied
                self._noticed[:] = 0
                self._queue.ends[:] = 0
            _notice(self._search.table.tree, leaves.rows, leaves.steps, self._visits, self._noticed, self._queue)

    def batch(self) -> Batch:
        """A batch for `step`."""
        return Batch(self.batch_size, self._boards.most_moves, self.evaluator.encoding)

    def step(self, batch: Batch) -> int:
        """Show as many of the waiting nodes as a batch has room for to the evaluator; returns how many."""
        with self._lock:
            first, last = self._queue.ends.tolist()
            places = np.arange(first, min(last, first + batch.capacity)) % _WAITING
            self._queue.ends[0] = first + len(places)
            nodes, keys = self._queue.nodes[places], self._queue.keys[places]
            lengths, paths = self._queue.lengths[places], self._queue.paths[places]
        if not len(nodes):
            return 0
        batch.clear()
        moves = self._boards.show(self._search.table.tree, nodes, keys, batch)
        evaluations = self.evaluator.evaluate(batch)
        _refine(
            self._search.table.tree,
            nodes,
            keys,
            lengths,
            paths,
            moves,
            batch.firsts,
            evaluations.priors,
            evaluations.values,
            self._weight,
        )
        self.evaluated += len(nodes)
        return len(nodes)


@compiled
def _notice(tree: Tree, rows: Records, steps: Records, visits: int, noticed: Uint64Array, queue: _Queue) -> None:
    nodes = tree.nodes
    for i in range(len(rows)):
        first = wide(rows[i].first)
        for level in range(min(wide(rows[i].length), _LONGEST)):
            node = wide(steps[first + level].node)
            key = nodes[node].key
            if (
                nodes[node].visits < visits
                or nodes[node].state != EXPANDED
                or nodes[node].proof != 0
                or noticed[node] == key
            ):
                continue
            if queue.ends[1] - queue.ends[0] >= _WAITING:
                return
            place = queue.ends[1] % _WAITING
            queue.ends[1] += 1
            noticed[node] = key
            queue.nodes[place], queue.keys[place], queue.lengths[place] = node, key, level
            for step in range(level):
                queue.paths[place, step] = steps[first + step]


@compiled
def _refine(
    tree: Tree,
    asked: Int32Array,
    keys: Uint64Array,
    lengths: Int32Array,
    paths: Records,
    moves: Uint16Array,
    firsts: Int32Array,
    priors: Float32Array,
    values: Float32Array,
    weight: int,
) -> None:
    """Give nodes their values, and the priors of their `moves`, uint16 [all], which may stand in another order now."""
    hold_soon(tree.lock)
    nodes, stats = tree.nodes, tree.stats
    for i in range(len(asked)):
        node = wide(asked[i])
        start, count = wide(firsts[i]), wide(firsts[i + 1] - firsts[i])
        if nodes[node].key != keys[i] or nodes[node].state != EXPANDED or nodes[node].count != count:
            continue
        first, visited = wide(nodes[node].first), wide(nodes[node].visited_edges)
        mass = 0.0
        for edge in range(count):
            place = edge
            if moves[start + place] != tree.moves[first + edge]:
                place = 0
                while moves[start + place] != tree.moves[first + edge]:
                    place += 1
            tree.priors[first + edge] = priors[start + place]
            if edge < visited and stats[nodes[node].stats + edge].visits > 0:
                mass += priors[start + place]
        nodes[node].visited_policy = mass
        bring_best(tree, first + visited, first + count)
        counted = nodes[node].evaluations + nodes[node].visits - nodes[node].in_flight
        # The node's mean becomes that of what it has and `weight` playouts more of this value; its visits stay.
        shift = counted * weight / (counted + weight) * (values[i] - nodes[node].value_sum / counted)
        nodes[node].value_sum += shift
        for level in range(lengths[i] - 1, -1, -1):
            step = paths[i, level]
            above, shift = wide(step.node), -shift
            there = nodes[above].board_key == step.board_key and step.edge < nodes[above].visited_edges
            if not there or nodes[above].proof != 0:
                break
            stat = nodes[above].stats + step.edge
            visits = stats[stat].visits
            if visits == 0:  # the playout that noticed it was undone
                break
            stats[stat].squares += shift * (2.0 * stats[stat].value_sum + shift) / visits  # the variance stays too
            stats[stat].value_sum += shift
            nodes[above].value_sum += shift
    release(tree.lock)
