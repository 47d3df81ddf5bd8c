"""MCTSPlayer: it drives the search with a network until the clock says stop, then chooses a move.

It decides what to search, when the answer is certain enough, and what is said meanwhile. It knows no protocol and no
game: what a game adds is in `pydlshogi.games`.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import (
    Adviser,
    BestMove,
    Checkmate,
    Info,
    Loaded,
    Part,
    PlayerError,
    Report,
    any_move,
    moves_named,
)
from pydlshogi.player.choice import WEAK_LEVELS, SeededRng, lcb_move, sample, should_resign, weak_move
from pydlshogi.player.clock import Clock
from pydlshogi.player.latency import WindowedMaximum
from pydlshogi.player.lines import SearchLines, candidates, usi_line
from pydlshogi.player.mcts_options import FULL_SKILL, MCTSOptions
from pydlshogi.player.network_player import Network, NetworkPlayer
from pydlshogi.player.thinking import MateSearcher, Thinking, playouts_a_second
from pydlshogi.uct.pipeline import Pipeline
from pydlshogi.uct.root import MoveStats, Root
from pydlshogi.uct.search import Search

log = logging.getLogger(__name__)


class MCTSPlayer(NetworkPlayer):
    """Monte Carlo tree search with a policy-value network."""

    options: MCTSOptions

    def __init__(
        self,
        options: MCTSOptions,
        network: Network,
        advisers: Sequence[Adviser[Any, Any]] = (),
        mate_searcher: MateSearcher | None = None,
    ) -> None:
        self.mate_searcher = mate_searcher or MateSearcher()
        super().__init__(options, network, advisers, (_TreeMemory(), self.mate_searcher))
        self.rng = SeededRng()
        self.rng.begin(options.seed)
        self._pipeline: Pipeline | None = None
        """It has the search that goes on from move to move."""
        self._searched_with: tuple[object, ...] = ()
        """What decides whether the next search may go on in the tree, as of the last one."""
        self._choosing = WindowedMaximum(10.0)
        """Milliseconds from the end of the search to the answer."""
        self._full_said = False
        """Whether the engine has said that the tree is full."""

    def install(self, loaded: Loaded) -> None:
        super().install(loaded)
        self._discard_search()

    def _kept_pipeline(self) -> Pipeline:
        """A search with a tree of the size asked for, and its pipeline: those of before if nothing has changed."""
        megabytes = self.options.hash_mb
        if self._pipeline is None or self._pipeline.search.table.megabytes != megabytes:
            self._discard_search()  # the old table goes before the new one comes
            self._pipeline = self._new_pipeline()
        return self._pipeline

    def _new_pipeline(self) -> Pipeline:
        """Raises MemoryError."""
        loaded = self.network.loaded
        return Pipeline(
            self.network.new_search(self.options.hash_mb), loaded.evaluator, loaded.batch_size, loaded.threads
        )

    def _wait_for_last(self) -> None:
        """Wait for what the last search has begun. If that fails, its tree holds playouts without a backup."""
        if self._pipeline is not None:
            try:
                self._pipeline.finish()
            except Exception:
                log.exception("the last search failed after its answer")
                self._discard_search()

    def _discard_search(self) -> None:
        if self._pipeline is not None:
            self._pipeline.close()
        self._pipeline = None

    # The game

    def new_game(self) -> None:
        self._wait_for_last()
        if self._pipeline is not None:
            self._pipeline.search.clear()
        self.mate_searcher.forget()
        super().new_game()
        self.rng.begin(self.options.seed)
        self._full_said = False

    # Thinking

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        if clock.limits.mate:
            return self.mate_searcher.solve(position, clock)
        self.rng.begin_if_changed(self.options.seed)
        if answer := self.advice(position, clock, report):
            return answer
        self._wait_for_last()
        pipeline = self._kept_pipeline()
        search = pipeline.search
        thinking = Thinking(pipeline, self.mate_searcher, clock, self.latency, self._choosing)
        only = moves_named(position, clock.limits.searchmoves)
        try:
            self._set_up(search, position, only)
            self.mate_searcher.begin(position, self.mate_searcher.longest_win(self.options))
            if not self.mate_searcher.solution() and not search.knows(position) and thinking.too_late:
                self.latency.decay()
                clock.skip_thinking()
                return _unsearched(position, clock, report)
            search.set_root(position, only)
            lines = SearchLines(position, search, self.mate_searcher, self.eval_coef)
            interval, nodes = self.options.pv_interval, partial(self.mate_searcher.nodes_per_batch, self.options)
            say = partial(self._report, lines, search, clock, report)
            thinking.run(say, interval, nodes, lambda: self.options.analysing(clock))
        except BaseException:
            self._discard_search()  # it holds playouts that were never backed up
            raise
        answer = self._choose(position, search, clock, report)
        self._choosing.note(clock.answering())
        return answer

    def _set_up(self, search: Search, position: PlayedPosition, only: Sequence[int]) -> None:
        """Give the search the present options; clear its tree where its numbers mean something else under them."""
        puct, temperature = self.options.puct(position.turn), self.policy_temperature()
        rules, plies = self.options.rule_settings(position), self.mate_searcher.longest_win(self.options)
        # The constants of selection only guide the next playouts. A search of `only` some moves says nothing of others.
        draw_for_black = round(abs(position.turn - puct.draw_value), 3)
        searched_with = (draw_for_black, temperature, self.options.clear_hash, plies, rules.tobytes(), *only)
        if searched_with != self._searched_with:
            search.clear()
            self.mate_searcher.forget()
            self._searched_with = searched_with
        search.puct = puct
        search.boards.settings = rules
        self.network.set_temperature(temperature / 100)

    def _choose(self, position: PlayedPosition, search: Search, clock: Clock, report: Report) -> BestMove:
        """The answer to the search that has ended, its line reported last."""
        options = self.options
        mate = () if clock.limits.searchmoves else usi_line(position, self.mate_searcher.solution())
        if mate:
            report(self._mate_info(mate, search, clock))
            return BestMove(*mate[:2])
        root = Root(search)
        if not root.expanded:
            return _unsearched(position, clock, report)
        analysing = self.options.analysing(clock)
        moves, best = self._moves_and_lcb(root, clock)
        chosen = best if analysing else self._sampled(position, moves, best)
        if options.debug_message:
            for line in candidates(position, moves):
                report(Info(string=line))
        lines = SearchLines(position, search, self.mate_searcher, self.eval_coef)
        self._report(lines, search, clock, report, chosen)
        if not analysing and should_resign(best, options.resign_threshold / 1000):
            return BestMove("resign")
        return BestMove(*lines.of(chosen)[:2])

    def _mate_info(self, mate: Sequence[str], search: Search, clock: Clock) -> Info:
        return Info(
            depth=len(mate),
            seldepth=len(mate),
            time=round(clock.elapsed()),
            nodes=search.playouts,
            multipv=1 if self.options.multi_pv > 1 else None,
            score_mate=len(mate),
            win_rate=1.0,
            pv=tuple(mate),
        )

    def _moves_and_lcb(self, root: Root, clock: Clock) -> tuple[list[MoveStats], MoveStats]:
        """The moves, and the LCB move, after which the mate searcher has looked too."""

        def time_left() -> float:
            return 0.0 if clock.stopped else clock.budget.maximum - self._choosing.value - clock.spent()

        seen = set[int]()
        while True:
            moves = root.moves()
            best = lcb_move(moves)
            if best.move == moves[0].move or best.move in seen:
                return moves, best
            seen.add(best.move)
            self.mate_searcher.look_after(root, best.move, time_left)

    def _sampled(self, position: PlayedPosition, moves: Sequence[MoveStats], best: MoveStats) -> MoveStats:
        """The best of the moves. Early in the game, and below full skill, one of those nearly as good."""
        if self.options.skill_level < WEAK_LEVELS:
            return weak_move(moves, self.options.skill_level, self.rng)
        weakness = FULL_SKILL - self.options.skill_level
        if not weakness and position.ply() > self.options.random_ply:
            return best
        return sample(moves, weakness / 100 or self.options.random_cutoff / 1000, self.rng)

    def _report(
        self, lines: SearchLines, search: Search, clock: Clock, report: Report, chosen: MoveStats | None = None
    ) -> None:
        if search.table.full and not self._full_said:
            report(Info(string="USI_Hash is full: the search goes on among the positions it knows"))
            self._full_said = True
        for info in lines.infos(clock.elapsed(), self.options.multi_pv, chosen):
            report(info)

    # What people at a terminal ask for

    def bench(self, position: PlayedPosition, arguments: Sequence[str], clock: Clock) -> Iterator[str]:
        """What runs the network, and the playouts per second from `position`: `bench [SECONDS]`, else 5."""
        try:
            longest = 1000 * float(*arguments[:1] or ["5"])
            if not math.isfinite(longest):
                raise ValueError
        except ValueError:
            raise PlayerError("bench needs a number of seconds") from None
        if not len(position.legal_moves()):
            yield "no legal move"
            return
        pipeline = self._new_pipeline()
        pipeline.search.boards.settings = self.options.rule_settings(position)
        pipeline.search.set_root(position)
        yield self.network.loaded.description
        yield playouts_a_second(pipeline, longest, lambda: clock.stopped)


def _unsearched(position: PlayedPosition, clock: Clock, report: Report) -> BestMove:
    """The answer where there was no time even for one evaluation."""
    answer = any_move(position, clock.limits.searchmoves)
    report(Info(time=round(clock.elapsed()), nodes=0, score_cp=0, pv=(answer.move,)))
    return answer


class _TreeMemory(Part[MCTSOptions, Loaded]):
    """It loads nothing, for the tree is made when it is needed, but sees beforehand whether that will be possible."""

    def loading(self, options: MCTSOptions) -> None:
        """Raises PlayerError where the system does not lend the memory: to ask costs nothing while none is written."""
        try:
            np.empty(options.hash_mb << 20, np.uint8)
        except MemoryError:
            raise PlayerError(f"USI_Hash {options.hash_mb}: the system does not lend so much memory") from None
