"""The alpha-beta engine: searches that go deeper and deeper, and the solver when the end is near."""

import math
import random
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Final

from pydlshogi.engines.othello.alphabeta import DEEPEST, INFINITE, AlphaBeta, Probing
from pydlshogi.engines.othello.clock import SOLVED_FROM, Clock, Effort
from pydlshogi.engines.othello.cuts import probing_of, read_cuts
from pydlshogi.engines.othello.endgame import Solver
from pydlshogi.engines.othello.engine import EngineError, Hint, Report, unheard
from pydlshogi.engines.othello.openings import OpeningBook, read_openings
from pydlshogi.engines.othello.patterns import DISC, load_weights
from pydlshogi.games.othello.rules import PASS, START, Position, position_of
from pydlshogi.support.files import shipped_model

NAME: Final = "pydlshogi alpha-beta"
SHIPPED_WEIGHTS: Final = "othello_patterns.npz"
SHIPPED_CUTS: Final = "othello_probcut.toml"
SHIPPED_OPENINGS: Final = "othello_openings.txt"
TUTORIAL_CUTS: Final = "othello_probcut_tutorial.toml"
SOLVED_EARLIER: Final = 8
"""A level solves the end of the game so many plies earlier than it searches deep."""

ENDING: Final = position_of("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X")
_ASPIRATION: Final = 4 * DISC
"""A search expects to find what the one before has found, within so much."""
_GROWTH: Final = 2.5
"""A search one ply deeper is expected to take so many times as long."""
_SECONDS_TO_SOLVE: Final = 2e-6
"""For no empty square; each one doubles it."""


class AlphaBetaEngine:
    """Plays by alpha-beta; an OthelloEngine."""

    def __init__(
        self,
        weights: Path | None = None,
        cuts: Path | None = None,
        *,
        plain: bool = False,
        openings: Path | None = None,
        megabytes: int = 64,
    ) -> None:
        """`weights` of the patterns and `cuts` for Multi-ProbCut are those that come with the package where they are
        None. `plain`: without Multi-ProbCut. `openings`: to play from. `megabytes`: for each of two tables.
        """
        self.name = NAME
        self._weights = weights or shipped_model() / SHIPPED_WEIGHTS
        self._cuts = None if plain else cuts or shipped_model() / SHIPPED_CUTS
        self._openings = openings
        self._megabytes = megabytes
        self._rng = random.Random()
        self._search: AlphaBeta
        self._solver: Solver
        self._book: OpeningBook

    def prepare(self) -> None:
        """Get ready to play. Raises EngineError."""
        try:
            weights = load_weights(self._weights)
            probing = Probing() if self._cuts is None else probing_of(read_cuts(self._cuts))
            self._book = OpeningBook([] if self._openings is None else read_openings(self._openings))
        except OSError as error:
            raise EngineError(f"{error.filename}: {error.strerror}") from error
        except ValueError as error:
            raise EngineError(str(error)) from error
        self._search = AlphaBeta(weights, probing, self._megabytes)
        self._solver = Solver(self._megabytes)
        # What is compiled the first time, and else read from the cache, is so here, not in the first move.
        for position in (START, ENDING):
            self.hints(position, 1, Clock(Effort(level=6)), unheard)
        self.new_game()

    def new_game(self) -> None:
        """What comes next is another game."""
        self._search.clear()

    def choose(self, position: Position, clock: Clock, report: Report) -> Hint:
        """The move to play in `position`, in which there is one."""
        moves = position.moves()
        best = Hint(moves[0], None, (moves[0],))
        if len(moves) == 1:
            return best
        if known := self._book.choose(position, self._rng):
            move, score = known
            return Hint(move, score, (move,))
        nodes = 0
        for depth, solve in _steps(position, clock):
            found = self._look(position, depth, solve, best.score or 0.0, clock.expired if depth > 1 else _never)
            if found is None:
                # What a search prefers when it is stopped is better than what the one before it liked; the score stays.
                leader = (self._solver if solve else self._search).leader
                if leader not in (None, best.move):
                    best = best._replace(move=leader, line=(leader,))
                    report(best)
                return best
            nodes += found.nodes
            best = found._replace(nodes=nodes)
            report(best)
        return best

    def hints(self, position: Position, most: int, clock: Clock, report: Report) -> list[Hint]:
        """The best moves of `position`, in which there is one, the best first: `most`, or as many as there are."""
        hints = [Hint(move, None, (move,)) for move in position.moves()]
        nodes = 0
        for depth, solve in _steps(position, clock):
            deeper: list[tuple[float, Hint]] = []
            for hint in hints:
                # Once `most` moves are known, others matter only where they are better than the last of those.
                floor = sorted(score for score, _ in deeper)[-most] if len(deeper) >= most else -64.0
                child = position.play(hint.move)
                answer = self._answer(child, depth, solve, floor, clock.expired if depth > 1 else _never)
                if answer is None:
                    return hints[:most]
                nodes += answer.nodes
                score = 0.0 - (answer.score or 0.0)  # a minus sign would make -0.0 of a draw
                line = (hint.move, *answer.line)
                plies = position.empties if answer.exact else depth
                deeper.append((score, Hint(hint.move, score, line, plies, answer.exact, nodes)))
            hints = [hint for _, hint in sorted(deeper, key=itemgetter(0), reverse=True)]
            for hint in hints[:most]:
                report(hint)
        return hints[:most]

    def _look(
        self, position: Position, depth: int, solve: bool, expected: float, stopped: Callable[[], bool]
    ) -> Hint | None:
        """What a search of so many plies, or the solver, says; None if it was stopped."""
        if solve:
            solution = self._solver.solve(position, guess=round(expected), stopped=stopped)
            if solution is None:
                return None
            score = float(solution.score)
            return Hint(solution.move, score, (solution.move,), position.empties, exact=True, nodes=solution.nodes)
        centre = round(DISC * expected)
        window = (centre - _ASPIRATION, centre + _ASPIRATION) if depth > 2 else (-INFINITE, INFINITE)
        found = self._search.search(position, depth, *window, stopped)
        nodes = 0
        if found is not None and not window[0] < found.value < window[1]:
            nodes = found.evaluations
            found = self._search.search(position, depth, stopped=stopped)
        if found is None:
            return None
        line = (found.move, *self._search.line(position.play(found.move)))
        return Hint(found.move, _discs(found.value), line, depth, nodes=nodes + found.evaluations)

    def _answer(
        self, child: Position, depth: int, solve: bool, floor: float, stopped: Callable[[], bool]
    ) -> Hint | None:
        """What a move is worth to the opponent, `child` being the position after it; None if the search was stopped.

        If the move turns out not to be better than `floor`, that is all there is to know.
        """
        if child.over:
            return Hint(PASS, float(child.score), (), exact=True)
        if solve:
            solution = self._solver.solve(child, high=2 * math.ceil(-floor / 2), stopped=stopped)
            if solution is None:
                return None
            return Hint(solution.move, float(solution.score), (solution.move,), exact=True, nodes=solution.nodes)
        found = self._search.search(child, max(1, depth - 1), beta=math.ceil(-DISC * floor), stopped=stopped)
        if found is None:
            return None
        line = (found.move, *self._search.line(child.play(found.move)))
        return Hint(found.move, _discs(found.value), line, nodes=found.evaluations)


def _discs(value: int) -> float:
    """What a search found; the patterns, which are added up, may say more than a board holds."""
    return max(-64.0, min(64.0, value / DISC))


def _never() -> bool:
    return False


def _steps(position: Position, clock: Clock) -> Iterator[tuple[int, bool]]:
    """How deep to search, one time after the other, and whether to solve the end instead, which is the last step.

    Goes on while there is time for the next step. The first one there always is.
    """
    level, empties = clock.effort.level, position.empties
    deepest = min(level or DEEPEST, empties)
    took = 0.0
    for depth in range(1, deepest + 1):
        if depth > 1 and clock.too_late_for(_GROWTH * took):
            return
        began = clock.elapsed
        # By then there is an idea of the score to begin with.
        solve = depth > min(empties // 3, deepest - 1) and solvable(empties, clock)
        yield depth, solve
        if solve:
            return
        took = clock.elapsed - began


def solvable(empties: int, clock: Clock) -> bool:
    """Whether to solve a position with so many empty squares, rather than to search it."""
    level, maximum = clock.effort.level, clock.effort.maximum
    if level is not None and empties > level + SOLVED_EARLIER:
        return False
    if maximum is None:
        return level is not None or empties <= SOLVED_FROM
    expected: float = _SECONDS_TO_SOLVE * 2**empties
    return expected < maximum - clock.elapsed
