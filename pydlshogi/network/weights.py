"""Weights of the two networks, as Chainer's `save_npz` writes them: read, checked and written with numpy alone.

The names and shapes of the arrays are the file format, the same as in the python-dlshogi book, so networks trained
with it load here. This file knows which arrays make up a network, but nothing of what is computed with them.
"""

import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from pydlshogi.common import LABEL_PLANES, NUM_LABELS, NUM_PLANES
from pydlshogi.files import replacing

Array = npt.NDArray[Any]
Weights = dict[str, Array]
Shape = tuple[int, ...]

PLAIN_LAYERS: Final = 12  # the heads of the plain network are therefore called l13 to l15
HIDDEN: Final = 256  # units between the value's planes and the value
BATCH_NORMALISATION_EPS: Final = 2e-5  # Chainer's default; most other frameworks use 1e-5


class ModelError(ValueError):
    """A network file that cannot be used; the message is one line that names the file and the reason."""


@dataclass(frozen=True)
class Architecture:
    """Which of the two networks, and how large.

    policy_value: `depth` convolutions one after the other, always 12.
    policy_value_resnet: one convolution and `depth` residual blocks (the book's `blocks=5` makes 4 of them).
    """

    kind: Literal["policy_value", "policy_value_resnet"]
    depth: int
    channels: int

    def __str__(self) -> str:
        return f"{self.kind} {self.depth}x{self.channels}"


@dataclass(frozen=True)
class Heads:
    """Names of the layers between the last feature map and the two outputs."""

    policy: str
    policy_bias: str
    value: tuple[str, str, str]
    value_bn: str | None


HEADS: Final = {
    "policy_value": Heads("l13", "l13_bias", ("l13_v", "l14_v", "l15_v"), None),
    "policy_value_resnet": Heads("policy", "policy_bias", ("value1", "value2", "value3"), "value1_bn"),
}


def parameter_shapes(architecture: Architecture) -> dict[str, Shape]:
    """Name and shape of every array of a network."""
    channels = architecture.channels
    shapes = _convolution("l1", NUM_PLANES, channels, 3)
    if architecture.kind == "policy_value":
        for layer in range(2, architecture.depth + 1):
            shapes |= _convolution(f"l{layer}", channels, channels, 3)
    else:
        for block in range(1, architecture.depth + 1):
            for half in (1, 2):
                shapes |= {f"b{block}/conv{half}/W": (channels, channels, 3, 3)}
                shapes |= _normalisation(f"b{block}/bn{half}", channels)
    heads = HEADS[architecture.kind]
    plane_value, hidden_value, value = heads.value
    shapes |= {f"{heads.policy}/W": (LABEL_PLANES, channels, 1, 1), f"{heads.policy_bias}/b": (NUM_LABELS,)}
    shapes |= _convolution(plane_value, channels, LABEL_PLANES, 1)
    if heads.value_bn is not None:
        shapes |= _normalisation(heads.value_bn, LABEL_PLANES)
    shapes |= _linear(hidden_value, NUM_LABELS, HIDDEN)
    shapes |= _linear(value, HIDDEN, 1)
    return shapes


def _convolution(name: str, inputs: int, outputs: int, size: int) -> dict[str, Shape]:
    return {f"{name}/W": (outputs, inputs, size, size), f"{name}/b": (outputs,)}


def _linear(name: str, inputs: int, outputs: int) -> dict[str, Shape]:
    return {f"{name}/W": (outputs, inputs), f"{name}/b": (outputs,)}


def _normalisation(name: str, channels: int) -> dict[str, Shape]:
    # N is how often Chainer updated the averages; nothing is computed from it when playing.
    return {f"{name}/{part}": (channels,) for part in ("gamma", "beta", "avg_mean", "avg_var")} | {f"{name}/N": ()}


def recognise(weights: Mapping[str, Array]) -> Architecture:
    """The network these arrays belong to.

    Raises `ModelError` unless exactly the arrays of one of the two networks are there, each in its shape.
    """
    if "l1/W" not in weights or not ("policy/W" in weights or "l13/W" in weights):
        raise ModelError("neither of the two policy-value networks")
    channels = (*weights["l1/W"].shape, 0)[0]
    if "policy/W" in weights:
        blocks = sum(name.startswith("b") and name.endswith("/conv1/W") for name in weights)
        architecture = Architecture("policy_value_resnet", blocks, channels)
    else:
        architecture = Architecture("policy_value", PLAIN_LAYERS, channels)
    shapes = parameter_shapes(architecture)
    for name, shape in shapes.items():
        if name not in weights:
            raise ModelError(f"array {name} is missing")
        if weights[name].shape != shape:
            raise ModelError(f"array {name} has shape {weights[name].shape}, not {shape}")
    surplus = sorted(name for name in weights if name not in shapes)
    if surplus:
        raise ModelError(f"array {surplus[0]} belongs to neither of the two networks")
    return architecture


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """Arrays of the network in an `.npz` file: float32 whatever the file holds, and int64 for the scalars `N`.

    Raises `ModelError` for a file that is missing, damaged or something else than one of the two networks.
    """
    try:
        weights = {name: _converted(name, array, np.float32) for name, array in _read_arrays(Path(path)).items()}
        recognise(weights)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    return weights


def _read_arrays(path: Path) -> dict[str, Array]:
    try:
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            arrays = {name: archive[name] for name in getattr(archive, "files", ())}
    except OSError as error:
        raise ModelError(error.strerror or "cannot be read") from error
    # What numpy and zipfile raise for damaged or foreign bytes; MemoryError comes of absurd sizes in a header.
    except (
        BadZipFile,
        EOFError,
        KeyError,
        MemoryError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        zlib.error,
    ) as error:
        raise ModelError("not an .npz archive, or damaged") from error
    if not arrays or not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ModelError("not an .npz archive")
    return arrays


def _converted(name: str, array: Array, dtype: type[np.floating]) -> Array:
    if array.dtype.kind not in "fiu":
        raise ModelError(f"array {name} holds {array.dtype}, not numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        converted = np.array(array, np.int64 if array.ndim == 0 else dtype, order="C")
    if not np.isfinite(converted).all():
        raise ModelError(f"array {name} holds values that are not finite in {converted.dtype}")
    return converted


def write_weights(path: str | os.PathLike[str], weights: Mapping[str, Array], *, half: bool = False) -> None:
    """Write an `.npz` file that Chainer's `load_npz` reads too; `half` stores float16, half as large.

    An existing file is replaced only when the new one is complete. Raises `ModelError` for arrays that are no
    network or not finite in that type, OSError when the file cannot be written.
    """
    recognise(weights)
    dtype = np.float16 if half else np.float32
    arrays: dict[str, Any] = {name: _converted(name, array, dtype) for name, array in weights.items()}
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **arrays)


def random_weights(architecture: Architecture, seed: int) -> Weights:
    """Weights of an untrained network, the same for the same seed: for tests and measurements.

    Convolutions and linear layers keep the size of their input on average (He et al. 2015), residual branches add a
    little to it; the statistics of batch normalisation and all biases are disturbed, so that a mistake in any of them
    shows in the output.
    """
    generator = np.random.default_rng(seed)
    weights: Weights = {}
    for name, shape in parameter_shapes(architecture).items():
        noise = generator.standard_normal(shape)
        match name.split("/")[-2:]:
            case ["l1", "W"]:
                array = 0.5 * noise  # few of the planes are set
            case ["value3" | "l15_v", "W"]:
                array = 0.2 * noise / np.sqrt(shape[1])  # no position as good as won
            case [_, "W"]:
                array = noise * np.sqrt(2.0 / np.prod(shape[1:]))
            case ["bn2", "gamma"]:
                array = 0.3 + 0.1 * noise
            case [_, "gamma"]:
                array = 1.0 + 0.1 * noise
            case [_, "avg_var"]:
                array = np.exp(0.2 * noise)
            case [_, "N"]:
                array = np.zeros(shape)
            case _:
                array = 0.1 * noise
        weights[name] = _converted(name, array, np.float32)
    return weights
