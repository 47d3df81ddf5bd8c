"""Two evaluators in one search: the better one judges the nodes that are visited often."""

from collections.abc import Mapping

import numpy as np
import pytest

from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.rules import RULES
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.pipeline import Pipeline
from pydlshogi.uct.refine import Refinement
from pydlshogi.uct.root import Root
from pydlshogi.uct.search import Search, stored_search


class Better:
    """An evaluator that likes the first moves of a position best, and knows the values of some; it says who asked."""

    encoding = None

    def __init__(self, values: Mapping[int, float] | None = None) -> None:
        self.values = values or {}
        """By the keys of positions; all others are even."""
        self.asked: list[int] = []

    def evaluate(self, batch: Batch) -> Evaluations:
        keys, counts = batch.keys[: len(batch)].tolist(), np.diff(batch.firsts[: len(batch) + 1])
        self.asked += keys
        priors = [np.arange(count, 0, -1, dtype=np.float32) / (count * (count + 1) / 2) for count in counts]
        values = [self.values.get(key, 0.5) for key in keys]
        return Evaluations(np.concatenate(priors), np.array(values, np.float32))


def searched(
    better: Better, visits: int, weight: int = 1, playouts: int = 400, batch: int = 4, threads: int = 1
) -> Search:
    """The start of Dobutsu shogi after some playouts."""
    position = DobutsuPosition()
    search = stored_search(RULES, np.zeros(1, RULES.settings), None, 16)
    search.set_root(position)
    pipeline = Pipeline(search, UniformEvaluator(), 8, threads, Refinement(search, better, batch, visits, weight))

    def wanted(begun: int) -> int:
        return max(0, min(8 if search.expanded() else 1, playouts - begun))

    with pipeline.running(wanted):
        while search.playouts < playouts:
            pipeline.step(wanted)
    pipeline.finish()
    pipeline.close()
    return search


def test_a_node_gets_the_priors_of_the_better_evaluator_once_it_has_the_visits():
    order = DobutsuPosition().legal_moves().tolist()
    for playouts, refined in ((12, False), (100, True)):
        moves = Root(searched(Better(), visits=40, batch=1, playouts=playouts)).moves()
        priors = {move.move: move.prior for move in moves}
        best_first = [priors[move & 0xFFFF] for move in order]
        expected = [0.4, 0.3, 0.2, 0.1] if refined else [0.25] * 4
        assert best_first == pytest.approx(expected)


def test_every_node_is_shown_once():
    better = Better()
    searched(better, visits=10)
    assert len(better.asked) > 10
    assert len(set(better.asked)) > 0.9 * len(better.asked)  # a position may stand at several plies


def test_the_value_goes_up_the_path_with_its_weight():
    position = DobutsuPosition()
    refuted = int(position.legal_moves()[0]) & 0xFFFF
    position.push(refuted)
    values = {}
    for weight in (1, 400):
        search = searched(Better({position.key(): 1.0}), visits=20, weight=weight, batch=1)
        values[weight] = next(move.value for move in Root(search).moves() if move.move == refuted)
    assert 0.4 < values[1] < 0.5
    assert values[400] < 0.35


def test_threads_share_it():
    better = Better()
    search = searched(better, visits=10, threads=3, playouts=2000)
    root = Root(search)
    assert sum(move.visits for move in root.moves()) == root.visits
    assert len(better.asked) > 50


def test_a_search_that_was_cleared_shows_its_nodes_anew():
    better = Better()
    search = stored_search(RULES, np.zeros(1, RULES.settings), None, 16)
    pipeline = Pipeline(search, UniformEvaluator(), 8, 1, Refinement(search, better, 1, 10, 1))
    for _ in range(2):
        search.clear()
        search.set_root(DobutsuPosition())
        asked = len(better.asked)
        with pipeline.running(lambda begun: 8):
            while search.playouts < 100:
                pipeline.step(lambda begun: 8 if search.expanded() else 1)
        pipeline.finish()
        assert len(better.asked) > asked
    pipeline.close()
