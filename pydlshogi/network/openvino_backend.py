"""OpenVINO as a backend: Intel's runtime, for processors with AMX, where it is the fastest of the frameworks.

It runs an `.npz`, turned into a graph in memory, or an `.onnx` file, on the CPU only. By default it computes
in bfloat16 where the processor has instructions for that, whatever the file says, and in float32 on any other.
"""

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import BackendError, Graph, HostBackend, Resources
from pydlshogi.support.arrays import Float32Array

# OpenVINO imports its converter where it can, and that reports over the internet that it was imported.
sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
import openvino  # noqa: E402
from openvino import opset13  # noqa: E402


def openvino_backend(path: Path, encodings: Sequence[Encoding], resources: Resources) -> HostBackend:
    """A network run by OpenVINO; see `load_backend`."""
    if resources.device not in ("auto", "cpu"):
        raise BackendError(f"Device {resources.device}: OpenVINO runs on the CPU here; set Backend onnx for a GPU")
    if resources.precision == "half" and not has_bfloat16():
        # OpenVINO would compute in float32 and not say so.
        raise BackendError("Precision half: this CPU has no bfloat16")
    try:
        core = openvino.Core()
        graph, settings = _graph(path, encodings, resources)
        model = core.compile_model(core.read_model(graph.content), "CPU", settings)
        return HostBackend(
            f"OpenVINO {openvino.__version__.split('-')[0]} on {resources.cpu}: {graph.name}",
            graph.encoding,
            [_Run(model.create_infer_request(), graph) for _ in range(resources.streams)],
            resources.largest_batch(on_gpu=False),
            planes=graph.dtype,
            foreign=graph.foreign,
        )
    except (BackendError, ModelError):
        raise
    except (RuntimeError, ValueError) as error:  # its message quotes names as they stand in the file
        raise ModelError(f"{path}: not an ONNX file that can be loaded: {_reason(error)}") from error


def _graph(path: Path, encodings: Sequence[Encoding], resources: Resources) -> tuple[Graph, dict[str, Any]]:
    """A network, and how OpenVINO is to run it."""
    from pydlshogi.network.onnx_file import graph_of

    half = resources.precision == "half" or (resources.precision == "auto" and bfloat16_is_fast())
    graph = graph_of(path, encodings, half=False)
    name = f"{graph.name.removesuffix(' float32')} {'bfloat16' if half else 'float32'}"
    return graph._replace(name=name), {
        "INFERENCE_PRECISION_HINT": "bf16" if half else "f32",
        "INFERENCE_NUM_THREADS": resources.threads_a_stream * resources.streams,
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": resources.streams,
        "ENABLE_CPU_PINNING": False,  # two engines on one machine would share a core and leave another idle
    }


class _Run:
    """A request, from planes to logits that it keeps."""

    def __init__(self, request: Any, graph: Graph) -> None:
        self._request = request
        self._graph = graph

    def __call__(self, planes: npt.NDArray[Any]) -> tuple[Float32Array, Float32Array]:
        given = {self._graph.planes: openvino.Tensor(planes, shared_memory=True)}
        logits = self._request.infer(given, share_outputs=True)
        # A file may declare another shape than what it computes.
        policy = logits[self._graph.policy].reshape(len(planes), self._graph.labels)
        return policy, logits[self._graph.value].reshape(len(planes))


def has_bfloat16() -> bool:
    """Whether OpenVINO computes in bfloat16 here at all.

    Raises BackendError if OpenVINO loads, but not what it runs on a CPU.
    """
    try:
        return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    except RuntimeError as error:
        raise BackendError(f"OpenVINO does not run on this CPU: {_reason(error)}") from error


@cache
def bfloat16_is_fast() -> bool:
    """Whether this processor has instructions that multiply matrices of bfloat16: AMX, or those of AVX-512.

    Without them OpenVINO lists bfloat16 as a capability too, and is half as fast in it as in float32, or cannot compile
    it; with those of an AMD EPYC (Zen 4) it is twice as fast. So this compiles a convolution and looks at the kernel
    chosen. Raises BackendError as `has_bfloat16`.
    """
    if not has_bfloat16():
        return False
    planes = opset13.parameter([1, 64, 8, 8], np.float32)
    kernel = np.ones((64, 64, 3, 3), np.float32)
    layer = opset13.convolution(planes, kernel, [1, 1], [1, 1], [1, 1], [1, 1])
    model = openvino.Model([layer], [planes])
    try:
        compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "bf16"})
    except RuntimeError:
        return False
    kernels = [node.get_rt_info()["primitiveType"].astype(str) for node in compiled.get_runtime_model().get_ops()]
    return any("amx" in kernel or kernel.startswith("brgconv") for kernel in kernels)


def _reason(error: Exception) -> str:
    """The first line that does not say where in OpenVINO's source the error came up."""
    lines = [line.strip() for line in str(error).splitlines()]
    return next(
        line
        for line in [*lines, type(error).__name__]
        if line and not line.startswith(("Exception", "Check", "FrontEnd"))
    )
