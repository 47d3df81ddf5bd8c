"""How often a player keeps the value of a position, by the solution of the game.

The positions are critical: some moves keep their value and others do not. Games come to them in which half of the moves
are random ones and the others the best. Nothing here teaches: a network that learns from nothing is examined by it.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

import numpy as np

from pydlshogi.entry import Exam, Question
from pydlshogi.games.dobutsu import is_solved, solution_file
from pydlshogi.games.dobutsu.perfect_play import HOW_TO_SOLVE
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.solve import Solution
from pydlshogi.player.mcts_options import GENERAL_TEMPERATURE
from pydlshogi.support import OneLineError

POSITIONS: Final = 4096


def critical(seed: int) -> Iterator[Question]:
    """Such positions, each once. Raises OneLineError where there is no solution."""
    if not is_solved():
        raise OneLineError(f"the game has not been solved here; `{HOW_TO_SOLVE}` does so")
    solution, rng, seen = Solution(solution_file()), np.random.default_rng(seed), set[int]()
    while True:
        game = DobutsuPosition()
        while game.outcome_to_learn() is None and len(game.legal_moves()):
            position = DobutsuPosition(game.sfen())
            moves = solution.moves(position)
            best = max(ends.value for ends in moves.values())
            keeping = frozenset(move for move, ends in moves.items() if ends.value == best)
            if len(keeping) < len(moves) and position.key() not in seen:
                seen.add(position.key())
                yield position, keeping
            game.push(int(rng.choice(sorted(keeping if rng.random() < 0.5 else moves))))


def exam() -> Exam:
    """What ends a speedrun."""
    return Exam([*islice(critical(1), POSITIONS)], playouts=64, temperature=GENERAL_TEMPERATURE / 100, goal=0.99)
