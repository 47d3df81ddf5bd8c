"""Files of test positions, solved by the command."""

from pathlib import Path

import pytest

from utils.othello import solve
from utils.othello.solve import main

pytestmark = pytest.mark.lent_worker(solve)

LINES = [
    "% two of the collection of the French federation",
    "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X; G8:+18; H1:+12; H7:+6;",
    "",
    "-XXXXXX---XOOOO--XOXXOOX-OOOOOOOOOOOXXOOOOOXXOOX--XXOO----XXXXX- X; A4:+10 % and no more",
]


def test_each_position_is_solved_in_its_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.obf"
    path.write_text("\n".join([*LINES, LINES[1].partition(";")[0]]))
    assert main([str(path), "--workers", "1", "--threads", "2"]) == 0
    *lines, total = capsys.readouterr().out.splitlines()
    assert [line.split()[:6] for line in lines] == [
        ["line", "2,", "14", "empty:", "+18", "g8"],
        ["line", "4,", "14", "empty:", "+10", "a4"],
        ["line", "5,", "14", "empty:", "+18", "g8"],
    ]
    assert total.startswith("3 positions, 0 wrong, ")


def test_what_the_file_expects_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.obf"
    path.write_text("\n".join([LINES[1].replace("+18", "+20"), LINES[3].replace("A4:+10", "A4:+8; B7:+10")]))
    assert main([str(path), "--workers", "1"]) == 1
    first, second, total = capsys.readouterr().out.splitlines()
    assert first.endswith("WRONG: +20 is expected")
    assert second.endswith("WRONG: the move is worth +8")
    assert total.startswith("2 positions, 2 wrong, ")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "it holds no position"),
        (f"{LINES[1]}\nXO X;", "line 2: a position is 64 squares, of X, O and -, and the side to move"),
        (LINES[1].replace("G8", "A1"), "line 1: A1 cannot be played"),
        (LINES[1].replace("+18", "much"), "line 1: G8:much is no move with its score"),
        (f"{'X' * 64} X;", "line 1: the game is over"),
    ],
)
def test_a_bad_line_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, error: str) -> None:
    path = tmp_path / "bad.obf"
    path.write_text(text)
    assert main([str(path)]) == 1
    assert capsys.readouterr().err == f"solve: {path}: {error}\n"
