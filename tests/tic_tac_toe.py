"""Two games small enough to check by eye, behind the same `Position` as shogi."""

from collections.abc import Iterable, Mapping

import numpy as np

from pydlshogi.game import MATED, Outcome
from pydlshogi.support.arrays import Int32Array, Records

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class TicTacToe:
    """Cells 0..8, row by row; a move is a cell. Who has three in a row has won."""

    def __init__(self, moves: Iterable[int] = ()) -> None:
        self.played: list[int] = []
        for move in moves:
            self.push(move)

    @property
    def states(self) -> Records:
        """The cells of the side to move, and of the other."""
        own, other = (sum(1 << cell for cell in self.played[last::-2]) for last in (-2, -1))
        return np.array([(own, other)], [("own", np.uint32), ("other", np.uint32)])

    def push(self, move: int) -> None:
        assert move in range(9)
        assert move not in self.played
        self.played.append(move)

    def pop(self) -> None:
        self.played.pop()

    def copy(self) -> "TicTacToe":
        return type(self)(self.played)

    def board_key(self) -> int:
        return self.key()

    def past_board_keys(self) -> list[int]:
        return [TicTacToe(self.played[:number]).key() for number in range(len(self.played))]

    def legal_moves(self) -> Int32Array:
        return np.array([cell for cell in range(9) if cell not in self.played], np.int32)

    def outcome(self) -> Outcome | None:
        others = self.played[-1::-2]
        if any(all(cell in others for cell in line) for line in LINES):
            return MATED
        return Outcome(0.5) if len(self.played) == 9 else None

    def key(self) -> int:
        """In base 3: 1 where the first player has played, 2 where the second has."""
        return sum((1 + number % 2) * 3**cell for number, cell in enumerate(self.played))

    def ply(self) -> int:
        return len(self.played)


class Letters:
    """A game that is drawn as a graph: its positions are letters, its moves lead to the letters listed.

    `ends` are the verdicts of the rules. `repetition` is the verdict when the letter under way was met before with
    the same side to move; None: letters may repeat for ever.
    """

    def __init__(self, graph: Mapping[str, str], start: str, ends=None, repetition: Outcome | None = None) -> None:
        self.graph = graph
        self.path = start
        self.ends = ends or {}
        self.repetition = repetition

    def push(self, move: int) -> None:
        assert chr(move) in self.graph[self.path[-1]]
        self.path += chr(move)

    def pop(self) -> None:
        self.path = self.path[:-1]

    def copy(self) -> "Letters":
        return Letters(self.graph, self.path, self.ends, self.repetition)

    def board_key(self) -> int:
        return self.key()

    def past_board_keys(self) -> list[int]:
        return [ord(letter) for letter in self.path[:-1]]

    def legal_moves(self) -> Int32Array:
        return np.array([ord(letter) for letter in self.graph.get(self.path[-1], "")], np.int32)

    def outcome(self) -> Outcome | None:
        here = self.path[-1]
        if self.repetition and here in self.path[-3::-2]:
            return self.repetition
        return self.ends.get(here)

    def key(self) -> int:
        return ord(self.path[-1])

    def ply(self) -> int:
        return len(self.path) - 1
