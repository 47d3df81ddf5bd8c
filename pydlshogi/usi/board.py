"""The game that a GUI means, as `position` has told it."""

from collections.abc import Callable
from typing import NamedTuple

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import PlayerError, play_moves
from pydlshogi.usi.notation import parse_position


class GivenGame(NamedTuple):
    """A game as `position` tells it."""

    sfen: str | None = None
    """None: the start of the game."""
    moves: tuple[str, ...] = ()
    refused: bool = False
    """The last `position` was broken: this is not the game that the GUI means."""


class Board:
    """The present game, and the position it has led to."""

    def __init__(self, set_up: Callable[[str | None], PlayedPosition]) -> None:
        """`set_up`: as in Engine."""
        self._set_up = set_up
        self.game = GivenGame()
        self._reached: PlayedPosition | None = None
        """None: to be set up, under the rules that the options choose."""

    def option_was_set(self) -> None:
        """The rules of the game may be others now."""
        self._reached = None

    def set(self, text: str) -> None:
        """Set the game that follows `position`, or of one with an illegal move what comes before that.

        Raises PlayerError; `game` says then that it was refused.
        """
        sfen, moves = parse_position(text)
        before = self.game
        self.game = before._replace(refused=True)
        known = len(before.moves)
        # Setting up a long game anew, at every move, would cost milliseconds on the clock.
        position = self._reached
        if position is None or sfen != before.sfen or moves[:known] != before.moves:
            known = 0
            try:
                position = self._set_up(sfen)
            except ValueError as error:
                raise PlayerError(f"position: {error}") from None
        start = position.ply() - known
        try:
            play_moves(position, moves, known)
        finally:
            played = moves[: position.ply() - start]
            self.game = GivenGame(sfen, played, refused=len(played) < len(moves))
            self._reached = position

    def position(self, game: GivenGame | None = None) -> PlayedPosition:
        """The position that a game, or the present one, has led to, under the rules that the options choose now."""
        game = game or self.game
        if game is self.game and self._reached is not None:
            return self._reached.copy()
        position = self._set_up(game.sfen)
        play_moves(position, game.moves)
        return position
