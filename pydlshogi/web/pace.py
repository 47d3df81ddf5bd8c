"""How quickly a game of two engines goes on: people want to follow it. It knows no engine."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from pydlshogi.web.alarm import Alarm

PACES: Final = (3.0, 1.0, 0.0)
"""Seconds that a move is shown at least: slow, normal, fast."""


class Pace:
    """Of the game on the board."""

    def __init__(self, lock: threading.RLock) -> None:
        self.seconds = PACES[1]
        self.paused = False
        self._since = 0.0
        """When the last move was made, on the monotonic clock."""
        self._alarm = Alarm(lock)
        """For when the next move may be shown."""

    def moved(self) -> None:
        """Another move is shown from now on."""
        self._since = time.monotonic()

    def hold(self, play: Callable[[], None]) -> None:
        """`play` is called with the lock held once the last move has been shown long enough, unless it is dropped."""
        self._alarm.set(self._since + self.seconds - time.monotonic(), play)

    def drop(self) -> None:
        """What is held is not played."""
        self._alarm.put_off()

    def state(self) -> dict[str, Any]:
        """What a page shows of it."""
        return {"seconds": self.seconds, "paused": self.paused}
