"""Options are tuned by games of an engine against itself, and nothing that was played is lost."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from utils import tune as tune_program
from utils.tune import Spsa, Tuned, main

pytestmark = pytest.mark.lent_worker(tune_program)

ROOT = Path(__file__).resolve().parent.parent
SPSA = Spsa((Tuned("x", 20, 0, 100), Tuned("y", 90, 50, 100)), 1000, 0.1, 0.03, 1)


def engine(*words: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", str(ROOT / "tests" / "fake_tuned_engine.py"), *words])


def tune(out: Path, *words: str, command: str = "", pairs: int = 30) -> int:
    fixed = ["--time=60000", "--workers=1", f"--pairs={pairs}", f"--out={out}"]
    return main([command or engine(), *fixed, *(words or ["Stamina=1,0,5", "--step=0.2", "--rate=0.5"])])


def pairs_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "pairs.jsonl").read_text().splitlines()]


# SPSA


def test_a_won_pair_moves_every_value_by_its_share_of_the_range() -> None:
    x, y = SPSA.tuned
    assert SPSA.change(x, 1000) == pytest.approx(10)
    assert SPSA.change(y, 1000) == pytest.approx(5)
    assert SPSA.change(x, 1) == pytest.approx(10 * 1000**0.101)
    values = {"x": 20.0, "y": 90.0}
    won, drawn, lost = (SPSA.moved(values, 1000, points) for points in (2, 1, 0))
    assert drawn == values
    for option, sign in zip(SPSA.tuned, SPSA.signs(1000), strict=True):
        name = option.name
        assert won[name] - values[name] == pytest.approx(0.03 * sign * SPSA.change(option, 1000))
        assert lost[name] - values[name] == pytest.approx(values[name] - won[name])


def test_both_sides_play_with_whole_numbers_in_range_that_are_right_on_average() -> None:
    values = {"x": 1.0, "y": 77.25}
    for pair in range(1, 1001):
        for side in (1, -1):
            assert 0 <= int(SPSA.options(values, pair, side)["x"]) <= 100
    both = [int(SPSA.options(values, pair, side)["y"]) for pair in range(1, 1001) for side in (1, -1)]
    assert sum(both) / len(both) == pytest.approx(77.25, abs=0.1)
    assert sum(sum(SPSA.signs(pair)) for pair in range(1, 1001)) == pytest.approx(0, abs=150)


# With an engine


def test_an_option_that_matters_is_tuned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(tmp_path / "out", "Stamina=1,0,5", "--step=0.2", "--rate=0.5", "--workers=2") == 0
    pairs = pairs_of(tmp_path / "out")
    assert sorted(pair["step"] for pair in pairs) == list(range(1, 31))
    for pair in pairs:
        difference = int(pair["changed"]["Stamina"]) - int(pair["opposite"]["Stamina"])
        assert pair["points"] == (1 if difference == 0 else 2 if difference > 0 else 0)
    assert pairs[-1]["values"]["Stamina"] > 2
    out = capsys.readouterr().out
    assert f"| Stamina | 1 | 0 to 5 | {pairs[-1]['values']['Stamina']:.1f} |" in out
    assert f"A.Stamina={round(pairs[-1]['values']['Stamina'])} B.Stamina=1" in out


def test_it_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert tune(out) == 0
    whole = (out / "pairs.jsonl").read_text().splitlines()
    kept = whole[:7]
    (out / "pairs.jsonl").write_text("\n".join([*kept, whole[7][:20]]))
    assert tune(out) == 0
    assert (out / "pairs.jsonl").read_text().splitlines()[:7] == kept
    assert sorted(pair["step"] for pair in pairs_of(out)) == list(range(1, 31))
    finished = (out / "pairs.jsonl").read_bytes()
    assert tune(out) == 0
    assert (out / "pairs.jsonl").read_bytes() == finished
    spsa = Spsa((Tuned("Stamina", 1, 0, 5),), 30, 0.2, 0.5, 0)
    values = {"Stamina": 1.0}
    for pair in pairs_of(out):
        values = spsa.moved(values, pair["step"], pair["points"])
        assert pair["values"] == pytest.approx(values)


def test_unknown_options_and_other_settings_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only an engine that complains of names that it does not know is believed to know this one."""
    assert tune(tmp_path / "known", "Hidden=1,0,5", command=engine("--complains"), pairs=1) == 0
    for out, command, name in (("a", engine("--complains"), "Hiden"), ("b", engine(), "Hidden")):
        assert tune(tmp_path / out, f"{name}=1,0,5", command=command, pairs=1) == 1
        assert f"tune: engine `{command}` has no option {name}; it has " in capsys.readouterr().err
    assert tune(tmp_path / "c", "Stamina=1,0,5", pairs=3) == 0
    finished = pairs_of(tmp_path / "c")
    for option, pairs, other in (("Stamina=2,0,5", 3, "tuned"), ("Stamina=1,0,5", 1, "pairs")):
        assert tune(tmp_path / "c", option, pairs=pairs) == 1
        assert f"was made with other settings ({other}): choose another --out" in capsys.readouterr().err
        assert pairs_of(tmp_path / "c") == finished


def test_what_cannot_be_tuned_is_one_line_and_may_be_begun_otherwise(tmp_path: Path, capsys) -> None:
    twice = ["Stamina=1,0,5", "--option=stamina=3"]
    for words, command, reason in [
        (twice, "", "an option is named twice"),
        (["Stamina=1,0,5", "--openings=none.txt"], "", "none.txt: No such file"),
        (["Stamina=1,0,5"], "/no/such/engine", "engine `/no/such/engine` cannot be started: No such file"),
        (["Stamina=4,3,5"], engine("--die"), "died or fell silent in pair "),
    ]:
        out = tmp_path / ("died" if "--die" in command else "out")
        assert tune(out, *words, command=command, pairs=1) == 1
        assert reason in capsys.readouterr().err.splitlines()[-1]
    assert tune(tmp_path / "out", "Stamina=1,0,5", pairs=1) == 0
    assert len(pairs_of(tmp_path / "out")) == 1
