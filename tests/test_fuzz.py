"""Lines that nearly make sense, for all that speaks a protocol; and games that python-shogi looks at.

A few examples each; `python -m pytest --hypothesis-profile=long tests/test_fuzz.py` takes its time.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import closing

import pytest
import shogi
from hypothesis import given
from hypothesis import strategies as st
from test_analysis_server import Client
from test_usi import ENGINES, InProcess, answers, check

POISON = ["", "\t", "\0", "\x1b[2J", "将棋", "\x85", "\u2028", "-1", "0", "1e9", "nan", "[[[[[[[[", "\xff", "\udc8a"]
POISON += ["🙂", "#", "%s", "9" * 5000, "x" * 70_000]
USI = """usi|isready|usinewgame|stop|ponderhit|gameover lose|d|moves|key|eval|help|go|go nodes 2|go infinite
go ponder|go byoyomi 2|go mate 5|go movetime 1|go depth 1|go btime 10 wtime 10|go mate infinite|sfen
getoption|go searchmoves 7g7f nodes 3|setoption name MultiPV value 3|setoption name DebugMessage value true
setoption name Threads value 2|setoption name Backend value uniform|setoption name Backend value hash
setoption name Clear_Hash|position startpos|position startpos moves 7g7f 3c3d 8h2b+
position sfen 4k4/9/9/9/9/9/4p4/4g4/4K4 b - 1|position sfen +R+R+B+BK4/GGGGSSSS1/9/9/9/9/9/9/4k4 b - 1
position sfen 2B6/2k1n4/9/2p3Pp1/PP5b1/g4P3/9/1L7/4K4 b 2GSLPrs6p 1"""
ANALYSIS = """{"id": "a", "maxVisits": 5}|{"id": "b", "maxTime": 0.01, "searchMoves": ["7g7f"]}
{"id": "a", "moves": ["7g7f", "3c3d"], "analyzeTurns": [0, 1, 2], "maxVisits": 5, "multiPV": 3}
{"id": "c", "game": "dobutsu", "maxVisits": 5, "reportDuringSearchEvery": 0.001, "priority": 3}
{"id": "d", "game": "othello", "moves": ["f5"], "opponent": "easy"}
{"id": "t", "action": "terminate", "terminateId": "a"}
{"id": "e", "start": "+R+R+B+BK4/GGGGSSSS1/9/9/9/9/9/9/4k4 b - 1", "opponent": "policy only"}"""


@pytest.fixture(autouse=True, scope="module")
def nothing_is_logged() -> Iterator[None]:
    """With it pytest-xdist would have to send what is no text."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def lines_of(text: str) -> st.SearchStrategy[list[str]]:
    """Lines of the program, most of which make sense, or nearly. None ends it."""
    whole = re.split(r"[|\n]", text)
    words = st.sampled_from([*{word for line in whole for word in line.split()}, *POISON])
    line = st.sampled_from(whole) | st.lists(words, max_size=8).map(" ".join)
    poisoned = st.builds(
        lambda line, at, poison: line[: at % (len(line) + 1)] + poison + line[at % (len(line) + 1) + 1 :],
        line,
        st.integers(0, 200),
        st.sampled_from(POISON) | st.characters(max_codepoint=255),
    )
    one = (line | line | poisoned).map(lambda line: re.sub(r"[\r\n]", " ", line))
    return st.lists(one.filter(lambda line: "quit" not in line), max_size=40)


@pytest.mark.parametrize("name", ENGINES)
@given(lines=lines_of(USI))
def test_every_go_of_usi_has_one_answer_and_nothing_breaks(name: str, lines: list[str]) -> None:
    with closing(InProcess(ENGINES[name]())) as engine:
        engine.start()
        engine.send(*lines, "stop")
        engine.settle()
        assert len(answers(engine.said)) == sum(bool(re.match(r"\s*go(?!\S)", line)) for line in lines)
        assert not [line for line in engine.said if "log says more" in line]
        assert all(line.isascii() and "\n" not in line for line in engine.said)
        engine.send("setoption name MultiPV value 1", "position startpos")
        assert check(engine.go("go nodes 3"))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.pool.close(cancel=True)


@given(lines=lines_of(ANALYSIS))
def test_the_analysis_server_answers_whatever_it_hears(client: Client, lines: list[str]) -> None:
    asked = [line.encode("utf-8", "replace").decode() for line in lines]
    client.send(*asked, {"id": "last", "action": "terminate_all"}, {"id": "end", "action": "query_version"})
    assert client.last_of("end")["version"]
    client.send({"id": "again", "maxVisits": 5})
    assert client.last_of("again")["bestMove"]


@given(choices=st.lists(st.integers(0, 600), max_size=120), nodes=st.sampled_from([1, 2, 50]))
def test_what_is_played_and_shown_is_legal_to_python_shogi(choices: list[int], nodes: int) -> None:
    """After any moves."""
    board = shogi.Board()
    for choice in choices:
        legal = sorted(move.usi() for move in board.legal_moves)
        if not legal or board.is_fourfold_repetition():
            break
        board.push_usi(legal[choice % len(legal)])
    moves = [move.usi() for move in board.move_stack]
    with closing(InProcess(ENGINES["mcts"]())) as engine:
        engine.start()
        engine.send(f"position startpos moves {' '.join(moves)}")
        *_, last, answer = engine.go(f"go nodes {nodes}")
    move = answer.split()[1]
    if move in ("resign", "win"):
        assert move == "win" or not list(board.legal_moves) or "mate -" in last or board.is_fourfold_repetition()
        return
    line = last.partition(" pv ")[2].split()
    assert line[0] == move
    for each in line:
        assert shogi.Move.from_usi(each) in board.legal_moves
        board.push_usi(each)
