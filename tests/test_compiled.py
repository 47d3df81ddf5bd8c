"""What is on the disk never stops a kernel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from pydlshogi.compiled import compiled

@compiled
def double(number):
    return 2 * number

print(double(21))
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text(MODULE)
    return path


def run(module: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(module.parent / "cache")}
    return subprocess.run([sys.executable, module], capture_output=True, text=True, env=environment, check=True)


@pytest.mark.parametrize(
    ("suffix", "damage"), [(".nbi", b""), (".nbi", b"\x80\x04cnowhere\nNothing\n."), (".nbc", b"half of a fi")]
)
def test_a_damaged_cache_is_compiled_anew(module: Path, suffix: str, damage: bytes) -> None:
    assert run(module).stdout == "42\n"
    files = list(module.parent.rglob(f"*{suffix}"))
    assert files
    for file in files:
        file.write_bytes(damage)
    again = run(module)
    assert again.stdout == "42\n"
    assert "compiled anew" in again.stderr
