"""What runs a network: packed positions in, priors and win rates out. The contract that all backends fulfil.

This module imports no framework and no backend; `loading` chooses one.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from pydlshogi.encoding import Encoding
from pydlshogi.support import OneLineError
from pydlshogi.support.arrays import Float32Array, Int32Array, Uint32Array


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
