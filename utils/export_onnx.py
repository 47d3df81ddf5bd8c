"""A network file (.npz) as an ONNX file (.onnx), for other programs: an .npz plays here as it is."""

import argparse
import sys
from pathlib import Path

import numpy as np

from pydlshogi.encoding import sample
from pydlshogi.games.shogi.encodings import ENCODINGS
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import Backend
from pydlshogi.network.loading import load_backend
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.weights import read_weights
from pydlshogi.support.arrays import Uint32Array
from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.files import check_writable, write_whole

_COMPARED = 512
"""Positions."""


def comparison(exact: Backend, other: Backend, packed: Uint32Array) -> str:
    """How far the answers of two backends to the same positions lie apart, in one line."""
    labels = np.tile(np.arange(exact.encoding.labels, dtype=np.int32), len(packed))
    firsts = np.arange(0, len(labels) + 1, exact.encoding.labels, dtype=np.int32)
    (priors, values), (other_priors, other_values) = (
        each.predict(packed, firsts, labels, 1.0) for each in (exact, other)
    )
    first, other_first = (each.reshape(len(packed), -1).argmax(1) for each in (priors, other_priors))
    distance = np.abs(values - other_values)
    return (
        f"compared with the .npz on {len(packed)} positions: same first label in {np.mean(first == other_first):.1%}, "
        f"win rate apart by {distance.mean():.2%} on average and {distance.max():.2%} at most"
    )


def export(arguments: argparse.Namespace) -> str:
    """Write the file; a line about it."""
    if arguments.onnx.exists() and not arguments.overwrite:
        raise ModelError(f"{arguments.onnx} exists (--overwrite replaces it)")
    check_writable(arguments.onnx)
    weights = read_weights(arguments.npz)
    backend = load_backend("onnx", arguments.npz, ENCODINGS, device="cpu")
    encoding = backend.encoding
    write_whole(arguments.onnx, onnx_model(weights).SerializeToString())
    again = load_backend("onnx", arguments.onnx, [encoding], device="cpu")
    return comparison(backend, again, sample(encoding, _COMPARED))


def main(words: list[str] | None = None) -> int:
    parser = parser_for("utils.export_onnx", __doc__)
    parser.add_argument("npz", type=Path, help="the network")
    parser.add_argument("onnx", type=Path, help="the file to write")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists")
    arguments = parser.parse_args(words)
    if arguments.onnx.suffix != ".onnx":
        parser.error(f"{arguments.onnx} does not end in .onnx, by which the engine tells the two kinds of files apart")
    return exit_status("export_onnx", lambda: print(export(arguments)))


if __name__ == "__main__":
    sys.exit(main())
