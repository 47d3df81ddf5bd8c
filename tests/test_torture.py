"""utils.torture: its short rounds, and that it notices what it looks for."""

import pytest

from utils import torture


@pytest.mark.parametrize("part", ["fuzz-policy", "fuzz-gtp", "fuzz-nboard", "games"])
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
