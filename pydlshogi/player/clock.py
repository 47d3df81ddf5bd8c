"""When to stop: the one object that the reading thread and the search thread share. It knows no player and no search.

How long a move may take `allot.py` decides. All times are milliseconds.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class Limits:
    """What one `go` or `ponderhit` said. None: not given.

    Times may be negative: a GUI that takes an increment off the clock beforehand sends such numbers, and only the sum
    of clock, increment and byoyomi is what the move may cost.
    """

    btime: int | None = None
    wtime: int | None = None
    binc: int | None = None
    winc: int | None = None
    byoyomi: int | None = None
    movetime: float | None = None
    nodes: int | None = None
    mate: bool = False
    mate_time: int | None = None
    """Time for `go mate`. None: until `stop`."""
    searchmoves: tuple[str, ...] = ()
    infinite: bool = False
    """An analysis, which knows no book, no resignation, no sampled move and no early stop. It lasts until `stop`, or as
    long as `nodes` or `movetime` allow."""
    ponder: bool = False

    @property
    def timed(self) -> bool:
        """Whether a chess clock runs. A clock on which everything is zero is none: such GUIs play without time."""
        return any((self.btime, self.wtime, self.binc, self.winc, self.byoyomi))

    @property
    def in_time(self) -> bool:
        """Whether the answer is due by a clock of any kind."""
        return not self.infinite and (self.timed or self.movetime is not None or self.mate_time is not None)

    def with_times_of(self, other: "Limits") -> "Limits":
        """These limits, with the clocks, increments and byoyomi of `other`."""
        return replace(
            self,
            btime=other.btime,
            wtime=other.wtime,
            binc=other.binc,
            winc=other.winc,
            byoyomi=other.byoyomi,
        )

    def after(self, spent: float) -> "Limits":
        """These limits once a move has taken `spent` milliseconds.

        The clock gains its increment and loses what was spent; byoyomi pays for what it could not. Both clocks are
        changed alike, because limits do not know who moved: only that of the engine's own side is meant.
        """

        def left(clock: int | None, increment: int | None) -> int:
            rest = (clock or 0) + (increment or 0) - int(spent)
            return rest + min(max(0, -rest), self.byoyomi or 0)

        if not self.timed:
            return self
        return replace(self, btime=left(self.btime, self.binc), wtime=left(self.wtime, self.winc))


class Budget(NamedTuple):
    """What one move may cost: milliseconds since the clock began to run, and playouts."""

    minimum: float = 0.0
    """Before this, no thought of stopping early."""
    optimum: float = math.inf
    """Here the search normally ends."""
    extended: float = math.inf
    """The optimum when the best move is in doubt."""
    maximum: float = math.inf
    """Beyond this the game may be lost on time."""
    nodes: float = math.inf
    """Playouts."""


UNLIMITED: Final = Budget()
BudgetFunction: TypeAlias = Callable[[Limits], Budget]
"""What one move may cost under such limits: `allot`, given everything but the limits."""


def milliseconds() -> float:
    """Milliseconds on a clock that never goes back; only differences mean something."""
    return time.perf_counter() * 1000


class Clock:
    """One `go`: born when the line is read, stopped by one thread and asked by the other.

    The reading thread calls `stop` and `hit`; the thread that searches calls the rest, in this order:

        set_budget        what the move may cost is known
        start_thinking    all is ready: what came before is overhead
        end_thinking      the answer is still to be said; or `skip_thinking`: there was no time

    The move's own time runs from `go` on, or from `hit` where that was `go ponder`; `hit` may come at any moment.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        now: Callable[[], float] = milliseconds,
        stopped: threading.Event | None = None,
    ) -> None:
        """`stopped`: set to have the answer now, perhaps before this clock is made."""
        self.limits = limits or Limits()
        self._now = now
        self._budget_for: BudgetFunction = lambda _: UNLIMITED
        self._budget = UNLIMITED
        self._born = self._running_since = self._thinking_since = now()
        self._thought_until: float | None = None
        self.skipped = False
        """Whether nothing was thought."""
        self.pondering = self.limits.ponder
        self._extended = False
        self._lock = threading.Lock()
        """Held where limits, budget and times have to be those before `hit`, or those after it."""
        self._stopped = stopped or threading.Event()
        self._hit = threading.Event()
        self._released = threading.Event()
        if not self.limits.ponder:
            self._hit.set()
        if not (self.limits.ponder or self.limits.infinite):
            self._released.set()

    # The reading thread

    def stop(self) -> None:
        """End the search: the answer is wanted now."""
        self._stopped.set()
        self._hit.set()
        self._released.set()

    def hit(self, times: Limits | None = None) -> None:
        """The opponent played the expected move: the clock runs from now on.

        `times`: what `ponderhit` said. Its clocks, where it gives any, take the place of those of `go`.
        """
        with self._lock:
            if not self.pondering:
                return
            limits = replace(self.limits, ponder=False)
            if times and times.timed:
                limits = limits.with_times_of(times)
            if times and times.infinite:
                limits = replace(limits, infinite=True)
            self.limits = limits
            self._running_since = self._thinking_since = self._now()
            self._budget = self._budget_for(self.limits)
            self.pondering = False
        self._hit.set()
        if not self.limits.infinite:
            self._released.set()

    # The search thread

    def restart(self) -> None:
        """Count from now on: until now the engine was loading, and no GUI starts a clock before `readyok`."""
        with self._lock:
            self._born = self._running_since = self._now()

    def count_anew(self) -> None:
        """Let `elapsed` begin here: the playouts of another root are not counted any more. The move's time runs on."""
        self._born = self._now()

    def set_budget(self, budget_for: BudgetFunction) -> None:
        """Take the budget from `budget_for`, now and again at `hit`. Thinking begins now, or at `start_thinking`."""
        with self._lock:
            self._budget_for = budget_for
            self._budget = budget_for(self.limits)
            self._thinking_since = self._now()

    def start_thinking(self) -> None:
        """All is set up, and only now does the thinking begin. What came before it is spent on every move."""
        with self._lock:
            self._thinking_since = self._now()

    def skip_thinking(self) -> None:
        """There is no time to think: the answer will be any legal move."""
        self._thinking_since = self._thought_until = self._now()
        self.skipped = True

    def end_thinking(self) -> None:
        """The thinking has ended; the answer is still to be said."""
        self._thought_until = self._now()

    def answering(self) -> float:
        """Milliseconds since the thinking has ended."""
        return 0.0 if self._thought_until is None else self._now() - self._thought_until

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def analysing(self) -> bool:
        """The user asks for the best move and plays no game: no early stop, sampled move or resignation."""
        return self.limits.infinite or self.pondering or bool(self.limits.searchmoves)

    @property
    def hit_late(self) -> bool:
        """Whether the expected move was played when the thinking had ended already."""
        return self._thought_until is not None and self._thought_until < self._running_since

    @property
    def budget(self) -> Budget:
        """What the move may cost; nothing but playouts limits it while pondering."""
        with self._lock:
            return UNLIMITED._replace(nodes=self._budget.nodes) if self.pondering else self._budget

    def elapsed(self) -> float:
        """Milliseconds in which the playouts were made, for nps and `info time`: since `go`, or since `count_anew`."""
        return self._now() - self._born

    def spent(self) -> float:
        """Milliseconds of this move's own time: since `go`, or since `ponderhit`."""
        with self._lock:
            return 0.0 if self.pondering else self._now() - self._running_since

    def thought(self) -> float:
        """Milliseconds of this move's own time that were spent on thinking."""
        with self._lock:
            until = self._now() if self._thought_until is None else self._thought_until
            return max(0.0, until - self._thinking_since)

    def room(self, after: float = 0.0) -> float:
        """Milliseconds that one more batch may take: half of it ends before the optimum, and all of it, with
        `after` milliseconds for the answer, before the maximum."""
        budget, spent = self.budget, self.spent()
        return min(budget.maximum - after - spent, 2 * (budget.optimum - spent))

    def expired(self, playouts: int, latency: float = 0.0, after: float = 0.0) -> bool:
        """Whether to stop instead of evaluating one more batch, which will take `latency` milliseconds; `after`: see
        `room`.

        True once stopped, at the limit of `playouts`, which are those made since `go`, and where there is no room.
        """
        if self.stopped or playouts >= self.budget.nodes:
            return True
        room = self.room(after)
        return room <= 0 or latency > room

    def playouts_left(self, playouts: int) -> float:
        """How many more playouts to expect until the optimum, at the rate measured so far. Infinite without a limit."""
        budget = self.budget
        by_nodes = budget.nodes - playouts
        if math.isinf(budget.optimum):
            return max(0.0, by_nodes)
        elapsed = self.elapsed()
        if playouts <= 0 or elapsed <= 0:
            return max(0.0, by_nodes)
        return max(0.0, min(by_nodes, playouts / elapsed * (budget.optimum - self.spent())))

    @property
    def may_stop_early(self) -> bool:
        """Whether a decided move may be answered before the limit: never in analysis or while pondering, nor before as
        many playouts as `go` asked for."""
        if self.pondering or self.limits.infinite or self.limits.nodes is not None:
            return False
        return math.isinf(self.budget.optimum) or self.spent() >= self.budget.minimum

    @property
    def may_extend(self) -> bool:
        """Whether `extend` would give time: not a second time, and not where the budget allows none."""
        budget = self.budget
        return not self._extended and budget.extended > budget.optimum

    def extend(self) -> None:
        """Think on up to the extended optimum, once: the best move is in doubt."""
        with self._lock:
            self._extended = True
            self._budget = self._budget._replace(optimum=self._budget.extended)

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until stopped, at most `timeout` milliseconds; True if stopped."""
        return self._stopped.wait(None if timeout is None else timeout / 1000)

    def wait_until_hit(self) -> None:
        """Sleep until the opponent has moved, where that is pondered on, or until stopped."""
        self._hit.wait()

    def wait_until_released(self, timeout: float | None = None) -> bool:
        """Sleep until the answer may be given, at most `timeout` milliseconds; True if it may.

        `go infinite` and `go ponder` are not answered before that.
        """
        return self._released.wait(None if timeout is None else timeout / 1000)
