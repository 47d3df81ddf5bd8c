"""One search of a player, from the first playout to the last: what to begin next, when to stop, when to report.

A mate searcher looks for forced wins beside it; each game has its own.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from pydlshogi.player.base_player import Checkmate, Part
from pydlshogi.player.clock import Clock, milliseconds
from pydlshogi.player.latency import Latency, WindowedMaximum
from pydlshogi.uct.pipeline import Pipeline
from pydlshogi.uct.root import MoveStats, Root

_FIRST_BATCH: Final = 8
"""Playouts under way in a fresh tree. One at a time is slower, and won only 186 of 400 games against this."""
_VISITS_PER_PLAYOUT: Final = 16
"""One playout more is under way, in all threads together, for each 16 visits of the root: so few, because playouts
under way learn nothing from each other."""
_FULL_BATCH: Final = 16
"""Playouts. After a batch of this size the mate searcher may spend all its nodes, after a smaller one its share."""
_MOST_VISITS: Final = 1 << 30
"""Visits of a root after which it stops, in a day or so: nodes count them in 32 bits."""
_UNNOTICED: Final = 20.0
"""Milliseconds. Where the time is over already, the network still evaluates a move if that takes no longer."""


class MateSearcher(Part[Any, Any]):
    """It looks for wins at the root and along the best line, and gives the search the proofs it finds.

    A look is a bounded search at one position; the next look there goes on where the last one ended. A look begins only
    if it will end within `time_left()` milliseconds. This class never looks; a game that has mates has one that does.
    """

    def longest_win(self, options: Any) -> int:
        """Plies of the longest win to look for under these options; 0: none."""
        return 0

    def nodes_per_batch(self, options: Any) -> int:
        """Nodes that may be spent after each batch under these options."""
        return 0

    def solve(self, position: Any, clock: Clock) -> Checkmate:
        """The answer to `go mate`."""
        return Checkmate("notimplemented")

    def forget(self) -> None:
        """Forget all that was found."""

    def begin(self, position: Any, plies: int) -> None:
        """`position` is the root from now on; look for wins within `plies`, 0: for none."""
        self._position = position.copy()

    def look_at_root(self, time_left: Callable[[], float]) -> None:
        """Look at the root, before the search begins."""

    def look_between(self, root: Root, nodes: float, time_left: Callable[[], float]) -> None:
        """Look between two batches of the search, for about `nodes` nodes."""

    def look_after(self, root: Root, move: int | None, time_left: Callable[[], float]) -> None:
        """Look at the position after `move`, if there was no look at it yet: is `move` safe to play?"""

    def solution(self) -> Sequence[int]:
        """The moves of a forced win at the root; empty where none is known."""
        return ()

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        """A line proven to end within `plies`, lengthened by moves that the tree lacks; and whether it ends in mate."""
        position = self._position.copy()
        for move in line:
            position.push(move)
        for move in position.legal_moves().tolist() if len(line) < plies else ():
            position.push(move)
            if not len(position.legal_moves()):
                return [*line, move], True
            position.pop()
        return list(line), True


class Thinking:
    """Batches of a pipeline, and the mate searcher between them, under a clock."""

    def __init__(
        self, pipeline: Pipeline, mate_searcher: MateSearcher, clock: Clock, latency: Latency, choosing: WindowedMaximum
    ) -> None:
        """`choosing`: milliseconds from the end of a search to the answer."""
        self._pipeline = pipeline
        self._search = pipeline.search
        self._root = Root(pipeline.search)
        self._mate_searcher = mate_searcher
        self._clock = clock
        self._latency = latency
        self._choosing = choosing

    @property
    def too_late(self) -> bool:
        """Whether there is no time for even one batch, and so none to set up the search."""
        clock = self._clock
        return not clock.stopped and clock.spent() + self._latency.of(1) > (clock.budget.maximum or _UNNOTICED)

    def run(
        self,
        report: Callable[[], None],
        interval: float,
        mate_nodes: Callable[[], float],
        analysing: Callable[[], bool],
    ) -> None:
        """Make playouts until the answer is certain or time is up.

        `report` says what is known so far, each `interval` milliseconds. `mate_nodes`: what the mate searcher may spend
        after a full batch. `analysing`: as `Clock.analysing`, or by an option; a ponderhit may change it.
        """
        search, root, clock, mate_searcher = self._search, self._root, self._clock, self._mate_searcher
        clock.start_thinking()
        if not clock.limits.searchmoves:
            mate_searcher.look_at_root(self._time_left)
        reported = -math.inf
        with self._pipeline.running(self._wanted):
            while True:
                solved = bool(mate_searcher.solution()) and not clock.limits.searchmoves
                if solved or self._certain(analysing()):
                    break
                before = search.playouts
                if self._time_is_up(before, self._next_batch(before)):
                    if not root.expanded:
                        self._latency.decay()
                        break
                    if clock.stopped or not clock.may_extend or not _unstable(root.moves()):
                        break
                    clock.extend()
                    continue
                if clock.may_stop_early and not analysing():
                    _, lead = root.leader()
                    if lead is not None and lead > clock.playouts_left(before):
                        break  # smart pruning: no other move can catch up any more
                if root.expanded and milliseconds() - reported >= interval:
                    report()
                    reported = milliseconds()
                began = milliseconds()
                if made := self._pipeline.step(self._wanted):
                    self._latency.record(made, milliseconds() - began)
                share = min(1.0, (search.playouts - before) / _FULL_BATCH)
                mate_searcher.look_between(root, mate_nodes() * share, self._time_left)
        if search.playouts >= clock.budget.nodes:
            self._pipeline.finish()  # all that was asked for counts; where time is up, nobody waits for the others
        clock.end_thinking()

    def _certain(self, analysing: bool) -> bool:
        """Whether more playouts would not change the answer: the result is proven, or only one move is not proven to
        lose, and it is played and not analysed. It stops, too, before the visits can no longer be counted."""
        root = self._root
        if not root.expanded:
            return False
        # A win found by the mate searcher proves a root, but is none once it could be part of a repetition.
        proven = root.plies is not None and root.moves()[0].plies is not None
        return proven or root.visits >= _MOST_VISITS or (root.leader()[1] is None and not analysing)

    def _time_left(self) -> float:
        """Milliseconds until the optimum, divided by how much slower the machine is than when idle; 0 once stopped."""
        clock = self._clock
        if clock.stopped:
            return 0.0
        end = min(clock.budget.optimum, clock.budget.maximum - self._choosing.value)
        return (end - clock.spent()) / max(1.0, self._latency.slowdown)

    def _wanted(self, begun: int) -> int:
        """How many playouts to begin now that `begun` have been begun."""
        batch = self._next_batch(begun)
        return 0 if self._time_is_up(begun, batch) else batch

    def _next_batch(self, begun: int) -> int:
        """How many playouts to begin at once: with those of the other threads a small share of the tree, no more than
        were asked for, and no more than there is time for."""
        if not self._root.expanded:
            return 1
        # A ponderhit may just have set a limit that pondering has passed.
        left = max(0.0, self._clock.budget.nodes - begun)
        share = (_FIRST_BATCH + self._root.visits // _VISITS_PER_PLAYOUT) // self._pipeline.threads
        most = int(min(self._pipeline.batch_size, max(1, share), left))
        return min(most, self._latency.fitting(self._clock.room(self._choosing.value), most))

    def _time_is_up(self, playouts: int, batch: int) -> bool:
        """Whether to stop instead of one more batch. A move without any evaluation is the worst way to save time: the
        first batch is made even after the optimum, and after a `stop`."""
        if self._root.expanded:
            return self._clock.expired(playouts, self._latency.of(batch), self._choosing.value)
        return self.too_late


def _unstable(moves: Sequence[MoveStats]) -> bool:
    """dlshogi's rule: the best move has less than 1.5 times the visits of the second, or a lower value."""
    best, *others = moves
    return bool(others) and (best.visits < 1.5 * others[0].visits or best.value < others[0].value)


def playouts_a_second(pipeline: Pipeline, longest: float, stopped: Callable[[], bool]) -> str:
    """What a search with full batches makes in `longest` milliseconds, or until it is stopped, in one line.

    The pipeline is closed.
    """
    search, largest, threads = pipeline.search, pipeline.batch_size, pipeline.threads
    began = milliseconds()

    def over() -> bool:
        return bool(search.playouts) and (stopped() or milliseconds() - began > longest)

    def wanted(_: int) -> int:
        return 0 if over() else largest

    try:
        with pipeline.running(wanted):
            while not over():
                pipeline.step(wanted)
        pipeline.finish()
        seconds = (milliseconds() - began) / 1000
    finally:
        pipeline.close()
    return (
        f"{search.playouts} playouts in {seconds:.1f} s: {search.playouts / seconds:.0f} a second, "
        f"in batches of up to {largest} by {threads} {'thread' if threads == 1 else 'threads'}"
    )
