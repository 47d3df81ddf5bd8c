"""The engine as a process: start-up, pipes, signals, the log. What is said is tested in test_usi.py."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import cshogi.cli
import pytest
from usi_driver import ROOT, OverPipes

from pydlshogi.usi.process import LARGEST_LOG, LOG_NAME, decoded

ENGINES = {
    "scripted": [sys.executable, str(ROOT / "tests" / "scripted_player.py")],
    "mcts": [sys.executable, "-P", "-m", "pydlshogi.usi.usi_mcts_player"],
}
HEAVY = {"chainer", "cshogi", "cupy", "numba", "numpy", "onnx", "onnxruntime", "openvino", "torch"}

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., OverPipes]]:
    """Starts engine processes; none is left over after the test."""
    with ExitStack() as started:
        yield lambda command=ENGINES["scripted"], **environment: started.enter_context(
            closing(OverPipes(command, tmp_path / "state", environment))
        )


@pytest.fixture
def engine(start: Callable[..., OverPipes]) -> OverPipes:
    """A scripted engine that said readyok."""
    engine = start()
    engine.start()
    return engine


def log_of(engine: OverPipes) -> str:
    return (engine.state / "pydlshogi" / LOG_NAME).read_text(encoding="utf-8")


def program(body: str) -> list[str]:
    """A scripted engine whose player is changed by `body`."""
    source = f"""
import os, sys, threading
sys.path.insert(0, {str(ROOT / "tests")!r})
from scripted_player import ScriptedPlayer
from pydlshogi.usi.usi import run

class Player(ScriptedPlayer):
{body}

run(Player().engine())
"""
    return [sys.executable, "-c", source]


@pytest.mark.parametrize(
    ("argument", "status", "said"),
    [("--help", 0, "[-h] The engine of a game: speaks USI"), ("--threads=2", 2, "unrecognized arguments: --threads=2")],
)
def test_with_arguments_it_says_what_it_is(argument: str, status: int, said: str) -> None:
    command, environment = [*ENGINES["mcts"], argument], os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, input="", capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert said in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("command", ENGINES.values(), ids=ENGINES)
def test_registration(start: Callable[..., OverPipes], command: list[str]) -> None:
    engine = start(command)
    engine.send_bytes(b"\nusi\nquit\n")  # it may still import
    first, *_, last = engine.rest()
    assert (first[:8], last) == ("id name ", "usiok")
    assert engine.end() == (0, b"")


def test_nothing_heavy_is_imported_before_usiok() -> None:
    script = """
import json, sys
from pydlshogi.games.shogi.game import GAME as shogi
from pydlshogi.usi.process import Process
from pydlshogi.usi.usi import Usi
loaded = []
Usi(shogi.mcts(), lambda line: loaded.extend(sys.modules) if line == "usiok" else None).run(["usi"])
print(json.dumps(loaded))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY & set(json.loads(done.stdout))


def test_stdin_is_only_read_by_the_engine_itself(start: Callable[..., OverPipes]) -> None:
    """A GUI sends nothing more before `readyok`: to wait for more, or to take it, would have the engine hang."""
    engine = start(
        program("""
    def loading(self, options):
        def load():
            import subprocess
            subprocess.run([sys.executable, "-c", "import sys; sys.stdin.read()"])
        return load
""")
    )
    engine.start()


def test_an_endless_load_can_be_left(start: Callable[..., OverPipes]) -> None:
    engine = start()
    engine.send("usi", "setoption name Load value endless", "isready", "stop", "usi")
    engine.until("usiok")
    engine.until("usiok")
    engine.send("quit")
    assert engine.end() == (0, b"")


@pytest.mark.parametrize(
    ("go", "how"),
    [("", "end of input"), ("go infinite", "end of input"), ("go ponder", "quit"),
     ("go mate infinite", "end of input"), ("bench 99", "quit")],
)  # fmt: skip
def test_it_ends_at_once_whatever_it_does(engine: OverPipes, go: str, how: str) -> None:
    if how == "quit":
        go += "\nquit"
    engine.send(go)
    if how == "end of input":
        engine.process.stdin.close()  # type: ignore[union-attr]
    assert engine.end() == (0, b"")


@on_posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_signals_end_it_quietly(start: Callable[..., OverPipes], name: str) -> None:
    engine = start(program("    pass"))
    engine.start()
    engine.send("go infinite")
    engine.until("info")
    engine.process.send_signal(getattr(signal, name))
    assert engine.end() == (0, b"")


def test_nobody_reads_any_more(engine: OverPipes) -> None:
    null = os.open(os.devnull, os.O_RDONLY)  # the reader of this test holds the pipe open
    os.dup2(null, engine.process.stdout.fileno())
    os.close(null)
    while engine.process.poll() is None:
        try:
            engine.send("usi")
        except OSError:
            break
    assert engine.end() == (0, b"")


@on_posix
def test_a_real_client_plays_a_whole_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """cshogi's client reads a line `info ... score ... pv ...` before every bestmove, and plays by its own clock."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    engine = tmp_path / "engine.sh"
    engine.write_text(f"#!/bin/sh\nexec {' '.join(ENGINES['mcts'])}\n", encoding="utf-8")
    engine.chmod(0o755)
    options = {"Backend": "uniform", "USI_Hash": 16, "Const_Playout": 20}
    both = {"options1": options, "options2": options, "games": 1, "csa": str(tmp_path), "byoyomi": 60_000}
    result = cshogi.cli.main(str(engine), str(engine), **both, draw=30, ponder=True, print_summary=False)
    assert result["total"] == 1
    (record,) = [record for file in tmp_path.glob("*.csa") for record in cshogi.CSA.Parser.parse_file(str(file))]
    assert len(record.moves) == 30 or record.endgame in {"%TORYO", "%KACHI"}


def test_bytes_of_any_kind(engine: OverPipes) -> None:
    engine.send_bytes((bytes(range(256)) * 40).replace(b"\n", b"") + b"\n")
    engine.send_bytes(b"\xff\xfe\x00u\x00s\x00i\n\x00\n" + b"x" * 1_000_000 + b"\n")
    engine.send_bytes(b"\xef\xbb\xbfusi\r\nisready\r\n")
    assert engine.until("readyok")[-2] == "usiok"
    engine.send_bytes(b"usi\risready\r\n")
    engine.until("usiok")
    engine.until("readyok")
    engine.send_bytes("setoption name Words value 将棋\n".encode())
    assert engine.settle() == []
    engine.send("getoption Words")
    assert engine.settle() == [r"Words \u5c06\u68cb"]
    for piece in (b"position start", b"pos moves 7g7", b"f\ngo nodes ", b"1\n"):
        engine.send_bytes(piece)
    assert engine.until("bestmove")


def test_paths_in_the_encoding_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.getencoding", lambda: "cp932")
    assert decoded("C:\\将棋\\モデル.onnx".encode("cp932")) == "C:\\将棋\\モデル.onnx"
    assert decoded("C:\\将棋".encode()) == "C:\\将棋"
    monkeypatch.setattr("locale.getencoding", lambda: "ascii")
    assert decoded("usi 将 ".encode() + b"\xff") == "usi 将 \ufffd"


@on_posix
def test_a_path_beyond_ascii_where_the_system_knows_ascii_alone(start, tmp_path: Path) -> None:
    engine = start(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    engine.send_bytes(f"setoption name Log_File value {tmp_path}/将棋.log\n".encode())
    assert engine.settle() == []
    assert (tmp_path / "将棋.log").exists()


def test_stdout_is_protocol_and_everything_else_is_in_the_log(start: Callable[..., OverPipes]) -> None:
    engine = start(
        program("""
    def loading(self, options):
        def load():
            print("printed", flush=True)
            os.write(1, b"written\\n")
            os.write(2, b"complained\\n")
            raise RuntimeError("a defect")
        return load
""")
    )
    engine.send("isready")
    assert engine.until("info string Error!") == ["info string Error! RuntimeError: a defect (the log says more)"]
    engine.send("quit")
    assert engine.rest() == []
    assert engine.end() == (0, b"")
    assert {"printed", "written", "complained"} <= set(log_of(engine).split())


def test_the_log_tells_of_a_defect_and_with_debug_messages_what_was_said(engine: OverPipes) -> None:
    engine.send("setoption name Load value defect", "isready")
    engine.until("info string Error!")
    assert "RuntimeError: a defect" in log_of(engine)
    assert "Traceback" in log_of(engine)
    assert "> isready" not in log_of(engine)
    engine.send("setoption name Load value quick", "setoption name DebugMessage value true")
    engine.settle()
    engine.go("go nodes 1")
    assert "> go nodes 1" in log_of(engine)
    assert "< bestmove" in log_of(engine)


@on_posix
def test_a_log_that_cannot_be_written_is_said_and_play_goes_on(engine: OverPipes, tmp_path: Path) -> None:
    """Nor does it take another file's place, or wait for anybody."""
    network, pipe = tmp_path / "network.npz", tmp_path / "pipe"
    network.write_bytes(b"PK\x03\x04\0\0")
    os.mkfifo(pipe)
    for path in (network, pipe, tmp_path):
        engine.send(f"setoption name Log_File value {path}")
        (error,) = engine.settle()
        assert error.startswith("info string Error! Log_File: ")
    assert network.read_bytes() == b"PK\x03\x04\0\0"
    engine.send("setoption name Load value defect", "isready")
    engine.until("info string Error!")
    assert "RuntimeError" in log_of(engine), "the old log goes on"
    engine.send(f"setoption name Log_File value {tmp_path / 'my log.txt'}", "isready")
    engine.until("info string Error!")
    assert "RuntimeError" in (tmp_path / "my log.txt").read_text(encoding="utf-8")


def test_a_log_that_has_grown_is_put_aside(start: Callable[..., OverPipes], tmp_path: Path) -> None:
    folder = tmp_path / "state" / "pydlshogi"
    folder.mkdir(parents=True)
    (folder / LOG_NAME).write_bytes(b"x" * (LARGEST_LOG + 1))
    engine = start()
    engine.ask("usi", "usiok")
    assert (folder / LOG_NAME).stat().st_size < LARGEST_LOG
    assert (folder / LOG_NAME).with_suffix(".old").stat().st_size == LARGEST_LOG + 1
