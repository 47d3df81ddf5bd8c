"""ONNX Runtime as a backend: an `.npz` turned into a graph in memory, or an `.onnx` file as it is.

`onnx_file` says what such a file must take and give. A quantised file is one of these; it is made for the CPU.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import BackendError, Graph, HostBackend, Resources
from pydlshogi.network.onnx_file import graph_of
from pydlshogi.support.arrays import Float32Array
from pydlshogi.support.files import cache_folder

CPU: Final = "CPUExecutionProvider"
CUDA: Final = "CUDAExecutionProvider"
TENSORRT: Final = "TensorrtExecutionProvider"
DIRECTML: Final = "DmlExecutionProvider"
# Not TensorRT: a runtime offers it whether or not it is installed, and its first start takes minutes.
GPU_PROVIDERS: Final = (CUDA, DIRECTML)

HOW_TO_GET_A_GPU: Final = (
    "replace the package onnxruntime by onnxruntime-gpu[cuda,cudnn] (NVIDIA) or onnxruntime-directml (Windows)"
)

_BAD_FILE: Final = (
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NoModel,
    ort_errors.NoSuchFile,
)
_FAILURE: Final = (
    ort_errors.EPFail,
    ort_errors.Fail,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
    RuntimeError,
    ValueError,
)


def onnx_backend(path: Path, encodings: Sequence[Encoding], resources: Resources) -> HostBackend:
    """A network run by ONNX Runtime; see `load_backend`. On a GPU, too, the CPU unpacks and makes the priors."""
    onnxruntime.set_default_logger_severity(4)  # a GUI may never read stderr
    onnxruntime.disable_telemetry_events()
    provider = provider_for(resources.device)
    on_cpu = provider == CPU
    if on_cpu and resources.precision == "half":
        raise BackendError("Precision half: ONNX Runtime has it on GPUs only")
    graph = graph_of(path, encodings, half=not on_cpu and resources.precision != "float32")
    session = _session(path, graph, provider, resources)
    where = resources.cpu if on_cpu else provider.removesuffix("ExecutionProvider")
    # DirectML takes one call at a time.
    runs = [_Run(session, graph) for _ in range(1 if provider == DIRECTML else resources.streams)]
    try:
        return HostBackend(
            f"ONNX Runtime {onnxruntime.__version__} on {where}: {graph.name}",
            graph.encoding,
            runs,
            resources.largest_batch(on_gpu=not on_cpu),
            planes=graph.dtype,
            on_gpu=not on_cpu,
            foreign=graph.foreign,
        )
    except (*_BAD_FILE, *_FAILURE) as error:
        raise ModelError(f"{path}: the graph does not run: {_first_line(error)}") from error


class _Run:
    """The session with logits that stay where they are: to ask for megabytes anew costs page faults."""

    def __init__(self, session: Any, graph: Graph) -> None:
        self._session = session
        self._binding = session.io_binding()
        self._graph = graph
        self._policy = np.zeros((0, graph.labels), np.float32)
        self._value = np.zeros((0, *graph.value_shape), np.float32)

    def __call__(self, planes: npt.NDArray[Any]) -> tuple[Float32Array, Float32Array]:
        size = len(planes)
        if size > len(self._policy):
            self._policy = np.zeros((size, *self._policy.shape[1:]), np.float32)
            self._value = np.zeros((size, *self._value.shape[1:]), np.float32)
        policy, value = self._policy[:size], self._value[:size]
        graph, bind_output = self._graph, self._binding.bind_output
        self._binding.bind_input(graph.planes, "cpu", 0, graph.dtype, planes.shape, planes.ctypes.data)
        bind_output(graph.policy, "cpu", 0, np.float32, policy.shape, policy.ctypes.data)
        bind_output(graph.value, "cpu", 0, np.float32, value.shape, value.ctypes.data)
        self._session.run_with_iobinding(self._binding)
        return policy, value


def provider_for(device: str) -> str:
    """The execution provider for a device."""
    offered = onnxruntime.get_available_providers()
    if device == "cpu":
        return CPU
    if device == "tensorrt":
        if TENSORRT in offered:
            return TENSORRT
        raise BackendError(f"Device tensorrt: this ONNX Runtime has no TensorRT; {HOW_TO_GET_A_GPU}")
    for provider in GPU_PROVIDERS:
        if provider in offered:
            return provider
    if device == "gpu":
        raise BackendError(f"Device gpu: this ONNX Runtime is the one without GPU support; {HOW_TO_GET_A_GPU}")
    return CPU


def _session(path: Path, graph: Graph, provider: str, resources: Resources) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = resources.threads_a_stream
    options.inter_op_num_threads = 1
    # A waiting thread that keeps its core busy takes it from others.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if provider == DIRECTML:
        options.enable_mem_pattern = False  # DirectML does not know it
    if provider in (CUDA, TENSORRT):
        onnxruntime.preload_dlls()  # finds CUDA and cuDNN where pip installs them
    providers = [(provider, _provider_options(provider, graph, resources))]
    try:
        # Its own fallback would print to stdout and go on with the CPU.
        session = onnxruntime.InferenceSession(graph.content, options, providers=providers, enable_fallback=0)
    except _BAD_FILE as error:
        raise ModelError(f"{path}: not an ONNX file that can be loaded: {_first_line(error)}") from error
    except _FAILURE as error:
        if provider == CPU:
            raise ModelError(f"{path}: cannot be run: {_first_line(error)}") from error
        raise BackendError(f"{provider} does not start: {_first_line(error)}") from error
    if session.get_providers()[0] != provider:
        raise BackendError(
            f"{provider} does not start (no driver, CUDA or cuDNN?); {HOW_TO_GET_A_GPU}, or set Device cpu"
        )
    return session


def _provider_options(provider: str, graph: Graph, resources: Resources) -> dict[str, str]:
    in_float32 = resources.precision == "float32"
    match provider:
        case "CUDAExecutionProvider":
            # The default search would time every algorithm anew for each batch size met in play.
            tf32 = "0" if in_float32 else "1"
            return {"cudnn_conv_algo_search": "HEURISTIC", "prefer_nhwc": "1", "use_tf32": tf32}
        case "TensorrtExecutionProvider":
            largest = resources.largest_batch(on_gpu=True)
            board = f"{graph.encoding.planes}x{graph.encoding.height}x{graph.encoding.width}"
            return {
                "trt_fp16_enable": "0" if in_float32 else "1",
                "trt_engine_cache_enable": "1",
                "trt_engine_cache_path": str(cache_folder() / "tensorrt"),
                "trt_profile_min_shapes": f"{graph.planes}:1x{board}",
                "trt_profile_opt_shapes": f"{graph.planes}:{largest}x{board}",
                "trt_profile_max_shapes": f"{graph.planes}:{largest}x{board}",
            }
    return {}


def _first_line(error: Exception) -> str:
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return line.split(" : ", 3)[-1]  # behind "[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : "
