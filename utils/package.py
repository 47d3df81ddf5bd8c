"""Build the packages and try them: `python -m utils.package --out dist`

The sdist is made of this checkout and the wheel of the sdist. The wheel is installed with all it needs into a new
environment, where its commands have to answer.

`--windows python-3.13.9-embed-amd64.zip` adds a zip for people who have no Python: unpacked, its .bat files start the
programs. What it takes is the embeddable package of https://www.python.org/downloads/windows, of the same minor version
as the Python that runs this. All of it needs the package index.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.errors import OneLineError

ROOT: Final = Path(__file__).resolve().parent.parent
QUESTIONS: Final = "usi\nisready\nposition startpos\ngo nodes 50\nquit\n"
ANSWERS: Final = ("usiok", "readyok", "bestmove ")
RUNTIME: Final = "msvc-runtime"
"""The part of Microsoft's C++ runtime that Python does not bring along."""


def run(command: Sequence[str | Path], text: str = "", environ: Mapping[str, str] | None = None) -> str:
    """What `command` prints when it reads `text`. Raises OneLineError where it fails."""
    done = subprocess.run(command, input=text, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        why = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise OneLineError(f"{' '.join(map(str, command))}: {why[-1] if why else done.returncode}")
    return done.stdout


def programs(environment: Path) -> Path:
    """Where a new environment keeps its programs."""
    venv.create(environment)
    return environment / ("Scripts" if sys.platform == "win32" else "bin")


def install(python: Path, package: str | Path) -> None:
    """For another Python, which needs no pip of its own. Raises OneLineError."""
    run([sys.executable, "-m", "pip", "--python", python, "install", package])


def build(out: Path, work: Path) -> Path:
    """Make sdist and wheel, and return the wheel."""
    python = programs(work / "builder") / "python"
    install(python, "build")
    run([python, "-m", "build", "--outdir", work / "built", ROOT])
    made = sorted((work / "built").iterdir())
    (wheel,) = (path for path in made if path.suffix == ".whl")
    return [Path(shutil.copy(path, out)) for path in made][made.index(wheel)]


def commands_of(wheel: Path) -> dict[str, str]:
    """The module that each command of a wheel starts."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        points = ConfigParser()
        points.read_string(archive.read(name).decode())
    return {command: target.partition(":")[0] for command, target in points["console_scripts"].items()}


def check(wheel: Path, work: Path) -> None:
    """Install `wheel` where nothing else is; its commands answer. Raises OneLineError."""
    folder = programs(work / "installed")
    install(folder / "python", wheel)
    elsewhere = {"XDG_CACHE_HOME": str(work), "XDG_STATE_HOME": str(work), "LOCALAPPDATA": str(work)}
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | elsewhere
    for command in commands_of(wheel):
        run([folder / command, "--help"], environ=environ)
    said = run([folder / "pydlshogi"], QUESTIONS, environ).splitlines()
    if missing := [answer for answer in ANSWERS if not any(line.startswith(answer) for line in said)]:
        raise OneLineError(f"the installed engine does not say {', '.join(missing)}; it says {said[-3:]}")


def pack_for_windows(wheel: Path, embeddable: Path, work: Path, out: Path) -> Path:
    """`wheel`, the Python of `embeddable` and all packages as a zip. Raises OneLineError."""
    top = work / "windows" / "pydlshogi"
    python = top / "python"
    with zipfile.ZipFile(embeddable) as archive:
        archive.extractall(python)
    paths = sorted(python.glob("python3*._pth"))
    version = re.fullmatch(r"python3(\d+)", paths[0].stem) if paths else None
    if version is None:
        raise OneLineError(f"{embeddable} is no embeddable Python 3: it has no python3*._pth")
    if int(version[1]) != sys.version_info.minor:
        raise OneLineError(
            f"{embeddable} is Python 3.{version[1]}: run this with the same, for pip asks its own version"
        )
    packages = python / "Lib" / "site-packages"
    paths[0].write_text(f"{paths[0].stem}.zip\n.\nLib\\site-packages\n")
    system = ["--platform", "win_amd64", "--implementation", "cp", "--python-version", f"3.{version[1]}"]
    pip = [sys.executable, "-m", "pip", "install", "--only-binary=:all:", *system, "--target", str(packages)]
    run([*pip, str(wheel), RUNTIME])
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
        options.out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="package") as place:
            work = Path(place)
            wheel = build(options.out, work)
            check(wheel, work)
            print(f"{wheel}: installed and answers")
            if options.windows:
                print(pack_for_windows(wheel, options.windows, work, options.out))

    return exit_status("package", make, zipfile.BadZipFile)


if __name__ == "__main__":
    sys.exit(main())
