"""A network file (.npz) as an ONNX file (.onnx), if wanted in int8 for fast play on a CPU.

An .npz plays as it is; ONNX files are for other programs, and for int8. To find the scales of int8 the network sees
positions: those of --positions, or else of games that it plays against itself, drawing its moves from its policy.
"""

import argparse
import logging
import sys
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from pydlshogi.command_line import exit_status
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.features import Float32Array, PlaneBatch
from pydlshogi.files import replacing
from pydlshogi.games.shogi import START_SFEN, ShogiPosition
from pydlshogi.network.backend import Backend, BackendError, load_backend
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.onnx_quantise import quantised_model
from pydlshogi.network.weights import ModelError, read_weights
from utils.arena.openings import OpeningError, read_openings

GAMES_AT_ONCE: Final = 32
LONGEST_GAME: Final = 256
ONE_IN: Final = 8
"""Positions of a game resemble each other: one in so many is kept."""


def played_positions(backend: Backend, count: int, generator: np.random.Generator) -> Float32Array:
    """Planes [count, 104, 9, 9] of positions from games in which both sides draw their moves from the policy."""
    evaluator = NetworkEvaluator(backend)
    requests = evaluator.requests(GAMES_AT_ONCE)
    games = [ShogiPosition() for _ in range(GAMES_AT_ONCE)]
    kept: list[Float32Array] = []
    while len(kept) < count:
        requests.clear()
        for game in games:
            requests.note(game)
        legal = [game.legal_moves() for game in games]
        requests.moves = np.concatenate(legal)
        requests.counts = np.array([len(moves) for moves in legal], np.int32)
        planes = requests.planes.planes()
        kept += [planes[i].copy() for i in np.flatnonzero(generator.random(len(games)) < 1 / ONE_IN)]
        priors = np.split(evaluator.evaluate(requests).priors, np.cumsum(requests.counts)[:-1])
        for i, (game, moves, prior) in enumerate(zip(games, legal, priors, strict=True)):
            game.push(moves[np.searchsorted(np.cumsum(prior), generator.random() * prior.sum())])
            if game.ply() > LONGEST_GAME or not len(game.legal_moves()) or game.outcome() is not None:
                games[i] = ShogiPosition()
    return np.stack(kept[:count])


def listed_positions(path: Path, count: int, generator: np.random.Generator) -> Float32Array:
    """Planes [at most count, 104, 9, 9] of positions drawn from a list of positions and games in USI notation."""
    boards = []
    for opening in read_openings(path):
        position = ShogiPosition(opening.sfen or START_SFEN)
        boards.append(position.board.copy())
        for move in opening.moves:
            position.push_usi(move)
            boards.append(position.board.copy())
    batch = PlaneBatch(min(count, len(boards)))
    for i in generator.permutation(len(boards))[:count]:
        batch.add(boards[i])
    return batch.planes()


def comparison(exact: Backend, other: Backend, planes: Float32Array) -> str:
    """How far the answers of two backends to the same positions lie apart, in one line."""
    (policy, value), (other_policy, other_value) = exact.infer(planes), other.infer(planes)
    agreement = np.mean(policy.argmax(axis=1) == other_policy.argmax(axis=1))
    distance = np.abs(_win_rate(value) - _win_rate(other_value))
    return (
        f"compared with the .npz on {len(planes)} positions: same first label in {agreement:.1%}, "
        f"win rate apart by {distance.mean():.2%} on average and {distance.max():.2%} at most"
    )


def _win_rate(value_logits: Float32Array) -> npt.NDArray[np.floating]:
    return 1 / (1 + np.exp(-value_logits))


def export(arguments: argparse.Namespace) -> str:
    """Write the file; a line about it."""
    generator = np.random.default_rng(arguments.seed)
    weights = read_weights(arguments.npz)
    backend = load_backend("onnx", arguments.npz, device="cpu")
    if arguments.int8:
        if arguments.positions:
            planes = listed_positions(arguments.positions, arguments.count, generator)
        else:
            planes = played_positions(backend, arguments.count, generator)
        model = quantised_model(weights, planes)
    else:
        model = onnx_model(weights)
    with replacing(arguments.onnx) as file:
        file.write(model.SerializeToString())
    again = load_backend("onnx", arguments.onnx, device="cpu")
    return comparison(backend, again, played_positions(backend, arguments.count, generator))


def main(words: list[str] | None = None) -> int:
    """Returns 0, 1 after an error that has been told on stderr, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m utils.export_onnx", description=__doc__)
    parser.add_argument("npz", type=Path, help="the network")
    parser.add_argument("onnx", type=Path, help="the file to write")
    parser.add_argument("--int8", action="store_true", help="quantise")
    parser.add_argument("--positions", type=Path, help="a line each: startpos|[sfen] SFEN [moves ...]; plain or .xz")
    parser.add_argument("--count", type=int, default=512, help="positions to calibrate on (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the positions drawn (default %(default)s)")
    arguments = parser.parse_args(words)
    if arguments.onnx.suffix != ".onnx":
        parser.error(f"{arguments.onnx} does not end in .onnx, by which the engine tells the two kinds of files apart")
    if arguments.count < 1 or arguments.seed < 0:
        parser.error("--count is at least 1, and --seed not negative")
    if arguments.onnx.is_dir() or not arguments.onnx.parent.is_dir():
        parser.error(f"{arguments.onnx}: {'Is a directory' if arguments.onnx.is_dir() else 'No such folder'}")
    # The quantiser recommends steps that a graph made here does not need.
    logging.getLogger().setLevel(logging.ERROR)
    return exit_status("export_onnx", lambda: print(export(arguments)), BackendError, ModelError, OpeningError)


if __name__ == "__main__":
    sys.exit(main())
