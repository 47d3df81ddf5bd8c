"""The reference for what a search knows of its positions: each is replayed from the root, move by move."""

import numpy as np

from pydlshogi.game import DRAWN, MATED, UNDECIDED, Outcome, Position
from pydlshogi.support.arrays import Int32Array, Record, Records
from pydlshogi.support.compiled import compiled
from pydlshogi.uct.backup import add_leaves
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.boards import Paths
from pydlshogi.uct.selection import select
from pydlshogi.uct.tree import COLLIDED, REPEATED, Selection, Tree


@compiled
def _select(selection: Selection, rows: Records, steps: Records) -> tuple[int, int]:
    return select(selection, rows, steps)


@compiled
def _add_leaves(selection: Selection, rows: Records, steps: Records, asked: Int32Array) -> tuple[int, int]:
    return add_leaves(selection, rows, steps, asked)


def verdict_of(outcome: Outcome | None) -> int:
    if outcome is None or outcome.value == 0.5:
        return DRAWN if outcome else UNDECIDED
    return outcome.plies + 1 if outcome.value > 0.5 else -outcome.plies - 1


class ReplayedBoards:
    """Positions of any game: every path is played from its root on a copy. In place of `StoredBoards`."""

    state = np.dtype(np.uint8)

    def __init__(self, most_moves: int, *, repeats: bool = True) -> None:
        self.most_moves = most_moves
        self.repeats = repeats
        self._roots: dict[int, Position] = {}

    def set_root(self, tree: int, node: int, position: Position) -> None:
        self._roots[tree] = position.copy()

    def select_leaves(self, selection: Selection, paths: Paths) -> tuple[int, int, int]:
        self._tree = selection.tree
        used, known = _select(selection, paths.rows, paths.steps)
        self.apply_rules(selection.tree, paths, used)
        requests, waiting = _add_leaves(selection, paths.rows[:used], paths.steps, paths.asked)
        return used, known + waiting, requests

    def apply_rules(self, table: Tree, paths: Paths, count: int) -> None:
        """What the rules say of the ends of the first `count` paths."""
        for i, row in enumerate(paths.rows[:count]):
            row["verdict"], row["by_path"], row["count"] = UNDECIDED, False, 0
            if row["ending"] == COLLIDED:
                continue
            position = self._played(table, paths, row)
            row["key"], row["board_key"] = position.key(), position.board_key()
            outcome = position.outcome() if row["length"] else None
            row["by_path"] = outcome is not None and outcome.by_path
            if row["ending"] == REPEATED and not row["by_path"]:
                continue
            moves = position.legal_moves()
            row["verdict"] = verdict_of(outcome or (None if len(moves) else MATED))
            row["count"] = len(moves)
            paths.moves[i, : len(moves)] = moves.astype(np.uint16)

    def add_to_batch(self, paths: Paths, requests: int, batch: Batch) -> int:
        first = len(batch)
        for i in paths.asked[:requests].tolist():
            position = self._played(self._tree, paths, paths.rows[i])
            row = paths.rows[i]
            batch.add(position, position.legal_moves() if row["expands"] else np.empty(0, np.int32))
            batch.known[len(batch) - 1], batch.expands[len(batch) - 1] = row["known"], row["expands"]
        return first

    def _played(self, table: Tree, paths: Paths, row: Record) -> Position:
        """The position at the end of the path of `row`."""
        position = self._roots[int(row["tree"])].copy()
        steps = paths.steps[row["first"] : row["first"] + row["length"]]
        for move in table.moves[table.nodes["first"][steps["node"]] + steps["edge"]].tolist():
            position.push(move)
        return position
