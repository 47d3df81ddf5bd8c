"""The cycle as its user sees it: a command, a folder, and what is in it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from pool_tasks import await_end

from pydlshogi import cycle
from pydlshogi.catalogue import GAMES, game_named
from pydlshogi.entry import Exam
from pydlshogi.games.shogi.encodings import HISTORY
from pydlshogi.learning.played import PlayedGames
from pydlshogi.network.sparse import is_sparse
from pydlshogi.network.weights import architecture_of, read_weights
from pydlshogi.support.pool import ProcessPool

torch = pytest.importorskip("torch")
learner = pytest.importorskip("pydlshogi.learning.learner")
from pydlshogi.training.run import read_checkpoint  # noqa: E402

pytestmark = pytest.mark.lent_worker(cycle)

TINY = (
    "--depth 1 --channels 8 --games 6 --playouts 6 --cheap-playouts 3 --draw-ply 24 --batch-size 16 --sets 2 "
    "--compare-every 2 --compare-games 4 --compare-playouts 4 --precision float32 --shards 1 --workers 1"
).split()


def lines(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def taken(run: Path) -> float:
    """Minutes."""
    return sum(line["play"] + line["learn"] + line["compare"] for line in lines(run)) / 60


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few cycles, of which the second is the first that was compared."""
    folder = tmp_path_factory.mktemp("cycle") / "run"
    assert cycle.main(["dobutsu", "--out", str(folder), "--minutes", "0.01", *TINY]) == 0
    while len(lines(folder)) < 2:
        one_more_cycle(folder)
    return folder


def test_a_run_leaves_a_network_its_games_and_a_journal(run: Path) -> None:
    size = architecture_of(read_weights(run / "net.npz"))
    assert (size.kind, size.depth, size.channels) == ("policy_value_dense", 1, 8)
    journal = lines(run)
    assert [line["step"] for line in journal] == list(range(1, len(journal) + 1))
    sets = [PlayedGames.read(path) for path in sorted((run / "games").glob("*.npz"))]
    assert len(sets) == 2 * len(journal)
    assert sum(len(each) for each in sets) == sum(line["positions"] for line in journal)
    assert all(np.isfinite(line["policy_loss"]) for line in journal)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("go --out {new}", "no game is called go; there are "),
        ("os:path --out {new}", "cycle: os:path is no game"),
        ("dobutsu --out {new} --opening-plies 1e9", "--opening-plies must be at least 0 and at most 1000"),
        ("shogi --out {run}", "{run} is a run of dobutsu, not of shogi"),
        ("dobutsu --out {run} --encoding planes", "{run} is a run with --encoding dobutsu: give another --out"),
        ("dobutsu --out {other}", "{other} holds log.jsonl of something else: give another --out"),
        ("dobutsu --out {run} --channels 16", "{run} is a run with --channels 8: give another --out"),
        ("dobutsu --out {run} --init {run}/net.npz", "{run} is a run with --init '': give another --out"),
        ("dobutsu --out {new} --playouts 0", "--playouts must be at least 1"),
        ("dobutsu --out {new} --draw-ply 9999999999", "--draw-ply must be at least 0 and at most 1e+09"),
        ("shogi --out {new} --encoding planes", "--encoding planes, but with book, dlshogi, history"),
        ("dobutsu --out {new} --init {new}/no.npz", "{new}/no.npz: No such file or directory"),
        ("dobutsu --out {new} --channels 4 --depth 1 --init {run}/net.npz", "does not grow into"),
        ("dobutsu --out {run} --speedrun", "--speedrun begins anew: give another --out"),
        ("othello --out {new} --speedrun", "--speedrun: othello has no exam"),
        ("dobutsu --out {run}/net.npz", "{run}/net.npz: File exists"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_and_leaves_nothing(
    arguments: str, message: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(lines(run))
    names = {"run": str(run), "new": str(tmp_path / "new"), "other": str(tmp_path)}
    (tmp_path / "log.jsonl").write_text("{}\n")
    assert cycle.main(arguments.format(**names).split()) == 1
    error = capsys.readouterr().err
    assert message.format(**names) in error
    assert error.count("\n") == 1
    assert len(lines(run)) == before
    assert not list((tmp_path / "new").glob("*"))


def test_what_a_cycle_did_not_measure_is_no_number(run: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("pydlshogi.training.journal.EVERY", 0.001)
    line = one_more_cycle(copied(run, tmp_path), "--full-share", "0")
    assert (line["positions"], line["exact"]) == (0, 0)
    assert line["policy_loss"] is line["false_resignations"] is None
    said = capsys.readouterr().out
    assert " new; too few positions for a step; " in said
    assert ": playing 2 sets of 6 games\n" in said, "while nothing else is said"


def test_a_run_without_its_checkpoint_or_with_another_is_not_begun_anew(run: Path, tmp_path: Path, capsys) -> None:
    again = copied(run, tmp_path)
    (again / "checkpoint.pt").unlink()
    for kept, gone in (("net.npz", "networks/00002.npz"), ("networks/00002.npz", "net.npz")):
        (again / kept).touch()
        (again / gone).unlink(missing_ok=True)
        assert cycle.main(["dobutsu", "--out", str(again), *TINY]) == 1
        assert f"{again / 'checkpoint.pt'} is missing" in capsys.readouterr().err
        assert lines(again) == lines(run)
    again = copied(run, tmp_path / "another")
    for of_another in ({"net": {}}, {"kept": {"logged": 0}}):
        torch.save(read_checkpoint(run / "checkpoint.pt") | of_another, again / "checkpoint.pt")
        assert cycle.main(["dobutsu", "--out", str(again), *TINY]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "cycle: the checkpoint does not fit this program: " in line


def test_a_speedrun_ends_when_the_exam_is_passed(tmp_path: Path, capsys, monkeypatch) -> None:
    shares = [0.991, 0.989]
    monkeypatch.setattr("pydlshogi.games.dobutsu.critical.exam", lambda: Exam([], 64, 1.0, 0.99))
    monkeypatch.setattr("pydlshogi.learning.learner.value_keeping", lambda *_: shares.pop())
    words = ["dobutsu", "--out", str(tmp_path), *TINY, "--compare-every", "1"]
    assert cycle.main([*words, "--speedrun"]) == 0
    assert [line["kept"] for line in lines(tmp_path)] == [0.989, 0.991]
    assert re.search(r"^the exam is passed \d+\.\d minutes after the command$", capsys.readouterr().out, re.MULTILINE)


def copied(run: Path, folder: Path) -> Path:
    return Path(shutil.copytree(run, folder / "run"))


def one_more_cycle(run: Path, *options: str) -> dict[str, Any]:
    before = len(lines(run))
    assert cycle.main(["dobutsu", "--out", str(run), "--minutes", f"{taken(run) + 1e-6}", *options]) == 0
    assert len(lines(run)) == before + 1
    return lines(run)[-1]


@pytest.fixture(scope="module")
def compared(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two more cycles of a run, both compared, by two workers."""
    again = copied(run, tmp_path_factory.mktemp("compared"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProcessPool, "size", lambda _: 2)
        for _ in range(2):
            one_more_cycle(again, "--compare-every", "1", "--compare-games", "6", "--weight-decay", "0.5")
    return again


def test_a_run_that_goes_on_is_compared_and_learned_as_is_asked_now(compared: Path) -> None:
    line = lines(compared)[-1]
    assert line["last"]["against"] == line["step"] - 1
    assert line["anchor"]["against"] == 2  # the first that was compared
    optimisers = read_checkpoint(compared / "checkpoint.pt")["optimisers"]
    assert {group["weight_decay"] for each in optimisers for group in each["param_groups"]} == {0.0, 0.5}
    assert [sum(line["last"]["counts"]) for line in lines(compared)[-2:]] == [3, 3]  # by however many workers


def test_a_run_sees_the_game_as_asked_or_as_its_first_network_does(tmp_path: Path) -> None:
    asked, begun = tmp_path / "asked", tmp_path / "begun"
    size, rest = TINY[:4], TINY[4:]
    of_a_kind = [*size, "--kind", "policy_value_dense", "--encoding", "history"]
    for run, first in ((asked, of_a_kind), (begun, ["--init", str(asked / "net.npz")])):
        short = [*rest, "--games", "2", "--draw-ply", "8"]
        assert cycle.main(["shogi", "--out", str(run), "--minutes", "0.01", *short, *first]) == 0
        network = architecture_of(read_weights(run / "net.npz"))
        assert (network.planes, str(network)) == (HISTORY.planes, "policy_value_dense 1x8")
    begun_with, minutes = len(lines(begun)), f"{taken(begun) + 1e-6}"
    assert cycle.main(["shogi", "--out", str(begun), "--minutes", minutes, "--encoding", "history"]) == 0
    assert len(lines(begun)) == begun_with + 1


def test_a_sparse_network_learns_how_all_legal_moves_compare(tmp_path: Path) -> None:
    run, begun = tmp_path / "run", tmp_path / "begun"
    for out, size in (
        (run, ["--kind", "sparse", "--value-width", "16", "--policy-width", "8"]),
        (begun, ["--init", str(run / "net.npz")]),
    ):
        assert cycle.main(["dobutsu", "--out", str(out), *size, *TINY, "--minutes", "0.01"]) == 0
    one_more_cycle(begun)
    for path in [*(run / "games").glob("*.npz"), *(begun / "games").glob("*.npz")]:
        played = PlayedGames.read(path)
        moves = played.games()
        for game, ply, labels in zip(played.game, played.plies, np.diff(played.firsts), strict=True):
            position = GAMES["dobutsu"].position()
            for move in moves[game][:ply]:
                position.push(move)
            assert labels == len(position.legal_moves())
    assert {is_sparse(folder / "net.npz") for folder in (run, begun)} == {True}
    assert np.isfinite(lines(begun)[-1]["policy_loss"])


def test_the_same_command_goes_on_but_not_twice_at_once(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pydlshogi.support.files import reserved

    with reserved(run):
        assert cycle.main(["dobutsu", "--out", str(run)]) == 1
    assert f"{run} is in use by another process" in capsys.readouterr().err
    one_more_cycle(run)
    journal = lines(run)
    assert [line["step"] for line in journal] == list(range(1, len(journal) + 1))
    assert f"cycle {len(journal)}: 12 games" in capsys.readouterr().out


def whole(folder: Path) -> list[dict[str, Any]]:
    """The journal of a run, of which every set of games is there once, whole and counted once."""
    journal = lines(folder)
    assert [line["step"] for line in journal] == list(range(1, len(journal) + 1))
    for line in journal:
        sets = [PlayedGames.read(path) for path in (folder / "games").glob(f"{int(line['step']) - 1:05}-*.npz")]
        assert len(sets) == 2
        assert sum(len(each) for each in sets) == line["positions"]
        assert sum(len(each.lengths) for each in sets) == line["games"]
    return journal


def test_when_killed_it_leaves_no_worker_and_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pydlshogi.cycle", "dobutsu", "--out", str(tmp_path), "--minutes", "100", *TINY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        next(line for line in process.stdout if re.match(r"cycle 2: \d+ games", line))
        started = psutil.Process(process.pid).children(recursive=True)
        assert sum("spawn_main" in " ".join(each.cmdline()) for each in started) == 1
        process.kill()
    for each in started:
        await_end(each)
    again = f"{taken(tmp_path) + 1e-6}"
    assert cycle.main(["dobutsu", "--out", str(tmp_path), "--minutes", again]) == 0
    assert len(whole(tmp_path)) > 2
    assert read_weights(tmp_path / "net.npz")


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("game", GAMES)
def test_ten_minutes(game: str, tmp_path: Path) -> None:
    """With the settings of the game."""
    start = ["--init", "model/pydlshogi.npz"] if game == "shogi" else []
    assert cycle.main([game, "--out", str(tmp_path), "--minutes", "10", *start]) == 0
    assert architecture_of(read_weights(tmp_path / "net.npz")).labels >= game_named(game).encoding.labels
