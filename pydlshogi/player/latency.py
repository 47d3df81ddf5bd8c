"""What batches take, and what moves cost beside the thinking, as those before have shown. Times are milliseconds."""

import math
from collections import deque
from typing import Final

from pydlshogi.player.allot import ORDINARY_GAME
from pydlshogi.player.clock import Clock, Limits


class WindowedMaximum:
    """The largest of the last sixteen numbers; the second largest where the largest is more than twice that."""

    def __init__(self, expected: float) -> None:
        self._numbers = deque([expected, expected], maxlen=16)
        self.value = expected

    def note(self, number: float) -> None:
        """Add a number."""
        self._numbers.append(number)
        second, worst = sorted(self._numbers)[-2:]
        self.value = worst if worst <= 2 * second else second


_SLICE: Final = 4.0
"""Milliseconds that a busy machine may let a thread wait, however little that has to do."""


class Latency:
    """What a batch will take: as long as on an idle machine, times how much slower batches were of late.

    How much slower, if a slice is added to both times, was measured to be the same for batches of all sizes.
    """

    def __init__(self, one: float = 0.0, full: float = 0.0, size: int = 1) -> None:
        """`one`, `full`: milliseconds that a batch of one position and one of `size` take on an idle machine."""
        self._before = one + _SLICE
        self._each = max(0.0, (full - one) / max(1, size - 1))
        self._slowdowns = WindowedMaximum(1.0)

    @property
    def slowdown(self) -> float:
        """How many times as long as on an idle machine a batch may take."""
        return self._slowdowns.value

    def of(self, positions: int) -> float:
        """Milliseconds to expect of a batch of `positions`."""
        return max(0.0, self.slowdown * self._idle(positions) - _SLICE)

    def fitting(self, room: float, most: int) -> int:
        """The largest batch, up to `most`, that should take no more than half of `room` milliseconds: then the clock is
        read once more in time. Where one position alone takes more than half, small batches do not help: `most`."""
        half = (room / 2 + _SLICE) / self.slowdown  # asked once: another thread may change it
        if half < self._idle(1) or half >= self._idle(most):
            return most
        return 1 + int((half - self._before) / self._each)

    def record(self, positions: int, took: float) -> None:
        """Note that a batch of `positions` took `took` milliseconds."""
        self._slowdowns.note((took + _SLICE) / self._idle(positions))

    def decay(self) -> None:
        """Note that there was no time for one position: the slowdown is forgotten bit by bit, or no later move would
        get an evaluation."""
        self._slowdowns.note(1.0)

    def _idle(self, positions: int) -> float:
        return self._before + self._each * (positions - 1)


_BUSY: Final = 2.0
"""Slowdown from which a machine counts as busy."""
_ACCIDENT: Final = 1000.0
"""Milliseconds. A move that loses more was held up by something that no reserve is made for."""
_TRUSTED: Final = 4
"""From this number of measured moves on, their mean has at least half of the weight; the rest has a guess."""
_CAREFUL: Final = 1.2
"""How many times the mean cost of a move answered at once is held back for each."""


class _RecentMean:
    """The mean of the last numbers."""

    def __init__(self, most: int, guess: float | None = None) -> None:
        """`most`: how many numbers count, at most. `guess` counts as one number."""
        self.most, self.value, self.count = most, guess or 0.0, int(guess is not None)

    def note(self, number: float) -> None:
        """Add a number."""
        self.count = min(self.count + 1, self.most)
        self.value += (number - self.value) / self.count


class Overhead:
    """What a move costs beside the thinking: before it, after it, and on the way to the GUI and back.

    The clocks that the GUI sends show it: the time that is gone from them and was not spent on thinking.
    """

    def __init__(self) -> None:
        self._missing = _RecentMean(64, guess=2.0)
        """Milliseconds that a move costs beside the thinking; at first what an idle machine was seen to need."""
        self._skipped = _RecentMean(16)
        """The same, for moves that were answered at once."""
        self._left = Limits()
        """What the clock should show at the next move if the last one had cost nothing beside the thinking."""
        self._ply = 0
        """The number of that next move."""
        self._has_skipped = False
        """The move before that was answered at once."""

    @property
    def mean(self) -> float:
        """Milliseconds, over the last moves."""
        return max(0.0, self._missing.value)

    def at_once(self, slowdown: float, ply: int) -> float:
        """Milliseconds to hold back for a move that is answered at once, where batches take `slowdown` times as long as
        on an idle machine, and the move of number `ply` is next. Infinity: it is not known.

        It is what such moves have cost. While there are few, it is a guess on a busy machine. Early in a game the guess
        is half of the mean: after a search an answer waits longer for the processor. Towards the end of an ordinary
        game it is all of the mean: too low a guess would lose the game.
        """
        skipped = self._skipped
        if slowdown < _BUSY and skipped.count < _TRUSTED:
            return math.inf
        guess = self.mean * (1 + min(1.0, ply / ORDINARY_GAME)) / 2
        share = skipped.count / (skipped.count + _TRUSTED)
        return share * _CAREFUL * max(0.0, skipped.value) + (1 - share) * guess

    def answered(self, clock: Clock, ply: int) -> None:
        """The move of number `ply` has been said."""
        if not clock.pondering:
            self._left = clock.limits.after(clock.thought())
            self._ply = ply + 2
            self._has_skipped = clock.skipped

    def asked(self, limits: Limits, turn: int, ply: int) -> None:
        """`limits` came with a `go` for the move of number `ply`."""
        expected, given = (each.wtime if turn else each.btime for each in (self._left, limits))
        # What comes with `go ponder` may be the engine's own guess.
        if ply == self._ply and not limits.ponder and expected is not None and given is not None:
            # A GUI that sends whole seconds is as often ahead of the clock as behind it.
            missing = min(max(-_ACCIDENT, expected - given), _ACCIDENT)
            self._missing.note(missing)
            if self._has_skipped:
                self._skipped.note(missing)
