"""The engine as a process: where lines come from and go to, where everything else is written, how it ends.

It knows file descriptors, signals and folders, and nothing of the protocol.
"""

import codecs
import errno
import locale
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from pydlshogi.support.files import state_folder

LOG_NAME: Final = "pydlshogi.log"
LARGEST_LOG: Final = 1_000_000
"""Bytes. A log that has grown past this is put aside as .old when the next process starts."""

_ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Signals that ask a process to end; each system knows some of them."""


class Process:
    """The standard streams of an engine. Made once, before anything else may write.

    From then on stdout belongs to `write` alone: what libraries print there goes to the log, like all of stderr,
    because GUIs read stdout as protocol and often do not read stderr at all. And stdin belongs to `lines` alone, others
    find it empty: on Windows a library or a child that only asks what stdin is waits until the next line has come.
    """

    def __init__(self) -> None:
        self._stdin, self._stdout = os.dup(0), os.fdopen(os.dup(1), "wb")
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        try:
            self.log_to("")
        except OSError:
            self.log_to(os.devnull)
        self.close: Callable[[], None] = lambda: None
        """What must still happen before the process ends."""
        logging.raiseExceptions = False  # a full disk must not stop the game
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(message)s")
        self._obey_signals()

    def log_to(self, path: str) -> None:
        """Append what is not protocol to the file `path`; "": to pydlshogi.log in the state folder.

        Raises OSError, and goes on as before, when that file cannot be opened, or is no text.
        """
        file = Path(path) if path else state_folder() / LOG_NAME
        if not path:
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.exists() and file.stat().st_size > LARGEST_LOG:
                with suppress(OSError):  # on Windows another engine may hold it open
                    file.replace(file.with_suffix(".old"))
        if path and file.is_file():
            with file.open("rb") as content:
                if b"\0" in content.read(1024):
                    raise OSError(errno.EEXIST, "holds something else than a log", str(file))
        # Without O_NONBLOCK a pipe that nobody reads from would be waited for.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0), 0o644)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        os.close(descriptor)

    def lines(self) -> Iterator[str]:
        """The lines of stdin until it ends."""
        try:
            if sys.platform != "win32":
                # Another process may have left it non-blocking: then "no line yet" would read as the end.
                os.set_blocking(self._stdin, True)
            with open(self._stdin, "rb", closefd=False) as stdin:
                for raw in stdin:
                    # PowerShell's pipes begin with a byte order mark.
                    for part in raw.removeprefix(codecs.BOM_UTF8).split(b"\r"):
                        yield decoded(part)
        except OSError:
            return  # stdin was taken away: its end

    def write(self, line: str) -> None:
        """Say one line now. The process ends if the other side is gone."""
        try:
            self._stdout.write(line.encode("ascii", "replace") + b"\n")
            self._stdout.flush()
        except (OSError, ValueError):
            self.exit()

    def _obey_signals(self) -> None:
        """End when the system asks for it, whatever the threads of Python are at.

        What Python does by itself, raising an exception in the main thread, waits until that thread has come back from
        reading a line: a signal may come just before it begins to read, or in another thread, and interrupts nothing.
        """
        numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
        obeyed = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
        receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)
        for number in obeyed:
            signal.signal(number, lambda _signal, _frame: None)
        signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)

        def wait() -> None:
            receiver.recv(1)
            self.exit()

        threading.Thread(target=wait, name="signals", daemon=True).start()

    def exit(self) -> NoReturn:
        """End at once, even while a framework is being imported or a batch is under way."""
        try:
            self.close()
        finally:
            os._exit(0)


def decoded(raw: bytes) -> str:
    """A line as text. Paths may come in the encoding of the user's system rather than in UTF-8."""
    for encoding in ("utf-8", locale.getencoding()):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", "replace")
