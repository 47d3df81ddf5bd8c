"""Evaluators: they answer a batch of positions with a prior for every legal move and a value.

`NetworkEvaluator` asks a backend, `CachedEvaluator` only once about a position; `RolloutEvaluator` adds rollouts. Tests
and benchmarks have `UniformEvaluator` and `HashEvaluator`. Priors are in the order of the legal moves given.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.network.backend import Backend
from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array, Uint32Array, Uint64Array, entries_of
from pydlshogi.support.kernels.compiled import compiled, rule
from pydlshogi.support.kernels.hashes import splitmix
from pydlshogi.uct.batch import Batch, Evaluations, Evaluator


class NetworkEvaluator:
    """What a network thinks."""

    def __init__(self, backend: Backend, temperature: float = 1.0) -> None:
        """`temperature` divides the policy's logits: above 1 the priors are flatter, below 1 sharper."""
        self.backend = backend
        self.encoding = backend.encoding
        self.temperature = temperature

    def evaluate(self, batch: Batch) -> Evaluations:
        size = len(batch)
        if size and batch.expands[:size].all():  # as in most searches: nothing is copied
            return Evaluations(
                *self.backend.predict(batch.packed[:size], batch.firsts[: size + 1], batch.labels, self.temperature)
            )
        values = batch.known_values[:size].copy()
        # A value that is known is not asked for again, unless the priors are wanted.
        asked = np.flatnonzero(batch.expands[:size] | np.isnan(values))
        if not len(asked):
            return Evaluations(np.empty(0, np.float32), values)
        firsts = np.append(batch.firsts[asked], batch.firsts[size])  # the others have no labels
        priors, values[asked] = self.backend.predict(batch.packed[asked], firsts, batch.labels, self.temperature)
        return Evaluations(priors, values)


class CachedEvaluator:
    """What a network thinks; it is not asked twice about a position, as long as there is room for what it said.

    For many games of the same network, which come through the same positions.
    """

    def __init__(self, backend: Backend, temperature: float, most_moves: int) -> None:
        self.encoding = backend.encoding
        self._backend = backend
        self._temperature = temperature
        places = _REMEMBERED // most_moves
        self._memory = _Memory(
            np.zeros(places, np.uint64),
            np.zeros(places, np.int32),
            np.zeros(places, np.float32),
            np.zeros((places, most_moves), np.float32),
        )

    def evaluate(self, batch: Batch) -> Evaluations:
        size = len(batch)
        packed, firsts = batch.packed[:size], batch.firsts[: size + 1]
        priors, values = np.empty(firsts[-1], np.float32), np.empty(size, np.float32)
        asked = np.empty(size, np.int64)
        asked = asked[: _recall(self._memory, packed, firsts, priors, values, asked)]
        if len(asked):
            firsts_asked, labels = entries_of(firsts, asked)
            said = self._backend.predict(
                packed[asked], firsts_asked.astype(np.int32), batch.labels[labels], self._temperature
            )
            priors[labels], values[asked] = said
            _remember(self._memory, packed, firsts, priors, values, asked)
        return Evaluations(priors, values)


class RolloutEvaluator:
    """Another evaluator, whose values are mixed with results of rollouts [AlphaGo 2016].

    It may be asked about a position several times. The values without rollouts are those of the other evaluator.
    """

    def __init__(self, evaluator: Evaluator, roll_out: Callable[[Batch], Float32Array], share: float) -> None:
        """`roll_out` plays positions on to the end, not the same way each time: float32 [positions], 1 where the side
        to move has won, 0.5 draw, 0 where it has lost. `share`: of that in the value, 0 to 1."""
        self.evaluator = evaluator
        self.encoding = evaluator.encoding
        self._roll_out = roll_out
        self._share = np.float32(share)

    def evaluate(self, batch: Batch) -> Evaluations:
        said = self.evaluator.evaluate(batch)
        values = said.values + self._share * (self._roll_out(batch) - said.values)
        return Evaluations(said.priors, values, said.values)


class UniformEvaluator:
    """All moves are alike and every game is even.

    >>> from pydlshogi.catalogue import GAMES
    >>> game = next(iter(GAMES.values()))
    >>> batch = Batch(8, game.rules.most_moves)
    >>> batch.add(game.position(), game.position().legal_moves())
    >>> priors, values, _ = UniformEvaluator().evaluate(batch)
    >>> priors.shape, round(float(priors[0]), 4), values.tolist()
    ((30,), 0.0333, [0.5])
    """

    encoding = None

    def evaluate(self, batch: Batch) -> Evaluations:
        counts = np.diff(batch.firsts[: len(batch) + 1])
        priors = np.repeat((1 / np.maximum(counts, 1)).astype(np.float32), counts)
        return Evaluations(priors, np.full(len(batch), 0.5, np.float32))


class HashEvaluator:
    """Priors and values made of hashes: arbitrary, but the same on every machine and in every run."""

    def __init__(self, encoding: Encoding | None = None) -> None:
        """The priors depend on the labels of the `encoding`; without one on the moves."""
        self.encoding = encoding

    def evaluate(self, batch: Batch) -> Evaluations:
        firsts = batch.firsts[: len(batch) + 1]
        priors = np.empty(firsts[-1], np.float32)
        values = np.empty(len(batch), np.float32)
        _fill_with_hashes(batch.keys, firsts, batch.labels, priors, values)
        return Evaluations(priors, values)


_REMEMBERED: Final = 1 << 24
"""Priors, of 4 bytes."""


class _Memory(NamedTuple):
    """Each position has the place that its hash, modulo the number of places, names; the newest one there is kept."""

    hashes: Uint64Array
    counts: Int32Array
    """How many priors each has: none if it was not to be expanded."""
    values: Float32Array
    priors: Float32Array


@rule
def _hash(packed: Any) -> Any:
    bits = np.uint64(len(packed))
    for word in packed:
        bits = splitmix(bits ^ np.uint64(word))
    return bits


@compiled
def _recall(
    memory: _Memory,
    packed: Uint32Array,
    firsts: Int32Array,
    priors: Float32Array,
    values: Float32Array,
    asked: Int64Array,
) -> int:
    """Fill in what is remembered, and `asked` with the numbers of the other positions; how many those are."""
    others = 0
    for i in range(len(values)):
        bits = _hash(packed[i])
        place, count = bits % np.uint64(len(memory.hashes)), firsts[i + 1] - firsts[i]
        if memory.hashes[place] != bits or memory.counts[place] != count:
            asked[others] = i
            others += 1
            continue
        values[i] = memory.values[place]
        for j in range(count):
            priors[firsts[i] + j] = memory.priors[place, j]
    return others


@compiled
def _remember(
    memory: _Memory,
    packed: Uint32Array,
    firsts: Int32Array,
    priors: Float32Array,
    values: Float32Array,
    asked: Int64Array,
) -> None:
    for i in asked:
        bits = _hash(packed[i])
        place, count = bits % np.uint64(len(memory.hashes)), firsts[i + 1] - firsts[i]
        memory.hashes[place], memory.counts[place], memory.values[place] = bits, count, values[i]
        for j in range(count):
            memory.priors[place, j] = priors[firsts[i] + j]


@rule
def _top_bits(bits: Any) -> Any:
    """The top 10 bits of a hash: 0 to 1023."""
    return splitmix(bits) >> np.uint64(54)


@compiled
def _fill_with_hashes(
    keys: Uint64Array, firsts: Int32Array, labels: Int32Array, priors: Float32Array, values: Float32Array
) -> None:
    """Fill `priors` and `values`, both as in Evaluations, from hashes of the positions and of their labels."""
    for i in range(len(values)):
        values[i] = np.float32(_top_bits(keys[i]) + 0.5) / np.float32(1024)
        total = np.uint64(0)
        for j in range(firsts[i], firsts[i + 1]):
            weight = np.uint64(1) + _top_bits(keys[i] ^ (np.uint64(labels[j]) << np.uint64(20)))
            priors[j] = weight
            total += weight
        for j in range(firsts[i], firsts[i + 1]):
            priors[j] /= np.float32(total)
