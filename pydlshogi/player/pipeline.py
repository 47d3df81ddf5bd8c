"""Feeding an evaluator: batch by batch, or with the next batch gathered while one is evaluated.

The second pays where the device that evaluates is not the one that gathers: a GPU. It knows searches and evaluators,
and neither clocks nor moves.
"""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import Any

from pydlshogi.uct.search import Evaluations, Leaves, Search


class Pipeline:
    """Playouts of a search, with up to `ahead` batches gathered beyond the one that is paid."""

    def __init__(self, evaluator: Any, capacity: int, ahead: int = 0) -> None:
        """`evaluator`: an `Evaluator`. `capacity`: the largest batch. `ahead` 0 evaluates in the calling thread."""
        self.evaluator = evaluator
        self.ahead = ahead
        self._notebooks = cycle([evaluator.requests(capacity) for _ in range(ahead + 1)])
        self._under_way: deque[tuple[Leaves, Future[Evaluations]]] = deque()
        self._worker = ThreadPoolExecutor(1, "evaluator") if ahead else None

    def step(self, search: Search, playouts: int) -> None:
        """Begin up to `playouts` playouts and pay those of the batch that is due."""
        if not search.expanded:
            self.drain(search)
        requests = next(self._notebooks)
        leaves = search.gather(requests, playouts)
        if self._worker is None:
            search.backup(leaves, self.evaluator.evaluate(requests))
            return
        self._under_way.append((leaves, self._worker.submit(self.evaluator.evaluate, requests)))
        if len(self._under_way) > self.ahead:
            self._pay(search)

    def drain(self, search: Search) -> None:
        """Pay all that is under way."""
        while self._under_way:
            self._pay(search)

    def close(self) -> None:
        """End the thread, if there is one, and forget what is under way."""
        self._under_way.clear()
        if self._worker is not None:
            self._worker.shutdown(wait=False, cancel_futures=True)

    def _pay(self, search: Search) -> None:
        leaves, evaluations = self._under_way.popleft()
        search.backup(leaves, evaluations.result())
