"""utils.torture: its short rounds, and that it notices what it looks for."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psutil
import pytest
from processes import await_end

from pydlshogi.support.arrays_file import ArraysError
from utils import torture


@pytest.mark.parametrize("part", ["fuzz-policy", "fuzz-gtp", "games"])
def test_short_rounds(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert torture.main([part, "--minutes", "0", "--short"]) == 0, capsys.readouterr().out
    assert f"{part}: 1 rounds" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.torch
def test_all_parts() -> None:
    assert torture.main(["--minutes", "0", "--short"]) == 0


def test_a_failure_is_a_line_that_repeats_it(monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An engine that ends before anybody has said anything."""
    protocol = torture.PROTOCOLS["policy"] | {"module": "this"}
    monkeypatch.setitem(torture.PROTOCOLS, "policy", protocol)
    assert torture.main(["fuzz-policy", "--minutes", "0", "--seed", "7", "--short"]) == 1
    failed, figures = capsys.readouterr().out.splitlines()
    assert failed.startswith("FAILED: python -m utils.torture fuzz-policy --minutes 0 --seed 7 --short: ")
    assert "1 failures" in figures


def test_minutes_are_a_limit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]

    def takes_longer(this: torture.Round) -> Counter[str]:
        assert not this.over
        now[0] += 61
        assert this.over
        return Counter()

    monkeypatch.setattr("utils.torture.time.monotonic", lambda: now[0])
    for part in ("fuzz-policy", "fuzz-gtp"):
        monkeypatch.setitem(torture.ROUNDS, part, takes_longer)
    assert torture.main(["fuzz-policy", "fuzz-gtp", "--minutes", "1"]) == 0
    assert capsys.readouterr().out.splitlines() == ["fuzz-policy: 1 rounds", "fuzz-gtp: "]


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_nothing_it_has_started_outlives_it(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "utils.torture", "clock", "--minutes=0", "--short"]
    with subprocess.Popen(command, cwd=torture.ROOT, env=os.environ | {"TMPDIR": str(tmp_path)}) as process:
        children = list[psutil.Process]()
        while len(children) < 4 and process.poll() is None:  # two engines, two busy loops
            children = psutil.Process(process.pid).children()
        process.send_signal(signal.Signals[name])
    assert process.returncode == (-signal.SIGKILL if name == "SIGKILL" else 130)
    for child in children:
        await_end(child)


def test_damaged_files_of_a_run_are_noticed(tmp_path: Path) -> None:
    journal = tmp_path / "log.jsonl"
    journal.write_text('{"step": 5, "loss": 1.0}\n{"step": 10, "lo')
    assert torture.judge_training(tmp_path, finished=False) == {}
    with pytest.raises(AssertionError, match="ends in"):
        torture.judge_training(tmp_path, finished=True)
    journal.write_text('{"step": 10, "loss": 1.0}\n')
    with pytest.raises(AssertionError, match="were logged"):
        torture.judge_training(tmp_path, finished=False)
    (tmp_path / "00001.npz").write_text("PI\n+\n+77")
    with pytest.raises(ArraysError, match="00001"):
        torture.judge_selfplay(tmp_path, finished=False)
    (tmp_path / "games.jsonl").write_text(json.dumps({"game": 1}) + "\n" + json.dumps({"game": 1}) + "\n")
    with pytest.raises(AssertionError, match="twice"):
        torture.judge_match(tmp_path, finished=False)
