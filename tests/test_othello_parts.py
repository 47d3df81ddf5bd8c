"""The table of what each part of the search is worth."""

import json
from pathlib import Path
from typing import Any

import pytest
from othello_engines import LowestSquare

from pydlshogi.games.othello.transcript import parse_transcript
from utils.othello import parts
from utils.othello.parts import ROWS, Pairing, Side, counts_of, main, table


def lowest() -> Side:
    return Side(LowestSquare())


def game(row: str, number: int, lead: int) -> dict[str, Any]:
    return {"row": row, "number": number, "seconds": 0.1, "moves": "", "black_leads": lead}


def test_pairs_are_counted_for_the_first_engine() -> None:
    """It has Black in even games. A win and a draw; a win and a loss; two losses; and a game without its twin."""
    leads = [10, 0, 2, 4, -6, 8, 64]
    assert counts_of([game("half", number, lead) for number, lead in enumerate(leads)]) == [1, 0, 1, 1, 0]
    games = [game("half", number, lead) for number, lead in enumerate([10, 10, 10, 10, 10, 0])]
    (_, _, line) = table(games, ROWS).splitlines()
    assert line.startswith("| IaGo's search, rollouts 0.5 | without rollouts | 6 | 0.1 | 58.3% | +58 ± ")


def test_the_command_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(parts, "ROWS", {"both": Pairing("lowest", "lowest too", (lowest, lowest))})
    path, openings = tmp_path / "games", tmp_path / "openings.txt"
    openings.write_text("f5d6c3d3\nf5f6e6f4\n")
    command = [str(path), "--rows", "both", "--games", "4", "--openings", str(openings)]
    assert main(command) == 0
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])  # killed while it wrote
    assert main(command) == 0
    assert path.read_bytes() == whole
    games = [json.loads(line) for line in whole.splitlines()]
    assert [each["number"] for each in games] == [0, 1, 2, 3]
    assert games[0]["moves"] == games[1]["moves"]
    end = parse_transcript(games[2]["moves"])
    assert end.result == games[2]["black_leads"]
    assert "| lowest | lowest too | 4 | 0.1 | 50.0% | +0 ± " in capsys.readouterr().out.replace("-0 ±", "+0 ±")


@pytest.mark.parametrize("other", ["network", "openings"])
def test_games_of_another_network_or_openings_are_not_mixed(other: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(parts, "row_with", lambda _: {"net": Pairing("lowest", "lowest too", (lowest, lowest))})
    files = {name: tmp_path / name for name in ("games", "network", "openings")}
    files["network"].write_text("learned in 100 cycles")
    files["openings"].write_text("f5d6c3d3\n")
    command = [str(files["games"]), *(f"--{name}={files[name]}" for name in ("network", "openings")), "--games=2"]
    assert main(command) == main(command) == 0
    files[other].write_text("f5f6e6f4\n")
    assert main(command) == 1
    assert "games holds games of another network or openings: choose another file" in capsys.readouterr().err
    files["games"].write_text("nothing\n")
    assert main(command) == 1
    assert "line 1 is no game" in capsys.readouterr().err
