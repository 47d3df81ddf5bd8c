"""Batch after batch through a search and its evaluator, in one thread or in several, each with a batch of its own.

While one thread waits for the evaluator, the others gather, so that neither a device nor a core is idle. With one
thread a search always grows the same tree; with several the tree depends on who comes first.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Condition
from typing import Final

from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.search import Search

_POLL: Final = 0.001
"""Seconds after which a thread without work asks again whether there is any, or whether time is up."""


class Pipeline:
    """Several threads that feed one search."""

    def __init__(self, search: Search, evaluator: Evaluator, batch_size: int, threads: int = 1) -> None:
        """`batch_size`: of the largest batch. `threads`: how many batches are under way at once."""
        self.search = search
        self.evaluator = evaluator
        self.batch_size = batch_size
        self.threads = threads
        self._batches = [Batch(batch_size, search.boards.most_moves, evaluator.encoding) for _ in range(threads)]
        self._helpers = ThreadPoolExecutor(threads - 1, "search") if threads > 1 else None
        self._changed = Condition()
        self._under_way = 0
        """Batches of these threads that were begun and not yet backed up."""
        self._begun = 0
        """Playouts begun since `running`, or about to be."""
        self._stopped = False
        self._loops: list[Future[None]] = []

    @contextmanager
    def running(self, wanted: Callable[[int], int]) -> Iterator[None]:
        """Inside, from the first `step` on, other threads make playouts too. They end with the batch they are at.

        `wanted` takes how many playouts were begun since, and returns how many to begin with the next batch.
        """
        self.finish()
        self._begun = 0
        self._stopped = False
        try:
            yield
        finally:
            self._stopped = True  # without the lock: on a busy machine the thread that holds it may be put to sleep
        self._raise_failures()

    def finish(self) -> None:
        """Wait until all that was begun is backed up: before that the search can get no other root."""
        loops, self._loops = self._loops, []
        wait(loops)
        for loop in loops:
            loop.result()

    def step(self, wanted: Callable[[int], int]) -> int:
        """One batch in the calling thread; where there is nothing to begin, wait a moment: another may end meanwhile.

        Returns how many playouts the batch was to begin.
        """
        if self._stopped:
            self._raise_failures()
        if self._helpers is not None and not self._loops:
            # Not earlier: where no step is made, waking them would cost milliseconds on a busy machine.
            self._loops = [self._helpers.submit(self._loop, batch, wanted) for batch in self._batches[1:]]
        return self._step(self._batches[0], wanted)

    def close(self) -> None:
        """End the other threads, once all that was begun is backed up."""
        if self._helpers is not None:
            self._helpers.shutdown()

    def _raise_failures(self) -> None:
        for loop in self._loops:
            if loop.done():
                loop.result()

    def _loop(self, batch: Batch, wanted: Callable[[int], int]) -> None:
        try:
            while not self._stopped:
                self._step(batch, wanted)
        finally:
            # A thread that has failed must not leave the others waiting.
            self._stopped = True

    def _step(self, batch: Batch, wanted: Callable[[int], int]) -> int:
        playouts = self._reserve(wanted)
        if playouts == 0:
            return 0
        begun = 0
        try:
            batch.clear()
            leaves = self.search.gather(batch, playouts)
            begun = leaves.playouts
            evaluations = self.evaluator.evaluate(batch)
            self.search.backup(leaves, evaluations)
        finally:
            with self._changed:
                self._begun += begun - playouts
                self._under_way -= 1
                self._changed.notify_all()
        return playouts

    def _reserve(self, wanted: Callable[[int], int]) -> int:
        """How many playouts to begin. 0: none now; it has waited a moment for that to change."""
        with self._changed:
            waits_for_root = self._under_way > 0 and not self.search.expanded()
            playouts = 0 if waits_for_root else min(wanted(self._begun), self.batch_size)
            if playouts > 0:
                self._begun += playouts
                self._under_way += 1
            elif not self._stopped:
                self._changed.wait(_POLL)
            return max(0, playouts)
