"""The bench: a signature that nothing but the search can change, and a report in lines."""

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pydlshogi import bench
from pydlshogi.evaluator import HashEvaluator
from pydlshogi.games.shogi import ShogiPosition
from pydlshogi.uct.search import MoveStats, Puct, Search


def test_the_signature_is_the_same_every_time_and_in_every_process() -> None:
    """Hash seeds and the order of sets differ between processes; the signature does not."""
    here = bench.signature(100)
    assert re.fullmatch("[0-9a-f]{8}", here)
    assert bench.signature(100) == here
    code = "from pydlshogi import bench; print(bench.signature(100))"
    for hash_seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert there.stdout.strip() == here


def test_the_signature_changes_with_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    before = bench.signature(100)
    original = Search.__init__
    monkeypatch.setattr(Search, "__init__", lambda self, table: original(self, table, Puct(c_init=1.0)))
    assert bench.signature(100) != before


def test_the_signature_changes_with_a_single_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    before = bench.signature(100)
    original = Search.root_moves

    def one_visit_more(search: Search) -> list[MoveStats]:
        best, *others = original(search)
        return [best._replace(visits=best.visits + 1), *others]

    monkeypatch.setattr(Search, "root_moves", one_visit_more)
    assert bench.signature(100) != before


def test_a_bench_search_makes_the_playouts_asked_for() -> None:
    search, seconds = bench.search_for(bench.MIDDLE_GAME, HashEvaluator(), 200, 16)
    assert 200 <= search.playouts < 216
    assert seconds > 0


def test_the_positions_are_positions() -> None:
    for sfen in bench.POSITIONS.values():
        assert ShogiPosition(sfen).outcome() is None


def test_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine speeds, a network's two, and the signature in the last line."""

    class Backend:
        description = "a backend of the test"
        on_gpu = False

        def infer(self, planes: Any) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros((len(planes), 2187), np.float32), np.zeros(len(planes), np.float32)

    monkeypatch.setattr(bench, "load_backend", lambda *_, **__: Backend())
    monkeypatch.setattr(bench, "signature", lambda: "0123abcd")
    *speeds, description, network, last = bench.report(64, "model.npz", 4, 0.01)
    assert len(speeds) == 9
    for line in speeds:
        assert re.fullmatch(r"(start|middle game|end game) +batch +(1|8|32): +[0-9,]+ playouts/s", line)
    assert description == "a backend of the test"
    assert re.fullmatch(r"network +batch +4: +[0-9,]+ playouts/s, [0-9,]+ positions/s alone, ratio [0-9.]+", network)
    assert last == "signature 0123abcd"


def test_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "core_speed", lambda sfen, playouts, batch: 1000.0 * playouts)
    monkeypatch.setattr(bench, "signature", lambda: "0123abcd")
    assert bench.main(["--playouts", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "start        batch   1:    7,000 playouts/s"
    assert lines[-1] == "signature 0123abcd"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--modelfile", "/no.npz"], "bench: /no.npz: No such file or directory"),
        (["--modelfile", "/no.npz", "--backend", "foo"], "bench: "),
    ],
)
def test_a_network_that_is_not_there_is_one_line_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert bench.main(words) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert re.fullmatch(f"{complaint}.*\n", output.err)


@pytest.mark.parametrize("words", [["--playouts", "0"], ["--batch", "0"], ["--seconds", "nan"]])
def test_nothing_cannot_be_measured(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        bench.main(words)
    assert "--playouts, --batch and --seconds are above 0" in capsys.readouterr().err
