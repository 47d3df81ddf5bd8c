"""A batch to better weights: the loss and its gradients, how cores share the work, the optimisers, the running average.

Muon is of K. Jordan and others, "Muon: An optimizer for hidden layers in neural networks" (2024).
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from pydlshogi.network.architecture import KINDS, Architecture
from pydlshogi.network.torch_nets import Block, build
from pydlshogi.support.pool import available_cores
from pydlshogi.training.examples import TrainingBatch
from pydlshogi.training.settings import Learning
from pydlshogi.training.sparse import SparseNet

Item = TypeVar("Item")
Each = Callable[[Callable[[Any], None], Iterable[Any]], Iterable[None]]
"""`map`, or one that has threads for it."""

FIGURES: Final = ("loss", "policy_loss", "value_loss", "policy_accuracy", "value_accuracy")
"""policy_accuracy: how much of the policy target is on the network's first label, the share of the moves played where
those are the target. value_accuracy: the share of positions in which it says who is better."""


def losses(net: nn.Module, batch: TrainingBatch, device: torch.device, settings: Learning) -> tuple[Tensor, Tensor]:
    """The loss of a batch, and its FIGURES as one tensor [5]. Where no value is known, the value terms are 0."""
    firsts, labels, weights, values, value_weights = (torch.from_numpy(array).to(device) for array in batch[1:])
    rows = torch.repeat_interleave(torch.arange(len(values), device=device), firsts.diff())
    taught = weights.sum().clamp(min=1.0)
    if isinstance(net, SparseNet):
        chosen, value = net(torch.from_numpy(batch.inputs.view(np.int32)), firsts, labels)
    else:
        policy, value = forward(net, batch.inputs, device, settings.precision)
        chosen = policy.log_softmax(1)[rows, labels]
    policy_loss = -(chosen * weights).sum() / taught
    known = value_weights.sum().clamp(min=1.0)
    value_loss = (binary_cross_entropy_with_logits(value, values, reduction="none") * value_weights).sum() / known
    loss = policy_loss + settings.value_weight * value_loss
    with torch.no_grad():
        if isinstance(net, SparseNet):
            highest = torch.zeros(len(values)).scatter_reduce(0, rows, chosen, "amax", include_self=False)
            policy_accuracy = ((chosen == highest[rows]) * weights).sum() / taught
        else:
            policy_accuracy = ((policy.argmax(1)[rows] == labels) * weights).sum() / taught
        value_accuracy = (((value > 0) == (values > 0.5)) * value_weights).sum() / known
        return loss, torch.stack([loss, policy_loss, value_loss, policy_accuracy, value_accuracy])


def forward(net: nn.Module, planes: npt.NDArray[Any], device: torch.device, precision: str) -> tuple[Tensor, Tensor]:
    """Policy and value logits of `planes` [B, planes, height, width], float32 [B, labels] and [B], on the device."""
    there = torch.from_numpy(planes).to(device, memory_format=torch.channels_last)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bfloat16"):
        policy, value = net(there)
    return policy.float(), value.float()


def _parts(device: torch.device, settings: Learning) -> int:
    """Into how many parts a batch is cut where it is large enough."""
    return settings.shards or (available_cores() if device.type == "cpu" else 1)


class Shards:
    """The network and replicas that share its weights, one a thread: each computes the gradients of a part of a batch.

    The other way, all threads working on one operation at a time, has them wait for the slowest a hundred times a step,
    which costs much where other programs use the machine too. Batch normalisation sees only the part; the network's
    running averages are those of the first part.
    """

    def __init__(self, net: nn.Module, make: Callable[[], nn.Module], device: torch.device, settings: Learning) -> None:
        """`make` makes a network like `net`."""
        count = min(_parts(device, settings), settings.batch_size // 2)  # the statistics of one position say nothing
        self._nets = [net]
        for _ in range(count - 1):
            replica = make().to(device)
            for mine, shared in zip(replica.parameters(), net.parameters(), strict=True):
                mine.data = shared.data
            self._nets.append(replica)
        threads = 1 if device.type == "cpu" and count > 1 else torch.get_num_threads()
        # Also for the thread that takes the step: threads that wait for each other at every operation take thirty times
        # as long where another program has a core.
        torch.set_num_threads(threads)
        self._pool = ThreadPoolExecutor(count, "shard", initializer=torch.set_num_threads, initargs=(threads,))
        self._device = device
        self._settings = settings

    def gradients(self, batch: TrainingBatch) -> Tensor:
        """Leave the gradients of the loss of `batch` in the network. Returns FIGURES of the batch, [5].

        Both are means over the parts, by their sizes; the losses of a part are means over what is known in it.
        """
        size = len(batch.values)
        bounds = np.linspace(0, size, len(self._nets) + 1).astype(int)
        parts = [batch.part(low, high) for low, high in pairwise(bounds)]
        figures = list(self._pool.map(self._part, self._nets, parts))
        shares = [len(part.values) / size for part in parts]
        for parameters in zip(*(net.parameters() for net in self._nets), strict=True):
            total = parameters[0].grad.mul_(shares[0])
            for parameter, share in zip(parameters[1:], shares[1:], strict=True):
                total.add_(parameter.grad, alpha=share)
        return sum((figure * share for figure, share in zip(figures, shares, strict=True)), torch.zeros(()))

    def _part(self, net: nn.Module, part: TrainingBatch) -> Tensor:
        """Leave the gradients of `part` in `net`. Returns its FIGURES."""
        net.train()
        net.zero_grad()
        loss, figures = losses(net, part, self._device, self._settings)
        loss.backward()  # type: ignore[no-untyped-call]
        return figures

    def map(self, function: Callable[[Item], None], items: Iterable[Item]) -> Iterator[None]:
        """Call `function` with each of `items` in the threads of the shards."""
        return self._pool.map(function, items)

    def close(self) -> None:
        self._pool.shutdown()


def faster_precision(net: nn.Module, architecture: Architecture, device: torch.device, settings: Learning) -> str:
    """float32 or bfloat16, by timing a step of each: on processors without instructions for it bfloat16 is slow, ten
    times as slow as float32, so there a small batch has to do, but for a network of linear layers: it takes a step so
    small that converting its weights is most of it."""
    few = 512 if KINDS[architecture.kind].whole else 16
    count = min(settings.batch_size, few * _parts(device, settings)) if device.type == "cpu" else settings.batch_size
    empty_boards = np.zeros((count, architecture.planes, architecture.height, architecture.width), np.float32)
    zeros = np.zeros(count, np.float32)
    batch = TrainingBatch(empty_boards, np.arange(count + 1), np.zeros(count, np.int64), zeros + 1, zeros, zeros)
    taken = {}
    for precision in ("float32", "bfloat16"):
        tried = Shards(net, partial(build, architecture), device, replace(settings, precision=precision))
        tried.gradients(batch).tolist()
        start = time.perf_counter()
        tried.gradients(batch).tolist()
        taken[precision] = time.perf_counter() - start
        tried.close()
    return min(taken, key=lambda precision: taken[precision])


# The optimisers


def optimisers_of(net: nn.Module, settings: Learning, each: Each = map) -> list[torch.optim.Optimizer]:
    """One optimiser for all parameters; with muon two, of which Muon has the 3x3 kernels and AdamW all others.

    each: what Muon goes through the kernels with, which takes as long as the gradients of a small network.

    kernels: of convolutions larger than 1x1, and of all in residual blocks. matrices: of the other 1x1 convolutions and
    linear layers. vectors: biases, those of labels too, and normalisation; they do not decay.
    """
    in_blocks = {id(p) for block in net.modules() if isinstance(block, Block) for p in block.parameters()}
    kernels = [p for p in net.parameters() if p.ndim == 4 and (p.shape[2] > 1 or id(p) in in_blocks)]
    among_kernels = {id(p) for p in kernels}
    matrices = [p for p in net.parameters() if p.ndim == 2 or (p.ndim == 4 and id(p) not in among_kernels)]
    vectors = [p for p in net.parameters() if p.ndim in (1, 3)]
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimiser == "muon":
        groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
        rest = torch.optim.AdamW(groups, lr=rate / 10, betas=(0.9, 0.99), fused=True)
        dtype = torch.bfloat16 if settings.precision == "bfloat16" else torch.float32
        return [Muon(kernels, dtype, rate, decay, each), rest] if kernels else [rest]
    groups = [{"params": kernels + matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    return [torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.99), fused=True)]


def schedule(progress: float, settings: Learning) -> float:
    """Share of the highest learning rate at `progress` 0..1 of the run: it rises, stays, and falls to 0."""
    rising = progress / settings.warmup if settings.warmup else 1.0
    falling = (1.0 - progress) / settings.decay if settings.decay else 1.0
    return max(0.0, min(rising, 1.0, falling))


@torch.no_grad()
def follow(averaged: nn.Module, net: nn.Module, keep: float) -> None:
    """Move the running average of weights and statistics towards the network, keeping the share `keep`."""
    for mean, now in zip(averaged.state_dict().values(), net.state_dict().values(), strict=True):
        if mean.is_floating_point():
            mean.lerp_(now, 1.0 - keep)
        else:
            mean.copy_(now)


# Jordan's coefficients: five iterations bring every singular value to between 0.7 and 1.2.
_A, _B, _C = 3.4445, -4.7750, 2.0315
_ITERATIONS: Final = 5


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, made orthogonal kernel by kernel (all axes but the first taken as one), with weight decay."""

    def __init__(
        self, params: Iterable[Any], dtype: torch.dtype, lr: float, weight_decay: float = 0.0, each: Each = map
    ) -> None:
        """dtype: what it computes in; see `orthogonal`."""
        super().__init__(params, {"lr": lr, "momentum": 0.95, "weight_decay": weight_decay})
        self._dtype = dtype
        self._each = each

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Change the parameters by what their gradients say; `closure` is not used."""
        for group in self.param_groups:
            change = partial(self._change, group)
            for _ in self._each(change, group["params"]):
                pass

    @torch.no_grad()
    def _change(self, group: dict[str, Any], parameter: Tensor) -> None:
        gradient = parameter.grad
        assert gradient is not None
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        momentum = state["momentum"].lerp_(gradient, 1 - group["momentum"])
        kernel = gradient.lerp(momentum, group["momentum"]).flatten(1)
        # A tall matrix would otherwise change its outputs less than a wide one.
        scale = max(1.0, kernel.shape[0] / kernel.shape[1]) ** 0.5
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        parameter.add_(orthogonal(kernel, self._dtype).view_as(parameter), alpha=-group["lr"] * scale)


def orthogonal(matrix: Tensor, dtype: torch.dtype) -> Tensor:
    """The nearest matrix [m, n] with orthonormal rows (m <= n) or columns, roughly, by Newton-Schulz iterations."""
    x: Tensor = matrix.to(dtype) / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(_ITERATIONS):
        square = x @ x.T
        x = _A * x + (_B * square + _C * square @ square) @ x
    return (x.T if tall else x).to(matrix.dtype)
