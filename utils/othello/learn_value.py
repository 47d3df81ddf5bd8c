"""A value from games of policies: `python -m utils.othello.learn_value GAMES --reinforced FILE --out FILE`

As AlphaGo's (Silver et al. 2016): the engine's policy plays up to a random one, that move is random, and from
there the reinforced policy plays to the end. The position after the random move and the result are an example, one of
each game. The value is a logistic regression on the patterns, in discs such that the engine's scales turn them into
win rates. GAMES are files of WTHOR format, of which those held out tell how often it predicts the winner, and how
often the engine's value does.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.patterns import NUMBERS, STAGES, save_weights, shipped_weights
from pydlshogi.games.othello.engine.policy import SHIPPED_POLICY, load_policy
from pydlshogi.games.othello.records import read_archive
from pydlshogi.games.othello.wthor import GAME, Games, held_out, positions_of
from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array
from pydlshogi.support.command_line import exit_status, natural, parser_for, positive
from pydlshogi.support.files import check_writable, shipped_model
from utils.othello.learn import CLASS_COUNT, classes_of, fit, sums, weights_of
from utils.othello.learn_policy import by_four_plies, fit_scales
from utils.othello.policy_games import RANDOM, play

_SLICE: Final = 5_000
"""Games between two looks at the bar."""
_STEPS: Final = 6
"""Of the regression: with more the weights follow chance."""


def play_from_random_moves(
    supervised: Float32Array, reinforced: Float32Array, count: int, seed: int
) -> tuple[Games, Int64Array]:
    """Games, and which move of each is the random one, 1 to 59: int64 [count]."""
    policies, rng = np.stack([RANDOM, supervised, reinforced]), np.random.default_rng(seed)
    games, plies = np.zeros(count, GAME), rng.integers(1, 60, size=count)
    with tqdm(total=count, unit="game", disable=None) as bar:
        for first in range(0, count, _SLICE):
            own = plies[first : first + _SLICE, None]
            players = np.where(np.arange(60) < own - 1, 1, np.where(np.arange(60) < own, 0, 2)).astype(np.int8)
            play(games[first : first + _SLICE], np.repeat(players[:, None], 2, axis=1), policies, rng)
            bar.update(len(own))
    return games, plies


def examples(games: Games, plies: Int64Array, stage: int) -> tuple[Int32Array, Float32Array]:
    """The positions after `plies` moves of each game, where these are of `stage`: their classes, see `classes_of`, and
    1, 0.5 or 0 as the side to move won, drew or lost. A game that is over by then gives none.
    """
    own = plies // 4 == stage
    positions = positions_of(games[own], games["score"][own], 4 * stage, 4 * stage + 4)
    discs = np.bitwise_count(positions["mover"] | positions["opponent"])
    positions = positions[discs == plies[own][positions["game"]] + 4]
    results = 0.5 + 0.5 * np.sign(positions["lead"])
    return classes_of(positions), results.astype(np.float32)


def regression(classes: Int32Array, results: Float32Array) -> Float32Array:
    """The weights of all classes whose sums, as logits, come nearest to `results`.

    Newton's method with the bound 1/4 in place of each p (1 - p) (Böhning and Lindsay 1988): each step is a fit of
    least squares.
    """
    weights = np.zeros(CLASS_COUNT, np.float32)
    for _ in range(_STEPS):
        rates = 1 / (1 + np.exp(-sums(classes, weights)))
        weights += fit(classes, (4 * (results - rates)).astype(np.float32))
    return weights


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.othello.learn_value", "Learn a value from games of policies.")
    parser.add_argument("games", type=Path, nargs="+", help="files of games to test by, .wtb")
    parser.add_argument("--reinforced", type=Path, required=True, help="file of the policy that plays on, .npz")
    parser.add_argument("--out", type=Path, required=True, help="file of weights to write, .npz")
    parser.add_argument("--count", type=positive, default=400_000, help="games to play")
    parser.add_argument("--seed", type=natural, default=1, help="other seeds, other games")
    options = parser.parse_args(arguments)

    def run() -> None:
        check_writable(options.out)
        archive = read_archive(options.games).games
        supervised, scales = load_policy(shipped_model() / SHIPPED_POLICY)
        reinforced, _ = load_policy(options.reinforced)
        games, plies = play_from_random_moves(supervised, reinforced, options.count, options.seed)
        value = np.zeros((STAGES, NUMBERS), np.int16)
        for stage in tqdm(range(STAGES), unit="stage", disable=None):
            value[stage] = weights_of(scales[stage] * regression(*examples(games, plies, stage)))
        save_weights(options.out, value)
        for name, weights in (("this value", value), ("the engine's", shipped_weights())):
            _, right = fit_scales(archive, np.flatnonzero(held_out(archive)), weights)
            print(by_four_plies(right, f", {name}"))

    return exit_status("learn_value", run, ValueError)


if __name__ == "__main__":
    sys.exit(main())
