"""Evaluators: they answer the search's requests with a prior for every legal move and a value.

`NetworkEvaluator` asks a backend; `UniformEvaluator` and `HashEvaluator` need no network and serve tests, benchmarks
and the curious. Labels and logits end here: what comes out is in the order of the legal moves that went in.
"""

from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from pydlshogi.compiled import compiled
from pydlshogi.features import Float32Array, PlaneBatch, move_label
from pydlshogi.game import Position
from pydlshogi.uct.search import Evaluations, Requests

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

R = TypeVar("R", bound=Requests)


class Evaluator(Protocol[R]):
    """Judges positions in batches."""

    def requests(self, capacity: int) -> R:
        """A new notebook for batches of up to `capacity` positions. Nobody may write in it while `evaluate` reads."""

    def evaluate(self, requests: R) -> Evaluations:
        """Opinions on all positions noted, in their order."""


class UniformEvaluator:
    """All moves are alike and every game is even."""

    def requests(self, capacity: int) -> Requests:
        return Requests()

    def evaluate(self, requests: Requests) -> Evaluations:
        priors = np.repeat((1 / requests.counts).astype(np.float32), requests.counts)
        return Evaluations(priors, np.full(len(requests), 0.5, np.float32))


class KeyRequests(Requests):
    """A notebook that keeps the keys of the positions."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[int] = []

    def clear(self) -> None:
        self.keys.clear()

    def note(self, position: Position) -> None:
        self.keys.append(position.key())


class HashEvaluator:
    """Opinions drawn from a hash of the position: arbitrary, but the same on every machine and in every run."""

    def requests(self, capacity: int) -> KeyRequests:
        return KeyRequests()

    def evaluate(self, requests: KeyRequests) -> Evaluations:
        priors = np.empty(len(requests.moves), np.float32)
        values = np.empty(len(requests), np.float32)
        _opinions(np.array(requests.keys, np.int64), requests.counts, requests.moves, priors, values)
        return Evaluations(priors, values)


@compiled
def _mix(number: int) -> int:
    """A hash of `number`, 0 to 1023: the top 10 bits of the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    bits = np.uint64(number)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((bits ^ (bits >> np.uint64(31))) >> np.uint64(54))


@compiled
def _opinions(
    keys: Int64Array, counts: Int32Array, moves: Int32Array, priors: Float32Array, values: Float32Array
) -> None:
    """Fill `priors` and `values`, both as in Evaluations, from hashes of the positions and of their moves."""
    first = 0
    for i in range(len(keys)):
        values[i] = np.float32(_mix(keys[i]) + 0.5) / np.float32(1024)
        total = 0
        for j in range(first, first + counts[i]):
            weight = 1 + _mix(keys[i] ^ (moves[j] << 20))
            priors[j] = weight
            total += weight
        for j in range(first, first + counts[i]):
            priors[j] /= np.float32(total)
        first += counts[i]


class ShogiRequests(Requests):
    """A notebook that keeps what a network needs of a shogi position: its planes and its side to move."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.planes = PlaneBatch(capacity)
        self.turns: list[int] = []

    def clear(self) -> None:
        self.planes.clear()
        self.turns.clear()

    def note(self, position: Any) -> None:
        """Note a `ShogiPosition`."""
        self.planes.add(position.board)
        self.turns.append(position.board.turn)


class Backend(Protocol):
    """What NetworkEvaluator needs of a network: less than `pydlshogi.network.backend.Backend` offers."""

    @property
    def on_gpu(self) -> bool:
        """The network runs on another device than the search."""

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Planes float32 [B, 104, 9, 9] to raw logits: policy float32 [B, 2187], value float32 [B]."""


class NetworkEvaluator:
    """A network's opinions: boards to planes, planes to logits, logits to priors and win rates."""

    def __init__(self, backend: Backend, temperature: float = 1.0) -> None:
        """`temperature` divides the policy logits: above 1 the priors are flatter, below 1 sharper."""
        self.backend = backend
        self.temperature = temperature

    @property
    def on_gpu(self) -> bool:
        """The network runs on another device than the search."""
        return self.backend.on_gpu

    def requests(self, capacity: int) -> ShogiRequests:
        return ShogiRequests(capacity)

    def evaluate(self, requests: ShogiRequests) -> Evaluations:
        if not len(requests):
            return Evaluations(np.empty(0, np.float32), np.empty(0, np.float32))
        policy_logits, value_logits = self.backend.infer(requests.planes.planes())
        priors = np.empty(len(requests.moves), np.float32)
        _softmax_over_legal_moves(
            policy_logits,
            requests.moves,
            requests.counts,
            np.array(requests.turns, np.int8),
            np.float32(1 / self.temperature),
            priors,
        )
        # Below -80 the exponential would leave float32.
        return Evaluations(priors, (1 / (1 + np.exp(-np.maximum(value_logits, -80)))).astype(np.float32))


@compiled
def _softmax_over_legal_moves(
    logits: Float32Array,
    moves: Int32Array,
    counts: Int32Array,
    turns: npt.NDArray[np.int8],
    sharpness: np.float32,
    priors: Float32Array,
) -> None:
    """Fill `priors`, float32 [sum of counts], from `logits`, float32 [B, 2187].

    `moves` holds the legal moves position after position, `counts[i]` of them for position i with `turns[i]` to move.
    The logits are multiplied by `sharpness`. The priors of a position sum to 1: labels of illegal moves do not count.
    """
    first = 0
    for i in range(len(counts)):
        stop = first + counts[i]
        highest = np.float32(-np.inf)
        for j in range(first, stop):
            logit = logits[i, move_label(moves[j], turns[i])] * sharpness
            priors[j] = logit
            highest = max(highest, logit)
        total = np.float32(0)
        for j in range(first, stop):
            priors[j] = np.exp(priors[j] - highest)
            total += priors[j]
        for j in range(first, stop):
            priors[j] /= total
        first = stop
