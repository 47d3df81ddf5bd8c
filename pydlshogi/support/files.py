"""Files that are there whole or not at all, and the folders for those that the user did not ask for."""

import errno
import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_TRIES: Final = 10
_UNFINISHED: Final = f".*.{'[0-9a-f]' * 16}.tmp"
"""Names of files that `replacing` has not put in their place."""


def cache_folder() -> Path:
    """Where programs keep what they can make again. It need not exist. Raises OSError where a user has no home."""
    return _user_folder("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Where programs keep what a user need not look at. It need not exist. Raises OSError as `cache_folder`."""
    return _user_folder("XDG_STATE_HOME", ".local/state")


def shipped_model() -> Path:
    """The folder of the networks that come with the package: inside it when installed, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "model"
    return inside if inside.exists() else package.parent / "model"


def _user_folder(variable: str, folder: str) -> Path:
    if sys.platform == "win32":
        variable, folder = "LOCALAPPDATA", "AppData/Local"
    try:
        return Path(os.environ.get(variable) or Path.home() / folder) / "pydlshogi"
    except RuntimeError as error:
        raise FileNotFoundError(errno.ENOENT, "not set, and the user has no home", variable) from error


def open_plain(path: Path) -> BinaryIO:
    """`path`, opened to be read. Raises OSError, also for what is no plain file: a pipe hangs, a device never ends."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a plain file", str(path))
    return path.open("rb")


def stamp_of(path: Path) -> tuple[int, ...]:
    """What changes when the file is written anew; () where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ()
    return status.st_mtime_ns, status.st_size


def read_plain(path: Path, most: int) -> bytes:
    """What `path` holds, at most `most` bytes. Raises OSError, as `open_plain`, and for more."""
    with open_plain(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"Larger than {most >> 20} MB", str(path))
        return file.read()


def digest(path: Path) -> str:
    """What tells the file at `path` from others: SHA-256 in hex. Raises OSError, as `open_plain`."""
    with open_plain(path) as file:
        return hashlib.sha256(file.read()).hexdigest()


class InUse(BlockingIOError):
    """Another process has a folder reserved; the message is one line."""


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Inside, no other process has `folder` reserved; it is made if need be. Raises InUse where one has; OSError.

    What killed processes have left in it and in its folders is deleted. The reservation ends with the process, however
    it ends. Windows locks no folders, so there it is a file in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        descriptor = os.open(folder / ".reserved", os.O_RDWR | os.O_CREAT)
    else:
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            _lock(descriptor)
        except BlockingIOError as error:
            raise InUse(f"{folder} is in use by another process") from error
        for left in (*folder.glob(_UNFINISHED), *folder.glob(f"*/{_UNFINISHED}")):
            left.unlink()
        yield
    finally:
        os.close(descriptor)


def check_writable(path: Path) -> None:
    """Raises OSError where `replacing` could not write `path`: better before long work than after it."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        return
    from tempfile import TemporaryFile  # not before `usiok`: it takes a tenth of the time

    try:
        with TemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        error.filename = str(path)
        raise


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` once it is complete and on the disk.

    Whatever goes wrong before, a full disk or a killed process, leaves `path` as it was. A link stays a link; a device
    or a pipe, /dev/stdout say, is written to and stays what it is. An OSError about the file names `path`.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        with path.open("wb") as file:
            yield file
        return
    # Path.resolve would raise RuntimeError for a link to itself.
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    unfinished = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    try:
        with unfinished.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put(unfinished, target)
    except OSError as error:
        # A full disk names no file, and the unfinished one is nobody's business.
        if error.errno and error.filename in (None, str(unfinished)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """As `replacing`."""
    with replacing(path) as file:
        file.write(content)


def _put(file: Path, target: Path) -> None:
    """In the place of what is there. On Windows a virus scanner or OneDrive may hold a file for some milliseconds."""
    for _ in range(_TRIES if sys.platform == "win32" else 0):
        with suppress(PermissionError):
            file.replace(target)
            return
        time.sleep(0.05)
    file.replace(target)


def _lock(descriptor: int) -> None:
    """Until it is closed, by whatever end of this process, nobody else can lock this file. Raises BlockingIOError."""
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
