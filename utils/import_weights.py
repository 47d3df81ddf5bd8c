"""Weights of dlshogi's networks, .npz or .pth, as an ONNX file, which the option `modelfile` takes.

    python -m utils.import_weights model.npz model.onnx --network resnet10_swish

--network is the name under which dlshogi trained it: wideresnet10, resnet20x256_relu, senet10_swish and the like. Other
networks are exported by dlshogi's own convert_model_to_onnx. Nothing but plain tensors is read, and no pickle run.
"""

import argparse
import pickle
import re
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, checker, helper, numpy_helper
from onnx.shape_inference import InferenceError

from pydlshogi.games.shogi.encodings import DLSHOGI, NYUGYOKU
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.onnx_export import IR_VERSION, OPSET
from pydlshogi.network.weights import Array, converted
from pydlshogi.support.command_line import exit_status
from pydlshogi.support.files import open_plain, replacing

NAMES: Final = re.compile(r"(wideresnet|resnet|senet)\d+(?:x\d+)?(?:_fcl\d+)?(?:_reduction\d+)?(?:_(relu|swish))?")
"""Of networks; sizes need not be read from them, the arrays have them."""
INPUTS: Final = ("input1", "input2")
POLICY: Final = "output_policy"
VALUE: Final = "output_value"

_IN_TORCH: Final = {
    "W": "weight",
    "b": "bias",
    "gamma": "weight",
    "beta": "bias",
    "avg_mean": "running_mean",
    "avg_var": "running_var",
    "N": "num_batches_tracked",
}
"""Last parts of names in an .npz, and what they are called in a .pth."""
_ELSEWHERE: Final = "dlshogi's convert_model_to_onnx exports it to .onnx"


def arrays_of(path: Path) -> dict[str, Array]:
    """The arrays of a file by their names in PyTorch, without counters. Raises ModelError, OSError."""
    arrays = _of_npz(path) if path.suffix == ".npz" else _of_torch(path)
    try:
        return {
            name: converted(name, array, np.float32)
            for name, array in arrays.items()
            if not name.endswith(_IN_TORCH["N"])
        }
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def _of_npz(path: Path) -> dict[str, Array]:
    try:
        with open_plain(path) as file:
            archive = np.load(file, allow_pickle=False)
            arrays = {name: archive[name] for name in getattr(archive, "files", [])}
            if any(array.dtype.kind not in "fiu" for array in arrays.values()):
                raise ValueError
    except (BadZipFile, EOFError, KeyError, RuntimeError, ValueError, zlib.error) as error:
        raise ModelError(f"{path} is no .npz archive of plain arrays; {_ELSEWHERE}") from error
    split = {name: name.split("/") for name in arrays}
    return {".".join([*way, _IN_TORCH.get(leaf, leaf)]): arrays[name] for name, (*way, leaf) in split.items()}


def _of_torch(path: Path) -> dict[str, Array]:
    """Of a checkpoint the weights that are learning; or the file is a state_dict itself."""
    try:
        import torch
    except ImportError as error:
        raise ModelError(f"{path} needs PyTorch to be read: pip install torch") from error
    try:
        with open_plain(path) as file:
            content = torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, EOFError, KeyError, RuntimeError, ValueError) as error:
        raise ModelError(f"{path} holds more than plain tensors, or is damaged; {_ELSEWHERE}") from error
    weights: Any = content.get("model", content) if isinstance(content, dict) else None
    try:
        return {name.removeprefix("module."): tensor.detach().float().numpy() for name, tensor in weights.items()}
    except (AttributeError, RuntimeError, TypeError) as error:  # of None, sparse tensors, names that are none
        raise ModelError(f"{path} holds no state_dict of a network; {_ELSEWHERE}") from error


class _Graph:
    """Nodes and constants collected layer by layer; every method returns the name of its result."""

    def __init__(self, arrays: Mapping[str, Array], *, swish: bool, epsilon: float) -> None:
        self.arrays = arrays
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self._swish = swish
        seen = arrays["l1_2.weight"].shape if "l1_2.weight" in arrays else ()
        self.parts = NYUGYOKU.parts if seen[1:2] == NYUGYOKU.parts[1:] else DLSHOGI.parts
        self._epsilon = epsilon

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        result = f"{operator} {len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [result], **attributes))
        return result

    def constant(self, name: str) -> str:
        if name not in self.arrays:
            raise ModelError(f"array {name} is missing")
        self.constants[name] = numpy_helper.from_array(self.arrays[name], name)
        return name

    def layer(self, operator: str, x: str, name: str, **attributes: Any) -> str:
        bias = [self.constant(f"{name}.bias")] if f"{name}.bias" in self.arrays else []
        return self.node(operator, x, self.constant(f"{name}.weight"), *bias, **attributes)

    def convolution(self, x: str, name: str) -> str:
        return self.layer("Conv", x, name, auto_pad="SAME_UPPER")

    def linear(self, x: str, name: str) -> str:
        return self.layer("Gemm", x, name, transB=1)

    def normalised(self, x: str, name: str) -> str:
        parts = [self.constant(f"{name}.{part}") for part in ("weight", "bias", "running_mean", "running_var")]
        return self.node("BatchNormalization", x, *parts, epsilon=self._epsilon)

    def activated(self, x: str) -> str:
        return self.node("Mul", x, self.node("Sigmoid", x)) if self._swish else self.node("Relu", x)

    def first_layer(self) -> str:
        seen = []
        for name, part in (("l1_1_1", 0), ("l1_1_2", 0), ("l1_2", 1)):
            seen.append(self.convolution(INPUTS[part], name))
            shape = self.arrays[f"{name}.weight"].shape
            if shape[1:2] != (self.parts[part],):
                raise ModelError(f"array {name}.weight has shape {shape}; it should take {self.parts[part]} planes")
        return self.node("Sum", *seen)

    def block(self, x: str, names: tuple[str, str], normalisations: tuple[str, str], squeeze: str) -> str:
        """Convolution, normalisation, activation, twice; but the last activation comes after the sum with x."""
        y = self.activated(self.normalised(self.convolution(x, names[0]), normalisations[0]))
        y = self.normalised(self.convolution(y, names[1]), normalisations[1])
        if f"{squeeze}.fc1.weight" in self.arrays:
            y = self.squeezed(self.activated(y), squeeze)
        return self.activated(self.node("Add", y, x))

    def squeezed(self, x: str, name: str) -> str:
        """Each plane weighed by what all planes are on average (Hu, Shen and Sun 2018)."""
        weights = self.activated(self.convolution(self.node("GlobalAveragePool", x), f"{name}.fc1"))
        return self.node("Mul", x, self.node("Sigmoid", self.convolution(weights, f"{name}.fc2")))

    def wide_block(self, x: str, layer: int) -> str:
        """Normalisation, activation, convolution, twice; then the sum with x."""
        y = self.activated(self.normalised(x, f"norm{layer - 1}"))
        y = self.activated(self.normalised(self.convolution(y, f"l{layer}"), f"norm{layer}"))
        return self.node("Add", self.convolution(y, f"l{layer + 1}"), x)

    def heads(self, x: str, policy: str, bias: str, value: tuple[str, str, str, str]) -> None:
        flat = self.node("Flatten", self.convolution(x, policy))
        logits = self.node("Add", flat, self.constant(f"{bias}.bias"))
        convolution, normalisation, hidden, output = value
        y = self.activated(self.normalised(self.convolution(x, convolution), normalisation))
        y = self.activated(self.linear(self.node("Flatten", y), hidden))
        win_rate = self.node("Sigmoid", self.linear(y, output))
        for result, name in ((logits, POLICY), (win_rate, VALUE)):
            self.nodes.append(helper.make_node("Identity", [result], [name]))


def model_of(arrays: Mapping[str, Array], network: str) -> ModelProto:
    """The network that dlshogi calls by this name, with these arrays, as dlshogi exports it. Raises ModelError."""
    known = NAMES.fullmatch(network)
    if known is None:
        raise ModelError(f"no network is known here as {network}; {_ELSEWHERE}")
    family, activation = known.groups()
    wide = family == "wideresnet"
    graph = _Graph(arrays, swish=activation == "swish", epsilon=2e-5 if wide else 1e-5)
    x = graph.first_layer()
    if "blocks.0.conv1.weight" in arrays and not wide:
        x = graph.activated(graph.normalised(x, "norm1"))
        number = 0
        while f"blocks.{number}.conv1.weight" in arrays:
            parts = [f"blocks.{number}.{part}" for part in ("conv1", "conv2", "bn1", "bn2", "se")]
            x = graph.block(x, (parts[0], parts[1]), (parts[2], parts[3]), parts[4])
            number += 1
        graph.heads(x, "policy", "policy_bias", ("value_conv1", "value_norm1", "value_fc1", "value_fc2"))
    else:
        last = max((layer for layer in range(1, 1000, 2) if f"norm{layer}.weight" in arrays), default=1)
        x = x if wide else graph.activated(graph.normalised(x, "norm1"))
        for layer in range(2, last, 2):
            norms = f"norm{layer}", f"norm{layer + 1}"
            x = graph.wide_block(x, layer) if wide else graph.block(x, (f"l{layer}", f"l{layer + 1}"), norms, "se")
        x = graph.activated(graph.normalised(x, f"norm{last}")) if wide else x
        head = f"l{last + 1}"
        value = (f"{head}_v", f"norm{last + 1}_v", f"l{last + 2}_v", f"l{last + 3}_v")
        graph.heads(x, head, f"{head}_2", value)
    if surplus := sorted(arrays.keys() - graph.constants.keys()):
        raise ModelError(f"array {surplus[0]} belongs to no {network}")
    return _model(graph, network)


def _model(graph: _Graph, network: str) -> ModelProto:
    def tensor(name: str, *shape: int) -> ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch_size", *shape])

    inputs = [
        tensor(name, planes, DLSHOGI.height, DLSHOGI.width) for name, planes in zip(INPUTS, graph.parts, strict=True)
    ]
    outputs = [tensor(POLICY, DLSHOGI.labels), tensor(VALUE, 1)]
    proto = helper.make_graph(graph.nodes, network, inputs, outputs, list(graph.constants.values()))
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(proto, opset_imports=opset, ir_version=IR_VERSION, producer_name="pydlshogi")
    try:
        checker.check_model(model, full_check=True)
    except (checker.ValidationError, InferenceError) as error:
        raise ModelError(f"the arrays do not fit together: {str(error).splitlines()[0]}") from error
    return model


def convert(arguments: argparse.Namespace) -> None:
    """Write the file, and a line about it."""
    arrays = arrays_of(arguments.weights)
    try:
        model = model_of(arrays, arguments.network)
    except ModelError as error:
        raise ModelError(f"{arguments.weights}: {error}") from error
    with replacing(arguments.onnx) as file:
        file.write(model.SerializeToString())
    print(f"wrote {arguments.onnx}: {arguments.network}, {sum(array.size for array in arrays.values()):,} weights")


def main(words: list[str] | None = None) -> int:
    """Returns 0, 1 after an error that has been told on stderr, 130 after Ctrl-C."""
    description = "Make an ONNX file of the weights of one of dlshogi's networks."
    parser = argparse.ArgumentParser(prog="python -m utils.import_weights", description=description)
    parser.add_argument("weights", type=Path, help=".npz, or a .pth of plain tensors")
    parser.add_argument("onnx", type=Path, help="the file to write")
    parser.add_argument(
        "--network", required=True, help="what dlshogi calls it: wideresnet10, resnet10_swish, senet10x192_relu ..."
    )
    arguments = parser.parse_args(words)
    if arguments.onnx.suffix != ".onnx":
        parser.error(f"{arguments.onnx} does not end in .onnx, by which the engine tells the two kinds of files apart")
    return exit_status("import_weights", lambda: convert(arguments), ModelError)


if __name__ == "__main__":
    sys.exit(main())
