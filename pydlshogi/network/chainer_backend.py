"""Chainer as a backend: with numpy on the CPU, with CuPy on a GPU; and on the Python and numpy of today.

Names and shapes of the parameters are those of the book, so its `.npz` files load with `chainer.serializers.load_npz`.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import HIDDEN, KINDS, Architecture, ModelError, bias_shape
from pydlshogi.network.backend import BackendError, HostBackend, Resources
from pydlshogi.network.weights import Weights, architecture_of, read_network
from pydlshogi.support.arrays import Float32Array

HOW_TO_GET_A_GPU: Final = "it needs an NVIDIA driver and CuPy: pip install cupy-cuda12x[ctk]"


def import_chainer() -> Any:
    """The module `chainer`, 7.8.1 (2022, its last release); raises ImportError if it is not installed.

    Two things that Chainer takes for granted are gone. `numpy.sctypes` (removed in numpy 2.0) is put back. The check of
    its surroundings, which needs `numpy.distutils` and `pkg_resources` only to print warnings, is left out; with it
    goes Chainer's refusal of newer CuPy releases, which work (those from 14 on without cuDNN).
    """
    if "chainer" not in sys.modules:
        kinds = {"int": [np.int8, np.int16, np.int32, np.int64], "float": [np.float16, np.float32, np.float64]}
        vars(np).setdefault("sctypes", kinds)
        unchecked = ModuleType("chainer._environment_check")
        vars(unchecked)["check"] = lambda: None
        sys.modules["chainer._environment_check"] = unchecked
    import chainer

    return chainer


chainer = import_chainer()
cuda = chainer.backends.cuda
Chain: Any = chainer.Chain
F = chainer.functions
L = chainer.links


class Block(Chain):
    """Residual block: two convolutions with batch normalisation, the input added before the last ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(channels, channels, ksize=3, pad=1, nobias=True)
            self.bn1 = L.BatchNormalization(channels)
            self.conv2 = L.Convolution2D(channels, channels, ksize=3, pad=1, nobias=True)
            self.bn2 = L.BatchNormalization(channels)

    def forward(self, x: Any) -> Any:
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(h)))


class PolicyValueChain(Chain):
    """Called with planes float32 [B, planes, height, width] it gives the raw logits: policy [B, labels], value [B, 1].

    The book's have 192 channels, and twelve convolutions or four blocks (its `blocks=5` builds them).
    """

    def __init__(self, size: Architecture) -> None:
        super().__init__()
        self.size = size
        heads = KINDS[size.kind].heads
        with self.init_scope():
            for name, inputs in zip(size.convolutions, [size.planes] + [size.channels] * size.depth, strict=False):
                setattr(self, name, L.Convolution2D(inputs, size.channels, ksize=3, pad=1))
            for name in size.blocks:
                setattr(self, name, Block(size.channels))
            convolution, hidden, output = heads.value
            setattr(self, heads.policy, L.Convolution2D(size.channels, size.label_planes, ksize=1, nobias=True))
            setattr(self, heads.policy_bias, L.Bias(shape=bias_shape(size)))
            setattr(self, convolution, L.Convolution2D(size.channels, size.label_planes, ksize=1))
            if heads.value_bn is not None:
                setattr(self, heads.value_bn, L.BatchNormalization(size.label_planes))
            setattr(self, hidden, L.Linear(size.labels, HIDDEN))
            setattr(self, output, L.Linear(HIDDEN, 1))

    def forward(self, planes: Any) -> tuple[Any, Any]:
        size, heads, h = self.size, KINDS[self.size.kind].heads, planes
        for name in size.convolutions:
            h = F.relu(self[name](h))
        for name in size.blocks:
            h = self[name](h)
        convolution, hidden, output = heads.value
        policy = self[heads.policy_bias](F.reshape(self[heads.policy](h), (-1, *bias_shape(size))))
        value = self[convolution](h)
        if heads.value_bn is not None:
            value = self[heads.value_bn](value)
        value = self[output](F.relu(self[hidden](F.relu(value))))
        return F.reshape(policy, (-1, size.labels)), value


def chainer_backend(path: Path, encodings: Sequence[Encoding], resources: Resources) -> HostBackend:
    """A network run by Chainer; see `load_backend`. On a GPU, too, the CPU unpacks and makes the priors."""
    if path.suffix == ".onnx":
        raise ModelError(f"{path}: Backend chainer reads .npz files; set Backend onnx for this one")
    if resources.precision == "half":
        raise BackendError("Precision half: not with Chainer; set Backend onnx or torch")
    gpu = _has_gpu(resources.device)
    weights, architecture, encoding = read_network(path, encodings)
    if KINDS[architecture.kind].whole:
        raise ModelError(f"{path}: Backend chainer knows no {architecture.kind}; set Backend onnx")
    network = chain(weights)
    runs: Sequence[_OnGpu | _OnCpu] = [_OnCpu(network, resources.streams)] * resources.streams
    if gpu:
        runs = [_OnGpu(network)]
    return HostBackend(
        f"Chainer {chainer.__version__} on {runs[0].where}: {architecture} float32",
        encoding,
        runs,
        resources.largest_batch(on_gpu=gpu),
        planes=np.uint8 if gpu else np.float32,
        on_gpu=gpu,
    )


def chain(weights: Weights) -> Any:
    """The Chainer chain with these weights on the CPU, where BLAS takes one thread from now on."""
    threadpool_limits(1, user_api="blas")  # two take two to four times as long
    network = PolicyValueChain(architecture_of(weights))
    chainer.serializers.NpzDeserializer(weights).load(network)
    return network


def _has_gpu(device: str) -> bool:
    if device == "cpu":
        return False
    if device == "tensorrt":
        raise BackendError("Device tensorrt: Chainer cannot use it; set Backend onnx")
    if device == "auto":
        return cuda.available and _gpus() > 0
    if not cuda.available:
        raise BackendError(f"Device gpu: Chainer has no CuPy that works; {HOW_TO_GET_A_GPU}")
    if _gpus() == 0:
        raise BackendError(f"Device gpu: CuPy finds no GPU; {HOW_TO_GET_A_GPU}")
    return True


def _gpus() -> int:
    try:
        return int(cuda.cupy.cuda.runtime.getDeviceCount())
    except cuda.cupy.cuda.runtime.CUDARuntimeError:
        return 0


class _OnCpu:
    """Planes and network in numpy arrays, on the thread that calls."""

    def __init__(self, network: Any, streams: int) -> None:
        self._network = network
        self.where = "CPU, 1 thread" if streams == 1 else f"CPU, {streams} streams of 1 thread"

    def __call__(self, planes: npt.NDArray[Any]) -> tuple[Float32Array, Float32Array]:
        with _playing():
            policy, value = self._network(planes)
        return policy.array, value.array


class _OnGpu:
    """The network in CuPy arrays. Planes go there in bytes: they hold only 0 and 1."""

    def __init__(self, network: Any) -> None:
        self._network = network
        network.to_gpu()
        name = cuda.cupy.cuda.runtime.getDeviceProperties(cuda.cupy.cuda.Device().id)["name"].decode()
        self.where = f"{name}, CuPy {cuda.cupy.__version__}{'' if cuda.cudnn_enabled else ' without cuDNN'}"

    def __call__(self, planes: npt.NDArray[Any]) -> tuple[Float32Array, Float32Array]:
        with _playing():
            policy, value = self._network(cuda.cupy.asarray(planes).astype(np.float32))
        return policy.array.get(), value.array.get()


@contextmanager
def _playing() -> Iterator[None]:
    """Chainer as it is when nothing is learned; its settings are the thread's."""
    with chainer.no_backprop_mode(), chainer.using_config("train", False):
        yield
