"""Lines of GTP and of NBoard's protocol that nearly make sense: see test_fuzz.py."""

import re

from hypothesis import given
from othello_games import LowestSquare, loaded
from test_fuzz import lines_of

from pydlshogi.games.othello.protocols import gtp, nboard
from pydlshogi.games.othello.protocols.loaded_engine import read_ahead

GTP = """clear_board|genmove b|genmove w|reg_genmove b|hint 3|undo|showboard|final_score|play b f5|play w d6|play b pass
level 3|time_settings 1 0 0|time_left b 1 0|name|list_commands|set_game Othello|boardsize 8|7 version
setup_board ---------------------------O*------*O--------------------------- b"""


NBOARD = """go|hint 3|move F5|move D6/0.50/1|move PA|learn|set depth 3|set contempt 1|ping 1
set game (;GM[Othello]PB[a]RE[?]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[f5];)"""


@given(lines=lines_of(GTP))
def test_every_command_of_gtp_has_one_answer(lines: list[str]) -> None:
    said: list[str] = []
    gtp.Gtp(loaded(LowestSquare())).run(read_ahead([*lines, "99 name"], gtp.interrupts), said.append)
    assert said[-1] == "=99 lowest\n\n"
    asked = [line for line in lines if re.match(r"[\s\x00-\x1f\x7f]*[^#\s\x00-\x1f\x7f]", line)]
    assert len(said) == len(asked) + 1
    assert all(re.match(r"[=?]\d* ?.*\n\n$", answer, re.DOTALL) for answer in said)


@given(lines=lines_of(NBOARD))
def test_every_go_of_nboard_has_one_answer(lines: list[str]) -> None:
    said: list[str] = []
    nboard.NBoard(loaded(LowestSquare()), said.append).run(read_ahead([*lines, "ping 99"], nboard.interrupts))
    assert said[-1] == "pong 99"
    answered = [line for line in said if line.startswith(("===", "status Error! go:"))]
    assert len(answered) == sum(bool(re.match(r"\s*go(?!\S)", line)) for line in lines)
