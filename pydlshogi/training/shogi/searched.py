"""Recorded positions that were searched anew: instead of the move that was played, the visits of all moves teach."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.support.arrays import BoolArray, Float32Array, Int64Array, Uint8Array, Uint16Array
from pydlshogi.support.arrays_file import read_arrays, write_arrays
from pydlshogi.training.examples import Examples
from pydlshogi.training.shogi.evaluations import ValueTarget
from pydlshogi.training.shogi.recorded import shown, states
from pydlshogi.training.shogi.records import DatasetError, Positions


@dataclass(frozen=True)
class Searched:
    """A set of positions with what their searches found out."""

    rows: Int64Array
    """int64 [n]: their numbers among the positions of the records."""
    hcp: Uint8Array
    """uint8 [n, 32]: the positions, as records.POSITION has them."""
    counts: Int64Array
    """int64 [n]: moves of each that were visited."""
    moves: Uint16Array
    """uint16 [all]: the moves, as cshogi writes them in 16 bits."""
    weights: Float32Array
    """float32 [all]: their shares of the visits; those of a position sum to 1."""
    values: Float32Array
    """float32 [n]: expected score of the side to move, 0 to 1."""
    exact: BoolArray
    """bool [n]: the search has proven it."""

    def __len__(self) -> int:
        return len(self.rows)

    def write(self, path: Path) -> None:
        """Write a file that holds all of it, or nothing. Raises OSError."""
        write_arrays(path, self)

    @classmethod
    def read(cls, path: Path) -> Self:
        """What `write` wrote. Raises ArraysError, OSError."""
        return read_arrays(path, cls, "searched positions")

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several sets, at least one, as a single set."""
        return cls(**{each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)})


def read_sets(folder: Path) -> Searched:
    """All sets in a folder of `utils.search_records`. Raises ArraysError, DatasetError, OSError."""
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise DatasetError(f"{folder} holds no searched positions")
    return Searched.joined([Searched.read(path) for path in paths])


class SearchedRecords:
    """A `Source` of examples: what was searched, in any encoding of shogi."""

    def __init__(
        self, positions: Positions, searched: Searched, encoding: Encoding, target: ValueTarget, search_value: float
    ) -> None:
        """`positions`: of the records; `target` says what those know of a value. What a search expects has a share of
        `search_value` in it, and all of it where that is proven, or the records know nothing.

        Raises DatasetError where other records were searched.
        """
        last = searched.rows.max(initial=-1)
        if last >= len(positions) or not np.array_equal(positions["hcp"][searched.rows], searched.hcp):
            raise DatasetError("the searched positions are of other records")
        self._positions = positions
        self._searched = searched
        self._encoding = encoding
        self._target = target
        self._share = search_value
        self._firsts = np.concatenate([[0], np.cumsum(searched.counts)])

    def __len__(self) -> int:
        return len(self._searched)

    def examples(self, rows: Int64Array) -> Examples:
        """Those with these numbers, in this order."""
        searched, encoding = self._searched, self._encoding
        recorded = shown(self._positions, searched.rows[rows])
        entries = np.concatenate([np.arange(self._firsts[row], self._firsts[row + 1]) for row in rows])
        firsts = np.concatenate([[0], np.cumsum(searched.counts[rows])])
        moves = searched.moves[entries]
        packed = np.zeros((len(rows), encoding.words), np.uint32)
        labels = np.empty(len(entries), np.int32)
        for i, (state, (low, high)) in enumerate(
            zip(states(recorded, encoding), pairwise(firsts.tolist()), strict=True)
        ):
            encoding.pack(state, packed[i])
            encoding.label_moves(state, moves[low:high], high - low, labels[low:high])
        values, known = self._target(recorded)
        share = np.where(searched.exact[rows] | (known == 0), np.float32(1), np.float32(self._share))
        values += share * (searched.values[rows] - values)
        return Examples(packed, firsts, labels, searched.weights[entries], values, np.ones_like(values))
