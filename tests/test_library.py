"""pydlshogi as programs in Python use it: what README.md, docstrings and the notebooks of docs/ show is run."""

import doctest
import importlib
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import pydlshogi
from pydlshogi import Engine, analyse, read
from pydlshogi.player.base_player import PlayerError
from pydlshogi.player.options import OptionError

ROOT = Path(__file__).resolve().parent.parent
RECORD = Path(__file__).parent / "fixtures" / "kifu" / "floodgate.csa"
QUICK = partial(Engine, Backend="hash", Threads="1", USI_Hash="4")


def test_a_program_that_forgets_to_close_it_ends() -> None:
    script = "from pydlshogi import Engine; engine = Engine(Backend='hash', Threads=1); engine.ask(visits=3)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_a_position_is_asked_about() -> None:
    with QUICK() as engine:
        answer = engine.ask(["7g7f"], visits=60, lines=600, policy=True)
        assert answer.policy is not None
        assert len(answer.lines) == len(answer.policy) == 30
        assert sum(line.visits or 0 for line in answer.lines) == 60
        assert answer.move == answer.lines[0].pv[0] in answer.policy
        assert engine.ask(game="dobutsu", visits=20).move in {"2c2b", "1d1c", "3d2c", "2d1c", "2d3c"}
        with pytest.raises(PlayerError, match="7g7e is not a legal move"):
            engine.ask(["7g7e"])
        assert engine.ask(start="4k4/9/4P4/9/9/9/9/9/4K4 b G 1").lines[0].score_mate == 1


def test_a_game_that_was_read_is_asked_about() -> None:
    game = read(RECORD)[0]
    with QUICK() as engine:
        whole, written = (engine.ask(moves, visits=5) for moves in (game, game.usi))
        assert (whole.move, whole.lines[0].nodes) == (written.move, written.lines[0].nodes)
        with pytest.raises(PlayerError, match="is no move in USI"):
            engine.ask(game.moves, visits=5)  # type: ignore[arg-type]


def test_a_game_is_analysed_in_its_order_however_many_searches_there_are() -> None:
    game = read(RECORD)[0]
    with QUICK() as one, QUICK(searches=2) as two:
        rates = [[answer.lines and answer.lines[0].win_rate for answer in analyse(e, game, 5)] for e in (one, two)]
    assert rates[0] == rates[1]
    assert len(rates[0]) == len(game.moves) + 1
    with QUICK() as engine:
        answers = analyse(engine, game, 5)
        next(answers)
        answers.close()  # who has heard enough waits for no more
        assert engine.ask(visits=3).lines[0].nodes == 3


def test_what_there_is_not_is_said() -> None:
    with pytest.raises(OptionError, match="Knobs"):
        Engine(Knobs=1)
    with pytest.raises(AttributeError, match="no attribute 'Knobs'"):
        pydlshogi.Knobs  # noqa: B018


def test_the_readme_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.ja.md")]
    codes = [re.findall(r"```python\n(.*?)```", page, re.DOTALL) for page in pages]
    assert codes[0] == codes[1]
    (code,) = codes[0]
    assert len(code.splitlines()) <= 10
    (tmp_path / "game.kif").write_text("P-51OU\nP+53FU59OU00KI\n+\n+0052KI\n%TSUMI\n")  # no line after a mate
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pydlshogi, "Engine", QUICK, raising=False)
    exec(code.replace("200", "3"), {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:]] == ["G*5b", "resign"]


MODULES = "encoding evaluator game library player.ask player.choice player.lines uct.puct uct.search"


@pytest.mark.parametrize("module", MODULES.split())
def test_examples_of_docstrings_run(module: str) -> None:
    done = doctest.testmod(importlib.import_module(f"pydlshogi.{module}"))
    assert done.attempted
    assert not done.failed


NOTEBOOKS = {
    "analysis": {"VISITS": 8},
    "dobutsu": {"CYCLES": 1, "GAMES": 4, "POSITIONS": 16},
    "policy": {"STEPS": 15},
    "search": {},
}
"""Those of docs/, with what makes each of them quicker."""


@pytest.mark.torch
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "name", ["analysis", "search", *(pytest.param(name, marks=pytest.mark.long) for name in ("dobutsu", "policy"))]
)
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    """Its cells one after the other: they draw as many pictures as it keeps, and the search says the same."""
    matplotlib = pytest.importorskip("matplotlib", reason="the notebooks need matplotlib (the extra `train`)")
    pytest.importorskip("torch", reason="needs PyTorch (the extra `train`)")
    matplotlib.use("agg")
    monkeypatch.chdir(ROOT / "docs")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(pydlshogi, "Engine", QUICK, raising=False)
    figures = []
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: figures.append(matplotlib.pyplot.gcf()))
    cells = json.loads(Path(f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            names |= {constant: value for constant, value in NOTEBOOKS[name].items() if constant in names}
    kept = [output for cell in cells for output in cell.get("outputs", [])]
    assert len(figures) == sum("image/png" in output.get("data", {}) for output in kept) > 0
    assert all(axes.has_data() for figure in figures for axes in figure.axes)
    if name == "search":
        assert capsys.readouterr().out == "".join(line for output in kept for line in output.get("text", []))


def test_no_notebook_is_forgotten() -> None:
    assert {path.stem for path in (ROOT / "docs").glob("*.ipynb")} == {*NOTEBOOKS}
