"""A network file (.npz) as an ONNX file (.onnx), if wanted in int8 for fast play on a CPU.

An .npz plays as it is; ONNX files are for other programs, and for int8. To find the scales of int8 the network sees
positions of games that it plays against itself, with random moves by its policy.
"""

import argparse
import logging
import sys
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.encoding import planes_of
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.shogi.encodings import ENCODINGS
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import Backend
from pydlshogi.network.loading import load_backend
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.onnx_quantise import quantised_model
from pydlshogi.network.weights import read_weights
from pydlshogi.support.arrays import Float32Array, Uint32Array
from pydlshogi.support.command_line import exit_status, natural, parser_for, positive
from pydlshogi.support.files import check_writable, write_whole
from pydlshogi.uct.batch import Batch

GAMES_AT_ONCE: Final = 32
LONGEST_GAME: Final = 256
ONE_IN: Final = 8
"""Positions of a game resemble each other: one in so many is kept."""


def played_positions(backend: Backend, count: int, rng: np.random.Generator) -> Uint32Array:
    """Packed positions [count, words] from games in which both sides play random moves by the policy."""
    evaluator = NetworkEvaluator(backend)
    batch = Batch(GAMES_AT_ONCE, RULES.most_moves, backend.encoding)
    games = [ShogiPosition() for _ in range(GAMES_AT_ONCE)]
    kept: list[Uint32Array] = []
    while len(kept) < count:
        batch.clear()
        legal = [game.legal_moves() for game in games]
        for game, moves in zip(games, legal, strict=True):
            batch.add(game, moves)
        kept += [batch.packed[i].copy() for i in np.flatnonzero(rng.random(len(games)) < 1 / ONE_IN)]
        priors = np.split(evaluator.evaluate(batch).priors, batch.firsts[1:-1])
        for i, (game, moves, prior) in enumerate(zip(games, legal, priors, strict=True)):
            shares = np.cumsum(prior)  # its last may be less than prior.sum()
            game.push(moves[np.searchsorted(shares, rng.random() * shares[-1])])
            if game.ply() > LONGEST_GAME or not len(game.legal_moves()) or game.outcome() is not None:
                games[i] = ShogiPosition()
    return np.stack(kept[:count])


def comparison(exact: Backend, other: Backend, planes: Float32Array) -> str:
    """How far the answers of two backends to the same positions lie apart, in one line."""
    (policy, value), (other_policy, other_value) = exact.infer(planes), other.infer(planes)
    agreement = np.mean(policy.argmax(axis=1) == other_policy.argmax(axis=1))
    win_rate, other_win_rate = (1 / (1 + np.exp(-each)) for each in (value, other_value))
    distance = np.abs(win_rate - other_win_rate)
    return (
        f"compared with the .npz on {len(planes)} positions: same first label in {agreement:.1%}, "
        f"win rate apart by {distance.mean():.2%} on average and {distance.max():.2%} at most"
    )


def export(arguments: argparse.Namespace) -> str:
    """Write the file; a line about it."""
    if arguments.onnx.exists() and not arguments.overwrite:
        raise ModelError(f"{arguments.onnx} exists (--overwrite replaces it)")
    check_writable(arguments.onnx)
    rng = np.random.default_rng(arguments.seed)
    weights = read_weights(arguments.npz)
    backend = load_backend("onnx", arguments.npz, ENCODINGS, device="cpu")
    encoding = backend.encoding
    if arguments.int8:
        packed = played_positions(backend, arguments.count, rng)
        model = quantised_model(weights, planes_of(encoding, packed))
    else:
        model = onnx_model(weights)
    write_whole(arguments.onnx, model.SerializeToString())
    again = load_backend("onnx", arguments.onnx, [encoding], device="cpu")
    return comparison(backend, again, planes_of(encoding, played_positions(backend, arguments.count, rng)))


def main(words: list[str] | None = None) -> int:
    parser = parser_for("utils.export_onnx", __doc__)
    parser.add_argument("npz", type=Path, help="the network")
    parser.add_argument("onnx", type=Path, help="the file to write")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists")
    parser.add_argument("--int8", action="store_true", help="quantise")
    parser.add_argument("--count", type=positive, default=512, help="positions to calibrate on")
    parser.add_argument("--seed", type=natural, default=0, help="of the random positions")
    arguments = parser.parse_args(words)
    if arguments.onnx.suffix != ".onnx":
        parser.error(f"{arguments.onnx} does not end in .onnx, by which the engine tells the two kinds of files apart")
    # The quantiser recommends steps that a graph made here does not need.
    logging.getLogger().setLevel(logging.ERROR)
    return exit_status("export_onnx", lambda: print(export(arguments)))


if __name__ == "__main__":
    sys.exit(main())
