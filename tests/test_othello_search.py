"""Othello in the shared search: compiled rules, encoding and tables."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from both_boards import compared, perft_of
from othello_games import number_on, random_game, random_position, random_weights

from pydlshogi.encoding import planes_of
from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.engine import policy, rollouts
from pydlshogi.games.othello.engine.patterns import DISC, NUMBERS, PATTERNS, STAGES
from pydlshogi.games.othello.engine.patterns import FIRST as FIRST_NUMBER
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import PASS, RULES, START, Position, parse_move
from pydlshogi.support.arrays import Float32Array
from pydlshogi.uct.batch import Batch


def random_positions(seeds: range) -> Iterator[Position]:
    """Every position of some random games."""
    for seed in seeds:
        position = START
        for move in random_game(seed).moves:
            yield position
            position = position.play(move)
        yield position


def turned(position: Position, turn: int) -> Position:
    """The position as the symmetry of this number shows it."""
    squares = OTHELLO.symmetries[turn].squares.tolist()
    mover, opponent = (
        sum(1 << seen for seen, square in enumerate(squares) if discs >> square & 1)
        for discs in (position.mover, position.opponent)
    )
    return Position(mover, opponent, position.black_to_move)


def batch_of(positions: list[Position]) -> Batch:
    batch = Batch(len(positions), RULES.most_moves, OTHELLO)
    for position in positions:
        batch.add(OthelloPosition(position), np.array(position.moves(), np.int32))
    return batch


def test_perft() -> None:
    perft = perft_of(RULES)
    lines = [perft(OthelloPosition().state, depth) for depth in range(1, 11)]
    over = 228  # after nine moves: tables of perft count them at ten as well
    assert lines == [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284 - over]


def test_a_game_forward_and_back() -> None:
    ends = Counter[float]()
    for seed in range(30):
        position, twin = OthelloPosition(), START
        for move in random_game(seed).moves:
            assert (position.now, position.legal_moves().tolist()) == (twin, twin.moves())
            assert position.outcome() is None
            position.push(move)
            twin = twin.play(move)
        outcome = position.outcome()
        assert outcome is not None
        assert not len(position.legal_moves())
        assert outcome.value == 0.5 + 0.5 * np.sign(twin.score)
        ends[outcome.value] += 1
        again = OthelloPosition(position.sfen())
        assert (again.now, again.key(), again.sfen()) == (position.now, position.key(), position.sfen())
        for _ in random_game(seed).moves:
            position.pop()
        assert position.now == START
    assert set(ends) >= {0.0, 1.0}


def test_verdicts_are_those_of_positions_replayed() -> None:
    met = Counter[tuple[int, bool]]()
    for seed in range(8):
        position = OthelloPosition(random_position(seed, empties=6))
        met += compared(RULES, position.settings, position, 300)
    assert {verdict for verdict, _ in met} >= {0, 1, -1}


def test_planes() -> None:
    planes = planes_of(OTHELLO, batch_of([START.play(parse_move("f5"))]).packed)[0]
    named = [{OthelloPosition().usi(square) for square in np.flatnonzero(plane)} for plane in planes]
    assert named == [{"d4"}, {"e4", "d5", "e5", "f5"}, {"d6", "f4", "f6"}]


@pytest.mark.parametrize("turn", range(7))
def test_a_turned_board_is_seen_as_the_symmetry_says(turn: int) -> None:
    symmetry = OTHELLO.symmetries[turn]
    for position in itertools.islice(random_positions(range(3)), 0, None, 7):
        image = turned(position, turn)
        assert {int(symmetry.labels[move]) for move in position.moves()} == set(image.moves())
        if not position.over:
            batch = batch_of([position, image])
            planes = planes_of(OTHELLO, batch.packed).reshape(2, 3, 64)
            assert (planes[0][:, symmetry.squares] == planes[1]).all()


def random_tables(seed: int) -> policy.Tables:
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 0.3, (policy.STAGES, policy.WEIGHTS)).astype(np.float32)
    return policy.Tables(weights, rng.uniform(2, 9, STAGES).astype(np.float32), random_weights(seed))


def slow_logits(position: Position, weights: Float32Array) -> list[float]:
    """By the docstring of policy.py."""
    own = weights[policy.policy_stage(64 - position.empties)]
    logits = []
    for move in position.moves():
        child = position.play(move)
        after = Position(child.opponent, child.mover)
        total = 0.0
        for pattern, (shape, squares) in enumerate(PATTERNS):
            number, then = number_on(position, squares), number_on(after, squares)
            if move in squares:
                place = policy._BEGINS[shape] + squares.index(move) * 3 ** len(squares)
                total += own[policy.THROUGH[place + number]]
            total += own[policy._AFTER[FIRST_NUMBER[pattern] + then]]
            total -= own[policy._AFTER[FIRST_NUMBER[pattern] + number]]
        logits.append(total)
    return logits


def test_priors_and_values_are_those_of_the_slow_way() -> None:
    tables = random_tables(1)
    positions = [position for position in itertools.islice(random_positions(range(4)), 0, None, 5) if not position.over]
    batch = batch_of(positions)
    said = policy.TableEvaluator(tables).evaluate(batch)
    for row, position in enumerate(positions):
        priors = said.priors[batch.firsts[row] : batch.firsts[row + 1]]
        if position.moves() != [PASS]:
            weights = np.exp(slow_logits(position, tables.policy))
            assert priors == pytest.approx(weights / weights.sum(), rel=1e-3)
        assert priors.sum() == pytest.approx(1, rel=1e-5)
        stage = min((60 - position.empties) // 4, STAGES - 1)
        numbers = [FIRST_NUMBER[i] + number_on(position, squares) for i, (_, squares) in enumerate(PATTERNS)]
        numbers.append(NUMBERS - 2 + position.empties % 2)
        discs = float(tables.patterns[stage, numbers].sum()) / DISC
        assert said.values[row] == pytest.approx(1 / (1 + math.exp(-discs / tables.scales[stage])), rel=1e-4)


def test_what_is_known_or_not_wanted_is_not_computed() -> None:
    batch = batch_of([START, START])
    batch.known_values[1], batch.expands[0] = 0.25, False
    said = policy.TableEvaluator(random_tables(2)).evaluate(batch)
    assert said.priors[:4].tolist() == [0, 0, 0, 0]
    assert said.priors[4:].sum() == pytest.approx(1)
    assert said.values[1] == 0.25 != said.values[0]


def around(position: Position, square: int) -> int:
    """What stands around a square, by the docstring of rollouts.SURROUNDINGS."""
    number = 0
    squares = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if (x, y) != (0, 0)]
    for place, (x, y) in enumerate(squares):
        file, rank = square % 8 + x, square // 8 + y
        if 0 <= file < 8 and 0 <= rank < 8:
            bit = 8 * rank + file
            number += 3**place * ((position.mover >> bit & 1) + 2 * (position.opponent >> bit & 1))
    return number


def test_a_rollout_draws_its_moves_by_their_weights() -> None:
    weights = rollouts.weights_of(
        np.random.default_rng(5).normal(0, 2, (policy.STAGES, rollouts.WEIGHTS)).astype(np.float32)
    )

    def expected(position: Position) -> float:
        if position.over:
            return 0.5 + 0.5 * float(np.sign(position.score))
        moves = position.moves()
        shares = [
            1.0
            if move == PASS
            else float(weights[policy.policy_stage(64 - position.empties), move, around(position, move)])
            for move in moves
        ]
        scores = [1 - expected(position.play(move)) for move in moves]
        return float(np.average(scores, weights=shares))

    for seed in range(5):
        position = random_position(seed, empties=5)
        played = rollouts.table_rollouts(weights, seed)(batch_of([position] * 4000))
        assert float(played.mean()) == pytest.approx(expected(position), abs=0.03)
        assert (rollouts.table_rollouts(weights, seed)(batch_of([position] * 4000)) == played).all()
