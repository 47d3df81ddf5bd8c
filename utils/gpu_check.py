"""All checks that need a GPU, in one command: is every backend right there, and how fast?

Prints a table in Markdown. Networks with random weights are run by every backend that can use the GPU; their logits and
their priors and win rates, made from packed positions, are compared with those of the CPU, and positions a second
counted for batch sizes and streams (a thread each, so many batches in flight). What cannot be done here is said;
without any GPU the table is that of the CPU, as far as it goes in reasonable time.

Exit status 0: all agree; 1: some do not; 2: there is no GPU that any backend can use.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.encoding import planes_of
from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.network.architecture import Architecture, architecture_for
from pydlshogi.network.backend import Backend, BackendError
from pydlshogi.network.loading import load_backend
from pydlshogi.network.weights import random_weights, write_weights
from pydlshogi.player.batching import seconds_for, some_batch
from pydlshogi.support.command_line import exit_status, parser_for

NETWORKS: Final = (
    architecture_for(BOOK, "policy_value", 12, 192),
    architecture_for(BOOK, "policy_value_resnet", 10, 192),
    architecture_for(BOOK, "policy_value_resnet", 6, 96),
)
BATCH_SIZES: Final = (1, 8, 32, 128, 256, 512, 1024)
STREAMS: Final = (1, 2, 4)
CPU_BATCH_SIZES: Final = (1, 8, 32)
CPU_STREAMS: Final = (1, 2)
LONGEST: Final = 2.0
"""Seconds; once a batch takes longer, no larger one is timed."""


class Way(NamedTuple):
    """A way to run a network."""

    backend: str
    device: str
    precision: str


WAYS: Final = (
    Way("torch", "gpu", "half"),
    Way("torch", "gpu", "float32"),
    Way("onnx", "gpu", "half"),
    Way("onnx", "gpu", "float32"),
    Way("onnx", "tensorrt", "half"),
    Way("chainer", "gpu", "float32"),
)
CPU_WAYS: Final = tuple(Way(name, "cpu", "float32") for name in ("openvino", "onnx", "torch", "chainer"))
TOLERANCES: Final = {"float32": 1e-3, "half": 0.4}
"""How far a logit may lie from the CPU's; they spread over some units here. bfloat16 has been seen to differ by 0.2."""


def error_of(backend: Backend, reference: Backend, packed: Any) -> float:
    """The largest distance of any logit, prior or win rate from the reference's; infinite if one is not a number."""
    planes = planes_of(backend.encoding, packed)
    given = some_batch(backend.encoding, len(packed))
    answers = [
        (*each.infer(planes), *each.predict(packed, *given[1:], temperature=1.0)) for each in (backend, reference)
    ]
    distances = [np.abs(ours - theirs).max() for ours, theirs in zip(*answers, strict=True)]
    return float(np.nan_to_num(np.max(distances), nan=np.inf))


def speeds_of(backend: Backend, sizes: tuple[int, ...]) -> Iterator[float | None]:
    """Positions per second for each batch size, with all streams busy."""
    seconds = 0.0
    for size in sizes:
        if seconds > LONGEST:
            yield None
            continue
        (seconds,) = seconds_for([(backend, size)])
        yield backend.streams * size / seconds


def usable(ways: tuple[Way, ...]) -> tuple[list[Way], list[str]]:
    """The ways that can be used here, and why the others cannot."""
    found, reasons = [], set()
    with tempfile.TemporaryDirectory() as folder:
        modelfile = Path(folder, "small.npz")
        write_weights(modelfile, random_weights(architecture_for(BOOK, "policy_value_resnet", 1, 8), seed=1))
        for way in ways:
            try:
                load_backend(way.backend, modelfile, [BOOK], device=way.device, precision=way.precision)
            except BackendError as error:
                reasons.add(f"{way.backend}: {error}")
            else:
                found.append(way)
    return found, sorted(reasons)


def rows(
    architecture: Architecture, ways: list[Way], sizes: tuple[int, ...], all_streams: tuple[int, ...]
) -> Iterator[tuple[str, bool]]:
    """A row for each way to run one network with random weights and each number of streams, and whether it agrees."""
    with tempfile.TemporaryDirectory() as folder:
        modelfile = Path(folder, "network.npz")
        write_weights(modelfile, random_weights(architecture, seed=1))
        reference = load_backend("onnx", modelfile, [BOOK], device="cpu", precision="float32")
        packed = some_batch(BOOK, 64)[0]
        for name, device, precision in ways:
            for streams in all_streams:
                how: dict[str, Any] = {"device": device, "precision": precision, "streams": streams}
                backend = load_backend(name, modelfile, [BOOK], batch_size=max(sizes), **how)
                if backend.streams != streams:
                    break  # it has fewer, and they were timed
                error = error_of(backend, reference, packed)
                agrees = error <= TOLERANCES[precision]
                speeds = ("-" if speed is None else f"{speed:.0f}" for speed in speeds_of(backend, sizes))
                yield row(backend.description, streams, f"{error:.1e}{'' if agrees else ' **WRONG**'}", *speeds), agrees


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def check() -> int:
    """Print the table. Returns the exit status."""
    ways, reasons = usable(WAYS)
    on_gpu = bool(ways)
    if not on_gpu:
        print(f"No backend can use a GPU here. {'; '.join(reasons)}. What follows is the CPU.\n")
        ways, reasons = usable(CPU_WAYS)
    sizes, streams = (BATCH_SIZES, STREAMS) if on_gpu else (CPU_BATCH_SIZES, CPU_STREAMS)
    print(row("positions/s", "streams", "largest error", *(f"batch {size}" for size in sizes)))
    print(f"|{'---|' * (3 + len(sizes))}")
    wrong = 0
    for architecture in NETWORKS:
        for line, agrees in rows(architecture, ways, sizes, streams):
            print(line, flush=True)
            wrong += not agrees
    for reason in reasons:
        print(f"\nNot measured: {reason}.")
    return 1 if wrong else 0 if on_gpu else 2


def main() -> int:
    parser = parser_for("utils.gpu_check", __doc__)
    parser.parse_args()
    return exit_status("gpu_check", check)


if __name__ == "__main__":
    sys.exit(main())
