"""Which framework runs a network: this module chooses it and imports only that one."""

import ctypes
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from pydlshogi.encoding import Encoding
from pydlshogi.network import BACKENDS, DEVICES, PRECISIONS
from pydlshogi.network.architecture import FormError
from pydlshogi.network.backend import Backend, BackendError, Resources
from pydlshogi.network.sparse import is_sparse, read_sparse
from pydlshogi.network.weights import read_network
from pydlshogi.support.pool import available_cores


class Framework(NamedTuple):
    """What a backend runs on."""

    name: str
    module: str
    remedy: str


FRAMEWORKS: Final = {
    "onnx": Framework("ONNX Runtime", "onnxruntime", "run bat/environment.sh onnx (.bat on Windows)"),
    "openvino": Framework("OpenVINO", "openvino", "run bat/environment.sh openvino (.bat on Windows)"),
    "chainer": Framework("Chainer", "chainer", "run bat/install_chainer.sh (.bat on Windows)"),
    "torch": Framework("PyTorch", "torch", "run bat/environment.sh train (.bat on Windows)"),
}


def load_backend(
    name: str,
    modelfile: str | os.PathLike[str],
    encodings: Sequence[Encoding],
    *,
    device: str = "auto",
    precision: str = "auto",
    threads: int = 0,
    streams: int = 1,
    batch_size: int = 1,
) -> Backend:
    """Load the network in `modelfile` (`.npz`, for onnx and openvino also `.onnx`) and run it once, so that it is warm.

    encodings: those the network may be for; the first that its planes and labels suit is the backend's.
    name: "auto" is sparse for a sparse network, which nothing else runs; else torch where it sees a GPU, onnx where
        that has a GPU, and on the CPU winograd, which is faster there than any framework (docs/measure.md), or onnx
        where an `.onnx` file is of another form than winograd runs, of which `description` tells.
    device: "gpu" demands one; "auto" takes one if the framework sees one; "tensorrt" is onnx only. `description` tells
        what it became.
    precision: of a framework. "half" is float16 on a GPU and bfloat16 on a CPU (torch and openvino only); "auto" is
        half on a GPU where the framework has it, with openvino also on a CPU that has instructions for it, and else
        float32. Only openvino applies it to an `.onnx` file; onnx runs that as it is.
    threads: of the CPU; 0 means all cores this process may use. Chainer and winograd take one a stream.
    streams: how many batches the network works on at once, each for a thread that calls; they share the CPU's threads.
    batch_size: the largest batch to be expected; 0: it is to be measured. Larger ones work too, if with less speed.

    Raises `ModelError` for a file that is not such a network, `BackendError` for a framework or device that is not
    there.
    """
    for what, given, known in (
        ("Backend", name, BACKENDS),
        ("Device", device, DEVICES),
        ("Precision", precision, PRECISIONS),
    ):
        if given not in known:
            raise BackendError(f"{what} {given} is none of {', '.join(known)}")
    resources = Resources(device, precision, threads or available_cores(), streams, batch_size)
    if name == "sparse" or (name == "auto" and is_sparse(Path(modelfile))):
        from pydlshogi.network.sparse import sparse_backend

        return sparse_backend(Path(modelfile), encodings, resources)
    automatic, why = name == "auto", ""
    if automatic:
        name = _automatic(device, Path(modelfile))
    if name == "winograd":
        from pydlshogi.network.winograd_backend import winograd_backend

        foreign = Path(modelfile).suffix == ".onnx"
        if foreign and not importlib.util.find_spec("onnx"):
            raise BackendError(f"the package onnx is not installed here: {FRAMEWORKS['onnx'].remedy}")
        try:
            return winograd_backend(Path(modelfile), encodings, resources)
        except FormError as error:
            if not (automatic and foreign):
                raise
            if not installed("onnx"):
                missing = f"{FRAMEWORKS['onnx'].name} is not installed here: {FRAMEWORKS['onnx'].remedy}"
                raise BackendError(f"{error}, but {missing}") from error
            name, why = "onnx", f" ({error})"
    with _framework(name):
        module = importlib.import_module(f"pydlshogi.network.{name}_backend")
        backend: Any = getattr(module, f"{name}_backend")(Path(modelfile), encodings, resources)
        if why:
            backend.description += why
        return cast(Backend, backend)


def encoding_of(modelfile: Path, encodings: Sequence[Encoding]) -> Encoding:
    """The one of `encodings` that the network in an `.npz` file is for. Raises `ModelError` as `load_backend`."""
    return read_sparse(modelfile, encodings)[1] if is_sparse(modelfile) else read_network(modelfile, encodings)[2]


def installed(name: str) -> bool:
    """Whether the framework of a backend is there; nothing is imported."""
    return importlib.util.find_spec(FRAMEWORKS[name].module) is not None


def why_unusable(name: str) -> str:
    """One line that says why the framework of a backend cannot be used here; "" where it is there and works."""
    try:
        with _framework(name):
            importlib.import_module(f"pydlshogi.network.{name}_backend")
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


def _automatic(device: str, modelfile: Path) -> str:
    """The backend that "auto" means."""
    if device in ("auto", "gpu") and modelfile.suffix != ".onnx" and _torch_sees_gpu():
        return "torch"
    if device not in ("auto", "cpu") or (device == "auto" and _onnx_sees_gpu()):
        return "onnx"
    return "winograd"


def _onnx_sees_gpu() -> bool:
    """Whether ONNX Runtime is here and has a GPU. The package without GPU support need not be imported for that."""
    if not installed("onnx"):
        return False
    package: Any = importlib.util.find_spec("onnxruntime")
    made = Path(package.origin).with_name("capi") / "build_and_package_info.py"
    if made.exists() and "package_name = 'onnxruntime'\n" in made.read_text():
        return False
    with _framework("onnx"):
        from pydlshogi.network.onnx_backend import CPU, provider_for

        return provider_for("auto") != CPU


def _torch_sees_gpu() -> bool:
    """Whether PyTorch is here and can use a GPU. Importing it takes seconds: only where there is a driver."""
    if not (installed("torch") and _has_nvidia_driver()) or why_unusable("torch"):
        return False
    from pydlshogi.network.torch_backend import has_gpu

    return has_gpu("auto")


def _has_nvidia_driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True
