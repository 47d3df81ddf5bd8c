"""The policy-value networks as PyTorch modules, and their way to and from the arrays of a weight file.

The modules carry the names of the Chainer chains, so that one file format serves every framework: `b1.bn1.weight` here
is `b1/bn1/gamma` in the file. This module knows no game, no training and no device.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from pydlshogi.network.architecture import BATCH_NORMALISATION_EPS, HIDDEN, KINDS, Architecture, ModelError, bias_shape
from pydlshogi.network.weights import Array, Weights, architecture_of

_NAMES: Final = {"weight": "W", "bias": "b"}
_NORMALISATION_NAMES: Final = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "avg_mean",
    "running_var": "avg_var",
    "num_batches_tracked": "N",
}


class LabelBias(nn.Module):
    """One bias for each label."""

    def __init__(self, size: Architecture) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(bias_shape(size)))

    def forward(self, logits: Tensor) -> Tensor:
        return logits + self.bias.flatten()


class Whole(nn.Conv2d):
    """A convolution as large as what it sees: computed as the linear layer it is, which takes a third of the time."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x.flatten(1), self.weight.flatten(1), self.bias)[:, :, None, None]


class Block(nn.Module):
    """Residual block: convolution, normalisation, ReLU, convolution, normalisation, sum, ReLU."""

    def __init__(self, size: Architecture) -> None:
        super().__init__()
        self.conv1 = self._convolution(size)
        self.bn1 = nn.BatchNorm2d(size.channels, eps=BATCH_NORMALISATION_EPS)
        self.conv2 = self._convolution(size)
        self.bn2 = nn.BatchNorm2d(size.channels, eps=BATCH_NORMALISATION_EPS)

    @staticmethod
    def _convolution(size: Architecture) -> nn.Conv2d:
        if KINDS[size.kind].whole:
            return Whole(size.channels, size.channels, 1, bias=False)
        return nn.Conv2d(size.channels, size.channels, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = relu(self.bn1(self.conv1(x)), inplace=True)
        return relu(self.bn2(self.conv2(h)) + x, inplace=True)


class PolicyValueNet(nn.Module):
    """Planes [B, planes, height, width] -> policy logits [B, labels], value logits [B]."""

    def __init__(self, size: Architecture) -> None:
        super().__init__()
        heads, _, whole = KINDS[size.kind]
        planes, head = (size.labels, Whole) if whole else (size.label_planes, nn.Conv2d)
        self._convolutions, self._blocks, self._heads = size.convolutions, size.blocks, heads
        for name, inputs in zip(self._convolutions, [size.planes] + [size.channels] * size.depth, strict=False):
            if whole:
                self.add_module(name, Whole(inputs, size.channels, (size.height, size.width)))
            else:
                self.add_module(name, nn.Conv2d(inputs, size.channels, 3, padding=1))
        for name in self._blocks:
            self.add_module(name, Block(size))
        convolution, hidden, output = heads.value
        self.add_module(heads.policy, head(size.channels, planes, 1, bias=False))
        self.add_module(heads.policy_bias, LabelBias(size))
        self.add_module(convolution, head(size.channels, planes, 1))
        if heads.value_bn is not None:
            self.add_module(heads.value_bn, nn.BatchNorm2d(planes, eps=BATCH_NORMALISATION_EPS))
        self.add_module(hidden, nn.Linear(size.labels, HIDDEN))
        self.add_module(output, nn.Linear(HIDDEN, 1))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        layer, heads, h = self.get_submodule, self._heads, planes
        for name in self._convolutions:
            h = relu(layer(name)(h), inplace=True)
        for name in self._blocks:
            h = layer(name)(h)
        convolution, hidden, output = heads.value
        policy = layer(heads.policy_bias)(layer(heads.policy)(h).flatten(1))
        value = layer(convolution)(h)
        if heads.value_bn is not None:
            value = layer(heads.value_bn)(value)
        value = relu(layer(hidden)(relu(value, inplace=True).flatten(1)), inplace=True)
        return policy, layer(output)(value).squeeze(1)


def build(architecture: Architecture) -> nn.Module:
    """A new network, its weights sampled from torch's generator: undecided at first, its residual blocks identities."""
    net = PolicyValueNet(architecture)
    heads = KINDS[architecture.kind].heads
    for name, module in net.named_modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            if name in (heads.policy, heads.value[-1]):
                nn.init.normal_(module.weight, std=0.01)
            else:
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, Block):
            nn.init.zeros_(module.bn2.weight)
    return net


def to_npz(net: nn.Module) -> Weights:
    """The weights of the network under their names in the file: float32 arrays, int64 for the counters `N`."""
    names = _file_names(net)
    return {names[key]: tensor.detach().cpu().numpy().copy() for key, tensor in net.state_dict().items()}


def from_npz(weights: Mapping[str, Array]) -> nn.Module:
    """The network with these weights, float32 on the CPU and in evaluation mode.

    Raises `ModelError` unless the arrays are exactly those of a network.
    """
    architecture = architecture_of(weights)
    net = PolicyValueNet(architecture)
    _load(net, weights)
    return net.eval()


def grow(weights: Mapping[str, Array], architecture: Architecture) -> nn.Module:
    """A network of this size that computes what the smaller one with these weights does, until it learns more.

    New residual blocks are identities; new channels are sampled as in `build`, but nothing that was there listens to
    them yet (Net2Net's idea: Chen, Goodfellow and Shlens 2016). Raises `ModelError` if `weights` are those of another
    kind of network, or of one for other planes or labels, or of a larger one.
    """
    small = architecture_of(weights)
    same_but_larger = replace(architecture, depth=small.depth, channels=small.channels) == small
    if not same_but_larger or small.depth > architecture.depth or small.channels > architecture.channels:
        raise ModelError(f"{small}, {small.ends}, does not grow into {architecture}, {architecture.ends}")
    net = build(architecture)
    grown = to_npz(net)
    for name, array in weights.items():
        if array.ndim > 1:
            grown[name][: array.shape[0], array.shape[1] :] = 0
        grown[name][tuple(slice(size) for size in array.shape)] = array
    _load(net, grown)
    return net


def _load(net: nn.Module, weights: Mapping[str, Array]) -> None:
    names = _file_names(net)
    net.load_state_dict(
        {key: torch.from_numpy(weights[names[key]]).to(tensor.dtype) for key, tensor in net.state_dict().items()}
    )


def _file_names(net: nn.Module) -> dict[str, str]:
    """PyTorch's name -> name in the file, for all weights and running averages."""
    names = {}
    for key in net.state_dict():
        path, _, leaf = key.rpartition(".")
        leaves = _NORMALISATION_NAMES if isinstance(net.get_submodule(path), nn.BatchNorm2d) else _NAMES
        names[key] = f"{path.replace('.', '/')}/{leaves[leaf]}"
    return names
