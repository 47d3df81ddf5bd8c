"""The bench: a signature that nothing but the search can change, and a report in lines."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pydlshogi import bench, bench_backends
from pydlshogi.network.backend import Backend, BackendError
from pydlshogi.network.weights import write_weights
from pydlshogi.player.base_player import PlayerError
from pydlshogi.uct.puct import Puct
from pydlshogi.uct.search import Search
from tests.networks import PLAIN, network


def test_the_signature_is_the_same_every_time_and_in_every_process() -> None:
    """Hash seeds and the order of sets differ between processes; the signature does not."""
    here = bench.signature(100)
    assert re.fullmatch("[0-9a-f]{8}", here)
    assert bench.signature(100) == here
    code = "from pydlshogi import bench; print(bench.signature(100))"
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    there = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here


def test_the_signature_changes_with_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    before = bench.signature(100)
    search_from = bench.search_from

    def explores_less(*arguments: object, **how: object) -> Search:
        search = search_from(*arguments, **how)  # type: ignore[arg-type]
        search.puct = Puct(c_init=1.0)
        return search

    monkeypatch.setattr(bench, "search_from", explores_less)
    assert bench.signature(100) != before


def test_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Twelve speeds, a network's name and speeds, and the signature."""
    known = {"signature": lambda: "0123abcd", "available_cores": lambda: 2, "core_speed": lambda *asked: 5678.0}
    for name, made_up in known.items():
        monkeypatch.setattr(bench, name, made_up)
    write_weights(tmp_path / "net.npz", network(PLAIN))
    (tmp_path / "net.json").write_text('{"options": {"Eval_Coef": 600}}')
    words = ["--batch=4", "--threads=1", "--playouts=64", "--seconds=0.01", f"--modelfile={tmp_path / 'net.npz'}"]
    assert bench.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12 + 2 + 1
    one, two = r"+5,678 playouts/s of one core", r"+5,678 playouts/s in 2 threads"
    for line in lines[:12]:
        assert re.fullmatch(rf"(start|middle game|end game) +batch +(1: {one}|(8|32|128): {one}, {two})", line)
    assert lines[12].startswith("net.npz: Winograd on CPU")
    rates = "[0-9,]+ playouts/s, [0-9,]+ positions/s alone, ratio [0-9.]+"
    assert re.fullmatch(f"network +batch +4, 1 thread: +{rates}", lines[13])
    assert lines[14:] == ["signature 0123abcd"]


def test_backends_stand_side_by_side_and_what_is_missing_says_why(tmp_path: Path, monkeypatch, capsys) -> None:
    load = bench_backends.load_backend

    def here(name: str, *given: object, device: str, **how: object) -> Backend:
        if device != "cpu" or name not in ("winograd", "onnx"):
            raise BackendError(f"no {device} for it")
        return load(name, *given, device=device, **how)

    monkeypatch.setattr(bench_backends, "load_backend", here)
    write_weights(tmp_path / "net.npz", network(PLAIN))
    assert bench.main(["backends", "--modelfile", str(tmp_path / "net.npz"), "--threads=1", "--seconds=0.05"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [re.split(r" *\| *", line.strip("| ")) for line in lines[2:4]]
    assert [row[0].split(" on CPU, 1 thread: ")[0].split()[0] for row in rows] == ["Winograd", "ONNX"]
    assert (rows[1][1:3], rows[0][2] < "0.05%") == (["100.0%", "0.00%"], True)
    assert all(float(cell.replace(",", "")) > 0 for row in rows for cell in row[3:])
    assert {len(line.split("|")) for line in lines[:4]} == {11}
    assert "Not measured: torch: no gpu for it" in lines[4:]
    assert "Not measured: torch: no cpu for it" in lines[4:]


def test_two_checkouts_are_compared_by_what_their_benches_print(tmp_path: Path) -> None:
    """They measure 3,000 and 2,000 playouts a second in one thread."""
    for name, speed in (("new", 3000), ("old", 2000)):
        (tmp_path / name / "pydlshogi").mkdir(parents=True)
        (tmp_path / name / "pydlshogi" / "bench.py").write_text(
            f"print('start   batch   1: {speed:8,} playouts/s of one core,  {2 * speed:,} playouts/s in 2 threads')\n"
            "import sys; sys.exit(sys.argv[1:] != ['core'])\n"
        )
    checkouts = tmp_path / "new", tmp_path / "old"
    assert list(bench.compare(["core"], *checkouts)) == [
        *(f"turn {turn} of 5: median 1.50 times" for turn in range(1, 6)),
        "start batch 1, playouts/s of one core: 1.50 times, 1.50 to 1.50",
        "start batch 1, playouts/s in 2 threads: 1.50 times, 1.50 to 1.50",
    ]
    with pytest.raises(PlayerError, match=f"{checkouts[0]}: no reason given"):
        list(bench.compare(["unknown"], *checkouts))
