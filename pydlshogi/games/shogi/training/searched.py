"""Positions that were searched anew: instead of the move that was played, the shares of all moves teach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Final, Self

import numpy as np
from tqdm import tqdm

from pydlshogi.games.shogi.training.evaluations import win_rates
from pydlshogi.games.shogi.training.formats import legal, read_parts
from pydlshogi.games.shogi.training.parts import Part, chosen
from pydlshogi.games.shogi.training.records import Positions
from pydlshogi.support.arrays import BoolArray, Float32Array, Int64Array, Uint16Array, read_arrays
from pydlshogi.training.dataset import DatasetError

EVAL_COEF_OF_DLSHOGI: Final = 756.0864962951762
"""By which dlshogi makes evaluations of win rates."""


@dataclass(frozen=True)
class Searched:
    """A set of positions with what a search, or a network alone, found out."""

    positions: Positions
    """POSITION [n]: as they were recorded."""
    counts: Int64Array
    """int64 [n]: moves of each that have a share."""
    moves: Uint16Array
    """uint16 [all]: the moves, as cshogi writes them in 16 bits."""
    weights: Float32Array
    """float32 [all]: their shares of the policy; those of a position sum to 1."""
    values: Float32Array
    """float32 [n]: expected score of the side to move, 0 to 1."""
    exact: BoolArray
    """bool [n]: the search has proven it."""

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def firsts(self) -> Int64Array:
        """int64 [n + 1]: where the moves of each begin, and the last end."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @classmethod
    def read(cls, path: Path) -> Self:
        """What `write_arrays` wrote. Raises ArraysError, OSError."""
        return read_arrays(path, cls, "searched positions")

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several sets, at least one, as a single set."""
        return cls(**{each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)})


def read_sets(source: Path, say: Callable[[str], None] = tqdm.write) -> Searched:
    """All sets in a folder of `utils.lab.search_records`, or the positions of an .hcpe3 whose visits are known.

    Raises ArraysError, DatasetError, OSError.
    """
    if source.suffix == ".hcpe3":
        sets = [_visited(part) for part in read_parts(source, say)]
    else:
        sets = [Searched.read(path) for path in sorted(source.glob("*.npz"))]
    if not sum(map(len, sets)):
        raise DatasetError(f"{source} holds no searched positions")
    return Searched.joined(sets)


def _visited(part: Part) -> Searched:
    totals = np.bincount(np.repeat(np.arange(len(part.counts)), part.counts), part.visits, len(part.counts))
    positions, counts, moves, visits = chosen(part, (totals > 0) & legal(part.positions))
    weights = visits / np.repeat(np.add.reduceat(visits, np.cumsum(counts) - counts, dtype=np.float64), counts)
    values = win_rates(positions["eval"], EVAL_COEF_OF_DLSHOGI)
    return Searched(positions, counts, moves, weights.astype(np.float32), values, np.zeros(len(counts), np.bool_))
