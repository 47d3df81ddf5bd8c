"""The types of numpy arrays, named once; lists in an array; and files of arrays (.npz), of dataclasses too."""

import zlib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from pydlshogi.support import OneLineError
from pydlshogi.support.files import open_plain, replacing

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    AnyArrays = TypeVar("AnyArrays", bound=DataclassInstance)

BoolArray = npt.NDArray[np.bool_]
Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Uint8Array = npt.NDArray[np.uint8]
Uint16Array = npt.NDArray[np.uint16]
Uint32Array = npt.NDArray[np.uint32]
Uint64Array = npt.NDArray[np.uint64]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

Record = Any
"""One record of a structured array; numba takes `records[i]` by reference."""
Records = npt.NDArray[Any]
"""A structured array."""


def entries_of(firsts: Int32Array | Int64Array, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Where the lists with these numbers begin once only they lie one after the other, int64 [n + 1]; and their entries
    among all. List i has those from firsts[i] to firsts[i + 1] - 1."""
    starts = firsts[rows]
    counts = firsts[rows + 1] - starts
    begins = np.concatenate([[0], np.cumsum(counts)])
    return begins, np.arange(begins[-1]) + np.repeat(starts - begins[:-1], counts)


class ArraysError(OneLineError, ValueError):
    """A file that does not hold what it should; the message is one line."""


def write_arrays(path: Path, arrays: "DataclassInstance") -> None:
    """Write a file that holds all of it, or nothing. Raises OSError."""
    columns: dict[str, Any] = {each.name: getattr(arrays, each.name) for each in fields(arrays)}
    with replacing(path) as file:
        np.savez(file, **columns)


def read_arrays(path: Path, kind: "type[AnyArrays]", what: str) -> "AnyArrays":
    """What `write_arrays` wrote; `what` it holds, in words. Raises ArraysError, OSError."""
    names = [each.name for each in fields(kind)]
    return kind(**dict(zip(names, named_arrays(path, names, what), strict=True)))


def named_arrays(path: Path, names: Sequence[str], what: str) -> list[Any]:
    """The arrays of these names in a file; `what` they are, in words. Raises ArraysError, OSError."""
    try:
        with open_plain(path) as file, np.load(file, allow_pickle=False) as arrays:
            return [arrays[name] for name in names]
    # Of a file with a single array (.npy) numpy makes what `with` does not take: a TypeError.
    except (BadZipFile, EOFError, KeyError, RuntimeError, TypeError, ValueError, zlib.error) as error:
        raise ArraysError(f"{path} holds no {what}, or is damaged") from error
