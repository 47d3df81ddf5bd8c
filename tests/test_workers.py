"""A pool's processes work, and none outlives the program that started it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pydlshogi.support.processes import workers

PROGRAM = """
import os
import sys
from pydlshogi.support.processes import workers

if __name__ == "__main__":
    with workers(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        sys.stdin.read()
"""


def test_the_work_is_done_elsewhere() -> None:
    with workers(0) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()


def test_no_worker_outlives_a_killed_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    root = str(Path(__file__).resolve().parent.parent)
    with subprocess.Popen(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": root},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        worker = psutil.Process(int(process.stdout.readline()))
        process.kill()
    worker.wait(timeout=60)


def test_after_an_error_what_has_not_begun_is_not_done(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(500)]

    def break_off() -> None:
        with workers(1) as pool:
            results = pool.map(Path.touch, files)
            for _ in results:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert 0 < sum(file.exists() for file in files) < len(files)


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
def test_ctrl_c_is_for_whoever_started_them() -> None:
    with workers(1) as pool:
        worker = pool.submit(os.getpid).result()
        os.kill(worker, signal.SIGINT)
        assert pool.submit(os.getpid).result() == worker


STRUCK_AT_THE_START = """
import os
import signal
from pydlshogi.support.processes import workers

if __name__ == "__mp_main__":
    os.kill(os.getpid(), signal.SIGINT)
if __name__ == "__main__":
    with workers(2) as pool:
        print(sum(pool.map(abs, range(10))))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
def test_ctrl_c_spares_a_worker_that_is_still_starting(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(STRUCK_AT_THE_START)
    root = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": root}
    ended = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "45\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
def test_ctrl_c_is_one_line(tmp_path: Path) -> None:
    """As a terminal sends it: to all processes of the group."""
    root = Path(__file__).resolve().parent.parent
    game = (root / "kifu" / "selfplay" / "selfplay_00001.csa").read_bytes()
    for number in range(1000):
        (tmp_path / f"{number}.csa").write_bytes(game)
    with subprocess.Popen(
        [sys.executable, "-m", "utils.filter_csa", str(tmp_path), "--rejected", "--workers", "1"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert b".csa: " in process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == b"filter_csa: stopped\n"
