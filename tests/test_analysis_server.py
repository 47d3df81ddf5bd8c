"""The analysis server: many positions at once, answered as another program reads them."""

import json
import queue
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from usi_driver import PATIENCE, ROOT

from pydlshogi.analysis_server.__main__ import main
from pydlshogi.analysis_server.pool import Answer, Pool, Question
from pydlshogi.analysis_server.server import Server

SETTINGS = {"Backend": "hash", "Threads": "1", "USI_Hash": "4"}
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"  # G*5b
MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"

Line = dict[str, Any]


class Client:
    """Another program: what it sends, and the lines that it gets."""

    def __init__(self, searches: int = 1) -> None:
        self.lines: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self.pool = Pool(searches, SETTINGS)
        self.server = Server(self.pool, lambda line: self.lines.put(json.loads(line)))

    def send(self, *queries: Line | str) -> None:
        lines = [query if isinstance(query, str) else json.dumps(query) for query in queries]
        self.server.hear(line.encode() for line in lines)

    def next(self) -> Line:
        return self.lines.get(timeout=PATIENCE)

    def last_of(self, query_id: str) -> Line:
        """The next line of a query that ends it; lines of others are lost."""
        while (line := self.next()).get("id") != query_id or line.get("isDuringSearch"):
            pass
        return line


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.pool.close(cancel=True)


@pytest.fixture
def busy(client: Client) -> Client:
    """Its only search is under way with the query `long`, which would go on for days."""
    client.send({"id": "long", "maxTime": 1e6, "reportDuringSearchEvery": 0.001, "multiPV": 2})
    assert client.next()["isDuringSearch"]
    return client


def test_several_positions_of_a_game_are_answered(client: Client) -> None:
    client.send({"id": "a", "moves": ["7g7f", "3c3d"], "analyzeTurns": [2, 0], "maxVisits": 30, "multiPV": 3})
    for turn, ply in ((2, 2), (0, 0)):
        line = client.next()
        assert (line["id"], line["turnNumber"], line["isDuringSearch"]) == ("a", turn, False)
        assert line["rootInfo"]["visits"] == 30
        assert line["rootInfo"]["currentPlayer"] == "BW"[ply % 2]
        assert [info["order"] for info in line["moveInfos"]] == [0, 1, 2]
        assert line["moveInfos"][0]["move"] == line["bestMove"] == line["moveInfos"][0]["pv"][0]
        assert line["rootInfo"]["winrate"] == line["moveInfos"][0]["winrate"]


def test_the_same_question_has_the_same_answer_whatever_was_asked_before(client: Client) -> None:
    def numbers() -> list[Line]:
        client.send({"id": "a", "maxVisits": 50, "multiPV": 4})
        return client.next()["moveInfos"]

    first = numbers()
    assert numbers() == first
    client.send({"id": "b", "moves": ["7g7f"], "maxVisits": 50})
    client.next()
    assert numbers() == first


def test_other_starts_and_only_some_moves(client: Client) -> None:
    client.send({"id": "mate", "start": MATE_IN_ONE})
    line = client.next()
    assert (line["bestMove"], line["rootInfo"]["winrate"], line["rootInfo"]["mate"]) == ("G*5b", 1.0, 1)
    client.send({"id": "only", "searchMoves": ["1g1f", "9g9f"], "maxVisits": 20, "multiPV": 600})
    assert {info["move"] for info in client.next()["moveInfos"]} == {"1g1f", "9g9f"}
    client.send({"id": "over", "start": MATED})
    line = client.next()
    assert (line["bestMove"], line["rootInfo"]["winrate"], line["moveInfos"]) == ("resign", 0.0, [])


def test_queries_beside_the_usual(client: Client) -> None:
    moves = ["5i5h", "5a5b", "5h5i", "5b5a"] * 2
    client.send({"id": "a", "moves": moves, "analyzeTurns": [8, 5, 3, 0, 4], "maxVisits": 1})
    assert [client.next()["rootInfo"]["repetitions"] for _ in range(5)] == [2, 1, 0, 0, 1]
    client.send({"id": "a", "moves": ["2h3h", "8b7b", "3h2h", "7b8b"] * 3, "maxVisits": 9})
    line = client.next()
    assert (line["rootInfo"]["winrate"], line["moveInfos"], "bestMove" in line) == (0.5, [], False)
    client.send({"id": "a", "rules": "japanese", "komi": 6.5, "maxVisits": 1})
    warnings = [client.next(), client.next()]
    assert warnings == [{"id": "a", "field": name, "warning": "there is no such field"} for name in ("komi", "rules")]
    assert client.next()["bestMove"]
    client.send({"id": "a", "opponent": "beginner"}, {"id": "b", "opponent": "policy only"})
    for query_id in "ab":
        line = client.next()
        assert line["id"] == query_id
        assert line["bestMove"] in {info["move"] for info in line["moveInfos"]}


def test_the_policy_and_the_visits_of_lines(client: Client) -> None:
    client.send({"id": "a", "moves": ["7g7f"], "maxVisits": 200, "multiPV": 600, "includePVVisits": True})
    line = client.next()
    assert "policy" not in line
    for info in line["moveInfos"]:
        assert len(info["pvVisits"]) == len(info["pv"])
        assert info["pvVisits"][0] == info["visits"]
        assert info["pvVisits"] == sorted(info["pvVisits"], reverse=True)
    assert len(line["moveInfos"][0]["pv"]) > 2
    client.send({"id": "b", "moves": ["7g7f"], "maxVisits": 200, "multiPV": 600, "includePolicy": True})
    answer = client.next()
    assert answer["policy"] == pytest.approx({info["move"]: info["prior"] for info in line["moveInfos"]}, abs=1e-6)
    assert sum(answer["policy"].values()) == pytest.approx(1, abs=1e-5)
    assert "pvVisits" not in answer["moveInfos"][0]


def test_the_urgent_ones_begin_first(busy: Client) -> None:
    """Each turn may have its own priority."""
    for query_id, priority in (("low", -1), ("first", 0), ("second", 0), ("high", 5)):
        busy.send({"id": query_id, "priority": priority, "maxVisits": 1})
    busy.send({"id": "turns", "moves": ["7g7f"], "analyzeTurns": [0, 1], "priorities": [-2, 1], "maxVisits": 1})
    busy.send({"id": "end", "action": "terminate", "terminateId": "long"})
    while (line := busy.next())["id"] != "long" or line["isDuringSearch"]:
        pass
    lines = [busy.next() for _ in range(6)]
    assert [line["id"] for line in lines] == ["high", "turns", "first", "second", "low", "turns"]
    assert [line["turnNumber"] for line in lines if line["id"] == "turns"] == [1, 0]


def test_what_is_under_way_is_cancelled_with_what_is_known_and_what_waits_without_results(busy: Client) -> None:
    busy.send({"id": "a", "moves": ["7g7f"], "analyzeTurns": [0, 1], "maxVisits": 1})
    one = {"id": "one", "action": "terminate", "terminateId": "a", "turnNumbers": [1]}
    busy.send(one)
    assert busy.last_of("one") == one | {"terminated": 1}
    busy.send({"id": "rest", "action": "terminate_all"})
    assert busy.last_of("rest")["terminated"] == 2  # turn 1 has been answered before
    assert len(busy.last_of("long")["moveInfos"]) == 2
    busy.send({"id": "long", "maxVisits": 1})  # its id is free again
    assert busy.last_of("long")["rootInfo"]["visits"] == 1


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [("{", "", "not JSON"), ("[" * 100_000, "", "not JSON"), ('{"maxVisits": 1}', "id", "every query has an id"),
     ({"id": "x", "game": "go"}, "game", "none of shogi, dobutsu"), ({"id": "x", "moves": "7g7f"}, "moves", "a list"),
     ({"id": "x", "moves": ["7g7e"]}, "", "not a legal move"), ({"id": "x", "start": "9/9"}, "", "sfen"),
     ({"id": "x", "searchMoves": ["7g7e"]}, "", "not a legal move"),
     ({"id": "x", "analyzeTurns": [1]}, "analyzeTurns", "none of 0 to 0"),
     ({"id": "x", "analyzeTurns": []}, "analyzeTurns", "at least one"),
     ({"id": "x", "maxVisits": 0}, "maxVisits", "a number"),
     ({"id": "x", "maxVisits": 1.5}, "maxVisits", "a whole number"),
     ({"id": "x", "maxTime": -1}, "maxTime", "a number"),
     ({"id": "x", "opponent": "Meijin"}, "opponent", "none of beginner"),
     ({"id": "x", "action": "terminate", "terminateID": "long"}, "terminateID", "no such field"),
     ({"id": "x", "priority": 1.5}, "priority", "a whole number"),
     ({"id": "x", "priorities": [1], "priority": 1}, "priorities", "no priority besides"),
     ({"id": "x", "includePolicy": 1}, "includePolicy", "true or false"),
     ({"id": "x", "action": "explode"}, "action", "none of"), ({"id": "long"}, "id", "under way")],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused_and_changes_nothing(busy, line, field, reason) -> None:
    busy.send(line)
    while "error" not in (answer := busy.next()):
        pass
    assert reason in answer["error"]
    assert answer.get("field", "") == field
    assert answer.get("id") == (line["id"] if isinstance(line, dict) else None)
    busy.send({"id": "v", "action": "query_version"}, {"id": "c", "action": "clear_cache"})
    assert busy.last_of("v")["version"]
    assert busy.last_of("c") == {"id": "c", "action": "clear_cache"}


def test_options_that_no_engine_has_or_takes() -> None:
    assert [main(["--option", option]) for option in ("Knobs=1", "USI_Hash=much")] == [1, 1]


def test_a_network_that_cannot_be_loaded_is_said_each_time() -> None:
    pool = Pool(1, {"modelfile": "nowhere.npz"})
    answers: list[Answer] = []
    for _ in range(2):
        pool.ask(Question("shogi", visits=1), answers.append)
    pool.close()
    assert ["nowhere.npz" in answer.error for answer in answers] == [True, True]


def test_a_network_of_one_game_leaves_the_others_theirs(caplog: pytest.LogCaptureFixture) -> None:
    pool = Pool(1, {"modelfile": str(ROOT / "model" / "dobutsu.npz"), "DNN_Batch_Size": "1"})
    answers: list[Answer] = []
    for game in ("shogi", "dobutsu"):
        pool.ask(Question(game, visits=1), answers.append)
    pool.close()
    assert [answer.error for answer in answers] == ["", ""]
    answer = [record.message for record in caplog.records if "dobutsu.npz: a network of" in record.message]
    assert [message.startswith("shogi: ") for message in answer] == [True]


def test_as_a_program() -> None:
    options = [f"--option={name}={value}" for name, value in SETTINGS.items()]
    command = [sys.executable, "-m", "pydlshogi.analysis_server", "--searches", "1", *options]
    asked = b'{"id": "a", "game": "dobutsu", "moves": ["2c2b"], "maxVisits": 5}\n\nno\n{"id": "\xe9"}\n'
    done = subprocess.run(command, cwd=ROOT, input=asked, capture_output=True, check=False, timeout=PATIENCE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, len(lines)) == (0, 3)
    assert [line["id"] for line in lines if "id" in line] == ["a"]


def test_a_move_of_the_book_is_no_judgement(tmp_path: Path) -> None:
    """A game that is reviewed would take it for one."""
    book, start = tmp_path / "own.db", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    book.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {start}\n9g9f none 0 0 1\n")
    answers: list[Answer] = []
    with closing(Pool(1, SETTINGS | {"USI_OwnBook": "true", "Book_File": str(book)})) as pool:
        pool.ask(Question("shogi", opponent="hard", report_every=1), answers.append)
    assert [(answer.move, answer.lines) for answer in answers] == [("9g9f", ())]


def test_a_defect_is_logged_and_the_next_question_is_answered(client: Client, monkeypatch, caplog) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no idea")

    with monkeypatch.context() as patched:
        patched.setattr("pydlshogi.player.mcts_player.MCTSPlayer.think", fail)
        client.send({"id": "a", "maxVisits": 10})
        assert client.next()["error"] == "the search failed: ValueError('no idea')"
    assert [record.exc_info is not None for record in caplog.records] == [True]
    client.send({"id": "b", "maxVisits": 10})
    assert client.next()["rootInfo"]["visits"] == 10


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot say who reads a pipe")
def test_it_ends_with_who_asked_while_a_search_says_nothing() -> None:
    command = [sys.executable, "-m", "pydlshogi.analysis_server", "--option", "Backend=uniform"]
    server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    asked = {"id": "a", "game": "dobutsu", "maxVisits": 10**9}
    server.stdin.write(json.dumps(asked).encode() + b"\n" + b'{"id": "b", "action": "query_version"}\n')
    server.stdin.flush()
    server.stdout.readline()
    server.stdout.close()
    server.stdin.close()
    assert server.wait(PATIENCE) == 1
