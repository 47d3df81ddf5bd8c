"""How a program of the command line ends: a status, and at most one line that says what went wrong."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from io import TextIOWrapper


def exit_status(program: str, run: Callable[[], int | None], *errors: type[Exception], resume: str = "") -> int:
    """What `run` returns, None for 0. An error ends in one line on stderr: 1 after one of `errors`, whose text is the
    line, or after any other OSError; 130 after Ctrl-C. Whoever reads the output no longer ends in 1 and no line.
    `resume` says how to go on where the system or the user broke it off.

    Names that the output has no letters for are written by their bytes where it is UTF-8, else with escapes.
    """
    how_to_go_on = f"; {resume}" if resume else ""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="surrogateescape" if stream.encoding == "utf-8" else "backslashreplace")
    try:
        status = run() or 0
        sys.stdout.flush()
    except errors as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # as when `head` has seen enough
        _drop_output()
        return 1
    except OSError as error:
        print(f"{program}: {error.filename or 'output'}: {error.strerror or error}{how_to_go_on}", file=sys.stderr)
        if error.filename is None:
            _drop_output()
        return 1
    except BrokenExecutor:
        killed = "a process that took part was killed; is there too little memory?"
        print(f"{program}: {killed}{how_to_go_on}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{program}: stopped{how_to_go_on}", file=sys.stderr)
        return 130
    return status


def _drop_output() -> None:
    """What Python still wants to write to stdout goes nowhere, instead of failing once more at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
