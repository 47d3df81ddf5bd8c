"""The pipeline backs up every playout, in whatever number of threads."""

import threading

import numpy as np
import pytest
from both_boards import ReplayedBoards
from tic_tac_toe import TicTacToe
from usi_driver import PATIENCE

from pydlshogi.bench import MIDDLE_GAME, make_playouts, search_from
from pydlshogi.evaluator import HashEvaluator, UniformEvaluator
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.pipeline import Pipeline
from pydlshogi.uct.root import Root
from pydlshogi.uct.search import Search
from pydlshogi.uct.tree import AWAITED
from pydlshogi.uct.uct_node import UctNodeTable


def search_of_start() -> Search:
    search = Search(UctNodeTable(1, average_moves=9, most_moves=9), ReplayedBoards(9))
    search.set_root(TicTacToe())
    return search


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("playouts", [1, 7, 300])
def test_as_many_playouts_are_made_as_were_asked_for(threads: int, playouts: int) -> None:
    """By all threads together, whatever collides and is begun again; and all of them are backed up."""
    search = search_of_start()
    pipeline = Pipeline(search, HashEvaluator(), 4, threads)
    with pipeline.running(lambda begun: playouts - begun):
        while search.playouts < playouts:
            pipeline.step(lambda begun: playouts - begun)
    pipeline.finish()
    assert Root(search).visits == search.playouts == playouts
    assert not search.table.tree.nodes["in_flight"].any()
    search.set_root(TicTacToe())  # allowed only when nothing is under way
    pipeline.close()


def test_one_thread_gathers_while_another_waits_for_its_evaluation() -> None:
    """The evaluator answers after the root only when two batches wait for it at once: else the test hangs."""
    both = threading.Barrier(2)

    class Patient(UniformEvaluator):
        batches = 0

        def evaluate(self, batch: Batch) -> Evaluations:
            self.batches += 1
            if self.batches in (2, 3):
                both.wait(timeout=PATIENCE)
            return super().evaluate(batch)

    search = search_of_start()
    pipeline = Pipeline(search, Patient(), 4, threads=2)
    with pipeline.running(lambda begun: 4):
        while search.playouts < 8:
            pipeline.step(lambda begun: 4)
    assert not both.broken
    pipeline.close()


def test_the_batch_of_another_thread_is_not_waited_for() -> None:
    """Leaving `running` while a helper's evaluation, and be it the root's, is out until afterwards: else it hangs."""
    out, awaited = threading.Event(), threading.Event()
    here = threading.current_thread()

    class Slow(UniformEvaluator):
        def evaluate(self, batch: Batch) -> Evaluations:
            if threading.current_thread() is not here:
                out.set()
                assert awaited.wait(timeout=PATIENCE)
            return super().evaluate(batch)

    search = search_of_start()
    pipeline = Pipeline(search, Slow(), 4, threads=2)
    with pipeline.running(lambda begun: 4):
        while not out.is_set():
            pipeline.step(lambda begun: 4)
    with pytest.raises(RuntimeError, match="under way"):
        search.set_root(TicTacToe())
    awaited.set()
    pipeline.finish()
    search.set_root(TicTacToe())
    pipeline.close()


def test_a_thread_that_asks_for_work_does_not_keep_the_search_from_ending() -> None:
    """A busy machine may put it to sleep while it holds the pipeline's lock. The move was late by 200 ms then."""
    holding, asked, left = threading.Event(), threading.Event(), threading.Event()
    here = threading.current_thread()

    def wanted(begun: int) -> int:
        if threading.current_thread() is here:
            return 4
        if holding.is_set():
            asked.set()
            assert left.wait(timeout=PATIENCE)
        return 0

    pipeline = Pipeline(search_of_start(), UniformEvaluator(), 4, threads=2)
    with pipeline.running(wanted):
        pipeline.step(wanted)
        holding.set()
        assert asked.wait(timeout=PATIENCE)
    left.set()
    pipeline.close()


def test_threads_that_grow_one_tree_leave_it_whole() -> None:
    """Over compiled rules, where all that keeps them apart is the lock that the kernels take."""
    search = search_from(MIDDLE_GAME, None, 64)
    make_playouts(search, HashEvaluator(), 30_000, batch_size=16, threads=4)
    tree = search.table.tree
    nodes = tree.nodes[: len(search.table)]
    assert not nodes["in_flight"].any()
    assert not (nodes["state"] == AWAITED).any()
    visits = [int(tree.stats["visits"][each["stats"] :][: each["visited_edges"]].sum()) for each in nodes]
    assert visits == nodes["visits"].tolist()
    assert Root(search).visits == search.playouts == 30_000
    children = np.concatenate([tree.stats["child"][each["stats"] :][: each["visited_edges"]] for each in nodes])
    assert np.bincount(children[children >= 0], minlength=len(nodes))[1:].tolist() == nodes["references"][1:].tolist()
