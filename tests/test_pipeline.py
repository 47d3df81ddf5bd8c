"""The pipeline pays every playout, in whatever rhythm."""

import threading

import pytest

from pydlshogi.evaluator import HashEvaluator, UniformEvaluator
from pydlshogi.games.shogi import ShogiPosition
from pydlshogi.player.pipeline import Pipeline
from pydlshogi.uct.search import Evaluations, Requests, Search
from pydlshogi.uct.uct_node import UctNodeTable


def search_of_start() -> Search:
    search = Search(UctNodeTable(8))
    search.set_root(ShogiPosition())
    return search


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_every_playout_is_paid(ahead: int) -> None:
    search = search_of_start()
    pipeline = Pipeline(HashEvaluator(), 8, ahead)
    for _ in range(50):
        pipeline.step(search, 8)
    pipeline.drain(search)
    table = search.table
    assert search.root_visits == search.playouts > 300
    assert not table.nodes["unpaid"][: len(table)].any()
    search.set_root(ShogiPosition())  # allowed only when nothing is under way
    pipeline.close()


def test_the_next_batch_is_gathered_while_one_is_evaluated() -> None:
    """The evaluator answers its second batch only after the third has been gathered: else the test hangs."""
    gathered = threading.Semaphore(0)

    class Patient(UniformEvaluator):
        batches = 0

        def evaluate(self, requests: Requests) -> Evaluations:
            self.batches += 1
            if self.batches > 1:
                assert gathered.acquire(timeout=60)
            return super().evaluate(requests)

    search = search_of_start()
    pipeline = Pipeline(Patient(), 4, ahead=1)
    real_gather = search.gather

    def gather(requests: Requests, playouts: int):  # type: ignore[no-untyped-def]
        leaves = real_gather(requests, playouts)
        gathered.release()
        return leaves

    pipeline.step(search, 1)
    pipeline.step(search, 4)
    search.gather = gather  # type: ignore[method-assign]
    pipeline.step(search, 4)
    assert search.root_visits == 8
    gathered.release()
    pipeline.drain(search)
    pipeline.close()


def test_a_failure_of_the_evaluator_reaches_the_player() -> None:
    class Broken(UniformEvaluator):
        def evaluate(self, requests: Requests) -> Evaluations:
            raise RuntimeError("the network broke down")

    pipeline = Pipeline(Broken(), 4, ahead=1)
    search = search_of_start()
    pipeline.step(search, 1)
    with pytest.raises(RuntimeError, match="broke down"):
        pipeline.step(search, 1)
    pipeline.close()
