"""Dobutsu shogi behind the `Position` protocol: the compiled rules with the notation of USI around them."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from pydlshogi.game import GameEnd, Outcome
from pydlshogi.games.dobutsu.rules import ENEMY, GOES, LION, NEIGHBOUR, OFF, RULES, SETTINGS, SQUARES, STATE
from pydlshogi.games.dobutsu.sfen import (
    START_SFEN,
    drawn,
    in_first_dialect,
    read_sfen,
    square_name,
    write_move,
    write_sfen,
)
from pydlshogi.games.state_position import StatePosition

_OCCURRENCES: Final = 3


class DobutsuPosition(StatePosition):
    """A position of Dobutsu shogi with the moves that led to it."""

    def __init__(self, sfen: str | None = None, moves: Iterable[str] = (), *, draw_ply: int = 0) -> None:
        """Set up `sfen`, None for the start of the game, and play `moves` (USI).

        `draw_ply`: the game is drawn once so many moves have been played without a win; 0: never. Raises ValueError for
        a broken sfen or an illegal move.
        """
        setup = read_sfen(START_SFEN if sfen is None else sfen)
        start, settings = np.zeros(1, STATE), np.zeros(1, SETTINGS)
        start["pieces"], settings["draw_ply"] = setup.pieces, draw_ply
        super().__init__(RULES, start[0], setup.ply, settings)
        self.white_begins = setup.white
        for move in moves:
            self.push_usi(move)

    def sfen(self) -> str:
        return write_sfen(int(self.state["pieces"]), self.turn == 1, self.ply())

    def describe(self) -> list[str]:
        """The board drawn, for people."""
        return drawn(self.sfen())

    def usi(self, move: int) -> str:
        """A legal move in USI notation."""
        return write_move(int(self.state["pieces"]), self.turn == 1, move & 0xFFFF)

    def move_from_usi(self, usi: str) -> int:
        """The legal move that `usi` names here, in either dialect; ValueError if there is none.

        The + of a promotion may be missing.
        """
        wanted = in_first_dialect(usi)
        for move in self.legal_moves().tolist():
            if wanted in (written := self.usi(move), written.rstrip("+")):
                return int(move)
        raise ValueError(f"{usi} is not a legal move")

    def push_usi(self, usi: str) -> int:
        """Play a move in USI notation and return it; ValueError if it is not legal here."""
        move = self.move_from_usi(usi)
        self.push(move)
        return move

    def ending(self) -> GameEnd | None:
        if not len(self.legal_moves()):
            tried = ("k" if self.turn else "K") in self.sfen().split()[0]
            return GameEnd("try" if tried else "lion caught", 1 - self.turn)
        return GameEnd("repetition", None) if self.threefold() else None

    def threefold(self) -> Outcome | None:
        """A draw if this position has now occurred for the third time, else None."""
        return Outcome(0.5, by_path=True) if self.occurrences() >= _OCCURRENCES else None


def threatened_lion(position: DobutsuPosition) -> str:
    """The square of the lion of the side to move where it could be caught; "" if it could not."""
    pieces = int(position.state["pieces"])
    on = [pieces >> 4 * square & 15 for square in range(SQUARES)]
    if LION not in on:
        return ""
    # What comes from a direction of ours goes in the same one of its own.
    beside = enumerate(NEIGHBOUR[on.index(LION)].tolist())
    caught = any(
        origin != OFF and on[origin] > ENEMY and GOES[on[origin] - ENEMY] >> direction & 1
        for direction, origin in beside
    )
    return square_name(on.index(LION), position.turn == 1) if caught else ""
