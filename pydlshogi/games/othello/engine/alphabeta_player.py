"""The player that searches by alpha-beta: deeper and deeper, and the solver when the end is near."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from pydlshogi.game import PlayedPosition
from pydlshogi.games.othello.engine import files_of_engine
from pydlshogi.games.othello.engine.alphabeta_search import DEEPEST, INFINITE, AlphaBeta, Probing
from pydlshogi.games.othello.engine.cuts import SHIPPED_CUTS, probing_of, read_cuts
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.options import AlphaBetaOptions
from pydlshogi.games.othello.engine.patterns import DISC, load_weights
from pydlshogi.games.othello.engine.solving import ENDING, solvable, time_to_solve, win_rate
from pydlshogi.games.othello.openings import NO_OPENINGS, SHIPPED_OPENINGS, OpeningBook, read_openings
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import Position, move_name
from pydlshogi.player.base_player import BasePlayer, BestMove, Checkmate, Info, Part, Report, loading_step, moves_named
from pydlshogi.player.clock import Clock
from pydlshogi.support.arrays import Int16Array
from pydlshogi.support.files import shipped_model
from pydlshogi.support.pool import available_cores

_ASPIRATION: Final = 4 * DISC
"""A search expects to find what the one before has found, within so much."""
_LOADED_BY: Final = attrgetter("weights", "cuts", "plain", "openings", "openings_file", "hash_mb", "threads")
"""The options by which something is loaded."""


class ScoredMove(NamedTuple):
    """What a search says of a move."""

    move: int
    score: float
    """By how many discs the side to move will win."""
    line: tuple[int, ...]
    """How the game may go on; the move comes first."""
    depth: int
    """Plies searched; all that are left where the score is exact."""
    exact: bool = False


class LoadedTables(NamedTuple):
    """What the files of the options hold."""

    loaded_by: tuple[object, ...]
    weights: Int16Array
    probing: Probing
    book: OpeningBook
    megabytes: int
    """For each of its two hash tables."""
    threads: int
    remarks: Sequence[str] = ()


class Tables(Part[AlphaBetaOptions, LoadedTables]):
    """What it searches with. Each player has hash tables of its own."""

    search: AlphaBeta
    solver: Solver
    book: OpeningBook

    def __init__(self) -> None:
        self._loaded_by: tuple[object, ...] = ()

    def loading(self, options: AlphaBetaOptions) -> Callable[[], LoadedTables] | None:
        return partial(_load, options) if _LOADED_BY(options) != self._loaded_by else None

    def install(self, loaded: LoadedTables) -> None:
        self.search = AlphaBeta(loaded.weights, loaded.probing, loaded.megabytes)
        self.solver = Solver(loaded.megabytes, loaded.weights, loaded.threads)
        self.book, self._loaded_by = loaded.book, loaded.loaded_by


class AlphaBetaPlayer(BasePlayer):
    """Plays by alpha-beta. With MultiPV it says what each of the best moves is worth, else only what the best is."""

    options: AlphaBetaOptions

    def __init__(self, options: AlphaBetaOptions) -> None:
        self._tables = Tables()
        super().__init__(options, [self._tables])
        self._rng = random.Random()
        self._nodes = 0
        """Positions looked at since the question."""

    def new_game(self) -> None:
        self._tables.search.clear()

    # Thinking

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        assert isinstance(position, OthelloPosition)
        if clock.limits.mate:
            return Checkmate("notimplemented")
        now, legal = position.now, position.legal_moves().tolist()
        if not legal:
            report(Info(score_cp=100 * now.score, win_rate=win_rate(now.score), exact=True))
            return BestMove("resign")
        moves = moves_named(position, clock.limits.searchmoves) or legal
        lines = min(self.options.multi_pv, len(moves))
        self._nodes = 0

        def tell(scored: ScoredMove, rank: int = 1) -> None:
            report(self._info(scored, clock, rank if lines > 1 else None))

        if not clock.analysing:
            if len(moves) == 1:
                report(Info(time=round(clock.elapsed()), nodes=0, pv=(move_name(moves[0]),)))
                return BestMove(move_name(moves[0]))
            if lines == 1 and (known := self._tables.book.choose(now, self._rng)):
                tell(ScoredMove(*known, (known[0],), depth=0))
                return BestMove(move_name(known[0]))
        ranked = lines > 1 or len(moves) < len(legal)
        best = self._ranked(now, moves, lines, clock, tell) if ranked else self._best(now, clock, tell)
        clock.end_thinking()
        return BestMove(*map(move_name, best.line[:2]))

    def _info(self, scored: ScoredMove, clock: Clock, rank: int | None) -> Info:
        elapsed = clock.elapsed()
        return Info(
            depth=scored.depth,
            time=round(elapsed),
            nodes=self._nodes,
            nps=round(1000 * self._nodes / elapsed) if elapsed >= 1 else None,
            multipv=rank,
            score_cp=round(100 * scored.score),
            win_rate=win_rate(scored.score),
            exact=scored.exact,
            pv=tuple(map(move_name, scored.line)),
        )

    def _best(self, position: Position, clock: Clock, tell: Callable[[ScoredMove], None]) -> ScoredMove:
        """The best move; `tell` gets it whenever a search has ended."""
        best = ScoredMove(position.moves()[0], 0.0, (), 0)
        for depth, solve, stopped in self._steps(position.empties, clock):
            found = self._searched(position, depth, solve, best.score, stopped)
            if found is None:
                # What a search prefers when it is stopped is better than what the one before it liked; the score stays.
                leader = (self._tables.solver if solve else self._tables.search).leader
                if leader not in (None, best.move):
                    best = best._replace(move=leader, line=(leader,))
                    tell(best)
                return best
            best = found
            tell(best)
        return best

    def _ranked(
        self, position: Position, moves: Sequence[int], most: int, clock: Clock, tell: Callable[[ScoredMove, int], None]
    ) -> ScoredMove:
        """The best of `moves`; `tell` gets the `most` best, the best first, whenever all have been searched."""
        ranked = [ScoredMove(move, 0.0, (move,), 0) for move in moves]
        for depth, solve, stopped in self._steps(position.empties, clock):
            deeper: list[ScoredMove] = []
            for before in ranked:
                # Once `most` moves are known, others matter only where they are better than the last of those.
                floor = sorted(scored.score for scored in deeper)[-most] if len(deeper) >= most else -64.0
                now = self._after(position, before.move, depth, solve, floor, stopped)
                if now is None:
                    return ranked[0]
                deeper.append(now)
            ranked = sorted(deeper, key=attrgetter("score"), reverse=True)
            for rank, scored in enumerate(ranked[:most], 1):
                tell(scored, rank)
        return ranked[0]

    def _steps(self, empties: int, clock: Clock) -> Iterator[tuple[int, bool, Callable[[], bool]]]:
        """How deep to search, one time after the other; whether to solve the end instead, which is the last step; and
        when to leave the step, which the first never is. Goes on while there is time.
        """
        level = self.options.level
        deepest = min(level or DEEPEST, empties)
        for depth in range(1, deepest + 1):
            if depth > 1 and clock.expired(self._nodes):
                return
            # By then there is an idea of the score to begin with.
            solve = depth > min(empties // 3, deepest - 1) and solvable(empties, clock, level)
            if solve:
                yield depth, True, (lambda: clock.stopped or time_to_solve(clock) <= 0) if depth > 1 else _never
                return
            yield depth, False, (lambda: clock.expired(self._nodes)) if depth > 1 else _never

    def _searched(
        self, position: Position, depth: int, solve: bool, expected: float, stopped: Callable[[], bool]
    ) -> ScoredMove | None:
        """The answer of a search `depth` plies deep, or of the solver; None if it was stopped."""
        if solve:
            solution = self._tables.solver.solve(position, guess=round(expected), stopped=stopped)
            if solution is None:
                return None
            self._nodes += solution.nodes
            return ScoredMove(solution.move, float(solution.score), (solution.move,), position.empties, exact=True)
        centre = round(DISC * expected)
        window = (centre - _ASPIRATION, centre + _ASPIRATION) if depth > 2 else (-INFINITE, INFINITE)
        found = self._tables.search.search(position, depth, *window, stopped)
        if found is not None and not window[0] < found.value < window[1]:
            self._nodes += found.evaluations
            found = self._tables.search.search(position, depth, stopped=stopped)
        if found is None:
            return None
        self._nodes += found.evaluations
        line = (found.move, *self._tables.search.line(position.play(found.move)))
        return ScoredMove(found.move, _discs(found.value), line, depth)

    def _after(
        self, position: Position, move: int, depth: int, solve: bool, floor: float, stopped: Callable[[], bool]
    ) -> ScoredMove | None:
        """What a move is worth, None if the search was stopped. No better than `floor` is all there is to know then."""
        child = position.play(move)
        if child.over:
            return ScoredMove(move, float(-child.score), (move,), position.empties, exact=True)
        if solve:
            solution = self._tables.solver.solve(child, high=2 * math.ceil(-floor / 2), stopped=stopped)
            if solution is None:
                return None
            self._nodes += solution.nodes
            return ScoredMove(move, float(-solution.score), (move, solution.move), position.empties, exact=True)
        found = self._tables.search.search(child, max(1, depth - 1), beta=math.ceil(-DISC * floor), stopped=stopped)
        if found is None:
            return None
        self._nodes += found.evaluations
        line = (move, found.move, *self._tables.search.line(child.play(found.move)))
        return ScoredMove(move, 0.0 - _discs(found.value), line, depth)  # a minus sign would make -0.0 of a draw


def _load(options: AlphaBetaOptions) -> LoadedTables:
    """What the options need. Raises PlayerError."""
    models = shipped_model()
    with files_of_engine():
        weights = load_weights(options.weights)
        probing = Probing() if options.plain else probing_of(read_cuts(Path(options.cuts or models / SHIPPED_CUTS)))
        file = Path(options.openings_file or models / SHIPPED_OPENINGS)
        book = read_openings(file) if options.openings else NO_OPENINGS
        threads = options.threads or available_cores()
    loaded = LoadedTables(_LOADED_BY(options), weights, probing, book, max(1, options.hash_mb // 2), threads)
    with loading_step("preparing the search; after an installation it is compiled, which takes some seconds"):
        _warm_up(loaded._replace(megabytes=1))
    return loaded


def _warm_up(loaded: LoadedTables) -> None:
    """Search a little, so that all kernels are there: before `readyok`, and not in the thread that answers `stop`."""
    tables, start = Tables(), OthelloPosition()
    tables.install(loaded)
    start.push(int(start.legal_moves()[0]))
    tables.book.worth(start.now)
    for depth in range(1, 7):
        found = tables.search.search(start.now, depth, stopped=_never)
        assert found is not None  # nothing stops it
        tables.search.line(start.now.play(found.move))
    tables.solver.solve(ENDING, stopped=_never)
    tables.search.clear()


def _discs(value: int) -> float:
    """What a search found; the patterns, which are added up, may say more than a board holds."""
    return max(-64.0, min(64.0, value / DISC))


def _never() -> bool:
    return False
