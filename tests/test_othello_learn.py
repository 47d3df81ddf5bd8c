"""Weights of patterns are found again, as a command too; policies, and what shallow searches say of deep ones."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game, random_position, random_weights
from test_othello_mcts import ask, prepared

from pydlshogi.games.othello.engine.patterns import CLASSES, DISC, STAGES
from pydlshogi.games.othello.rules import PASS, START
from pydlshogi.games.othello.wthor import Archive, Games, held_out, rows_of, write_wthor
from pydlshogi.player.clock import Limits
from utils.lab.othello_learn import classes_of, fit, main, positions_of, sums


@cache
def games() -> Games:
    return rows_of(random_game(seed) for seed in range(1000))


def archive(count: int, depth: int = 0) -> Archive:
    """Random games, of which the file says that play is perfect from `depth` empty squares on."""
    return Archive(games()[:count].copy(), np.full(count, depth, np.uint8))


@pytest.mark.parametrize("stage", [2, 7, 14])
def test_all_positions_of_a_stage_in_which_somebody_can_play(stage: int) -> None:
    expected = []
    for number in range(100):
        game, position = random_game(number), START
        for move in game.moves:
            if (60 - position.empties) // 4 == stage and move != PASS:
                lead = game.result if position.black_to_move else -game.result
                expected.append((position.mover, position.opponent, lead, number))
            position = position.play(move)
    found = positions_of(archive(100), stage)
    assert found[["mover", "opponent", "lead", "game"]].tolist() == expected


def test_weights_are_found_again() -> None:
    """Values that are sums of weights can be predicted from other positions of the same weights."""
    weights = random_weights(1)[9, np.unique(CLASSES)].astype(np.float32) / DISC
    games = archive(1000)
    found = positions_of(games, 9)
    classes = classes_of(found)
    test = held_out(games.games)[found["game"]]
    values = sums(classes, weights)
    fitted = fit(classes[~test], values[~test], ridge=0.01, steps=60)
    error = sums(classes[test], fitted) - values[test]
    assert np.sqrt(np.mean(error**2)) < 0.8 * values.std()
    seen = sums(classes[~test], fitted) - values[~test]
    assert np.sqrt(np.mean(seen**2)) < 0.1 * values.std()


def win_rate(**settings: str) -> float | None:
    """What IaGo thinks of a position."""
    player = prepared(Threads="1", IaGo="true", **settings)
    return ask(player, random_position(3, 30), Limits(nodes=100))[1][0].win_rate


def games_file(path: Path, seeds: range) -> Path:
    write_wthor(path, rows_of(random_game(seed) for seed in seeds), 2020, 24)
    return path


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, out = games_file(tmp_path / "games.wtb", range(100)), tmp_path / "weights.npz"
    assert main(["patterns", str(games), "--out", str(out)]) == 0
    assert capsys.readouterr().out.count("empty squares:") == STAGES
    assert win_rate(Weights=str(out)) != win_rate()


@pytest.mark.parametrize(("kind", "option"), [("policy", "Policy"), ("rollouts", "Rollouts_File")])
def test_what_was_played_becomes_likely(kind: str, option: str, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.npz"
    assert main([kind, str(games_file(tmp_path / "games.wtb", range(3))), "--out", str(out), "--epochs", "3"]) == 0
    shares = re.findall(r"epoch \d+: of the games learned ([\d.]+) % of \d+ moves", capsys.readouterr().out)
    assert float(shares[0]) < float(shares[2])
    assert win_rate(**{option: str(out)}) != win_rate()
