"""Policies learned from games, as a command."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game

from pydlshogi.games.othello.engine import policy, rollouts
from pydlshogi.games.othello.engine.patterns import STAGES
from pydlshogi.games.othello.wthor import rows_of, write_wthor
from utils.othello.learn_policy import KINDS, main


def games_file(path: Path, seeds: range) -> Path:
    write_wthor(path, rows_of(random_game(seed) for seed in seeds), 2020, 24)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_played_becomes_likely_and_the_command_goes_on(kind: str, tmp_path: Path, capsys) -> None:
    games, out = str(games_file(tmp_path / "games.wtb", range(3))), tmp_path / "out.npz"
    shares, line = [], r"epoch (\d+): of the games learned ([\d.]+) % of (\d+) moves"
    for epochs in ("1", "3"):
        assert main([kind, games, "--out", str(out), "--epochs", epochs]) == 0
        shares.append(re.findall(line, capsys.readouterr().out))
    assert [[epoch for epoch, _, _ in each] for each in shares] == [["1"], ["2", "3"]]
    first, last = float(shares[0][0][1]), float(shares[1][-1][1])
    assert last > first
    if kind == "policy":
        weights, scales = policy.load_policy(out)
        assert weights.shape == (policy.STAGES, policy.WEIGHTS)
        assert (scales > 0).all()
    else:
        assert (rollouts.load_rollouts(out) > 0).all()


def test_a_checkpoint_of_another_run_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, others = (str(games_file(tmp_path / f"{seed}.wtb", range(seed, seed + 2))) for seed in range(2))
    command = ["--out", str(tmp_path / "out.npz"), "--epochs", "1"]
    checkpoint = tmp_path / "out.checkpoint.npz"
    assert main(["rollouts", games, *command]) == 0
    made = checkpoint.read_bytes()
    capsys.readouterr()
    for wrong in (["policy", games], ["rollouts", others], ["rollouts", games, "--seed", "2"]):
        assert main([*wrong, *command]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"learn_policy: {checkpoint} is of rollouts, games ")
        assert said.endswith("choose another --out\n")
        assert said.count("\n") == 1
    assert checkpoint.read_bytes() == made
    checkpoint.write_bytes(made[: len(made) // 2])
    assert main(["rollouts", games, *command]) == 1
    assert "holds no run of learning" in capsys.readouterr().err


@pytest.mark.parametrize("load", [policy.load_policy, rollouts.load_rollouts])
def test_other_files_are_refused(load: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "file.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="holds no"):
        load(path)
    logits, weights = (np.full((policy.STAGES, each.WEIGHTS), "x") for each in (rollouts, policy))
    for arrays in ({"logits": np.zeros(3), "weights": np.zeros(3)}, {"logits": logits, "weights": weights}):
        np.savez(path, **arrays, steps=np.ones(policy.STAGES), scales=np.ones(STAGES))
        with pytest.raises(ValueError, match="not"):
            load(path)
