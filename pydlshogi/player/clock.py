"""How long to think, and when to stop: the one object the reading thread and the search thread share.

Deciding how long is a pure function, `allot`; stopping is a small object, `Clock`. Neither knows players, searches or
the protocol. All times are milliseconds.
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
    movetime: int | None = None
    nodes: int | None = None
    mate: bool = False
    mate_time: int | None = None
    """Time for `go mate`. None: until told to stop."""
    searchmoves: tuple[str, ...] = ()
    infinite: bool = False
    ponder: bool = False

    @property
    def timed(self) -> bool:
        """Whether a chess clock runs. A clock on which everything is zero is none: such GUIs play without time."""
        return any((self.btime, self.wtime, self.binc, self.winc, self.byoyomi))

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


class ClockSettings(NamedTuple):
    """What the user decided about time. Milliseconds, plies and playouts."""

    byoyomi_margin: int = 0
    """Held back from the byoyomi of every move."""
    time_margin: int = 1000
    """Held back from the clock when there is no byoyomi to fall back on."""
    network_delay: int = 400
    """What the way to the server and back may cost a move; at most a quarter of what the move may take."""
    minimum_thinking_time: int = 100
    """Thought about every move where the clock allows it."""
    whole_seconds: bool = False
    """The server counts whole seconds, rounded down: use up the second that is paid for anyway."""
    draw_ply: int = 0
    """Moves after which the game is drawn. 0: no such rule."""
    default_nodes: int = 0
    """Playouts for a `go` without any limit. 0: none, think until told to stop."""
    const_nodes: int = 0
    """Playouts for every move in place of the clock. 0: the clock decides."""
    most_nodes: int = 0
    """Playouts that a move costs at most, beside the clock. 0: as many as there is time for."""


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
Law: TypeAlias = Callable[[Limits], Budget]
"""What one move may cost under such limits: `allot`, told everything but the limits."""


def allot(limits: Limits, turn: int, ply: int, settings: ClockSettings) -> Budget:
    """What this move may cost.

    turn: 0 when Black moves, 1 when White does. ply: the number of the move to be played, 1 at the start of a game.

    The optimum is dlshogi's: remaining / divisor + increment, with divisor = 14 + max(0, 30 - ply), but no more than
    the plies left before `draw_ply`. Byoyomi counts as an increment, and no move stops before its byoyomi is used up,
    because it cannot be saved. The minimum without byoyomi, a tenth of the optimum, is dlshogi's too, and so is the
    extension to twice the optimum: after move 20, while more than that remains. The maximum is all that the move may
    cost, clock + increment + byoyomi, less the margins.
    """
    nodes = math.inf if limits.nodes is None else float(limits.nodes)
    if limits.mate:
        time_for_mate = math.inf if limits.mate_time is None else float(max(0, limits.mate_time))
        return Budget(time_for_mate, time_for_mate, time_for_mate, time_for_mate, nodes)
    if limits.infinite:
        return UNLIMITED._replace(nodes=nodes)
    if settings.const_nodes and limits.nodes is None and limits.movetime is None:
        return UNLIMITED._replace(nodes=float(settings.const_nodes))
    budget = _allot_time(limits, turn, ply, settings) if limits.timed else UNLIMITED
    if limits.movetime is not None:
        span = min(float(max(0, limits.movetime)), budget.maximum)
        budget = Budget(span, span, span, span)
    if budget is UNLIMITED and limits.nodes is None and settings.default_nodes:
        nodes = float(settings.default_nodes)
    if settings.most_nodes and limits.nodes is None and limits.movetime is None:
        nodes = min(nodes, settings.most_nodes)
    return budget._replace(nodes=nodes)


def _allot_time(limits: Limits, turn: int, ply: int, settings: ClockSettings) -> Budget:
    """The milliseconds of `allot`, where a chess clock runs.

    `remaining` is what is left for this and later moves together, `free` what this move gets on top of it.
    """
    clock = (limits.wtime if turn else limits.btime) or 0
    increment = max(0, (limits.winc if turn else limits.binc) or 0)
    byoyomi = max(0, limits.byoyomi or 0)
    # A clock below zero is one that an increment is missing from, or that has given way to the byoyomi.
    spendable = max(0, clock + increment) + byoyomi
    delay = min(settings.network_delay, spendable / 4)

    if byoyomi:
        held_back: float = settings.byoyomi_margin
        remaining = max(0.0, clock)
        free = max(0.0, byoyomi - settings.byoyomi_margin - delay) + increment
    else:
        # Of a short clock half may be spent: a reserve that is never touched loses on the board.
        held_back = min(settings.time_margin, spendable / 2)
        remaining = max(0.0, clock - settings.time_margin)
        free = increment
    maximum = max(0.0, spendable - delay - held_back)

    divisor = 14 + max(0, 30 - ply)
    if settings.draw_ply >= ply:
        divisor = min(divisor, settings.draw_ply - ply + 1)
    optimum = min(maximum, max(remaining / divisor + free, settings.minimum_thinking_time))
    if settings.whole_seconds:
        optimum = min(maximum, math.ceil((optimum + delay) / 1000) * 1000 - delay)
    minimum = max(optimum / 10, settings.minimum_thinking_time, free if byoyomi else 0.0)
    may_extend = ply > 20 and remaining > 2 * optimum
    return Budget(
        minimum=min(minimum, optimum),
        optimum=optimum,
        extended=min(maximum, 2 * optimum) if may_extend else optimum,
        maximum=maximum,
    )


def milliseconds() -> float:
    """Milliseconds on a clock that never goes back; only differences mean something."""
    return time.perf_counter() * 1000


class Clock:
    """One `go`: born when the line is read, stopped by one thread and asked by the other.

    The reading thread calls `stop` and `hit`; the thread that searches calls the rest.
    """

    def __init__(self, limits: Limits | None = None, now: Callable[[], float] = milliseconds) -> None:
        self.limits = limits or Limits()
        self.batch_latency = 0.0
        """What one batch of the network costs, as measured: see `record_batch`."""
        self._now = now
        self._law: Law = lambda _: UNLIMITED
        self._budget = UNLIMITED
        self._born = self._running_since = now()
        self._pondering = self.limits.ponder
        self._extended = False
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._released = threading.Event()
        if not (self.limits.ponder or self.limits.infinite):
            self._released.set()

    # The reading thread

    def stop(self) -> None:
        """End the search: the answer is wanted now."""
        self._stopped.set()
        self._released.set()

    def hit(self, times: Limits | None = None) -> None:
        """The opponent played the expected move: the clock runs from now on.

        `times`: what `ponderhit` said. Its clocks, where it gives any, take the place of those of `go`.
        """
        with self._lock:
            if not self._pondering:
                return
            limits = replace(self.limits, ponder=False)
            if times and times.timed:
                limits = limits.with_times_of(times)
            if times and times.infinite:
                limits = replace(limits, infinite=True)
            self.limits = limits
            self._running_since = self._now()
            self._budget = self._law(self.limits)
            self._pondering = False
        if not self.limits.infinite:
            self._released.set()

    # The search thread

    def restart(self) -> None:
        """Count from now on: until now the engine was loading, and no GUI starts a clock before `readyok`."""
        with self._lock:
            self._born = self._running_since = self._now()

    def govern(self, law: Law, batch_latency: float = 0.0) -> None:
        """Take the budget from `law`, now and again at `hit`. `batch_latency`: what a batch costs, as known so far."""
        with self._lock:
            self._law = law
            self._budget = law(self.limits)
            self.batch_latency = batch_latency

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def pondering(self) -> bool:
        return self._pondering

    @property
    def budget(self) -> Budget:
        """What the move may cost; nothing but playouts limits it while pondering."""
        with self._lock:
            return UNLIMITED._replace(nodes=self._budget.nodes) if self._pondering else self._budget

    def elapsed(self) -> float:
        """Milliseconds since `go`, for nps and `info time`."""
        return self._now() - self._born

    def spent(self) -> float:
        """Milliseconds of this move's own time: since `go`, or since `ponderhit`."""
        with self._lock:
            return 0.0 if self._pondering else self._now() - self._running_since

    def record_batch(self, took: float) -> None:
        """Note that a batch took so many milliseconds. A slow one counts at once, and fades over some fifty others."""
        self.batch_latency = max(took, 0.95 * self.batch_latency + 0.05 * took)

    def expired(self, playouts: int) -> bool:
        """Whether to stop instead of evaluating one more batch, `playouts` having been made since `go`.

        True once stopped, at the limit of playouts, when the next batch would end past the maximum, and when most of
        it would lie past the optimum. The first batch heeds only the maximum: a move without any opinion is the worst
        way to save time.
        """
        if self.stopped:
            return True
        budget = self.budget
        if playouts >= budget.nodes:
            return True
        spent = self.spent()
        if spent >= budget.maximum or spent + self.batch_latency > budget.maximum:
            return True
        return playouts > 0 and spent + self.batch_latency / 2 >= budget.optimum

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
        """Whether a decided move may be answered before the limit: never in analysis or while pondering."""
        if self.pondering or self.limits.infinite:
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

    def wait_until_released(self, timeout: float | None = None) -> bool:
        """Sleep until the answer may be given, at most `timeout` milliseconds; True if it may.

        `go infinite` and `go ponder` want no answer before they are told so.
        """
        return self._released.wait(None if timeout is None else timeout / 1000)
