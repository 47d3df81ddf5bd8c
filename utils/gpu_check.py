"""All checks that need a GPU: does every backend there is give the CPU's logits, and how many positions a second?

Prints a table in Markdown. Exit status 0: all agree; 1: some do not; 2: there is no GPU that any backend can use.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.features import Float32Array
from pydlshogi.network.backend import Backend, BackendError, load_backend
from pydlshogi.network.weights import Architecture, random_weights, write_weights
from utils.export_onnx import played_positions

NETWORKS: Final = (
    Architecture("policy_value", 12, 192),
    Architecture("policy_value_resnet", 10, 192),
    Architecture("policy_value_resnet", 10, 128),
)
BATCH_SIZES: Final = (1, 8, 32, 128, 256, 512, 1024)
Way = tuple[str, str]
WAYS: Final[tuple[Way, ...]] = (
    ("onnx", "half"),
    ("onnx", "float32"),
    ("torch", "half"),
    ("torch", "float32"),
    ("chainer", "float32"),
)
TOLERANCES: Final[dict[str, float]] = {"float32": 1e-3, "half": 0.4}
"""How far a logit may lie from the CPU's; they spread over some units here. bfloat16 has been seen to differ by 0.2."""


class Row(NamedTuple):
    """One backend with one network."""

    description: str
    error: float
    agrees: bool
    speeds: tuple[float, ...]
    """Positions per second for each batch size."""


def error_of(backend: Backend, planes: Float32Array, expected: tuple[Float32Array, Float32Array]) -> float:
    """The largest distance of any logit from the expected one; infinite if one is not a number."""
    given = backend.infer(planes)
    distances = [np.abs(ours - theirs).max() for ours, theirs in zip(given, expected, strict=True)]
    return float(np.nan_to_num(np.max(distances), nan=np.inf))


def speed_of(backend: Backend, planes: Float32Array, seconds: float) -> float:
    """Positions per second, transfers included: the median of calls for so long, after two to warm up."""
    durations: list[float] = []
    for _ in range(2):
        backend.infer(planes)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(durations) < 3:
        begin = time.perf_counter()
        backend.infer(planes)
        durations.append(time.perf_counter() - begin)
    return len(planes) / float(np.median(durations))


def usable_ways(device: str) -> tuple[list[Way], list[str]]:
    """The ways a network can be run here, and why the others cannot be used."""
    ways, reasons = [], set()
    with tempfile.TemporaryDirectory() as folder:
        modelfile = Path(folder, "small.npz")
        write_weights(modelfile, random_weights(Architecture("policy_value_resnet", 1, 8), seed=1))
        for name, precision in WAYS:
            try:
                load_backend(name, modelfile, device=device, precision=precision)
            except BackendError as error:
                reasons.add(f"{name}: {error}")
            else:
                ways.append((name, precision))
    return ways, sorted(reasons)


def rows(
    architecture: Architecture, device: str, ways: list[Way], batch_sizes: tuple[int, ...], seconds: float
) -> Iterator[Row]:
    """A row for each way to run one network with random weights."""
    with tempfile.TemporaryDirectory() as folder:
        modelfile = Path(folder, "network.npz")
        write_weights(modelfile, random_weights(architecture, seed=1))
        reference = load_backend("onnx", modelfile, device="cpu")
        planes = played_positions(reference, 64, np.random.default_rng(1))
        expected = reference.infer(planes)
        for name, precision in ways:
            backend = load_backend(name, modelfile, device=device, precision=precision, batch_size=max(batch_sizes))
            error = error_of(backend, planes, expected)
            speeds = (speed_of(backend, np.resize(planes, (size, *planes.shape[1:])), seconds) for size in batch_sizes)
            yield Row(backend.description, error, error <= TOLERANCES[precision], tuple(speeds))


def heading(batch_sizes: tuple[int, ...]) -> str:
    """The first two lines of the table."""
    cells = ["positions/s", "largest error of a logit", *(f"batch {size}" for size in batch_sizes)]
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


def line(row: Row) -> str:
    """A line of the table."""
    verdict = "" if row.agrees else " **WRONG**"
    return (
        f"| {' | '.join([row.description, f'{row.error:.1e}{verdict}', *(f'{speed:.0f}' for speed in row.speeds)])} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m utils.gpu_check", description=__doc__)
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu", help="cpu: the same table without a GPU")
    parser.add_argument("--seconds", type=float, default=0.5, help="to measure one number (default %(default)s)")
    arguments = parser.parse_args()
    ways, reasons = usable_ways(arguments.device)
    if not ways:
        print(f"No backend can use a GPU here. {'; '.join(reasons)}.")
        return 2
    print(heading(BATCH_SIZES))
    wrong = 0
    for architecture in NETWORKS:
        for row in rows(architecture, arguments.device, ways, BATCH_SIZES, arguments.seconds):
            print(line(row), flush=True)
            wrong += not row.agrees
    for reason in reasons:
        print(f"\nNot measured: {reason}.")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
