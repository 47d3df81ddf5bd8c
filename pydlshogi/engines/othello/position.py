"""A position of Othello that moves forward and back, with the notation that players and the board use."""

import re
from typing import Any, Final, Self

import numpy as np

from pydlshogi.game import Outcome
from pydlshogi.games.othello.rules import START, Position, move_name, parse_move, position_of
from pydlshogi.support.arrays import Int32Array

_ROWS: Final = re.compile(r"((?:[dD1-8]{1,8}/){7}[dD1-8]{1,8}) ([bw])(?: - \d+)?")


class OthelloPosition:
    """A position with those before it. Black's discs are written D, White's d, rows and empty squares as in an sfen."""

    def __init__(self, text: str | None = None) -> None:
        """`text`: as `sfen` writes it, or the 64 squares and the side to move. Raises ValueError."""
        self._positions = [START if text is None else _read(text)]
        self._moves: list[int] = []

    def copy(self) -> Self:
        twin = type(self)()
        twin._positions, twin._moves = self._positions.copy(), self._moves.copy()
        return twin

    @property
    def now(self) -> Position:
        """The position as Othello's engines take it."""
        return self._positions[-1]

    @property
    def turn(self) -> int:
        """0: Black is to move, 1: White."""
        return int(not self.now.black_to_move)

    def push(self, move: int) -> None:
        self._positions.append(self.now.play(move))
        self._moves.append(move)

    def pop(self) -> None:
        self._positions.pop()
        self._moves.pop()

    def last_move(self) -> int:
        """The move that led here. IndexError at the start."""
        return self._moves[-1]

    def legal_moves(self) -> Int32Array:
        return np.array(self.now.moves(), np.int32)

    def outcome(self) -> Outcome | None:
        """Who has more discs, where neither side can play."""
        if not self.now.over:
            return None
        return Outcome(0.5 + 0.5 * float(np.sign(self.now.score)))

    def key(self) -> int:
        return hash(self.now) & 2**63 - 1

    def board_key(self) -> int:
        return self.key()

    def past_board_keys(self) -> list[int]:
        return [hash(position) & 2**63 - 1 for position in self._positions[:-1]]

    def ply(self) -> int:
        return len(self._positions)

    def sfen(self) -> str:
        discs = self.now.diagram().translate(_LETTERS)
        rows = (re.sub(" +", _count, discs[start : start + 8]) for start in range(0, 64, 8))
        return f"{'/'.join(rows)} {'bw'[self.turn]} - {self.ply()}"

    def describe(self) -> list[str]:
        """The board drawn, for people."""
        discs = self.now.diagram()
        return [discs[start : start + 8] for start in range(0, 64, 8)]

    def usi(self, move: int) -> str:
        """`f5`, or `pass`."""
        return move_name(move)

    def move_from_usi(self, usi: str) -> int:
        """The legal move that is written so. ValueError if there is none."""
        move = parse_move(usi)
        if move not in self.now.moves():
            raise ValueError(f"{usi} is not a legal move")
        return move


_LETTERS: Final = str.maketrans("XO-", "Dd ")


def _count(gap: re.Match[str]) -> str:
    return str(len(gap[0]))


def _read(text: str) -> Position:
    """Raises ValueError."""
    found = _ROWS.fullmatch(text.strip())
    if found is None:
        return position_of(text)
    rows = [re.sub(r"\d", _empty, row) for row in found[1].split("/")]
    if any(len(row) != 8 for row in rows):
        raise ValueError("each row has 8 squares")
    return position_of("".join(rows).replace("D", "X").replace("d", "O") + ("X" if found[2] == "b" else "O"))


def _empty(digit: re.Match[str]) -> Any:
    return "-" * int(digit[0])
