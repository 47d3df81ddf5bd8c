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
    def count(states: Records, moves: Any, left: Any) -> int:
        """From states[0]; `left`: how many moves are still to be played at each depth."""
        last = len(left) - 1
        left[0] = legal_moves(states[0], moves[0])
        level = 0
        lines = left[0] if last == 0 else 0
        while level >= 0 and last > 0:
            if left[level] == 0:
                level -= 1
                continue
            left[level] -= 1
            play(states[level], moves[level, left[level]], states[level + 1])
            found = legal_moves(states[level + 1], moves[level + 1])
            if level + 1 == last:
                lines += found
            else:
                level += 1
                left[level] = found
        return lines

    def perft(state: Record, depth: int) -> int:
        states = np.zeros(depth, rules.state)
        states[0] = state
        return int(count(states, np.zeros((depth, rules.most_moves), np.uint16), np.zeros(depth, np.int64)))

    return perft
