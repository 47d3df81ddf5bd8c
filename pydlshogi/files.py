"""Files that are there whole or not at all, and the folder for those that can be made again."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def cache_folder() -> Path:
    """Where programs keep what they can make again. It need not exist. Raises RuntimeError where a user has no home."""
    variable, folder = ("LOCALAPPDATA", "AppData/Local") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    return Path(os.environ.get(variable) or Path.home() / folder) / "pydlshogi"


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` once it is complete and on the disk.

    Whatever goes wrong before, a full disk or a killed process, leaves `path` as it was. An OSError about the file
    names `path`.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        # A full disk names no file, and the unfinished one is nobody's business.
        if error.errno and error.filename in (None, str(unfinished)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
