"""When a search has done enough: pure functions of what is known of it and of its clock."""

from collections.abc import Sequence
from typing import Final

from pydlshogi.player.clock import Clock
from pydlshogi.uct.root import MoveStats, Root

MOST_VISITS: Final = 1 << 30
"""Of a root, which it reaches in a day or so; nodes count them in 32 bits."""
_UNNOTICED: Final = 20.0
"""Milliseconds. With nothing left to lose on time, a move is worth a look of the network that takes no longer."""


def analysing(clock: Clock) -> bool:
    """Somebody wants to know the best move rather than play a game: no early stop, sampled move or resignation."""
    limits = clock.limits
    return limits.infinite or clock.pondering or bool(limits.searchmoves)


def certain(root: Root, *, solved: bool, analysing: bool) -> bool:
    """Whether more playouts would not change the answer.

    The win is known (`solved`), the result is proven, or only one move is not proven to lose and nobody wants to know
    more of it. Nor are more made than can be counted.
    """
    if solved or root.visits >= MOST_VISITS:
        return True
    if not root.expanded:
        return False
    # A win that the scout has seen proves a root, and is known no more once it could be part of a repetition.
    proven = root.plies is not None and root.moves()[0].plies is not None
    return proven or (root.leader()[1] is None and not analysing)


def time_is_up(clock: Clock, playouts: int, latency: float, choosing: float, *, expanded: bool) -> bool:
    """Whether to stop instead of one more batch, which will take `latency` milliseconds, and the choice `choosing`.

    A move without any evaluation is the worst way to save time: the first batch heeds neither the optimum nor a `stop`.
    """
    if expanded:
        return clock.expired(playouts, latency, choosing)
    return not clock.stopped and clock.spent() + latency > (clock.budget.maximum or _UNNOTICED)


def unstable(moves: Sequence[MoveStats]) -> bool:
    """dlshogi's rule: the best move has less than 1.5 times the visits of the second, or a lower value."""
    best, *others = moves
    return bool(others) and (best.visits < 1.5 * others[0].visits or best.value < others[0].value)
