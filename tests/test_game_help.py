"""What --help says of programs that learn any game."""

import subprocess
import sys

import pytest
from usi_driver import ROOT

pytest.importorskip("torch", reason="needs PyTorch (the extra `train`)")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["pydlshogi.cycle", "dobutsu"], "games of a set (256)"),
        (["pydlshogi.cycle"], "games of a set (512)"),
        (["pydlshogi.selfplay", "shogi"], "games of a set (32)"),
    ],
)
def test_help_shows_the_defaults_of_the_game(words: list[str], shown: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown in " ".join(done.stdout.split())
