"""When the end of a game is solved rather than searched, and what a lead is worth: the same for both engines."""

import math
from collections.abc import Callable
from operator import itemgetter
from typing import Final

from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.rules import Position, position_of
from pydlshogi.player.clock import Clock

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
