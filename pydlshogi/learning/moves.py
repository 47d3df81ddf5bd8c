"""What finished searches decide: the move of each game, and what its position teaches."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.encoding import Encoding, LabelMoves, Pack
from pydlshogi.game import Rules
from pydlshogi.support.arrays import (
    BoolArray,
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    Records,
    Uint16Array,
    Uint32Array,
)
from pydlshogi.support.kernels.compiled import compiled, compiled_for, inlined, rule_of_game, wide
from pydlshogi.uct.backup import mean
from pydlshogi.uct.root import MoveStats, plies_of, rank_of
from pydlshogi.uct.search import Search
from pydlshogi.uct.tree import Tree
from pydlshogi.uct.uct_node import bring_best

_ADVANTAGE: Final = 4.2
_BY_ROOT_OF_VISITS: Final = 1.75
"""Fitted to the moves of strong players, after searches of 64 playouts: docs/laboratory/README.md."""


class Moves(NamedTuple):
    """The moves of one root, in any order, float64."""

    visits: Float64Array
    values: Float64Array
    """Mean values, 0 to 1; the root's value where a move has no visits."""
    proven: Float64Array
    """As `MoveStats.plies`, 0 where nothing is proven."""
    priors: Float64Array
    """Before noise."""
    shares: Float64Array
    """The improved policy, which sums to 1."""


def moves_for(count: int) -> Moves:
    """Room for `count` moves."""
    return Moves(*np.zeros((len(Moves._fields), count)))


def _improve_of(moves: Moves, count: int, best: int, value: float) -> None:
    """Fill the shares of the first `count` moves by the priors, and by how much better than `value`, the root's, each
    turned out.

    Logits rise by the advantage of a move, the more the more visits it has had [Danihelka et al. 2022, policy
    improvement by planning with Gumbel]. best: the first by `MoveStats.rank`. If it is a proven win, it has all; a
    proven loss has nothing where another move is left.
    """
    highest = -math.inf
    for i in range(count):
        moves.shares[i] = -math.inf
        if moves.proven[best] != 0:
            moves.shares[i] = 0 if i == best else -math.inf
        elif moves.proven[i] == 0:
            by = _ADVANTAGE + _BY_ROOT_OF_VISITS * math.sqrt(moves.visits[i])
            moves.shares[i] = math.log(max(moves.priors[i], 1e-9)) + by * (moves.values[i] - value)
        highest = max(highest, moves.shares[i])
    total = 0.0
    for i in range(count):
        moves.shares[i] = math.exp(moves.shares[i] - highest)
        total += moves.shares[i]
    for i in range(count):
        moves.shares[i] /= total


_improve: Final = inlined(_improve_of)
_improved: Final = compiled(_improve_of)


def improved_policy(found: Sequence[MoveStats], priors: Float64Array, value: float) -> Float64Array:
    """Shares float64 [moves] of the moves that a search has `found`, as `Root.moves` sorts them: see `_improve_of`."""
    moves = moves_for(len(found))
    moves.visits[:] = [move.visits for move in found]
    moves.values[:] = [value if math.isnan(move.value) else move.value for move in found]
    moves.proven[:] = [move.plies or 0 for move in found]
    moves.priors[:] = priors
    _improved(moves, len(found), 0, value)
    return moves.shares


@inlined
def sampled(moves: Moves, count: int, best: int, opening: bool, sharpness: float, draw: float) -> int:
    """Which of the first `count` moves is played: in the opening one by the priors, else by the visits of those that
    are not proven, to the power of `sharpness`; the `best` if it is proven, or none has visits.

    draw: a random number, 0 to 1. The shares are used for it.
    """
    shares, most = moves.shares, 0.0
    for i in range(count):
        shares[i] = moves.priors[i] if opening else moves.visits[i]
        if not opening and (moves.proven[i] != 0 or moves.proven[best] != 0):
            shares[i] = 0.0
        most = max(most, shares[i])
    if most == 0:
        return best
    total = 0.0
    for i in range(count):
        shares[i] = (shares[i] / most) ** (1.0 if opening else sharpness)
        total += shares[i]
    left, chosen = draw * total, best
    for i in range(count):
        if shares[i] > 0 and left >= 0:
            chosen = i
            left -= shares[i]
    return chosen


class Decisions(NamedTuple):
    """What is asked about the search of each tree, and what was decided; the first axis is the number of the tree."""

    opening: BoolArray
    sharpness: Float64Array
    draws: Float64Array
    """See `sampled`."""
    full: BoolArray
    """Whether the position is learned."""
    known: Uint16Array
    priors: Float32Array
    """[trees, most moves]: the moves of a root, and their priors before noise."""
    move: Int32Array
    """The move chosen."""
    value: Float64Array
    """The value of the root, 0 to 1."""
    packed: Uint32Array
    """[trees, words]: the root, packed."""
    learned: Int32Array
    """How many moves of the policy to learn there are."""
    labels: Int32Array
    weights: Float32Array
    """[trees, most moves]: the policy to learn, the first `learned` of each row."""


class Chooser:
    """Chooses the moves of many games."""

    def __init__(self, rules: Rules, encoding: Encoding, search: Search, trees: int, temperature: float) -> None:
        """`encoding`: how the network sees the game that is to learn. `temperature`: of the policy in the search."""
        most = rules.most_moves
        self.decisions = Decisions(
            opening=np.zeros(trees, np.bool_),
            sharpness=np.zeros(trees),
            draws=np.zeros(trees),
            full=np.zeros(trees, np.bool_),
            known=np.zeros((trees, most), np.uint16),
            priors=np.zeros((trees, most), np.float32),
            move=np.zeros(trees, np.int32),
            value=np.zeros(trees),
            packed=np.zeros((trees, encoding.words), np.uint32),
            learned=np.zeros(trees, np.int32),
            labels=np.zeros((trees, most), np.int32),
            weights=np.zeros((trees, most), np.float32),
        )
        self._search = search
        self._temperature = temperature
        # A sparse network makes its policy of the labels that it is given: all legal moves.
        self._all = encoding.features > 0
        self._room = moves_for(most), np.zeros(most, np.uint16)
        name = f"{rules.name}_{encoding.name}"
        self._decide = compiled_for(name, _decide, label_moves=encoding.label_moves, pack=encoding.pack)

    def explore(self, trees: Int64Array, share: float, alpha: float, rng: np.random.Generator) -> None:
        """Note the priors of these roots, and replace a `share` of them by noise [AlphaZero 2018].

        alpha: Dirichlet's, summed over the moves of a root.
        """
        tree, nodes = self._search.table.tree, self._search.root_nodes
        counts = tree.nodes["count"][nodes[trees]]
        _explore(tree, nodes, trees, rng.gamma(np.repeat(alpha / counts, counts)), share, self.decisions)

    def decide(self, trees: Int64Array) -> None:
        """Fill in the decisions of these trees, whose roots have been searched."""
        search = self._search
        self._decide(
            search.table.tree, search.root_nodes, search.boards.states, trees, self.decisions, self._temperature,
            self._all, *self._room,
        )  # fmt: skip


@compiled
def _explore(
    tree: Tree, nodes: Int32Array, trees: Int64Array, noise: Float64Array, share: float, decisions: Decisions
) -> None:
    """See `Chooser.explore`. noise: positive numbers for all moves of the roots."""
    drawn = 0
    for number in trees:
        node = wide(nodes[number])
        first, count = wide(tree.nodes[node].first), wide(tree.nodes[node].count)
        total, visited_policy = 1e-9, 0.0
        for i in range(count):
            total += noise[drawn + i]
        for i in range(count):
            prior = tree.priors[first + i]
            decisions.known[number, i], decisions.priors[number, i] = tree.moves[first + i], prior
            tree.priors[first + i] = (1 - share) * prior + share * noise[drawn + i] / total
            if i < tree.nodes[node].visited_edges and tree.stats[tree.nodes[node].stats + i].visits > 0:
                visited_policy += tree.priors[first + i]
        tree.nodes[node].visited_policy = visited_policy
        bring_best(tree, first + tree.nodes[node].visited_edges, first + count)
        drawn += count


label_moves: LabelMoves = rule_of_game
pack: Pack = rule_of_game


def _decide(
    tree: Tree, nodes: Int32Array, states: Records, trees: Int64Array, decisions: Decisions, temperature: float,
    learns_all: bool, moves: Moves, chosen: Uint16Array,
) -> None:  # fmt: skip
    """See `Chooser.decide`."""
    for number in trees:
        node = wide(nodes[number])
        first, count = wide(tree.nodes[node].first), wide(tree.nodes[node].count)
        value = mean(tree.nodes, node)
        best, best_rank = 0, (-1, 0, 0.0)
        for i in range(count):
            visits, plies = 0, 0
            moves.values[i], moves.priors[i] = value, tree.priors[first + i]
            if i < tree.nodes[node].visited_edges:
                stat = tree.stats[tree.nodes[node].stats + i]
                visits, plies = wide(stat.visits), plies_of(tree, stat)
                if visits > 0:
                    moves.values[i] = stat.value_sum / visits
            moves.visits[i], moves.proven[i] = visits, plies
            rank = rank_of(plies, visits, moves.priors[i])
            if rank > best_rank:
                best, best_rank = i, rank
        decisions.value[number] = value
        opening, sharpness, draw = decisions.opening[number], decisions.sharpness[number], decisions.draws[number]
        decisions.move[number] = tree.moves[first + sampled(moves, count, best, opening, sharpness, draw)]
        if not decisions.full[number]:
            continue
        for i in range(count):
            place = 0
            while decisions.known[number, place] != tree.moves[first + i]:
                place += 1
            moves.priors[i] = float(decisions.priors[number, place]) ** temperature
        _improve(moves, count, best, value)
        kept = 0
        for i in range(count):
            if learns_all or moves.shares[i] > 0:
                chosen[kept], decisions.weights[number, kept] = tree.moves[first + i], moves.shares[i]
                kept += 1
        decisions.learned[number] = kept
        label_moves(states[node], chosen, kept, decisions.labels[number])
        pack(states[node], decisions.packed[number])
