"""environment.py [--dry-run] [EXTRA...]: make or repair .venv: the dependencies, and those of extras.

    environment.py gpu      what fits the NVIDIA driver: PyTorch, and Chainer with CuPy

Needs nothing but Python 3.11. It knows pyproject.toml and pip, and of the engine how it is compiled. A copy of
pyproject.toml in .venv/pydlshogi/ says that what it declares is installed; the launchers compare the two before they
call this script. Exit status 1 after one line that says what went wrong: on stderr, and on stdout as a GUI shows it. A
dry run prints the commands for pip, and does nothing.
"""

import errno
import importlib.metadata
import importlib.util
import locale
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn

ROOT = Path(__file__).resolve().parent.parent
DECLARED = ROOT / "pyproject.toml"
ENVIRONMENT = ROOT / ".venv"
STAMPS = ENVIRONMENT / "pydlshogi"
DISCARDED = ROOT / ".venv.discarded"
LOCK = ROOT / ".venv.lock"
LOG = ROOT / "install.log"
# Chainer's setup.py imports pkg_resources, which is gone from newer releases. Older pips hand PIP_CONSTRAINT on to the
# environment they build in, newer ones have a variable of its own. The variables are split at blanks: hence the URI.
BUILD_CONSTRAINTS = ROOT / "bat" / "build_constraints.txt"
SETTINGS = dict.fromkeys(("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"), BUILD_CONSTRAINTS.as_uri())
SETTINGS["PYTHONPATH"] = str(ROOT)
SETTINGS["PIP_USER"] = "0"  # set in a file, that would prevent an environment
WINDOWS = sys.platform == "win32"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if WINDOWS else "bin/python")
LOADS = "import numba, numpy"
COMPILE = (PYTHON, "-P", "-m", "pydlshogi.compile")
PAUSE = 4.0
"""Seconds between lines that say which step is under way."""
REDRAWN = 0.5
"""The same between two drawings of the bar that a terminal sees instead."""
USUAL = 40.0
"""Seconds after which the bar is full."""
HOW_TO_GO_ON = "Installed. bat/board opens the board in a browser; bat/mcts_player is what a GUI registers."
# python.org's Python brings half of it, and the packages want all of it.
RUNTIME = "Microsoft's C++ runtime is missing: install https://aka.ms/vs/17/release/vc_redist.x64.exe and start again"
CRASH = 0xC0000000
"""From here on a program of Windows ended by an exception, whose code this is."""
TORCH_BUILDS = "https://download.pytorch.org/whl/{}/torch/"
INCLUDED = {"gpu": ("chainer", "train"), "notebook": ("train",), "test": ("match",)}
"""Extras that come along with another one."""
Cuda = tuple[int, int]
"""A version of CUDA."""


class InstallError(Exception):
    """Why there is no environment, in one line."""


def main(arguments: list[str]) -> None:
    asked = [argument for argument in arguments if argument != "--dry-run"]
    extras = [extra for name in asked for extra in (name, *INCLUDED.get(name, ()))]
    try:
        if "gpu" in extras:
            print(f"pydlshogi: {chosen_for(cuda_of_driver())}", file=sys.stderr)
        if len(asked) < len(arguments):
            print(*(" ".join(["pip", *command]) for command in pip_commands(requirements(extras))), sep="\n")
            return
        tell = tell_terminal if extras or sys.stdin.isatty() else tell_gui
        with LOCK.open("ab") as lock:
            wait_for(lock, tell)
            if not is_complete(extras):
                tell(f"Installing what the engine needs into {ENVIRONMENT}, once; this takes up to a minute.")
                install(extras, Commands(lock, tell))
                tell(
                    HOW_TO_GO_ON
                    if tell is tell_terminal
                    else "Installed. A GUI that gave up can start the engine again."
                )
    except InstallError as error:
        fail(str(error))
    except OSError as error:
        fail(f"Cannot install into {ENVIRONMENT}: {error}")
    except KeyboardInterrupt:
        fail("Interrupted; the next start installs anew.")


def run_below() -> int:
    """Let the Python that the environment was made with do all of it; the exit status."""
    process = subprocess.Popen([sys._base_executable, *sys.argv])
    while True:
        with suppress(KeyboardInterrupt):  # which it hears as well
            return process.wait()


def wait_for(lock: IO[bytes], tell: Callable[[str], None]) -> None:
    """Wait until no other process installs."""
    last = -PAUSE
    while not locks(lock):
        if time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            tell("Another start installs; this one waits for it.")
        time.sleep(0.1)


def locks(lock: IO[bytes]) -> bool:
    try:
        if WINDOWS:
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise
        return False
    return True


def stamp(group: str) -> Path:
    return STAMPS / f"{group}.toml"


def is_complete(extras: list[str]) -> bool:
    declared = DECLARED.read_bytes()
    stamps = [stamp(group) for group in ("pyproject", *extras)]
    return all(path.is_file() and path.read_bytes() == declared for path in stamps) and python_starts()


def python_starts() -> bool:
    """On Windows the environment's python.exe outlives the Python that it starts."""
    return (
        PYTHON.exists() and subprocess.run([PYTHON, "-I", "-c", ""], capture_output=True, check=False).returncode == 0
    )


def install(extras: list[str], commands: "Commands") -> None:
    wanted = requirements(extras)
    if ENVIRONMENT.exists() and not STAMPS.is_dir() and not is_empty(ENVIRONMENT):
        raise InstallError(f"{ENVIRONMENT} was not made by pydlshogi, so it is left alone: rename it and start again.")
    shutil.rmtree(DISCARDED, ignore_errors=True)
    # Whatever was interrupted is thrown away whole: pip takes a package that was half copied for an installed one.
    if ENVIRONMENT.exists() and not (stamp("pyproject").is_file() and python_starts()):
        ENVIRONMENT.rename(DISCARDED)
        shutil.rmtree(DISCARDED, ignore_errors=True)
    LOG.write_bytes(b"")
    if not ENVIRONMENT.exists():
        create(commands)
    outdated = {path: path.read_bytes() for path in STAMPS.iterdir()}
    for path in outdated:
        path.unlink()
    try:
        install_packages(wanted, commands)
    except InstallError:
        # pip has undone what it did, so the environment is as good as it was before.
        for path, content in outdated.items():
            path.write_bytes(content)
        raise
    for group in ("pyproject", *extras):
        unfinished = stamp(group).with_suffix(".unfinished")
        unfinished.write_bytes(DECLARED.read_bytes())
        unfinished.replace(stamp(group))
    compile_by_the_side()


def is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def create(commands: "Commands") -> None:
    STAMPS.mkdir(parents=True)
    # The real path names a version (python3.11): when that is removed the link breaks and the next start notices.
    base = os.path.realpath(sys.executable)
    # It takes seconds to put a pip into the environment; that of this Python works on it as well.
    without_pip = ["--without-pip"] if has_pip() or not importlib.util.find_spec("ensurepip") else []
    commands.run(1, [base, "-I", "-m", "venv", *without_pip, ENVIRONMENT], "Python's venv module failed")


def has_pip() -> bool:
    """This Python has a pip that can work on another one. Debian splits it off into python3-pip."""
    try:
        release = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        return False
    return tuple(map(int, re.findall(r"\d+", release)[:2])) >= (22, 3)


def pip() -> list[str | Path]:
    """The pip of this Python working on the environment, or the environment's own."""
    if has_pip():
        return [sys.executable, "-I", "-m", "pip", "--python", PYTHON]
    if subprocess.run([PYTHON, "-I", "-c", "import pip"], capture_output=True, check=False).returncode:
        raise InstallError(f"{sys.executable} has no pip: install it (Debian: apt install python3-venv).")
    return [PYTHON, "-I", "-m", "pip"]


def requirements(extras: list[str]) -> list[str]:
    project = tomllib.loads(DECLARED.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    if unknown := [extra for extra in extras if extra not in optional]:
        raise InstallError(f"pyproject.toml knows no extra {', '.join(unknown)}, only {', '.join(optional)}")
    return [requirement for group in (project["dependencies"], *map(optional.get, extras)) for requirement in group]


def install_packages(wanted: list[str], commands: "Commands") -> None:
    complaint = "pip cannot install the packages"
    if sys.version_info >= (3, 15):
        complaint += f" for Python {sys.version_info.major}.{sys.version_info.minor}; 3.11 to 3.14 are tried"
    for command in pip_commands(wanted):
        commands.run(2, [*pip(), *command], complaint)
    commands.run(2, [PYTHON, "-I", "-c", LOADS], "The installed packages do not load")
    with suppress(InstallError):  # the engine's own start says what is wrong, and its options may mend it
        commands.run(3, [*COMPILE, "--search"], "The search does not compile")


def compile_by_the_side() -> None:
    """Compile the other engines while one is played: it goes on when this script has ended, until who called it has."""
    idle = {"creationflags": subprocess.IDLE_PRIORITY_CLASS} if WINDOWS else {"start_new_session": True}
    subprocess.Popen(
        [*COMPILE, "--idle", str(os.getppid())],
        env=os.environ | SETTINGS,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **idle,
    )


def pip_commands(wanted: list[str]) -> list[list[str]]:
    """The commands for pip, one after the other."""
    # Modules become byte code when they are imported, most of them never.
    install = ["install", "--no-compile", "--disable-pip-version-check", "--no-input", "--prefer-binary"]
    install.append("--progress-bar=off")
    commands = [[*install, *wanted]]
    torch = [requirement for requirement in wanted if requirement.startswith("torch")]
    if torch and (build := torch_build(cuda_of_driver())):
        # PyPI has but one build. Where PyTorch's own index is out of reach, pip takes what it finds elsewhere.
        from_there = ["--upgrade", "--no-deps", "--retries=0", "--find-links", TORCH_BUILDS.format(build)]
        commands.insert(0, [*install, *from_there, *torch])
    return commands


def torch_build(cuda: Cuda | None) -> str:
    """Which of PyTorch's builds fits; "" for that of PyPI. CUDA 12.6 runs with any driver for CUDA 12."""
    if cuda is None or cuda < (12, 0):
        return "cpu" if sys.platform == "linux" else ""  # for Linux PyPI has only one with CUDA, several GB of it
    return "cu130" if cuda >= (13, 0) else "cu126"


def cuda_of_driver() -> Cuda | None:
    """The newest CUDA that the NVIDIA driver knows, as `nvidia-smi` says; None where there is no driver."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    said = subprocess.run([program], capture_output=True, text=True, errors="replace", check=False).stdout
    found = re.search(r"CUDA (?:\w+ )?Version\s*:\s*(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else None


def chosen_for(cuda: Cuda | None) -> str:
    """What the extra `gpu` installs, in words. Raises InstallError where no GPU can be used."""
    if cuda is None:
        raise InstallError("no NVIDIA driver that works is found (by nvidia-smi); without one nothing runs on a GPU.")
    major, minor = cuda
    if cuda < (12, 0):
        raise InstallError(f"the NVIDIA driver knows CUDA {major}.{minor}; a newer one is needed, for CUDA 12 or 13.")
    return (
        f"the NVIDIA driver knows CUDA {major}.{minor}: PyTorch is installed in its build {torch_build(cuda)}, "
        "and CuPy for CUDA 12 with Chainer"
    )


class Commands:
    """Runs what installs, with its output in the log, and tells what is under way."""

    NAMES = ("making .venv", "installing packages", "compiling the search")

    def __init__(self, lock: IO[bytes], tell: Callable[[str], None]) -> None:
        """`lock` is shared by all that runs: if this script is killed, it still counts."""
        self._lock = lock
        self._tell = tell
        self._began = self._last_said = time.monotonic()

    def run(self, step: int, command: Sequence[str | Path], complaint: str) -> None:
        """Run `command` and wait for it. Raises InstallError if it fails."""
        with LOG.open("ab") as log:
            begin = log.tell()
            process = self._start(command, log)
            self._wait(step, process)
        if process.returncode < 0:
            ended = signal.Signals(-process.returncode).name
            raise InstallError(
                f"{complaint}: {ended} (SIGILL: the processor lacks AVX2; SIGKILL: there was no memory left)"
            )
        if process.returncode >= CRASH:
            how = f"{process.returncode:#x} (0xc000001d: the processor lacks AVX2; else {RUNTIME})"
            raise InstallError(f"{complaint}: {how}")
        if process.returncode != 0:
            raise InstallError(f"{complaint}: {reason(LOG.read_bytes()[begin:])} (all of it: {LOG})")

    def _start(self, command: Sequence[str | Path], log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            env=os.environ | SETTINGS,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=() if WINDOWS else (self._lock.fileno(),),
        )

    def _wait(self, step: int, process: "subprocess.Popen[bytes]") -> None:
        bar = self._tell is tell_terminal and sys.stderr.isatty()
        while True:
            try:
                process.wait(max(0.0, self._last_said + (REDRAWN if bar else PAUSE) - time.monotonic()))
                if bar:
                    draw("")
                return
            except subprocess.TimeoutExpired:
                self._last_said = time.monotonic()
                seconds = self._last_said - self._began
                if bar:
                    done = "=" * int(30 * min(seconds / USUAL, 1))
                    draw(f"[{done:30}] {step}/3 {self.NAMES[step - 1]}: {seconds:.0f} s of about {USUAL:.0f}")
                else:
                    self._tell(f"Step {step} of {len(self.NAMES)}, {self.NAMES[step - 1]}: {seconds:.0f} s so far.")


def reason(output: bytes) -> str:
    """The line of a failed command's output that a user can act on."""
    lines = [line for line in output.decode(locale.getencoding(), errors="replace").splitlines() if line.strip()]
    if any("Retrying" in line for line in lines) and any("(from versions: none)" in line for line in lines):
        return "the package index cannot be reached; is there a network?"
    if any("DLL load failed" in line for line in lines):
        return f"{lines[-1].strip()}; {RUNTIME}"
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no reason given; is the disk full?"])[-1].strip()


def fail(message: str) -> NoReturn:
    tell_gui(f"Error! {message}")
    print(f"pydlshogi: {message}", file=sys.stderr)
    sys.exit(1)


def tell_terminal(message: str) -> None:
    print(f"pydlshogi: {message}", file=sys.stderr)


def draw(line: str) -> None:
    """Show a line that the next one takes the place of."""
    print(line.ljust(79), end="\r", file=sys.stderr, flush=True)


def tell_gui(message: str) -> None:
    with suppress(BrokenPipeError):  # the installation goes on after the GUI has left
        # A console of Windows reads its own encoding, and so do GUIs there.
        encoding = locale.getencoding() if WINDOWS else "utf-8"
        os.write(1, f"info string {message}\n".encode(encoding, "backslashreplace"))


if __name__ == "__main__":
    if Path(sys.prefix) == ENVIRONMENT:  # it is activated; it may have no pip, and cannot make itself anew
        sys.exit(run_below())
    main(sys.argv[1:])
