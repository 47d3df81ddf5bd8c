"""The tables of the model card, from networks and records small enough to be counted by hand."""

import json
from pathlib import Path

import pytest

from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import write_weights
from tests.networks import random_weights
from tests.random_games import random_games, write_jsonl
from utils.validate_network import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "games.jsonl", [], random_games(2, plies=40, seed=8))
    write_weights(tmp_path / "net.npz", random_weights(architecture_for(BOOK, "policy_value_resnet", 1, 8), seed=0))
    return tmp_path


def run(folder: Path, *networks: str) -> int:
    files = [network if network.startswith("--") else str(folder / network) for network in networks]
    return main([*files, f"--games={folder / 'games.jsonl'}", f"--cache={folder}"])


def test_networks_stand_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "net.npz", "net.npz,onnx,float32") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith(f"{folder / 'net.npz,onnx,float32'}: ONNX Runtime")
    assert lines[3] == "80 positions"
    top1 = next(line for line in lines if "top-1)" in line).split("|")
    assert top1[2] == top1[3]
    assert run(folder, "none.npz") == 1
    assert capsys.readouterr().err.endswith("none.npz: No such file or directory\n")
    assert sum(int(line.split("|")[1]) for line in lines[-10:]) in (0, 40, 80)


def test_the_search_is_asked_about_single_positions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three mates in one; the last was not seen, and the game was lost."""
    mates = [
        {"sfen": f"{board} 1", "bestmove": move, "turn": turn, "gameResult": result, "eval": 2000}
        for board, move, turn, result in (
            ("4k4/9/4P4/9/9/9/9/9/4K4 b G", "G*5b", 0, 1),
            ("4k4/9/9/9/9/9/4p4/9/4K4 w g", "G*5h", 1, 2),
            ("4k4/9/9/9/9/9/4p4/9/4K4 w g", "G*5h", 1, 1),
        )
    ]
    (folder / "games.jsonl").write_text("\n".join(map(json.dumps, mates)))
    assert run(folder, "net.npz", "--nodes=8") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| the move played is the search's | 100.0 % |" in lines
    assert "| the winner predicted by the search | 66.7 % |" in lines
    (folder / "net.npz").rename(folder / "a,b.npz")
    (folder / "games.jsonl").write_text(json.dumps(mates[0] | {"gameResult": 0}))
    assert run(folder, "a,b.npz,winograd", "--nodes=8") == 0
    assert "| the winner predicted by the search | - |" in capsys.readouterr().out.splitlines()
