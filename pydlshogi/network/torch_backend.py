"""PyTorch as a backend: on a GPU in float16, softmax and all; on the CPU in float32 or bfloat16."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import LifoQueue
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pydlshogi.encoding import Encoding, unpack
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import Backend, BackendError, HostBackend, Resources, borrowed
from pydlshogi.network.torch_nets import from_npz
from pydlshogi.network.weights import Weights, read_network
from pydlshogi.support.arrays import Float32Array, Int32Array, Uint32Array

HOW_TO_GET_A_GPU: Final = "an NVIDIA driver and a PyTorch built for it are needed (https://pytorch.org/get-started)"

SMALLEST_GRAPH: Final = 8
MOVES_A_POSITION: Final = 256
"""Legal moves of a position that a graph has room for, on average."""
MOST_MOVES: Final = 640
"""The most of one position."""


def torch_backend(path: Path, encodings: Sequence[Encoding], resources: Resources) -> Backend:
    """A network run by PyTorch; see `load_backend`."""
    if path.suffix == ".onnx":
        raise ModelError(f"{path}: Backend torch reads .npz files; set Backend onnx for this one")
    gpu = has_gpu(resources.device)
    weights, architecture, encoding = read_network(path, encodings)
    half = resources.precision == "half" or (gpu and resources.precision == "auto")
    dtype = (torch.float16 if gpu else torch.bfloat16) if half else torch.float32
    where = f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}" if gpu else resources.cpu
    description = f"PyTorch {torch.__version__} on {where}: {architecture} {str(dtype).removeprefix('torch.')}"
    if gpu:
        return CudaBackend(description, encoding, _placed(network(weights), "cuda", dtype), dtype, resources)
    run = _OnCpu(network(weights), dtype, resources.threads_a_stream)
    return HostBackend(description, encoding, [run] * resources.streams, resources.largest_batch(on_gpu=False))


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


def has_gpu(device: str) -> bool:
    """Whether the network runs on a GPU where the user asks for this device; BackendError where that cannot be."""
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
        self._dtype = dtype
        self._network = _placed(network, "cpu", dtype)
        self._threads = threads

    def __call__(self, planes: npt.NDArray[Any]) -> tuple[Float32Array, Float32Array]:
        if torch.get_num_threads() != self._threads:  # a setting of the thread that calls
            torch.set_num_threads(self._threads)
        with torch.inference_mode():
            policy, value = self._network(torch.from_numpy(planes).to(self._dtype, memory_format=torch.channels_last))
            return policy.float().numpy(), value.float().numpy()


class Predictor(nn.Module):
    """Planes to priors and win rates, in tensors of fixed sizes."""

    def __init__(self, network: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.network = network
        self._dtype = dtype

    def forward(self, planes: Tensor, firsts: Tensor, labels: Tensor, sharpness: Tensor) -> tuple[Tensor, Tensor]:
        """Priors float32, one for each of `labels`, and win rates float32 [B].

        planes: uint8 [B, planes, height, width]. firsts: int32 [B + 1]. labels: int32, of which those from firsts[B] on
        do not count. sharpness: float32 [1], by which the policy's logits are multiplied.
        """
        policy, value = self.network(planes.to(self._dtype, memory_format=torch.channels_last))
        firsts, labels = firsts.long(), labels.long()
        # In a row for each position, so that a softmax of the framework does it: a sum by scattering would add in
        # another order each time.
        size, widest = len(policy), min(MOST_MOVES, policy.shape[1])
        places = firsts[:-1, None] + torch.arange(widest, device=policy.device)
        legal = places < firsts[1:, None]
        table = labels[places.clamp(max=len(labels) - 1)]
        logits = policy.float().gather(1, table) * sharpness
        priors = logits.masked_fill(~legal, -torch.inf).softmax(1)
        entry = torch.arange(len(labels), device=policy.device)
        row = torch.bucketize(entry, firsts[1:], right=True).clamp(max=size - 1)
        return priors[row, (entry - firsts[row]).clamp(max=widest - 1)], value.float().sigmoid()


def portions(firsts: Int32Array, largest: int) -> Iterator[tuple[int, int]]:
    """Positions, from the first to behind the last, that a graph for `largest` has room for together.

    ValueError where there is no room for all moves of a position.
    """
    if (most := int(np.diff(firsts).max())) > MOST_MOVES:
        raise ValueError(f"a position has {most} legal moves, and there is room for {MOST_MOVES}")
    begin, count = 0, len(firsts) - 1
    while begin < count:
        end = min(begin + largest, count)
        while firsts[end] - firsts[begin] > largest * MOVES_A_POSITION:
            end = begin + (end - begin) // 2
        yield begin, end
        begin = end


class CudaBackend:
    """A network on a GPU; see `Backend` for the contract. Each stream has CUDA graphs of its own.

    The CPU unpacks, into bytes: planes hold only 0 and 1. All that follows happens on the GPU.
    """

    on_gpu = True
    batch_size = 0
    foreign = False

    def __init__(
        self, description: str, encoding: Encoding, network: nn.Module, dtype: torch.dtype, resources: Resources
    ) -> None:
        # Half precision alone decides how exact the result is: "float32" means float32.
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.benchmark = True  # a graph is captured once and replayed many times
        self.description = description
        self.encoding = encoding
        self.streams = resources.streams
        self._dtype = dtype
        self._predictor = Predictor(network, dtype)
        self._free: LifoQueue[_Stream] = LifoQueue()
        for _ in range(resources.streams):
            self._free.put(_Stream(self._predictor, encoding, resources.largest_batch(on_gpu=True)))

    def predict(
        self, packed: Uint32Array, firsts: Int32Array, labels: Int32Array, temperature: float
    ) -> tuple[Float32Array, Float32Array]:
        priors, values = np.empty(firsts[-1], np.float32), np.empty(len(packed), np.float32)
        with borrowed(self._free) as stream:
            for begin, end in portions(firsts, stream.largest):
                bounds = firsts[begin : end + 1]
                rows, moves = slice(begin, end), slice(bounds[0], bounds[-1])
                given = packed[rows], bounds - bounds[0], labels[moves], temperature
                stream.predict(*given, priors[moves], values[rows])
        return priors, values


class _Stream:
    """A CUDA stream, and one graph for each of a few batch sizes: a batch is filled up to the next of them.

    The kernels of a small network last about as long as it takes to launch them; a graph launches all at once."""

    def __init__(self, predictor: Predictor, encoding: Encoding, batch_size: int) -> None:
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._graphs: dict[int, _Graph] = {}
        self.largest = SMALLEST_GRAPH
        while self.largest < batch_size:
            self.largest *= 2
        size = SMALLEST_GRAPH
        while size <= self.largest:
            self._graphs[size] = _Graph(predictor, encoding, size, self._stream)
            size *= 2

    def predict(
        self,
        packed: Uint32Array,
        firsts: Int32Array,
        labels: Int32Array,
        temperature: float,
        priors: Float32Array,
        values: Float32Array,
    ) -> None:
        """Fill `priors` and `values` for one of the `portions`."""
        wanted = max(SMALLEST_GRAPH, len(packed), -(-len(priors) // MOVES_A_POSITION))
        size = 1 << (wanted - 1).bit_length()
        with torch.cuda.stream(self._stream):
            self._graphs[size].predict(packed, firsts, labels, temperature, priors, values)


class _Graph:
    """A predictor for exactly `size` positions, from page-locked memory to page-locked memory."""

    def __init__(self, predictor: Predictor, encoding: Encoding, size: int, stream: torch.cuda.Stream) -> None:
        most_labels = size * MOVES_A_POSITION
        planes = (size, encoding.planes, encoding.height, encoding.width)
        self._planes, self._firsts, self._labels, self._sharpness = given = [
            torch.zeros(planes, dtype=torch.uint8, pin_memory=True),
            torch.zeros(size + 1, dtype=torch.int32, pin_memory=True),
            torch.zeros(most_labels, dtype=torch.int32, pin_memory=True),
            torch.zeros(1, dtype=torch.float32, pin_memory=True),
        ]
        self._there = [tensor.to("cuda") for tensor in given]
        self._encoding = encoding
        self._stream = stream
        with torch.no_grad():
            with torch.cuda.stream(stream):
                for _ in range(3):  # cuDNN chooses its algorithms now: inside a capture it could not
                    predictor(*self._there)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, stream=stream):
                self._priors_there, self._values_there = predictor(*self._there)
        self._priors = torch.zeros(most_labels, pin_memory=True)
        self._values = torch.zeros(size, pin_memory=True)

    def predict(
        self,
        packed: Uint32Array,
        firsts: Int32Array,
        labels: Int32Array,
        temperature: float,
        priors: Float32Array,
        values: Float32Array,
    ) -> None:
        """As `_Stream.predict`, for up to `size` positions; the stream is the current one."""
        size, moves = len(packed), len(priors)
        unpack(self._encoding, packed, self._planes.numpy()[:size])
        self._firsts.numpy()[: size + 1] = firsts
        self._firsts.numpy()[size + 1 :] = moves  # positions that fill the batch up have no moves
        self._labels.numpy()[:moves] = labels
        self._sharpness[0] = 1 / temperature
        used = (size, len(self._firsts), moves, 1)
        for here, there, count in zip(
            (self._planes, self._firsts, self._labels, self._sharpness), self._there, used, strict=True
        ):
            there[:count].copy_(here[:count], non_blocking=True)
        self._graph.replay()
        self._priors[:moves].copy_(self._priors_there[:moves], non_blocking=True)
        self._values[:size].copy_(self._values_there[:size], non_blocking=True)
        self._stream.synchronize()
        priors[:] = self._priors.numpy()[:moves]
        values[:] = self._values.numpy()[:size]
