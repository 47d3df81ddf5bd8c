"""Chainer as a backend: with numpy on the CPU, with CuPy on a GPU."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pydlshogi.common import NUM_LABELS, NUM_PLANES
from pydlshogi.network.backend import BackendError, Float32Array, cpu_name
from pydlshogi.network.chainer_compat import import_chainer
from pydlshogi.network.policy_value import PolicyValueNetwork
from pydlshogi.network.policy_value_resnet import PolicyValueResnet
from pydlshogi.network.weights import ModelError, Weights, read_weights, recognise

chainer = import_chainer()
cuda = chainer.backends.cuda

HOW_TO_GET_A_GPU: Final = "it needs an NVIDIA driver and CuPy: pip install cupy-cuda12x[ctk]"


class ChainerBackend:
    """A network run by Chainer; see `Backend` for the contract and `load_backend` for the arguments."""

    def __init__(self, path: Path, device: str, precision: str, batch_size: int) -> None:
        if path.suffix == ".onnx":
            raise ModelError(f"{path}: Backend chainer reads .npz files; set Backend onnx for this one")
        if precision == "half":
            raise BackendError("Precision half: not with Chainer; set Backend onnx or torch")
        gpu = _has_gpu(device)
        self.on_gpu = gpu
        weights = read_weights(path)
        architecture = recognise(weights)
        network = chain(weights)
        self._run: _OnGpu | _OnCpu = _OnGpu(network) if gpu else _OnCpu(network)
        self.description = f"Chainer {chainer.__version__} on {self._run.where}: {architecture} float32"
        for size in {1, batch_size}:
            self.infer(np.zeros((size, NUM_PLANES, 9, 9), np.float32))

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Raw logits for planes float32 [B, 104, 9, 9]: policy float32 [B, 2187] and value float32 [B]."""
        with chainer.no_backprop_mode(), chainer.using_config("train", False):
            return self._run(planes)


def chain(weights: Weights) -> Any:
    """The Chainer chain with these weights, on the CPU."""
    architecture = recognise(weights)
    if architecture.kind == "policy_value":
        network = PolicyValueNetwork(architecture.channels)
    else:
        network = PolicyValueResnet(architecture.depth, architecture.channels)
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
    """Planes and network in numpy arrays, on one thread: two take two to four times as long."""

    def __init__(self, network: Any) -> None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1, user_api="blas")
        self._network = network
        self.where = cpu_name(1)

    def __call__(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        policy, value = self._network(planes)
        return policy.array, value.array.reshape(-1)


class _OnGpu:
    """The network in CuPy arrays: a batch goes there in one transfer, and both logits come back in one.

    The planes travel as uint8, a quarter of the bytes, as they hold only 0 and 1; transfers start from page-locked
    memory, which the driver need not copy first.
    """

    def __init__(self, network: Any) -> None:
        self._cupy = cuda.cupy
        self._network = network
        network.to_gpu()
        name = self._cupy.cuda.runtime.getDeviceProperties(self._cupy.cuda.Device().id)["name"].decode()
        cudnn = "" if cuda.cudnn_enabled else " without cuDNN"
        self.where = f"{name}, CuPy {self._cupy.__version__}{cudnn}"
        self._reserve(1)

    def _reserve(self, size: int) -> None:
        self._planes = self._page_locked((size, NUM_PLANES, 9, 9), np.uint8)
        self._logits = self._page_locked((size, NUM_LABELS + 1), np.float32)

    def _page_locked(self, shape: tuple[int, ...], dtype: type[np.generic]) -> npt.NDArray[Any]:
        count = int(np.prod(shape))
        memory = self._cupy.cuda.alloc_pinned_memory(count * np.dtype(dtype).itemsize)
        return np.frombuffer(memory, dtype, count).reshape(shape)

    def __call__(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        size = len(planes)
        if size > len(self._planes):
            self._reserve(size)
        self._planes[:size] = planes
        given = self._cupy.empty((size, NUM_PLANES, 9, 9), np.uint8)
        given.set(self._planes[:size])
        policy, value = self._network(given.astype(np.float32))
        logits = self._cupy.concatenate((policy.array, value.array), axis=1)
        logits.get(out=self._logits[:size])
        return self._logits[:size, :NUM_LABELS].copy(), self._logits[:size, NUM_LABELS].copy()
