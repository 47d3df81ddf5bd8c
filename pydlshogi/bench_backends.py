"""How fast and how exactly the backends run a network: every one that can be used here, in turns.

Errors are the distance from float32 on a CPU, on positions of games by random moves. A batch of each size is timed in
turns, so that what else the machine does slows all alike; the medians count.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.encoding import Encoding, sample
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import Backend, BackendError
from pydlshogi.network.loading import load_backend
from pydlshogi.player.network_player import some_batch
from pydlshogi.support.arrays import Float32Array, Int32Array

CPU_SIZES: Final = (1, 2, 4, 8, 16, 32)
GPU_SIZES: Final = (1, 8, 32, 128, 256, 512, 1024)
_COMPARED: Final = 512
"""Positions on which errors are found."""
_TURN: Final = 0.02
"""Seconds for which a backend is timed before the next one has its turn."""


class Way(NamedTuple):
    """A way to run a network."""

    backend: str
    device: str
    precision: str = "auto"


ON_GPU: Final = (
    Way("torch", "gpu"),
    Way("torch", "gpu", "float32"),
    Way("onnx", "gpu"),
    Way("onnx", "tensorrt"),
    Way("chainer", "gpu"),
)
ON_CPU: Final = (
    Way("winograd", "cpu"),
    Way("openvino", "cpu"),
    Way("openvino", "cpu", "float32"),
    Way("onnx", "cpu"),
    Way("torch", "cpu"),
    Way("chainer", "cpu"),
)


def backends(files: Sequence[Path], encodings: Sequence[Encoding], threads: int, seconds: float) -> Iterator[str]:
    """A table in Markdown of how these files run, and why the others do not. Raises ModelError.

    The first file is run in all ways, and is what the others are compared with. Without a GPU the table is that of the
    CPU, with `threads` threads in one stream.
    """
    loaded, reasons = dict[str, Backend](), dict[str, None]()
    for ways in (ON_GPU, ON_CPU):
        for file, way in product(files, ways):
            try:
                backend = load_backend(
                    way.backend, file, encodings, device=way.device, precision=way.precision, threads=threads
                )
            except BackendError as error:
                reasons[f"{way.backend}: {error}"] = None
            except ModelError as error:
                if file == files[0]:
                    raise
                reasons[f"{way.backend}: {error}"] = None
            else:
                loaded.setdefault(f"{backend.description} ({file.name})", backend)
        if loaded:
            break
    reference = load_backend("onnx", files[0], encodings, device="cpu", precision="float32")
    sizes = GPU_SIZES if next(iter(loaded.values())).on_gpu else CPU_SIZES
    yield _row("microseconds a position", "same first choice", "win rate apart", *(f"batch {size}" for size in sizes))
    yield f"|{'---|' * (3 + len(sizes))}"
    for (name, backend), took in zip(loaded.items(), _microseconds(list(loaded.values()), sizes, seconds), strict=True):
        same, apart = _distance(backend, reference)
        yield _row(name, f"{same:.1%}", f"{apart:.2%}", *(f"{each:,.0f}" for each in took))
    yield from (f"Not measured: {reason}" for reason in reasons)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _distance(backend: Backend, reference: Backend) -> tuple[float, float]:
    """In how many positions the likeliest label is the same, and by how much win rates differ on average."""

    def answers(of: Backend) -> tuple[Int32Array, Float32Array]:
        labels = np.tile(np.arange(of.encoding.labels, dtype=np.int32), _COMPARED)
        firsts = np.arange(0, len(labels) + 1, of.encoding.labels, dtype=np.int32)
        priors, values = of.predict(sample(of.encoding, _COMPARED), firsts, labels, 1.0)
        return priors.reshape(_COMPARED, -1).argmax(1).astype(np.int32), values

    (first, values), (other, other_values) = answers(backend), answers(reference)
    return float(np.mean(first == other)), float(np.abs(values - other_values).mean())


def _microseconds(backends: Sequence[Backend], sizes: Sequence[int], seconds: float) -> list[list[float]]:
    """For each backend and size, the median of what was timed in `seconds` for each."""
    took = [[list[float]() for _ in sizes] for _ in backends]
    for place, size in enumerate(sizes):
        given = [some_batch(each.encoding, size) for each in backends]
        end = time.perf_counter() + seconds * len(backends)
        while time.perf_counter() < end:
            for each, batch, times in zip(backends, given, took, strict=True):
                each.predict(*batch, 1.0)  # its weights come back into the caches
                turn_ends = time.perf_counter() + _TURN
                while (began := time.perf_counter()) < turn_ends:
                    each.predict(*batch, 1.0)
                    times[place].append((time.perf_counter() - began) / size * 1e6)
    return [[float(np.median(times)) for times in of_backend] for of_backend in took]
