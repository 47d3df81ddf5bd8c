"""Lines as words and back, with everything GUIs really send."""

import pytest

from pydlshogi.player.base_player import Info
from pydlshogi.player.clock import Limits
from pydlshogi.usi.notation import info_line, parse_go, parse_setoption


@pytest.mark.parametrize(
    ("text", "limits"),
    [("", Limits()),
     ("btime -300 wtime 1000 binc 2000 winc 2000", Limits(btime=-300, wtime=1000, binc=2000, winc=2000)),
     ("movetime 1000.0", Limits(movetime=1000)), ("btime 4999.5 wtime 1e3", Limits(btime=4999, wtime=1000)),
     ("searchmoves 1a1b 7g7f nodes 5", Limits(nodes=5, searchmoves=("1a1b", "7g7f"))),
     ("depth 3 nodes 50 byoyomi 10", Limits(nodes=50, byoyomi=10)), ("infinite ", Limits(infinite=True)),
     ("btime 1 ponder wtime 2", Limits(btime=1, wtime=2, ponder=True)),
     ("searchmoves P*5e 8h2b+ infinite", Limits(searchmoves=("P*5e", "8h2b+"), infinite=True)),
     ("mate infinite", Limits(mate=True)), ("mate 1000", Limits(mate=True, mate_time=1000)),
     ("nodes 100 mate infinite", Limits(mate=True, nodes=100)), ("rtime 100", Limits(movetime=100)),
     ("movestogo 5 byoyomi 7 fast", Limits(byoyomi=7)), ("btime wtime 5", Limits(wtime=5)),
     ("btime nan wtime 5", Limits(wtime=5)), ("btime inf wtime -1e300", Limits(btime=2**53, wtime=-(2**53)))],
)  # fmt: skip
def test_go(text: str, limits: Limits) -> None:
    assert parse_go(text) == limits


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [("name  USI_Hash   value   32 ", "USI_Hash", "32"),
     (r"name DNN_Model value C:\My value\net 1.onnx", "DNN_Model", r"C:\My value\net 1.onnx"),
     ("name Book_File value", "Book_File", ""), ("name Clear Hash", "Clear Hash", ""),
     ("USI_Hash value 32", "USI_Hash", "32"), ("", "", "")],
)  # fmt: skip
def test_setoption(text: str, name: str, value: str) -> None:
    assert parse_setoption(text) == (name, value)


def test_very_long_lines_are_read_in_one_pass() -> None:
    """Otherwise this test takes minutes, in which no `stop` would be heard."""
    assert parse_go("x " * 600_000 + "nodes 5").nodes == 5
    name = "a" + " " * 150_000 + "b"
    assert parse_setoption(f"name {name} value 1") == (name, "1")


@pytest.mark.parametrize(
    ("info", "line"),
    [(Info(9, 12, 1500, 3000, 2000, 35, 2, 120, pv=("7g7f", "3c3d")),  # in the order that GUIs expect
      "info depth 9 seldepth 12 multipv 2 score cp 120 nodes 3000 nps 2000 hashfull 35 time 1500 pv 7g7f 3c3d"),
     (Info(depth=1, score_mate=3, score_cp=9), "info depth 1 score mate 3"),
     (Info(depth=1, score_mate=0), "info depth 1"), (Info(score_cp=99_999), "info score cp 29999"),
     (Info(score_cp=0, nodes=0), "info score cp 0 nodes 0"), (Info(), "")],
)  # fmt: skip
def test_info(info: Info, line: str) -> None:
    assert info_line(info) == line
