"""All checks of the project, one after the other: formatting, lint, types, kernels, tests. The last line sums them up.

Run by bat/test.sh and bat/test.bat with the environment's Python, in any working directory.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy", "--strict"],
    "kernels": ["pydlshogi.compile"],  # or each process of the tests would compile them
    # A file's tests stay together, as long as both have enough to do: they share runs that take long to make.
    "tests": ["pytest", "--quiet", f"--numprocesses={min(os.cpu_count() or 1, 4)}", "--dist=worksteal", *sys.argv[1:]],
}


def main() -> int:
    begin = time.monotonic()
    verdicts = []
    for name, command in CHECKS.items():
        print(f"== {' '.join(command)}", flush=True)
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
        verdicts.append(f"{name} {'ok' if done.returncode == 0 else 'FAILED'}")
    print(f"== {', '.join(verdicts)} ({time.monotonic() - begin:.0f} s)")
    return int(any(verdict.endswith("FAILED") for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
