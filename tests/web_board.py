"""The board's server and the browser that talks with it, for tests."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from usi_driver import PATIENCE, ROOT

from pydlshogi.analysis_server.pool import Pool
from pydlshogi.web.server import BoardServer
from pydlshogi.web.table import Table

FIXTURES = ROOT / "tests" / "fixtures" / "kifu"
SETTINGS = {"Backend": "hash", "Threads": "1", "USI_Hash": "4", "Random_Seed": "1"}
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"  # G*5b

Message = dict[str, Any]


class News:
    """The stream of events that a page listens to."""

    def __init__(self, board: "Board") -> None:
        self._table = board.server.table
        self._connection = http.client.HTTPConnection("127.0.0.1", board.port, timeout=PATIENCE)
        self._connection.request("GET", f"/news?token={board.token}")
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200

    def next(self, kind: str = "state") -> Message:
        """The next message of that kind; others are lost."""
        while True:
            fields = dict(line.split(": ", 1) for line in iter(self._line, "") if not line.startswith(":"))
            if fields.get("event") == kind:
                return json.loads(fields["data"])

    def until(self, wanted: Any, kind: str = "state") -> Message:
        """The next message of that kind that is as wanted, of the game as it is now: older ones may be on their way."""
        now = self._table.generation
        while (message := self.next(kind))["generation"] < now or not wanted(message):
            pass
        return message

    def close(self) -> None:
        self._answer.close()
        self._connection.close()

    def _line(self) -> str:
        line = self._answer.readline()
        assert line, "the server has ended"
        return line.decode().rstrip("\n")


class Board:
    """A server, and the browser that talks with it."""

    def __init__(self, server: BoardServer) -> None:
        self.server = server
        self.port, self.token = server.server_port, server.token
        self.host = f"127.0.0.1:{self.port}"
        self.news = News(self)

    def state(self) -> Message:
        return self.server.table.state()

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """Status and body of one request; headers with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {"Host": self.host, "Origin": f"http://{self.host}", "X_Token": self.token} | headers
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in given.items()})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def do(self, do: str, **command: Any) -> str:
        """What was wrong with a command; "" if nothing was."""
        command = {"generation": self.state()["generation"], "do": do} | command
        status, answer = self.ask("POST", "/do", json.dumps(command).encode())
        assert status in (200, 409)
        reason: str = json.loads(answer).get("error", "")
        assert (status == 409) == bool(reason)
        return reason

    def begin(self, game: str = "shogi", start: str = "even", sides: Any = ("", ""), **more: Any) -> str:
        """What was wrong with a new game."""
        return self.do("new", game=game, start=start, sides=sides, **more)

    def new(self, *given: Any, moves: str = "", **more: Any) -> None:
        """As `begin`, which has to succeed, with moves already made."""
        assert self.begin(*given, **more) == ""
        self.play(moves)

    def opened(self, record: bytes) -> Message:
        """The state once a record is open."""
        status, answer = self.ask("POST", "/record", record)
        assert status == 200, answer
        return self.state()

    def record(self) -> bytes:
        names = [f"pydlshogi ({side})" if side else "" for side in self.state()["sides"]]
        status, answer = self.ask("GET", f"/record?{urlencode(dict(zip(('black', 'white'), names, strict=True)))}")
        assert status == 200
        return answer

    def review(self) -> Message:
        """The state once the whole game has been judged."""
        assert self.do("judge", on=True) == ""
        with closing(News(self)) as news:
            return news.until(lambda state: state["summary"] and not state["judging"])

    def play(self, moves: str, at: int | None = None) -> None:
        """At the position shown, or after that many moves."""
        if at is not None:
            assert self.do("goto", ply=at) == ""
        for move in moves.split():
            assert self.do("move", move=move) == ""


@contextmanager
def serving(server: BoardServer) -> Iterator[Board]:
    """The board of a server until the block is left."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    board = Board(server)
    try:
        yield board
    finally:
        board.new()  # two people: what was thought about ends
        board.do("watch", on=False)
        board.news.close()
        server.shutdown()
        thread.join()


@contextmanager
def unbegun(pool: Pool, kept: Path | None = None) -> Iterator[Board]:
    """A board as it is when the program has started."""
    with BoardServer(lambda tell: Table(pool, tell, kept)) as server, serving(server) as board:
        yield board


@contextmanager
def served(pool: Pool, kept: Path | None = None) -> Iterator[Board]:
    with unbegun(pool, kept) as board:
        board.new()
        yield board
