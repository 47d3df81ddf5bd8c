"""What a network asks of a game: a position as planes, a move as a label.

Positions travel packed, in a few dozen or hundred bytes, and become planes where they meet the network.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.support.arrays import Float32Array, Int32Array, Record, Uint32Array


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
    height: int
    width: int
    labels: int
    words: int
    """Length of a packed position, in uint32."""
    label: Callable[[Record, int], int]
    """(state, move) -> label, 0 to labels - 1."""
    pack: Callable[[Record, Uint32Array], None]
    """(state, words): fill uint32 [words]."""
    unpack: Callable[[Uint32Array, npt.NDArray[Any]], None]
    """(packed, planes): a kernel of its own that fills float32 or uint8 [B, planes, height, width] from uint32
    [B, words], whatever stood there."""
    state: Callable[[Any], Any]
    """(position) -> state record, for positions that come one by one."""
    symmetries: tuple[Symmetry, ...] = ()
    """Beside the identity."""
    parts: tuple[int, ...] = ()
    """How many of the planes, from the first on, each input of other programs' networks takes; all differ."""


def planes_of(encoding: Encoding, packed: Uint32Array) -> Float32Array:
    """Planes float32 [B, planes, height, width] of packed positions."""
    planes = np.empty((len(packed), encoding.planes, encoding.height, encoding.width), np.float32)
    encoding.unpack(packed, planes)
    return planes
