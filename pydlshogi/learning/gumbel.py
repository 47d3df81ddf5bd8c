"""A root searched as Gumbel AlphaZero does it: fewer moves, chosen by lot, halved again and again.

Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (ICLR 2022). With few playouts
its moves and targets are better than the prior, which those of PUCT need not be.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from pydlshogi.support.arrays import Float64Array
from pydlshogi.uct.root import MoveStats, Root

_VISITS: Final = 50.0
_SCALE: Final = 1.0
"""c_visit and c_scale of the paper, for values from 0 to 1."""


class GumbelRoot:
    """Sequential halving among the moves of one root."""

    def __init__(
        self, moves: Sequence[MoveStats], considered: int, playouts: int, generator: np.random.Generator
    ) -> None:
        """`moves`: of an expanded root. `considered`: how many of them are tried. `playouts`: the whole search."""
        considered = min(considered, playouts)
        noise = generator.gumbel(size=len(moves))
        self._lot = {move.move: float(noise[i]) + _logit(move) for i, move in enumerate(moves)}
        self._left = playouts
        self._phases = max(1, math.ceil(math.log2(max(2, min(considered, len(moves))))))
        self._share = playouts / self._phases
        self._considered = sorted(self._lot, key=lambda move: self._lot[move], reverse=True)[:considered]
        self._queue: list[int] = []
        self._begun = False

    @property
    def done(self) -> bool:
        """All playouts have been begun."""
        return not self._left

    def next(self, root: Root) -> int:
        """The move that the next playout of `root` is to begin with."""
        if not self._queue:
            if self._begun and len(self._considered) > 1:
                self._considered = self._best(root.moves())[: -(-len(self._considered) // 2)]
            self._begun = True
            each = max(1, int(self._share / len(self._considered)))
            self._queue = self._considered * each
        self._left -= 1
        return self._queue.pop(0)

    def chosen(self, moves: Sequence[MoveStats]) -> int:
        """The move to be played: the best of those that are left and not proven to lose, if the first is not proven."""
        if moves[0].plies is not None:
            return moves[0].move
        lost = {move.move for move in moves if move.plies is not None}
        return next((move for move in self._best(moves) if move not in lost), moves[0].move)

    def _best(self, moves: Sequence[MoveStats]) -> list[int]:
        """The moves still considered, the best first."""
        gained = dict(zip((move.move for move in moves), improvement(moves).tolist(), strict=True))
        return sorted(self._considered, key=lambda move: self._lot[move] + gained[move], reverse=True)


def improvement(moves: Sequence[MoveStats]) -> Float64Array:
    """What the search adds to the logits of the policy, float64 [moves]: sigma of the completed values.

    A move without visits has as its value the mean of those visited, by their priors [appendix D of the paper, which
    counts the network's own value of the root as one visit more].
    """
    visited = [move for move in moves if move.visits]
    known = sum(move.prior * move.value for move in visited) / max(1e-9, sum(move.prior for move in visited))
    values = np.array([move.value if move.visits else (known if visited else 0.5) for move in moves])
    most = max(move.visits for move in moves)
    return (_VISITS + most) * _SCALE * values


def improved_policy(moves: Sequence[MoveStats]) -> Float64Array:
    """The policy that a search of this root teaches, float64 [moves]: all of it a proven win, none a proven loss."""
    if moves[0].plies is not None:
        return np.array([float(i == 0) for i in range(len(moves))])
    logits = np.array([_logit(move) for move in moves]) + improvement(moves)
    policy: Float64Array = np.exp(logits - logits.max()) * np.array([move.plies is None for move in moves])
    policy /= policy.sum()
    return policy


def _logit(move: MoveStats) -> float:
    return math.log(max(move.prior, 1e-9))
