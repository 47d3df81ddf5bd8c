"""Evaluators: what comes out is in the order of the legal moves that went in."""

import numpy as np
import pytest

from pydlshogi.encoding import labelled_by
from pydlshogi.evaluator import HashEvaluator, NetworkEvaluator, UniformEvaluator
from pydlshogi.game import Position
from pydlshogi.network.backend import HostBackend
from pydlshogi.support.arrays import Record
from pydlshogi.support.kernels.compiled import rule
from pydlshogi.uct.batch import Batch, Evaluations, Evaluator
from tests.networks import encoding_of
from tests.tic_tac_toe import TicTacToe


@rule
def pack(state: Record, words: np.ndarray) -> None:
    """Nine bits for the cells of the side to move, nine for those of the other."""
    words[0] = state.own | state.other << 9


@rule
def label(state: Record, move: int) -> int:
    return 8 - move


ENCODING = encoding_of(2, 3, 3, 9)._replace(
    name="tic-tac-toe", pack=pack, label_moves=labelled_by("tic-tac-toe", label)
)


def answer(planes: np.ndarray) -> tuple[np.ndarray, np.float32]:
    """Logits that depend on what the network is shown."""
    generator = np.random.default_rng(int(np.flatnonzero(planes).sum()))
    return 2 * generator.standard_normal(9, np.float32), np.float32(generator.normal())


def known(temperature: float = 1.0) -> NetworkEvaluator:
    def run(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        policies, values = zip(*map(answer, planes), strict=True)
        return np.array(policies), np.array(values)

    return NetworkEvaluator(HostBackend("known", ENCODING, [run], 1), temperature)


def ask(evaluator: Evaluator, positions: list[Position]) -> Evaluations:
    batch = Batch(max(1, len(positions)), 9, evaluator.encoding)
    for position in positions:
        batch.add(position, position.legal_moves())
    return evaluator.evaluate(batch)


def split(evaluations: Evaluations, positions: list[Position]) -> list[np.ndarray]:
    """The priors of each position."""
    counts = [len(position.legal_moves()) for position in positions]
    assert len(evaluations.priors) == sum(counts)
    return np.split(evaluations.priors, np.cumsum(counts)[:-1])


def some_positions() -> list[TicTacToe]:
    return [TicTacToe(moves) for moves in ([], [4], [4, 0], [0, 4, 8], [8, 4, 0], [0, 1, 2, 3, 4, 5, 6, 7])]


EVALUATORS = [UniformEvaluator(), HashEvaluator(), HashEvaluator(ENCODING), known()]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_priors_and_values_have_their_shapes(evaluator: Evaluator) -> None:
    positions = some_positions()
    evaluations = ask(evaluator, positions)
    assert evaluations.priors.dtype == evaluations.values.dtype == np.float32
    assert evaluations.values.shape == (len(positions),)
    assert ((evaluations.values > 0) & (evaluations.values < 1)).all()
    for priors in split(evaluations, positions):
        assert (priors > 0).all()
        assert priors.sum() == pytest.approx(1, abs=1e-5)
    assert [len(answers) for answers in ask(evaluator, [])[:2]] == [0, 0]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_position_is_judged_alike_alone_and_in_company(evaluator: Evaluator) -> None:
    positions = some_positions()
    together = ask(evaluator, positions)
    for position, priors, value in zip(positions, split(together, positions), together.values, strict=True):
        alone = ask(evaluator, [position])
        np.testing.assert_array_equal(alone.priors, priors)
        assert alone.values == [value]


@pytest.mark.parametrize("temperature", [1.0, 0.25, 1.74, 100.0])
def test_a_networks_priors_are_the_softmax_over_the_labels_of_the_legal_moves(temperature: float) -> None:
    positions = some_positions()
    evaluations = ask(known(temperature), positions)
    for position, priors, value in zip(positions, split(evaluations, positions), evaluations.values, strict=True):
        planes = np.zeros((2, 9))
        planes[0, position.played[-2::-2]] = planes[1, position.played[-1::-2]] = 1
        policy_logits, value_logit = answer(planes)
        exponentials = np.exp(policy_logits[[8 - move for move in position.legal_moves()]] / temperature)
        np.testing.assert_allclose(priors, exponentials / exponentials.sum(), rtol=1e-5)
        assert value == pytest.approx(1 / (1 + np.exp(-value_logit)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("logit", "win_rate"), [(200.0, 1.0), (-200.0, 0.0)])
def test_the_greatest_logits_are_no_trouble(logit: float, win_rate: float) -> None:
    def sure(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        policy = np.tile(np.linspace(-3e4, 3e4, 9, dtype=np.float32), (len(planes), 1))
        return policy, np.full(len(planes), logit, np.float32)

    evaluations = ask(NetworkEvaluator(HostBackend("sure", ENCODING, [sure], 1), 0.01), [TicTacToe()])
    assert evaluations.values == pytest.approx([win_rate], abs=1e-9)
    assert evaluations.priors.sum() == pytest.approx(1)
    assert evaluations.priors.max() == pytest.approx(1)


def test_a_network_is_not_asked_again_for_a_value_that_is_known_unless_the_priors_are_wanted() -> None:
    """The first and the last position do not expand, and so have no labels; the third does, for the second time."""
    positions, none = some_positions()[:4], np.empty(0, np.int32)
    evaluator, batch = known(), Batch(4, 9, ENCODING)
    for place, position in enumerate(positions):
        batch.add(position, position.legal_moves() if place in (1, 2) else none)
    batch.expands[[0, 3]], batch.known_values[[0, 2]] = False, 0.125
    found, fresh = evaluator.evaluate(batch), ask(evaluator, positions)
    np.testing.assert_array_equal(found.values, [0.125, *fresh.values[1:]])
    np.testing.assert_array_equal(found.priors, np.concatenate(split(fresh, positions)[1:3]))

    batch.clear()
    batch.add(positions[0], none)
    batch.expands[0], batch.known_values[0] = False, 0.125
    assert [each.tolist() for each in evaluator.evaluate(batch)[:2]] == [[], [0.125]]
