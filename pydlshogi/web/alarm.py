"""What happens at the board after some time, unless something else happens before. It knows no game."""

import threading
from collections.abc import Callable


class Alarm:
    """Rings once, in a thread of its own."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._timer: threading.Timer | None = None

    def set(self, seconds: float, ring: Callable[[], None]) -> None:
        """`ring` is called with the lock held in so many seconds, unless the alarm is put off or set anew before."""

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
