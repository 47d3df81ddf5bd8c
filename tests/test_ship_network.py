"""From networks of training to the files that are shipped: the mean of the weights, and what was fitted for it."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.weights import fitted_option, read_weights, write_weights
from tests.networks import random_weights
from tests.random_games import random_games, write_jsonl
from utils.ship_network import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "games.jsonl", [], random_games(2, plies=40, seed=8))
    for name, channels, seed in (("1", 8, 1), ("2", 8, 2), ("large", 12, 0)):
        architecture = architecture_for(BOOK, "policy_value_resnet", 1, channels)
        write_weights(tmp_path / f"{name}.npz", random_weights(architecture, seed))
    return tmp_path


def run(folder: Path, *networks: str, out: str = "shipped.npz", more: Sequence[str] = ()) -> int:
    files = [str(folder / network) for network in networks]
    places = [f"--out={folder / out}", f"--games={folder / 'games.jsonl'}", f"--cache={folder}"]
    return main([*files, *places, *more])


def test_the_mean_of_two_networks_with_its_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "1.npz", "2.npz") == 0
    first, second, shipped = (read_weights(folder / name) for name in ("1.npz", "2.npz", "shipped.npz"))
    assert set(shipped) == set(first)
    for name, array in shipped.items():
        assert np.allclose(array, (first[name] + second[name]) / 2, rtol=1e-3, atol=1e-6), name
    described = json.loads((folder / "shipped.json").read_text())
    assert described["options"]["Eval_Coef"] == fitted_option(folder / "shipped.npz", "Eval_Coef")
    assert described["validation"]["positions"] == 80
    assert str(described["options"]) in capsys.readouterr().out


def test_one_network_is_shipped_as_it_is_in_half_the_size(folder: Path) -> None:
    assert run(folder, "1.npz") == 0
    for name, array in read_weights(folder / "1.npz").items():
        assert np.array_equal(read_weights(folder / "shipped.npz")[name], array.astype(np.float16).astype(array.dtype))
    assert (folder / "shipped.npz").stat().st_size < 0.7 * (folder / "1.npz").stat().st_size


def test_an_onnx_is_the_same_network(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "1.npz", out="net.onnx") == 0
    assert (folder / "net.onnx").read_bytes() == onnx_model(read_weights(folder / "1.npz")).SerializeToString()
    assert capsys.readouterr().out == f"{folder / 'net.onnx'}\n"


@pytest.mark.parametrize("there", ["shipped.npz", "shipped.json"])
def test_nothing_is_overwritten_unasked(there: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / there).write_text("mine")
    assert run(folder, "1.npz") == 1
    assert capsys.readouterr().err == f"ship_network: {folder / there} exists (--overwrite replaces it)\n"
    assert (folder / there).read_text() == "mine"
    assert run(folder, "1.npz", more=["--overwrite"]) == 0
    assert read_weights(folder / "shipped.npz")


@pytest.mark.parametrize(
    ("networks", "out", "complaint"),
    [
        (["1.npz", "large.npz"], "shipped.npz", "2187 labels, has no mean with the policy_value_resnet 1x8 of"),
        (["1.npz", "none.npz"], "shipped.npz", "none.npz: No such file"),
        (["1.npz"], "nowhere/shipped.npz", "nowhere/shipped.npz: No such file or directory"),
    ],
)
def test_what_cannot_be_shipped_is_a_line(folder: Path, networks: list[str], out: str, complaint: str, capsys) -> None:
    assert run(folder, *networks, out=out) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("ship_network: ")
    assert complaint in error
    assert not list(folder.glob("shipped.*"))
