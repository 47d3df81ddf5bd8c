"""OpenVINO as a backend: Intel's runtime, on a CPU two to eight times as fast as ONNX Runtime, most of all with AMX.

It runs an `.npz`, turned into a graph in memory, or an `.onnx` file, on the CPU only. Unless told otherwise it computes
in bfloat16 on a processor with AMX, whatever the file says, and in float32 on any other.
"""

import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from pydlshogi.common import NUM_PLANES
from pydlshogi.network.backend import BackendError, Float32Array, cpu_name
from pydlshogi.network.graph_ends import End, check_input, check_outputs
from pydlshogi.network.weights import ModelError, read_weights, recognise

# OpenVINO imports its converter where it can, and that reports over the internet that it was imported.
sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
import openvino  # noqa: E402
from openvino import opset13  # noqa: E402

_TYPES: Final = {"f32": "float", "u8": "uint8"}


class OpenvinoBackend:
    """A network run by OpenVINO; see `Backend` for the contract and `load_backend` for the arguments."""

    on_gpu = False

    def __init__(self, path: Path, device: str, precision: str, threads: int, batch_size: int) -> None:
        if device not in ("auto", "cpu"):
            raise BackendError(f"Device {device}: OpenVINO runs on the CPU here; set Backend onnx for a GPU")
        if precision == "half" and not has_bfloat16():
            # OpenVINO would compute in float32 and not say so.
            raise BackendError("Precision half: this CPU has no bfloat16")
        half = precision == "half" or (precision == "auto" and has_amx())
        graph, name = _graph(path)
        settings = {
            "INFERENCE_PRECISION_HINT": "bf16" if half else "f32",
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,  # two engines on one machine would share a core and leave another idle
        }
        try:
            core = openvino.Core()
            model = core.read_model(graph)
            self._input, self._planes_dtype = check_input(path, _ends(model.inputs))
            self._outputs = check_outputs(path, _ends(model.outputs))
            self._request = core.compile_model(model, "CPU", settings).create_infer_request()
            for size in {1, batch_size}:
                self.infer(np.zeros((size, NUM_PLANES, 9, 9), np.float32))
        except (RuntimeError, UnicodeDecodeError) as error:  # its message quotes names as they stand in the file
            raise ModelError(f"{path}: not an ONNX file that can be loaded: {_reason(error)}") from error
        version = openvino.__version__.split("-")[0]
        self.description = f"OpenVINO {version} on {cpu_name(threads)}: {name} {'bfloat16' if half else 'float32'}"

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Raw logits for planes float32 [B, 104, 9, 9]: policy float32 [B, 2187] and value float32 [B]."""
        given = {self._input: planes.astype(self._planes_dtype, copy=False)}
        answers = self._request.infer(given, share_inputs=True)
        policy, value = (answers[name] for name in self._outputs)
        return policy, value.reshape(-1)


def has_bfloat16() -> bool:
    """Whether OpenVINO computes in bfloat16 here at all."""
    return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@cache
def has_amx() -> bool:
    """Whether this processor multiplies matrices of bfloat16 with AMX.

    Without AMX bfloat16 is slower than float32, even where OpenVINO lists it as a capability. So this compiles a
    convolution and looks at the kernel chosen. Raises BackendError if OpenVINO loads, but not what it runs on a CPU.
    """
    try:
        if not has_bfloat16():
            return False
        planes = opset13.parameter([1, 64, 9, 9], np.float32)
        kernel = np.ones((64, 64, 3, 3), np.float32)
        layer = opset13.convolution(planes, kernel, [1, 1], [1, 1], [1, 1], [1, 1])
        model = openvino.Model([layer], [planes])
        compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
        kernels = [node.get_rt_info()["primitiveType"].astype(str) for node in compiled.get_runtime_model().get_ops()]
    except RuntimeError as error:
        raise BackendError(f"OpenVINO does not run on this CPU: {_reason(error)}") from error
    return any("amx" in kernel for kernel in kernels)


def _graph(path: Path) -> tuple[bytes, str]:
    """A serialised ONNX graph, and a name for it.

    Never the name of a file: given one that is damaged, OpenVINO tries all formats it knows and prints what they say.
    """
    if path.suffix == ".onnx":
        try:
            return path.read_bytes(), "an .onnx file in"
        except OSError as error:
            raise ModelError(f"{path}: {error.strerror}") from error
    weights = read_weights(path)
    from pydlshogi.network.onnx_export import onnx_model

    return onnx_model(weights).SerializeToString(), str(recognise(weights))


def _ends(ports: list[Any]) -> list[End]:
    return [
        End(
            port.any_name,
            _TYPES.get(type_name := port.element_type.get_type_name(), type_name),
            ["N" if size.is_dynamic else size.get_length() for size in port.partial_shape],
        )
        for port in ports
    ]


def _reason(error: Exception) -> str:
    """The first line that does not say where in OpenVINO's source the error came up."""
    lines = [line.strip() for line in str(error).splitlines()]
    return next(
        line
        for line in [*lines, type(error).__name__]
        if line and not line.startswith(("Exception", "Check", "FrontEnd"))
    )
