"""How the programs of the command line end."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from errno import EEXIST, ENOENT, ENOSPC
from pathlib import Path

import pytest

from pydlshogi.support.command_line import exit_status
from pydlshogi.support.pool import PoolError

ROOT = Path(__file__).resolve().parent.parent


def raising(error: BaseException) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


def stopped_in_a_lock() -> None:
    try:
        raise KeyboardInterrupt
    finally:
        threading.Lock().release()


@pytest.mark.parametrize(
    ("run", "status", "line"),
    [
        (lambda: None, 0, ""),
        (lambda: 3, 3, ""),
        (raising(KeyError("lost")), 1, "tool: 'lost'\n"),
        (raising(OSError(ENOSPC, "No space left on device", "file")), 1, "tool: file: No space left on device\n"),
        (raising(KeyboardInterrupt()), 130, "tool: stopped\n"),
        (stopped_in_a_lock, 130, "tool: stopped\n"),
        (raising(PoolError("6 was given up")), 1, "tool: 6 was given up\n"),
        (raising(RuntimeError("CUDA out of memory.\nmore")), 1, "tool: out of memory: CUDA out of memory.\n"),
    ],
)
def test_a_status_and_at_most_one_line(run: Callable[[], int | None], status: int, line: str, capsys) -> None:
    assert exit_status("tool", run, KeyError) == status
    assert capsys.readouterr() == ("", line)


def test_how_to_go_on_follows_what_broke_it_off(capsys: pytest.CaptureFixture[str]) -> None:
    for error in (OSError(ENOSPC, "No space left on device", "file"), KeyboardInterrupt(), PoolError("6 was given up")):
        exit_status("tool", raising(error), resume="say it again")
        assert capsys.readouterr().err.endswith("; say it again\n")
    for error in (OSError(ENOENT, "No such file", "file"), OSError(EEXIST, "File exists", "file")):
        exit_status("tool", raising(error), resume="say it again")
        assert capsys.readouterr().err == f"tool: file: {error.strerror}\n"


def test_a_defect_keeps_its_traceback() -> None:
    for error in (IndexError(), RuntimeError()):
        with pytest.raises(type(error)):
            exit_status("tool", raising(error), KeyError)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
@pytest.mark.parametrize(("then", "status", "line"), [("", 1, b""), ("KeyboardInterrupt", 130, b"tool: stopped\n")])
def test_a_reader_that_leaves_ends_it_without_a_line(then: str, status: int, line: bytes) -> None:
    script = f"""
import sys
from pydlshogi.support.command_line import exit_status

def run():
    try:
        while True:
            print("line", flush=True)
    except OSError:
        raise {then}

sys.exit(exit_status("tool", run))
"""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-E", "-c", script], cwd=ROOT, **pipes) as process:  # with its buffer
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == line
    assert process.returncode == status


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill sends no Ctrl-C there")
@pytest.mark.parametrize("module", ["pydlshogi.bench", "utils.plot_log"])
def test_ctrl_c_while_a_program_is_imported(module: str, tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    command = [sys.executable, "-m", module]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith(f"{module.split('.')[1]}.py: stopped\n")
    assert done.stderr.count("\n") == 1
