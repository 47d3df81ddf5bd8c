"""Othello behind the `Position` protocol: the compiled rules with the notation that players and the board use."""

import re
from typing import Final

import numpy as np

from pydlshogi.game import GameEnd
from pydlshogi.games.othello.rules import RULES, SETTINGS, START, STATE, Position, move_name, parse_move, position_of
from pydlshogi.state_position import StatePosition

_ROWS: Final = re.compile(r"((?:[dD1-8]{1,8}/){7}[dD1-8]{1,8}) ([bw])(?: -(?: (\d{1,4}))?)?")
_LETTERS: Final = str.maketrans("XO-", "Dd ")


class OthelloPosition(StatePosition):
    """A position with those before it. Black's discs are written D, White's d, rows and empty squares as in an sfen."""

    def __init__(self, text: str | Position | None = None, ply: int = 1, *, draw_ply: int = 0) -> None:
        """`text`: as `sfen` writes it, or the 64 squares and the side to move; or a position. Raises ValueError.

        `ply`: the number of the next move, where `text` does not say it. `draw_ply` is what other games take: a game
        of Othello always ends.
        """
        setup = START if text is None else text
        if isinstance(setup, str):
            setup, ply = _read(setup, ply)
        start = np.array([(setup.mover, setup.opponent)], STATE)
        super().__init__(RULES, start[0], ply, np.zeros(1, SETTINGS))
        self.white_begins = not setup.black_to_move

    @property
    def now(self) -> Position:
        """The position as Othello's engines take it."""
        return Position(int(self.state["mover"]), int(self.state["opponent"]), not self.turn)

    def sfen(self) -> str:
        discs = self.now.diagram().translate(_LETTERS)
        rows = (re.sub(" +", lambda gap: str(len(gap[0])), discs[start : start + 8]) for start in range(0, 64, 8))
        return f"{'/'.join(rows)} {'bw'[self.turn]} - {self.ply()}"

    def describe(self) -> list[str]:
        """Ten lines for people: the board, Black being X and White O, the side to move and the discs of both.

        Where the side to move may play there is a `+`.
        """
        now = self.now
        squares = list(now.diagram()[:64].replace("-", "."))
        for move in now.moves():
            if move < 64:
                squares[move] = "+"
        rows = [" ".join([str(rank + 1), *squares[8 * rank : 8 * rank + 8]]) for rank in range(8)]
        turn = "over" if now.over else "Black to move" if now.black_to_move else "White to move"
        count = f"{turn}; Black (X) {now.black.bit_count()}, White (O) {now.white.bit_count()}"
        return ["  a b c d e f g h", *rows, count]

    def usi(self, move: int) -> str:
        """`f5`, or `pass`."""
        return move_name(move & 0xFFFF)

    def move_from_usi(self, usi: str) -> int:
        """The legal move that is written so. ValueError if there is none."""
        move = parse_move(usi)
        if move not in self.now.moves():
            raise ValueError(f"{usi} is not a legal move")
        return move

    def ending(self) -> GameEnd | None:
        outcome = self.outcome()
        if outcome is None:
            return None
        where = ", both pass" if self.now.empties else ""
        if outcome.value == 0.5:
            return GameEnd(f"equal discs{where}", None)
        return GameEnd(f"more discs{where}", self.turn if outcome.value > 0.5 else 1 - self.turn)


def _read(text: str, ply: int) -> tuple[Position, int]:
    """The position and the number of the next move, `ply` if there is none. Raises ValueError."""
    found = _ROWS.fullmatch(text.strip())
    if found is None:
        return position_of(text), ply
    rows = [re.sub(r"\d", lambda digit: "-" * int(digit[0]), row) for row in found[1].split("/")]
    if any(len(row) != 8 for row in rows):
        raise ValueError("each row has 8 squares")
    discs = "".join(rows).replace("D", "X").replace("d", "O")
    return position_of(discs + ("X" if found[2] == "b" else "O")), int(found[3] or ply)
