"""The selection formula and its constants: they make it that of AlphaZero, of AlphaGo or of IaGo.

A constant is a field of `Puct`. Each function of the formula is given all of them: Python hands it a `Puct`, kernels
one record of CONSTANTS, which has the same fields.
"""

import math
from typing import Final, NamedTuple


class Puct(NamedTuple):
    """A playout follows the edge of the highest `score` [AlphaZero 2018]. The defaults are dlshogi's."""

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
    """How many evaluations a node has, 1 to 100, when it gets its edges. Until then each visit evaluates it anew
    [AlphaGo 2016]."""
    evaluate_anew: bool = True
    """Whether each of these visits asks the evaluator, whose answers differ where rollouts are part of them. False: the
    first value is counted again."""
    draw_value: float = 0.5
    """What a draw is worth to the side to move at the root."""


DEFAULT_PUCT: Final = Puct()


def exploration(puct: Puct, at_root: bool, visits: float) -> float:
    """C(N) sqrt(N) of a node with N visits, C(N) = c_init + ln((1 + N + c_base) / c_base) [AlphaZero 2018].

    Without visits the root counts as 1, so that the priors decide.
    """
    c_init, c_base = puct.c_init, puct.c_base
    if at_root:
        c_init, c_base = puct.c_init_root, puct.c_base_root
    return (c_init + math.log((visits + c_base + 1) / c_base)) * math.sqrt(max(visits, 1))


def first_value(puct: Puct, at_root: bool, mean: float, visited_policy: float) -> float:
    """The value of an edge without visits: first play urgency, as Leela Chess Zero has it.

    `mean` is that of its node, and `visited_policy` the sum of the priors of the node's visited edges.
    """
    if not math.isnan(puct.unvisited):
        return puct.unvisited
    reduction = puct.fpu_reduction_root if at_root else puct.fpu_reduction
    # Undoing collisions can leave the visited policy a rounding error below zero.
    return max(0.0, mean - reduction * math.sqrt(max(0.0, visited_policy)))


def score(puct: Puct, value: float, prior: float, visits: float, explored: float) -> float:
    """The PUCT formula: what an edge is worth to the next playout. `explored`: the `exploration` of its node.

    `value` is the mean value of the edge, or its `first_value`. Silver et al. 2018, "A general reinforcement learning
    algorithm ...", supplement: Q(s, a) + C(s) P(s, a) sqrt(N(s)) / (1 + N(s, a)).

    >>> explored = exploration(DEFAULT_PUCT, at_root=False, visits=100)
    >>> round(score(DEFAULT_PUCT, value=0.5, prior=0.2, visits=9, explored=explored), 3)
    0.789
    """
    return value + explored * prior / (puct.u_offset + visits)


def lost_score(prior: float, explored: float) -> float:
    """The score of an edge that is proven lost: below all others, so that it is followed only if all are lost."""
    return -0.5 + explored * prior * 2.0**-30
