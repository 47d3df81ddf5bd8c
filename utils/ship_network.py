"""Networks from training to the files that the engine plays with: `python -m utils.ship_network NETWORK... --out FILE`

    python -m utils.ship_network runs/one/net.npz runs/two/net.npz --games games.jsonl.xz --out model/pydlshogi.npz

Several networks become one, the mean of their weights. Where one was trained on from the other, that mean often
foretells games better than either [Wortsman et al. 2022, "Model soups"]. The file holds float16; the .json beside it
what was fitted for the network, and its validation.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pydlshogi.command_line import exit_status
from pydlshogi.dataset import DatasetError, load_positions
from pydlshogi.files import cache_folder, replacing
from pydlshogi.network.backend import BackendError, load_backend
from pydlshogi.network.weights import ModelError, Weights, read_weights, recognise, write_weights
from pydlshogi.training.validation import fit_for_play, sample, validate
from utils.validate_network import tables

_FITTED_TO = 8192
"""Positions, as in training."""


def mean_of(paths: Sequence[Path]) -> Weights:
    """The mean of the weights in some files, float32. Raises ModelError where they are not of one size."""
    networks = [read_weights(path) for path in paths]
    sizes = [recognise(weights) for weights in networks]
    for path, size in zip(paths, sizes, strict=True):
        if size != sizes[0]:
            raise ModelError(f"{path}: {size} has no mean with the {sizes[0]} of {paths[0]}")
    return {name: np.mean([weights[name] for weights in networks], axis=0) for name in networks[0]}


def _run(options: argparse.Namespace) -> None:
    out: Path = options.out
    if not out.parent.is_dir():
        raise ModelError(f"{out}: No such folder")
    weights = mean_of(options.networks)
    positions = load_positions(options.games, "val", options.cache or cache_folder())
    with TemporaryDirectory() as folder:
        shipped = Path(folder, "net.npz")
        write_weights(shipped, weights, half=True)
        infer = load_backend("auto", shipped, precision="float32", batch_size=512).infer
        report = validate(infer, sample(positions, options.positions or len(positions)))
        fitted = fit_for_play(infer, sample(positions, _FITTED_TO))
    write_weights(out, weights, half=True)
    with replacing(out.with_suffix(".json")) as file:
        file.write(json.dumps({"options": fitted, "validation": report}, indent=1).encode() + b"\n")
    print(f"{tables([out.name], [report])}\n\nfitted: {fitted}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m utils.ship_network", description="Make of trained networks one that the engine plays with."
    )
    parser.add_argument("networks", nargs="+", type=Path, metavar="NETWORK", help="an .npz; of several, the mean")
    parser.add_argument("--out", type=Path, required=True, help="the .npz to write; the .json goes beside it")
    parser.add_argument("--games", type=Path, required=True, help="a games.jsonl(.xz), or a list of record files")
    parser.add_argument("--cache", type=Path, help="folder of packed positions (default: the user's cache folder)")
    parser.add_argument("--positions", type=int, default=0, help="validate with so many, by lot (default: all)")
    options = parser.parse_args(arguments)
    if options.out.suffix != ".npz":
        parser.error(f"{options.out} does not end in .npz")
    if options.positions < 0:
        parser.error("--positions is not negative")
    errors = (BackendError, DatasetError, ModelError)
    return exit_status("ship_network", partial(_run, options), *errors)


if __name__ == "__main__":
    sys.exit(main())
