"""An ONNX graph read as a tower of layers: what this project and others export, in whatever nodes.

The graph is walked from its inputs on, and what each node gives is recognised by what it is made of. A node of another
kind gives nothing, and a graph whose outputs are made of that is no tower.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from pydlshogi.network.integers import Layer, Tower
from pydlshogi.network.weights import Array

FLOATS: Final = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE}


class _Planes(NamedTuple):
    """`size` of all planes, from `first` on."""

    first: int
    size: int


class _Map(NamedTuple):
    """What an activation gave; they are counted from 1 on."""

    number: int
    size: int
    """Channels; flat: all numbers of a position."""
    flat: bool


class _Sum(NamedTuple):
    """What an activation takes, or an output: convolutions, linear layers, residuals and a bias."""

    of: dict[int, Array | None]
    """By the number of a map, 0 being the planes: its kernel [outputs, inputs, height, width]; None: it is added."""
    bias: Array
    """[outputs]; flat: one for each number of a position."""
    flat: bool


class _Gate(NamedTuple):
    """The logistic function of a sum."""

    of: _Sum


_Value = Array | _Planes | _Map | _Sum | _Gate | None


def tower_of_graph(graph: GraphProto, inputs: Mapping[str, Sequence[int | str]], *, win_rate: bool) -> Tower | None:
    """The layers of a graph, or None where it is no tower of 3x3 convolutions with the two heads.

    inputs: shapes by name, in the order in which the planes stand in them. win_rate: the value has been through a
    sigmoid, which the tower leaves out.
    """
    reader = _Reader(inputs)
    with np.errstate(all="ignore"):
        reader.read(graph)
        match [reader.values.get(end.name) for end in graph.output]:
            case [_Sum() as policy, _Gate(_Sum() as value)] | [_Gate(_Sum() as value), _Sum() as policy] if win_rate:
                return reader.tower(policy, value)
            case [_Sum() as one, _Sum() as other] if not win_rate:
                return reader.tower(*sorted((one, other), key=lambda end: len(end.bias), reverse=True))
    return None


class _Reader:
    def __init__(self, inputs: Mapping[str, Sequence[int | str]]) -> None:
        self.values: dict[str, _Value] = {}
        """What there is by each name."""
        self._maps: list[tuple[_Sum, bool]] = []
        """Of each activation what it took, and whether it was swish."""
        self._planes = self._squares = 0
        for name, shape in inputs.items():
            match shape:
                case [_, int(planes), int(height), int(width)]:
                    self.values[name] = _Planes(self._planes, planes)
                    self._planes += planes
                    self._squares = height * width

    def read(self, graph: GraphProto) -> None:
        for constant in graph.initializer:
            self.values[constant.name] = _numbers(constant)
        for node in graph.node:
            if node.domain in ("", "ai.onnx") and node.output:
                self.values[node.output[0]] = None
                with suppress(AttributeError, IndexError, TypeError, ValueError):  # attributes that are not ONNX's
                    attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
                    self.values[node.output[0]] = self._result(node, attributes)

    def _result(self, node: NodeProto, attributes: Mapping[str, Any]) -> _Value:
        match node.op_type, [self.values.get(name) for name in node.input if name]:
            case "Constant", [] if "value" in attributes:
                return _numbers(attributes["value"])
            case "Identity", [value]:
                return value
            case "Cast", [value] if attributes.get("to") in FLOATS:
                return value
            case "Transpose", [np.ndarray() as array]:
                return array.transpose(attributes.get("perm"))
            case "Concat", [*parts] if attributes.get("axis") == 1:
                return _joined(parts)
            case "Conv", [_Planes() | _Map() as x, np.ndarray() as kernel, *bias] if _is_centred(kernel, attributes):
                return self._convolution(x, kernel, bias)
            case "Gemm" | "MatMul", [_Map(flat=True) as x, np.ndarray() as matrix, *bias] if _is_plain(
                matrix, attributes
            ):
                kernel = matrix if attributes.get("transB") else matrix.T
                return _linear(x.number, kernel[:, :, None, None], bias, x.size, flat=True)
            case "BatchNormalization", [_Sum() as x, *statistics] if not attributes.get("training_mode"):
                return _normalised(x, statistics, attributes.get("epsilon", 1e-5))
            case "Flatten", [_Map() | _Sum() as x] if attributes.get("axis", 1) == 1:
                return self._flat(x)
            # Whatever a shape was computed from: what is done with the result shows what it must be.
            case "Reshape", [_Map() | _Sum() as x, shape] if not isinstance(shape, np.ndarray) or shape.shape == (2,):
                return self._flat(x)
            case ("Add", [_Sum() as x, np.ndarray() as array]) | ("Add", [np.ndarray() as array, _Sum() as x]):
                return _scaled(x, np.ones(()), array)
            case "Add", [_Map() | _Sum() as x, _Map() | _Sum() as y]:
                return _added(_as_sum(x), _as_sum(y))
            case ("Mul", [_Sum() as x, np.ndarray() as array]) | ("Mul", [np.ndarray() as array, _Sum() as x]):
                return _scaled(x, array, np.zeros(()))
            case ("Mul", [_Sum() as x, _Gate() as gate]) | ("Mul", [_Gate() as gate, _Sum() as x]) if gate.of is x:
                return self._activated(x, swish=True)
            case "Swish", [_Sum() as x] if attributes.get("alpha", 1.0) == 1:
                return self._activated(x, swish=True)
            case "Relu", [_Sum() as x]:
                return self._activated(x, swish=False)
            case "Sigmoid", [_Sum() as x]:
                return _Gate(x)
        return None

    def _convolution(self, x: _Planes | _Map, kernel: Array, bias: Sequence[_Value]) -> _Value:
        if isinstance(x, _Map):
            return None if x.flat else _linear(x.number, kernel, bias, x.size, flat=False)
        if kernel.shape[1] != x.size:
            return None
        whole = np.zeros((len(kernel), self._planes, *kernel.shape[2:]), np.float32)
        whole[:, x.first : x.first + x.size] = kernel
        return _linear(0, whole, bias, self._planes, flat=False)

    def _flat(self, x: _Map | _Sum) -> _Value:
        if x.flat:
            return x
        if isinstance(x, _Map):
            return _Map(x.number, x.size * self._squares, flat=True)
        return x._replace(bias=np.repeat(x.bias, self._squares), flat=True)

    def _activated(self, x: _Sum, *, swish: bool) -> _Value:
        self._maps.append((x, swish))
        return _Map(len(self._maps), len(x.bias), x.flat)

    def tower(self, policy: _Sum, value: _Sum) -> Tower | None:
        """The layers that lead to both outputs, if they stand in line and are all that there are."""
        if len(self._maps) < 4 or len({swish for _, swish in self._maps}) != 1:
            return None
        first, *layers, planes, hidden = (each for each, _ in self._maps)
        last, channels = len(layers) + 1, len(first.bias)
        residual = any(len(layer.of) > 1 for layer in layers)
        body = [{number, number - 1} if residual and number % 2 == 0 else {number} for number in range(1, last)]
        line = [first, *layers, policy, planes, hidden, value]
        if [{*each.of} for each in line] != [{0}, *body, {last}, {last}, {last + 1}, {last + 2}]:
            return None
        if [each.flat for each in line] != [*last * [False], True, False, True, True] or len(value.bias) != 1:
            return None
        if any(layer.of[min(layer.of)] is not None for layer in layers if len(layer.of) > 1):
            return None
        kernels = [kernel for each in line if (kernel := each.of[max(each.of)]) is not None]
        if not all(np.isfinite(array).all() for array in [*kernels, *(each.bias for each in line)]):
            return None
        shapes = [kernel.shape for kernel in kernels]
        if len(kernels) < len(line) or {shape[:2] for shape in shapes[1:last]} != {(channels, channels)}:
            return None
        if {shape[1:] for shape in shapes[last : last + 2]} != {(channels, 1, 1)}:
            return None
        convolutions = [
            Layer(_widened(kernel), each.bias) for kernel, each in zip(kernels[:last], line[:last], strict=True)
        ]
        judge = [Layer(kernel, each.bias) for kernel, each in zip(kernels[last + 1 :], line[last + 1 :], strict=True)]
        return Tower(
            False,
            convolutions[0],
            convolutions[1:],
            residual,
            Layer(kernels[last], np.zeros(len(kernels[last]), np.float32)),
            policy.bias,
            (judge[0], judge[1], judge[2]),
            self._maps[0][1],
        )


def _numbers(constant: TensorProto) -> Array:
    array: Array = numpy_helper.to_array(constant)
    return array.astype(np.float32) if constant.data_type in FLOATS else array


def _joined(parts: Sequence[_Value]) -> _Value:
    """Planes, if they stand one after the other."""
    planes = [each for each in parts if isinstance(each, _Planes)]
    joined = _Planes(planes[0].first, sum(each.size for each in planes)) if len(planes) == len(parts) else None
    ends = [each.first + each.size for each in planes]
    return joined if ends[:-1] == [each.first for each in planes[1:]] else None


def _is_centred(kernel: Array, attributes: Mapping[str, Any]) -> bool:
    """A convolution with such a kernel, 1x1 or 3x3, gives as many squares as it takes."""
    size = kernel.shape[2:]
    edge = 4 * [size[0] // 2] if size in ((1, 1), (3, 3)) else None
    pads = attributes.get("pads", 4 * [0])
    if attributes.get("auto_pad", b"NOTSET") in (b"SAME_UPPER", b"SAME_LOWER"):
        pads = edge
    steps = {*attributes.get("strides", ()), *attributes.get("dilations", ()), attributes.get("group", 1)}
    return steps == {1} and edge is not None and list(pads) == edge


def _is_plain(matrix: Array, attributes: Mapping[str, Any]) -> bool:
    return (
        matrix.ndim == 2
        and not attributes.get("transA")
        and attributes.get("alpha", 1) == attributes.get("beta", 1) == 1
    )


def _as_sum(x: _Map | _Sum) -> _Sum:
    return x if isinstance(x, _Sum) else _Sum({x.number: None}, np.zeros(x.size, np.float32), x.flat)


def _linear(number: int, kernel: Array, bias: Sequence[_Value], inputs: int, *, flat: bool) -> _Value:
    if kernel.ndim != 4 or kernel.shape[1] != inputs:
        return None
    match bias:
        case []:
            return _Sum({number: kernel}, np.zeros(len(kernel), np.float32), flat)
        case [np.ndarray() as array] if array.size == len(kernel):
            return _Sum({number: kernel}, array.ravel(), flat)
    return None


def _scaled(x: _Sum, factor: Array, offset: Array) -> _Value:
    """x * factor + offset: one number for all, for each channel, or for each number of a position."""
    along = (-1,) if x.flat else (-1, 1, 1)
    for array in (factor, offset):
        if array.size > 1 and (array.size != len(x.bias) or array.shape[-len(along) :] != (array.size, *along[1:])):
            return None
    factor, offset = (array.astype(np.float64).ravel() for array in (factor, offset))
    if factor.size == 1 and factor[0] == 1:
        return x._replace(bias=(x.bias + offset).astype(np.float32))
    kernels = {number: kernel for number, kernel in x.of.items() if kernel is not None}
    if len(kernels) < len(x.of) or any(len(kernel) != len(x.bias) for kernel in kernels.values()):
        return None
    of: dict[int, Array | None] = {
        number: (kernel * factor[:, None, None, None]).astype(np.float32) for number, kernel in kernels.items()
    }
    return _Sum(of, (x.bias * factor + offset).astype(np.float32), x.flat)


def _normalised(x: _Sum, statistics: Sequence[_Value], epsilon: float) -> _Value:
    arrays = [each.astype(np.float64) for each in statistics if isinstance(each, np.ndarray)]
    if len(arrays) < 4 or x.flat or any(array.shape != x.bias.shape for array in arrays):
        return None
    gamma, beta, mean, variance = (array[:, None, None] for array in arrays)
    factor = gamma / np.sqrt(variance + epsilon)
    return _scaled(x, factor, beta - mean * factor)


def _added(x: _Sum, y: _Sum) -> _Value:
    if x.flat or y.flat or len(x.bias) != len(y.bias):
        return None
    of = dict(x.of)
    for number, kernel in y.of.items():
        before = of.get(number)
        if number in of and (before is None or kernel is None):
            return None
        of[number] = kernel if before is None or kernel is None else _widened(before) + _widened(kernel)
    return _Sum(of, x.bias + y.bias, flat=False)


def _widened(kernel: Array) -> Array:
    """A kernel of 3x3."""
    return np.pad(kernel, ((0, 0), (0, 0), (1, 1), (1, 1))) if kernel.shape[2:] == (1, 1) else kernel
