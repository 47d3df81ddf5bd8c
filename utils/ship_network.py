"""Trained networks become a file to play with: `python -m utils.ship_network NETWORK... --out FILE`

    python -m utils.ship_network runs/one/net.npz runs/two/net.npz --games games.jsonl.xz --out model/new.npz
    python -m utils.ship_network runs/one/net.npz --out net.onnx

Several networks become one, the mean of their weights. Where one was trained on from the other, that mean often
predicts games better than either [Wortsman et al. 2022, "Model soups"]. An .npz holds float16, and the largest values
of the maps for the integers of the engine; the .json beside it what was fitted for the network to `--games`, and its
validation. An .onnx is for other programs: an .npz plays here as it is.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pydlshogi.encoding import planes_of
from pydlshogi.encoding import sample as random_positions
from pydlshogi.games.shogi.encodings import ENCODINGS
from pydlshogi.games.shogi.training.dataset import fit_for_play, validate
from pydlshogi.games.shogi.training.formats import load
from pydlshogi.games.shogi.training.recorded import with_legal_moves
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.integers import largest_values, tower_of
from pydlshogi.network.loading import load_backend
from pydlshogi.network.weights import Weights, architecture_of, read_weights, write_fitted, write_weights
from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.files import cache_folder, check_writable, write_whole
from pydlshogi.training.validation import asking, sample

_FITTED_TO = 8192
"""Positions, as in training."""
_SEEN = 2048
"""The same by which the largest values of the maps are found, and as many of games by random moves."""


def mean_of(paths: Sequence[Path]) -> Weights:
    """The mean of the weights in some files, float32. Raises ModelError where they are not of one size."""
    networks = [read_weights(path) for path in paths]
    sizes = [architecture_of(weights) for weights in networks]
    for path, size in zip(paths, sizes, strict=True):
        if size != sizes[0]:
            raise ModelError(f"{path}: {size}, {size.ends}, has no mean with the {sizes[0]} of {paths[0]}")
    return {name: np.mean([weights[name] for weights in networks], axis=0) for name in networks[0]}


def ship(options: argparse.Namespace, weights: Weights) -> None:
    """Write the .npz and the .json."""
    positions = load(options.games, "val", options.cache or cache_folder())
    with TemporaryDirectory() as folder:
        shipped = Path(folder, "net.npz")
        write_weights(shipped, weights, half=True)
        backend = load_backend("auto", shipped, ENCODINGS, batch_size=512)
        predict, encoding = asking(backend), backend.encoding
        report = validate(predict, positions, encoding)
        fitted = fit_for_play(predict, sample(positions, _FITTED_TO), encoding)
    packed = np.concatenate([
        random_positions(encoding, _SEEN), with_legal_moves(sample(positions, _SEEN), encoding)[0]
    ])  # fmt: skip
    largest = largest_values(tower_of(weights), planes_of(encoding, packed))
    write_weights(options.out, weights, half=True, largest=largest)
    write_fitted(options.out.with_suffix(".json"), fitted, report)
    print(f"{options.out}: fitted {fitted}")


def export(out: Path, weights: Weights) -> None:
    """Write the .onnx, and see that it is the same network."""
    from pydlshogi.network.onnx_export import onnx_model

    write_whole(out, onnx_model(weights).SerializeToString())
    load_backend("onnx", out, ENCODINGS, device="cpu")
    print(out)


def _run(options: argparse.Namespace) -> None:
    out: Path = options.out
    for path in (out, out.with_suffix(".json")):
        if path.exists() and not options.overwrite:
            raise ModelError(f"{path} exists (--overwrite replaces it)")
    check_writable(out)
    weights = mean_of(options.networks)
    if out.suffix == ".onnx":
        export(out, weights)
    else:
        ship(options, weights)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.ship_network", "Make of trained networks one that the engine, or others, play with.")
    parser.add_argument("networks", nargs="+", type=Path, metavar="NETWORK", help="an .npz; of several, the mean")
    parser.add_argument("--out", type=Path, required=True, help="the .npz to write, a .json beside it; or an .onnx")
    parser.add_argument("--games", type=Path, help="to fit an .npz to: as utils.validate_network")
    parser.add_argument("--cache", type=Path, help="folder of packed positions (default: the user's cache folder)")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    options = parser.parse_args(arguments)
    if options.out.suffix not in (".npz", ".onnx"):
        parser.error(f"{options.out} ends neither in .npz nor in .onnx")
    if options.out.suffix == ".npz" and not options.games:
        parser.error("an .npz needs --games")
    return exit_status("ship_network", partial(_run, options), RuntimeError)


if __name__ == "__main__":
    sys.exit(main())
