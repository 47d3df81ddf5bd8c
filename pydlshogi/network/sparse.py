"""Sparse networks: a value and a policy that are made of sums of rows, which a CPU adds up in microseconds.

What such a network computes of a position of which the encoding names the rows f, where clip bounds to 0 and 1:

    v = value_bias + sum of value_rows[f]       a, b = halves of clip(v)
    x = clip(value_1_weight (a * b) + value_1_bias)
    win rate = sigmoid(value_2_weight x^2 + value_2_bias)

    h = clip(policy_bias + sum of policy_rows[f])^2
    logit of the move labelled (i, j, k) = move_rows[i] h + move_bias[i] + move_bias_1[j] + move_bias_2[k]

These are the arrays of its `.npz` file, floats, beside the name of the `encoding`.
"""

import os
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import MOST_WEIGHTS, EncodingError, ModelError, Shapes, mismatches
from pydlshogi.network.weights import Array, Weights, array_headers, arrays_in, converted, opened_archive
from pydlshogi.support.files import open_plain, replacing

HIDDEN: Final = 32
"""Units between the rows of the value and the value."""
_LONGEST_NAME: Final = 4096
"""Bytes of the name of an encoding."""


def sparse_shapes(encoding: Encoding, value: int, policy: int) -> Shapes:
    """Name and shape of every array of a network of floats whose bodies have these widths."""
    rows, second, third = encoding.label_parts
    return {
        "value_rows": (encoding.features, value),
        "value_bias": (value,),
        "value_1_weight": (HIDDEN, value // 2),
        "value_1_bias": (HIDDEN,),
        "value_2_weight": (1, HIDDEN),
        "value_2_bias": (1,),
        "policy_rows": (encoding.features, policy),
        "policy_bias": (policy,),
        "move_rows": (rows, policy),
        "move_bias": (rows,),
        "move_bias_1": (second,),
        "move_bias_2": (third,),
    }


def is_sparse(path: Path) -> bool:
    """Whether the file is that of a sparse network. False where there is no such file: others say what is wrong."""
    try:
        with open_plain(path) as file, ZipFile(file) as archive:
            return "encoding.npy" in archive.namelist()
    except (OSError, BadZipFile):
        return False


def read_sparse(path: Path, encodings: Iterable[Encoding]) -> tuple[Weights, Encoding]:
    """The network in an `.npz` file, with that of `encodings` which it is for.

    All arrays are float32. Raises `ModelError`, which names the file.
    """
    with opened_archive(path) as archive:
        headers = array_headers(archive)
        shape, dtype = headers.pop("encoding", (None, np.dtype(np.float32)))
        if shape != () or dtype.kind != "U" or dtype.itemsize > _LONGEST_NAME:
            raise ModelError("no sparse network: it does not name its encoding")
        ((_, named),) = arrays_in(archive, ["encoding.npy"])
        known = {each.name: each for each in encodings if each.features}
        if (encoding := known.get(str(named))) is None:
            wanted = " or ".join(known) or "this game"
            raise EncodingError(f"a sparse network of the encoding {str(named)!a}, not of {wanted}")
        _check(headers, encoding)
        arrays = arrays_in(archive, [f"{name}.npy" for name in headers])
        return {name: converted(name, array, np.float32) for name, array in arrays}, encoding


def sparse_widths(path: Path) -> tuple[int, int]:
    """The widths of value and policy of the network in an `.npz` file. Raises ModelError."""
    with opened_archive(path) as archive:
        return _widths({name: shape for name, (shape, _) in array_headers(archive).items()})


def _widths(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, int]:
    return prod(shapes.get("value_bias", ())), prod(shapes.get("policy_bias", ()))


def _check(headers: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]], encoding: Encoding) -> None:
    """ModelError unless these are the arrays of a network for the encoding."""
    shapes = {name: shape for name, (shape, _) in headers.items()}
    value, policy = _widths(shapes)
    expected = sparse_shapes(encoding, value, policy)
    for name, (_, dtype) in headers.items():
        if dtype.kind != "f":
            raise ModelError(f"array {name} holds {dtype}, not floats")
    if wrong := mismatches(shapes, expected):
        raise ModelError(wrong[0])
    if value % 2:
        raise ModelError(f"a value of {value} sums, which have no halves")
    if (number := sum(map(prod, shapes.values()))) > MOST_WEIGHTS:
        raise ModelError(f"{number:,} weights are too many")


def write_sparse(path: str | os.PathLike[str], weights: Mapping[str, Array], encoding: Encoding) -> None:
    """Write an `.npz` file, in float16. An existing file is replaced when the new one is complete.

    Raises `ModelError` for arrays that are no network of the encoding, or not finite in that type, OSError.
    """
    _check({name: (array.shape, array.dtype) for name, array in weights.items()}, encoding)
    arrays: dict[str, Any] = {name: converted(name, array, np.float16) for name, array in weights.items()}
    with replacing(Path(path)) as file:
        np.savez_compressed(file, encoding=np.array(encoding.name), **arrays)


def random_sparse_weights(encoding: Encoding, value: int, policy: int, seed: int) -> Weights:
    """Weights of an untrained network, the same for the same seed: for tests and measurements."""
    generator = np.random.default_rng(seed)
    sizes = {"value_1_weight": 4 / np.sqrt(value), "value_2_weight": 1, "move_rows": 8 / np.sqrt(policy)}
    return {
        name: (sizes.get(name, 0.1) * generator.standard_normal(shape)).astype(np.float32)
        for name, shape in sparse_shapes(encoding, value, policy).items()
    }
