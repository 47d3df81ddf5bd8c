"""What runs a network: packed positions in, priors and win rates out. The contract that all backends fulfil.

`HostBackend` is that around a network that takes planes and gives logits: positions are unpacked, and priors made, on
the CPU. So run all networks of frameworks on a CPU, and those on a GPU whose framework does no more than compute them.
This module imports no framework; `loading` chooses one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import LifoQueue
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from pydlshogi.encoding import Encoding, unpack
from pydlshogi.support import OneLineError
from pydlshogi.support.arrays import Float32Array, Int16Array, Int32Array, Uint32Array
from pydlshogi.support.kernels.compiled import compiled, inlined


class BackendError(OneLineError, RuntimeError):
    """A framework or device that is not there; the message is one line that says what to install."""


class Backend(Protocol):
    """A loaded network. Several threads may call at once: as many at a time as it has streams, the others wait."""

    @property
    def description(self) -> str:
        """Framework, version, device and network in one line of ASCII."""

    @property
    def on_gpu(self) -> bool:
        """The network runs on another device than the search."""

    @property
    def batch_size(self) -> int:
        """How many positions at once suit it; 0: that is to be measured."""

    @property
    def foreign(self) -> bool:
        """Its file has the form of other programs' networks."""

    @property
    def encoding(self) -> Encoding:
        """How positions are packed and moves labelled for it."""

    @property
    def streams(self) -> int:
        """How many batches it works on at once."""

    def predict(
        self, packed: Uint32Array, firsts: Int32Array, labels: Int32Array, temperature: float
    ) -> tuple[Float32Array, Float32Array]:
        """Priors of all legal moves, and the win rate of the side to move in each position.

        packed: uint32 [B, words], at least one position. firsts: int32 [B + 1], from 0 on; labels[firsts[i]] to
        labels[firsts[i + 1] - 1] are those of the legal moves of position i. temperature: by which the policy's logits
        are divided; above 1 the priors are flatter, below 1 sharper.
        Returns float32 [firsts[B]], which sum to 1 for each position that has labels, and float32 [B], 0 to 1; the
        caller owns them.
        """


CPU_BATCH: Final = 16
"""What suits a framework on a CPU, and where Python takes longer than the network."""
LARGEST_BATCH: Final = 512
"""The largest whose speed is measured on a GPU."""


@dataclass(frozen=True)
class Resources:
    """What a network may use; `loading.load_backend` says what the words mean."""

    device: str
    precision: str
    threads: int
    """Of the CPU, for all streams together; at least one for each."""
    streams: int
    batch_size: int
    """0: it is still to be measured."""

    def largest_batch(self, *, on_gpu: bool) -> int:
        """What to be ready for. On a GPU, whose memory is laid out before, that is the largest that is measured."""
        return self.batch_size or (LARGEST_BATCH if on_gpu else CPU_BATCH)

    @property
    def threads_a_stream(self) -> int:
        return max(1, self.threads // self.streams)

    @property
    def cpu(self) -> str:
        """How descriptions name the CPU."""
        threads = f"{self.threads_a_stream} {'thread' if self.threads_a_stream == 1 else 'threads'}"
        return f"CPU, {threads}" if self.streams == 1 else f"CPU, {self.streams} streams of {threads}"


# Around a network that takes planes

Stream = TypeVar("Stream")
Run = Callable[[npt.NDArray[Any]], tuple[Float32Array, Float32Array]]
"""Planes [B, planes, height, width] to raw logits: policy float32 [B, labels] and value float32, B numbers.

Called by one thread at a time; what it gives may be overwritten at its next call."""


class Graph(NamedTuple):
    """A network as ONNX describes it, or as a framework has compiled it, and what there is to know of it."""

    name: str
    encoding: Encoding
    foreign: bool
    """It had the form of other programs' networks."""
    content: bytes
    planes: str
    """Name of the input."""
    dtype: type[np.generic]
    """What the input holds."""
    policy: str
    value: str
    """Names of the outputs."""
    labels: int
    value_shape: tuple[int, ...]
    """Of one position: (1,) or ()."""


@contextmanager
def borrowed(free: LifoQueue[Stream]) -> Iterator[Stream]:
    """A free stream of a backend, waited for where there is none; it is free again at the end."""
    stream = free.get()
    try:
        yield stream
    finally:
        free.put(stream)


class _Stream:
    """A place for one batch at a time. Its planes stay where they are: to ask for megabytes anew costs page faults."""

    def __init__(self, run: Run, planes: npt.NDArray[Any]) -> None:
        self.run = run
        self._planes = planes

    def planes(self, size: int) -> npt.NDArray[Any]:
        if size > len(self._planes):
            self._planes = np.zeros((size, *self._planes.shape[1:]), self._planes.dtype)
        return self._planes[:size]


class HostBackend:
    """See `Backend` for the contract. It has as many streams as it is given runs."""

    def __init__(
        self,
        description: str,
        encoding: Encoding,
        runs: Sequence[Run],
        batch_size: int,
        *,
        planes: type[np.generic] = np.float32,
        on_gpu: bool = False,
        foreign: bool = False,
    ) -> None:
        """`planes`: the type of number in which the runs take them. All are run, so that they are warm."""
        self.description = description
        self.encoding = encoding
        self.on_gpu = on_gpu
        self.batch_size = 0 if on_gpu else CPU_BATCH
        self.foreign = foreign
        self.streams = len(runs)
        self._free: LifoQueue[_Stream] = LifoQueue()
        shape = (batch_size, encoding.planes, encoding.height, encoding.width)
        for run in runs:
            self._free.put(_Stream(run, np.zeros(shape, planes)))
            for size in {1, batch_size}:
                one_move_each = np.arange(size + 1, dtype=np.int32), np.zeros(size, np.int32)
                self.predict(np.zeros((size, encoding.words), np.uint32), *one_move_each, 1.0)

    def predict(
        self, packed: Uint32Array, firsts: Int32Array, labels: Int32Array, temperature: float
    ) -> tuple[Float32Array, Float32Array]:
        priors, values = np.empty(firsts[-1], np.float32), np.empty(len(packed), np.float32)
        with borrowed(self._free) as stream:
            planes = stream.planes(len(packed))
            unpack(self.encoding, packed, planes)
            policy, value = stream.run(planes)
            softmax_over_legal_moves(policy, firsts, labels, np.float32(1 / temperature), priors)
            win_rates(value.reshape(-1), values)
        return priors, values


_LOG_2: Final = np.float32(0.693359375), np.float32(-2.12194440e-4)
"""Of which the first has so few digits that its multiples are exact; the sum of both is the logarithm of 2."""
_HALVES: Final[Float32Array] = np.float32(2) ** -np.arange(127, dtype=np.float32)


@inlined
def exponential(x: Any) -> Any:
    """e to the power of float32 x, at most 0, the same on every machine: mathematical libraries differ.

    x = r - n ln 2, and Taylor's series of r, which is at most ln 2 / 2, to the sixth power. Below -80 it is that of
    -80; what is not finite stays so.
    """
    held = x if x > np.float32(-80) else np.float32(-80)
    n = np.floor(np.float32(0.5) - held * np.float32(1.442695041))
    r = (held + n * _LOG_2[0]) + n * _LOG_2[1]
    series = np.float32(1 / 720)
    for factor in (1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0):
        series = series * r + np.float32(factor)
    return series * _HALVES[int(n)] + (x - x)


@inlined
def softmax(logits: Float32Array) -> None:
    """Make probabilities of the logits, in place."""
    highest = np.float32(-np.inf)
    for i in range(len(logits)):
        highest = max(highest, logits[i])
    total = np.float32(0)
    for i in range(len(logits)):
        logits[i] = exponential(logits[i] - highest)
        total += logits[i]
    for i in range(len(logits)):
        logits[i] /= total


@inlined
def sigmoid(logit: Any) -> Any:
    """The logistic function."""
    power = exponential(-abs(logit))
    return (power if logit < 0 else np.float32(1)) / (np.float32(1) + power)


@inlined
def product(a: Int16Array, b: npt.NDArray[Any]) -> np.int32:
    """The sum of products of whole numbers, b of 8 or 16 bits."""
    # numba's sums of integers have 64 bits by default, and vectors of those are half as fast.
    total = np.int32(0)
    for i in range(len(a)):
        total = np.int32(total + np.int32(np.int32(a[i]) * np.int32(b[i])))
    return total


@compiled
def softmax_over_legal_moves(
    policy: Float32Array, firsts: Int32Array, labels: Int32Array, sharpness: np.float32, priors: Float32Array
) -> None:
    """Fill `priors` from the logits `policy` [B, labels], multiplied by `sharpness`.

    All but these as in `Backend.predict`. The priors of a position sum to 1: labels of illegal moves do not count.
    """
    for i in range(len(firsts) - 1):
        first, stop = firsts[i], firsts[i + 1]
        for j in range(first, stop):
            priors[j] = policy[i, labels[j]] * sharpness
        softmax(priors[first:stop])


@compiled
def win_rates(logits: Float32Array, values: Float32Array) -> None:
    """Fill `values` with the logistic function of `logits`."""
    for i in range(len(values)):
        values[i] = sigmoid(logits[i])
