"""How long a move may take: a pure function of limits, settings and what moves have cost so far. Milliseconds."""

import math
from typing import Final, NamedTuple

from pydlshogi.player.clock import UNLIMITED, Budget, Limits


class ClockSettings(NamedTuple):
    """What the user decided about time: first the options of these names, see `ClockOptions`. Milliseconds, plies and
    playouts."""

    byoyomi_margin: int = 0
    time_margin: int = 1000
    network_delay: int = 400
    minimum_thinking_time: int = 100
    whole_seconds: bool = False
    draw_ply: int = 0
    default_nodes: int = 0
    """Playouts for a `go` without any limit. 0: none, think until `stop`."""
    const_nodes: int = 0
    """Playouts for every move in place of the clock. 0: the clock decides."""
    most_nodes: int = 0
    """Playouts that a move costs at most, beside the clock. 0: as many as there is time for."""


TIME_OPTIONS: Final = ClockSettings._fields[:6]


class Costs(NamedTuple):
    """What has been measured of the moves of this game."""

    overhead: float = 0.0
    """What a move costs beside the thinking."""
    evaluation: float = 0.0
    """What one evaluation by the network takes."""
    at_once: float = math.inf
    """What is held back for a move that is answered without an evaluation; infinite: not known."""


NO_COSTS: Final = Costs()
_LONGEST_GAME: Final = 512
"""Plies for which a clock without byoyomi should last where no `draw_ply` ends the game before."""
ORDINARY_GAME: Final = 256
"""Plies in which the network is to evaluate every move; later moves may be answered without an evaluation."""
_CAUTION: Final = 1.6
"""How many times the overhead of later moves is held back: it is the mean of a few moves only."""
_DOUBTFUL: Final = 2.5
"""How many times the cost of an answer at once may be overestimated. The clock counts as lost only if it is too short
for answers at the cost divided by this."""
_AT_ONCE: Final = 2.0
"""Milliseconds that an answer at once takes even on a busy machine, where the GUI is not far away. The overhead of a
move that was thought about says little of it: after a search the answer waits for the processor."""


def allot(limits: Limits, turn: int, ply: int, settings: ClockSettings, costs: Costs = NO_COSTS) -> Budget:
    """What this move may cost.

    turn: 0 when Black moves, 1 when White does. ply: the number of the move to be played, 1 at the start of a game.

    The optimum is dlshogi's: remaining / divisor + increment, with divisor = 14 + max(0, 30 - ply), but no more than
    the plies left before `draw_ply`. Byoyomi counts as an increment, and no move stops before its byoyomi is used up,
    because it cannot be saved. The minimum without byoyomi, a tenth of the optimum, is dlshogi's too, and so is the
    extension to twice the optimum: after move 20, while more than that remains. The maximum is all that the move may
    cost, clock + increment + byoyomi, less the margins.

    Without byoyomi a part of the clock is held back: the margin or, if that is more, what all later moves may cost
    beside the thinking, and an evaluation of each move of an ordinary game. So moves get less and less time, and the
    clock outlasts the longest game. What it takes to answer all later moves at once is never spent on thinking. Where
    the clock is too short even for that, an eighth of it is the maximum: enough to end a game of ordinary length.
    """
    nodes = math.inf if limits.nodes is None else float(limits.nodes)
    if limits.mate:
        time_for_mate = math.inf if limits.mate_time is None else float(max(0, limits.mate_time))
        return Budget(time_for_mate, time_for_mate, time_for_mate, time_for_mate, nodes)
    if limits.infinite:
        # Without a maximum: however short the time, one batch is evaluated.
        span = math.inf if limits.movetime is None else float(max(0, limits.movetime))
        return Budget(optimum=span, extended=span, nodes=nodes)
    if settings.const_nodes and limits.nodes is None and limits.movetime is None:
        return UNLIMITED._replace(nodes=float(settings.const_nodes))
    budget = _allot_time(limits, turn, ply, settings, costs) if limits.timed else UNLIMITED
    if limits.movetime is not None:
        span = min(float(max(0, limits.movetime)), budget.maximum)
        budget = Budget(span, span, span, span)
    if budget is UNLIMITED and limits.nodes is None and settings.default_nodes:
        nodes = float(settings.default_nodes)
    if settings.most_nodes and limits.nodes is None and limits.movetime is None:
        nodes = min(nodes, settings.most_nodes)
    return budget._replace(nodes=nodes)


def _allot_time(limits: Limits, turn: int, ply: int, settings: ClockSettings, costs: Costs) -> Budget:
    """The milliseconds of `allot`, where a chess clock runs.

    `remaining` is what is left for this and later moves together, `free` what this move gets on top of it.
    """
    clock = (limits.wtime if turn else limits.btime) or 0
    increment = max(0, (limits.winc if turn else limits.binc) or 0)
    byoyomi = max(0, limits.byoyomi or 0)
    # A clock below zero is one that an increment is missing from, or that has given way to the byoyomi.
    spendable = max(0, clock + increment) + byoyomi
    delay = min(settings.network_delay, spendable / 4)
    divisor = 14 + max(0, 30 - ply)
    last_ply = _LONGEST_GAME
    if settings.draw_ply and settings.draw_ply >= ply:
        last_ply = settings.draw_ply
        divisor = min(divisor, last_ply - ply + 1)

    if byoyomi:
        margin = min(settings.byoyomi_margin, byoyomi / 2)
        remaining = max(0.0, clock)
        free = max(0.0, byoyomi - margin - delay) + increment
        least = settings.minimum_thinking_time
        maximum = max(0.0, spendable - delay - margin)
    else:
        margin = min(settings.time_margin, spendable / 2)
        needed, answers, too_many = _later_moves(ply, last_ply, spendable, increment, costs)
        remaining = max(0.0, clock - max(margin, needed))
        free = max(0.0, increment - costs.overhead)
        least = 0
        # No less than 1: 0 would mean that nothing can be lost any more.
        maximum = min(spendable - delay - margin, max(1.0, spendable - answers))
        if too_many:
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


def _later_moves(
    ply: int, last_ply: int, spendable: float, increment: float, costs: Costs
) -> tuple[float, float, bool]:
    """What the moves to come take of a clock without byoyomi, beside the thinking: their overheads and the evaluations
    of an ordinary game; what must be left to answer all of them at once; and whether not even that is left.

    Each move brings its increment, which pays for its overhead first, and then for an evaluation.
    """
    moves_left = max(0, last_ply - ply) // 2 + 24  # too many: any one may cost much more than the mean
    evaluations_left = max(0, min(last_ply, ORDINARY_GAME) - ply) // 2
    overheads = moves_left * max(0.0, _CAUTION * costs.overhead - increment)
    if evaluations_left == 0:
        return overheads, overheads, False
    evaluations = evaluations_left * max(0.0, costs.evaluation - max(0.0, increment - costs.overhead))
    known = costs.at_once < math.inf
    least_answer = costs.at_once / _DOUBTFUL if known else costs.overhead
    too_many = moves_left * (least_answer - increment) > spendable
    answer = costs.at_once if known and not too_many else min(costs.overhead, _AT_ONCE)
    answers = moves_left * max(0.0, answer - increment)
    return overheads + evaluations, answers, too_many
