"""Networks from training to the files that the engine plays with: `python -m utils.ship_network NETWORK... --out FILE`

    python -m utils.ship_network runs/one/net.npz runs/two/net.npz --games games.jsonl.xz --out model/new.npz

Several networks become one, the mean of their weights. Where one was trained on from the other, that mean often
predicts games better than either [Wortsman et al. 2022, "Model soups"]. The file holds float16, and the largest values
of the maps for the integers of the engine; the .json beside it what was fitted for the network, and its validation.
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
from pydlshogi.games.shogi.training.recorded import with_legal_moves
from pydlshogi.games.shogi.training.validation import fit_for_play, validate
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.fitted import write_fitted
from pydlshogi.network.integers import largest_values, tower_of
from pydlshogi.network.loading import load_backend
from pydlshogi.network.weights import Weights, architecture_of, read_weights, write_weights
from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.files import check_writable
from pydlshogi.training.validation import asking, sample
from utils.validate_network import parsed_with_games, tables, val_positions

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


def _run(options: argparse.Namespace) -> None:
    out: Path = options.out
    if out.exists() and any(network.exists() and network.samefile(out) for network in options.networks):
        raise ModelError(f"{out} is what the network is to be made from")
    for path in (out, out.with_suffix(".json")):
        if path.exists() and not options.overwrite:
            raise ModelError(f"{path} exists (--overwrite replaces it)")
    check_writable(out)
    weights = mean_of(options.networks)
    positions = val_positions(options)
    with TemporaryDirectory() as folder:
        shipped = Path(folder, "net.npz")
        write_weights(shipped, weights, half=True)
        backend = load_backend("auto", shipped, ENCODINGS, batch_size=512)
        predict, encoding = asking(backend), backend.encoding
        report = validate(predict, sample(positions, options.positions or len(positions)), encoding)
        fitted = fit_for_play(predict, sample(positions, _FITTED_TO), encoding)
    packed = np.concatenate([
        random_positions(encoding, _SEEN), with_legal_moves(sample(positions, _SEEN), encoding)[0]
    ])  # fmt: skip
    largest = largest_values(tower_of(weights), planes_of(encoding, packed))
    write_weights(out, weights, half=True, largest=largest)
    write_fitted(out.with_suffix(".json"), fitted, report)
    print(f"{tables([out.name], [report])}\n\nfitted: {fitted}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.ship_network", "Make of trained networks one that the engine plays with.")
    parser.add_argument("networks", nargs="+", type=Path, metavar="NETWORK", help="an .npz; of several, the mean")
    parser.add_argument("--out", type=Path, required=True, help="the .npz to write; the .json goes beside it")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    options = parsed_with_games(parser, arguments)
    if options.out.suffix != ".npz":
        parser.error(f"{options.out} does not end in .npz")
    return exit_status("ship_network", partial(_run, options), RuntimeError)


if __name__ == "__main__":
    sys.exit(main())
