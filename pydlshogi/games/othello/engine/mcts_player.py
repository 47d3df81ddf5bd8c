"""What Othello adds to the search that all games share: tables in place of a network, and rollouts as IaGo had them.

It solves the end of the game.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from pydlshogi.evaluator import Mixed
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.options import OthelloMCTSOptions
from pydlshogi.games.othello.engine.patterns import shipped_weights
from pydlshogi.games.othello.engine.policy import shipped_tables
from pydlshogi.games.othello.engine.rollouts import SHIPPED_ROLLOUTS, TableRollouts, load_rollouts
from pydlshogi.games.othello.engine.solving import (
    DISCS,
    ENDING,
    solvable,
    solved_moves,
    time_to_solve,
    win_rate,
)
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import move_name
from pydlshogi.player.base_player import Adviser, BestMove, Info, PlayerError, Report
from pydlshogi.player.clock import Clock
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mate_searcher import MateSearcher
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.player.network_player import Game, Network
from pydlshogi.support.files import shipped_model
from pydlshogi.uct.batch import Evaluator


class NoMates(MateSearcher):
    """A proven win of Othello is no mate: by how many discs it wins is not proven."""

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        return list(line), False


def own_evaluator() -> tuple[Evaluator, str]:
    """What evaluates where no network is named. Raises PlayerError."""
    try:
        return shipped_tables(), "tables of people's games"
    except (OSError, ValueError) as error:
        raise PlayerError(str(error)) from None


def with_rollouts(evaluator: Evaluator, options: OthelloMCTSOptions) -> Evaluator:
    """The evaluator, a share of its values rolled out. Raises PlayerError."""
    try:
        if not options.rollout_share:
            return evaluator
        rollouts = TableRollouts(load_rollouts(shipped_model() / SHIPPED_ROLLOUTS), options.seed or None)
    except (OSError, ValueError) as error:
        raise PlayerError(str(error)) from None
    return Mixed(evaluator, rollouts.results, options.rollout_share)


def othello_player(game: Game, options: OthelloMCTSOptions) -> MCTSPlayer:
    """It searches."""
    network = Network(game, own_evaluator, with_rollouts, unmeasured_batch=128)
    return MCTSPlayer(options, network, [EndSolver(network)], NoMates())


class LoadedSolver(NamedTuple):
    """The weights of the solver are there."""

    loaded_by: tuple[object, ...]
    remarks: tuple[str, ...] = ()


class EndSolver(Adviser[OthelloMCTSOptions, LoadedSolver]):
    """Plays the only move, and solves the end of the game. It is loaded with the network, which says what to expect."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._loaded_by: tuple[object, ...] = ()
        self._solver: Solver

    def loading(self, options: OthelloMCTSOptions) -> Callable[[], LoadedSolver] | None:
        loaded_by = options.loaded_by()
        return None if loaded_by == self._loaded_by else partial(_loaded_solver, loaded_by)

    def install(self, loaded: LoadedSolver) -> None:
        self._loaded_by = loaded.loaded_by
        self._solver = Solver(threads=self._network.now.threads)
        # What is compiled the first time, and else read from the cache, is so here, not in the first move.
        start = OthelloPosition()
        self._network.opinion(start, start.legal_moves())
        solved_moves(self._solver, ENDING, 2, 0, lambda: False)

    def answer(
        self, position: OthelloPosition, clock: Clock, options: OthelloMCTSOptions, report: Report
    ) -> BestMove | None:
        """The only move, or a solution."""
        now, settings = position.now, options.clock_settings()
        if options.watched(clock) or clock.limits.nodes or settings.const_nodes or settings.most_nodes:
            return None
        moves = now.moves()
        if len(moves) == 1:
            report(Info(time=round(clock.elapsed()), nodes=0, pv=(move_name(moves[0]),)))
            return BestMove(move_name(moves[0]))
        # One square more: half of the time is left to the search, should it take longer than expected.
        if not solvable(now.empties + 1, clock, options.level):
            return None
        return self._solution(position, clock, options.multi_pv, report)

    def _solution(self, position: OthelloPosition, clock: Clock, most: int, report: Report) -> BestMove | None:
        """The best move by perfect play, reported; None: it took too long."""
        _, value = self._network.opinion(position, position.legal_moves())
        guess, end = round(centipawns(value, DISCS)), clock.spent() + time_to_solve(clock) / 2
        now = position.now
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


def _loaded_solver(loaded_by: tuple[object, ...]) -> LoadedSolver:
    """Raises PlayerError."""
    try:
        shipped_weights()
    except (OSError, ValueError) as error:
        raise PlayerError(str(error)) from None
    return LoadedSolver(loaded_by)
