"""Random games of Othello, for tests."""

import random

import numpy as np

from pydlshogi.games.othello.engine.patterns import CLASSES, NUMBERS, STAGES
from pydlshogi.games.othello.rules import START, Position
from pydlshogi.games.othello.transcript import Transcript, game_of
from pydlshogi.support.arrays import Int16Array


def random_game(seed: int, start: Position = START) -> Transcript:
    """A game of random moves to its end."""
    rng = random.Random(seed)
    moves = []
    position = start
    while legal := position.moves():
        moves.append(rng.choice(legal))
        position = position.play(moves[-1])
    return game_of(moves, start)


def random_position(seed: int, empties: int) -> Position:
    """A position of a random game with that many empty squares, in which the side to move can play somewhere."""
    for each in range(seed, seed + 100):
        position = START
        for move in random_game(each).moves:
            if position.empties == empties and position.moves()[0] < 64:
                return position
            position = position.play(move)
    raise AssertionError("no game came that far")


def random_weights(seed: int) -> Int16Array:
    """Small weights for all patterns, of no meaning but the same for symmetric ones."""
    sampled = np.random.default_rng(seed).integers(-300, 300, (STAGES, NUMBERS)).astype(np.int16)
    return np.ascontiguousarray(sampled[:, CLASSES])
