"""All checks of the project: formatting, lint, types, kernels, then the tests. The last line sums them up.

Run by bat/test.sh and bat/test.bat with the environment's Python, in any working directory.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy", "--strict"],
    "kernels": ["pydlshogi.compile"],  # or each process of the tests would compile them
    # One more than there are cores, for tests wait as well. A file's stay together, as long as all have enough to do:
    # they share runs that take long to make.
    "tests": ["pytest", "-q", f"--numprocesses={min((os.cpu_count() or 1) + 1, 4)}", "--dist=worksteal", *sys.argv[1:]],
}


def run(name: str, stdout: int | None = None) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", *CHECKS[name]]
    return subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False, stdout=stdout, stderr=stdout and subprocess.STDOUT
    )


def main() -> int:
    begin = time.monotonic()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each process of the tests would compile PyTorch anew: 2 to 4 s
    verdicts = []
    with ThreadPoolExecutor(2) as pool:  # each of them but the tests keeps one core busy
        early = {name: pool.submit(run, name, subprocess.PIPE) for name in CHECKS if name != "tests"}
        for name, command in CHECKS.items():
            print(f"== {' '.join(command)}", flush=True)
            done = early[name].result() if name in early else run(name)
            sys.stdout.buffer.write(done.stdout or b"")
            verdicts.append(f"{name} {'ok' if done.returncode == 0 else 'FAILED'}")
    print(f"== {', '.join(verdicts)} ({time.monotonic() - begin:.0f} s)")
    return int(any(verdict.endswith("FAILED") for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
