"""Whole games of policies: each move is sampled by the shares that a policy gives to the legal moves.

Games are rows of WTHOR's format. A plan says which of several policies plays where: int8 [games, 2, 60], by colour,
Black first, and by how many moves have been played, passes aside. All weights zero are a policy too: its moves are
random.
"""

from typing import Final

import numpy as np

from pydlshogi.games.othello.bits import count
from pydlshogi.games.othello.engine.policy import (
    STAGES,
    THROUGH,
    WEIGHTS,
    Moves,
    policy_stage,
    room_for_moves,
    write_shares,
)
from pydlshogi.games.othello.engine.rollouts import uniform
from pydlshogi.games.othello.rules import MOST_MOVES, START_MOVER, START_OPPONENT, ZERO, final_score, moved, to_move
from pydlshogi.games.othello.wthor import GAME, MOVES, Games, square_of
from pydlshogi.support.arrays import Float32Array, Int8Array, Int32Array, Uint64Array
from pydlshogi.support.compiled import allocating
from pydlshogi.support.elo import estimate, mean_score

GIVEN: Final = -1
"""In a plan: the move is in the row already."""
RANDOM: Final = np.zeros((STAGES, WEIGHTS), np.float32)
"""The policy to which all moves are alike."""
SURE: Final = np.float32(1000)
"""How many times as large weights leave no doubt between two moves."""
OPENING: Final = 8
"""Random moves at the beginning of the games of a match."""


@allocating
def play_games(
    games: Games, plan: Int8Array, policies: Float32Array, rng: Uint64Array, through: Int32Array, moves: Moves
) -> None:
    """Write the moves and the scores of `games`; `policies` are float32 [policies, STAGES, WEIGHTS].

    `rng`: see `uniform`; `through` is THROUGH; `moves` is room to work in.
    """
    shares = np.empty(MOST_MOVES, np.float32)
    for number in range(len(games)):
        mover, opponent, black = START_MOVER, START_OPPONENT, True
        for ply in range(61):
            mover, opponent, squares, passed = to_move(mover, opponent)
            black = black != passed
            if squares == ZERO:
                break
            player = plan[number, 0 if black else 1, ply]
            if player == GIVEN:
                square = square_of(games[number].moves[ply])
            else:
                own = policies[player, policy_stage(count(mover | opponent))]
                legal = write_shares(own, mover, opponent, squares, through, moves, shares)
                left, chosen = uniform(rng) - shares[0], 0
                while left >= 0 and chosen < legal - 1:
                    chosen += 1
                    left -= shares[chosen]
                square = np.uint64(moves.squares[chosen])
                games[number].moves[ply] = MOVES[square]
            mover, opponent = moved(mover, opponent, square)
            black = not black
        lead = final_score(mover, opponent)
        games[number].score = (64 + (lead if black else -lead)) // 2
        games[number].theoretical = games[number].score


def play(games: Games, plan: Int8Array, policies: Float32Array, rng: np.random.Generator) -> None:
    """Write the moves and the scores of `games`: see `play_games`."""
    play_games(games, plan, policies, rng.integers(1 << 63, size=1, dtype=np.uint64), THROUGH, room_for_moves())


def match(first: Float32Array, second: Float32Array, pairs: int, rng: np.random.Generator) -> list[int]:
    """In how many pairs of games the first policy made 0, 0.5, 1, 1.5 and 2 points.

    Both games of a pair begin with the same random moves, and the policies have the other colour in the second.
    """
    policies, games = np.stack([RANDOM, first, second]), np.zeros(pairs, GAME)
    plan, points = np.empty((pairs, 2, 60), np.int8), np.zeros(pairs)
    for black, begins in ((1, 0), (2, GIVEN)):
        plan[:, 0], plan[:, 1] = black, 3 - black
        plan[:, :, :OPENING] = begins
        games["moves"][:, OPENING:] = 0
        play(games, plan, policies, rng)
        lead = games["score"].astype(int) - 32
        points += 1 + np.sign(lead if black == 1 else -lead)
    return list(map(int, np.bincount(points.astype(int), minlength=5)))


def match_line(first: Float32Array, second: Float32Array, pairs: int, rng: np.random.Generator) -> str:
    """How the first policy does against the second, with moves sampled by their shares and with the likeliest ones."""
    texts = []
    for how, factor in (("by their shares", np.float32(1)), ("the likeliest move", SURE)):
        counts = match(factor * first, factor * second, pairs, rng)
        texts.append(f"{how}: {mean_score(counts):.1%} of {2 * pairs:,} games, {estimate(counts)} Elo")
    return "; ".join(texts)
