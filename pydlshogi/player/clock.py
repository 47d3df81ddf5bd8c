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

    @property
    def in_time(self) -> bool:
        """Whether the answer is due by a clock of any kind."""
        return self.timed or self.movetime is not None or self.mate_time is not None

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
    """Held back from the clock when there is no byoyomi to fall back on; at most half of the clock."""
    network_delay: int = 400
    """What the way to the server and back may cost a move; at most a quarter of what the move may take."""
    minimum_thinking_time: int = 100
    """Thought about every move where the byoyomi, or its share of the clock, allows it."""
    whole_seconds: bool = False
    """The server counts whole seconds, rounded down: use up the second that is counted anyway."""
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
BudgetFunction: TypeAlias = Callable[[Limits], Budget]
"""What one move may cost under such limits: `allot`, told everything but the limits."""


_LONGEST_GAME: Final = 512
"""Plies for which a clock without byoyomi should last where no `draw_ply` ends the game before."""
ORDINARY_GAME: Final = 256
"""Plies in which every move is to be looked at by the network; after them some may be answered without."""
_CAUTION: Final = 1.6
"""So many times the overhead of the moves to come is held back: it is the mean of a few moves."""
_DOUBTFUL: Final = 2.5
"""What is held back for answers at once may be so many times too much: only then nothing helps."""
_AT_ONCE: Final = 2.0
"""Milliseconds that an answer at once takes even on a busy machine, where the GUI is not far away. What moves that were
thought about have cost beside the thinking says little of it: whoever has thought waits for the processor."""


def allot(
    limits: Limits,
    turn: int,
    ply: int,
    settings: ClockSettings,
    overhead: float = 0.0,
    look: float = 0.0,
    at_once: float = math.inf,
) -> Budget:
    """What this move may cost.

    turn: 0 when Black moves, 1 when White does. ply: the number of the move to be played, 1 at the start of a game.
    overhead: what a move costs beside the thinking. look: what one look of the network takes. at_once: what is
    held back for a move that is answered without a look, where that is known.

    The optimum is dlshogi's: remaining / divisor + increment, with divisor = 14 + max(0, 30 - ply), but no more than
    the plies left before `draw_ply`. Byoyomi counts as an increment, and no move stops before its byoyomi is used up,
    because it cannot be saved. The minimum without byoyomi, a tenth of the optimum, is dlshogi's too, and so is the
    extension to twice the optimum: after move 20, while more than that remains. The maximum is all that the move may
    cost, clock + increment + byoyomi, less the margins.

    Without byoyomi, the margin or, if that is more, the overheads of all moves that may still come and the looks at
    those of an ordinary game are held back: so what is thought decays, and the clock outlasts the longest game. If in
    an ordinary game the overheads alone would use it up, nothing helps in one so long: an eighth of the clock remains,
    enough to play the ordinary one, and is the maximum. What answers at once would take is never thought away.
    """
    nodes = math.inf if limits.nodes is None else float(limits.nodes)
    if limits.mate:
        time_for_mate = math.inf if limits.mate_time is None else float(max(0, limits.mate_time))
        return Budget(time_for_mate, time_for_mate, time_for_mate, time_for_mate, nodes)
    if limits.infinite:
        return UNLIMITED._replace(nodes=nodes)
    if settings.const_nodes and limits.nodes is None and limits.movetime is None:
        return UNLIMITED._replace(nodes=float(settings.const_nodes))
    budget = _allot_time(limits, turn, ply, settings, overhead, look, at_once) if limits.timed else UNLIMITED
    if limits.movetime is not None:
        span = min(float(max(0, limits.movetime)), budget.maximum)
        budget = Budget(span, span, span, span)
    if budget is UNLIMITED and limits.nodes is None and settings.default_nodes:
        nodes = float(settings.default_nodes)
    if settings.most_nodes and limits.nodes is None and limits.movetime is None:
        nodes = min(nodes, settings.most_nodes)
    return budget._replace(nodes=nodes)


def _allot_time(
    limits: Limits, turn: int, ply: int, settings: ClockSettings, overhead: float, look: float, at_once: float
) -> Budget:
    """The milliseconds of `allot`, where a chess clock runs.

    `remaining` is what is left for this and later moves together, `free` what this move gets on top of it, `answers`
    what must be left to answer all later moves at once.
    """
    clock = (limits.wtime if turn else limits.btime) or 0
    increment = max(0, (limits.winc if turn else limits.binc) or 0)
    byoyomi = max(0, limits.byoyomi or 0)
    # A clock below zero is one that an increment is missing from, or that has given way to the byoyomi.
    spendable = max(0, clock + increment) + byoyomi
    delay = min(settings.network_delay, spendable / 4)
    byoyomi_margin = min(settings.byoyomi_margin, byoyomi / 2)
    divisor = 14 + max(0, 30 - ply)
    last_ply = _LONGEST_GAME
    if settings.draw_ply and settings.draw_ply >= ply:
        last_ply = settings.draw_ply
        divisor = min(divisor, last_ply - ply + 1)

    if byoyomi:
        remaining = max(0.0, clock)
        free = max(0.0, byoyomi - byoyomi_margin - delay) + increment
        least = settings.minimum_thinking_time
        maximum = max(0.0, spendable - delay - byoyomi_margin)
    else:
        moves_left = max(0, last_ply - ply) // 2 + 24  # too many: any one may cost much more than the mean
        looks_left = max(0, min(last_ply, ORDINARY_GAME) - ply) // 2
        free = max(0.0, increment - overhead)
        least = 0
        overheads = moves_left * max(0.0, _CAUTION * overhead - increment)
        margin = min(settings.time_margin, spendable / 2)
        remaining = max(0.0, clock - max(margin, overheads + looks_left * max(0.0, look - free)))
        known = at_once < math.inf
        least_answer = at_once / _DOUBTFUL if known else overhead
        too_little = bool(looks_left) and moves_left * (least_answer - increment) > spendable
        answer = at_once if known and not too_little else min(overhead, _AT_ONCE)
        answers = moves_left * max(0.0, answer - increment) if looks_left else overheads
        # No less than 1: 0 would mean that nothing can be lost any more.
        maximum = min(spendable - delay - margin, max(1.0, spendable - answers))
        if too_little:
            remaining = maximum = min(maximum, max(0, clock) / 8)
    optimum = min(maximum, max(remaining / divisor + free, least))
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

    def __init__(
        self,
        limits: Limits | None = None,
        now: Callable[[], float] = milliseconds,
        stopped: threading.Event | None = None,
    ) -> None:
        """`stopped`: set by whoever wants the answer now, perhaps before there is this clock."""
        self.limits = limits or Limits()
        self._now = now
        self._budget_for: BudgetFunction = lambda _: UNLIMITED
        self._budget = UNLIMITED
        self._born = self._running_since = self._thinking_since = now()
        self._thought_until: float | None = None
        self.skipped = False
        """Whether nothing was thought."""
        self._pondering = self.limits.ponder
        self._extended = False
        self._lock = threading.Lock()
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
            if not self._pondering:
                return
            limits = replace(self.limits, ponder=False)
            if times and times.timed:
                limits = limits.with_times_of(times)
            if times and times.infinite:
                limits = replace(limits, infinite=True)
            self.limits = limits
            self._running_since = self._thinking_since = self._now()
            self._budget = self._budget_for(self.limits)
            self._pondering = False
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

    def begin(self, budget_for: BudgetFunction) -> None:
        """Take the budget from `budget_for`, now and again at `hit`. The thinking begins."""
        with self._lock:
            self._budget_for = budget_for
            self._budget = budget_for(self.limits)
            self._thinking_since = self._now()

    def think(self) -> None:
        """All is ready, and only now does the thinking begin. What came before it is spent on every move."""
        with self._lock:
            self._thinking_since = self._now()

    def skip(self) -> None:
        """There is no time to think: the answer is said without."""
        self._thinking_since = self._thought_until = self._now()
        self.skipped = True

    def settle(self) -> None:
        """The thinking has ended; the answer is still to be said."""
        self._thought_until = self._now()

    def answering(self) -> float:
        """Milliseconds since the thinking has ended."""
        return 0.0 if self._thought_until is None else self._now() - self._thought_until

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def pondering(self) -> bool:
        return self._pondering

    @property
    def hit_late(self) -> bool:
        """Whether the expected move was played when the thinking had ended already."""
        return self._thought_until is not None and self._thought_until < self._running_since

    @property
    def budget(self) -> Budget:
        """What the move may cost; nothing but playouts limits it while pondering."""
        with self._lock:
            return UNLIMITED._replace(nodes=self._budget.nodes) if self._pondering else self._budget

    def elapsed(self) -> float:
        """Milliseconds in which the playouts were made, for nps and `info time`: since `go`, or since `count_anew`."""
        return self._now() - self._born

    def spent(self) -> float:
        """Milliseconds of this move's own time: since `go`, or since `ponderhit`."""
        with self._lock:
            return 0.0 if self._pondering else self._now() - self._running_since

    def thought(self) -> float:
        """Milliseconds of this move's own time that were spent on thinking."""
        with self._lock:
            until = self._now() if self._thought_until is None else self._thought_until
            return max(0.0, until - self._thinking_since)

    def room(self, after: float = 0.0) -> float:
        """Milliseconds that one more batch may take: half of it has to lie before the optimum, and all of it, with the
        `after` milliseconds that the answer takes, before the maximum."""
        budget, spent = self.budget, self.spent()
        return min(budget.maximum - after - spent, 2 * (budget.optimum - spent))

    def expired(self, playouts: int, latency: float = 0.0, after: float = 0.0) -> bool:
        """Whether to stop instead of evaluating one more batch, which will take `latency` milliseconds.

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

        `go infinite` and `go ponder` want no answer before they are told so.
        """
        return self._released.wait(None if timeout is None else timeout / 1000)
