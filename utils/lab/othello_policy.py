"""What othello_learn.py learns of moves: a policy (policy.py) or rollouts (rollouts.py).

The move that was played is learned, by stochastic gradient descent on its logarithmic loss over the legal moves.
"""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.patterns import DISC, WORDS, evaluate, write_numbers
from pydlshogi.games.othello.engine.patterns import STAGES as VALUE_STAGES
from pydlshogi.games.othello.engine.policy import (
    STAGES,
    THROUGH,
    WEIGHTS,
    Moves,
    describe,
    logit,
    policy_stage,
    room_for_moves,
    shift,
)
from pydlshogi.games.othello.engine.rollouts import CLASSES, surroundings
from pydlshogi.games.othello.engine.rollouts import WEIGHTS as ROLLOUT_WEIGHTS
from pydlshogi.games.othello.rules import MOST_MOVES, START_MOVER, START_OPPONENT, States, moved, to_move
from pydlshogi.games.othello.squares import ONE, ZERO, count, lowest
from pydlshogi.games.othello.wthor import Games, positions_of, square_of
from pydlshogi.network.backend import softmax
from pydlshogi.support.arrays import Float32Array, Float64Array, Int16Array, Int32Array, Int64Array
from pydlshogi.support.kernels.compiled import allocating, compiled, compiled_for, inlined, rule_of_game

_NO_SQUARE: Final = np.uint64(64)
_SLICE: Final = 2000
"""Games between two looks at the bar."""
_ALIKE: Final = 1.0001
"""Moves whose shares differ by less are likely alike: sums of the same weights come out in different ways."""
_RATE: Final = 0.02
"""Of learning, at first."""
_LOWEST_RATE: Final = 0.03
"""Of the first rate, at the end."""


class PolicyKind(NamedTuple):
    """What can be learned."""

    weights: tuple[int, ...]
    """Shape of its weights."""
    numbers: Int32Array
    """Which weight belongs to what."""
    epochs: int
    learn: Callable[..., float]
    """See `_learn`."""


@inlined
def hit(shares: Float32Array, legal: int, chosen: int) -> float:
    """Whether the likeliest of the moves was played; of several as likely one is chosen at random."""
    likeliest = 0
    for move in range(legal):
        if shares[move] > _ALIKE * shares[chosen]:
            return 0.0
        likeliest += shares[move] * _ALIKE > shares[chosen]
    return 1.0 / likeliest


@compiled
def _surrounded(mover: np.uint64, opponent: np.uint64, squares: np.uint64, classes: Int32Array, moves: Moves) -> int:
    """As `describe`, for rollouts: one weight for each move, that of the square with what stands around it."""
    n = 0
    while squares != ZERO:
        square = lowest(squares)
        squares &= squares - ONE
        moves.squares[n] = square
        moves.counts[n, 0], moves.counts[n, 1] = 1, 0
        moves.added[n, 0] = classes[square, surroundings(mover, opponent, square)]
        n += 1
    return n


described: Callable[[Any, Any, Any, Int32Array, Moves], int] = rule_of_game


def _learn(
    games: Games,
    which: Int64Array,
    weights: Float32Array,
    rate: float,
    hits: Float64Array,
    numbers: Int32Array,
    moves: Moves,
    shares: Float32Array,
) -> float:
    """Learn from the games of these numbers, at a rate of 0 only look; returns the sum of the losses.

    `hits`, float64 [60, 2], gets by ply how often the likeliest move was played, and how often some move was.
    `numbers` are the kind's; `moves` and `shares`, float32 [MOST_MOVES], are room to work in.
    """
    loss = 0.0
    for number in which:
        mover, opponent = START_MOVER, START_OPPONENT
        for ply in range(60):
            mover, opponent, squares, _ = to_move(mover, opponent)
            played = square_of(games[number].moves[ply])
            if squares == ZERO or played >= _NO_SQUARE:
                break
            own = weights[policy_stage(count(mover | opponent))]
            legal, chosen = described(mover, opponent, squares, numbers, moves), 0
            for move in range(legal):
                shares[move] = logit(own, moves, move)
                if moves.squares[move] == played:
                    chosen = move
            softmax(shares[:legal])
            hits[ply, 0] += hit(shares, legal, chosen)
            hits[ply, 1] += 1
            loss -= math.log(shares[chosen])
            for move in range(legal if rate > 0 else 0):
                shift(own, moves, move, np.float32(rate) * (np.float32(move == chosen) - shares[move]))
            mover, opponent = moved(mover, opponent, played)
    return loss


KINDS: Final = {
    "policy": PolicyKind((STAGES, WEIGHTS), THROUGH, 5, compiled_for("policy", _learn, described=describe)),
    "rollouts": PolicyKind(
        (STAGES, ROLLOUT_WEIGHTS), CLASSES, 3, compiled_for("rollouts", _learn, described=_surrounded)
    ),
}


@allocating
def _leads(states: States, patterns: Int16Array) -> Float32Array:
    """float32 [positions]: by how many discs the patterns see the side to move ahead."""
    leads = np.empty(len(states), np.float32)
    words = np.zeros((1, WORDS), np.uint64)
    numbers = words.view(np.uint16)
    for row in range(len(states)):
        mover, opponent = states[row].mover, states[row].opponent
        write_numbers(mover, opponent, words)
        leads[row] = np.float32(evaluate(patterns, count(mover | opponent), numbers, 0)) / np.float32(DISC)
    return leads


def fit_scales(games: Games, which: Int64Array, patterns: Int16Array) -> tuple[Float32Array, Float32Array]:
    """For each stage of the patterns the discs ahead that are a win rate of 73 %, and how often the side that is
    ahead has won, float32 [VALUE_STAGES] each; by the results of games.
    """
    games, candidates = games[which], np.geomspace(0.5, 40, 120)
    scales, right = np.full(VALUE_STAGES, 6, np.float32), np.full(VALUE_STAGES, np.nan, np.float32)
    for stage in range(VALUE_STAGES):
        positions = positions_of(games, games["score"], 4 * stage, 4 * stage + 4)
        decided = positions[positions["lead"] != 0]
        if len(decided):
            lead, result = _leads(decided, patterns), np.sign(decided["lead"])
            losses = [np.logaddexp(0, -result * lead / each).mean() for each in candidates]
            scales[stage] = candidates[np.argmin(losses)]
            right[stage] = ((lead > 0) == (result > 0)).mean()
    return scales, right


def learn(name: str, games: Games, held: Any, epochs: int, seed: int) -> Float32Array:
    """Learn from the games that are not `held`, and say after each epoch how well the others are predicted.

    `name` is the kind's.
    """
    kind = KINDS[name]
    weights = np.zeros(kind.weights, np.float32)
    room = kind.numbers, room_for_moves(), np.empty(MOST_MOVES, np.float32)
    learned, tested = np.flatnonzero(~held), np.flatnonzero(held)
    with tqdm(total=epochs * len(learned), unit="game", disable=None) as bar:
        for epoch in range(epochs):
            order = np.random.default_rng((seed, epoch)).permutation(learned)
            hits, loss = np.zeros((60, 2)), 0.0
            for first in range(0, len(order), _SLICE):
                share = (epoch + first / len(order)) / epochs
                rate = _RATE * (_LOWEST_RATE + (1 - _LOWEST_RATE) * (1 + math.cos(math.pi * share)) / 2)
                loss += kind.learn(games, order[first : first + _SLICE], weights, rate, hits, *room)
                bar.update(len(order[first : first + _SLICE]))
            line = f"epoch {epoch + 1}: of the games learned {_described(hits, loss)}"
            hits = np.zeros((60, 2))
            loss = kind.learn(games, tested, weights, 0.0, hits, *room)
            bar.write(f"{line}; of the others {_described(hits, loss)}")
    return weights


def _described(hits: Float64Array, loss: float) -> str:
    right, moves = hits.sum(axis=0)
    return f"{100 * right / max(1, moves):.2f} % of {moves:,.0f} moves, loss {loss / max(1, moves):.4f}"
