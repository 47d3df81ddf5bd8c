"""Which ONNX graphs are networks of this engine, checked alike for every backend.

One input [N, planes, height, width] of float32 or uint8, N free; two outputs, raw logits float32 [N, labels] and
[N, 1]. Whether the value of such a graph has already been through a sigmoid cannot be seen; that makes the engine judge
every position as nearly even. All of the graph is in the file: what refers to others is refused.

Networks of other programs, dlshogi's for one, take their planes in several inputs, as many in each as `Encoding.parts`
says, and give a win rate; their numbers may be float16. Such a graph is made one of ours: see `_join`.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    load_model_from_string,
    numpy_helper,
)

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import MOST_WEIGHTS, EncodingError, Ends, ModelError
from pydlshogi.network.backend import Graph
from pydlshogi.network.integers import Tower
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.onnx_tower import FLOATS, tower_of_graph
from pydlshogi.network.weights import read_network
from pydlshogi.support.files import open_plain


class _End(NamedTuple):
    """An input or output: its type as ONNX spells it, and its shape with words for what is free."""

    name: str
    type: str
    shape: list[int | str]

    def __str__(self) -> str:
        return f"{self.name} ({self.type}) {self.shape}"


_NONE: Final = _End("", "", [])


def graph_of(path: Path, encodings: Iterable[Encoding], *, half: bool) -> Graph:
    """The network in an `.npz` file as a graph, in float32 or `half`; or that in an `.onnx` file, as it is.

    Raises `ModelError`, which names the file.
    """
    encodings = list(encodings)
    if path.suffix != ".onnx":
        weights, architecture, _ = read_network(path, encodings)
        name = f"{architecture} {'float16' if half else 'float32'}"
        return _checked(name, onnx_model(weights, half=half), encodings, foreign=False)
    with _named(path):
        model = _read(path)
        return _graph_in(model, _parts_of(model, encodings), encodings)


def tower_in(path: Path, encodings: Sequence[Encoding]) -> tuple[Tower | None, Encoding, bool]:
    """The network in an `.onnx` file as a tower, or None where it is none; its encoding; whether it is of another
    program's form. Raises `ModelError`, which names the file."""
    with _named(path):
        model = _read(path)
        parts = _parts_of(model, encodings)
        inputs = {end.name: end.shape for end in parts or _inputs(model.graph)}
        tower = tower_of_graph(model.graph, inputs, win_rate=bool(parts))
        graph = _graph_in(model, parts, encodings)
        return tower, graph.encoding, graph.foreign


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """What is wrong with a file is a `ModelError` that names it."""
    try:
        yield
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from error
    except ModelError as error:
        raise type(error)(f"{path}: {error}") from error
    except (DecodeError, ValueError) as error:
        raise ModelError(f"{path}: not an ONNX file, or damaged") from error


def _graph_in(model: ModelProto, parts: Sequence[_End], encodings: Sequence[Encoding]) -> Graph:
    """The network of an `.onnx` file as one of ours, which `model` becomes."""
    if parts:
        opsets = (opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx"))
        _join(model.graph, parts, next(opsets, 0))
    return _checked("an .onnx file", model, encodings, foreign=bool(parts))


def _read(path: Path) -> ModelProto:
    with open_plain(path) as file:
        if os.fstat(file.fileno()).st_size > 4 * MOST_WEIGHTS:
            raise ModelError("too large")
        model = load_model_from_string(file.read())
    nodes = chain.from_iterable(function.node for function in model.functions)
    constants = [*_constants(model.graph), *_constants_of(nodes)]
    if any(constant.data_location == TensorProto.EXTERNAL for constant in constants):
        raise ModelError("some of it is in another file; export it with all weights inside")
    for constant in constants:
        _check_finite(constant)
    return model


def _check_finite(constant: TensorProto) -> None:
    """Raises ModelError for weights that are not; a lone infinity is the end of a range."""
    if constant.data_type not in FLOATS:
        return
    numbers = np.asarray(numpy_helper.to_array(constant), np.float64)
    if np.isnan(numbers).any() or (numbers.size > 1 and np.isinf(numbers).any()):
        raise ModelError(f"array {constant.name} holds values that are not finite")


def _constants(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _constants_of(graph.node)


def _constants_of(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    for attribute in chain.from_iterable(node.attribute for node in nodes):
        yield from (attribute.t, *attribute.tensors)
        for graph in (attribute.g, *attribute.graphs):
            yield from _constants(graph)


def _inputs(graph: GraphProto) -> list[_End]:
    constants = {constant.name for constant in graph.initializer}  # old versions list them too
    return [end for end in _ends(graph.input) if end.name not in constants]


def _ends(values: Iterable[ValueInfoProto]) -> list[_End]:
    return [
        _End(
            value.name,
            TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower(),
            [dim.dim_value or dim.dim_param or "?" for dim in value.type.tensor_type.shape.dim],
        )
        for value in values
    ]


def _checked(name: str, model: ModelProto, encodings: Sequence[Encoding], *, foreign: bool) -> Graph:
    """The graph, if it is a network for one of the encodings; else ModelError."""
    inputs, outputs = _inputs(model.graph), _ends(model.graph.output)
    match [(end.type, end.shape) for end in inputs]:
        case [("float" | "uint8", [_, int(planes), int(height), int(width)])]:
            (given,) = inputs
        case _:
            parts = [f" or {' and '.join(map(str, each.parts))} planes" for each in encodings if each.parts]
            wanted = f"[N, planes, height, width]{''.join(parts)}"
            raise EncodingError(f"takes {_listed(inputs)}; a network of this engine takes {wanted}")
    if isinstance(given.shape[0], int):
        raise ModelError(f"made for batches of exactly {given.shape[0]}; export it with a free batch size")
    # The value has one number for each position, and may have no second axis.
    value, policy, *_ = *sorted(outputs, key=lambda end: end.shape[1:] not in ([1], [])), *(2 * [_NONE])
    match (value.type, value.shape, policy.type, policy.shape, len(outputs)):
        case ("float", [_] | [_, 1], "float", [_, int(labels)], 2):
            pass
        case _:
            raise ModelError(f"gives {_listed(outputs)}; a network of this engine gives [N, labels] and [N, 1]")
    return Graph(
        name,
        Ends(planes, height, width, labels).encoding_among(encodings),
        foreign,
        model.SerializeToString(),
        given.name,
        np.float32 if given.type == "float" else np.uint8,
        policy.name,
        value.name,
        labels,
        (1,) if value.shape[1:] else (),
    )


def _listed(ends: Sequence[_End]) -> str:
    return " and ".join(map(str, ends)) or "nothing"


def _parts_of(model: ModelProto, encodings: Iterable[Encoding]) -> list[_End]:
    """The inputs that take the parts of an encoding, in the order of these; none where the graph is no such network."""
    inputs = _inputs(model.graph)
    for encoding in encodings:
        board = [encoding.height, encoding.width]
        taking = {end.shape[1]: end for end in inputs if end.shape[2:] == board}
        if encoding.parts and len(inputs) == len(encoding.parts) and taking.keys() == {*encoding.parts}:
            return [taking[part] for part in encoding.parts]
    return []


def _join(graph: GraphProto, inputs: Sequence[_End], opset: int) -> None:
    """Make the inputs parts of one, all numbers that go in and out float32, and the win rate a logit."""
    outputs, parts = _ends(graph.output), [int(end.shape[1]) for end in inputs]
    own = "pydlshogi/{}".format
    planes, pieces = own("planes"), [own(end.name) for end in inputs]
    if opset >= 13:
        graph.initializer.append(numpy_helper.from_array(np.array(parts, np.int64), own("parts")))
        split = helper.make_node("Split", [planes, own("parts")], pieces, axis=1)
    else:
        split = helper.make_node("Split", [planes], pieces, axis=1, split=parts)
    nodes = [split, *(_cast(own(end.name), end.name, end.type) for end in inputs), *graph.node]
    for end in outputs:
        is_value = end.shape[1:] in ([1], [])
        nodes.append(_cast(end.name, own("win rate" if is_value else end.name), "float"))
        if is_value:
            nodes += _logit(graph, own("win rate"), own(end.name))
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    shape = [inputs[0].shape[0], sum(parts), *inputs[0].shape[2:]]
    graph.input.append(helper.make_tensor_value_info(planes, TensorProto.FLOAT, shape))
    for end in outputs:
        graph.output.append(helper.make_tensor_value_info(own(end.name), TensorProto.FLOAT, end.shape))


def _cast(given: str, result: str, numbers: str) -> NodeProto:
    return helper.make_node("Cast", [given], [result], to=TensorProto.DataType.Value(numbers.upper()))


def _logit(graph: GraphProto, win_rate: str, result: str) -> list[NodeProto]:
    """ln (p / (1 - p)), with a little added to both: a network may answer 0 or 1."""
    for name, number in (("little", 1e-6), ("one and a little", 1 + 1e-6)):
        graph.initializer.append(numpy_helper.from_array(np.array([number], np.float32), f"{win_rate}/{name}"))
    return [
        helper.make_node("Add", [win_rate, f"{win_rate}/little"], [f"{win_rate}/won"]),
        helper.make_node("Sub", [f"{win_rate}/one and a little", win_rate], [f"{win_rate}/lost"]),
        helper.make_node("Div", [f"{win_rate}/won", f"{win_rate}/lost"], [f"{win_rate}/odds"]),
        helper.make_node("Log", [f"{win_rate}/odds"], [result]),
    ]
