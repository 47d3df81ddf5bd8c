"""The same tree everywhere: compiled or in plain Python, and with every index checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pydlshogi.catalogue import GAMES

ROOT = Path(__file__).resolve().parent.parent


def run(arguments: list[str], lines: str = "", **environment: str) -> str:
    command, env = [sys.executable, *arguments], os.environ | {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(command, cwd=ROOT, env=env, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("game", GAMES)
def test_compiled_or_not_it_grows_the_same_tree(game: str) -> None:
    compiled = run(["tests/grown_tree.py", game, "500"])
    plain = run(["-W", "ignore:overflow", "tests/grown_tree.py", game, "500"], NUMBA_DISABLE_JIT="1")
    assert compiled.splitlines() == plain.splitlines()
    assert len(compiled.splitlines()) > 300


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_engine_stays_within_its_arrays(tmp_path: Path) -> None:
    """Numba checks every index then, and an error would be an `info string Error!`."""
    lines = [f"setoption name {option}" for option in ("Backend value hash", "Threads value 2", "USI_Hash value 2")]
    lines += ["isready", "position startpos moves 7g7f 3c3d", "go nodes 2000"]
    lines += ["position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "go nodes 100", "go mate 1000", "quit"]
    said = run(["-m", "pydlshogi.usi.usi_mcts_player"], "\n".join(lines) + "\n", NUMBA_BOUNDSCHECK="1")
    assert said.count("bestmove ") == 2
    assert "checkmate G*5b" in said
    assert "Error" not in said
