"""A pool's processes work, and none outlives the program that started it."""

import os
import subprocess
import sys
from pathlib import Path

import psutil

from pydlshogi.workers import workers

PROGRAM = """
import os
import sys
from pydlshogi.workers import workers

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
