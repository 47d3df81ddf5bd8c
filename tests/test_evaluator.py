"""Evaluators: what comes out is in the order of the legal moves that went in."""

from typing import Any

import numpy as np
import pytest
import shogi
from positions import MOST_MOVES, random_positions, turned
from test_features import naive_label, naive_planes
from tic_tac_toe import TicTacToe

from pydlshogi.evaluator import HashEvaluator, NetworkEvaluator, UniformEvaluator
from pydlshogi.game import Position
from pydlshogi.games.shogi import START_SFEN, ShogiPosition
from pydlshogi.uct.search import Evaluations, Requests


def ask(evaluator: Any, positions: list[Position], requests: Any = None) -> Evaluations:
    """Fill a notebook as the search does, and have it evaluated."""
    if requests is None:
        requests = evaluator.requests(max(1, len(positions)))
    requests.clear()
    moves = [position.legal_moves() for position in positions]
    for position in positions:
        requests.note(position)
    requests.counts = np.array([len(some) for some in moves], np.int32)
    requests.moves = np.concatenate([np.zeros(0, np.int32), *moves]).astype(np.int32)
    return evaluator.evaluate(requests)


def split(evaluations: Evaluations, positions: list[Position]) -> list[np.ndarray]:
    """The priors of each position."""
    counts = [len(position.legal_moves()) for position in positions]
    assert len(evaluations.priors) == sum(counts)
    return np.split(evaluations.priors, np.cumsum(counts)[:-1])


class Known:
    """A backend whose logits depend on what it is shown."""

    on_gpu = False

    def __init__(self, scale: float = 2.0) -> None:
        self.scale = scale
        self.shown: list[np.ndarray] = []

    def infer(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.shown.append(planes.copy())
        answers = [self.answer(board) for board in planes]
        return np.array([policy for policy, _ in answers]), np.array([value for _, value in answers])

    def answer(self, planes: np.ndarray) -> tuple[np.ndarray, np.float32]:
        rng = np.random.default_rng(int(np.flatnonzero(planes).sum()))
        return self.scale * rng.standard_normal(2187, np.float32), np.float32(rng.normal())


def some_positions() -> list[Position]:
    double_check = "4k4/9/9/9/4r4/9/3n5/9/4K4 b RBGSNLP 1"
    sfens = (START_SFEN, turned(START_SFEN), MOST_MOVES, turned(MOST_MOVES), double_check)
    return [ShogiPosition(sfen) for sfen in sfens]


@pytest.mark.parametrize("evaluator", [UniformEvaluator(), HashEvaluator(), NetworkEvaluator(Known())])
def test_priors_and_values_have_their_shapes(evaluator: Any) -> None:
    positions = some_positions()
    evaluations = ask(evaluator, positions)
    assert evaluations.priors.dtype == evaluations.values.dtype == np.float32
    assert evaluations.values.shape == (len(positions),)
    assert ((evaluations.values > 0) & (evaluations.values < 1)).all()
    for priors in split(evaluations, positions):
        assert (priors > 0).all()
        assert priors.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("evaluator", [UniformEvaluator(), HashEvaluator(), NetworkEvaluator(Known())])
def test_an_empty_batch_has_no_answers(evaluator: Any) -> None:
    evaluations = ask(evaluator, [])
    assert evaluations.priors.shape == evaluations.values.shape == (0,)


def test_an_empty_batch_does_not_trouble_the_network() -> None:
    backend = Known()
    ask(NetworkEvaluator(backend), [])
    assert backend.shown == []


@pytest.mark.parametrize("evaluator", [HashEvaluator(), NetworkEvaluator(Known())])
def test_a_position_is_judged_alike_alone_and_in_company(evaluator: Any) -> None:
    positions = some_positions()
    together = ask(evaluator, positions)
    notebook = evaluator.requests(len(positions))
    for position, priors, value in zip(positions, split(together, positions), together.values, strict=True):
        alone = ask(evaluator, [position], notebook)
        np.testing.assert_array_equal(alone.priors, priors)
        assert alone.values == [value]


def test_uniform_opinions() -> None:
    evaluations = ask(UniformEvaluator(), [TicTacToe([4]), TicTacToe([4, 0, 1, 2, 3])])
    assert evaluations.values.tolist() == [0.5, 0.5]
    assert evaluations.priors.tolist() == [0.125] * 8 + [0.25] * 4


def mix(number: int) -> int:
    """The finaliser of splitmix64 in exact arithmetic, its top ten bits."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return (number ^ number >> 31) >> 54


def test_hash_opinions_come_from_key_and_move_alone() -> None:
    """Weights 1 + mix(key xor move << 20), values (mix(key) + 0.5) / 1024."""
    positions = [*some_positions(), TicTacToe(), TicTacToe([4])]
    evaluations = ask(HashEvaluator(), positions)
    for position, priors, value in zip(positions, split(evaluations, positions), evaluations.values, strict=True):
        weights = np.array([1 + mix(position.key() ^ move << 20) for move in position.legal_moves().tolist()])
        np.testing.assert_allclose(priors, weights / weights.sum(), rtol=1e-6)
        assert value == (mix(position.key()) + 0.5) / 1024


def test_hash_opinions_never_change() -> None:
    """Numbers written down once: whoever changes them changes the signature of the bench on every machine."""
    evaluations = ask(HashEvaluator(), [TicTacToe([4])])
    weights = [557, 661, 300, 821, 241, 789, 520, 604]
    assert evaluations.values.tolist() == [556.5 / 1024]
    np.testing.assert_allclose(evaluations.priors * sum(weights), weights, rtol=1e-6)


def softmax(logits: np.ndarray) -> np.ndarray:
    exponentials = np.exp(logits.astype(np.float64) - logits.max())
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("temperature", [1.0, 0.25, 1.74, 100.0])
def test_network_opinions_are_the_softmax_over_the_labels_of_the_legal_moves(temperature: float) -> None:
    backend = Known()
    evaluator = NetworkEvaluator(backend, temperature)
    sfens = [START_SFEN, MOST_MOVES, turned(MOST_MOVES)]
    sfens += [position.board.sfen() for position in random_positions(11, games=2, plies=40)]
    positions = [ShogiPosition(sfen) for sfen in sfens]
    evaluations = ask(evaluator, positions)
    for sfen, priors, value in zip(sfens, split(evaluations, positions), evaluations.values, strict=True):
        board = shogi.Board(sfen)
        policy_logits, value_logit = backend.answer(naive_planes(board))
        usis = [move.usi() for move in board.legal_moves]
        expected = softmax(
            np.array([policy_logits[naive_label(shogi.Move.from_usi(usi), board.turn)] for usi in usis]) / temperature
        )
        found = {ShogiPosition(sfen).move_from_usi(usi): prior for usi, prior in zip(usis, expected, strict=True)}
        in_order = [found[move] for move in ShogiPosition(sfen).legal_moves().tolist()]
        np.testing.assert_allclose(priors, in_order, rtol=1e-4, atol=1e-7)
        assert value == pytest.approx(1 / (1 + np.exp(-value_logit)))


def test_the_network_is_shown_the_planes() -> None:
    backend = Known()
    sfens = [START_SFEN, turned(MOST_MOVES)]
    ask(NetworkEvaluator(backend), [ShogiPosition(sfen) for sfen in sfens])
    np.testing.assert_array_equal(backend.shown[0], [naive_planes(shogi.Board(sfen)) for sfen in sfens])


def test_a_higher_temperature_is_flatter() -> None:
    spreads = []
    for temperature in (0.5, 1.0, 2.0):
        priors = ask(NetworkEvaluator(Known(), temperature), [ShogiPosition()]).priors
        spreads.append(priors.max() / priors.min())
    assert spreads[1] == pytest.approx(spreads[0] ** 0.5, rel=1e-3)
    assert spreads[2] == pytest.approx(spreads[1] ** 0.5, rel=1e-3)


class Sure(Known):
    """A network that has no doubts."""

    def answer(self, planes: np.ndarray) -> tuple[np.ndarray, np.float32]:
        return np.linspace(-3e4, 3e4, 2187, dtype=np.float32), np.float32(self.scale)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("logit", "win_rate"), [(200.0, 1.0), (-200.0, 0.0)])
def test_the_greatest_logits_are_no_trouble(logit: float, win_rate: float) -> None:
    evaluations = ask(NetworkEvaluator(Sure(logit), 0.01), [ShogiPosition()])
    assert evaluations.values == pytest.approx([win_rate], abs=1e-9)
    assert evaluations.priors.sum() == pytest.approx(1)
    assert evaluations.priors.max() == pytest.approx(1)


def test_a_notebook_for_nobody_in_particular_notes_nothing() -> None:
    requests = Requests()
    requests.note(TicTacToe())
    assert len(requests) == 0
