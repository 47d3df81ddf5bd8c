"""Dobutsu shogi by the letter of the rules, slowly: a dictionary of squares, and nothing seen by the side to move."""

import numpy as np

from pydlshogi.game import Outcome
from pydlshogi.support.arrays import Int32Array

STEPS = {"P": "N", "B": "NE SE SW NW", "R": "N E S W", "K": "N NE E SE S SW W NW", "+P": "N NE E S W NW"}
WAYS = ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))
COMPASS = dict(zip("N NE E SE S SW W NW".split(), WAYS, strict=True))
HELD = "PBR"

Square = tuple[int, int]
"""File from the left and rank from the top, as Black sees them."""


class SlowDobutsu:
    """A game from the start on. Moves are numbered as the compiled rules number them."""

    def __init__(self) -> None:
        self.board: dict[Square, tuple[str, int]] = {}
        """Piece and side, 0 Black, 1 White, by square."""
        for rank, row in enumerate(("RKB", " P ", " P ", "BKR")):
            self.board |= {(file, rank): (piece, int(rank < 2)) for file, piece in enumerate(row) if piece != " "}
        self.hands: tuple[list[str], list[str]] = ([], [])
        self.side = 0
        self.lost = False
        self.earlier: list[object] = []

    def copy(self) -> "SlowDobutsu":
        twin = SlowDobutsu()
        twin.board, twin.side, twin.lost = self.board.copy(), self.side, self.lost
        twin.hands = (self.hands[0].copy(), self.hands[1].copy())
        twin.earlier = self.earlier.copy()
        return twin

    def ply(self) -> int:
        return 1 + len(self.earlier)

    def seen_at(self, square: int) -> Square:
        """The square that the side to move calls by this number."""
        rank, file = divmod(square, 3)
        return (2 - file, 3 - rank) if self.side else (file, rank)

    def steps(self, origin: Square) -> dict[str, Square]:
        """By the way it takes, where the piece on `origin` could go on an empty board."""
        piece, side = self.board[origin]
        found = {}
        for way in STEPS[piece].split():
            right, down = COMPASS[way]
            x, y = (origin[0] - right, origin[1] - down) if side else (origin[0] + right, origin[1] + down)
            if x in range(3) and y in range(4):
                found[way] = (x, y)
        return found

    def attackers(self, square: Square, by: int) -> bool:
        return any(side == by and square in self.steps(each).values() for each, (_, side) in self.board.items())

    def lion(self, side: int) -> Square:
        return next(square for square, piece in self.board.items() if piece == ("K", side))

    def actions(self) -> dict[int, tuple[Square | str, Square]]:
        """By number: origin, or the piece dropped, and destination."""
        found: dict[int, tuple[Square | str, Square]] = {}
        if self.lost:
            return found
        number_of = {self.seen_at(square): square for square in range(12)}
        for origin, square in number_of.items():
            if origin not in self.board:
                for place, piece in enumerate(HELD):
                    if piece in self.hands[self.side]:
                        found[11 * square + 8 + place] = (piece, origin)
            elif self.board[origin][1] == self.side:
                steps = self.steps(origin)
                for number, way in enumerate(COMPASS):
                    if way in steps and self.board.get(steps[way], ("", -1))[1] != self.side:
                        found[11 * number_of[steps[way]] + number] = (origin, steps[way])
        return found

    def legal_moves(self) -> Int32Array:
        return np.array(list(self.actions()), np.int32)

    def usi(self, move: int) -> str:
        origin, target = self.actions()[move]
        promotes = origin in self.board and self.board[origin][0] == "P" and target[1] == (3 if self.side else 0)
        return (f"{origin}*" if isinstance(origin, str) else name(origin)) + name(target) + ("+" if promotes else "")

    def push(self, move: int) -> None:
        origin, target = self.actions()[move & 0xFFFF]
        self.earlier.append(self.snapshot())
        last_rank = 3 if self.side else 0
        if isinstance(origin, str):
            self.hands[self.side].remove(origin)
            self.board[target] = (origin, self.side)
        else:
            piece, _ = self.board.pop(origin)
            taken, _ = self.board.get(target, ("", -1))
            if taken == "K":
                self.lost = True
            elif taken:
                self.hands[self.side].append(taken.lstrip("+"))
            self.board[target] = ("+P" if piece == "P" and target[1] == last_rank else piece, self.side)
            if piece == "K" and target[1] == last_rank and not self.attackers(target, 1 - self.side):
                self.lost = True
        self.side = 1 - self.side

    def snapshot(self) -> tuple[object, ...]:
        return (self.side, tuple(sorted(self.board.items())), *(tuple(sorted(hand)) for hand in self.hands))

    def key(self) -> int:
        return 0

    board_key = key

    def outcome(self) -> Outcome | None:
        """A draw at the second occurrence; a win in one."""
        if self.snapshot() in self.earlier:
            return Outcome(0.5, by_path=True)
        for move in self.actions():
            after = self.copy()
            after.push(move)
            if after.lost:
                return Outcome(1.0, plies=1)
        return None


def name(square: Square) -> str:
    """A square in USI."""
    return f"{3 - square[0]}{'abcd'[square[1]]}"
