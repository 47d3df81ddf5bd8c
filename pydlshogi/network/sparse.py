"""Sparse networks: a value and a policy that are made of sums of rows, which a CPU adds up in microseconds.

What such a network computes of a position of which the encoding names the rows f, where clip bounds to 0 and 1:

    v = value_bias + sum of value_rows[f]       a, b = halves of clip(v)
    x = clip(value_1_weight (a * b) + value_1_bias)
    win rate = sigmoid(value_2_weight x^2 + value_2_bias)

    h = clip(policy_bias + sum of policy_rows[f])^2
    logit of the move labelled (i, j, k) = move_rows[i] h + move_bias[i] + move_bias_1[j] + move_bias_2[k]

These are the arrays of its `.npz` file, floats, beside the name of the `encoding`. Compiled kernels run it, without a
framework: the sums of the first layers are integers of 16 bits; of the value all that follows is in float32; of the
policy the products with the rows of the moves are integers again.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import MOST_WEIGHTS, EncodingError, ModelError, Shapes, mismatches
from pydlshogi.network.backend import CPU_BATCH, BackendError, Resources, product, sigmoid, softmax
from pydlshogi.network.weights import Array, Weights, arrays_of, converted
from pydlshogi.support.arrays import Float32Array, Int8Array, Int16Array, Int32Array, Uint32Array
from pydlshogi.support.files import open_plain, replacing
from pydlshogi.support.kernels.compiled import compiled_for, inlined, wide

HIDDEN: Final = 32
"""Units between the rows of the value and the value."""
_ACTIVE: Final = 2047
"""What 1 is in the activations of the policy: 4096 of them times 127 and int8 stay within 32 bits."""
_WIDEST: Final = 4096
_FINEST: Final = 10
"""Binary digits behind the point that first layers have at most."""
_LARGEST_SUM: Final = (1 << 15) - 1
_AT_ONCE: Final = 4
"""Rows added together: the sums are written once for them all."""


# The file


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
    with arrays_of(path) as arrays:
        named = arrays.pop("encoding", None)
        if named is None or named.shape != () or named.dtype.kind != "U":
            raise ModelError("no sparse network: it does not name its encoding")
        known = {each.name: each for each in encodings if each.features}
        if (encoding := known.get(str(named))) is None:
            wanted = " or ".join(known) or "this game"
            raise EncodingError(f"a sparse network of the encoding {str(named)!a}, not of {wanted}")
        _check(arrays, encoding)
        return {name: converted(name, array, np.float32) for name, array in arrays.items()}, encoding


def sparse_widths(path: Path) -> tuple[int, int]:
    """The widths of value and policy of the network in an `.npz` file. Raises ModelError."""
    with arrays_of(path) as arrays:
        return _widths({name: array.shape for name, array in arrays.items()})


def _widths(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, int]:
    return prod(shapes.get("value_bias", ())), prod(shapes.get("policy_bias", ()))


def _check(weights: Mapping[str, Array], encoding: Encoding) -> None:
    """ModelError unless these are the arrays of a network for the encoding."""
    shapes = {name: array.shape for name, array in weights.items()}
    value, policy = _widths(shapes)
    expected = sparse_shapes(encoding, value, policy)
    for name, array in weights.items():
        if array.dtype.kind != "f":
            raise ModelError(f"array {name} holds {array.dtype}, not floats")
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
    _check(weights, encoding)
    arrays: dict[str, Any] = {name: converted(name, array, np.float16) for name, array in weights.items()}
    with replacing(Path(path)) as file:
        np.savez_compressed(file, encoding=np.array(encoding.name), **arrays)


# The backend


class _Body(NamedTuple):
    """A first layer."""

    rows: Int16Array
    """int16 [features + 1, width]; the last row is of zeros."""
    bias: Int16Array
    one: np.int32
    """What 1 is in its sums."""


class _Network(NamedTuple):
    value: _Body
    hidden_weight: Float32Array
    """float32 [width / 2, HIDDEN], for sums of products of integers."""
    hidden_bias: Float32Array
    out_weight: Float32Array
    """float32 [HIDDEN]"""
    out_bias: np.float32
    policy: _Body
    move_rows: Int8Array
    move_unit: np.float32
    """What 1 is worth in the products of `move_rows` with activations."""
    move_bias: Float32Array
    move_bias_1: Float32Array
    move_bias_2: Float32Array


def sparse_backend(path: Path, encodings: Sequence[Encoding], resources: Resources) -> "SparseBackend":
    """A sparse network; see `load_backend`."""
    if resources.device not in ("auto", "cpu"):
        raise BackendError(f"Device {resources.device}: a sparse network runs on the CPU")
    weights, encoding = read_sparse(path, encodings)
    try:
        return SparseBackend(weights, encoding, resources)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


class SparseBackend:
    """See `Backend` for the contract. Each call has a place of its own to work in, so there may be any number."""

    on_gpu = False
    batch_size = CPU_BATCH
    foreign = False

    def __init__(self, weights: Weights, encoding: Encoding, resources: Resources) -> None:
        """`weights`: as `read_sparse` gives them. Raises ModelError where they are too many to be added up."""
        self.encoding = encoding
        self.streams = resources.streams
        self._network = _network(quantised(weights, encoding))
        value, policy = len(self._network.value.bias), len(self._network.policy.bias)
        if policy > _WIDEST:
            raise ModelError(f"a policy of {policy} sums: at most {_WIDEST} are added up")
        self._widths = max(value, policy), policy
        self.description = f"numba on {resources.cpu}: sparse {value}+{policy} int16"
        self._predict = compiled_for(encoding.name, _predict, label_parts=encoding.label_parts)
        self.predict(np.zeros((1, encoding.words), np.uint32), np.arange(2, dtype=np.int32), np.zeros(1, np.int32), 1.0)

    def predict(
        self, packed: Uint32Array, firsts: Int32Array, labels: Int32Array, temperature: float
    ) -> tuple[Float32Array, Float32Array]:
        priors, values = np.empty(firsts[-1], np.float32), np.empty(len(packed), np.float32)
        widest, policy = self._widths
        self._predict(
            packed,
            firsts,
            labels,
            self._network,
            np.float32(1 / temperature),
            np.empty(widest, np.int16),
            np.empty(policy, np.int16),
            np.empty(HIDDEN, np.float32),
            priors,
            values,
        )
        return priors, values


def quantised(weights: Weights, encoding: Encoding) -> Weights:
    """A network with its tables as integers, each with its scale: value_rows / value_rows_scale is computed with, say.

    Those of the first layers are int16, with as many digits as any rows that may stand together leave their sums room
    for, that of the moves int8.
    """
    moves, most = weights["move_rows"], encoding.words - 1
    rounded = _rounded("move_rows", moves, 127 / max(float(np.abs(moves).max()), 1e-9), np.int8)
    for name in ("value", "policy"):
        table, bias = weights[f"{name}_rows"], weights[f"{name}_bias"]
        largest = np.partition(np.abs(table), max(0, len(table) - most), axis=0)[-most:].sum(axis=0) + np.abs(bias)
        highest = float(largest.max()) / (_LARGEST_SUM - most)
        scale = 2.0 ** min(_FINEST, int(np.floor(-np.log2(max(highest, 1e-9)))))
        rounded |= _rounded(f"{name}_rows", table, scale, np.int16)
        rounded[f"{name}_bias"] = (np.rint(bias * scale) / scale).astype(np.float32)
    return {**weights, **rounded}


def _rounded(name: str, table: Array, scale: float, dtype: type[np.signedinteger[Any]]) -> Weights:
    """A table in integers, and its scale."""
    largest = np.iinfo(dtype).max
    integers = np.clip(np.rint(table * np.float32(scale)), -largest, largest).astype(dtype)
    return {name: integers, f"{name}_scale": np.array(scale, np.float32)}


def _network(weights: Weights) -> _Network:
    value, policy = _body(weights, "value"), _body(weights, "policy")
    one = np.float32(value.one)
    return _Network(
        value=value,
        hidden_weight=np.ascontiguousarray(weights["value_1_weight"].T / (one * one)),
        hidden_bias=weights["value_1_bias"],
        out_weight=weights["value_2_weight"][0],
        out_bias=np.float32(weights["value_2_bias"][0]),
        policy=policy,
        move_rows=weights["move_rows"],
        move_unit=np.float32(1 / (weights["move_rows_scale"] * _ACTIVE)),
        move_bias=weights["move_bias"],
        move_bias_1=weights["move_bias_1"],
        move_bias_2=weights["move_bias_2"],
    )


def _body(weights: Weights, name: str) -> _Body:
    rows, scale = weights[f"{name}_rows"], weights[f"{name}_rows_scale"]
    nothing: Array = np.zeros((1, rows.shape[1]), rows.dtype)
    bias = np.rint(weights[f"{name}_bias"] * scale).astype(np.int16)
    return _Body(np.concatenate([rows, nothing]), bias, np.int32(np.rint(scale)))


# The kernel

label_parts: tuple[int, ...] = (1, 1, 1)


@inlined
def _row(words: Uint32Array, place: int, count: int, nothing: int) -> int:
    """The row at a place of a packed position; that of zeros behind the last, or where the number is of no row."""
    return min(wide(words[place]), nothing) if place <= count else nothing


@inlined
def _add_up(words: Uint32Array, body: _Body, sums: Int16Array) -> None:
    """Fill `sums` with the bias of a body and the rows of a packed position."""
    count, nothing = min(wide(words[0]), len(words) - 1), len(body.rows) - 1
    for i in range(len(sums)):
        sums[i] = body.bias[i]
    for place in range(1, count + 1, _AT_ONCE):
        one = body.rows[_row(words, place, count, nothing)]
        two = body.rows[_row(words, place + 1, count, nothing)]
        three = body.rows[_row(words, place + 2, count, nothing)]
        four = body.rows[_row(words, place + 3, count, nothing)]
        for i in range(len(sums)):
            sums[i] += (one[i] + two[i]) + (three[i] + four[i])


@inlined
def _clipped(number: Any, one: Any) -> Any:
    return np.int32(min(max(np.int32(number), np.int32(0)), one))


@inlined
def _win_rate(network: _Network, sums: Int16Array, hidden: Float32Array) -> Any:
    """What the sums of the value say."""
    for unit in range(HIDDEN):
        hidden[unit] = network.hidden_bias[unit]
    half, one = len(sums) // 2, network.value.one
    for i in range(half):
        product = np.int32(_clipped(sums[i], one) * _clipped(sums[half + i], one))
        if product:
            for unit in range(HIDDEN):
                hidden[unit] += np.float32(product) * network.hidden_weight[i, unit]
    logit = network.out_bias
    for unit in range(HIDDEN):
        x = min(max(hidden[unit], np.float32(0)), np.float32(1))
        logit += network.out_weight[unit] * x * x
    return sigmoid(logit)


@inlined
def _activate(sums: Int16Array, one: np.int32, active: Int16Array) -> None:
    """Fill `active` with the squares of the clipped sums of the policy."""
    unit = np.float32(_ACTIVE) / np.float32(one * one)
    for i in range(len(active)):
        x = _clipped(sums[i], one)
        active[i] = np.int16(np.float32(np.int32(x * x)) * unit + np.float32(0.5))


def _predict(
    packed: Uint32Array,
    firsts: Int32Array,
    labels: Int32Array,
    network: _Network,
    sharpness: np.float32,
    sums: Int16Array,
    active: Int16Array,
    hidden: Float32Array,
    priors: Float32Array,
    values: Float32Array,
) -> None:
    """See `Backend.predict`; `sums`, `active` and `hidden` are to work in. What has no moves gets a value only."""
    for i in range(len(packed)):
        value_sums = sums[: len(network.value.bias)]
        _add_up(packed[i], network.value, value_sums)
        values[i] = _win_rate(network, value_sums, hidden)
        first, stop = firsts[i], firsts[i + 1]
        if first == stop:
            continue
        policy_sums = sums[: len(network.policy.bias)]
        _add_up(packed[i], network.policy, policy_sums)
        _activate(policy_sums, network.policy.one, active)
        for move in range(first, stop):
            rest, third = divmod(wide(labels[move]), label_parts[2])
            row, second = divmod(rest, label_parts[1])
            logit = np.float32(product(active, network.move_rows[row])) * network.move_unit
            logit += network.move_bias[row] + network.move_bias_1[second] + network.move_bias_2[third]
            priors[move] = logit * sharpness
        softmax(priors[first:stop])
