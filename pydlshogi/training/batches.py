"""Packed positions to batches for training: in which order, seen in a mirror or not, and as planes, labels and targets.

Knows the encoding through features.py only; knows nothing of networks or frameworks.
"""

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple

import cshogi
import numpy as np
import numpy.typing as npt

from pydlshogi.common import LABEL_PLANES, MOVE_DIRECTIONS
from pydlshogi.compiled import compiled
from pydlshogi.dataset import NO_EVAL, NO_RESULT, IntArray, Positions, win_rates
from pydlshogi.features import Float32Array, PlaneBatch, move_label

BoolArray = npt.NDArray[np.bool_]


class Batch(NamedTuple):
    """What one step learns from; the arrays belong to whoever receives them."""

    planes: Float32Array  # [B, 104, 9, 9]
    labels: IntArray  # [B] the move played, 0..2186
    values: Float32Array  # [B] expected score of the side to move, 0..1
    value_weights: Float32Array  # [B] 0 where the expected score is unknown, else 1


@dataclass(frozen=True)
class ValueTarget:
    """How the expected score is made of a game's result and the record's evaluation.

    `val_lambda` x result + (1 - `val_lambda`) / (1 + exp(-eval / `eval_coef`)), or the one of the two that is known.
    """

    val_lambda: float
    eval_coef: float

    def __call__(self, rows: Positions) -> tuple[Float32Array, Float32Array]:
        """Expected scores and their weights, float32 [B] each."""
        has_result, has_eval = rows["result"] != NO_RESULT, rows["eval"] != NO_EVAL
        results = (rows["result"].astype(np.float32) + 1.0) / 2.0
        shares = np.where(has_result, np.where(has_eval, self.val_lambda, 1.0), 0.0)
        values = shares * results + (1.0 - shares) * win_rates(rows["eval"], self.eval_coef)
        return values.astype(np.float32), (has_result | has_eval).astype(np.float32)


def _mirrored_labels() -> IntArray:
    """MIRRORED_LABEL, int64 [2187]: directions and destination are mirrored, dropped pieces stay the same."""
    swapped = [
        MOVE_DIRECTIONS.index(name.replace("LEFT", "?").replace("RIGHT", "LEFT").replace("?", "RIGHT"))
        for name in MOVE_DIRECTIONS
    ]
    planes = np.array([*swapped, *range(len(swapped), LABEL_PLANES)])
    squares = np.arange(81).reshape(9, 9)[:, ::-1].reshape(81)
    return (planes[:, None] * 81 + squares).reshape(-1)


MIRRORED_LABEL: Final = _mirrored_labels()
"""The label of each label's move seen in a mirror: left and right change places."""


def encode(rows: Positions, mirrored: BoolArray, target: ValueTarget) -> Batch:
    """The positions `rows` as a batch, those marked in `mirrored` with left and right exchanged."""
    notes = PlaneBatch(len(rows))
    board = cshogi.Board()
    labels = np.empty(len(rows), np.int64)
    for i, (code, move) in enumerate(zip(rows["hcp"], rows["move"].tolist(), strict=True)):
        board.set_hcp(code)
        notes.add(board)
        labels[i] = move_label(move, board.turn)
    planes = notes.planes()
    _mirror(planes, mirrored)
    labels[mirrored] = MIRRORED_LABEL[labels[mirrored]]
    return Batch(planes, labels, *target(rows))


@compiled
def _mirror(planes: Float32Array, mirrored: BoolArray) -> None:
    """Exchange left and right, in place, in the rows of `planes` that are marked."""
    for row in range(len(planes)):
        if mirrored[row]:
            for plane in range(planes.shape[1]):
                for rank in range(9):
                    for file in range(4):
                        left, right = planes[row, plane, rank, file], planes[row, plane, rank, 8 - file]
                        planes[row, plane, rank, file], planes[row, plane, rank, 8 - file] = right, left


class Shuffle:
    """The order of training, a function of the seed alone: whoever knows the number of a batch can go on from there."""

    def __init__(self, indices: IntArray, batch_size: int, seed: int, *, mirror: bool) -> None:
        """`indices`: the positions of one epoch, at least `batch_size`. What does not fill a last batch is skipped."""
        self._batch_size = batch_size
        self._seed = seed
        self._mirror = mirror
        self._batches_per_epoch = len(indices) // batch_size
        # Threads ask for batches on both sides of an epoch's end.
        self._order = lru_cache(2)(lambda epoch: np.random.default_rng((seed, epoch)).permutation(indices))

    def batch(self, number: int) -> tuple[IntArray, BoolArray]:
        """Indices [B] of batch `number`, and which of them are to be mirrored."""
        epoch, place = divmod(number, self._batches_per_epoch)
        chosen = self._order(epoch)[place * self._batch_size : (place + 1) * self._batch_size]
        coins = np.random.default_rng((self._seed, epoch, place)).random(len(chosen)) < 0.5
        return chosen, coins & self._mirror


def numbered_batch(positions: Positions, shuffle: Shuffle, target: ValueTarget, number: int) -> Batch:
    """Batch `number` of `positions` in the order of `shuffle`."""
    chosen, mirrored = shuffle.batch(number)
    return encode(positions[chosen], mirrored, target)


def batches(
    prepare: Callable[[int], Batch], first: int, threads: int = 2, ahead: int = 6
) -> Generator[Batch, None, None]:
    """`prepare(first)`, `prepare(first + 1)` and so on without end, `ahead` of them being prepared by `threads`."""
    with ThreadPoolExecutor(threads, thread_name_prefix="batches") as pool:
        waiting = deque(pool.submit(prepare, number) for number in range(first, first + ahead))
        for number in count(first + ahead):
            yield waiting.popleft().result()
            waiting.append(pool.submit(prepare, number))
