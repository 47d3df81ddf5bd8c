"""Weights of networks, as Chainer's `save_npz` writes them: read, checked and written with numpy alone.

The names and shapes of the arrays are the file format, the same as in the python-dlshogi book, so networks trained
with it load here; `architecture` says which they are.

What was fitted for a network lies beside it, `net.json` beside `net.npz` and `net.onnx`. Training writes it:
{"options": {"Eval_Coef": 275, "temperature": 100}, ...}. That temperature is the one at which the policy predicts moves
best; with which one a search plays best is another question, so nobody asks for it. Beside a network of another program
stands what its user wrote, and there it is the search's.
"""

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import BATCH_NORMALISATION_EPS, HOW_TO_EXPORT, Architecture, ModelError, recognise
from pydlshogi.support.arrays import Float32Array
from pydlshogi.support.decoding import parse_json
from pydlshogi.support.files import open_plain, read_plain, replacing, write_whole

Array = npt.NDArray[Any]
Weights = dict[str, Array]

LARGEST: Final = "largest"
"""An array beside those of the network: float32 [maps], the largest value of each map, see `integers`."""
_DAMAGED: Final = (
    *(AttributeError, BadZipFile, EOFError, KeyError, MemoryError, RuntimeError, TokenError, TypeError, ValueError),
    zlib.error,
)
"""What numpy and zipfile raise for damaged or foreign bytes."""
_LARGEST_FITTED: Final = 1 << 20
"""Bytes."""


def architecture_of(weights: Mapping[str, Array]) -> Architecture:
    """The network these arrays belong to. Raises `ModelError`."""
    return recognise({name: array.shape for name, array in weights.items()})


def read_architecture(path: Path) -> Architecture:
    """Of the network in an `.npz` file; `ModelError` as in `read_weights`."""
    return architecture_of(read_weights(path))


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """Arrays of the network in an `.npz` file: float32 whatever the file holds, and int64 for the scalars `N`.

    Raises `ModelError`, which names the file, where that is missing, damaged or something else than a network.
    """
    with arrays_of(Path(path)) as arrays:
        return _checked(arrays)


def read_network(path: Path, encodings: Iterable[Encoding]) -> tuple[Weights, Architecture, Encoding]:
    """The network in an `.npz` file, and the first of `encodings` that suits it; `ModelError` as in `read_weights`."""
    with arrays_of(path) as arrays:
        weights = _checked(arrays)
        architecture = architecture_of(weights)
        return weights, architecture, architecture.ends.encoding_among(encodings)


def read_largest(path: Path, maps: int) -> Float32Array | None:
    """The largest values of `maps` maps of a network, where its `.npz` file holds them. Raises `ModelError`."""
    with arrays_of(path) as arrays:
        if (array := arrays.get(LARGEST)) is None:
            return None
        if array.shape == (maps,) and array.dtype.kind == "f":
            largest = converted(LARGEST, array, np.float32)
            if (largest > 0).all():
                return largest
        raise ModelError(f"array {LARGEST} does not hold the largest values of {maps} maps")


@contextmanager
def arrays_of(path: Path) -> Iterator[Weights]:
    """The arrays of an `.npz` file, as they are; whatever is found wrong with them inside is a `ModelError` that names
    the file."""
    try:
        if path.suffix == ".pth":
            raise ModelError(f"networks are .npz or .onnx files; {HOW_TO_EXPORT}")
        with open_plain(path) as file, np.load(file, allow_pickle=False) as archive:
            arrays = dict(archive)
        if not arrays or not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ModelError("not an .npz archive of a network")
        yield arrays
    except ModelError as error:
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or 'cannot be read'}") from error
    except _DAMAGED as error:
        raise ModelError(f"{path}: not an .npz archive, or damaged") from error


def _checked(arrays: Weights) -> Weights:
    """Those of a network, in the types that it is computed with. Raises `ModelError`."""
    if "encoding" in arrays:
        raise ModelError("a sparse network: Backend auto or sparse runs it")
    arrays = {name: array for name, array in arrays.items() if name != LARGEST}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu":
            raise ModelError(f"array {name} holds {array.dtype}, not numbers")
    architecture_of(arrays)
    return {name: converted(name, array, np.float32) for name, array in arrays.items()}


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


# What was fitted for a network


class FittedError(ValueError):
    """Nothing usable lies beside the network; the message is one line that says why."""


def fitted_option(modelfile: Path, name: str) -> int:
    """An option of the engine as it was fitted for a network, 1 to 10000. Raises FittedError."""
    file = modelfile.with_suffix(".json")
    try:
        content = parse_json(read_plain(file, _LARGEST_FITTED))
    except FileNotFoundError:
        raise FittedError(f"there is no {file.name} beside {modelfile.name}") from None
    except OSError as error:
        raise FittedError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise FittedError(f"{file} is no JSON") from error
    options = content.get("options") if isinstance(content, dict) else None
    value = options.get(name) if isinstance(options, dict) else None
    if type(value) is not int or not 1 <= value <= 10000:
        raise FittedError(f"{file} holds no {name} from 1 to 10000")
    return value


def write_fitted(path: Path, options: Mapping[str, int], validation: Mapping[str, object]) -> None:
    """Write what was fitted, and how well the network did in validation, to the `.json` at `path`."""
    write_whole(path, json.dumps({"options": options, "validation": validation}, indent=1).encode() + b"\n")
