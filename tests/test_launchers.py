"""The launchers as a GUI starts them: real venv, real pip, made-up wheels, and a stand-in for the engine."""

import importlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest
from test_package import made_up

ROOT = Path(__file__).resolve().parent.parent
DECLARED = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
LAUNCHERS = {
    "mcts_player": "pydlshogi.usi.usi_mcts_player",
    "policy_player": "pydlshogi.usi.usi_policy_player",
    "search1_player": "pydlshogi.usi.usi_search1_player",
    "dobutsu": "pydlshogi.usi.usi_dobutsu_player",
    "othello": "pydlshogi.games.othello.protocols.serve",
    "othello_alphabeta": "pydlshogi.games.othello.protocols.serve",
    "board": "pydlshogi.web.__main__",
    "csa": "pydlshogi.csa",
}
"""By the name of the script, the module that it starts."""
ENGINE = """
import json, os, sys
sys.stderr.write("engine's stderr\\n")
for line in sys.stdin:
    if line.strip() == "usi":
        facts = {"pid": os.getpid(), "prefix": sys.prefix, "path": sys.path, "module": __spec__.name}
        print(json.dumps(facts), flush=True)
    if line.strip() == "quit":
        sys.exit(7)
"""

COMPILE = """
import os, sys
from contextlib import suppress
from pathlib import Path
print(*sys.argv, os.environ["PYTHONPATH"], file=Path(__file__).with_name("compiled").open("a"))
if Path(__file__).with_name("fail").exists():
    sys.exit("compile: no network")
"""
"""A stand-in for pydlshogi.compile, which notes each time that it is run."""

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of empty packages with the names and the lowest versions that pyproject.toml asks for."""
    folder = tmp_path_factory.mktemp("wheels")
    for requirement in tomllib.loads(DECLARED)["project"]["dependencies"]:
        name, version = re.fullmatch(r"([\w-]+)>=([\d.]+),<[\d.]+(?:;.*)?", requirement).groups()
        name = name.replace("-", "_")
        made_up(folder, name, {f"{name}/__init__.py": ""}, version)
    return folder


STEP = "info string Step "
UNDER_WAY = (STEP, "info string Another start installs")
"""How lines begin that say what is under way; how many come hangs on the machine."""


class Checkout:
    """A copy of what the launchers need, in a folder whose name has blanks and Japanese in it."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        self.root = folder / "将棋 engine" / "pydlshogi"
        shutil.copytree(ROOT / "bat", self.root / "bat")
        self.declare(DECLARED)
        for module in LAUNCHERS.values():
            path = self.root.joinpath(*module.split(".")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(ENGINE, encoding="utf-8")
        (self.root / "pydlshogi" / "compile.py").write_text(COMPILE, encoding="utf-8")
        self.programs = folder / "bin"
        self.programs.mkdir()
        (self.programs / "python3").symlink_to(os.path.realpath(sys.executable))
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        (self.elsewhere / "json.py").write_text("raise ImportError('the working directory is on sys.path')")
        self.environ = {
            "HOME": str(folder),
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_FIND_LINKS": str(wheels),
            "PIP_NO_INDEX": "1",
            "PYTHONPATH": str(self.elsewhere),
        }

    @property
    def environment(self) -> Path:
        return self.root / ".venv"

    @property
    def compiled(self) -> int:
        """How often the search was compiled while packages were installed."""
        notes = self.root / "pydlshogi" / "compiled"
        return notes.read_text(encoding="utf-8").count(" --search ") if notes.exists() else 0

    def declare(self, text: str) -> None:
        (self.root / "pyproject.toml").write_text(text, encoding="utf-8")

    def begin(self, player: str = "mcts_player", **environ: str) -> "subprocess.Popen[str]":
        """Start a launcher as a GUI does."""
        return self.begin_file(self.root / "bat" / f"{player}.sh", **environ)

    def begin_file(self, launcher: Path, **environ: str) -> "subprocess.Popen[str]":
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([launcher], cwd=self.elsewhere, env=self.environ | environ, text=True, **streams)

    def play(self, player: str = "mcts_player", **environ: str) -> tuple[int, list[str], str]:
        """Exit status, lines of stdout and stderr of an engine that is asked `usi` and `quit`, without the steps."""
        process = self.begin(player, **environ)
        out, err = process.communicate("usi\nquit\n")
        return process.returncode, [line for line in out.splitlines() if not line.startswith(UNDER_WAY)], err

    def starts(self, player: str = "mcts_player", **environ: str) -> list[str]:
        """The lines of a start that becomes the engine."""
        code, out, err = self.play(player, **environ)
        assert (code, err) == (7, "engine's stderr\n")
        assert is_engine(out[-1], self)
        return out

    def fails(self, **environ: str) -> str:
        """What is said, on stdout for a GUI and on stderr for people, where there can be no engine."""
        code, out, err = self.play(**environ)
        assert (code, out[-1]) == (1, f"info string Error! {err.removeprefix('pydlshogi: ')[:-1]}")
        return err

    def only(self, *programs: str) -> str:
        """A PATH with these programs and no other."""
        folder = self.programs.parent / "few"
        folder.mkdir()
        for program in programs:
            (folder / program).symlink_to(shutil.which(program) or "")
        return str(folder)

    def write(self, path: Path, script: str) -> None:
        """A program in place of one that is there, or may be."""
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path, wheels: Path) -> Checkout:
    return Checkout(tmp_path, wheels)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    """The environment that a first start makes, which says which step is under way until it can play."""
    checkout = Checkout(tmp_path_factory.mktemp("made"), wheels)
    script = checkout.root / "bat" / "environment.py"
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace("PAUSE = 4.0", "PAUSE = 0.002"), encoding="utf-8")
    process = checkout.begin()
    out, err = process.communicate("usi\nquit\n")
    assert process.returncode == 7, (out, err)
    assert checkout.compiled == 1
    steps = [int(line.removeprefix(STEP)[0]) for line in out.splitlines() if line.startswith(STEP)]
    assert steps == sorted(steps)
    assert {*steps} == {1, 2, 3}
    return checkout.environment


@pytest.fixture
def installed(checkout: Checkout, made_once: Path) -> Checkout:
    """A checkout whose first start lies behind it."""
    shutil.copytree(made_once, checkout.environment, symlinks=True)
    return checkout


def is_engine(line: str, checkout: Checkout) -> bool:
    return json.loads(line)["prefix"] == str(checkout.environment)


@on_posix
def test_two_first_starts_at_once_install_once_and_are_the_engine(checkout: Checkout) -> None:
    first, second = checkout.begin(), checkout.begin()
    outputs = [process.communicate("usi\nquit\n") for process in (first, second)]
    assert [first.returncode, second.returncode] == [7, 7]
    assert [err for _, err in outputs] == ["engine's stderr\n"] * 2
    lines = [line for out, _ in outputs for line in out.splitlines()]
    message = [line for line in lines if line.startswith("info string ")]
    assert any(line.startswith(UNDER_WAY[1]) for line in message)
    assert sum(not line.startswith(UNDER_WAY) for line in message) == 2  # one says that it installs and that it has
    engines = [json.loads(line) for line in lines if line not in message]
    assert [facts["prefix"] for facts in engines] == [str(checkout.environment)] * 2
    assert [facts["pid"] for facts in engines] == [first.pid, second.pid], "the launcher becomes the engine"
    notes = checkout.root / "pydlshogi" / "compiled"
    while not (idle := re.findall(r" --idle (\d+) ", notes.read_text(encoding="utf-8"))):
        time.sleep(0.01)  # it may begin when the engines have ended
    assert {*map(int, idle)} <= {first.pid, second.pid}, "what compiles ends with the engine"
    assert str(checkout.elsewhere) not in engines[0]["path"]


@on_posix
def test_protocols_without_a_line_for_it_see_nothing_of_the_installation(installed: Checkout) -> None:
    installed.declare(DECLARED + "# changed\n")
    out, err = installed.begin("board").communicate("usi\nquit\n")
    (line,) = out.splitlines()
    assert is_engine(line, installed)
    assert err.startswith("info string Installing")


@on_posix
def test_nothing_is_compiled_by_the_side_of_an_engine_that_has_ended() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    command = [sys.executable, "-m", "pydlshogi.compile", "--idle", str(gone.pid)]
    assert b"compiled in" not in subprocess.check_output(command, cwd=ROOT, start_new_session=True)


@on_posix
def test_a_terminal_sees_a_bar(installed: Checkout) -> None:
    installed.declare(DECLARED + "# changed\n")
    script = installed.root / "bat" / "environment.py"
    text = script.read_text(encoding="utf-8").replace("REDRAWN = 0.5", "REDRAWN = 0.02")
    script.write_text(text.replace("USUAL = 40", "USUAL = 5"), encoding="utf-8")
    terminal, program = os.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), program)
    started = subprocess.Popen([script.with_suffix(".sh")], env=installed.environ, **streams)
    os.close(program)
    shown = b""
    with suppress(OSError):  # as a terminal ends when its program has
        while read := os.read(terminal, 4096):
            shown += read
    os.close(terminal)
    assert started.wait() == 0
    lines = re.split(r"[\r\n]+", shown.decode())
    bars = [line for line in lines if line.startswith("[")]
    assert bars[0].count("=") < bars[-1].count("=")
    assert lines[0].startswith("pydlshogi: Installing")
    assert next(line for line in reversed(lines) if line).startswith("pydlshogi: Installed. bat/board opens")
    assert re.fullmatch(r"\[=* *\] 2/3 installing packages: \d+ s of about 5 *", bars[0])


@on_posix
def test_the_next_starts_call_neither_python_nor_pip(installed: Checkout) -> None:
    few = installed.only("sh", "dirname", "readlink", "cmp")
    for script, module in LAUNCHERS.items():
        (line,) = installed.starts(script, PATH=few)
        assert json.loads(line)["module"] == module
    link = installed.elsewhere / "my engine"
    link.symlink_to(installed.root / "bat" / "mcts_player.sh")
    out, _ = installed.begin_file(link, PATH=few).communicate("usi\n")
    assert is_engine(out, installed)
    installed.root = installed.root.rename(installed.root.with_name("moved"))
    installed.starts(PATH=few)
    ended = installed.begin(PATH=few)
    assert ended.communicate("")[0] == ""
    assert ended.returncode == 0


@on_posix
@pytest.mark.parametrize("what", ["interrupted", "python is gone", pytest.param("103", marks=pytest.mark.long)])
def test_an_environment_that_is_spoilt_is_made_anew(installed: Checkout, what: str) -> None:
    """103: on Windows, when the Python below is uninstalled, there is left a program that says so."""
    python = installed.environment / "bin" / "python"
    half_copied = installed.environment / "half copied"
    half_copied.touch()
    if what == "interrupted":
        (installed.environment / "pydlshogi" / "pyproject.toml").unlink()
    elif what == "103":
        installed.write(python, "exit 103")
        assert installed.begin_file(installed.root / "bat" / "environment.sh").wait() == 0
    else:
        python.unlink()
        python.symlink_to("/nowhere/python3.11")
    installed.starts()
    assert not half_copied.exists()
    assert not list(installed.root.glob(".venv.discarded*"))


@on_posix
def test_new_requirements_are_added_to_the_environment(installed: Checkout) -> None:
    """Also where the engine does not compile: what its options say may repair it, which is for the engine to tell."""
    assert len(installed.starts()) == 1
    assert installed.compiled == 0, "it was when the environment was made"
    kept = installed.environment / "kept"
    kept.touch()
    installed.declare(DECLARED.replace('"numpy>=', '"no-such-package", "numpy>='))
    code, out, _ = installed.play()
    assert code == 1
    assert "no-such-package" in out[-1]
    installed.declare(DECLARED)
    assert len(installed.starts()) == 1, "what failed has spoilt nothing"
    (installed.root / "pydlshogi" / "fail").touch()
    installed.declare(DECLARED + "# changed\n")
    assert len(installed.starts()) == 3, "two lines about the installation and one of the engine"
    assert kept.exists()
    assert installed.compiled == 1, "with the installation that did not fail"
    assert len(installed.starts()) == 1


@on_posix
def test_what_stands_in_the_way_is_one_line(checkout: Checkout) -> None:
    few = checkout.only("sh", "dirname", "readlink", "cmp")
    assert checkout.fails(PATH=few) == "pydlshogi: Python 3.11 or newer is needed, found: none\n"
    checkout.write(Path(few) / "python3", '[ "$1" = --version ] && echo Python 3.9.2 && exit 0\nexit 1')
    assert checkout.fails(PATH=few) == "pydlshogi: Python 3.11 or newer is needed, found: Python 3.9.2\n"
    own = checkout.environment / "own.txt"
    own.parent.mkdir()
    own.touch()
    assert "not made by pydlshogi" in checkout.fails()
    own.unlink()  # which is left alone, but an empty folder is nobody's
    unreachable = {"PIP_NO_INDEX": "", "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_FIND_LINKS": "", "PIP_RETRIES": "1"}
    said = checkout.fails(**unreachable)
    assert "is there a network?" in said
    assert said.count("\n") == 1


@on_posix
@pytest.mark.parametrize("other", [True, False])
def test_a_python_that_is_too_new_is_the_last_choice(checkout: Checkout, other: bool) -> None:
    newer = checkout.programs / "python3"
    runs = f'exec {os.path.realpath(sys.executable)} "$@"'
    checkout.write(newer, f'case "$*" in *"(3, 15)"*) exit 1;; *.py*) touch "$0.ran";; esac\n{runs}')
    if other:
        (checkout.programs / "python3.14").symlink_to(os.path.realpath(sys.executable))
    path = f"{checkout.programs}{os.pathsep}{checkout.only('sh', 'touch')}"
    done = subprocess.run(
        [checkout.root / "bat" / "environment.sh", "cuda99"], env={"PATH": path}, capture_output=True, check=False
    )
    assert b"knows no extra cuda99" in done.stderr
    assert newer.with_suffix(".ran").exists() is not other


@on_posix
def test_a_gui_that_does_not_wait_leaves_the_installation_running(checkout: Checkout) -> None:
    checkout.environment.mkdir()  # an empty one is what a full disk left
    process = checkout.begin()
    assert process.stdout.readline().startswith("info string Installing")
    process.kill()
    process.communicate()
    (line,) = checkout.starts()  # it waits for the lock, and has nothing left to install
    assert is_engine(line, checkout)


@pytest.mark.parametrize("script", sorted((ROOT / "bat").glob("*.sh")), ids=lambda path: path.stem)
def test_windows_has_the_same_launchers(script: Path) -> None:
    twin = script.with_suffix(".bat").read_bytes()
    assert twin.isascii()
    assert twin.count(b"\n") == twin.count(b"\r\n") > 1
    assert twin.startswith(b"@echo off\r\n")
    # A module's name is whole; other arguments would end after nine, and at the `=` of `--option NAME=VALUE`.
    assert not re.search(rb"%~?[1-9]", twin.replace(b'set "module=%~1"', b""))
    assert sorted(re.findall(rb"\w+_player\b", twin)) == sorted(re.findall(rb"\w+_player\b", script.read_bytes()))
    for name in (b"environment", b"start", b"checks.py", b"test train"):
        assert (name in twin) == (name in script.read_bytes())
    assert os.name != "posix" or script.stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize(
    ("status", "said", "message"),
    [
        (1, "ImportError: DLL load failed while importing _dynfunc: 指定されたモジュールが", "vc_redist.x64"),
        (0xC000001D, "", "the processor lacks AVX2"),
        (0xC0000005, "", "vc_redist.x64.exe"),
    ],
)
def test_what_windows_needs_besides_is_said(tmp_path: Path, monkeypatch, status: int, said: str, message: str) -> None:
    monkeypatch.syspath_prepend(ROOT / "bat")
    environment = importlib.import_module("environment")
    monkeypatch.setattr(environment, "LOG", tmp_path / "log")

    def ended(*_: Any, stdout: IO[bytes], **__: Any) -> SimpleNamespace:
        """As Windows tells it: by no negative number."""
        stdout.write(said.encode())
        return SimpleNamespace(returncode=status, wait=lambda timeout: None)

    monkeypatch.setattr(subprocess, "Popen", ended)
    with (tmp_path / "lock").open("wb") as lock, pytest.raises(environment.InstallError, match=message):
        environment.Commands(lock, print).run(3, [sys.executable], "The installed packages do not load")


def dry_run(checkout: Checkout, extra: str, nvidia_smi: str | None) -> "subprocess.CompletedProcess[str]":
    """What environment.sh would do for an extra where nvidia-smi says this, or does not exist."""
    few = Path(checkout.only("sh"))
    if nvidia_smi is not None:
        checkout.write(few / "nvidia-smi", f"printf '%s\\n' '{nvidia_smi}'")
    command = [checkout.root / "bat" / "environment.sh", "--dry-run", extra]
    path = f"{checkout.programs}{os.pathsep}{few}"
    done = subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, check=False)
    assert not checkout.environment.exists()
    return done


@on_posix
@pytest.mark.parametrize(
    ("nvidia_smi", "known", "build"),
    [
        ("| NVIDIA-SMI 550.90.07   Driver Version: 550.90.07   CUDA Version: 12.4 |", "knows CUDA 12.4: ", "cu126"),
        ("| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0 |", "knows CUDA 13.0: ", "cu130"),
        ("| NVIDIA-SMI 590.44   KMD Version: 590.44   CUDA UMD Version: 13.1 |", "knows CUDA 13.1: ", "cu130"),
        (None, "no NVIDIA driver that works is found", None),
        ("NVIDIA-SMI has failed because it could not reach the NVIDIA driver.", "no NVIDIA driver that works", None),
        ("| NVIDIA-SMI 525.0   Driver Version: 525.0   CUDA Version: 11.8 |", "knows CUDA 11.8; a", None),
    ],
)
def test_for_a_gpu_it_installs_what_fits_the_driver(checkout, nvidia_smi, known, build) -> None:
    done = dry_run(checkout, "gpu", nvidia_smi)
    driver = "the NVIDIA driver " if known.startswith("knows") else ""
    assert done.stderr.startswith(f"pydlshogi: {driver}{known}")
    assert done.stderr.count("\n") == 1
    assert done.returncode == (build is None)
    if build:
        installs = f"PyTorch is installed in its build {build}, and CuPy for CUDA 12 with Chainer\n"
        assert done.stderr.endswith(f"{known}{installs}")
        first, second = done.stdout.splitlines()
        assert f"--find-links https://download.pytorch.org/whl/{build}/torch/ torch>=" in first
        for name in ("numba>=", "cupy-cuda12x[ctk]>=", "chainer==", "torch>="):
            assert f" {name}" in second


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere PyPI has PyTorch for CPUs")
def test_without_a_gpu_pytorch_is_the_one_for_cpus(checkout: Checkout) -> None:
    assert "/whl/cpu/torch/ torch>=" in dry_run(checkout, "train", None).stdout.splitlines()[0]
