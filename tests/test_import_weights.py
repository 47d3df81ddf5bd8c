"""Weights of dlshogi's networks become ONNX files that compute what dlshogi defines."""

import importlib.util
import pickle
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import convolution
from positions import random_positions

from pydlshogi.encoding import planes_of
from pydlshogi.games.shogi.encodings import DLSHOGI
from pydlshogi.network.loading import load_backend
from pydlshogi.uct.batch import Batch
from utils.import_weights import main

Arrays = dict[str, np.ndarray]

WITH_TORCH = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch: pip install .[train]"),
]
CHANNELS = 8


class Drawn:
    """Arrays of a network by their names in PyTorch, random ones."""

    def __init__(self, seed: int) -> None:
        self._lot = np.random.default_rng(seed)
        self.arrays: Arrays = {}

    def layer(self, name: str, *shape: int, bias: bool = False) -> None:
        size = np.sqrt(2 / np.prod(shape[1:]))
        self.arrays[f"{name}.weight"] = self._lot.normal(0, size, shape).astype(np.float32)
        if bias:
            self.arrays[f"{name}.bias"] = self._lot.normal(0, 0.1, shape[0]).astype(np.float32)

    def norm(self, name: str, channels: int = CHANNELS) -> None:
        """Variances so small that it matters what is added to them."""
        for part in ("weight", "bias", "running_mean"):
            self.arrays[f"{name}.{part}"] = self._lot.normal(0.5, 0.1, channels).astype(np.float32)
        self.arrays[f"{name}.running_var"] = self._lot.uniform(1e-4, 1, channels).astype(np.float32)
        self.arrays[f"{name}.num_batches_tracked"] = np.array(7)

    def common(self) -> None:
        self.layer("l1_1_1", CHANNELS, 62, 3, 3)
        self.layer("l1_1_2", CHANNELS, 62, 1, 1)
        self.layer("l1_2", CHANNELS, 57, 1, 1)
        self.norm("norm1")

    def heads(self, policy: str, bias: str, value: list[str], *, value_bias: bool = False) -> None:
        self.layer(policy, 27, CHANNELS, 1, 1)
        self.arrays[f"{bias}.bias"] = self._lot.normal(0, 0.1, 2187).astype(np.float32)
        self.layer(value[0], 27, CHANNELS, 1, 1, bias=value_bias)
        self.norm(value[1], 27)
        self.layer(value[2], 16, 2187, bias=True)
        self.layer(value[3], 1, 16, bias=True)


def of_blocks(reduced: int = 0) -> Arrays:
    drawn = Drawn(1)
    drawn.common()
    for block in range(2):
        for half in (1, 2):
            drawn.layer(f"blocks.{block}.conv{half}", CHANNELS, CHANNELS, 3, 3)
            drawn.norm(f"blocks.{block}.bn{half}")
        if reduced:
            drawn.layer(f"blocks.{block}.se.fc1", reduced, CHANNELS, 1, 1, bias=True)
            drawn.layer(f"blocks.{block}.se.fc2", CHANNELS, reduced, 1, 1, bias=True)
    drawn.heads("policy", "policy_bias", ["value_conv1", "value_norm1", "value_fc1", "value_fc2"])
    return drawn.arrays


def of_layers(*, value_bias: bool) -> Arrays:
    """Two blocks: layers 2 to 5."""
    drawn = Drawn(2)
    drawn.common()
    for layer in range(2, 6):
        drawn.layer(f"l{layer}", CHANNELS, CHANNELS, 3, 3)
        drawn.norm(f"norm{layer}")
    drawn.heads("l6", "l6_2", ["l6_v", "norm6_v", "l7_v", "l8_v"], value_bias=value_bias)
    return drawn.arrays


NETWORKS = {
    "resnet2x8": of_blocks(),
    "resnet2x8_fcl16_swish": of_blocks(),
    "senet2x8_reduction4": of_blocks(reduced=2),
    "senet2x8_reduction4_swish": of_blocks(reduced=2),
    "resnet10_swish": of_layers(value_bias=False),
    "wideresnet10": of_layers(value_bias=True),
}


def expected(name: str, arrays: Arrays, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logits of policy and value, in float64, step by step."""
    w = {key: array.astype(np.float64) for key, array in arrays.items()}
    epsilon = 2e-5 if name.startswith("wide") else 1e-5

    def act(x: np.ndarray) -> np.ndarray:
        return x / (1 + np.exp(-x)) if name.endswith("swish") else np.maximum(x, 0)

    def norm(x: np.ndarray, layer: str) -> np.ndarray:
        weight, bias, mean, variance = (
            w[f"{layer}.{part}"][:, None, None] for part in ("weight", "bias", "running_mean", "running_var")
        )
        return weight * (x - mean) / np.sqrt(variance + epsilon) + bias

    def conv(x: np.ndarray, layer: str) -> np.ndarray:
        bias = w.get(f"{layer}.bias", np.zeros(1))
        return convolution(x, w[f"{layer}.weight"]) + bias[:, None, None]

    def squeeze(x: np.ndarray, layer: str) -> np.ndarray:
        hidden = act(conv(x.mean((2, 3), keepdims=True), f"{layer}.fc1"))
        return x / (1 + np.exp(-conv(hidden, f"{layer}.fc2")))

    board, hands = planes[:, :62], planes[:, 62:]
    x = conv(board, "l1_1_1") + conv(board, "l1_1_2") + conv(hands, "l1_2")
    if name.startswith("wide"):
        for i in (2, 4):
            y = act(norm(x, f"norm{i - 1}"))
            x = x + conv(act(norm(conv(y, f"l{i}"), f"norm{i}")), f"l{i + 1}")
        x = act(norm(x, "norm5"))
    elif "l2.weight" in w:
        x = act(norm(x, "norm1"))
        for i in (2, 4):
            y = act(norm(conv(x, f"l{i}"), f"norm{i}"))
            x = act(norm(conv(y, f"l{i + 1}"), f"norm{i + 1}") + x)
    else:
        x = act(norm(x, "norm1"))
        for block in ("blocks.0", "blocks.1"):
            y = act(norm(conv(x, f"{block}.conv1"), f"{block}.bn1"))
            y = norm(conv(y, f"{block}.conv2"), f"{block}.bn2")
            x = act((squeeze(act(y), f"{block}.se") if "senet" in name else y) + x)
    policy, bias, first, normalised, hidden, last = (
        ("l6", "l6_2", "l6_v", "norm6_v", "l7_v", "l8_v")
        if "l2.weight" in w
        else ("policy", "policy_bias", "value_conv1", "value_norm1", "value_fc1", "value_fc2")
    )
    logits = conv(x, policy).reshape(len(x), -1) + w[f"{bias}.bias"]
    v = act(norm(conv(x, first), normalised)).reshape(len(x), -1)
    v = act(v @ w[f"{hidden}.weight"].T + w[f"{hidden}.bias"])
    return logits, (v @ w[f"{last}.weight"].T + w[f"{last}.bias"])[:, 0]


def save_npz(path: Path, arrays: Arrays) -> None:
    """As dlshogi names them."""
    of_norms = {"weight": "gamma", "bias": "beta", "running_mean": "avg_mean", "running_var": "avg_var"}
    of_norms["num_batches_tracked"] = "N"
    named = {}
    for name, array in arrays.items():
        *way, leaf = name.split(".")
        leaves = of_norms if "norm" in name or "bn" in name else {"weight": "W", "bias": "b"}
        named["/".join([*way, leaves[leaf]])] = array
    np.savez_compressed(path, **named)


def planes_of_games() -> np.ndarray:
    positions = [position.copy() for position in islice(random_positions(3, games=1), 0, None, 20)]
    batch = Batch(len(positions), 600, DLSHOGI)
    for position in positions:
        batch.add(position, position.legal_moves())
    return planes_of(DLSHOGI, batch.packed)


def check(path: Path, name: str, arrays: Arrays) -> None:
    planes = planes_of_games()
    policy, value = load_backend("onnx", path, [DLSHOGI], device="cpu", threads=1).infer(planes)
    logits, value_logits = expected(name, arrays, planes)
    np.testing.assert_allclose(policy, logits, atol=2e-3)
    np.testing.assert_allclose(1 / (1 + np.exp(-value)), 1 / (1 + np.exp(-value_logits)), atol=1e-3)
    assert logits.std() > 0.1
    assert value_logits.std() > 0.01


@pytest.mark.parametrize("name", NETWORKS)
def test_an_npz_computes_what_dlshogi_defines(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_npz(tmp_path / "net.npz", NETWORKS[name])
    assert main([str(tmp_path / "net.npz"), str(tmp_path / "net.onnx"), f"--network={name}"]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {tmp_path / 'net.onnx'}: {name}, ")
    check(tmp_path / "net.onnx", name, NETWORKS[name])


@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=WITH_TORCH) for form in ("checkpoint", "state_dict", "parameters")]
)
def test_a_pth_too(form: str, tmp_path: Path) -> None:
    import torch

    name = "resnet2x8_fcl16_swish"
    state: Any = {key: torch.from_numpy(array) for key, array in NETWORKS[name].items()}
    if form == "checkpoint":
        state = {"epoch": 3, "t": 1000, "model": state, "optimizer": {"state": {}, "param_groups": [{"lr": 0.01}]}}
    if form == "parameters":
        state = {key: torch.nn.Parameter(each, each.is_floating_point()) for key, each in state.items()}
    torch.save(state, tmp_path / "net.pth")
    assert main([str(tmp_path / "net.pth"), str(tmp_path / "net.onnx"), f"--network={name}"]) == 0
    check(tmp_path / "net.onnx", name, NETWORKS[name])


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch: pip install .[train]")
def test_tensors_of_other_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    path, name = tmp_path / "net.pth", "resnet2x8"
    arrays = {key: torch.from_numpy(array) for key, array in NETWORKS["resnet2x8_fcl16_swish"].items()}
    for odd in ({1: torch.zeros(3)}, {"a": torch.eye(3).to_sparse()}, {"a": None}):
        torch.save({**arrays, **odd}, path)
        assert refusal(path, name, capsys) == f"{path} holds no state_dict of a network; {EXPORT}"
    torch.save({key: tensor.bfloat16() for key, tensor in arrays.items()}, path)
    assert main([str(path), str(tmp_path / "net.onnx"), "--network=resnet2x8_fcl16_swish"]) == 0


def test_arrays_of_text_are_none_of_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "net.npz", words=np.array(["some", "words"]))
    assert refusal(tmp_path / "net.npz", "resnet2x8", capsys).endswith(f"is no .npz archive of plain arrays; {EXPORT}")


class Trap:
    """Whoever unpickles it makes a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def refusal(path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of weights that cannot be used."""
    assert main([str(path), str(path.parent / "net.onnx"), f"--network={name}"]) == 1
    assert not (path.parent / "net.onnx").exists()
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error.removeprefix("import_weights: ").rstrip()


EXPORT = "dlshogi's convert_model_to_onnx exports it to .onnx"


@pytest.mark.parametrize("suffix", [".npz", pytest.param(".pth", marks=WITH_TORCH)])
def test_no_pickle_is_run(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, sprung = tmp_path / f"net{suffix}", tmp_path / "sprung"
    if suffix == ".npz":
        np.savez(path, trap=np.array([Trap(sprung)], object))
    else:
        import torch

        torch.save({"model": Trap(sprung)}, path)
    line = refusal(path, "resnet10_swish", capsys)
    assert line in (
        f"{path} is no .npz archive of plain arrays; {EXPORT}",
        f"{path} holds more than plain tensors, or is damaged; {EXPORT}",
    )
    assert not sprung.exists()
    path.write_bytes(pickle.dumps(Trap(sprung)))
    assert EXPORT in refusal(path, "resnet10_swish", capsys)
    assert not sprung.exists()


@pytest.mark.parametrize(
    ("name", "changes", "line"),
    [
        ("transformer", {}, f"no network is known here as transformer; {EXPORT}"),
        ("wideresnet10", {}, "array l2.weight is missing"),
        ("resnet2x8", {"norm1.weight": None}, "array norm1.weight is missing"),
        ("resnet2x8", {"extra.weight": np.zeros(3)}, "array extra.weight belongs to no resnet2x8"),
        ("resnet2x8", {"policy_bias.bias": np.zeros(27)}, "the arrays do not fit together: "),
        (
            "resnet2x8",
            {"l1_2.weight": np.zeros((8, 42, 1, 1))},
            "array l1_2.weight has shape (8, 42, 1, 1); it should take 57 planes",
        ),
    ],
)
def test_other_arrays_are_one_line(
    name: str, changes: dict[str, Any], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrays = {key: array for key, array in (of_blocks() | changes).items() if array is not None}
    save_npz(tmp_path / "net.npz", arrays)
    assert refusal(tmp_path / "net.npz", name, capsys).startswith(f"{tmp_path / 'net.npz'}: {line}")


def test_the_engine_says_what_to_do_with_them(tmp_path: Path) -> None:
    save_npz(tmp_path / "net.npz", of_blocks())
    with pytest.raises(ValueError, match=r"python -m utils\.import_weights makes an \.onnx of dlshogi's weights"):
        load_backend("onnx", tmp_path / "net.npz", [DLSHOGI])
