"""Examples and batches of no game in particular, against slow obvious versions."""

from itertools import islice

import numpy as np
import pytest

from pydlshogi.encoding import Symmetry, planes_of
from pydlshogi.training.examples import Examples, Shuffle, TrainingBatch, batch_of, batches, joined
from tests.networks import NARROW, packed_positions

Target = dict[int, float]


def turned() -> Symmetry:
    """A mirror of four ranks by three files; the first two planes and the labels change places, too."""
    squares = np.arange(12, dtype=np.int32).reshape(4, 3)[:, ::-1].reshape(-1)
    planes = np.array([1, 0, *range(2, 14)], np.int32)
    return Symmetry(squares, planes, np.arange(132, dtype=np.int32)[::-1].copy())


def shifted() -> Symmetry:
    """A rotation of everything by one: it is not its own inverse."""
    squares, planes, labels = (np.roll(np.arange(size, dtype=np.int32), 1) for size in (12, 14, 132))
    return Symmetry(squares, planes, labels)


ENCODING = NARROW._replace(symmetries=(turned(), shifted()))
TARGETS: list[Target] = [{5: 1.0}, {0: 0.25, 131: 0.75}, {}, {7: 0.5}, {1: 0.1, 2: 0.2, 3: 0.7}]


def examples_of(targets: list[Target], seed: int = 0) -> Examples:
    count = len(targets)
    return Examples(
        packed_positions(ENCODING, count, seed),
        np.cumsum([0, *map(len, targets)]),
        np.array([label for target in targets for label in target], np.int32),
        np.array([weight for target in targets for weight in target.values()], np.float32),
        np.linspace(0, 1, count, dtype=np.float32),
        np.arange(count, dtype=np.float32) % 2,
    )


def targets_of(examples: Examples | TrainingBatch) -> list[Target]:
    """What was given to `examples_of`."""
    parts = [slice(*ends) for ends in zip(examples.firsts, examples.firsts[1:], strict=False)]
    targets = [zip(examples.labels[part], examples.weights[part], strict=True) for part in parts]
    return [{int(label): pytest.approx(weight) for label, weight in target} for target in targets]


def test_examples_are_taken_by_their_numbers() -> None:
    examples = examples_of(TARGETS)
    rows = np.array([4, 2, 1, 1])
    taken = examples.examples(rows)
    assert len(taken) == 4
    assert targets_of(taken) == [TARGETS[row] for row in rows]
    assert np.array_equal(taken.packed, examples.packed[rows])
    assert taken.values.tolist() == examples.values[rows].tolist()
    assert taken.value_weights.tolist() == [0, 0, 1, 1]
    assert len(examples.examples(rows[:0])) == 0


def test_sets_of_examples_are_joined() -> None:
    first, second = examples_of(TARGETS), examples_of(TARGETS[1:4], seed=1)
    both = joined([first, second, first])
    assert len(both) == 13
    assert targets_of(both) == TARGETS + TARGETS[1:4] + TARGETS
    assert np.array_equal(both.packed[5:8], second.packed)


def test_batches_show_positions_as_symmetries_turn_them() -> None:
    examples = examples_of(TARGETS)
    turns = np.array([0, 1, 2, 1, 2])
    batch = batch_of(examples, ENCODING, turns)
    plain = planes_of(ENCODING, examples.packed).reshape(5, 14, 12)
    for i, turn in enumerate(turns):
        squares, planes, labels = range(12), range(14), range(132)
        if turn:
            squares, planes, labels = ENCODING.symmetries[turn - 1]
        seen = [[plain[i, plane, square] for square in squares] for plane in planes]
        assert np.array_equal(batch.inputs[i].reshape(14, 12), seen)
        assert targets_of(batch)[i] == {labels[label]: weight for label, weight in TARGETS[i].items()}
    assert batch.values.tolist() == examples.values.tolist()


def test_an_epoch_shows_every_position_once_and_depends_on_the_seed_alone() -> None:
    rows = np.arange(100, 140)
    shuffle = Shuffle(rows, 8, seed=1, symmetries=2)
    epochs = [np.concatenate([shuffle.batch(5 * epoch + i)[0] for i in range(5)]) for epoch in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == rows.tolist()
    assert epochs[0].tolist() != epochs[1].tolist()
    again = Shuffle(rows, 8, seed=1, symmetries=2)
    for number in (7, 2, 9):
        for mine, other in zip(shuffle.batch(number), again.batch(number), strict=True):
            assert np.array_equal(mine, other)
    assert Shuffle(rows, 8, seed=2).batch(0)[0].tolist() != shuffle.batch(0)[0].tolist()


@pytest.mark.parametrize("symmetries", [0, 1, 2, 7])
def test_symmetries_are_drawn_alike(symmetries: int) -> None:
    _, turns = Shuffle(np.arange(8000), 8000, seed=1, symmetries=symmetries).batch(0)
    often = np.bincount(turns)
    assert len(often) == symmetries + 1
    assert np.allclose(often * (symmetries + 1) / 8000, 1, atol=0.15)


def test_batches_come_in_order_from_any_number() -> None:
    source = examples_of(TARGETS)
    shuffle = Shuffle(np.arange(5), 1, seed=0)

    def prepare(number: int) -> TrainingBatch:
        if number == 9:
            raise OSError("the disk is gone")
        rows, turns = shuffle.batch(number)
        return batch_of(source.examples(rows), ENCODING, turns)

    coming = batches(prepare, 4, threads=2)
    found = [targets_of(batch) for batch in islice(coming, 5)]
    assert found == [[TARGETS[row] for row in shuffle.batch(number)[0]] for number in range(4, 9)]
    with pytest.raises(OSError, match="the disk is gone"):
        next(coming)
