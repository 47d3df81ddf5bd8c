"""The search as its users see it: `gather` hands out leaves, `backup` takes back evaluations.

The search never calls a network, never reads a clock and never prints. A player, a self-play loop and a test are
small drivers over it:

    while there is time:
        batch.clear()
        leaves = search.gather(batch, 32)
        search.backup(leaves, evaluator.evaluate(batch))

A playout walks down from the root along the edges of highest score until it meets a position without a node. Its
visits are counted on the way down and its value is backed up; in between, the visit is in flight: it is the virtual
loss that sends the other playouts of the batch elsewhere. The way down is selection.py, the way up backup.py; here is
what lies around them: roots, batches, and the answers to questions about the roots.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.game import Position, Rules
from pydlshogi.support.arrays import BoolArray, Int32Array, Records, Uint64Array
from pydlshogi.support.kernels.compiled import compiled, wide
from pydlshogi.uct.backup import expand_and_backup
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.boards import Paths, StoredBoards
from pydlshogi.uct.puct import DEFAULT_PUCT, Puct
from pydlshogi.uct.tree import (
    EXPANDED,
    MAX_BATCH,
    MAX_DEPTH,
    NONE,
    RESIDUE_WORDS,
    ROOT,
    ROW,
    STEP,
    Selection,
    Tree,
    clear_stat,
    constants,
    residues_of,
    with_row,
)
from pydlshogi.uct.uct_node import UctNodeTable, unlink

_MOVES: Final = 1 << 16
_FREED_PER_PLAYOUT: Final = 4
"""Nodes freed for each playout that begins: faster than new ones come."""
_SALT: Final = 0x9E3779B97F4A7C15 >> 1


class Leaves:
    """A batch of playouts that wait for evaluations. To be handed to `Search.backup`."""

    def __init__(self, playouts: int, boards: StoredBoards) -> None:
        """Room for up to `playouts` playouts."""
        most = 2 * playouts + 1  # as many collisions, until the batch is cut short
        self.playouts = 0
        """Playouts begun: also those that were backed up at once, but not those that were undone."""
        self._room = playouts
        self._paths = Paths(
            rows=np.zeros(most, ROW),
            steps=np.zeros(most * MAX_DEPTH, STEP),
            moves=np.zeros((most, boards.most_moves), np.uint16),
            ends=np.zeros(most, boards.state),
            asked=np.zeros(most, np.int32),
        )
        self._rows = 0
        self._requests = 0
        self._first_position = 0
        """The number of the first position asked for in its batch."""
        self._first_priors: Int32Array = np.zeros(0, np.int32)
        """int32 [requests]: where the priors of each position begin."""


class Search:
    """Trees of one game in one table, each with a root, and the playouts under way. Mostly there is one tree.

    Several threads may gather and back up at once; each has its own batch and leaves. All else is done by one."""

    def __init__(self, table: UctNodeTable, boards: StoredBoards, puct: Puct = DEFAULT_PUCT, trees: int = 1) -> None:
        self.table = table
        self.boards = boards
        self.puct = puct
        self._roots: Records = np.zeros(trees, ROOT)
        self._roots["node"] = NONE
        self._salts = np.arange(trees, dtype=np.uint64) * np.uint64(_SALT)
        self._past_keys: Uint64Array = np.zeros((trees, 0), np.uint64)
        self._residues: Uint64Array = np.zeros((trees, RESIDUE_WORDS), np.uint64)
        """The board keys of each tree's game before its root, and their residues: see `Selection`."""
        self.only: BoolArray = np.zeros(0, np.bool_)
        """bool [65536]: for each move, by its 16 bits, whether the root may play it; empty: all."""
        self._spare: list[Leaves] = []
        """Leaves to use again: their arrays are large."""
        self._under_way: list[Leaves] = []
        """Leaves that were gathered and not yet backed up."""

    @property
    def puct(self) -> Puct:
        """The constants of selection. New ones hold from the next batch on."""
        return self._puct

    @puct.setter
    def puct(self, puct: Puct) -> None:
        self._puct = puct
        self._constants = constants(puct)

    # Roots

    def set_root(self, position: Position, only: Iterable[int] = (), tree: int = 0) -> None:
        """Search from a copy of `position`, whose past counts for repetitions.

        What the table knows of it and below it is kept, the rest is freed as the search goes on. `only`, if not
        empty, names the moves that may be searched at the root. ValueError if there is no legal move, or none of them
        is; RuntimeError if leaves have been gathered and not yet backed up.
        """
        if self._under_way:
            raise RuntimeError("leaves are still under way")
        legal = position.legal_moves() & (_MOVES - 1)
        if not len(legal):
            raise ValueError("the root has no legal move")
        chosen = np.array([move & (_MOVES - 1) for move in only], np.int64)
        if len(chosen) and not np.isin(legal, chosen).any():
            raise ValueError("none of the moves asked for is legal")
        self.only = np.zeros(_MOVES if len(chosen) else 0, np.bool_)
        self.only[chosen] = True
        root = self._roots[tree]
        before = int(root["node"])
        if before != NONE:
            unlink(self.table.tree, before)
        key = position.key() ^ int(self._salts[tree])
        root["node"] = self.table.link_root(key, position.board_key(), position.ply())
        root["ply"] = position.ply()
        root["playouts"] = root["deepest"] = 0
        self.boards.set_root(tree, int(root["node"]), position)
        past = np.array(position.past_board_keys() if self.boards.repeats else [], np.uint64)
        self._past_keys = with_row(self._past_keys, tree, past)
        self._residues[tree] = residues_of(past)
        root["past"] = len(past)
        _forget_repetitions(self.table.tree, int(root["node"]), past)

    def knows(self, position: Position) -> bool:
        """Whether `position` has been evaluated in the first tree: as a root it need not be evaluated again."""
        return self._expanded(self.table.find(position.key() ^ int(self._salts[0]), position.ply()))

    def clear(self) -> None:
        """Forget all trees."""
        self.table.clear()
        self._roots["node"] = NONE

    # Playouts

    def gather(self, batch: Batch, playouts: int | Sequence[int] | Int32Array) -> Leaves:
        """Begin up to `playouts` playouts in each tree (at most MAX_BATCH); `batch` gets the positions they wait for.

        Playouts that end at a known value are backed up at once. A playout that meets a node whose evaluation is
        awaited collides: it is undone. After more than `playouts` collisions a tree begins no more in this batch. The
        first batch is the root alone, and the next ones are empty until that is backed up.
        """
        wanted: Int32Array
        if isinstance(playouts, int):  # what numpy does with a single number takes six microseconds
            each = min(playouts, MAX_BATCH)
            wanted, most = np.full(len(self._roots), each, np.int32), each * len(self._roots)
        else:
            wanted = np.minimum(playouts, MAX_BATCH).astype(np.int32)
            most = int(wanted.sum())
        leaves = self._leaves(most)
        paths = leaves._paths
        selection = Selection(
            tree=self.table.tree,
            roots=self._roots,
            wanted=wanted,
            puct=self._constants,
            only=self.only,
            past=self._past_keys,
            residues=self._residues,
            salts=self._salts,
            repeats=self.boards.repeats,
            freed=_FREED_PER_PLAYOUT * most,
        )
        self._under_way.append(leaves)
        leaves._rows, leaves.playouts, leaves._requests = (
            self.boards.select_leaves(selection, paths) if most else (0, 0, 0)
        )
        leaves._first_position = self.boards.add_to_batch(paths, leaves._requests, batch)
        leaves._first_priors = batch.firsts[leaves._first_position :][: leaves._requests].copy()
        return leaves

    def backup(self, leaves: Leaves, evaluations: Evaluations) -> None:
        """Expand the nodes of `leaves` and back up their values; `evaluations` are those of the whole batch."""
        paths = leaves._paths
        rows = paths.rows[: leaves._rows]
        requests = slice(leaves._first_position, leaves._first_position + leaves._requests)
        values = evaluations.values[requests]
        expand_and_backup(
            self.table.tree,
            self._constants,
            rows,
            paths.steps,
            paths.asked[: leaves._requests],
            paths.moves,
            leaves._first_priors,
            evaluations.priors,
            values,
            values if evaluations.without_rollouts is None else evaluations.without_rollouts[requests],
        )
        self._under_way.remove(leaves)
        self._spare.append(leaves)

    def _leaves(self, playouts: int) -> Leaves:
        """Leaves for `playouts` playouts, with arrays that were used before where they suffice."""
        try:
            leaves = self._spare.pop()
        except IndexError:
            return Leaves(max(playouts, 64), self.boards)
        return leaves if leaves._room >= playouts else Leaves(playouts, self.boards)

    # What is known of the roots; root.py has the rest

    def root_node(self, tree: int = 0) -> int:
        """The node of a root; NONE before there is one."""
        return int(self._roots[tree]["node"])

    @property
    def root_nodes(self) -> Int32Array:
        """The same of all trees."""
        nodes: Int32Array = self._roots["node"]
        return nodes

    def expanded(self, tree: int = 0) -> bool:
        """The root has been evaluated."""
        return self._expanded(self.root_node(tree))

    def _expanded(self, node: int) -> bool:
        return node != NONE and bool(self.table.tree.nodes[node]["state"] == EXPANDED)

    def standings(self) -> tuple[BoolArray, Int32Array, BoolArray]:
        """For the root of each tree: whether it has been evaluated, its visits, whether its result is proven."""
        roots = self.table.tree.nodes[self._roots["node"]]
        return roots["state"] == EXPANDED, roots["visits"], roots["proof"] != 0

    @property
    def restricted(self) -> bool:
        """Not all legal moves may be searched at the root."""
        return len(self.only) > 0

    @property
    def playouts(self) -> int:
        """Playouts begun since the roots were set, without those that were undone."""
        return int(self._roots["playouts"].sum())

    @property
    def deepest(self) -> int:
        """Plies from a root to the deepest leaf met since it was set."""
        return int(self._roots["deepest"].max())


def new_search(
    rules: Rules,
    settings: Records,
    encoding: Encoding | None,
    megabytes: int,
    puct: Puct = DEFAULT_PUCT,
    trees: int = 1,
) -> Search:
    """A search over compiled rules, with a table of `megabytes` MiB. MemoryError if the system does not lend them.

    >>> from pydlshogi.catalogue import GAMES
    >>> from pydlshogi.evaluator import UniformEvaluator
    >>> from pydlshogi.uct.root import Root
    >>> game = next(iter(GAMES.values()))
    >>> batch = Batch(16, game.rules.most_moves)
    >>> search = new_search(game.rules, game.position().settings, None, megabytes=16)
    >>> search.set_root(game.position())
    >>> while Root(search).visits < 100:
    ...     batch.clear()
    ...     leaves = search.gather(batch, 4)
    ...     search.backup(leaves, UniformEvaluator().evaluate(batch))
    >>> len(Root(search).moves()), Root(search).visits >= 100
    (30, True)
    """
    table = UctNodeTable(megabytes, rules.average_moves, rules.most_moves, rules.state.itemsize)
    return Search(table, StoredBoards(rules, settings, table.most_nodes, encoding), puct, trees)


# A new root


@compiled
def _forget_repetitions(tree: Tree, root: int, past: Uint64Array) -> None:
    """Make those edges of `root` unvisited whose values depend on another past of the game, or on a full table.

    An edge without a node was a repetition, and may be none now; or the table had no room for the node, and may have
    some now. An edge to a board that is among the `past` board keys has become a repetition. A proof stays: a mate is a
    mate whatever was played before.
    """
    nodes, stats = tree.nodes, tree.stats
    for edge in range(nodes[root].visited_edges):
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
        nodes[root].visited_policy -= tree.priors[nodes[root].first + edge]
        clear_stat(stats, stat)
        if child != NONE:
            unlink(tree, child)
