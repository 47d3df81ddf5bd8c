"""Build the packages and try them: `python -m utils.package --out dist`

`build` makes the sdist of this checkout and the wheel of the sdist. The wheel is installed with all it needs into a new
environment, where its engine has to answer.

`--windows python-3.13.9-embed-amd64.zip` adds a zip for people who have no Python: unpacked, its .bat files start the
programs. What it takes is the embeddable package of https://www.python.org/downloads/windows, of the same minor version
as the Python that runs this, for pip asks its own version. All of it needs the package index, and `build`
(`sh bat/environment.sh test`).
"""

import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from configparser import ConfigParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import exit_status, parser_for

ROOT: Final = Path(__file__).resolve().parent.parent
QUESTIONS: Final = "usi\nisready\nposition startpos\ngo nodes 50\nquit\n"
ANSWERS: Final = ("usiok", "readyok", "bestmove ")
RUNTIME: Final = "msvc-runtime"
"""The part of Microsoft's C++ runtime that Python does not bring along."""


def run(*command: str | Path, text: str = "") -> str:
    """What `command` prints when it reads `text`. Raises OneLineError where it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OneLineError(f"{' '.join(map(str, command))}: {(done.stdout + done.stderr).strip()[-300:]}")
    return done.stdout


def check(wheel: Path, work: Path) -> None:
    """Install `wheel` where nothing else is; its engine answers. Raises OneLineError."""
    venv.create(work)
    programs = work / ("Scripts" if sys.platform == "win32" else "bin")
    run(sys.executable, "-m", "pip", "--python", work, "install", wheel)
    said = run(programs / "pydlshogi", text=QUESTIONS).splitlines()
    if missing := [answer for answer in ANSWERS if not any(line.startswith(answer) for line in said)]:
        raise OneLineError(f"the installed engine does not say {', '.join(missing)}; it says {said[-3:]}")


def commands_of(wheel: Path) -> dict[str, str]:
    """The module that each command of a wheel starts."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        points = ConfigParser()
        points.read_string(archive.read(name).decode())
    return {command: target.partition(":")[0] for command, target in points["console_scripts"].items()}


def pack_for_windows(wheel: Path, embeddable: Path, work: Path, out: Path) -> Path:
    """`wheel`, the Python of `embeddable` and all packages as a zip. Raises OneLineError."""
    top = work / "windows" / "pydlshogi"
    python, version = top / "python", f"3{sys.version_info.minor}"
    with zipfile.ZipFile(embeddable) as archive:
        archive.extractall(python)
    if not (paths := python / f"python{version}._pth").exists():
        raise OneLineError(f"{embeddable} is no embeddable Python 3.{version[1:]}")
    packages = python / "Lib" / "site-packages"
    paths.write_text(f"{paths.stem}.zip\n.\nLib\\site-packages\n")
    system = ["--platform", "win_amd64", "--implementation", "cp", "--python-version", version]
    pip = [sys.executable, "-m", "pip", "install", "--only-binary=:all:", *system, "--target", str(packages)]
    run(*pip, wheel, RUNTIME)
    for library in packages.glob("*.dll"):
        library.replace(python / library.name)
    for command, module in commands_of(wheel).items():
        # The window of a double click stays until the error has been read; without a keyboard timeout ends at once.
        launcher = f'@echo off\r\n"%~dp0python\\python.exe" -m {module} %* || timeout /t 60 2>nul\r\n'
        (top / f"{command}.bat").write_bytes(launcher.encode("ascii"))
    name = "-".join(wheel.name.split("-")[:2])
    return Path(shutil.make_archive(str(out / f"{name}-windows"), "zip", top.parent, top.name))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.package", __doc__)
    parser.add_argument("--out", type=Path, default=Path("dist"), metavar="FOLDER", help="(default: %(default)s)")
    parser.add_argument("--windows", type=Path, metavar="ZIP", help="an embeddable Python: make the zip, too")
    options = parser.parse_args(arguments)

    def make() -> None:
        with TemporaryDirectory(prefix="package") as work:
            run(sys.executable, "-m", "build", "--outdir", Path(work, "built"), ROOT)
            options.out.mkdir(parents=True, exist_ok=True)
            for made in Path(work, "built").iterdir():
                shutil.copy(made, options.out)
            (wheel,) = (options.out / made.name for made in Path(work, "built").glob("*.whl"))
            check(wheel, Path(work, "installed"))
            print(f"{wheel}: installed and answers")
            if options.windows:
                print(pack_for_windows(wheel, options.windows, Path(work), options.out))

    return exit_status("package", make, zipfile.BadZipFile)


if __name__ == "__main__":
    sys.exit(main())
