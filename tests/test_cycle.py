"""The cycle as its user sees it: a command, a folder, and what is in it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pydlshogi.games.catalogue import game_named
from pydlshogi.learning.played import Played
from pydlshogi.network.weights import architecture_of, read_weights

pytest.importorskip("torch")
cycle = pytest.importorskip("pydlshogi.cycle")

TINY = [
    *(
        "--depth",
        "1",
        "--channels",
        "8",
        "--games",
        "6",
        "--playouts",
        "6",
        "--cheap-playouts",
        "3",
        "--draw-ply",
        "24",
    ),
    *("--batch-size", "16", "--sets", "2", "--compare-every", "2", "--compare-games", "4", "--compare-playouts", "4"),
    *("--precision", "float32", "--shards", "1", "--workers", "1"),
]


def lines(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few cycles."""
    folder = tmp_path_factory.mktemp("cycle") / "run"
    assert cycle.main(["dobutsu", "--out", str(folder), "--minutes", "0.08", *TINY]) == 0
    return folder


def test_a_run_leaves_a_network_its_games_and_a_journal(run: Path) -> None:
    size = architecture_of(read_weights(run / "net.npz"))
    assert (size.kind, size.depth, size.channels) == ("policy_value_dense", 1, 8)
    journal = lines(run)
    assert [line["step"] for line in journal] == list(range(1, len(journal) + 1))
    sets = [Played.read(path) for path in sorted((run / "games").glob("*.npz"))]
    assert len(sets) == 2 * len(journal)
    assert sum(len(each) for each in sets) == sum(line["positions"] for line in journal)
    assert all(np.isfinite(line["policy_loss"]) for line in journal)


def test_the_same_command_goes_on(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = len(lines(run))
    anew = ["--reanalyse", "2", "--gumbel", "3"]
    minutes = sum(line["play"] + line["learn"] + line["compare"] for line in lines(run)) / 60
    assert cycle.main(["dobutsu", "--out", str(run), "--minutes", f"{minutes + 0.05}", *anew]) == 0
    journal = lines(run)
    assert len(journal) > before
    assert [line["step"] for line in journal] == list(range(1, len(journal) + 1))
    assert f"cycle {before + 1}: 12 games" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["go", "--out", "{new}"], "no game is called go; there are dobutsu, shogi"),
        (["shogi", "--out", "{run}"], "{run} is a run of dobutsu, not of shogi"),
        (["dobutsu", "--out", "{run}", "--channels", "16"], "{run} is a run with --channels 8: give another --out"),
        (["dobutsu", "--out", "{new}", "--playouts", "0"], "--playouts must be at least 1"),
        (["dobutsu", "--out", "{new}", "--init", "{new}/no.npz"], "{new}/no.npz: No such file or directory"),
        (["dobutsu", "--out", "{run}/net.npz"], "{run}/net.npz: File exists"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: list[str], message: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(lines(run))
    names = {"run": str(run), "new": str(tmp_path / "new")}
    assert cycle.main([argument.format(**names) for argument in arguments]) == 1
    assert message.format(**names) in capsys.readouterr().err
    assert len(lines(run)) == before


def test_a_run_is_not_learned_by_two(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pydlshogi.support.files import reserved

    with reserved(run):
        assert cycle.main(["dobutsu", "--out", str(run)]) == 1
    assert f"{run} is in use by another process" in capsys.readouterr().err


@pytest.mark.long
def test_killed_at_any_moment_it_goes_on(tmp_path: Path) -> None:
    """kill -9 of the whole program at random moments: every set of games is there once, whole and counted once."""
    folder, lot = tmp_path / "run", random.Random(4)
    command = [sys.executable, "-m", "pydlshogi.cycle", "dobutsu", "--out", str(folder), "--minutes", "100", *TINY]
    for _ in range(20):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        time.sleep(lot.uniform(4, 14))  # the moment is the point
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    command[command.index("100")] = "0.001"
    assert subprocess.run(command, check=False).returncode == 0
    journal = lines(folder)
    assert [line["step"] for line in journal] == list(range(1, len(journal) + 1))
    for line in journal:
        sets = [Played.read(path) for path in (folder / "games").glob(f"{int(line['step']) - 1:05}-*.npz")]
        assert sum(len(each) for each in sets) == line["positions"]
    assert read_weights(folder / "net.npz")


@pytest.mark.long
@pytest.mark.parametrize("game", ["shogi", "dobutsu"])
def test_ten_minutes(game: str, tmp_path: Path) -> None:
    """With the settings of the game."""
    start = ["--init", "model/pydlshogi.npz"] if game == "shogi" else []
    assert cycle.main([game, "--out", str(tmp_path), "--minutes", "10", *start]) == 0
    assert architecture_of(read_weights(tmp_path / "net.npz")).labels >= game_named(game).encoding.labels
