"""Games on a CSA server: against one that misbehaves, which the tests themselves play, and against the real one."""

import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pydlshogi import csa
from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.csa.client import Client, Login, Patience
from pydlshogi.games.shogi.csa.connection import Thinker
from pydlshogi.games.shogi.csa.game import TermsError, parse_terms
from pydlshogi.games.shogi.kifu.game import Game
from pydlshogi.games.shogi.read_kifu import read
from pydlshogi.player.base_player import BestMove, Checkmate, Info, Report
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.support import OneLineError
from tests.scripted_player import ScriptedPlayer, names
from tests.usi_driver import PATIENCE, ROOT

SERVER = ROOT.parent / "shogi-server" / "shogi-server"
"""In a checkout of https://github.com/TadaoYamaoka/shogi-server beside ours."""
START = """\
P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 * -HI *  *  *  *  * -KA *
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  *
P5 *  *  *  *  *  *  *  *  *
P6 *  *  *  *  *  *  *  *  *
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA *  *  *  *  * +HI *
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
+"""
ENTERED = """\
P1+HI+HI+KA+KA+OU+KI+KI+KI+KI
P2+GI+GI+GI+GI+TO+TO *  *  *
P9 *  *  *  * -OU *  *  *  *
+"""
"""Black may declare."""
MATED = """\
P1 *  *  *  * -OU *  *  *  *
P7 *  *  *  * -KY *  *  *  *
P8 *  *  *  * -KI *  *  *  *
P9 *  *  * -TO+OU-TO *  *  *
+"""


def summary(
    game_id: str = "game-1", turn: str = "+", clock: str = "Total_Time:600\nIncrement:10", position: str = START
) -> str:
    return (
        f"BEGIN Game_Summary\nProtocol_Version:1.2\nFormat:Shogi 1.0\nGame_ID:{game_id}\nName+:black\nName-:white\n"
        f"Your_Turn:{turn}\nTo_Move:+\nMax_Moves:256\nBEGIN Time\nTime_Unit:1sec\n{clock}\nEND Time\n"
        f"BEGIN Position\n{position}\nEND Position\nEND Game_Summary"
    )


class Player(ScriptedPlayer):
    """It notes what it is asked, and answers at once or when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: queue.SimpleQueue[tuple[str, Limits]] = queue.SimpleQueue()
        self.stopped: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.waits = False

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        waits = self.waits or clock.pondering  # which may change as soon as the test hears of it
        self.asked.put((position.sfen(), clock.limits))
        if position.declares():
            return BestMove("win")
        moves = names(position)
        if not moves:
            return BestMove("resign")
        if waits:
            while not clock.wait(1) and (self.waits or clock.pondering):
                pass
            self.stopped.put(clock.stopped)
        move = "7g7f" if "7g7f" in moves else "3c3d" if "3c3d" in moves else moves[0]
        after = position.copy()
        after.push_usi(move)
        reply = "3c3d" if "3c3d" in names(after) else names(after)[0]
        report(Info(score_cp=35, win_rate=0.52, pv=(move, reply)))
        return BestMove(move, reply)


class Peer:
    """A connection, as the server has it."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        self._socket, self._lines = connection, connection.makefile("rb")

    def say(self, text: str) -> None:
        self.raw(f"{text}\n".encode())

    def raw(self, data: bytes) -> None:
        self._socket.sendall(data)

    def hear(self) -> str:
        """The next line that is not empty; "gone" at the end."""
        while (line := self._lines.readline()) == b"\n":
            pass
        return line.decode().strip() if line else "gone"

    def hear_anything(self) -> bytes:
        return self._lines.readline()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._socket.close()

    def begin(self, terms: str = "") -> "Peer":
        """Up to START."""
        assert self.hear() == "LOGIN me secret"
        self.say("LOGIN:me OK")
        self.say(terms or summary())
        game_id = re.search("Game_ID:(.*)", terms or summary())[1]
        assert self.hear() == f"AGREE {game_id}"
        self.say(f"START:{game_id}")
        return self


class Table:
    """A client that plays in a thread, and the server that it plays on."""

    def __init__(self, folder: Path, **patience: float) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE)
        port = self._listener.getsockname()[1]
        self.folder, self.said = folder, list[str]()
        self.player = Player()
        quick = Patience(**({"pause": 0.01, "longest_pause": 0.02, "answer": PATIENCE, "slack": PATIENCE} | patience))
        engine = self.player.engine()
        self._thinker = Thinker(engine)
        login = Login("127.0.0.1", port, "me", "secret")
        self.client = Client(login, engine, self._thinker, folder, self.said.append, comments=True, patience=quick)
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._play, daemon=True)
        self.games = 1

    def _play(self) -> None:
        try:
            self.client.play(self.games)
        except OneLineError as error:
            self.failure = error

    def start(self, games: int = 1) -> "Table":
        self.games = games
        self._thread.start()
        return self

    def connected(self) -> Peer:
        return Peer(self._listener.accept()[0])

    def ended(self) -> list[Game]:
        """The records, once all has been played."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), self.said
        self._thinker.close()
        return [read(path)[0] for path in sorted(self.folder.glob("*.csa"), key=lambda path: len(path.name))]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def test_a_game_from_login_to_record(table: Table) -> None:
    peer = table.start().connected().begin()
    assert peer.hear() == "+7776FU,'* 35 -3334FU"
    peer.say("+7776FU,T3\n-3334FU,T7")
    assert peer.hear().startswith("+")
    peer.say("#TIME_UP\n#LOSE")
    assert peer.hear() == "LOGOUT"
    (game,) = table.ended()
    assert (game.usi, game.times, game.win, game.ending) == (("7g7f", "3c3d"), (3, 7), "w", "time_up")
    assert (game.evals, game.names, game.event) == ((35, None), ("black", "white"), "game-1")
    assert "'** 35 -3334FU" in next(table.folder.glob("*.csa")).read_text()
    assert [limits for _, limits in (table.player.asked.get(), table.player.asked.get())] == [
        Limits(600_000, 600_000, 10_000, 10_000, 0),
        Limits(607_000, 603_000, 10_000, 10_000, 0),
    ]


@pytest.mark.parametrize(
    ("position", "said", "answer", "outcome"),
    [
        (ENTERED, "%KACHI", "#JISHOGI\n#WIN", ("b", "declaration")),
        (MATED, "%TORYO", "#RESIGN\n#LOSE", ("w", "resign")),
        (START, "+7776FU", "#ILLEGAL_MOVE\n#LOSE", ("w", "illegal_move")),
        (START, "+7776FU", "+7776FU,T1\n#MAX_MOVES\n#CENSORED", (None, "max_moves")),
        (START, "+7776FU", "+7776FU,T1\n#SENNICHITE\n#DRAW", ("d", "sennichite")),
    ],
)
def test_how_games_end(table: Table, position: str, said: str, answer: str, outcome: tuple[str | None, str]) -> None:
    """The server may call a game as it likes."""
    peer = table.start().connected().begin(summary("将" * 300, position=position))
    assert peer.hear().startswith(said)
    peer.say(answer)
    assert peer.hear() == "LOGOUT"
    (game,) = table.ended()
    assert (game.win, game.ending) == outcome


@pytest.mark.parametrize(
    ("clock", "limits"),
    [
        ("Total_Time:0\nByoyomi:10", Limits(0, 0, 0, 0, 10_000)),
        ("Total_Time:20\nByoyomi:5", Limits(17_000, 20_000, 0, 0, 5_000)),
        ("Total_Time:20\nEND Time\nBEGIN Time-\nTotal_Time:9\nIncrement:1", Limits(17_000, 10_000, 0, 1_000, 0)),
        ("Time_Unit:100msec\nTotal_Time:20\nIncrement:10", Limits(2_700, 3_000, 1_000, 1_000, 0)),
        ("Time_Unit:1min\nTotal_Time:60", Limits(3_420_000, 3_600_000, 0, 0, 0)),
        ("Total_Time:1\nByoyomi:5", Limits(1, 1_000, 0, 0, 5_000)),
    ],
)
def test_clocks_are_the_server_s(table: Table, clock: str, limits: Limits) -> None:
    peer = table.start().connected().begin(summary(clock=clock))
    assert peer.hear().startswith("+7776FU")
    peer.say("+7776FU,T3\n-3334FU,T0")
    assert peer.hear().startswith("+")
    peer.say("#CHUDAN")
    table.ended()
    assert [table.player.asked.get() for _ in range(2)][1][1] == limits


def test_a_game_that_has_begun_is_played_on_with_what_is_left_of_the_clocks(table: Table) -> None:
    begun = f"{START}\n+7776FU,T1\n-3334FU,T50\n+2726FU,T20"
    peer = table.start().connected().begin(summary(turn="-", position=begun))
    assert peer.hear().startswith("-")
    peer.say("#CHUDAN")
    (game,) = table.ended()
    assert game.times == (1, 50, 20)
    sfen, limits = table.player.asked.get()
    assert " w - 4" in sfen
    assert (limits.btime, limits.wtime) == (600_000 - 10_000, 600_000 - 40_000)


@pytest.mark.parametrize("reply", ["3334FU", "8384FU"])
def test_it_ponders_and_is_right_or_wrong(table: Table, reply: str) -> None:
    table.player.options.ponder = True
    peer = table.start().connected().begin()
    assert peer.hear().startswith("+7776FU")
    peer.say("+7776FU,T3")
    table.player.asked.get()
    expected, limits = table.player.asked.get()
    assert limits.ponder
    peer.say(f"-{reply},T7")
    assert peer.hear().startswith("+")
    peer.say("#CHUDAN")
    (game,) = table.ended()
    assert len(game.moves) == 2
    assert table.player.stopped.get() is (reply == "8384FU")
    if reply == "8384FU":
        assert table.player.asked.get()[0] != expected


def test_half_lines_garbage_and_a_second_proposal_change_nothing(table: Table) -> None:
    """What is shown is printable, and what a move is said to have taken can be read again."""
    peer = table.start().connected().begin(summary(clock="Time_Unit:1min").replace("white", "\x1b]0;w\x07"))
    assert peer.hear().startswith("+7776FU")
    peer.raw(b"+77")
    peer.raw("76FU,T3\r\n\0\xff\nLOGIN:me OK\n将棋\n+2726FU,T1\n-99ZZ\n#NONSENSE\n##[CHAT] hello\n-33".encode())
    peer.raw(b"34FU,T99999999999999999999\n")
    assert peer.hear().startswith("+")
    peer.say(summary("game-2"))
    peer.say("+2726FU,T-5\n-8384FU,T999999999\n#RESIGN\n#WIN")
    (game,) = table.ended()
    assert (game.usi, game.times[3], game.win) == (("7g7f", "3c3d", "2g2f", "8c8d"), 999_999_999, "b")
    assert all(line.isprintable() for line in table.said)


def test_an_illegal_move_is_left_to_the_server(table: Table) -> None:
    peer = table.start().connected().begin(summary(turn="-"))
    peer.say("+7776FU,T1")
    assert peer.hear().startswith("-3334FU,'* -35 +")  # evaluations are Black's
    peer.say("-3334FU,T1\n+7775FU,T1\n#ILLEGAL_MOVE\n#WIN")
    assert peer.hear() == "LOGOUT"
    (game,) = table.ended()
    assert (game.usi, game.win, game.ending) == (("7g7f", "3c3d"), "w", "illegal_move")
    assert any("+7775FU is not legal" in line for line in table.said)


def test_a_move_that_the_server_makes_for_us_counts_and_the_end_stops_the_search(table: Table) -> None:
    table.player.waits = True
    peer = table.start().connected().begin()
    table.player.asked.get()
    peer.say("+2726FU,T1")
    assert table.player.stopped.get(timeout=PATIENCE)
    peer.say("-3334FU,T1")
    table.player.asked.get()
    peer.say("#TIME_UP\n#LOSE")
    assert table.player.stopped.get(timeout=PATIENCE)
    (game,) = table.ended()
    assert game.usi == ("2g2f", "3c3d")


@pytest.mark.parametrize("resumed", [True, False])
def test_a_broken_connection_is_made_anew(table: Table, resumed: bool) -> None:
    """A server that lets the game go on tells what was played; it is one game then, and one record."""
    peer = table.start().connected().begin()
    assert peer.hear().startswith("+7776FU")
    peer.say("+7776FU,T3\n-3334FU,T1")
    assert peer.hear().startswith("+")
    peer.raw(b"+27")
    peer.close()
    if resumed:
        table.connected().close()  # as it is while a server begins
    again = table.connected()
    terms = summary(position=f"{START}\n+7776FU,T3\n-3334FU,T1\n+2726FU,T2\n-8384FU,T2" if resumed else START)
    again.begin(terms.replace("Max_Moves:256", "Max_Moves:0"))
    assert again.hear().startswith("+")
    again.say("#RESIGN\n#WIN")
    games = table.ended()
    moves = ("7g7f", "3c3d", "2g2f", "8c8d") if resumed else ("7g7f", "3c3d")
    assert [game.win for game in games] == (["b"] if resumed else [None, "b"])
    assert (games[0].usi, games[0].times[:2]) == (moves, (3, 1))
    assert table.said[-1] == ("1 games: 1 won" if resumed else "2 games: 1 broken off, 1 won")
    assert table.player.options.draw_ply == 0


def test_a_game_that_is_stopped_has_a_record(table: Table) -> None:
    def stop(text: str) -> None:
        if "not the turn" in text:
            raise OneLineError  # Ctrl-C may come at any moment

    table.client._say = stop
    peer = table.start().connected().begin()
    assert peer.hear().startswith("+7776FU")
    peer.say("+7776FU,T3\n+2726FU,T1")
    assert [game.usi for game in table.ended()] == [("7g7f",)]


def test_a_record_of_another_game_is_not_written_over(table: Table) -> None:
    (table.folder / "game-1.csa").write_text("precious")
    peer = table.start().connected().begin()
    peer.say("#CHUDAN")
    table._thread.join(PATIENCE)
    assert (table.folder / "game-1.csa").read_text() == "precious"
    assert len(read(table.folder / "game-1-2.csa")) == 1


@pytest.mark.parametrize(
    "terms", ["Total_Time:ten", "Total_Time:-5", "Byoyomi:1e9", "Time_Unit:1year", "Time_Unit:0sec"]
)
def test_what_cannot_be_played_is_rejected(table: Table, terms: str) -> None:
    peer = table.start().connected()
    peer.hear()
    peer.say(f"LOGIN:me OK\n{summary('odd', clock=terms)}")
    assert peer.hear() == "REJECT odd"
    peer.say(summary("good"))
    assert peer.hear() == "AGREE good"
    peer.say(f"REJECT:good by other\n{summary('better')}")
    assert peer.hear() == "AGREE better"
    peer.say("START:better\n#CHUDAN")
    (game,) = table.ended()
    assert game.event == "better"


@pytest.mark.parametrize(
    "broken",
    ["Your_Turn:?", f"Your_Turn:+\nBEGIN Position\n{START}\n+7775FU\nEND Position",
     f"Your_Turn:+\nBEGIN Position\n{START}\n%TORYO\nEND Position",
     "Your_Turn:-\nBEGIN Position\nP1+OU+OU\nEND Position",
     f"Your_Turn:-\nMax_Moves:many\nBEGIN Position\n{START}\nEND Position"],
)  # fmt: skip
def test_terms_that_make_no_sense(broken: str) -> None:
    with pytest.raises(TermsError):
        parse_terms(broken.splitlines())


@pytest.mark.parametrize(
    ("patience", "play"),
    [({}, lambda peer: peer.say("LOGIN:incorrect")), ({}, lambda peer: peer.close()),
     ({}, lambda peer: peer.raw(b"LOGIN:me O")), ({}, lambda peer: peer.raw(b"x" * 70_000)),
     ({"answer": 0.2}, lambda peer: None), ({"answer": 0.2}, lambda peer: peer.raw(b"\nwhat?\n" * 100))],
)  # fmt: skip
def test_a_first_login_that_fails_ends_it(tmp_path: Path, patience: dict[str, float], play: Any) -> None:
    table = Table(tmp_path, **patience).start()
    peer = table.connected()
    peer.hear()
    play(peer)
    if not patience:
        peer.close()
    assert table.ended() == []
    assert table.failure


SILENT = summary(turn="-", clock="Total_Time:0\nTime_Unit:1msec\nByoyomi:1")
ILLEGAL = summary(turn="-", clock="Total_Time:0\nByoyomi:0\nIncrement:0")


@pytest.mark.parametrize(
    ("limit", "said"),
    [("answer", SILENT[:100]), ("agreement", SILENT), ("agreement", SILENT + 1000 * "\n"),
     ("slack", f"{SILENT}\nSTART:game-1"), ("slack", f"{ILLEGAL}\nSTART:game-1\n+7775FU,T1"),
     ("longest_pause", SILENT[:100] + 20_000 * "\nx")],
    ids=["summary", "agreement", "flood", "game", "illegal", "endless"],
)  # fmt: skip
def test_a_server_that_falls_silent_is_left(table: Table, limit: str, said: str) -> None:
    """It has little time from the login on, and enough of it again when the next try begins."""
    patience = table.client._patience

    def hear(text: str) -> None:
        table.said.append(text)
        if text.startswith("logged in"):
            table.client._patience = patience._replace(**{limit: 0.2})
        elif "the next try" in text:
            table.client._patience = patience

    table.client._say = hear
    peer = table.start().connected()
    peer.hear()
    peer.say(f"LOGIN:me OK\n{said}")
    table.connected().begin().say("#RESIGN\n#WIN")
    games = table.ended()
    assert [game.win for game in games][-1] == "b"
    assert any("without end" in line for line in table.said) == (limit == "longest_pause")
    peer.close()


def test_the_connection_is_kept_alive(tmp_path: Path) -> None:
    peer = Table(tmp_path, keep_alive=0.01).start().connected()
    peer.hear()
    assert peer.hear_anything() == b"\n"
    peer.close()


def test_a_full_disk_does_not_cost_the_game(table: Table) -> None:
    table.client._records = table.folder / "gone"
    peer = table.start().connected().begin()
    assert peer.hear().startswith("+7776FU")
    peer.say("+7776FU,T1\n#RESIGN\n#WIN")
    assert peer.hear() == "LOGOUT"
    table.ended()
    assert any(line.startswith("not saved: ") for line in table.said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_log_and_output_does_not_either(tmp_path: Path) -> None:
    options = ["--games=1", "--option=Backend=uniform", "--log=/dev/full", f"--records={tmp_path}", "--user=me"]
    with socket.create_server(("127.0.0.1", 0)) as listener, Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "pydlshogi.csa", "127.0.0.1", f"--port={listener.getsockname()[1]}", *options]
        streams = {"stdout": full, "stderr": subprocess.PIPE}
        client = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"CSA_PASSWORD": "secret"}, **streams)
        peer = Peer(listener.accept()[0]).begin()
        peer.say("#CHUDAN")
        assert peer.hear() == "LOGOUT"
        assert client.communicate()[1] == b""
    assert [game.ending for game in read(tmp_path / "game-1.csa")] == ["interrupted"]


def test_nobody_listens_and_there_is_no_password(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.delenv("CSA_PASSWORD", raising=False)
    with socket.socket() as taken:  # so that nobody else listens there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        options = f"--port {port} --user me --option Backend=uniform --records {tmp_path}".split()
        assert csa.main(["127.0.0.1", *options]) == 1
        assert "CSA_PASSWORD: there is no password" in capsys.readouterr().err
        monkeypatch.setenv("CSA_PASSWORD", "x")
        for host, said in (("127.0.0.1", f"127.0.0.1:{port}: "), ("wdoor..jp", "wdoor..jp: not the name of a host")):
            assert csa.main([host, *options]) == 1
            assert said in capsys.readouterr().err


@pytest.fixture
def real_server(tmp_path: Path) -> Iterator[int]:
    """The port of shogi-server, which keeps its records in a copy of its own."""
    ruby = shutil.which("ruby")
    if ruby is None or not SERVER.exists():
        pytest.skip(f"needs ruby, and a checkout of TadaoYamaoka/shogi-server at {SERVER.parent}")
    copy = shutil.copytree(SERVER.parent, tmp_path / "server", ignore=shutil.ignore_patterns(".git"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    server = subprocess.Popen([ruby, copy / "shogi-server", "test", str(port)], stdout=subprocess.PIPE, text=True)
    assert any("GenericServer#start" in line for line in iter(server.stdout.readline, ""))
    yield port
    server.kill()
    server.communicate()


@pytest.mark.timeout(600)
def test_two_of_us_play_on_the_real_server(real_server: int, tmp_path: Path) -> None:
    """Two games, by increments and by byoyomi; what we keep of them is what the server keeps."""
    common = ["127.0.0.1", "--port", str(real_server), "--floodgate", "--games", "1"]
    common += ["--option", "Backend=uniform", "--option", "Const_Playout=10", "--option", "Threads=1"]
    for game_name in ("quick-60-5F", "quick-0-10"):
        folders = {side: tmp_path / game_name / side for side in "BW"}
        players = []
        for side, folder in folders.items():
            command = [sys.executable, "-m", "pydlshogi.csa", *common, "--user", side, "--records", str(folder)]
            env = os.environ | {"CSA_PASSWORD": f"{game_name}-{side},x"}
            streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
            players.append(subprocess.Popen(command, cwd=ROOT, env=env, text=True, **streams))
        said = [player.communicate(timeout=500)[0] for player in players]
        assert [player.returncode for player in players] == [0, 0], said
        (kept,) = (tmp_path / "server").rglob(f"*{game_name}*.csa")
        server_s = read(kept)[0]
        own = [read(next(folder.glob("*.csa")))[0] for folder in folders.values()]
        for game in own:
            assert (game.moves, game.times, game.win) == (server_s.moves, server_s.times, server_s.win), said
            assert game.ending not in {"time_up", "illegal_move", "abnormal"}
        assert any(evaluation is not None for evaluation in server_s.evals)
