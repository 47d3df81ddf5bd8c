"""The clocks of what was asked for and is not answered yet, shared by the reading thread and the worker."""

import threading

from pydlshogi.player.clock import Clock, Limits


class Clocks:
    """Each command that takes time has a clock, by which `stop` ends it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches: list[Clock] = []
        self._questions: list[Clock] = []
        self._last_times = Limits()
        """What is left to the players, as far as known, for a `ponderhit` that does not say."""

    def of_search(self, limits: Limits) -> Clock:
        """For a `go`. One that ponders without times gets the last times known."""
        with self._lock:
            if limits.timed:
                self._last_times = limits
            elif limits.ponder:
                limits = limits.with_times_of(self._last_times)
            clock = Clock(limits)
            self._searches.append(clock)
        return clock

    def of_question(self) -> Clock:
        """For a question of people."""
        with self._lock:
            self._questions.append(Clock())
            return self._questions[-1]

    @property
    def searching(self) -> bool:
        """Whether there is a search that is neither answered nor stopped."""
        with self._lock:
            return any(not clock.stopped for clock in self._searches)

    def stop(self) -> None:
        """Stop all that is under way."""
        with self._lock:
            for clock in [*self._searches, *self._questions]:
                clock.stop()

    def stop_endless(self, *, questions: bool) -> None:
        """Stop the searches that would not end by themselves, and the `questions` too if so wanted."""
        with self._lock:
            for clock in self._searches:
                limits = clock.limits
                if limits.infinite or limits.ponder or (limits.mate and limits.mate_time is None):
                    clock.stop()
            for clock in self._questions if questions else ():
                clock.stop()

    def hit(self, times: Limits) -> None:
        """The expected move was played."""
        with self._lock:
            if times.timed:
                self._last_times = times
            for clock in self._searches:
                clock.hit(times)

    def new_game(self) -> None:
        """Forget what was left to the players."""
        with self._lock:
            self._last_times = Limits()

    def searched(self, clock: Clock) -> None:
        """The search of this clock is answered."""
        with self._lock:
            self._searches.remove(clock)
            # Taken off `_last_times`: a `ponderhit` that comes without times goes by those.
            if clock.limits == clock.limits.with_times_of(self._last_times):
                self._last_times = self._last_times.after(clock.spent())

    def answered(self, clock: Clock) -> None:
        """The question of this clock is answered."""
        with self._lock:
            self._questions.remove(clock)
