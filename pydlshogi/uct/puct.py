"""The constants of selection, which tell AlphaZero's search, AlphaGo's and KataGo's apart."""

import math
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.support.arrays import Records


class Puct(NamedTuple):
    """A playout follows the edge of the highest `score` [AlphaZero 2018]. The defaults are dlshogi's.

    The value of an edge is its mean value. An edge without visits has the value `unvisited`, or, where that is nan,
    max(0, mean of the node - fpu_reduction sqrt(sum of the priors of its visited edges))   [Leela Chess Zero].
    """

    c_init: float = 1.44
    c_base: float = 28288.0
    fpu_reduction: float = 0.27
    c_init_root: float = 1.16
    c_base_root: float = 25617.0
    fpu_reduction_root: float = 0.0
    unvisited: float = math.nan
    """The value of unvisited edges, 0 to 1. nan: by fpu_reduction."""
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
    """An edge of the root that was visited is visited again while it has fewer than sqrt(forced_playouts prior visits)
    visits, of the root's [KataGo 2019: 2]. 0: none is forced."""
    draw_value: float = 0.5
    """What a draw is worth to the side to move at the root."""


DEFAULT_PUCT: Final = Puct()
CONSTANTS: Final = np.dtype([(name, np.float64) for name in Puct._fields])


def constants(puct: Puct) -> Records:
    """The constants as one record of CONSTANTS, in an array as kernels take it."""
    return np.array([puct], CONSTANTS)


def exploration(c_init: float, c_base: float, visits: float) -> float:
    """c(N) sqrt(N) of a node with N visits. Without visits the root counts as 1, so that the priors decide."""
    return (c_init + math.log((visits + c_base + 1) / c_base)) * math.sqrt(max(visits, 1))


def score(value: float, prior: float, visits: float, explored: float, u_offset: float) -> float:
    """The PUCT formula: what an edge is worth to the next playout. `explored`: the `exploration` of its node."""
    return value + explored * prior / (u_offset + visits)


def visits_at(wanted: float, value: float, prior: float, explored: float, u_offset: float) -> float:
    """With how many visits an edge of this `value` has the score `wanted`, which is above that value."""
    return explored * prior / (wanted - value) - u_offset
