"""A network rewritten for an encoding with more planes: it computes the same until it learns from the new ones."""

from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.games.shogi.encodings import (
    BOOK,
    BOOK_DROP,
    BOOK_PLANE,
    BOOK_SQUARE,
    DLSHOGI,
    DLSHOGI_HELD,
    DLSHOGI_MOST_HELD,
    DLSHOGI_PER_SIDE,
    EXTENDED,
)
from pydlshogi.games.shogi.names import MAX_PIECES_IN_HAND, MOVE_DIRECTIONS, PIECE_TYPES, PLANES_PER_SIDE
from pydlshogi.network.architecture import KINDS
from pydlshogi.network.weights import Array, Weights, architecture_of

_LABEL_PLANES: Final = [*range(len(MOVE_DIRECTIONS)), *(len(MOVE_DIRECTIONS) + BOOK_DROP[1:])]
"""By dlshogi's number of a plane of labels, the book's."""


def in_planes_of(encoding: Encoding, weights: Weights) -> Weights:
    """`weights` rewritten for dlshogi's planes, or for those and more, where `encoding` asks for them and the network
    has fewer.

    It computes the same, except that dlshogi's planes show no more than eight pawns in a hand. Raises ModelError if
    `weights` are not those of a network.
    """
    ends = architecture_of(weights).ends
    if encoding in (DLSHOGI, *EXTENDED) and ends.suit(BOOK):
        return in_planes_of(encoding, _in_dlshogis(weights))
    if encoding in EXTENDED and ends.suit(DLSHOGI):
        first = weights["l1/W"]
        unseen = np.zeros((len(first), encoding.planes - DLSHOGI.planes, *first.shape[2:]), first.dtype)
        return {**weights, "l1/W": np.concatenate([first, unseen], axis=1)}
    return weights


def _in_dlshogis(weights: Weights) -> Weights:
    size = architecture_of(weights)
    heads = KINDS[size.kind].heads
    result: Weights = {}
    for name, array in weights.items():
        if name == "l1/W":
            result[name] = _turned(_first_layer(array))
        elif array.ndim == 4 and array.shape[-1] == 3:
            result[name] = _turned(array)
        elif name == f"{heads.policy}/W":
            result[name] = array[_LABEL_PLANES]
        elif name == f"{heads.policy_bias}/b":
            result[name] = array.reshape(size.label_planes, -1)[_LABEL_PLANES][:, BOOK_SQUARE].ravel()
        elif name == f"{heads.value[1]}/W":
            result[name] = array.reshape(len(array), size.label_planes, -1)[:, :, BOOK_SQUARE].reshape(array.shape)
        else:
            result[name] = array
    return result


def _first_layer(kernels: Array) -> Array:
    """[channels, the book's planes, 3, 3] as [channels, dlshogi's planes, 3, 3]."""
    result: Array = np.zeros((len(kernels), DLSHOGI.planes, 3, 3), kernels.dtype)
    for side in range(2):
        pieces, hand = PLANES_PER_SIDE * side, PLANES_PER_SIDE * side + len(PIECE_TYPES)
        first = DLSHOGI_PER_SIDE * side
        result[:, first : first + len(PIECE_TYPES)] = kernels[:, pieces + BOOK_PLANE[1:]]
        first = 2 * DLSHOGI_PER_SIDE + DLSHOGI_HELD * side
        for here, there in zip(MAX_PIECES_IN_HAND, DLSHOGI_MOST_HELD.tolist(), strict=True):
            result[:, first : first + there] = kernels[:, hand : hand + there]
            hand, first = hand + here, first + there
    return result


def _turned(kernels: Array) -> Array:
    """Kernels for dlshogi's board: its rows are the files, from the right, where the book's are the ranks."""
    return np.ascontiguousarray(kernels.transpose(0, 1, 3, 2)[:, :, ::-1])
