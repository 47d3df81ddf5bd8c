"""A policy made better by its own games: `python -m utils.othello.reinforce --out FILE`

It begins as the policy that was learned from people's games and plays against its earlier selves, both colours alike.
Of each game it learns its own moves by REINFORCE (Williams 1992), as AlphaGo did (Silver et al. 2016): the gradient of
the logarithm of a move's share, times the result less what the value made of the position. Games between the two at the
end tell what was won. The same command goes on where it was broken off.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.bits import count
from pydlshogi.games.othello.engine.patterns import SHIPPED_WEIGHTS, load_weights
from pydlshogi.games.othello.engine.policy import (
    SHIPPED_POLICY,
    Moves,
    Tables,
    load_policy,
    policy_stage,
    room_for_moves,
    save_policy,
    shift,
    win_rate,
    write_shares,
)
from pydlshogi.games.othello.rules import MOST_MOVES, ONE, START_MOVER, START_OPPONENT, ZERO, moved, to_move
from pydlshogi.games.othello.wthor import GAME, Games, square_of
from pydlshogi.support.arrays import Float32Array, Float64Array, Int8Array
from pydlshogi.support.arrays_file import write_arrays
from pydlshogi.support.command_line import exit_status, natural, parser_for, positive
from pydlshogi.support.compiled import allocating
from pydlshogi.support.files import shipped_model
from utils.othello.learn_policy import Checkpoint, kept
from utils.othello.policy_games import RANDOM, match_line, play

LEARNER: Final = 1
"""Of the policies that play; 0 is RANDOM, 2 the opponent."""
_LEAST: Final = np.float32(1e-30)
"""A share that has a logarithm."""


class Settings(NamedTuple):
    """How it learns."""

    batch: int = 128
    """Games between two steps."""
    batches: int = 200
    """Between two of the selves that it plays against."""
    pool: int = 10
    """Selves that are kept, the latest ones."""
    opening: int = 10
    """Most random moves at the beginning; how many is drawn."""
    sharpness: float = 3.0
    """Factor of the logits: with shares as they are, it learns to beat opponents that blunder now and then, and
    its likeliest moves get worse.
    """
    rate: float = 0.002
    """Of learning, for a game."""


@allocating
def add_gradient(
    games: Games, plan: Int8Array, tables: Tables, gradient: Float32Array, choices: Float64Array, moves: Moves
) -> None:
    """Add to `gradient`, float32 [STAGES, WEIGHTS], what LEARNER's moves in `games` say of its weights.

    Those are `tables.policy`. `choices`, float64 [2], gets how many moves it chose, and the sum of their entropies in
    nats; `moves` is room to work in.
    """
    shares, numbers = np.empty(MOST_MOVES, np.float32), moves.words.view(np.uint16)
    for number in range(len(games)):
        mover, opponent, black = START_MOVER, START_OPPONENT, True
        result = np.sign(int(games[number].score) - 32)
        for ply in range(60):
            mover, opponent, squares, passed = to_move(mover, opponent)
            black = black != passed
            if squares == ZERO:
                break
            played = square_of(games[number].moves[ply])
            if plan[number, 0 if black else 1, ply] == LEARNER and squares & (squares - ONE) != ZERO:
                discs = count(mover | opponent)
                stage = policy_stage(discs)
                own = tables.policy[stage]
                legal = write_shares(own, mover, opponent, squares, tables.through, moves, shares)
                advantage = (result if black else -result) - (2 * win_rate(tables, discs, numbers) - 1)
                choices[0] += 1
                for move in range(legal):
                    chosen = np.float32(np.uint64(moves.squares[move]) == played)
                    shift(gradient[stage], moves, move, np.float32(advantage * (chosen - shares[move])))
                    choices[1] -= shares[move] * np.log(max(shares[move], _LEAST))
            mover, opponent = moved(mover, opponent, played)
            black = not black


def learn_round(tables: Tables, pool: Float32Array, settings: Settings, rng: np.random.Generator) -> str:
    """Learn `tables.policy`, sharpened, against the pool, float32 [selves, STAGES, WEIGHTS]; a line on its games."""
    policies, gradient = np.stack([RANDOM, tables.policy, RANDOM]), np.empty_like(tables.policy)
    plan = np.empty((settings.batch, 2, 60), np.int8)
    choices, points, moves = np.zeros(2), 0.0, room_for_moves()
    for _ in range(settings.batches):
        policies[LEARNER], policies[2] = tables.policy, pool[int(rng.integers(len(pool)))]
        plan[::2], plan[1::2] = [[LEARNER], [2]], [[2], [LEARNER]]
        for each, begun in zip(plan, rng.integers(settings.opening + 1, size=len(plan)), strict=True):
            each[:, :begun] = 0
        games = np.zeros(len(plan), GAME)
        play(games, plan, policies, rng)
        gradient[:] = 0
        add_gradient(games, plan, tables, gradient, choices, moves)
        tables.policy[:] += np.float32(settings.rate) * gradient
        results = np.sign(games["score"].astype(int) - 32)
        points += 0.5 + (results[::2].sum() - results[1::2].sum()) / (2 * len(games))
    return f"{points / settings.batches:.1%} of the points; {choices[1] / choices[0]:.3f} nats a move"


def learn(start: Tables, rounds: int, checkpoint: Path, seed: int, settings: Settings) -> Float32Array:
    """The policy after `rounds`, each of which ends with another opponent and a checkpoint. Raises ValueError
    where that is another run's, OSError.
    """
    run = f"policy {crc32(start.policy.tobytes()):08x}, seed {seed}"
    there = kept(checkpoint, run, (np.float32(settings.sharpness) * start.policy)[None])
    done, pool = int(there.rounds), there.learned
    tables = start._replace(policy=pool[-1].copy())
    games = settings.batch * settings.batches
    with tqdm(total=rounds * games, initial=done * games, unit="game", disable=None) as bar:
        for number in range(done, rounds):
            line = learn_round(tables, pool, settings, np.random.default_rng((seed, number)))
            pool = np.concatenate([pool, tables.policy[None]])[-settings.pool :]
            write_arrays(checkpoint, Checkpoint(run, pool, number + 1))
            bar.update(games)
            bar.write(f"{(number + 1) * games:,} games: of the last {games:,} {line}")
    return tables.policy / np.float32(settings.sharpness)


def main(arguments: Sequence[str] | None = None) -> int:
    settings = Settings()
    parser = parser_for("utils.othello.reinforce", "Make a policy better by its own games.")
    parser.add_argument("--out", type=Path, required=True, help="file of the policy to write, .npz")
    parser.add_argument(
        "--policy", type=Path, default=shipped_model() / SHIPPED_POLICY, help="to begin as (default: the engine's)"
    )
    parser.add_argument("--games", type=positive, default=512_000, help="at least")
    parser.add_argument("--pairs", type=positive, default=10_000, help="of games at the end")
    parser.add_argument("--seed", type=natural, default=1, help="other seeds, other games")
    options = parser.parse_args(arguments)

    def run() -> None:
        start, scales = load_policy(options.policy)
        tables = Tables(start, scales, load_weights(shipped_model() / SHIPPED_WEIGHTS))
        rounds = -(-options.games // (settings.batch * settings.batches))
        policy = learn(tables, rounds, options.out.with_suffix(".checkpoint.npz"), options.seed, settings)
        save_policy(options.out, policy, scales)
        learned, _ = load_policy(options.out)
        print(match_line(learned, start, options.pairs, np.random.default_rng(options.seed)))

    return exit_status("reinforce", run, ValueError, resume="the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
