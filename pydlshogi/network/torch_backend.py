"""PyTorch as a backend: float16 and CUDA graphs on a GPU, float32 (or bfloat16) on the CPU."""

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pydlshogi.common import NUM_LABELS, NUM_PLANES
from pydlshogi.network.backend import BackendError, Float32Array, cpu_name
from pydlshogi.network.torch_nets import from_npz
from pydlshogi.network.weights import ModelError, Weights, read_weights, recognise

HOW_TO_GET_A_GPU: Final = "an NVIDIA driver and a PyTorch built for it are needed (https://pytorch.org/get-started)"

SMALLEST_GRAPH: Final = 8


class TorchBackend:
    """A network run by PyTorch; see `Backend` for the contract and `load_backend` for the arguments."""

    def __init__(self, path: Path, device: str, precision: str, threads: int, batch_size: int) -> None:
        if path.suffix == ".onnx":
            raise ModelError(f"{path}: Backend torch reads .npz files; set Backend onnx for this one")
        gpu = _has_gpu(device)
        self.on_gpu = gpu
        weights = read_weights(path)
        self._run: _OnGpu | _OnCpu
        if gpu:
            dtype = torch.float32 if precision == "float32" else torch.float16
            self._run = _OnGpu(network(weights), dtype, batch_size)
        else:
            dtype = torch.bfloat16 if precision == "half" else torch.float32
            self._run = _OnCpu(network(weights), dtype, threads)
        name = f"{recognise(weights)} {str(dtype).removeprefix('torch.')}"
        self.description = f"PyTorch {torch.__version__} on {self._run.where}: {name}"
        for size in {1, batch_size}:
            self.infer(np.zeros((size, NUM_PLANES, 9, 9), np.float32))

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Raw logits for planes float32 [B, 104, 9, 9]: policy float32 [B, 2187] and value float32 [B]."""
        with torch.inference_mode():
            return self._run(planes)


def network(weights: Weights) -> nn.Module:
    """The network with these weights on the CPU, batch normalisation folded into the convolutions before it."""
    net = from_npz(weights).requires_grad_(False)
    for parent in list(net.modules()):
        for convolution, normalisation in (("conv1", "bn1"), ("conv2", "bn2"), ("value1", "value1_bn")):
            if hasattr(parent, normalisation):
                folded = fuse_conv_bn_eval(getattr(parent, convolution), getattr(parent, normalisation))
                setattr(parent, convolution, folded)
                setattr(parent, normalisation, nn.Identity())
    return net


def _has_gpu(device: str) -> bool:
    if device == "cpu":
        return False
    if device == "tensorrt":
        raise BackendError("Device tensorrt: PyTorch cannot use it; set Backend onnx")
    available = torch.cuda.is_available()
    if device == "gpu" and not available:
        raise BackendError(f"Device gpu: PyTorch sees no CUDA GPU; {HOW_TO_GET_A_GPU}")
    return available


def _placed(network: nn.Module, device: str, dtype: torch.dtype) -> nn.Module:
    """The network on a device, the kernels of its convolutions laid out like the planes they meet."""
    network = network.to(device, dtype)
    for parameter in network.parameters():
        if parameter.dim() == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
    return network


class _OnCpu:
    def __init__(self, network: nn.Module, dtype: torch.dtype, threads: int) -> None:
        torch.set_num_threads(threads)
        self._dtype = dtype
        self._network = _placed(network, "cpu", dtype)
        self.where = cpu_name(threads)

    def __call__(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        policy, value = self._network(torch.from_numpy(planes).to(self._dtype, memory_format=torch.channels_last))
        return policy.float().numpy(), value.float().numpy().reshape(-1)


class _OnGpu:
    """One CUDA graph for each of a few batch sizes; a batch is filled up to the next of them.

    The kernels of a small network last about as long as it takes to launch them; a graph launches all of them at once.
    """

    def __init__(self, network: nn.Module, dtype: torch.dtype, batch_size: int) -> None:
        # Half precision alone decides how exact the result is: "float32" means float32.
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.benchmark = True  # a graph is captured once and replayed many times
        self._network = _placed(network, "cuda", dtype)
        self._dtype = dtype
        self._graphs: dict[int, _Graph] = {}
        self.where = f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}"
        size = SMALLEST_GRAPH
        while size < batch_size:
            self._graph(size)
            size *= 2

    def _graph(self, size: int) -> "_Graph":
        if size not in self._graphs:
            self._graphs[size] = _Graph(self._network, self._dtype, size)
        return self._graphs[size]

    def __call__(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        size = max(SMALLEST_GRAPH, 1 << (len(planes) - 1).bit_length())
        return self._graph(size)(planes)


class _Graph:
    """The network for exactly `size` positions, from page-locked planes to page-locked logits.

    Policy and value lie side by side, so that one transfer brings both back.
    """

    def __init__(self, network: nn.Module, dtype: torch.dtype, size: int) -> None:
        # Planes hold only 0 and 1: as uint8 a quarter of the bytes travels.
        self._planes = torch.zeros((size, NUM_PLANES, 9, 9), dtype=torch.uint8, pin_memory=True)
        self._logits = torch.zeros((size, NUM_LABELS + 1), dtype=torch.float32, pin_memory=True)
        planes_there = self._planes.to("cuda")

        def forward() -> Tensor:
            policy, value = network(planes_there.to(dtype, memory_format=torch.channels_last))
            return torch.cat((policy, value.reshape(-1, 1)), dim=1).float()

        for _ in range(3):  # cuDNN chooses its algorithms now: inside a capture it could not
            forward()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._logits_there = forward()
        self._planes_there = planes_there

    def __call__(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        count = len(planes)
        self._planes[:count].copy_(torch.from_numpy(planes))
        self._planes_there.copy_(self._planes, non_blocking=True)
        self._graph.replay()
        self._logits.copy_(self._logits_there, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        logits = self._logits[:count].numpy()
        return logits[:, :NUM_LABELS].copy(), logits[:, NUM_LABELS].copy()
