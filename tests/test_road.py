"""The way of docs/book.md walked, and the terminal of docs/play.md: what a reader types prints what the page shows."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STEPS = re.findall(
    r"^```\n(python .*)\n```\n(?:\n```text\n([^`]*)```)?",
    (ROOT / "docs" / "book.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
"""Each command with what it shows of its output."""
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
ERROR = 0.15
"""Of a figure: networks that learn come out a little different on every processor."""


def walked(command: str, runs: Path) -> str:
    """What a command prints whose runs are elsewhere."""
    python, *words = shlex.split(command)
    assert python == "python"
    words = [re.sub(r"(^|=)runs/", rf"\1{runs.as_posix()}/", word) for word in words]
    words = [re.sub(r"^bat/(\w+).sh$", rf"'{sys.executable}' -m pydlshogi.usi.usi_\1", word) for word in words]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout + done.stderr


def missing(shown: str, printed: str, error: float) -> Iterator[str]:
    """Lines shown, up to a "...", like which none begins that was printed: the same words, and numbers within a
    relative `error`.
    """
    for line in shown.splitlines():
        words = line.removesuffix("...").split()
        begun = [" ".join(each.split()[: len(words)]) for each in printed.splitlines()]
        alike = [each for each in begun if NUMBER.sub("0", each) == NUMBER.sub("0", " ".join(words))]
        if not any(numbers(each) == pytest.approx(numbers(line), rel=error) for each in alike):
            yield line


def numbers(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(line)]


def test_the_search_on_a_page_prints_its_table() -> None:
    ((command, shown),) = [step for step in STEPS if "examples." in step[0]]
    assert list(missing(shown, walked(command, Path("runs")), 0)) == []


def test_the_terminal_prints_what_the_page_shows() -> None:
    page = (ROOT / "docs" / "play.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```text\n\$ bat/mcts_player\.sh\n(.*?)```", page, re.DOTALL)
    shown = [line for line in block.splitlines() if line.startswith(("readyok", "info string", "bestmove"))]
    typed = "\n".join(re.findall(r"^> (.*)", block, re.MULTILINE))
    command = [sys.executable, "-m", "pydlshogi.usi.usi_mcts_player"]
    done = subprocess.run(command, input=typed, cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(shown) == 5
    assert [line for line in shown if line not in done.stdout.splitlines()] == []


@pytest.mark.long
@pytest.mark.torch
@pytest.mark.timeout(3600)
def test_every_step_prints_what_the_page_shows(tmp_path: Path) -> None:
    assert len(STEPS) == 14
    for command, shown in STEPS:
        printed = walked(command, tmp_path)
        assert list(missing(shown, printed, ERROR)) == [], (command, printed)
