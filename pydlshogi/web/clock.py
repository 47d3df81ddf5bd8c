"""Time at the board: the clock that hangs by it, and the pace of two engines. It knows no engine."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from pydlshogi.player.clock import Limits
from pydlshogi.web.played import TableGame
from pydlshogi.web.tree import Node

PACES: Final = (3.0, 1.0, 0.0)
"""Seconds that a move is shown at least where two engines play: slow, normal, fast."""
ANSWER: Final = 0.5
"""Seconds that a person's move is seen before the engine answers."""


class Alarm:
    """Rings once, in a thread of its own, unless something else happens before."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._timer: threading.Timer | None = None

    def set(self, seconds: float, ring: Callable[[], None]) -> None:
        """`ring` is called in `seconds`, with the lock held, unless the alarm is put off or set anew before."""

        def rung() -> None:
            with self._lock:
                if self._timer is timer:
                    ring()

        self.put_off()
        timer = self._timer = threading.Timer(max(0.0, seconds), rung)
        timer.daemon = True
        timer.start()

    def put_off(self) -> None:
        """It does not ring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class TurnClock:
    """Measures how long the side to move takes at the end of the line shown.

    A person's clock runs once a page has come. An engine's stands until the engine begins to think, as it may have to
    be loaded or to wait for another search; while somebody looks back it does not think at all.
    """

    def __init__(self, lock: threading.RLock, time_is_up: Callable[[], None]) -> None:
        """`time_is_up` is called from a thread of its own with the lock held."""
        self.attended = False
        """A page has come."""
        self._alarm = Alarm(lock)
        """For when the side to move has used up its time."""
        self._time_is_up = time_is_up
        self._node: Node | None = None
        """Where the clock runs; None: it stands."""
        self._since = 0.0
        """On the monotonic clock, in seconds."""

    def follow(self, game: TableGame) -> None:
        """The game has changed, or another is shown."""
        if self._node is not game.tip:
            self.stand()
        running = running_side(game)
        if running is None or game.sides[running] or not self.attended:
            self.stand()
        elif self._node is None:
            self.run(game)

    def run(self, game: TableGame) -> None:
        """The side to move begins to think, or goes on."""
        self.stand()
        if game.clock is None:
            return
        self._node, self._since = game.tip, time.monotonic()
        left = game.main_left()[game.tip.turn] + game.clock.byoyomi - game.tip.spent
        self._alarm.set(left, self._time_is_up)

    def stand(self) -> None:
        """Stop, and keep what was spent with the position."""
        if self._node is not None:
            self._node.spent = self.spent(self._node)
            self._node = None
        self._alarm.put_off()

    def spent(self, node: Node) -> float:
        """Seconds that the side to move has taken for its move there so far."""
        return node.spent + (time.monotonic() - self._since if node is self._node else 0.0)

    def state(self, game: TableGame) -> dict[str, Any] | None:
        """What a page shows of it; None where the game has no clock."""
        if game.clock is None:
            return None
        running = running_side(game)
        return {
            "main": game.clock.main,
            "left": game.main_left(),
            "byoyomi": game.clock.byoyomi,
            "running": running,
            "spent": 0.0 if running is None else self.spent(game.tip),
            "stands": self._node is None,
        }

    def limits(self, game: TableGame) -> Limits | None:
        """What it still allows the side to move."""
        if game.clock is None:
            return None
        left, turn = game.main_left(), game.tip.turn
        main = left[turn] - self.spent(game.tip)
        left[turn] = max(0.0, main)
        byoyomi = max(0.0, game.clock.byoyomi + min(0.0, main))
        black, white = (round(1000 * seconds) for seconds in left)
        return Limits(btime=black, wtime=white, byoyomi=round(1000 * byoyomi))


def running_side(game: TableGame) -> int | None:
    """Whose turn the clock measures; None where there is none, or the game has ended."""
    return None if game.clock is None or game.tip.ending else game.tip.turn


class Pace:
    """How quickly engines move: people want to follow it."""

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

    def hold(self, seconds: float, play: Callable[[], None]) -> None:
        """`play` is called with the lock held once the last move has been shown so long, unless it is dropped."""
        if (wait := self._since + seconds - time.monotonic()) > 0:
            self._alarm.set(wait, play)
        else:
            play()

    def drop(self) -> None:
        """What is held is not played."""
        self._alarm.put_off()

    def state(self) -> dict[str, Any]:
        """What a page shows of it."""
        return {"seconds": self.seconds, "paused": self.paused}
