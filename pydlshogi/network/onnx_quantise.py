"""The networks as ONNX graphs that compute in int8: faster on a CPU, nearly as exact.

Weights have a scale per channel, activations one per tensor, found on positions that the caller brings. Kernels are
rounded one input after the other: the inputs still to come make up for what rounding has lost (GPTQ: Frantar, Ashkboos,
Hoefler and Alistarh 2022). Knows no games and no files.
"""

import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

from pydlshogi.network.onnx_export import INPUT, onnx_model, output_nodes
from pydlshogi.network.weights import Array, Weights

_AT_ONCE: Final = 32
_LARGEST: Final = 64
"""Seven bits for the weights: with eight, sums overflow on processors without VNNI."""
_DAMPING: Final = 0.01
"""Share of the mean of `_seen`'s diagonal that is added to it, as in GPTQ."""


def quantised_model(weights: Weights, planes: Array) -> onnx.ModelProto:
    """The network in int8, calibrated on planes float32 [B, planes, height, width]: some hundred positions of games.

    Only the layers that make the logits stay in float32: that halves the error of the policy and costs no time.
    """
    batches = ({INPUT: planes[i : i + _AT_ONCE]} for i in range(0, len(planes), _AT_ONCE))
    with tempfile.TemporaryDirectory() as folder:
        full, small = Path(folder, "float32.onnx"), Path(folder, "int8.onnx")
        onnx.save(onnx_model(weights), full)
        quantize_static(
            full,
            small,
            SimpleNamespace(get_next=partial(next, batches, None)),  # as a CalibrationDataReader
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,  # to _LARGEST
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=output_nodes(weights),
        )
        model, kernels = onnx.load(small), {each.name: each for each in onnx.load(full).graph.initializer}
    constants = {each.name: each for each in model.graph.initializer}
    for node in model.graph.node:
        kernel = node.name.removesuffix("conv") + "W"
        if node.op_type == "Conv" and (quantised := constants.get(f"{kernel}_quantized")):
            scales = numpy_helper.to_array(constants[f"{kernel}_scale"])
            array = numpy_helper.to_array(kernels[kernel])
            rounded = _rounded(array, scales, _seen(model, node.input[0], array.shape[-1], planes))
            quantised.CopyFrom(numpy_helper.from_array(rounded, quantised.name))
    return model


def _seen(model: onnx.ModelProto, tensor: str, size: int, planes: Array) -> Array:
    """float64 [N, N]: sums of products of the N numbers that a kernel of this size, reading `tensor`, sees at once."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.append(helper.make_tensor_value_info(tensor, TensorProto.FLOAT, None))
    session = InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    edge = size // 2
    total: Array = np.zeros((), np.float64)
    for i in range(0, len(planes), _AT_ONCE):
        (given,) = session.run([tensor], {INPUT: planes[i : i + _AT_ONCE]})
        padded = np.pad(given, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
        patches = sliding_window_view(padded, (size, size), axis=(2, 3)).transpose(0, 2, 3, 1, 4, 5)
        seen = patches.reshape(-1, given.shape[1] * size * size)
        total = total + seen.T @ seen
    return total


def _rounded(kernel: Array, scales: Array, seen: Array) -> Array:
    """int8 [outputs, inputs, size, size]: the kernel in units of its scales [outputs]. `seen`: what `_seen` returns."""
    rest = kernel.reshape(len(kernel), -1) / scales[:, None].astype(np.float64)
    damped = seen + _DAMPING * np.mean(np.diag(seen)) * np.eye(len(seen))
    factor = np.linalg.cholesky(np.linalg.inv(damped)).T
    for i, row in enumerate(factor):
        rounded = np.clip(np.round(rest[:, i]), -_LARGEST, _LARGEST)
        rest[:, i + 1 :] -= np.outer((rest[:, i] - rounded) / row[i], row[i + 1 :])
        rest[:, i] = rounded
    return rest.reshape(kernel.shape).astype(np.int8)
