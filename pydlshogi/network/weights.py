"""Weights of networks, as Chainer's `save_npz` writes them: read, checked and written with numpy alone.

The names and shapes of the arrays are the file format, the same as in the python-dlshogi book, so networks trained
with it load here; `architecture` says which they are. Nothing is unpacked before the headers have been looked at.
"""

import io
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import (
    BATCH_NORMALISATION_EPS,
    HOW_TO_EXPORT,
    Architecture,
    ModelError,
    Shape,
    parameter_shapes,
    recognise,
)
from pydlshogi.support.arrays import Float32Array
from pydlshogi.support.files import open_plain, replacing

Array = npt.NDArray[Any]
Weights = dict[str, Array]

LARGEST: Final = "largest"
"""An array beside those of the network: float32 [maps], the largest value of each map, see `integers`."""
_MOST_ARRAYS: Final = 4096
_LONGEST_HEADER: Final = 4096
"""Bytes that say what an array is."""


def architecture_of(weights: Mapping[str, Array]) -> Architecture:
    """The network these arrays belong to. Raises `ModelError`."""
    return recognise({name: array.shape for name, array in weights.items()})


def read_architecture(path: Path) -> Architecture:
    """Of the network in an `.npz` file, which is not unpacked; `ModelError` as in `read_weights`."""
    with opened_archive(path) as archive:
        return _architecture(archive)


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """Arrays of the network in an `.npz` file: float32 whatever the file holds, and int64 for the scalars `N`.

    Raises `ModelError`, which names the file, where that is missing, damaged or something else than a network.
    """
    with opened_archive(Path(path)) as archive:
        _architecture(archive)
        return _unpacked(archive)


def read_network(path: Path, encodings: Iterable[Encoding]) -> tuple[Weights, Architecture, Encoding]:
    """The network in an `.npz` file, and the first of `encodings` that suits it; `ModelError` as in `read_weights`."""
    with opened_archive(path) as archive:
        architecture = _architecture(archive)
        encoding = architecture.ends.encoding_among(encodings)
        return _unpacked(archive), architecture, encoding


def read_largest(path: Path, maps: int) -> Float32Array | None:
    """The largest values of `maps` maps of a network, where its `.npz` file holds them. Raises `ModelError`."""
    with opened_archive(path) as archive:
        member = f"{LARGEST}.npy"
        if member not in archive.namelist():
            return None
        shape, dtype = _header(archive, member)
        if shape == (maps,) and dtype.kind == "f":
            ((name, array),) = arrays_in(archive, [member])
            largest = converted(name, array, np.float32)
            if (largest > 0).all():
                return largest
        raise ModelError(f"array {LARGEST} does not hold the largest values of {maps} maps")


def _unpacked(archive: ZipFile) -> Weights:
    members = [member for member in archive.namelist() if member != f"{LARGEST}.npy"]
    return {name: converted(name, array, np.float32) for name, array in arrays_in(archive, members)}


def arrays_in(archive: ZipFile, members: Iterable[str]) -> Iterator[tuple[str, Array]]:
    """Names and arrays of these members of an archive."""
    for member in members:
        with archive.open(member) as file:
            yield member.removesuffix(".npy"), npy.read_array(file, allow_pickle=False)


@contextmanager
def opened_archive(path: Path) -> Iterator[ZipFile]:
    """The archive at `path`; whatever is wrong with it is a `ModelError` that names it."""
    try:
        if path.suffix == ".pth":
            raise ModelError(f"networks are .npz or .onnx files; {HOW_TO_EXPORT}")
        with open_plain(path) as file, ZipFile(file) as archive:
            yield archive
    except ModelError as error:
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or 'cannot be read'}") from error
    # What numpy and zipfile raise for damaged or foreign bytes.
    except (BadZipFile, EOFError, KeyError, RuntimeError, TokenError, ValueError, zlib.error) as error:
        raise ModelError(f"{path}: not an .npz archive, or damaged") from error


def _architecture(archive: ZipFile) -> Architecture:
    headers = array_headers(archive)
    headers.pop(LARGEST, None)
    if "encoding" in headers:
        raise ModelError("a sparse network: Backend auto or sparse runs it")
    for name, (_, dtype) in headers.items():
        if dtype.kind not in "fiu":
            raise ModelError(f"array {name} holds {dtype}, not numbers")
    return recognise({name: shape for name, (shape, _) in headers.items()})


def array_headers(archive: ZipFile) -> dict[str, tuple[Shape, np.dtype[Any]]]:
    """Shape and type of every array in an archive; nothing is unpacked. Raises `ModelError`."""
    names = archive.namelist()
    # Of what is packed in another way zipfile cannot unpack just the beginning.
    plainly_packed = all(member.compress_type in (ZIP_STORED, ZIP_DEFLATED) for member in archive.infolist())
    arrays = all(name.endswith(".npy") for name in names)
    if not (arrays and plainly_packed and 0 < len(names) <= _MOST_ARRAYS and len({*names}) == len(names)):
        raise ModelError("not an .npz archive of a network")
    return {name.removesuffix(".npy"): _header(archive, name) for name in names}


def _header(archive: ZipFile, name: str) -> tuple[Shape, np.dtype[Any]]:
    """Shape and type of an array."""
    with archive.open(name) as member:
        begin = io.BytesIO(member.read(_LONGEST_HEADER))
    read = npy.read_array_header_1_0 if npy.read_magic(begin) == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(begin)
    return shape, dtype


def converted(name: str, array: Array, dtype: type[np.floating]) -> Array:
    """The array in that type, a scalar as int64. Raises `ModelError` where it does not stay finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        converted = np.array(array, np.int64 if array.ndim == 0 else dtype, order="C")
    if not np.isfinite(converted).all():
        raise ModelError(f"array {name} holds values that are not finite in {converted.dtype}")
    return converted


def write_weights(
    path: str | os.PathLike[str],
    weights: Mapping[str, Array],
    *,
    half: bool = False,
    largest: Float32Array | None = None,
) -> None:
    """Write an `.npz` file that Chainer's `load_npz` reads too; `half` stores float16, half as large.

    `largest`: what `read_largest` is to find.

    An existing file is replaced only when the new one is complete. Raises `ModelError` for arrays that are no
    network or not finite in that type, OSError when the file cannot be written.
    """
    architecture_of(weights)
    dtype = np.float16 if half else np.float32
    arrays: dict[str, Any] = {name: converted(name, array, dtype) for name, array in weights.items()}
    if largest is not None:
        arrays[LARGEST] = largest
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **arrays)


def folded_convolution(weights: Weights, name: str, normalisation: str | None) -> tuple[Array, Array]:
    """Kernel and bias of one convolution that also does the batch normalisation behind it, if there is one.

    gamma (W x + b - mean) / sqrt(var + eps) + beta = (s W) x + (s (b - mean) + beta), s = gamma / sqrt(var + eps).
    """
    kernel = weights[f"{name}/W"]
    bias = weights.get(f"{name}/b", np.zeros(len(kernel), np.float32))
    if normalisation is None:
        return kernel, bias
    gamma, beta, mean, variance = (
        weights[f"{normalisation}/{part}"].astype(np.float64) for part in ("gamma", "beta", "avg_mean", "avg_var")
    )
    scale = gamma / np.sqrt(variance + BATCH_NORMALISATION_EPS)
    folded_bias = scale * (bias - mean) + beta
    return (kernel * scale[:, None, None, None]).astype(np.float32), folded_bias.astype(np.float32)


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
        weights[name] = converted(name, array, np.float32)
    return weights
