"""The engine in a thread of its own: positions in, thoughts out. It knows no server."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pydlshogi.game import PlayedPosition
from pydlshogi.player.ask import Thought, ask
from pydlshogi.player.base_player import Engine, any_move
from pydlshogi.player.clock import Clock, Limits

log = logging.getLogger(__package__)


class Thinker:
    """One search after the other."""

    def __init__(self, engine: Engine) -> None:
        """Load the engine. Raises PlayerError."""
        self._player = engine.load()
        self.remarks = self._player.prepare()
        self._thread = ThreadPoolExecutor(1, "thinker")

    def new_game(self) -> None:
        """What comes next is another game."""
        self._thread.submit(self._player.new_game)

    def think(self, position: PlayedPosition, limits: Limits, tell: Callable[[Thought], None]) -> Clock:
        """Begin to think; another thread calls `tell`. The clock stops it, or says that the expected move was played.

        An engine that fails costs a line in the log and plays any move.
        """
        clock = Clock(limits)
        self._thread.submit(self._think, position.copy(), clock, tell)
        return clock

    def close(self) -> None:
        """Once no search is under way."""
        self._thread.shutdown()

    def _think(self, position: PlayedPosition, clock: Clock, tell: Callable[[Thought], None]) -> None:
        try:
            thought = ask(self._player, position, clock)
        except Exception:
            log.exception("a defect, please report it")
            thought = Thought(clock, any_move(position).move)
            clock.wait_until_released()
        tell(thought)
        self._player.answered(position, clock)
