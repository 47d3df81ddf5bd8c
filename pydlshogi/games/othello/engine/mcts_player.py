"""The player that searches as AlphaZero did, or as IaGo: that of `pydlshogi.player`, with tables in place of a network.

It solves the end of the game.
"""

from collections.abc import Sequence
from typing import Final

from pydlshogi.evaluator import Mixed
from pydlshogi.game import PlayedPosition
from pydlshogi.games.othello.encodings import ENCODINGS
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.options import OthelloMCTSOptions
from pydlshogi.games.othello.engine.patterns import shipped_weights
from pydlshogi.games.othello.engine.policy import shipped_tables
from pydlshogi.games.othello.engine.rollouts import SHIPPED_ROLLOUTS, TableRollouts, load_rollouts
from pydlshogi.games.othello.engine.solving import (
    DISCS,
    ENDING,
    LAST_PLY,
    solvable,
    solved_moves,
    time_to_solve,
    win_rate,
)
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import RULES, move_name
from pydlshogi.player.allot import ClockSettings
from pydlshogi.player.base_player import BestMove, Info, Loaded, PlayerError, Report
from pydlshogi.player.clock import Clock
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mcts_options import NetworkOptions
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.player.scout import Scout
from pydlshogi.support.files import shipped_model
from pydlshogi.uct.batch import Evaluator

_LEVEL_PLAYOUTS: Final = 32
"""Playouts of level 0; each level doubles them."""


class NoMates(Scout):
    """A proven win of Othello is no mate: by how many discs it wins is not proven."""

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        return list(line), False


class OthelloMCTSPlayer(MCTSPlayer):
    """It searches."""

    options: OthelloMCTSOptions
    rules = RULES
    encodings = ENCODINGS
    unmeasured_batch = 128

    def __init__(self, options: OthelloMCTSOptions) -> None:
        super().__init__(options)
        self.scout = NoMates()
        self._solver: Solver

    def start(self) -> OthelloPosition:
        return OthelloPosition()

    def loaded_by(self, options: NetworkOptions) -> tuple[object, ...]:
        assert isinstance(options, OthelloMCTSOptions)
        return (*super().loaded_by(options), options.rollout_share)

    def without_network(self) -> tuple[Evaluator, str]:
        try:
            return shipped_tables(), "tables of people's games"
        except (OSError, ValueError) as error:
            raise PlayerError(str(error)) from None

    def completed(self, evaluator: Evaluator, options: NetworkOptions) -> Evaluator:
        assert isinstance(options, OthelloMCTSOptions)
        try:
            shipped_weights()  # for the solver
            if not options.rollout_share:
                return evaluator
            rollouts = TableRollouts(load_rollouts(shipped_model() / SHIPPED_ROLLOUTS), options.seed or None)
        except (OSError, ValueError) as error:
            raise PlayerError(str(error)) from None
        return Mixed(evaluator, rollouts.results, options.rollout_share)

    def install(self, loaded: Loaded) -> None:
        super().install(loaded)
        self._solver = Solver(threads=self.threads)
        # What is compiled the first time, and else read from the cache, is so here, not in the first move.
        self.priors_and_value(self.start(), self.start().legal_moves())
        solved_moves(self._solver, ENDING, 2, 0, lambda: False)

    def clock_settings(self) -> ClockSettings:
        settings, level = super().clock_settings(), self.options.level
        return settings._replace(
            draw_ply=LAST_PLY, default_nodes=_LEVEL_PLAYOUTS << level if level else settings.default_nodes
        )

    def answer_at_once(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | None:
        """The only move, or a solution."""
        assert isinstance(position, OthelloPosition)
        now, settings = position.now, self.clock_settings()
        if self.watched(clock) or clock.limits.nodes or settings.const_nodes or settings.most_nodes:
            return None
        moves = now.moves()
        if len(moves) == 1:
            report(Info(time=round(clock.elapsed()), nodes=0, pv=(move_name(moves[0]),)))
            return BestMove(move_name(moves[0]))
        # One square more: half of the time is left to the search, should it take longer than expected.
        return self._solution(position, clock, report) if solvable(now.empties + 1, clock, self.options.level) else None

    def _solution(self, position: OthelloPosition, clock: Clock, report: Report) -> BestMove | None:
        """The best move by perfect play, reported; None: it took too long."""
        _, value = self.priors_and_value(position, position.legal_moves())
        guess, end = round(centipawns(value, DISCS)), clock.spent() + time_to_solve(clock) / 2
        most, now = self.options.multi_pv, position.now
        solved = solved_moves(self._solver, now, most, guess, lambda: clock.stopped or clock.spent() > end)
        if solved is None:
            return None
        for rank, (move, score) in enumerate(solved.items(), 1):
            report(
                Info(
                    depth=now.empties,
                    time=round(clock.elapsed()),
                    multipv=rank if most > 1 else None,
                    score_cp=100 * score,
                    win_rate=win_rate(score),
                    exact=True,
                    pv=(move_name(move),),
                )
            )
        return BestMove(move_name(next(iter(solved))))
