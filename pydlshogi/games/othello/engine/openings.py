"""The opening book: positions, and what they are worth; `python -m utils.lab.grow_book` makes it grow.

A file (.npz) holds of each position a key, the same whichever way the board is turned, and by how many discs the side
to move is expected to win: where all moves lead to positions of the book, that is what the best of them leads to. There
it is played from: one of the moves that are nearly as good as the best is drawn, so that games differ.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.games.othello.rules import Position
from pydlshogi.games.othello.squares import turned
from pydlshogi.support.arrays import ArraysError, Int16Array, Uint64Array, read_arrays
from pydlshogi.support.compiled import compiled
from pydlshogi.support.hashes import splitmix

SHIPPED_OPENINGS: Final = "othello_openings.npz"
SPREADS: Final = (2.0,) * 8 + (0.5,)
"""Discs by which a move that is played may be worse than the best, by ply; the last from there on: games part early,
and each further move that is not the best costs something."""
_HOLDS: Final = "opening book of Othello"


@dataclass(frozen=True)
class OpeningBook:
    """Positions, found by their keys. That two of them share a key has a probability of 1 to 100 million."""

    keys: Uint64Array
    """uint64 [positions], rising: see `key_of`."""
    worths: Int16Array
    """int16 [positions]: by how many hundredths of a disc the side to move is expected to win."""

    def worth(self, position: Position) -> int | None:
        """What the book says of a position, in hundredths of a disc; None: it does not hold it."""
        key = key_of(position)
        place = int(np.searchsorted(self.keys, key))
        return int(self.worths[place]) if place < len(self.keys) and self.keys[place] == key else None

    def moves(self, position: Position) -> dict[int, float]:
        """The moves of `position`, and by how many discs each is expected to win for the side to move; none of them
        where one leads out of the book, which might be the best."""
        known: dict[int, float] = {}
        for move in position.moves():
            if (worth := self.worth(position.play(move))) is None:
                return {}
            known[move] = -worth / 100
        return known

    def good(self, position: Position) -> dict[int, float]:
        """Those of the moves that are nearly as good as the best one."""
        moves, ply = self.moves(position), 60 - position.empties
        spread = SPREADS[min(ply, len(SPREADS) - 1)]
        return {move: worth for move, worth in moves.items() if worth >= max(moves.values()) - spread}

    def choose(self, position: Position, rng: random.Random) -> tuple[int, float] | None:
        """One of these, and its worth; None: the book has none."""
        good = self.good(position)
        return rng.choice([*good.items()]) if good else None


NO_OPENINGS: Final = OpeningBook(np.zeros(0, np.uint64), np.zeros(0, np.int16))


def key_of(position: Position) -> np.uint64:
    """A hash of a position, the same whichever way the board is turned; who of Black and White moves is left out."""
    return _key(np.uint64(position.mover), np.uint64(position.opponent))


@compiled
def _key(mover: np.uint64, opponent: np.uint64) -> np.uint64:
    least = splitmix(mover ^ splitmix(opponent))
    for turn in range(1, 8):
        least = min(least, splitmix(turned(mover, turn) ^ splitmix(turned(opponent, turn))))
    return least  # type: ignore[no-any-return]


def read_openings(path: Path) -> OpeningBook:
    """The book of a file. Raises ArraysError, OSError."""
    book = read_arrays(path, OpeningBook, _HOLDS)
    keys, worths = book.keys, book.worths
    arrays = keys.dtype == np.uint64 and worths.dtype == np.int16 and keys.ndim == 1 and keys.shape == worths.shape
    if not arrays or (keys[1:] <= keys[:-1]).any():
        raise ArraysError(f"{path} holds no {_HOLDS}, or is damaged")
    return book
