"""What a network asks of a game: a position as planes or as rows of a table, a move as a label.

Positions travel packed, in a few dozen or hundred bytes. Where they meet the network, an encoding of planes lists what
is set in them, or unpacks them. A sparse encoding has no planes: its packed position is the list of the rows that the
network adds up.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pydlshogi.game import Position
from pydlshogi.support.arrays import Float32Array, Int32Array, Record, Records, Uint16Array, Uint32Array
from pydlshogi.support.kernels.compiled import compiled, compiled_for, rule, rule_for, rule_of_game, word

_LISTED: Final = 16
"""Positions that are listed at once, where they become planes."""
_SAMPLED_OF: Final = 8
"""A sample has one position of this many in a game."""
_LONGEST: Final = 200
"""Positions of a game at random."""


LabelMoves: TypeAlias = Callable[[Record, Uint16Array, int, Int32Array], None]
Pack: TypeAlias = Callable[[Record, Uint32Array], None]
ListActive: TypeAlias = Callable[[Uint32Array, Int32Array, Int32Array, Int32Array], None]
ListOne: TypeAlias = Callable[[Uint32Array, Int32Array, Int32Array], tuple[int, int]]


class Symmetry(NamedTuple):
    """A way to see a position that plays the same: a mirror, a rotation."""

    squares: Int32Array
    """int32 [height * width]: the square of the position that is seen at each square."""
    planes: Int32Array
    """int32 [planes]: the plane of the position that is seen as each plane."""
    labels: Int32Array
    """int32 [labels]: the label that a move of each label has when seen so."""


class Encoding(NamedTuple):
    """How a network sees a game. Functions over states are compiled like those of `Rules` and follow their pattern.

    >>> from pydlshogi.catalogue import GAMES
    >>> game = next(iter(GAMES.values()))
    >>> position, encoding = game.position(), game.encoding
    >>> packed = packed_of(encoding, position.states)
    >>> packed.shape, planes_of(encoding, packed).shape
    ((1, 19), (1, 104, 9, 9))
    >>> len(labels_of(encoding, position.states[0], position.legal_moves()))
    30
    """

    name: str
    """No two encodings have the same: it stands in the names of compiled kernels."""
    planes: int
    """0: the encoding is sparse."""
    height: int
    width: int
    labels: int
    words: int
    """Length of a packed position, in uint32."""
    label_moves: LabelMoves
    """(state, moves, count, out): fill the first `count` of int32 `out` with the labels, 0 to labels - 1, of the first
    `count` of `moves`, which are legal."""
    pack: Pack
    """(state, words): fill uint32 [words]. Of a sparse encoding the first word is the number of rows; their numbers
    follow, and then anything."""
    list_active: ListActive
    """(packed, active, full, counts): a kernel, made by `listed_by`. packed: uint32 [B, words]. It fills int32 `active`
    [B, planes * height * width] with the numbers plane * height * width + square of what is set. Planes that are
    ones on every square stand in int32 `full` [B, planes] instead. int32 `counts` [B, 2] says how many stand in both.
    No number appears twice."""
    symmetries: tuple[Symmetry, ...] = ()
    """Beside the identity."""
    parts: tuple[int, ...] = ()
    """How many of the planes, from the first on, each input of other programs' networks takes; all differ."""
    features: int = 0
    """Of a sparse encoding: rows of the network's first layer."""
    start: Callable[[], Position] | None = None
    """A new game. None: nobody plays it."""
    label_parts: tuple[int, ...] = ()
    """Of a sparse encoding: a label is (i * parts[1] + j) * parts[2] + k, each number below its part."""


# The places of a game's functions in kernels, here and below: see `compiled_for`.
label_moves: LabelMoves = rule_of_game
pack: Pack = rule_of_game


def _label(state: Record, moves: Uint16Array, labels: Int32Array) -> None:
    label_moves(state, moves, len(moves), labels)


def _pack_each(states: Records, packed: Uint32Array) -> None:
    for i in range(len(states)):
        pack(states[i], packed[i])


def labels_of(encoding: Encoding, state: Record, moves: npt.NDArray[np.integer[Any]]) -> Int32Array:
    """The labels of legal moves."""
    labels = np.empty(len(moves), np.int32)
    label = compiled_for(encoding.name, _label, label_moves=encoding.label_moves)
    label(state, moves.astype(np.uint16), labels)
    return labels


def packed_of(encoding: Encoding, states: Records) -> Uint32Array:
    """Packed positions, uint32 [states, words]."""
    packed = np.zeros((len(states), encoding.words), np.uint32)
    pack_each = compiled_for(encoding.name, _pack_each, pack=encoding.pack)
    pack_each(states, packed)
    return packed


label_of: Callable[[Record, int], int] = rule_of_game


def _label_each(state: Record, moves: Uint16Array, count: int, out: Int32Array) -> None:
    for i in range(count):
        out[i] = label_of(state, moves[i])


def labelled_by(name: str, label: Callable[[Record, int], int]) -> LabelMoves:
    """`label_moves` of the encoding `name`, whose moves are labelled one by one: `label` is a rule, (state, move) ->
    label."""
    return rule_for(name, _label_each, label_of=label)


def _number_each(state: Record, moves: Uint16Array, count: int, out: Int32Array) -> None:
    for i in range(count):
        out[i] = moves[i]


def own_numbers(name: str) -> LabelMoves:
    """`label_moves` of the encoding `name` where the moves of the game are the numbers from 0 on."""
    return rule_for(name, _number_each)


@rule
def pack_nothing(state: Record, words: Uint32Array) -> None:
    """`pack` where the evaluator needs no position."""


list_one: ListOne = rule_of_game


def _list_each(packed: Uint32Array, active: Int32Array, full: Int32Array, counts: Int32Array) -> None:
    for i in range(len(packed)):
        counts[i] = list_one(packed[i], active[i], full[i])


def listed_by(name: str, list_one: ListOne) -> ListActive:
    """`list_active` of the encoding `name`: `list_one` is a rule, (packed, active, full) -> both counts, of one."""
    return compiled_for(name, _list_each, list_one=list_one)


def no_planes(packed: Uint32Array, active: Int32Array, full: Int32Array, counts: Int32Array) -> None:
    """`list_active` of an encoding without planes."""


class Lists(NamedTuple):
    """Room for what `list_active` says of some positions."""

    active: Int32Array
    full: Int32Array
    counts: Int32Array


def lists_for(encoding: Encoding, size: int) -> Lists:
    """Room for `size` positions."""
    room = encoding.planes * encoding.height * encoding.width
    return Lists(*(np.zeros((size, each), np.int32) for each in (room, encoding.planes, 2)))


@compiled
def _fill(active: Int32Array, full: Int32Array, counts: Int32Array, planes: npt.NDArray[Any]) -> None:
    squares = planes.shape[2] * planes.shape[3]
    flat = planes.reshape(len(planes), planes.shape[1] * squares)
    for row in range(len(planes)):
        flat[row] = 0
        for i in range(counts[row, 0]):
            flat[row, word(active[row, i])] = 1  # a number with a sign might count from the end, and numba looks
        for i in range(counts[row, 1]):
            flat[row, squares * full[row, i] : squares * (full[row, i] + 1)] = 1


def unpack(encoding: Encoding, packed: Uint32Array, planes: npt.NDArray[Any]) -> None:
    """Fill float32 or uint8 [B, planes, height, width] from uint32 [B, words], whatever stood there."""
    lists = lists_for(encoding, min(len(packed), _LISTED))
    for first in range(0, len(packed), _LISTED):
        some = packed[first : first + _LISTED]
        encoding.list_active(some, *lists)
        _fill(*lists, planes[first : first + _LISTED])


def planes_of(encoding: Encoding, packed: Uint32Array) -> Float32Array:
    """Planes float32 [B, planes, height, width] of packed positions."""
    planes = np.empty((len(packed), encoding.planes, encoding.height, encoding.width), np.float32)
    unpack(encoding, packed, planes)
    return planes


def sample(encoding: Encoding, count: int) -> Uint32Array:
    """`count` packed positions, uint32 [count, words], of games by random moves; the same every time.

    Where nobody plays the game they are of bits, one in sixteen set.
    """
    rng = np.random.default_rng(0)
    if encoding.start is None:
        words: Uint32Array = np.bitwise_and.reduce(rng.integers(0, 1 << 32, (4, count, encoding.words), np.uint32))
        return words
    games = list[Uint32Array]()
    while sum(map(len, games)) < _SAMPLED_OF * count:
        position = encoding.start()
        while len(moves := position.legal_moves()) and len(position.states) < _LONGEST and position.outcome() is None:
            position.push(int(rng.choice(moves)))
        games.append(packed_of(encoding, position.states))
    chosen = rng.permutation(sum(map(len, games)))[:count]
    return np.concatenate(games)[chosen]
