"""ONNX Runtime as a backend: an `.npz` turned into a graph in memory, or an `.onnx` file as it is.

What such a file must take and give says `graph_ends`. A quantised file is one of these; it is made for the CPU.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from pydlshogi.common import NUM_PLANES
from pydlshogi.files import cache_folder
from pydlshogi.network.backend import BackendError, Float32Array, cpu_name
from pydlshogi.network.graph_ends import End, check_input, check_outputs
from pydlshogi.network.weights import ModelError, read_weights, recognise

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


class OnnxBackend:
    """A network run by ONNX Runtime; see `Backend` for the contract and `load_backend` for the arguments."""

    def __init__(self, path: Path, device: str, precision: str, threads: int, spinning: bool, batch_size: int) -> None:
        onnxruntime.set_default_logger_severity(4)  # a GUI may never read stderr
        onnxruntime.disable_telemetry_events()
        provider = provider_for(device)
        on_cpu = provider == CPU
        if on_cpu and precision == "half":
            raise BackendError("Precision half: ONNX Runtime has it on GPUs only")
        graph, name = _graph(path, half=not on_cpu and precision != "float32")
        self._session = _session(path, graph, provider, precision, threads, spinning, batch_size)
        self._input, self._planes_dtype = check_input(path, _ends(self._session.get_inputs()))
        self._outputs = check_outputs(path, _ends(self._session.get_outputs()))
        where = cpu_name(threads) if on_cpu else provider.removesuffix("ExecutionProvider")
        self.on_gpu = not on_cpu
        self.description = f"ONNX Runtime {onnxruntime.__version__} on {where}: {name}"
        self._warm_up(path, batch_size)

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Raw logits for planes float32 [B, 104, 9, 9]: policy float32 [B, 2187] and value float32 [B]."""
        given = {self._input: planes.astype(self._planes_dtype, copy=False)}
        policy, value = self._session.run(self._outputs, given)
        return policy, value.reshape(-1)

    def _warm_up(self, path: Path, batch_size: int) -> None:
        try:
            for size in {1, batch_size}:
                self.infer(np.zeros((size, NUM_PLANES, 9, 9), np.float32))
        except (*_BAD_FILE, *_FAILURE) as error:
            raise ModelError(f"{path}: the graph does not run: {_first_line(error)}") from error


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


def _graph(path: Path, *, half: bool) -> tuple[bytes | str, str]:
    """What ONNX Runtime loads, serialised or as a file name, and a name for it."""
    if path.suffix == ".onnx":
        try:
            with path.open("rb"):
                return str(path), "an .onnx file"
        except OSError as error:
            raise ModelError(f"{path}: {error.strerror}") from error
    weights = read_weights(path)
    from pydlshogi.network.onnx_export import onnx_model

    return onnx_model(
        weights, half=half
    ).SerializeToString(), f"{recognise(weights)} {'float16' if half else 'float32'}"


def _session(
    path: Path,
    graph: bytes | str,
    provider: str,
    precision: str,
    threads: int,
    spinning: bool,
    batch_size: int,
) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
    if provider == DIRECTML:
        options.enable_mem_pattern = False  # DirectML does not know it
    if provider in (CUDA, TENSORRT):
        onnxruntime.preload_dlls()  # finds CUDA and cuDNN where pip installs them
    providers = [(provider, _provider_options(provider, precision, batch_size))]
    try:
        # Its own fallback would print to stdout and go on with the CPU.
        session = onnxruntime.InferenceSession(graph, options, providers=providers, enable_fallback=0)
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


def _provider_options(provider: str, precision: str, batch_size: int) -> dict[str, str]:
    match provider:
        case "CUDAExecutionProvider":
            # The default search would time every algorithm anew for each batch size met in play.
            tf32 = "0" if precision == "float32" else "1"
            return {"cudnn_conv_algo_search": "HEURISTIC", "prefer_nhwc": "1", "use_tf32": tf32}
        case "TensorrtExecutionProvider":
            board = f"{NUM_PLANES}x9x9"
            return {
                "trt_fp16_enable": "0" if precision == "float32" else "1",
                "trt_engine_cache_enable": "1",
                "trt_engine_cache_path": str(cache_folder() / "tensorrt"),
                "trt_profile_min_shapes": f"planes:1x{board}",
                "trt_profile_opt_shapes": f"planes:{batch_size}x{board}",
                "trt_profile_max_shapes": f"planes:{batch_size}x{board}",
            }
    return {}


def _ends(nodes: list[Any]) -> list[End]:
    return [End(node.name, node.type.removeprefix("tensor(").removesuffix(")"), node.shape) for node in nodes]


def _first_line(error: Exception) -> str:
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return line.split(" : ", 3)[-1]  # behind "[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : "
