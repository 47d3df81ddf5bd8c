"""A batch and a network to gradients: the loss, its arithmetic, and how the cores of a machine share the work."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from pydlshogi.features import Float32Array
from pydlshogi.network.backend import available_cores
from pydlshogi.network.torch_nets import build
from pydlshogi.network.weights import Architecture
from pydlshogi.training.batches import Batch
from pydlshogi.training.settings import Settings

FIGURES: Final = ("loss", "policy_loss", "value_loss", "policy_accuracy", "value_accuracy")


def architecture_of(settings: Settings) -> Architecture:
    """The network that the settings ask for; the plain one always has the book's 12 layers."""
    if settings.net == "policy_value":
        return Architecture("policy_value", 12, settings.channels)
    return Architecture("policy_value_resnet", settings.blocks, settings.channels)


def losses(net: nn.Module, batch: Batch, device: torch.device, settings: Settings) -> tuple[Tensor, Tensor]:
    """The loss of a batch, and its FIGURES as one tensor [5]. Where no value is known, the value terms are 0."""
    labels, values, weights = (torch.from_numpy(array).to(device) for array in batch[1:])
    policy, value = forward(net, batch.planes, device, settings.precision)
    policy_loss = cross_entropy(policy, labels, label_smoothing=settings.label_smoothing)
    known = weights.sum().clamp(min=1.0)
    value_loss = (binary_cross_entropy_with_logits(value, values, reduction="none") * weights).sum() / known
    loss = policy_loss + settings.value_weight * value_loss
    with torch.no_grad():
        policy_accuracy = (policy.argmax(1) == labels).float().mean()
        value_accuracy = (((value > 0) == (values > 0.5)) * weights).sum() / known
        return loss, torch.stack([loss, policy_loss, value_loss, policy_accuracy, value_accuracy])


def forward(net: nn.Module, planes: Float32Array, device: torch.device, precision: str) -> tuple[Tensor, Tensor]:
    """Policy and value logits of `planes` [B, 104, 9, 9], float32 [B, 2187] and [B], on the device."""
    there = torch.from_numpy(planes).to(device, memory_format=torch.channels_last)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bfloat16"):
        policy, value = net(there)
    return policy.float(), value.float()


class Shards:
    """The network and replicas that share its weights, one a thread: each computes the gradients of a part of a batch.

    The other way, all threads working on one operation at a time, has them wait for the slowest a hundred times a step,
    which costs much where other programs use the machine too. Batch normalisation sees only the part; the network's
    running averages are those of the first part.
    """

    def __init__(self, net: nn.Module, device: torch.device, settings: Settings) -> None:
        count = min(settings.shards or (available_cores() if device.type == "cpu" else 1), settings.batch_size)
        self._nets = [net]
        for _ in range(count - 1):
            replica = build(architecture_of(settings)).to(device)
            for mine, shared in zip(replica.parameters(), net.parameters(), strict=True):
                mine.data = shared.data
            self._nets.append(replica)
        threads = 1 if device.type == "cpu" and count > 1 else torch.get_num_threads()
        self._pool = ThreadPoolExecutor(count, "shard", initializer=torch.set_num_threads, initargs=(threads,))
        self._device = device
        self._settings = settings

    def gradients(self, batch: Batch) -> Tensor:
        """Leave the gradients of the loss of `batch` in the network. Returns FIGURES of the batch, [5].

        Both are means over the parts, by their sizes; the value loss of a part is the mean of those known in it.
        """
        bounds = np.linspace(0, len(batch.labels), len(self._nets) + 1).astype(int)
        parts = [Batch._make(array[low:high] for array in batch) for low, high in pairwise(bounds)]
        figures = list(self._pool.map(self._part, self._nets, parts))
        shares = [len(part.labels) / len(batch.labels) for part in parts]
        for parameters in zip(*(net.parameters() for net in self._nets), strict=True):
            total = parameters[0].grad.mul_(shares[0])
            for parameter, share in zip(parameters[1:], shares[1:], strict=True):
                total.add_(parameter.grad, alpha=share)
        return sum((figure * share for figure, share in zip(figures, shares, strict=True)), torch.zeros(()))

    def _part(self, net: nn.Module, part: Batch) -> Tensor:
        """Leave the gradients of `part` in `net`. Returns its FIGURES."""
        net.train()
        net.zero_grad()
        loss, figures = losses(net, part, self._device, self._settings)
        loss.backward()  # type: ignore[no-untyped-call]
        return figures

    def close(self) -> None:
        self._pool.shutdown()


def faster_precision(net: nn.Module, device: torch.device, settings: Settings) -> str:
    """float32 or bfloat16, by timing a step of each: on processors without instructions for it bfloat16 is slow."""
    size = settings.batch_size
    nothing = np.zeros(size, np.float32)
    batch = Batch(np.zeros((size, 104, 9, 9), np.float32), np.zeros(size, np.int64), nothing, nothing)
    taken = {}
    for precision in ("float32", "bfloat16"):
        tried = Shards(net, device, replace(settings, precision=precision))
        tried.gradients(batch).tolist()
        start = time.perf_counter()
        tried.gradients(batch).tolist()
        taken[precision] = time.perf_counter() - start
        tried.close()
    return min(taken, key=lambda precision: taken[precision])
