"""Examples to batches: in which order, turned by which symmetry, and prepared before a step asks for them."""

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import count
from typing import Final

import numpy as np

from pydlshogi.support.arrays import Int64Array
from pydlshogi.training.examples import TrainingBatch

_AHEAD: Final = 6


class Shuffle:
    """The order of training, a function of the seed alone: the number of a batch is enough to go on from there."""

    def __init__(self, rows: Int64Array, batch_size: int, seed: int, *, symmetries: int = 0) -> None:
        """`rows`: the examples of one epoch, at least `batch_size`; what does not fill a last batch is skipped.

        Each is turned by one of `symmetries` symmetries, or by none, all with the same probability.
        """
        self._batch_size = batch_size
        self._seed = seed
        self._symmetries = symmetries
        self._batches_per_epoch = len(rows) // batch_size
        # Threads ask for batches on both sides of an epoch's end.
        self._order = lru_cache(2)(lambda epoch: np.random.default_rng((seed, epoch)).permutation(rows))

    def batch(self, number: int) -> tuple[Int64Array, Int64Array]:
        """Rows [B] of batch `number`, and how each is turned: see `examples.batch_of`."""
        epoch, place = divmod(number, self._batches_per_epoch)
        chosen = self._order(epoch)[place * self._batch_size : (place + 1) * self._batch_size]
        sampled = np.random.default_rng((self._seed, epoch, place)).random(len(chosen))
        return chosen, self._symmetries - (sampled * (self._symmetries + 1)).astype(np.int64)


def batches(
    prepare: Callable[[int], TrainingBatch], first: int, threads: int = 2
) -> Generator[TrainingBatch, None, None]:
    """`prepare(first)`, `prepare(first + 1)` and so on without end, a few of them being prepared by `threads`."""
    with ThreadPoolExecutor(threads, thread_name_prefix="batches") as pool:
        waiting = deque(pool.submit(prepare, number) for number in range(first, first + _AHEAD))
        for number in count(first + _AHEAD):
            yield waiting.popleft().result()
            waiting.append(pool.submit(prepare, number))
