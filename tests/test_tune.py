"""Options are tuned by games of an engine against itself."""

import json
import shlex
import sys

import pytest
from usi_driver import ROOT

from utils.lab import tune as tune_program
from utils.lab.tune import Spsa, Tuned, main

pytestmark = pytest.mark.lent_worker(tune_program)

SPSA = Spsa((Tuned("x", 20, 0, 100), Tuned("y", 90, 50, 100)), 1000, 0.1, 0.03, 1)


def engine(*words: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", str(ROOT / "tests" / "fake_tuned_engine.py"), *words])


def tune(*words: str, command: str = "", pairs: int = 30) -> int:
    fixed = ["--time=60000", "--workers=1", f"--pairs={pairs}", "--step=0.2", "--rate=0.5"]
    return main([command or engine(), *fixed, *words])


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


def test_an_option_that_matters_is_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("Stamina=1,0,5", "--workers=2") == 0
    pairs = list(map(json.loads, capsys.readouterr().out.splitlines()))
    assert sorted(pair["pair"] for pair in pairs) == list(range(1, 31))
    spsa, values = Spsa((Tuned("Stamina", 1, 0, 5),), 30, 0.2, 0.5, 0), {"Stamina": 1.0}
    for pair in pairs:
        difference = int(pair["changed"]["Stamina"]) - int(pair["opposite"]["Stamina"])
        assert pair["points"] == (1 if difference == 0 else 2 if difference > 0 else 0)
        values = spsa.moved(values, pair["pair"], pair["points"])
        assert pair["values"] == pytest.approx(values)
    assert pairs[-1]["values"]["Stamina"] > 2


def test_what_an_engine_lacks_or_does_not_survive_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Only an engine that complains of names that it does not know is believed to know this one."""
    assert tune("Hidden=1,0,5", command=engine("--complains"), pairs=1) == 0
    for words, command, reason in [
        ("Hiden=1,0,5", engine("--complains"), "has no option Hiden; it has "),
        ("Hidden=1,0,5", engine(), "has no option Hidden; it has "),
        ("Stamina=1,0,5", "/no/such/engine", "engine `/no/such/engine` cannot be started: No such file"),
        ("Stamina=4,3,5", engine("--die"), "died or fell silent in pair "),
    ]:
        assert tune(words, command=command, pairs=1) == 1
        assert reason in capsys.readouterr().err.splitlines()[-1]
