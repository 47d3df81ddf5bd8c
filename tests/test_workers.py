"""Ctrl-C is for whoever started processes, not for these."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

STRUCK_AT_THE_START = """
import os
import signal
from pydlshogi.support.processes import ProcessCrew

if __name__ == "__mp_main__":
    os.kill(os.getpid(), signal.SIGINT)
if __name__ == "__main__":
    with ProcessCrew(2) as crew:
        print(sum(crew.in_order(abs, range(10), 60)))
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
