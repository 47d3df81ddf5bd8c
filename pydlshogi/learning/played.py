"""Games that were played to be learned from: what the searches found out, move by move, and how the games ended.

The target of a position is a policy and an expected score, made of what the search at it found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Final, Self

import numpy as np

from pydlshogi.encoding import Encoding, labels_of, packed_of
from pydlshogi.game import Position
from pydlshogi.support.arrays import (
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    Uint16Array,
    Uint32Array,
    read_arrays,
)
from pydlshogi.training.examples import Examples
from pydlshogi.uct.root import MoveStats, Root


@dataclass(frozen=True)
class PlayedGames:
    """A set of games, and the positions in them that had a full search, in the order in which they were played."""

    packed: Uint32Array
    """uint32 [n, words]: the positions."""
    firsts: Int64Array
    """int64 [n + 1]: where the labels of each position begin, and the last end."""
    labels: Int32Array
    weights: Float32Array
    """int32, float32 [all]: the share of the policy that each move is to have. Moves without a share have no label, but
    for a sparse network."""
    results: Float32Array
    """float32 [n]: the score of the side to move in the end, 0 to 1."""
    searched: Float32Array
    """float32 [n]: what its search expected."""
    exact: Float32Array
    """float32 [n]: 1 where the search has proven what it expects."""
    game: Int32Array
    """int32 [n]: the number of its game."""
    plies: Int32Array
    """int32 [n]: moves of the game before it."""
    moves: Uint16Array
    """uint16: the moves of all games, one game after the other."""
    lengths: Int32Array
    """int32 [games]: plies of each."""
    scores: Float32Array
    """float32 [games]: of the side that moved first, 0 to 1."""
    misjudged: Int32Array
    """int32 [2]: games in which a side would have resigned but had to play on; how many of those it did not lose."""

    def __len__(self) -> int:
        return len(self.results)

    def games(self) -> list[list[int]]:
        """The moves of each game."""
        return [part.tolist() for part in np.split(self.moves, np.cumsum(self.lengths)[:-1])]

    def examples(self, search_value: float) -> Examples:
        """To learn from; the expected score has a share of `search_value` in the value, and all of it where exact."""
        share = np.where(self.exact > 0, np.float32(1), np.float32(search_value))
        values = ((1 - share) * self.results + share * self.searched).astype(np.float32)
        return Examples(self.packed, self.firsts, self.labels, self.weights, values, np.ones_like(values))

    @classmethod
    def read(cls, path: Path) -> Self:
        """What `write_arrays` wrote. Raises ArraysError, OSError."""
        return read_arrays(path, cls, "games")


@dataclass(frozen=True)
class Sample:
    """One position with what its search found out."""

    packed: Uint32Array
    labels: Int32Array
    weights: Float32Array
    searched: float
    exact: bool
    ply: int
    """Moves of the game before it."""


@dataclass(frozen=True)
class Episode:
    """One game."""

    moves: Sequence[int]
    samples: Sequence[Sample]
    score: float
    """Of the side that moved first, 0 to 1."""
    gave_up: int | None
    """The side, 0 or 1, that would have resigned where it was not allowed to."""

    def score_of(self, side: int) -> float:
        """The score of a side, 0 or 1."""
        return 1 - self.score if side else self.score


def packed_games(games: Sequence[Episode], words: int) -> PlayedGames:
    """The games as a set; positions have `words` words."""
    samples = [(sample, number) for number, game in enumerate(games) for sample in game.samples]
    gave_up = [game.score_of(game.gave_up) for game in games if game.gave_up is not None]
    return PlayedGames(
        firsts=np.cumsum([0, *(len(sample.labels) for sample, _ in samples)]),
        labels=np.concatenate([np.zeros(0, np.int32), *(sample.labels for sample, _ in samples)]),
        weights=np.concatenate([np.zeros(0, np.float32), *(sample.weights for sample, _ in samples)]),
        searched=np.array([sample.searched for sample, _ in samples], np.float32),
        exact=np.array([sample.exact for sample, _ in samples], np.float32),
        packed=np.array([sample.packed for sample, _ in samples], np.uint32).reshape(-1, words),
        results=np.array([games[number].score_of(sample.ply % 2) for sample, number in samples], np.float32),
        game=np.array([number for _, number in samples], np.int32),
        plies=np.array([sample.ply for sample, _ in samples], np.int32),
        moves=np.concatenate([np.zeros(0, np.uint16), *(np.array(game.moves, np.uint16) for game in games)]),
        lengths=np.array([len(game.moves) for game in games], np.int32),
        scores=np.array([game.score for game in games], np.float32),
        misjudged=np.array([len(gave_up), sum(score > 0 for score in gave_up)], np.int32),
    )


# Targets


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
    advantages = np.array([0.0 if isnan(move.value) else move.value - value for move in moves])
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
    encoding: Encoding,
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
    learned = np.arange(len(moves)) if encoding.features else np.flatnonzero(weights)
    searched, exact = expected_score(root)
    return Sample(
        packed=packed_of(encoding, position.states[-1:])[0],
        labels=labels_of(encoding, position.states[-1], np.array([moves[i].move for i in learned.tolist()])),
        weights=(weights[learned] / weights.sum()).astype(np.float32),
        searched=searched,
        exact=exact,
        ply=ply,
    )


def sampled(weights: Float64Array, temperature: float, rng: np.random.Generator) -> int:
    """An index of `weights`, in proportion to their power of 1 / temperature."""
    sums = np.cumsum((weights / weights.max()) ** (1 / temperature))
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
