"""The networks as ONNX graphs, built from their weights with numpy and onnx alone.

Input `planes` [N, planes, height, width]; outputs `policy` float32 [N, labels] and `value` float32 [N, 1], both raw
logits; N is free. Batch normalisation is folded into the convolution before it. Knows nothing of files or of who runs
the graph.
"""

from typing import Any, Final

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, checker, helper, numpy_helper

from pydlshogi.network.architecture import KINDS
from pydlshogi.network.weights import Array, Weights, architecture_of, folded_convolution

INPUT: Final = "planes"
POLICY: Final = "policy"
VALUE: Final = "value"

OPSET: Final = 17
IR_VERSION: Final = 8


class _Graph:
    """Nodes and constants collected layer by layer; every method returns the name of its result."""

    def __init__(self, weights: Weights, dtype: type[np.floating], *, whole: bool) -> None:
        """`whole`: every convolution is as large as what it sees, so it is written as the linear layer it is."""
        self.weights = weights
        self.dtype = dtype
        self.whole = whole
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, name: str, array: Array) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array, self.dtype), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def convolution(self, x: str, name: str, normalisation: str | None = None) -> str:
        kernel, bias = folded_convolution(self.weights, name, normalisation)
        if self.whole:
            inputs = [x, self.constant(f"{name}/W", kernel.reshape(len(kernel), -1)), self.constant(f"{name}/b", bias)]
            return self.node("Gemm", inputs, f"{name}/conv", transB=1)
        size = kernel.shape[2]
        inputs = [x, self.constant(f"{name}/W", kernel), self.constant(f"{name}/b", bias)]
        return self.node("Conv", inputs, f"{name}/conv", kernel_shape=[size, size], pads=[size // 2] * 4)

    def linear(self, x: str, name: str) -> str:
        inputs = [x, *(self.constant(f"{name}/{part}", self.weights[f"{name}/{part}"]) for part in "Wb")]
        return self.node("Gemm", inputs, f"{name}/linear", transB=1)

    def relu(self, x: str) -> str:
        return self.node("Relu", [x], f"{x}/relu")


def onnx_model(weights: Weights, *, half: bool = False) -> ModelProto:
    """The network with these weights as an ONNX model.

    The graph takes float32 planes and computes in float32. With `half` it takes uint8 planes and computes in float16,
    for GPUs: planes hold only 0 and 1, so a quarter of the bytes travels. The outputs are float32 in both.
    """
    architecture = architecture_of(weights)
    heads, _, whole = KINDS[architecture.kind]
    graph = _Graph(weights, np.float16 if half else np.float32, whole=whole)
    planes = graph.node("Cast", [INPUT], "planes/half", to=TensorProto.FLOAT16) if half else INPUT
    features = graph.node("Flatten", [planes], "planes/flat") if whole else planes
    for name in architecture.convolutions:
        features = graph.relu(graph.convolution(features, name))
    for name in architecture.blocks:
        y = graph.relu(graph.convolution(features, f"{name}/conv1", f"{name}/bn1"))
        y = graph.convolution(y, f"{name}/conv2", f"{name}/bn2")
        features = graph.relu(graph.node("Add", [y, features], f"{name}/add"))

    policy = graph.node("Flatten", [graph.convolution(features, heads.policy)], "policy/flat")
    # This bias belongs to the label, not to the plane, so it cannot be that of the convolution.
    bias = graph.constant(f"{heads.policy_bias}/b", weights[f"{heads.policy_bias}/b"].reshape(1, -1))
    policy = graph.node("Add", [policy, bias], "policy/logits")
    convolution, hidden, output = heads.value
    value = graph.relu(graph.convolution(features, convolution, heads.value_bn))
    value = graph.relu(graph.linear(graph.node("Flatten", [value], "value/flat"), hidden))
    value = graph.linear(value, output)
    for result, name in ((policy, POLICY), (value, VALUE)):
        graph.node("Cast", [result], name, to=TensorProto.FLOAT)

    board = [architecture.planes, architecture.height, architecture.width]
    proto = helper.make_graph(
        graph.nodes,
        str(architecture),
        [_tensor(INPUT, TensorProto.UINT8 if half else TensorProto.FLOAT, board)],
        [_tensor(POLICY, TensorProto.FLOAT, [architecture.labels]), _tensor(VALUE, TensorProto.FLOAT, [1])],
        graph.constants,
    )
    model = helper.make_model(
        proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="pydlshogi"
    )
    checker.check_model(model)
    return model


def _tensor(name: str, dtype: int, shape: list[int]) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, ["N", *shape])
