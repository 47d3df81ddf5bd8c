"""What is measured of a network on this machine, once: the batch size, and whether a quantised twin pays.

Larger batches use a device better and a search worse: playouts of one batch do not learn from each other, and a move
cannot be answered before its last batch is back. It knows backends, but no search.
"""

import hashlib
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.network.backend import LARGEST_BATCH, Backend, BackendError
from pydlshogi.support.arrays import Int32Array, Uint32Array
from pydlshogi.support.cache import cached

SIZES: Final = tuple(1 << power for power in range(LARGEST_BATCH.bit_length()))
ENOUGH: Final = 0.8
"""Share of the best speed seen that is worth no larger batch. On a CPU 8 positions reach some 0.7, 16 some 0.85."""
LONGEST: Final = 0.05
"""Seconds that a batch may take."""
WORTH_ROUNDING: Final = 1.35
"""How much faster a quantised network must be to be worth its errors. On an AMD EPYC (Zen 5) it is 1.6 times as fast:
too near to 1.5, with which one first start in five chose the other for good, that plays half as fast."""
WAITING: Final = 1.2
"""By how much OpenVINO with several streams must be faster here: its threads and those of the search wait for each
other, which only play shows: with two 0.74 to 0.86 of ONNX Runtime's playouts where a batch takes both as long."""
PROBE: Final = 8
"""Positions in the batch that decides it."""
FASTEST_OF: Final = 5
"""So many batches are timed, and the fastest counts: other programs only ever slow one down."""
MOVES: Final = 64
"""Legal moves in each position of what is timed."""


def best_batch_size(backend: Backend, modelfile: Path) -> int:
    """The smallest size that reaches ENOUGH of the best speed among those that take no longer than LONGEST.

    Measured in a second or two; the answer is kept in the cache folder under the network's content and the device.
    """

    def affordable(size: int) -> bool:
        return seconds_for([(backend, size)], times=2)[0] <= LONGEST

    def measure() -> int:
        sizes = list(takewhile(affordable, SIZES)) or SIZES[:1]
        return choose(dict(zip(sizes, seconds_for([(backend, size) for size in sizes]), strict=True)))

    return _remembered([backend.description], modelfile, measure)


def fastest(exact: Backend, quantised: Mapping[str, Callable[[], Backend]], modelfile: Path) -> Backend:
    """The fastest on this machine, where a quantised one must make up for what it rounds away: see WORTH_ROUNDING.

    quantised: what loads one, by the name of the backend. Processors differ by a factor of four here. The answer is
    kept under the content of `modelfile`, the quantised one; once it is known, nothing else is loaded.
    """
    loaded, names = dict[str, Backend](), list(quantised)

    def measure() -> int:
        for name, load in quantised.items():
            try:
                loaded[name] = load()
            except BackendError as error:  # it is installed, and does not work
                logging.getLogger(__name__).warning("not among the backends to choose from: %s", error)
        backends = [exact, *loaded.values()]
        took = seconds_for([(backend, PROBE) for backend in backends])
        seconds = [each / backend.streams for each, backend in zip(took, backends, strict=True)]
        for number, backend in enumerate(backends):
            if backend.streams > 1 and backend.description.startswith("OpenVINO"):
                seconds[number] *= WAITING
        seconds[0] /= WORTH_ROUNDING
        return [0, *(1 + names.index(name) for name in loaded)][int(np.argmin(seconds))]

    answer = _remembered([exact.description, *names, f"{WAITING} {WORTH_ROUNDING}"], modelfile, measure)
    if answer == 0:
        return exact
    name = names[answer - 1]
    return loaded[name] if name in loaded else quantised[name]()


def _remembered(descriptions: Sequence[str], modelfile: Path, measure: Callable[[], int]) -> int:
    """What `measure` answered for this network on the devices of these descriptions the first time."""
    measured = f"{' '.join(descriptions)} up to {LARGEST_BATCH}"
    key = hashlib.sha256(modelfile.read_bytes() + measured.encode()).hexdigest()
    return cached(f"measured/{key[:16]}", key, measure)


def choose(seconds: dict[int, float]) -> int:
    """The size to use, given the seconds that a batch of each size takes; the smallest is never too slow."""
    smallest = min(seconds)
    speeds = {size: size / took for size, took in seconds.items() if took <= LONGEST or size == smallest}
    return min(size for size, speed in speeds.items() if speed >= ENOUGH * max(speeds.values()))


def _clock(backend: Backend) -> tuple[Callable[[], float], int]:
    """A clock that other programs do not move, where there is one, and how many times it counts each second.

    Windows counts the time that a process has had in steps of 16 ms.
    """
    if backend.on_gpu or sys.platform == "win32":
        return time.perf_counter, 1
    return time.process_time, backend.streams


def seconds_for(batches: Sequence[tuple[Backend, int]], times: int = FASTEST_OF) -> list[float]:
    """How long each of `batches`, a backend and a size, takes, the fastest of `times`, while all its streams have one.

    They take turns, so that a program that runs for a while slows all of them alike.
    """
    given = [some_batch(backend.encoding, size) for backend, size in batches]

    with ThreadPoolExecutor(max(backend.streams for backend, _ in batches)) as pool:

        def took(backend: Backend, batch: tuple[Uint32Array, Int32Array, Int32Array]) -> float:
            predict = partial(backend.predict, *batch, 1.0)
            clock, counted = _clock(backend)
            began = clock()
            others = [pool.submit(predict) for _ in range(1, backend.streams)]
            predict()
            for other in others:
                other.result()
            return (clock() - began) / counted

        rounds = [
            [took(backend, batch) for (backend, _), batch in zip(batches, given, strict=True)]
            for _ in range(1 + times)  # the first warms up
        ]
    return [min(seconds) for seconds in zip(*rounds[1:], strict=True)]


def some_batch(encoding: Encoding, size: int) -> tuple[Uint32Array, Int32Array, Int32Array]:
    """Something to predict: `packed`, `firsts` and `labels` as in `Backend.predict`.

    One bit of sixteen is set in planes; a sparse network adds up half as many rows as are possible.
    """
    generator = np.random.default_rng(0)
    if encoding.features:
        packed = generator.integers(0, encoding.features, (size, encoding.words), np.uint32)
        packed[:, 0] = encoding.words // 2
    else:
        packed = np.bitwise_and.reduce(generator.integers(0, 1 << 32, (4, size, encoding.words), np.uint32))
    firsts = np.arange(size + 1, dtype=np.int32) * np.int32(MOVES)
    return packed, firsts, generator.integers(0, encoding.labels, firsts[-1], np.int32)
