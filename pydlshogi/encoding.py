"""What a network asks of a game: a position as planes or as rows of a table, a move as a label.

Positions travel packed, in a few dozen or hundred bytes. Where they meet the network, an encoding of planes unpacks
them. A sparse encoding has no planes: its packed position is the list of the rows that the network adds up.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.support.arrays import Float32Array, Int32Array, Record, Uint16Array, Uint32Array
from pydlshogi.support.compiled import compiled, rule, rule_for, rule_of_game


class Symmetry(NamedTuple):
    """A way to see a position that plays the same: a mirror, a rotation."""

    squares: Int32Array
    """int32 [height * width]: the square of the position that is seen at each square."""
    planes: Int32Array
    """int32 [planes]: the plane of the position that is seen as each plane."""
    labels: Int32Array
    """int32 [labels]: the label that a move of each label has when seen so."""


class Encoding(NamedTuple):
    """How a network sees a game. Functions over states are compiled like those of `Rules` and follow their pattern."""

    name: str
    """No two encodings have the same: it stands in the names of compiled kernels."""
    planes: int
    """0: the encoding is sparse."""
    height: int
    width: int
    labels: int
    words: int
    """Length of a packed position, in uint32."""
    label_moves: Callable[[Record, Uint16Array, int, Int32Array], None]
    """(state, moves, count, out): fill the first `count` of int32 `out` with the labels, 0 to labels - 1, of the first
    `count` of `moves`, which are legal."""
    pack: Callable[[Record, Uint32Array], None]
    """(state, words): fill uint32 [words]. Of a sparse encoding the first word is the number of rows; their numbers
    follow, and then anything."""
    unpack: Callable[[Uint32Array, npt.NDArray[Any]], None]
    """(packed, planes): a kernel of its own that fills float32 or uint8 [B, planes, height, width] from uint32
    [B, words], whatever stood there."""
    symmetries: tuple[Symmetry, ...] = ()
    """Beside the identity."""
    parts: tuple[int, ...] = ()
    """How many of the planes, from the first on, each input of other programs' networks takes; all differ."""
    features: int = 0
    """Of a sparse encoding: rows of the network's first layer."""
    label_parts: tuple[int, ...] = ()
    """Of a sparse encoding: a label is (i * parts[1] + j) * parts[2] + k, each number below its part."""


def labels_of(encoding: Encoding, state: Record, moves: npt.NDArray[np.integer[Any]]) -> Int32Array:
    """The labels of legal moves."""
    labels = np.empty(len(moves), np.int32)
    encoding.label_moves(state, moves.astype(np.uint16), len(moves), labels)
    return labels


label_of: Callable[[Record, int], int] = rule_of_game


def _label_each(state: Record, moves: Uint16Array, count: int, out: Int32Array) -> None:
    for i in range(count):
        out[i] = label_of(state, moves[i])


def labelled_by(
    name: str, label: Callable[[Record, int], int]
) -> Callable[[Record, Uint16Array, int, Int32Array], None]:
    """`label_moves` of the encoding `name`, whose moves are labelled one by one: `label` is a rule, (state, move) ->
    label."""
    return rule_for(name, _label_each, label_of=label)


def _number_each(state: Record, moves: Uint16Array, count: int, out: Int32Array) -> None:
    for i in range(count):
        out[i] = moves[i]


def own_numbers(name: str) -> Callable[[Record, Uint16Array, int, Int32Array], None]:
    """`label_moves` of the encoding `name` where the moves of the game are the numbers from 0 on."""
    return rule_for(name, _number_each)


@rule
def pack_nothing(state: Record, words: Uint32Array) -> None:
    """`pack` where nobody looks at the position."""


@compiled
def no_planes(packed: Uint32Array, planes: npt.NDArray[Any]) -> None:
    """`unpack` of an encoding without planes."""


def planes_of(encoding: Encoding, packed: Uint32Array) -> Float32Array:
    """Planes float32 [B, planes, height, width] of packed positions."""
    planes = np.empty((len(packed), encoding.planes, encoding.height, encoding.width), np.float32)
    encoding.unpack(packed, planes)
    return planes
