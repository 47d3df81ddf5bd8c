"""What runs a network: planes in, raw logits out. This module chooses the framework and imports only that one.

It knows no board, no search and no option names; softmax and sigmoid belong to whoever asks.
"""

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]

BACKENDS: Final = ("auto", "onnx", "openvino", "chainer", "torch")
DEVICES: Final = ("auto", "cpu", "gpu", "tensorrt")
PRECISIONS: Final = ("auto", "float32", "half")


class Framework(NamedTuple):
    """What a backend runs on."""

    name: str
    module: str
    remedy: str


FRAMEWORKS: Final = {
    "onnx": Framework("ONNX Runtime", "onnxruntime", "pip install onnxruntime onnx"),
    "openvino": Framework("OpenVINO", "openvino", "pip install openvino"),
    "chainer": Framework("Chainer", "chainer", "run bat/install_chainer.sh (.bat on Windows)"),
    "torch": Framework("PyTorch", "torch", "pip install torch"),
}


class BackendError(RuntimeError):
    """A framework or device that is not there; the message is one line that says what to install."""


class Backend(Protocol):
    """A loaded network. One thread at a time calls `infer`; it may be another one each time."""

    @property
    def description(self) -> str:
        """Framework, version, device and network in one line of ASCII."""

    @property
    def on_gpu(self) -> bool:
        """The network runs on another device than the search."""

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Raw logits for planes float32 [B, 104, 9, 9]: policy float32 [B, 2187] and value float32 [B].

        The caller may overwrite `planes` as soon as this returns, and owns the arrays returned.
        """


def load_backend(
    name: str,
    modelfile: str | os.PathLike[str],
    *,
    device: str = "auto",
    precision: str = "auto",
    threads: int = 0,
    spinning: bool = False,
    batch_size: int = 1,
) -> Backend:
    """Load the network in `modelfile` (`.npz`, for onnx and openvino also `.onnx`) and run it once, so that it is warm.

    name: "auto" is openvino where the network runs on the CPU and openvino is usable; everywhere else it is onnx. A
        6x96 network in float32 runs 2.8 times as fast with it on an AMD EPYC (Zen 4), and in the bfloat16 of a Xeon
        with AMX 6 to 8 times.
    device: "gpu" demands one; "auto" takes one if the framework sees one; "tensorrt" is onnx only. `description` tells
        what it became.
    precision: "half" is float16 on a GPU and bfloat16 on a CPU (torch and openvino only); "auto" is half on a GPU where
        the framework has it, with openvino also on a CPU with AMX, and else float32. Only openvino applies it to an
        `.onnx` file; onnx runs that as it is.
    threads: of the CPU; 0 means all cores this process may use. Chainer always takes one.
    spinning: waiting threads keep their core busy: faster on an idle machine, much slower on a shared one (onnx only).
    batch_size: the largest batch to be expected; larger ones work too.

    Raises `ModelError` for a file that is not a network, `BackendError` for a framework or device that is not there.
    """
    for what, given, known in (
        ("Backend", name, BACKENDS),
        ("Device", device, DEVICES),
        ("Precision", precision, PRECISIONS),
    ):
        if given not in known:
            raise BackendError(f"{what} {given} is none of {', '.join(known)}")
    if name == "auto":
        name = _automatic(device)
    with _framework(name):
        return _load(name, Path(modelfile), device, precision, threads or available_cores(), spinning, batch_size)


def installed(name: str) -> bool:
    """Whether the framework of a backend is there; nothing is imported."""
    return importlib.util.find_spec(FRAMEWORKS[name].module) is not None


def why_unusable(name: str) -> str:
    """One line that says why the framework of a backend cannot be used here; "" where it is there and works."""
    try:
        with _framework(name):
            module = importlib.import_module(f"pydlshogi.network.{name}_backend")
            if name == "openvino":
                module.has_amx()  # it loads what runs on the CPU only when asked something
    except BackendError as error:
        return str(error)
    return ""


@contextmanager
def _framework(name: str) -> Iterator[None]:
    """Where the framework of a backend is used: if it is missing or does not load, the error says so."""
    framework = FRAMEWORKS[name]
    if not installed(name):
        raise BackendError(f"{framework.name} is not installed here: {framework.remedy}")
    try:
        yield
    except (ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise BackendError(f"{framework.name} does not load: {reason}; {framework.remedy}") from error


def _automatic(device: str) -> str:
    """The backend that "auto" means."""
    with _framework("onnx"):
        from pydlshogi.network.onnx_backend import CPU, provider_for

        on_cpu = provider_for(device) == CPU
    return "openvino" if on_cpu and not why_unusable("openvino") else "onnx"


def _load(name: str, path: Path, device: str, precision: str, threads: int, spinning: bool, batch_size: int) -> Backend:
    match name:
        case "chainer":
            from pydlshogi.network.chainer_backend import ChainerBackend

            return ChainerBackend(path, device, precision, batch_size)
        case "torch":
            from pydlshogi.network.torch_backend import TorchBackend

            return TorchBackend(path, device, precision, threads, batch_size)
        case "openvino":
            from pydlshogi.network.openvino_backend import OpenvinoBackend

            return OpenvinoBackend(path, device, precision, threads, batch_size)
        case _:
            from pydlshogi.network.onnx_backend import OnnxBackend

            return OnnxBackend(path, device, precision, threads, spinning, batch_size)


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_name(threads: int) -> str:
    """How descriptions name a CPU."""
    return f"CPU, {threads} {'thread' if threads == 1 else 'threads'}"
