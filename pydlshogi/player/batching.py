"""What is measured of a network on a GPU, once: the batch size.

Larger batches use a device better and a search worse: playouts of one batch do not learn from each other, and a move
cannot be answered before its last batch is back. It knows backends, but no search.
"""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter as clock
from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding, sample
from pydlshogi.network.backend import LARGEST_BATCH, Backend
from pydlshogi.support.arrays import Int32Array, Uint32Array
from pydlshogi.support.cache import cached

SIZES: Final = tuple(1 << power for power in range(LARGEST_BATCH.bit_length()))
ENOUGH: Final = 0.8
"""Share of the best speed seen that is worth no larger batch."""
LONGEST: Final = 0.05
"""Seconds that a batch may take."""
FASTEST_OF: Final = 5
"""Batches that are timed; the fastest counts, for other programs can only slow one down."""
MOVES: Final = 64
"""Legal moves in each position of what is timed."""


def best_batch_size(backend: Backend, modelfile: Path) -> int:
    """The smallest size that reaches ENOUGH of the best speed among those that take no longer than LONGEST.

    Measured in a second or two; the answer is kept in the cache folder under the network's content and the device.
    """

    def measure() -> int:
        seconds = dict[int, float]()
        for size in SIZES:
            seconds[size] = seconds_for(backend, size)
            if seconds[size] > LONGEST:
                break
        return choose(seconds)

    measured = f"{backend.description} up to {LARGEST_BATCH}"
    key = hashlib.sha256(modelfile.read_bytes() + measured.encode()).hexdigest()
    return cached(f"measured/{key[:16]}", key, measure)


def choose(seconds: dict[int, float]) -> int:
    """The size to use, given the seconds that a batch of each size takes; the smallest is never too slow."""
    smallest = min(seconds)
    speeds = {size: size / took for size, took in seconds.items() if took <= LONGEST or size == smallest}
    return min(size for size, speed in speeds.items() if speed >= ENOUGH * max(speeds.values()))


def seconds_for(backend: Backend, size: int) -> float:
    """How long a batch takes, the fastest of FASTEST_OF, while all streams of the backend have one."""
    predict = partial(backend.predict, *some_batch(backend.encoding, size), 1.0)
    took = []
    with ThreadPoolExecutor(backend.streams) as pool:
        for _ in range(1 + FASTEST_OF):  # the first warms up
            began = clock()
            others = [pool.submit(predict) for _ in range(1, backend.streams)]
            predict()
            for other in others:
                other.result()
            took.append(clock() - began)
    return min(took[1:])


def some_batch(encoding: Encoding, size: int) -> tuple[Uint32Array, Int32Array, Int32Array]:
    """Something to predict: `packed`, `firsts` and `labels` as in `Backend.predict`."""
    firsts = np.arange(size + 1, dtype=np.int32) * np.int32(MOVES)
    labels = np.random.default_rng(0).integers(0, encoding.labels, firsts[-1], np.int32)
    return sample(encoding, size), firsts, labels
