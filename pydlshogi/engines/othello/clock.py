"""How long to think, and when to stop: the one object that the thread that reads and the one that thinks share.

Deciding how long is a pure function, `allot`. It knows no engines and no protocol. Times are seconds.
"""

import math
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

SOLVED_FROM: Final = 20
"""With so many empty squares an end game is solved, and the moves after that cost next to nothing."""
MARGIN: Final = 0.1
"""Held back of every limit, though never more than a quarter of it: pipes and a busy machine take their time."""
LOST: Final = 0.02
"""Held back of the main time for each move to come, where no byoyomi follows: what it may cost beside the thinking."""


class Effort(NamedTuple):
    """What a move may cost. None: that does not limit it."""

    level: int | None = None
    """How deep to search."""
    optimum: float | None = None
    """When not to begin anything that would take longer."""
    maximum: float | None = None
    """When the answer is due."""
    nodes: float = math.inf
    """How many positions to look at, as far as the engine counts them on the way."""


class TimeLeft(NamedTuple):
    """A side's clock as GTP has it: main time, after it so many seconds for each so many moves, again and again."""

    main: float
    byoyomi: float = 0.0
    stones: int = 0
    """Moves that are still to be made within `byoyomi`; 0: there is none."""

    def after(self, seconds: float, settings: "TimeLeft") -> "TimeLeft":
        """What is left after a move that took so long; a new period of byoyomi is that of `settings`."""
        main = self.main - seconds
        if main > 0 or not self.stones:
            return self._replace(main=max(0.0, main))
        if self.stones == 1:
            return settings._replace(main=0.0)
        return TimeLeft(0.0, max(0.0, self.byoyomi + main), self.stones - 1)


def allot(left: TimeLeft, empties: int) -> Effort:
    """What a move may cost with `empties` empty squares on the board.

    Main time is divided by the moves until the end is solved, of which two are for solving it. Byoyomi comes on top,
    divided by its moves; of a single move's it is no use to leave anything.
    """
    main = left.main if left.stones else max(0.0, left.main - LOST * (empties + 1) / 2)
    moves = max(0, empties - SOLVED_FROM) / 2 + 2
    free = left.byoyomi / left.stones if left.stones else 0.0
    whole = main + free
    due = max(0.0, whole - min(MARGIN, whole / 4))
    share = main / moves + free
    maximum = min(due, share * (1 if left.stones == 1 and not left.main else 2))
    return Effort(optimum=min(share, maximum), maximum=maximum)


class Clock:
    """One question to an engine: born when it is asked, stopped by one thread and looked at by the other."""

    def __init__(
        self,
        effort: Effort,
        interrupted: threading.Event | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`interrupted`: the answer is wanted now."""
        self.effort = effort
        self._now = now
        self._born = now()
        self._stopped = interrupted or threading.Event()

    @property
    def elapsed(self) -> float:
        """Seconds since the question."""
        return self._now() - self._born

    def expired(self) -> bool:
        """Whether the answer is due."""
        maximum = self.effort.maximum
        return self._stopped.is_set() or (maximum is not None and self.elapsed >= maximum)

    def too_late_for(self, seconds: float) -> bool:
        """Whether not to begin what is expected to take so long."""
        optimum = self.effort.optimum
        return self.expired() or (optimum is not None and self.elapsed + seconds > optimum)
