"""The constants of selection, which tell AlphaZero's search, AlphaGo's and KataGo's apart."""

import math
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import Records


class Puct(NamedTuple):
    """A playout follows the edge of the highest score. The defaults are dlshogi's.

    score = Q + c(N) P sqrt(N) / (u_offset + n), c(N) = c_init + ln((N + c_base + 1) / c_base)   [AlphaZero 2018]

    N is the visits of the node; under the root sign it counts as 1 while it is 0, so that the priors decide. n, Q and
    P are the visits, the mean value and the prior of the edge. An edge without visits has as its Q `unvisited`, or,
    where that is nan, max(0, mean of the node - fpu_reduction sqrt(sum of the priors of its visited edges))   [Leela
    Chess Zero].
    """

    c_init: float = 1.44
    c_base: float = 28288.0
    fpu_reduction: float = 0.27
    c_init_root: float = 1.16
    c_base_root: float = 25617.0
    fpu_reduction_root: float = 0.0
    unvisited: float = math.nan
    """Q of unvisited edges, 0 to 1. nan: by fpu_reduction."""
    u_offset: float = 1.0
    """1 for AlphaZero; a small one tries every move early, however small its prior [IaGo: 0.01]."""
    prior_bonus: float = 0.0
    """Added to every prior when a node gets its edges [IaGo: 0.1]."""
    expand_at: int = 1
    """A node gets its edges with its evaluation of this number, 1 to 100; until then it is evaluated at each visit
    [AlphaGo 2016]."""
    evaluate_anew: bool = True
    """Whether the evaluator is asked at each of these visits, as it must be where rollouts are part of what it says.
    Else the first evaluation is counted again."""
    forced_playouts: float = 0.0
    """An edge of the root that was visited is visited again while it has fewer than sqrt(forced_playouts P N) visits
    [KataGo 2019: 2]. 0: none is forced."""
    draw_value: float = 0.5
    """What a draw is worth to the side to move at the root."""


DEFAULT_PUCT: Final = Puct()
CONSTANTS: Final = np.dtype([(name, np.float64) for name in Puct._fields])


def constants(puct: Puct) -> Records:
    """The constants as one record of CONSTANTS, in an array as kernels take it."""
    return np.array([puct], CONSTANTS)
