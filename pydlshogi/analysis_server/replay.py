"""A game of which several positions are looked at: each costs only the moves between it and the last one."""

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import Engine, PlayerError, play_moves


class Replay:
    """The last game looked at, as far as it has been played."""

    def __init__(self) -> None:
        self._game: tuple[Engine, str | None, tuple[str, ...]] | None = None
        self._position: PlayedPosition
        self._keys: list[int] = []
        """Of all positions up to the present one."""

    @property
    def repetitions(self) -> int:
        """How often the present position was there before."""
        return self._keys.count(self._keys[-1]) - 1

    def position(self, engine: Engine, start: str | None, moves: tuple[str, ...], turn: int) -> PlayedPosition:
        """The position after `turn` of the moves, under the rules of the engine; it may not be changed.

        Games are distinguished by the object `moves`. Raises PlayerError.
        """
        game = engine, start, moves
        before, self._game = self._game, None
        if before is None or any(new is not old for new, old in zip(game, before, strict=True)):
            try:
                self._position = engine.set_up(start)
            except ValueError as error:
                raise PlayerError(str(error)) from error
            self._keys = [self._position.key()]
        while len(self._keys) > turn + 1:
            self._position.pop()
            self._keys.pop()
        for played in range(len(self._keys) - 1, turn):
            play_moves(self._position, moves[: played + 1], played)
            self._keys.append(self._position.key())
        self._game = game
        return self._position

    def forget(self) -> None:
        """The position may have been changed."""
        self._game = None
