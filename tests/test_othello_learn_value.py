"""A value from games of policies."""

from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game

from pydlshogi.games.othello.engine.patterns import STAGES, load_weights
from pydlshogi.games.othello.engine.policy import SHIPPED_POLICY, load_policy
from pydlshogi.games.othello.rules import PASS, START, STATE
from pydlshogi.games.othello.wthor import games_of, rows_of, write_wthor
from pydlshogi.support.files import shipped_model
from utils.othello.learn import classes_of, sums
from utils.othello.learn_value import examples, main, play_from_random_moves, regression
from utils.othello.policy_games import RANDOM, SURE


def test_one_position_of_each_game_that_lasts_so_long() -> None:
    games, rng = [random_game(seed) for seed in range(200)], np.random.default_rng(1)
    plies = rng.integers(1, 60, size=200)
    states, results = [], []
    for game, ply in zip(games, plies, strict=True):
        position = START
        for move in game.moves:
            if position.empties == 60 - ply and move != PASS and ply // 4 == 13:
                lead = game.end.lead if position.black_to_move else -game.end.lead
                states.append((position.mover, position.opponent))
                results.append(0.5 + 0.5 * np.sign(lead))
            position = position.play(move)
    classes, found = examples(rows_of(games), plies, 13)
    assert 5 < len(found) == len(results)
    assert found.tolist() == results
    assert np.array_equal(classes, classes_of(np.array(states, STATE)))


def test_before_the_random_move_plays_one_policy_and_after_it_the_other() -> None:
    """The four first moves are alike; after one of them the second is the likeliest, if it is not the random one."""
    policy, _ = load_policy(shipped_model() / SHIPPED_POLICY)
    games, plies = play_from_random_moves(SURE * policy, RANDOM, 1000, 1)
    assert set(plies) == set(range(1, 60))
    assert all(game.end.lead == game.result for game in games_of(games, 2026))
    first = games["moves"][:, 0] == 56
    seconds = [set(games["moves"][first & when, 1]) for when in (plies < 3, plies > 2)]
    assert [len(each) for each in seconds] == [3, 1]


def test_the_regression_predicts_how_often_each_position_is_won() -> None:
    """Two positions that share nothing, of which one is won three times in four and the other once in five."""
    classes = np.repeat(np.arange(94, dtype=np.int32).reshape(2, 47), 10_000, axis=0)
    results = np.concatenate([np.arange(10_000) % 4 > 0, np.arange(10_000) % 5 == 0]).astype(np.float32)
    logits = sums(classes[[0, -1]], regression(classes, results))
    assert logits == pytest.approx([np.log(3), -np.log(4)], abs=0.02)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_wthor(tmp_path / "games.wtb", rows_of(random_game(seed) for seed in range(100)), 2020, 24)
    policy, out = str(shipped_model() / SHIPPED_POLICY), tmp_path / "value.npz"
    command = [str(tmp_path / "games.wtb"), "--reinforced", policy, "--out", str(out)]
    assert main([*command, "--count", "1000"]) == 0
    own, engine = capsys.readouterr().out.splitlines()
    assert own.startswith("winner predicted, by four plies, this value: ")
    assert len(own.split(": ")[1].split()) == len(engine.split(": ")[1].split()) == STAGES
    assert load_weights(out).any(axis=1).all()
    out.unlink()
    for wrong, said in (("none", "No such file"), ("othello_patterns.npz", "holds no policy")):
        command[2] = str(shipped_model() / wrong)
        assert main(command) == 1
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([*command, "--count", "0"])
    assert not out.exists()
