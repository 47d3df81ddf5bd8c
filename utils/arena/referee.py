"""The rules a match is judged by, on cshogi.Board: legal moves, mate, repetition, declaration, move limit.

Kept apart from the rules the engine plays by, so that a mistake there costs games instead of being agreed to. It knows
no engines, clocks or scores.
"""

from collections import defaultdict
from typing import Any, Literal, NamedTuple

import cshogi

from pydlshogi.games.shogi.sfen import board_from_sfen

Colour = Literal["b", "w"]


class Verdict(NamedTuple):
    """How a game ended; no winner means a draw."""

    winner: Colour | None
    ending: str


def other(colour: Colour) -> Colour:
    """The opponent's colour."""
    return "w" if colour == "b" else "b"


class Referee:
    """One game of shogi, from the start without an sfen; drawn after `max_moves` moves unless the last one mates."""

    def __init__(self, start_sfen: str | None = None, max_moves: int = 512) -> None:
        """Raises ValueError for what is not a shogi position."""
        self.board: Any = board_from_sfen(start_sfen or cshogi.STARTING_SFEN)
        self.max_moves = max_moves
        self.moves: list[str] = []
        self._checks = [bool(self.board.is_check())]
        self._seen: defaultdict[str, list[int]] = defaultdict(list)
        self._seen[self._position()].append(0)

    @property
    def turn(self) -> Colour:
        """The side to move."""
        return "b" if self.board.turn == cshogi.BLACK else "w"

    def play(self, move: str) -> Verdict | None:
        """Make `move` (USI) and judge; None while the game goes on. An illegal move is not made and loses."""
        mover = self.turn
        # cshogi's own parser takes promotions that the rules do not allow, such as 7g7f+.
        legal = {cshogi.move_to_usi(candidate): candidate for candidate in self.board.legal_moves}
        if move not in legal:
            return Verdict(other(mover), "illegal_move")
        self.board.push(legal[move])
        self.moves.append(move)
        self._checks.append(bool(self.board.is_check()))
        self._seen[self._position()].append(len(self.moves))
        if not len(self.board.legal_moves):
            return Verdict(mover, "mate")
        occurrences = self._seen[self._position()]
        if len(occurrences) >= 4:
            return self._repetition(since=occurrences[-4], mover=mover)
        if len(self.moves) >= self.max_moves:
            return Verdict(None, "max_moves")
        return None

    def declare(self) -> Verdict:
        """Judge `bestmove win` by the 27-point rule."""
        if self.board.is_nyugyoku(cshogi.LAW_27):
            return Verdict(self.turn, "declaration")
        return Verdict(other(self.turn), "false_declaration")

    def _position(self) -> str:
        """Board, side to move and hands, without the move number."""
        return str(self.board.sfen()).rsplit(" ", 1)[0]

    def _repetition(self, since: int, mover: Colour) -> Verdict:
        """Fourth occurrence of a position: a draw, or lost for the side whose every move since the first gave check."""
        checks = self._checks[since + 1 :]
        if all(checks[-1::-2]):
            return Verdict(other(mover), "perpetual_check")
        if all(checks[-2::-2]):
            return Verdict(mover, "perpetual_check")
        return Verdict(None, "sennichite")
