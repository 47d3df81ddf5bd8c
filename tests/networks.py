"""Small networks, an encoding that belongs to no game, and a slow, plain way to compute a network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pydlshogi.encoding import Encoding, listed_by
from pydlshogi.network.architecture import Architecture, ModelError, architecture_for, parameter_shapes
from pydlshogi.network.sparse import sparse_shapes
from pydlshogi.network.weights import Weights, converted
from pydlshogi.support.arrays import Int32Array, Uint32Array
from pydlshogi.support.kernels.compiled import rule_for

Array = npt.NDArray[np.float32]


elements: int = 0
"""Of the planes of an encoding that have squares."""
fulls: int = 0
"""Planes behind them that are full of ones or of zeros."""
first_full: int = 0


def _list_bits(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    """Element i of the planes is bit i of the packed position; a plane that is full or empty has a single bit."""
    a = b = 0
    for i in range(elements + fulls):
        if packed[i // 32] >> (i % 32) & 1:
            if i < elements:
                active[a] = i
                a += 1
            else:
                full[b] = first_full + i - elements
                b += 1
    return a, b


def encoding_of(planes: int, height: int, width: int, labels: int, fulls: int = 0) -> Encoding:
    """An encoding of these planes and labels, for positions that are packed already."""
    name, size = f"{planes}x{height}x{width}x{fulls}", (planes - fulls) * height * width
    parts = {"elements": size, "fulls": fulls, "first_full": planes - fulls}

    listed = listed_by(name, rule_for(name, _list_bits, **parts))

    def unused(*_: object) -> Any:
        raise NotImplementedError

    return Encoding(name, planes, height, width, labels, -(-(size + fulls) // 32), unused, unused, listed)


SQUARE = encoding_of(104, 9, 9, 27 * 81)._replace(parts=(62, 42))
"""The sizes of the book."""
NARROW = encoding_of(14, 4, 3, 11 * 12)
ODD_LABELS = encoding_of(3, 8, 8, 65)
"""One label too many for a single plane."""
ENCODINGS = (SQUARE, NARROW, ODD_LABELS)

PLAIN = architecture_for(SQUARE, "policy_value", 12, 12)
RESNET = architecture_for(SQUARE, "policy_value_resnet", 3, 12)


def random_weights(architecture: Architecture, seed: int) -> Weights:
    """Weights of an untrained network, the same for the same seed.

    Convolutions and linear layers keep the size of their input on average (He et al. 2015), residual branches add a
    little to it; the statistics of batch normalisation and all biases are disturbed, so that a mistake in any of them
    shows in the output.
    """
    generator = np.random.default_rng(seed)
    weights: Weights = {}
    for name, shape in parameter_shapes(architecture).items():
        noise = generator.standard_normal(shape)
        match name.split("/")[-2:]:
            case ["l1", "W"]:
                array = 0.5 * noise  # few of the planes are set
            case ["value3" | "l15_v", "W"]:
                array = 0.2 * noise / np.sqrt(shape[1])  # no position as good as won
            case [_, "W"]:
                array = noise * np.sqrt(2.0 / np.prod(shape[1:]))
            case ["bn2", "gamma"]:
                array = 0.3 + 0.1 * noise
            case [_, "gamma"]:
                array = 1.0 + 0.1 * noise
            case [_, "avg_var"]:
                array = np.exp(0.2 * noise)
            case [_, "N"]:
                array = np.zeros(shape)
            case _:
                array = 0.1 * noise
        weights[name] = converted(name, array, np.float32)
    return weights


def random_sparse_weights(encoding: Encoding, value: int, policy: int, seed: int) -> Weights:
    """Weights of an untrained network, the same for the same seed."""
    generator = np.random.default_rng(seed)
    sizes = {"value_1_weight": 4 / np.sqrt(value), "value_2_weight": 1, "move_rows": 8 / np.sqrt(policy)}
    return {
        name: (sizes.get(name, 0.1) * generator.standard_normal(shape)).astype(np.float32)
        for name, shape in sparse_shapes(encoding, value, policy).items()
    }


def network(architecture: Architecture) -> Weights:
    """A random network whose batch normalisation meets variances small enough for its epsilon to matter."""
    weights = random_weights(architecture, seed=20)
    for name, array in weights.items():
        if name.endswith("/avg_var"):
            array[::4] = 1e-4
            weights[name.replace("avg_var", "gamma")][::4] *= 0.01
    return weights


def refusal_of(path: Path, load: Callable[[], object]) -> str:
    """What is said in one line of a file that cannot be used, without its name."""
    with pytest.raises(ModelError) as caught:
        load()
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def in_parts(model: Any, parts: tuple[int, ...], numbers: int = 1) -> Any:
    """An ONNX network of 9 x 9 squares as other programs have it: its planes in several inputs, a win rate, such
    numbers (by default float32)."""
    from onnx import TensorProto, helper

    inputs = [helper.make_tensor_value_info(f"input{i}", numbers, ["b", n, 9, 9]) for i, n in enumerate(parts, 1)]
    outputs = [
        helper.make_tensor_value_info("output_policy", numbers, ["b", 27 * 81]),
        helper.make_tensor_value_info("output_value", numbers, ["b", 1]),
    ]
    nodes = [
        helper.make_node("Concat", [each.name for each in inputs], ["all planes"], axis=1),
        helper.make_node("Cast", ["all planes"], ["planes"], to=TensorProto.FLOAT),
        *model.graph.node,
        helper.make_node("Sigmoid", ["value"], ["win rate"]),
        helper.make_node("Cast", ["win rate"], ["output_value"], to=numbers),
        helper.make_node("Cast", ["policy"], ["output_policy"], to=numbers),
    ]
    graph = helper.make_graph(nodes, "foreign", inputs, outputs, model.graph.initializer)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def packed_positions(encoding: Encoding, count: int, seed: int = 20) -> npt.NDArray[np.uint32]:
    """Packed positions [count, words] in whose planes one element of twenty is set."""
    bits = np.random.default_rng(seed).random((count, 32 * encoding.words)) < 0.05
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint32)


def legal_labels(encoding: Encoding, count: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """`firsts` and `labels` of positions: one has a single legal move, one has 600 or every label."""
    most = min(600, encoding.labels)
    generator = np.random.default_rng(5)
    counts = generator.integers(1, most, count)
    counts[:2] = 1, most
    labels = [generator.permutation(encoding.labels)[:size] for size in counts]
    return np.cumsum([0, *counts], dtype=np.int32), np.concatenate(labels).astype(np.int32)


def all_labels(encoding: Encoding, count: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The same where every label is legal in each position: logarithms of such priors are logits but for a constant."""
    firsts = np.arange(count + 1, dtype=np.int32) * np.int32(encoding.labels)
    return firsts, np.tile(np.arange(encoding.labels, dtype=np.int32), count)


def convolution(x: Array, kernel: Array) -> Array:
    """Every output square is a sum over the squares around it."""
    size, (height, width) = kernel.shape[2], x.shape[2:]
    around = np.pad(x, ((0, 0), (0, 0), (size // 2,) * 2, (size // 2,) * 2))
    y = np.zeros((len(x), len(kernel), height, width))
    for i in range(size):
        for j in range(size):
            y += np.einsum("oc,bcyx->boyx", kernel[:, :, i, j], around[:, :, i : i + height, j : j + width])
    return y


def logits(weights: Weights, planes: Array) -> tuple[Array, Array]:
    """Policy [B, labels] and value [B] as the book defines the two networks, in float64."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}

    def normalised(x: Array, name: str) -> Array:
        mean, variance, gamma, beta = (
            w[f"{name}/{part}"][:, None, None] for part in ("avg_mean", "avg_var", "gamma", "beta")
        )
        return gamma * (x - mean) / np.sqrt(variance + 2e-5) + beta

    def convolved(x: Array, name: str) -> Array:
        return convolution(x, w[f"{name}/W"]) + w[f"{name}/b"][:, None, None]

    def relu(x: Array) -> Array:
        return np.maximum(x, 0.0)

    h = relu(convolved(planes, "l1"))
    if "policy/W" in w:
        block = 1
        while f"b{block}/conv1/W" in w:
            inner = relu(normalised(convolution(h, w[f"b{block}/conv1/W"]), f"b{block}/bn1"))
            h = relu(h + normalised(convolution(inner, w[f"b{block}/conv2/W"]), f"b{block}/bn2"))
            block += 1
        policy, bias, value = w["policy/W"], w["policy_bias/b"], ("value1", "value2", "value3")
    else:
        for layer in range(2, 13):
            h = relu(convolved(h, f"l{layer}"))
        policy, bias, value = w["l13/W"], w["l13_bias/b"], ("l13_v", "l14_v", "l15_v")
    policy_logits = convolution(h, policy).reshape(len(h), -1) + bias.reshape(-1)
    v = convolved(h, value[0])
    if "value1_bn/gamma" in w:
        v = normalised(v, "value1_bn")
    v = relu(v).reshape(len(h), -1)
    v = relu(v @ w[f"{value[1]}/W"].T + w[f"{value[1]}/b"])
    return policy_logits, (v @ w[f"{value[2]}/W"].T + w[f"{value[2]}/b"])[:, 0]


def softmax(logits: Array) -> Array:
    return np.exp(logits) / np.exp(logits).sum()
