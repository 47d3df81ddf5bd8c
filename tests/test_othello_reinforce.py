"""Games of policies, and what a policy learns from its own."""

from pathlib import Path

import numpy as np
import pytest

from pydlshogi.games.othello.engine import policy
from pydlshogi.games.othello.engine.patterns import DISC, NUMBERS, PARITY, SHIPPED_WEIGHTS, load_weights
from pydlshogi.games.othello.engine.patterns import STAGES as VALUE_STAGES
from pydlshogi.games.othello.engine.policy import STAGES, THROUGH, Tables, describe, load_policy, logit, policy_stage
from pydlshogi.games.othello.rules import PASS, START
from pydlshogi.games.othello.wthor import GAME, Games, games_of
from pydlshogi.support.arrays import Float32Array, Int16Array
from pydlshogi.support.elo import mean_score
from pydlshogi.support.files import shipped_model
from utils.othello import reinforce
from utils.othello.policy_games import RANDOM, SURE, match, play
from utils.othello.reinforce import LEARNER, Settings, add_gradient, learn_round, main

SHIPPED, SCALES = load_policy(shipped_model() / policy.SHIPPED_POLICY)


def random_games(count: int, seed: int = 1) -> Games:
    games = np.zeros(count, GAME)
    play(games, np.zeros((count, 2, 60), np.int8), RANDOM[None], np.random.default_rng(seed))
    return games


def level_patterns(discs: int) -> Int16Array:
    """To these the side to move is always `discs` discs ahead."""
    patterns = np.zeros((VALUE_STAGES, NUMBERS), np.int16)
    patterns[:, PARITY:] = discs * DISC
    return patterns


def test_games_are_legal_and_come_out_as_the_rules_say() -> None:
    rows = random_games(300)
    results = []
    for game in games_of(rows, 2026):
        assert game.end.over
        assert game.end.lead == game.result
        results.append(game.result)
    assert len(set(results)) > 30
    assert (rows["theoretical"] == rows["score"]).all()
    assert any(PASS in game.moves for game in games_of(rows, 2026))


def objective(games: Games, weights: Float32Array, expected: float) -> float:
    """What the gradient is one of, for White: the advantage of each of its moves times the logarithm of its share."""
    total, moves = 0.0, policy.room_for_moves()
    for game in games_of(games, 2026):
        position = START
        for played in game.moves:
            legal = position.moves()
            if len(legal) > 1 and not position.black_to_move:
                mover, opponent = np.uint64(position.mover), np.uint64(position.opponent)
                squares = np.uint64(sum(1 << square for square in legal))
                number = describe(mover, opponent, squares, THROUGH, moves)
                own = weights[policy_stage(64 - position.empties)]
                logits = np.array([logit(own, moves, move) for move in range(number)], float)
                share = logits[legal.index(played)] - np.log(np.exp(logits).sum())
                total += (-np.sign(game.end.lead) - expected) * share
            position = position.play(played)
    return total


def test_the_gradient_is_that_of_small_steps() -> None:
    """An advantage is -1 to 1 less 2 / (1 + 1/e) - 1: the patterns see everybody as far ahead as the scales are."""
    rng = np.random.default_rng(1)
    weights, step = (rng.normal(0, size, (STAGES, policy.WEIGHTS)).astype(np.float32) for size in (0.1, 0.01))
    games, gradient, choices = random_games(20), np.zeros_like(weights), np.zeros(2)
    plan = np.zeros((20, 2, 60), np.int8)
    plan[:, 1] = LEARNER
    tables = Tables(weights, np.full(VALUE_STAGES, 5, np.float32), level_patterns(5))
    add_gradient(games, plan, tables, gradient, choices, policy.room_for_moves())
    rise = objective(games, weights + step, np.tanh(0.5)) - objective(games, weights - step, np.tanh(0.5))
    assert (gradient * step).sum(dtype=float) == pytest.approx(rise / 2, rel=1e-2)
    assert 500 < choices[0] < 600
    assert 1 < choices[1] / choices[0] < 2


def test_from_nothing_it_learns_to_beat_random_moves() -> None:
    """In 800 games, as its likeliest moves show."""
    tables = Tables(RANDOM.copy(), SCALES, load_weights(shipped_model() / SHIPPED_WEIGHTS))
    line = learn_round(tables, RANDOM[None], Settings(batch=20, batches=40, rate=0.001), np.random.default_rng(1))
    assert line.endswith(" nats a move")
    assert mean_score(match(SURE * tables.policy, RANDOM, 300, np.random.default_rng(2))) > 0.65


def test_broken_off_and_gone_on_with_is_run_through(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(reinforce, "Settings", lambda: Settings(batch=4, batches=2, pool=2))
    through, broken = tmp_path / "through.npz", tmp_path / "broken.npz"
    assert main(["--out", str(through), "--games", "24", "--pairs", "20"]) == 0
    whole = capsys.readouterr().out.splitlines()
    for games in ("8", "24"):
        assert main(["--out", str(broken), "--games", games, "--pairs", "20"]) == 0
    parts = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in whole] == ["8 games", "16 games", "24 games", "by their shares"]
    assert [parts[0], *parts[2:]] == whole
    assert np.array_equal(load_policy(through)[0], load_policy(broken)[0])
    assert not np.array_equal(load_policy(through)[0], SHIPPED)
    assert main(["--out", str(broken), "--policy", str(through)]) == 1
    assert "broken.checkpoint.npz is of policy" in capsys.readouterr().err
