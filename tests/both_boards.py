"""Stored and replayed boards side by side: what they say of the ends of paths must be the same, row by row."""

from collections import Counter
from collections.abc import Callable, Iterable

from replayed_boards import ReplayedBoards

from pydlshogi.encoding import Encoding
from pydlshogi.evaluator import Evaluator, HashEvaluator
from pydlshogi.game import Position, Rules
from pydlshogi.support.arrays import Records
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.boards import Paths, StoredBoards
from pydlshogi.uct.search import Search
from pydlshogi.uct.tree import COLLIDED, REPEATED, Selection
from pydlshogi.uct.uct_node import UctNodeTable


class BothBoards:
    """StoredBoards, which fail where ReplayedBoards say something else."""

    def __init__(
        self,
        stored: StoredBoards,
        twin: Callable[[Position], Position],
        columns: tuple[str, ...],
    ) -> None:
        """`twin`: a root as it is to be replayed. `columns`: what is compared beside moves."""
        self.most_moves = stored.most_moves
        self.repeats = stored.repeats
        self.state = stored.state
        self.seen = Counter[tuple[int, bool]]()
        """How often each verdict was met, and whether it was that of a path."""
        self._stored = stored
        self._replayed = ReplayedBoards(stored.most_moves)
        self._twin = twin
        self._columns = columns

    def set_root(self, tree: int, node: int, position: Position) -> None:
        self._stored.set_root(tree, node, position)
        self._replayed.set_root(tree, node, self._twin(position))

    def select_leaves(self, selection: Selection, paths: Paths) -> tuple[int, int, int]:
        table = selection.tree
        count, playouts, requests = self._stored.select_leaves(selection, paths)
        rows, moves = paths.rows[:count].copy(), paths.moves[:count].copy()
        self._replayed.apply_rules(table, paths, count)
        for row, other, ours, theirs in zip(rows, paths.rows, moves, paths.moves, strict=False):
            if row["ending"] == COLLIDED:
                continue
            for column in self._columns:
                assert row[column] == other[column], column
            self.seen[int(row["verdict"]), bool(row["by_path"])] += 1
            if not row["by_path"] and row["ending"] != REPEATED:
                assert ours[: row["count"]].tolist() == theirs[: other["count"]].tolist()
        paths.rows[:count], paths.moves[:count] = rows, moves
        return count, playouts, requests

    def add_to_batch(self, paths: Paths, requests: int, batch: Batch) -> int:
        return self._stored.add_to_batch(paths, requests, batch)


def compared(
    rules: Rules,
    settings: Records,
    position: Position,
    playouts: int,
    *,
    encoding: Encoding | None = None,
    only: Iterable[int] = (),
    batch_size: int = 16,
    evaluator: Evaluator | None = None,
    twin: Callable[[Position], Position] = lambda position: position,
    columns: tuple[str, ...] = ("key", "board_key", "verdict", "by_path"),
) -> Counter[tuple[int, bool]]:
    """The verdicts met in a search of `position`, in which both agreed."""
    table = UctNodeTable(16, rules.average_moves, rules.most_moves, rules.state.itemsize)
    both = BothBoards(StoredBoards(rules, settings, table.most_nodes, encoding), twin, columns)
    search = Search(table, both)
    search.set_root(position, only)
    batch = Batch(batch_size, rules.most_moves, encoding)
    evaluator = evaluator or HashEvaluator(encoding)
    while search.playouts < playouts:
        batch.clear()
        search.backup(search.gather(batch, batch_size), evaluator.evaluate(batch))
    return both.seen
