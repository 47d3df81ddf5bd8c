"""When the end of a game is solved rather than searched, and what a lead is worth: the same for both engines.

In the search that all games share, an adviser solves it.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

from pydlshogi.games.othello.engine import files_of_engine
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.options import OthelloMCTSOptions
from pydlshogi.games.othello.engine.patterns import load_weights
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import Position, move_name, position_of
from pydlshogi.player.base_player import Adviser, BestMove, Info, Report
from pydlshogi.player.clock import Clock
from pydlshogi.player.lines import centipawns
from pydlshogi.player.network_player import Network
from pydlshogi.player.thinking import MateSearcher

DISCS: Final = 6.0
"""The lead that is a win rate of 1 / (1 + 1/e), 73 %."""
ENDING: Final = position_of("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X")
"""To be solved when an engine is loaded: what is compiled the first time is not compiled in a game then."""
SOLVED_FROM: Final = 22
"""Empty squares that are solved where nothing limits the time: it takes a second or two."""
SOLVED_EARLIER: Final = 8
"""Plies. A level solves the end of the game this much earlier than it searches deep."""
_MS_AT_20: Final = 300.0
"""Milliseconds that it takes in the mean to solve 20 empty squares of a game; each one more doubles them."""


def win_rate(discs: float) -> float:
    """Of a lead, in discs, also of a proven one: what a move cost is the difference of two of them."""
    return 1 / (1 + math.exp(-discs / DISCS))


def time_to_solve(clock: Clock) -> float:
    """Milliseconds that solving may take now. Half of a main time: the moves that follow are known then."""
    budget = clock.budget
    return max(budget.optimum, budget.maximum / 2) - clock.spent()


def solvable(empties: int, clock: Clock, level: int) -> bool:
    """Whether to solve a position with `empties` empty squares. `level`: plies that are searched at most; 0: any."""
    if level and empties > level + SOLVED_EARLIER:
        return False
    left = time_to_solve(clock)
    if math.isinf(left):
        return level > 0 or empties <= SOLVED_FROM
    expected: float = _MS_AT_20 * 2.0 ** (empties - 20)
    return expected <= left


def solved_moves(
    solver: Solver, position: Position, most: int, guess: int, stopped: Callable[[], bool]
) -> dict[int, int] | None:
    """The `most` best moves of a position in which there is one, the best first, and by how many discs the side to move
    wins with each; None once `stopped` says so.

    `guess`: the score that is expected.
    """
    if most == 1:
        solution = solver.solve(position, guess=guess, stopped=stopped)
        return None if solution is None else {solution.move: solution.score}
    scores: dict[int, int] = {}
    for move in position.moves():
        child = position.play(move)
        if child.over:
            scores[move] = -child.score
            continue
        reply = solver.solve(child, guess=-guess, stopped=stopped)
        if reply is None:
            return None
        scores[move] = -reply.score
    return dict(sorted(scores.items(), key=itemgetter(1), reverse=True)[:most])


class LoadedSolver(NamedTuple):
    """The weights of the solver are there."""

    loaded_by: tuple[object, ...]
    remarks: tuple[str, ...] = ()


def _loaded_solver(loaded_by: tuple[object, ...]) -> LoadedSolver:
    """Raises PlayerError."""
    with files_of_engine():
        load_weights("")
    solved_moves(Solver(), ENDING, 2, 0, lambda: False)  # so that all kernels are there
    return LoadedSolver(loaded_by)


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
        self._solver = Solver(threads=self._network.loaded.threads)

    def answer(
        self, position: OthelloPosition, clock: Clock, options: OthelloMCTSOptions, report: Report
    ) -> BestMove | None:
        """The only move, or a solution."""
        now, settings = position.now, options.clock_settings()
        if options.analysing(clock) or clock.limits.nodes or settings.const_nodes or settings.most_nodes:
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
        _, value = self._network.evaluate(position, position.legal_moves())
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


class NoMates(MateSearcher):
    """A proven win of Othello is no mate: by how many discs it wins is not proven."""

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        return list(line), False
