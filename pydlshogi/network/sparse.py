"""Sparse networks: a value and a policy that are made of sums of rows, which a CPU adds up in microseconds.

What such a network computes of a position of which the encoding names the rows f, where clip bounds to 0 and 1:

    v = value_bias + sum of value_rows[f]       a, b = halves of clip(v)
    x = clip(value_1_weight (a * b) + value_1_bias)
    win rate = sigmoid(value_2_weight x^2 + value_2_bias)

    h = clip(policy_bias + sum of policy_rows[f])^2
    logit of the move labelled (i, j, k) = move_rows[i] h + move_bias[i] + move_bias_1[j] + move_bias_2[k]

These are the arrays of its `.npz` file, beside the name of the `encoding`. They hold floats, as training writes them,
or the three tables hold integers, each with its scale: what is computed with is then value_rows / value_rows_scale.
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
FIRST_LAYERS: Final = ("value_rows", "policy_rows")
_TABLES: Final = (*FIRST_LAYERS, "move_rows")
"""Arrays that may hold integers."""
INT8_SCALE: Final = 64
"""Of first layers in int8: they hold weights from -1.98 to 1.98."""
_FINEST: Final = 10
"""Binary digits behind the point that first layers in int16 have at most."""
_LARGEST_SUM: Final = (1 << 15) - 1
"""Rows are added up in 16 bits."""
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

    The tables are float32 or integers, as in the file, all other arrays float32. Raises `ModelError`, which names the
    file.
    """
    with opened_archive(path) as archive:
        headers = array_headers(archive)
        shape, dtype = headers.pop("encoding", (None, np.dtype(np.float32)))
        if shape != () or dtype.kind != "U" or dtype.itemsize > _LONGEST_NAME:
            raise ModelError("no sparse network: it does not name its encoding")
        ((_, named),) = arrays_in(archive, ["encoding.npy"])
        encoding = _named(str(named), encodings)
        _check(headers, encoding)
        weights = {
            name: np.ascontiguousarray(array) if array.dtype.kind == "i" else _floats(name, array, np.float32)
            for name, array in arrays_in(archive, [f"{name}.npy" for name in headers])
        }
        for name in (name for name in weights if name.endswith("_scale")):
            if not weights[name] > 0:
                raise ModelError(f"array {name} holds {weights[name]}, no scale")
        return weights, encoding


def _floats(name: str, array: Array, dtype: type[np.floating]) -> Array:
    return converted(name, np.atleast_1d(array), dtype).reshape(array.shape)


def _named(name: str, encodings: Iterable[Encoding]) -> Encoding:
    known = {encoding.name: encoding for encoding in encodings if encoding.features}
    if name not in known:
        raise EncodingError(f"a sparse network of the encoding {name!a}, not of {' or '.join(known) or 'this game'}")
    return known[name]


def _check(headers: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]], encoding: Encoding) -> None:
    """ModelError unless these are the arrays of a network for the encoding."""
    shapes = {name: shape for name, (shape, _) in headers.items()}
    value, policy = (prod(shapes.get(name, ())) for name in ("value_bias", "policy_bias"))
    expected = sparse_shapes(encoding, value, policy)
    for name, (_, dtype) in headers.items():
        if name in _TABLES and dtype.kind == "i":
            expected[f"{name}_scale"] = ()
            if dtype not in (np.int8, np.int8 if name == "move_rows" else np.int16):
                raise ModelError(f"array {name} holds {dtype}")
        elif dtype.kind != "f":
            raise ModelError(f"array {name} holds {dtype}, not floats")
    if wrong := mismatches(shapes, expected):
        raise ModelError(wrong[0])
    if value % 2:
        raise ModelError(f"a value of {value} sums, which have no halves")
    if (number := sum(map(prod, shapes.values()))) > MOST_WEIGHTS:
        raise ModelError(f"{number:,} weights are too many")


def write_sparse(path: str | os.PathLike[str], weights: Mapping[str, Array], encoding: Encoding) -> None:
    """Write an `.npz` file: float arrays as float16. An existing file is replaced when the new one is complete.

    Raises `ModelError` for arrays that are no network of the encoding, or not finite in that type, OSError.
    """
    _check({name: (array.shape, array.dtype) for name, array in weights.items()}, encoding)
    arrays: dict[str, Any] = {
        name: array if array.dtype.kind == "i" or array.ndim == 0 else _floats(name, array, np.float16)
        for name, array in weights.items()
    }
    with replacing(Path(path)) as file:
        np.savez_compressed(file, encoding=np.array(encoding.name), **arrays)


def quantised(weights: Mapping[str, Array], encoding: Encoding, rows: type[np.signedinteger[Any]]) -> Weights:
    """A network of floats with its tables as integers: those of the first layers as `rows`, int8 or int16.

    In int8 weights beyond 1.98 become 1.98; in int16 they keep as many digits as their sums have room for.
    """
    moves = weights["move_rows"]
    rounded = _rounded("move_rows", moves, 127 / max(float(np.abs(moves).max()), 1e-9), np.int8)
    for name in FIRST_LAYERS:
        table, bias_name = weights[name], name.replace("rows", "bias")
        scale = float(INT8_SCALE)
        if rows is np.int16:
            most = encoding.words - 1
            highest = float(_largest_sums(table, weights[bias_name], most).max()) / (_LARGEST_SUM - most)
            scale = 2.0 ** min(_FINEST, int(np.floor(-np.log2(max(highest, 1e-9)))))
        rounded |= _rounded(name, table, scale, rows)
        rounded[bias_name] = (np.rint(weights[bias_name] * scale) / scale).astype(np.float32)
    return {**weights, **rounded}


def _rounded(name: str, table: Array, scale: float, dtype: type[np.signedinteger[Any]]) -> Weights:
    """A table in integers, and its scale."""
    largest = np.iinfo(dtype).max
    integers = np.clip(np.rint(table * np.float32(scale)), -largest, largest).astype(dtype)
    return {name: integers, f"{name}_scale": np.array(scale, np.float32)}


def check_sums(weights: Mapping[str, Array], encoding: Encoding) -> None:
    """ModelError unless any rows of first layers of integers that stand together can be added up in 16 bits."""
    most = encoding.words - 1
    for name in FIRST_LAYERS:
        table, bias = weights[name], weights[name.replace("rows", "bias")] * weights[f"{name}_scale"]
        highest = most * float(np.abs(table, dtype=np.int32).max()) + float(np.abs(bias).max())
        if highest > _LARGEST_SUM and _largest_sums(np.abs(table, dtype=np.int32), bias, most).max() > _LARGEST_SUM:
            raise ModelError(f"sums of {most} {name} may leave 16 bits")


def _largest_sums(table: Array, bias: Array, most: int) -> Array:
    """How large, up or down, a sum of `most` rows may become in each column."""
    sizes = np.abs(table)
    largest: Array = np.partition(sizes, max(0, len(sizes) - most), axis=0)[-most:].sum(axis=0) + np.abs(bias)
    return largest


def random_sparse_weights(encoding: Encoding, value: int, policy: int, seed: int) -> Weights:
    """Weights of an untrained network, the same for the same seed: for tests and measurements."""
    generator = np.random.default_rng(seed)
    sizes = {"value_1_weight": 4 / np.sqrt(value), "value_2_weight": 1, "move_rows": 8 / np.sqrt(policy)}
    return {
        name: (sizes.get(name, 0.1) * generator.standard_normal(shape)).astype(np.float32)
        for name, shape in sparse_shapes(encoding, value, policy).items()
    }
