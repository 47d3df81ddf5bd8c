"""Gradients to better weights: the optimisers, their learning rate, and the running average of the weights.

Muon is of K. Jordan and others, "Muon: An optimizer for hidden layers in neural networks" (2024).
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn

from pydlshogi.network.torch_nets import Block
from pydlshogi.training.settings import Learning

Each = Callable[[Callable[[Any], None], Iterable[Any]], Iterable[None]]
"""`map`, or one that has threads for it."""


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
        return [Muon(kernels, lr=rate, weight_decay=decay, each=each), rest] if kernels else [rest]
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

    def __init__(self, params: Iterable[Any], lr: float, weight_decay: float = 0.0, each: Each = map) -> None:
        super().__init__(params, {"lr": lr, "momentum": 0.95, "weight_decay": weight_decay})
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
        parameter.add_(orthogonal(kernel).view_as(parameter), alpha=-group["lr"] * scale)


def orthogonal(matrix: Tensor) -> Tensor:
    """The nearest matrix [m, n] with orthonormal rows (m <= n) or columns, roughly, by Newton-Schulz iterations."""
    # Processors without instructions for bfloat16 take forty times as long in it.
    x: Tensor = matrix.to(torch.bfloat16 if matrix.is_cuda else torch.float32) / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(_ITERATIONS):
        square = x @ x.T
        x = _A * x + (_B * square + _C * square @ square) @ x
    return (x.T if tall else x).to(matrix.dtype)
