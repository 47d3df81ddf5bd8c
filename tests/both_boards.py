"""What compiled rules are compared with: boards that are replayed from the root, row by row; and perft by them."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.evaluator import Evaluator, HashEvaluator
from pydlshogi.game import DRAWN, MATED, UNDECIDED, Outcome, Position, Rules
from pydlshogi.support.arrays import Int32Array, Record, Records
from pydlshogi.support.kernels.compiled import compiled
from pydlshogi.uct.backup import add_leaves
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.boards import Paths, StoredBoards
from pydlshogi.uct.search import Search
from pydlshogi.uct.selection import select
from pydlshogi.uct.tree import COLLIDED, REPEATED, Selection, Tree
from pydlshogi.uct.uct_node import UctNodeTable


class BothBoards:
    """StoredBoards, which fail where ReplayedBoards say something else."""

    def __init__(self, stored: StoredBoards, twin: Callable[[Position], Position], columns: tuple[str, ...]) -> None:
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
    repeats = True

    def __init__(self, most_moves: int) -> None:
        self.most_moves = most_moves
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
            batch.known_values[len(batch) - 1], batch.expands[len(batch) - 1] = row["known_value"], row["expands"]
        return first

    def _played(self, table: Tree, paths: Paths, row: Record) -> Position:
        """The position at the end of the path of `row`."""
        position = self._roots[int(row["tree"])].copy()
        steps = paths.steps[row["first_step"] : row["first_step"] + row["length"]]
        for move in table.moves[table.nodes["first"][steps["node"]] + steps["edge"]].tolist():
            position.push(move)
        return position


def perft_of(rules: Rules) -> Callable[[Record, int], int]:
    """(state, depth) -> the number of lines of `depth` moves, 1 or more. Compiled at the first call."""
    play, legal_moves = rules.play, rules.legal_moves

    @numba.njit
    def count(states: Records, moves: Any, level: int) -> int:
        found = legal_moves(states[level], moves[level])
        if level == len(states) - 1:
            return found
        lines = 0
        for move in range(found):
            play(states[level], moves[level, move], states[level + 1])
            lines += count(states, moves, level + 1)
        return lines

    def perft(state: Record, depth: int) -> int:
        states = np.zeros(depth, rules.state)
        states[0] = state
        return int(count(states, np.zeros((depth, rules.most_moves), np.uint16), 0))

    return perft
