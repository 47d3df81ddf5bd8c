"""What a search has found out: the moves of its root ranked, its expected lines, and what is proven."""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import BoolArray, Int32Array, Record, Records
from pydlshogi.support.kernels.compiled import compiled, inlined, wide
from pydlshogi.uct.backup import mean, prove_path
from pydlshogi.uct.search import Search
from pydlshogi.uct.tree import AWAITED, FOLLOWED, MAX_DEPTH, NONE, Tree


class MoveStats(NamedTuple):
    """What the search knows of one move."""

    move: int
    visits: int
    value: float
    """Mean value for the side that plays it, of the visits that were backed up; nan without such."""
    error: float
    """Standard error of that mean; nan for fewer than two of them."""
    prior: float
    plies: int | None
    """Proven: it wins in this many plies (> 0), or loses in this many (< 0). None: not proven."""

    @property
    def rank(self) -> tuple[int, int, float]:
        """The greatest rank is the best move: the shortest proven win, else the most visits, else the longest loss."""
        return _rank_of(self.plies or 0, self.visits, self.prior)


def _rank_of(plies: int, visits: int, prior: float) -> tuple[int, int, float]:
    """See `MoveStats.rank`. `plies` 0: not proven."""
    if plies == 0:
        return 1, visits, prior
    return (2 if plies > 0 else 0), -plies, prior


rank_of: Final = inlined(_rank_of)


class Root:
    """The root of one tree of a search, for those who choose a move: always the present one, after `set_root` too."""

    def __init__(self, search: Search, tree: int = 0) -> None:
        self._search = search
        self._tree = tree

    @property
    def expanded(self) -> bool:
        """The root has been evaluated."""
        return self._search.expanded(self._tree)

    @property
    def visits(self) -> int:
        """Visits of all moves, those of earlier searches included."""
        return int(self._nodes[self._node]["visits"]) if self._node != NONE else 0

    @property
    def value(self) -> float:
        """Mean value for the side to move: its own evaluation and all playouts backed up. nan before any."""
        with self._search.table.lock:
            return float(_mean(self._nodes, self._node)) if self.expanded else math.nan

    @property
    def plies(self) -> int | None:
        """The side to move is proven to win in this many plies (> 0), or to lose (<= 0); None: not proven.

        Only by the moves that may be searched.
        """
        if self._search.restricted and self.expanded:
            return self.moves()[0].plies
        proof = int(self._nodes[self._node]["proof"]) if self._node != NONE else 0
        return (proof - 1 if proof > 0 else proof + 1) if proof else None

    def moves(self) -> list[MoveStats]:
        """The moves that may be searched, the best first; empty before the root is evaluated."""
        with self._search.table.lock:
            return self._ranked() if self.expanded else []

    def win_rate(self, move: MoveStats) -> float:
        """What `move` is worth to the side that plays it: 1 or 0 where that is proven, else its mean value.

        Before any of its visits is backed up it is worth what the root is. If another move has proven the root, that is
        the root's first evaluation.
        """
        if move.plies is not None:
            return float(move.plies > 0)
        if not math.isnan(move.value):
            return move.value
        return self.value if self.plies is None else float(self._nodes[self._node]["value"])

    def priors(self) -> dict[int, float]:
        """The prior of each move; empty before the root is evaluated."""
        if not self.expanded:
            return {}
        with self._search.table.lock:
            tree, (count, first, _, _) = self._search.table.tree, self._edges(self._node)
            edges = slice(first, first + count)
            return dict(zip(tree.moves[edges].tolist(), tree.priors[edges].tolist(), strict=True))

    def leader(self) -> tuple[int | None, int | None]:
        """The most visited move that is not proven to lose, and how many visits it is ahead of the next of those.

        None: no such move has visits; there is no second.
        """
        if not self.expanded:
            return None, None
        with self._search.table.lock:
            move, most, second = _leading(self._search.table.tree, self._node, self._search.only)
        return (move if most > 0 else None), (most - second if second >= 0 else None)

    def line(self, move: int) -> list[int]:
        """The line that the search expects after `move`, `move` itself first."""
        return [move, *(reply for reply, _ in self.continuation(move))]

    def continuation(self, move: int) -> list[tuple[int, int]]:
        """The moves that the search expects after `move`, and the visits of each."""
        line = np.zeros((MAX_DEPTH - 1, 2), np.int32)
        with self._search.table.lock:
            length = _follow(self._search.table.tree, self._child(self._node, move), line)
        return [(move, visits) for move, visits in line[:length].tolist()]

    def prove(self, moves: Iterable[int], plies: int) -> None:
        """Note what a mate solver found: after `moves` from the root, the side to move there wins within `plies`.

        Where a position on the way has no node, nothing is noted.
        """
        with self._search.table.lock:
            path = [self._node]
            for move in moves:
                child = self._child(path[-1], move)
                if child < 0:
                    return
                path.append(child)
            prove_path(self._search.table.tree, np.array(path, np.int32), plies + 1)

    @property
    def _node(self) -> int:
        return self._search.root_node(self._tree)

    @property
    def _nodes(self) -> Records:
        return self._search.table.tree.nodes

    def _child(self, node: int, move: int) -> int:
        """The node after `move`; negative where there is none."""
        _, first, first_stat, visited = self._edges(node)
        played = np.flatnonzero(self._search.table.tree.moves[first : first + visited] == move & 0xFFFF)
        return int(self._search.table.tree.stats["child"][first_stat + played[0]]) if len(played) else NONE

    def _edges(self, node: int) -> tuple[int, int, int, int]:
        """How many edges a node has, where they and their statistics begin, and how many are visited."""
        record = self._nodes[node]
        return int(record["count"]), int(record["first"]), int(record["stats"]), int(record["visited_edges"])

    def _ranked(self) -> list[MoveStats]:
        """The moves that may be searched, the best first."""
        tree = self._search.table.tree
        count, first, first_stat, visited = self._edges(self._node)
        stats = tree.stats[first_stat : first_stat + visited]
        children = tree.nodes[stats["child"]]
        # Visits in flight have no value yet: those below the child, and the one that asked for the child's evaluation.
        # While that is its first one, others may have collided with it and are not undone yet.
        awaited = (stats["child"] >= 0) & (children["state"] == AWAITED)
        in_flight = np.where(stats["child"] < 0, 0, children["in_flight"] + awaited)
        none_backed_up = (stats["child"] == FOLLOWED) | (awaited & (children["evaluations"] == 0))
        backed_up = np.where(none_backed_up, 0, stats["visits"] - in_flight)
        plies = np.where(stats["child"] < 0, 0, -children["proof"]).tolist()  # as in `plies_of`
        rest = [0] * (count - visited)
        columns = (
            tree.moves[first : first + count].tolist(),
            stats["visits"].tolist() + rest,
            backed_up.tolist() + rest,
            stats["value_sum"].tolist() + rest,
            stats["squares"].tolist() + rest,
            tree.priors[first : first + count].tolist(),
            plies + rest,
        )
        ranked = [
            MoveStats(move, visits, *_mean_and_error(values, total, squares), prior, plies or None)
            for move, visits, values, total, squares, prior, plies in zip(*columns, strict=True)
        ]
        if self._search.restricted:
            ranked = [move for move in ranked if self._search.only[move.move]]
        return sorted(ranked, key=lambda move: move.rank, reverse=True)


def _mean_and_error(count: int, total: float, squares: float) -> tuple[float, float]:
    """The mean of the values backed up, and its standard error; nan without such, and with one alone."""
    mean = total / count if count > 0 else math.nan
    return mean, math.sqrt(max(0.0, squares / count - mean * mean) / (count - 1)) if count > 1 else math.nan


@compiled
def _mean(nodes: Records, node: int) -> float:
    return mean(nodes, node)


@inlined
def plies_of(tree: Tree, stat: Record) -> int:
    """As `MoveStats.plies`, of a visited edge; 0: not proven."""
    # A child's proof n + 1 (its side to move wins in n plies) makes the move a loss in n + 1; likewise for wins.
    return -wide(tree.nodes[stat.child].proof) if stat.child >= 0 else 0


@compiled
def _leading(tree: Tree, node: int, only: BoolArray) -> tuple[int, int, int]:
    """The move of most visits that is not proven to lose, its visits, and those of the next; -1 where there is none.

    `only`: as `Search.only`.
    """
    record = tree.nodes[node]
    move, most, second = -1, -1, -1
    for edge in range(record.count):
        visits, candidate = 0, wide(tree.moves[record.first + edge])
        if len(only) and not only[candidate]:
            continue
        if edge < record.visited_edges:
            stat = tree.stats[record.stats + edge]
            if plies_of(tree, stat) < 0:
                continue
            visits = wide(stat.visits)
        if visits > most:
            move, most, second = candidate, visits, most
        else:
            second = max(second, visits)
    return move, most, second


@compiled
def _follow(tree: Tree, node: int, line: Int32Array) -> int:
    """Fill `line`, int32 [most, 2], with the best moves from `node` on and their visits; returns how many there are.

    Which move is best `MoveStats.rank` says. Of the edges without statistics only the first counts, which has the
    highest prior.
    """
    length = 0
    while node >= 0 and tree.nodes[node].visits and length < len(line):
        record = tree.nodes[node]
        best, best_child, best_visits, best_rank = 0, NONE, 0, (-1, 0, 0.0)
        for edge in range(min(record.count, record.visited_edges + 1)):
            visits, plies, child = 0, 0, NONE
            if edge < record.visited_edges:
                stat = tree.stats[record.stats + edge]
                visits, plies, child = wide(stat.visits), plies_of(tree, stat), wide(stat.child)
            rank = rank_of(plies, visits, float(tree.priors[record.first + edge]))
            if rank > best_rank:
                best, best_child, best_visits, best_rank = edge, child, visits, rank
        line[length, 0] = tree.moves[record.first + best]
        line[length, 1] = best_visits
        length += 1
        node = best_child
    return length
