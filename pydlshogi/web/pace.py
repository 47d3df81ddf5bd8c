"""How quickly a game of two engines goes on: people want to follow it. It knows no engine."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

PACES: Final = (3.0, 1.0, 0.0)
"""Seconds that a move is shown at least: slow, normal, fast."""


class Pace:
    """Of the game on the board."""

    def __init__(self, lock: threading.RLock) -> None:
        self.seconds = PACES[1]
        self.paused = False
        self._lock = lock
        self._since = 0.0
        """When the last move was made, on the monotonic clock."""
        self._alarm: threading.Timer | None = None
        """For when the next move may be shown."""

    def moved(self) -> None:
        """Another move is shown from now on."""
        self._since = time.monotonic()

    def hold(self, play: Callable[[], None]) -> None:
        """`play` is called with the lock held once the last move has been shown long enough, unless it is dropped."""

        def ring() -> None:
            with self._lock:
                if self._alarm is alarm:
                    play()

        self.drop()
        alarm = self._alarm = threading.Timer(max(0.0, self._since + self.seconds - time.monotonic()), ring)
        alarm.daemon = True
        alarm.start()

    def drop(self) -> None:
        """What is held is not played."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def state(self) -> dict[str, Any]:
        """What a page shows of it."""
        return {"seconds": self.seconds, "paused": self.paused}
