"""What a search at a root teaches, a policy and an expected score, and by what self-play chooses its move."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.game import Position
from pydlshogi.learning.played import Sample
from pydlshogi.support.arrays import Float64Array
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.root import MoveStats, Root


def visits_to_choose_by(moves: Sequence[MoveStats]) -> Float64Array:
    """Visits float64 [moves]; the best move is the first. A proven win has all, a proven loss has none where another
    move is left."""
    visits = np.array([0 if move.plies is not None else move.visits for move in moves], np.float64)
    if not visits.any() or moves[0].plies is not None:
        visits[:] = 0
        visits[0] = 1
    return visits


_ADVANTAGE: Final = 4.2
_BY_ROOT_OF_VISITS: Final = 1.75
"""Fitted to the moves of strong players, after searches of 64 playouts: docs/laboratory/README.md."""


def improved_policy(moves: Sequence[MoveStats], priors: Float64Array, value: float) -> Float64Array:
    """Shares float64 [moves], which sum to 1: the `priors`, and how much better than `value` each move turned out.

    value: the root's. Logits rise by the advantage of a move, the more the more visits it has had; unvisited moves have
    none [Danihelka et al. 2022, policy improvement by planning with Gumbel]. `moves` are sorted as `Root.moves` has
    them. A proven win has all, a proven loss has nothing where another move is left.
    """
    shares: Float64Array = np.zeros(len(moves))
    if moves[0].plies is not None:
        shares[0] = 1
        return shares
    advantages = np.nan_to_num(np.array([move.value for move in moves]) - value)
    roots = np.sqrt(np.array([move.visits for move in moves]))
    logits = np.log(np.maximum(priors, 1e-9)) + (_ADVANTAGE + _BY_ROOT_OF_VISITS * roots) * advantages
    logits[[move.plies is not None for move in moves]] = -np.inf
    shares[:] = np.exp(logits - logits.max())
    shares /= shares.sum()
    return shares


def expected_score(root: Root) -> tuple[float, bool]:
    """What the search of a root expects for the side to move, 0 to 1; and whether it has proven that."""
    return (root.value, False) if root.plies is None else (float(root.plies > 0), True)


def sample_of(
    encoding: Encoding | None,
    position: Position,
    ply: int,
    root: Root,
    moves: Sequence[MoveStats],
    weights: Float64Array,
) -> Sample:
    """What the search of `position`, the root, teaches: a policy by `weights`, one for each of its `moves`.

    `encoding`: how the network sees it that is to learn.
    """
    # A sparse network makes its policy of the labels that it is given: all legal moves.
    learned = np.arange(len(moves)) if encoding and encoding.features else np.flatnonzero(weights)
    batch = Batch(1, len(learned), encoding)
    batch.add(position, np.array([moves[i].move for i in learned.tolist()], np.int32))
    searched, exact = expected_score(root)
    return Sample(
        packed=batch.packed[0],
        labels=batch.labels[: len(learned)].copy(),
        weights=(weights[learned] / weights.sum()).astype(np.float32),
        searched=searched,
        exact=exact,
        ply=ply,
    )


def sampled(weights: Float64Array, temperature: float, rng: np.random.Generator) -> int:
    """An index of `weights`, in proportion to their power of 1 / temperature."""
    sums = np.cumsum((weights / weights.max()) ** (1 / temperature))
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
