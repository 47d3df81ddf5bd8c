"""Games that were played to be learned from: what the searches found out, move by move, and how the games ended.

The target of a position is a policy and an expected score, made of what the search at it found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array, Uint16Array, Uint32Array, read_arrays
from pydlshogi.training.examples import Examples


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
