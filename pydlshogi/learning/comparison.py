"""Two evaluators against each other: paired games from random openings, all side by side."""

from collections.abc import Sequence

import numpy as np

from pydlshogi.game import PlayedPosition
from pydlshogi.games.entry import GameEntry
from pydlshogi.learning.forest import Forest, over, score_of_mover
from pydlshogi.uct.batch import Evaluator
from pydlshogi.uct.puct import Puct

_OPENING = (3, 8)
"""Plies, at least and at most: shorter ones are few, and would be played again and again."""


def compare(
    game: GameEntry,
    evaluators: Sequence[Evaluator],
    puct: Puct,
    playouts: int,
    games: int,
    draw_ply: int,
    seed: Sequence[int],
) -> list[int]:
    """How often the first of two evaluators made 0, 1/2, 1, 3/2 and 2 points of 2: counts [5].

    Every opening, of 3 to 8 random moves, is played twice, with colours changed. Every move gets so many playouts.
    """
    rng = np.random.default_rng(list(seed))
    openings = [_opening(game, draw_ply, rng) for _ in range((games + 1) // 2)]
    positions = [opening.copy() for opening in openings for _ in range(2)]
    first = [(number + position.ply()) % 2 for number, position in enumerate(positions)]
    """Which evaluator moves at the odd plies."""
    points = np.zeros(len(positions))
    forests = [Forest(game, evaluator, puct, playouts, len(positions), draw_ply) for evaluator in evaluators]
    alive = set(range(len(positions)))
    while alive:
        for player, forest in enumerate(forests):
            mine = [number for number in alive if (first[number] + positions[number].ply()) % 2 == player]
            for number, moves in forest.search({number: positions[number] for number in mine}, playouts).items():
                positions[number].push(moves[0].move)
                if over(positions[number], foreseen=True):
                    alive.remove(number)
                    score = score_of_mover(positions[number])
                    points[number] = score if player == 1 else 1 - score
    pairs = (2 * points.reshape(-1, 2).sum(1)).astype(int)
    return [int(count) for count in np.bincount(pairs, minlength=5)]


def _opening(game: GameEntry, draw_ply: int, rng: np.random.Generator) -> PlayedPosition:
    """A position in which the game is open."""
    while True:
        position = game.position(draw_ply=draw_ply)
        for _ in range(rng.integers(_OPENING[0], _OPENING[1] + 1)):
            moves = position.legal_moves()
            if not len(moves):
                break
            position.push(int(rng.choice(moves)))
        if position.outcome() is None and len(position.legal_moves()):
            return position
