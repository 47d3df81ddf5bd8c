"""Which networks there are, and how large: names and shapes of their arrays.

This module holds everything about a kind of network except what it computes. That is in `torch_nets`, `onnx_export`
and, for the two kinds of the python-dlshogi book, `chainer_backend`.

Every network ends alike. A 1x1 convolution gives as many planes as hold a number for each label, plane after plane of
squares, and each label has a bias of its own; labels that the encoding does not have are never asked for. Another 1x1
convolution of as many planes and two linear layers give the value. Where the body has seen the whole board at once, its
feature map is one square, and there are as many planes as labels.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isqrt, prod
from typing import Final, NamedTuple

from pydlshogi.encoding import Encoding
from pydlshogi.support import OneLineError

Shape = tuple[int, ...]
Shapes = dict[str, Shape]

HIDDEN: Final = 256
"""Units between the value's planes and the value."""
PLAIN_LAYERS: Final = 12
"""Convolutions of the plain network, whose heads are therefore called l13 to l15."""
BATCH_NORMALISATION_EPS: Final = 2e-5
"""Chainer's default; most other frameworks use 1e-5."""

MOST_WEIGHTS: Final = 1 << 28
"""1 GiB in float32. Whatever is larger is not even unpacked."""

HOW_TO_EXPORT: Final = "dlshogi's convert_model_to_onnx makes an .onnx of its weights"


class ModelError(OneLineError, ValueError):
    """A network that cannot be used; the message is one line."""


class EncodingError(ModelError):
    """A network that sees the game in none of the ways wanted: perhaps it is of another game."""


class FormError(ModelError):
    """A network that a backend has no kernels for; others run it."""


class Ends(NamedTuple):
    """What goes into a network and what comes out."""

    planes: int
    height: int
    width: int
    labels: int

    def __str__(self) -> str:
        return f"{self.planes} planes of {self.height} x {self.width} and {self.labels} labels"

    def suit(self, encoding: Encoding) -> bool:
        """Whether positions of this encoding go in and its labels come out, and hardly any more."""
        planes, height, width, labels = self
        board = (planes, height, width) == (encoding.planes, encoding.height, encoding.width)
        return board and encoding.labels <= labels <= label_planes_for(encoding) * height * width

    def encoding_among(self, encodings: Iterable[Encoding]) -> Encoding:
        """The first that suits; EncodingError."""
        encodings = [each for each in encodings if each.planes]
        for encoding in encodings:
            if self.suit(encoding):
                return encoding
        wanted = " or ".join(str(Ends(each.planes, each.height, each.width, each.labels)) for each in encodings)
        raise EncodingError(f"a network of {self}, not of {wanted}")


@dataclass(frozen=True)
class Architecture:
    """A kind of network and its sizes."""

    kind: str
    """One of KINDS."""
    planes: int
    height: int
    width: int
    label_planes: int
    depth: int
    """Layers or blocks: see KINDS."""
    channels: int

    def __str__(self) -> str:
        return f"{self.kind} {self.depth}x{self.channels}"

    @property
    def labels(self) -> int:
        """How many numbers the policy has."""
        return self.label_planes * self.height * self.width

    @property
    def ends(self) -> Ends:
        return Ends(self.planes, self.height, self.width, self.labels)

    @property
    def convolutions(self) -> list[str]:
        """Names of the first layers, each with a bias and a ReLU."""
        return [f"l{layer}" for layer in range(1, 2 if KINDS[self.kind].blocks else self.depth + 1)]

    @property
    def blocks(self) -> list[str]:
        """Names of the residual blocks that follow."""
        return [f"b{block}" for block in range(1, self.depth + 1)] if KINDS[self.kind].blocks else []


def architecture_for(encoding: Encoding, kind: str, depth: int, channels: int) -> Architecture:
    """A network for this encoding."""
    planes, height, width = encoding.planes, encoding.height, encoding.width
    return Architecture(kind, planes, height, width, label_planes_for(encoding), depth, channels)


def label_planes_for(encoding: Encoding) -> int:
    """How many planes hold a number for each label."""
    return -(-encoding.labels // (encoding.height * encoding.width))


class Heads(NamedTuple):
    """Names of the layers between the last feature map and the two outputs."""

    policy: str
    policy_bias: str
    value: tuple[str, str, str]
    value_bn: str | None


class NetworkKind(NamedTuple):
    """A kind of network."""

    heads: Heads
    blocks: bool = True
    """`depth` counts residual blocks behind a convolution; else it is PLAIN_LAYERS, all of them convolutions."""
    whole: bool = False
    """The first convolution is as large as the board; what follows it are layers of numbers without a place."""


_RESNET_HEADS: Final = Heads("policy", "policy_bias", ("value1", "value2", "value3"), "value1_bn")

KINDS: Final = {
    "policy_value": NetworkKind(Heads("l13", "l13_bias", ("l13_v", "l14_v", "l15_v"), None), blocks=False),
    "policy_value_resnet": NetworkKind(_RESNET_HEADS),
    "policy_value_dense": NetworkKind(_RESNET_HEADS, whole=True),
}
"""policy_value: `depth` convolutions one after the other, always 12.
policy_value_resnet: a convolution and `depth` residual blocks (the book's `blocks=5` makes 4 of them).
policy_value_dense: a layer that sees the whole board and `depth` residual blocks of linear layers: for small boards."""


def _body_shapes(size: Architecture) -> Shapes:
    """Of all layers before the heads."""
    channels, whole = size.channels, KINDS[size.kind].whole
    seen = (size.height, size.width) if whole else (3, 3)
    shapes: Shapes = {}
    for name, inputs in zip(size.convolutions, [size.planes] + [channels] * size.depth, strict=False):
        shapes |= {f"{name}/W": (channels, inputs, *seen), f"{name}/b": (channels,)}
    for name in size.blocks:
        for half in (1, 2):
            shapes[f"{name}/conv{half}/W"] = (channels, channels, 1, 1) if whole else (channels, channels, 3, 3)
            shapes |= _normalisation(f"{name}/bn{half}", channels)
    return shapes


def parameter_shapes(architecture: Architecture) -> Shapes:
    """Name and shape of every array of a network."""
    kind, labels = KINDS[architecture.kind], architecture.labels
    heads, channels = kind.heads, architecture.channels
    planes = labels if kind.whole else architecture.label_planes
    plane_value, hidden_value, value = heads.value
    shapes = _body_shapes(architecture)
    shapes |= {f"{heads.policy}/W": (planes, channels, 1, 1), f"{heads.policy_bias}/b": bias_shape(architecture)}
    shapes |= {f"{plane_value}/W": (planes, channels, 1, 1), f"{plane_value}/b": (planes,)}
    if heads.value_bn is not None:
        shapes |= _normalisation(heads.value_bn, planes)
    shapes |= {f"{hidden_value}/W": (HIDDEN, labels), f"{hidden_value}/b": (HIDDEN,)}
    return shapes | {f"{value}/W": (1, HIDDEN), f"{value}/b": (1,)}


def bias_shape(architecture: Architecture) -> Shape:
    """Shape of the biases of the labels. It tells the board from others with as many squares, unless that is square;
    then it is the book's."""
    if architecture.height == architecture.width:
        return (architecture.labels,)
    return (architecture.label_planes, architecture.height, architecture.width)


def _normalisation(name: str, channels: int) -> Shapes:
    # N is how often Chainer updated the averages; nothing is computed from it when playing.
    return {f"{name}/{part}": (channels,) for part in ("gamma", "beta", "avg_mean", "avg_var")} | {f"{name}/N": ()}


def recognise(shapes: Mapping[str, Shape]) -> Architecture:
    """The network whose arrays have these names and shapes.

    Raises `ModelError` unless exactly the arrays of one network are there, and no more than MOST_WEIGHTS.
    """
    likely = [kind for kind in KINDS if {"l1/W", f"{KINDS[kind].heads.policy}/W"} <= shapes.keys()]
    if not likely:
        remedy = f"; {HOW_TO_EXPORT}" if "l1_1_1/W" in shapes else ""
        raise ModelError(f"none of the policy-value networks{remedy}")
    candidates = [_architecture_like(kind, shapes) for kind in likely]
    differences = [mismatches(shapes, parameter_shapes(candidate)) for candidate in candidates]
    best = min(range(len(candidates)), key=lambda i: len(differences[i]))
    if differences[best]:
        raise ModelError(differences[best][0])
    if (weights := sum(map(prod, shapes.values()))) > MOST_WEIGHTS:
        raise ModelError(f"{weights:,} weights are too many")
    return candidates[best]


def _architecture_like(kind: str, shapes: Mapping[str, Shape]) -> Architecture:
    """The only network of this kind whose arrays these can be; whether they are is another question."""
    heads, has_blocks, whole = KINDS[kind]
    channels, planes, *board = (*shapes["l1/W"], 0, 0)
    label_planes = max(1, (*shapes[f"{heads.policy}/W"], 0)[0])
    depth = sum(name.startswith("b") and name.endswith("/conv1/W") for name in shapes) if has_blocks else PLAIN_LAYERS
    if whole:
        height, width = (*board, 1, 1)[:2]
        label_planes //= max(1, height * width)
    else:
        match shapes.get(f"{heads.policy_bias}/b", ()):
            case (_, height, width):
                pass
            case labels:
                height = width = isqrt(prod(labels) // label_planes)
    return Architecture(kind, planes, height, width, label_planes, depth, channels)


def mismatches(shapes: Mapping[str, Shape], expected: Mapping[str, Shape]) -> list[str]:
    """What is wrong with arrays that should be the `expected` ones."""
    missing = [f"array {name} is missing" for name in expected if name not in shapes]
    surplus = [f"array {name} belongs to no network like this" for name in sorted(shapes.keys() - expected.keys())]
    other = [
        f"array {name} has shape {shapes[name]}, not {shape}"
        for name, shape in expected.items()
        if name in shapes and (shapes[name] != shape or 0 in shape)
    ]
    return missing + other + surplus
