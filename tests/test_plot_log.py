"""The picture of a training run: from a small journal, and clear words for what is no journal."""

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="needs matplotlib (the extra `train`)")

from utils.plot_log import main, read_log

STEP = {"step": 10, "positions": 640, "loss": 8.0, "policy_loss": 7.4, "value_loss": 0.6, "policy_accuracy": 0.1}
STEP |= {"value_accuracy": 0.6}
FIGURES = {"policy_loss": 7.3, "value_loss": 0.6, "top1": 0.1, "top5": 0.3, "value_accuracy": None}
VALIDATION = {"step": 10, "validation": FIGURES}


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_run_is_drawn_also_at_its_beginning(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", STEP, VALIDATION, STEP | {"step": 20, "positions": 1280})
    assert main([str(tmp_path)]) == 0
    assert (tmp_path / "log.png").read_bytes().startswith(b"\x89PNG")
    log = write(tmp_path / "log.jsonl", STEP)
    log.write_text(log.read_text() + '{"step": 20, "lo')
    assert [len(lines) for lines in read_log(log)] == [1, 0]
    assert main([str(log), str(tmp_path / "x.png")]) == 0
    assert (tmp_path / "x.png").exists()


def test_the_run_of_a_cycle_is_drawn(tmp_path: Path) -> None:
    line = {"step": 1, "games": 512, "draws": 0.1, "first_wins": 0.5, "exact": 0.1}
    line |= {"play": 4.0, "learn": 1.0, "compare": 0.0, "loss": 4.0, "policy_loss": 3.4, "value_loss": 0.6}
    unmeasured = line | {"loss": None, "policy_loss": None, "value_loss": None}
    compared = line | {"step": 2, "compare": 3.0, "elo": 0.0}
    anchored = compared | {"step": 3, "elo": 60.0, "anchor": {"against": 2, "elo": 80.0, "counts": [0, 2, 4, 6, 4]}}
    all_won = anchored | {"step": 4, "anchor": {"against": 2, "elo": 1200.0, "counts": [0, 0, 0, 0, 9]}}
    write(tmp_path / "log.jsonl", line, unmeasured, compared, anchored, all_won)
    assert main([str(tmp_path)]) == 0
    assert (tmp_path / "log.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "text", ["", "x\n{}\n", "5\n", "[" * 100_000 + "\n", '{"loss": 1}\n', json.dumps(STEP | {"step": 0}) + "\n"]
)
def test_what_is_no_journal_is_one_line(tmp_path: Path, capsys, text: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(text)
    assert main([str(log)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"plot_log: {log} is no journal of a run: ")
    assert error.count("\n") == 1
    assert not (tmp_path / "log.png").exists()
