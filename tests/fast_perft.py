"""Perft by the compiled rules of any game."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from pydlshogi.game import Rules
from pydlshogi.support.arrays import Record, Records


def perft_of(rules: Rules) -> Callable[[Record, int], int]:
    """(state, depth) -> the number of lines of `depth` moves, 1 or more. Compiled at the first call."""
    play, legal_moves = rules.play, rules.legal_moves

    @numba.njit
    def count(states: Records, moves: Any, level: int) -> int:
        found = legal_moves(states[level], moves[level])
        if level == len(states) - 1:
            return found
        lines = 0
        for move in range(found):
            play(states[level], moves[level, move], states[level + 1])
            lines += count(states, moves, level + 1)
        return lines

    def perft(state: Record, depth: int) -> int:
        states = np.zeros(depth, rules.state)
        states[0] = state
        return int(count(states, np.zeros((depth, rules.most_moves), np.uint16), 0))

    return perft
