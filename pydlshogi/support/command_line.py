"""What programs of the command line share: how they end, in a status and one line at most; workers; settings.

Settings are options that are declared once, as fields of a frozen dataclass; their help and the check of what was given
come from these:

    @dataclass(frozen=True)
    class Settings:
        steps: int = setting(1000, "length of the run", low=1)
"""

import json
import os
import re
import signal
import sys
import threading
from argparse import (
    SUPPRESS,
    Action,
    ArgumentDefaultsHelpFormatter,
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from io import TextIOWrapper
from math import inf
from pathlib import Path
from typing import Any, Final

from pydlshogi.support import OneLineError
from pydlshogi.support.decoding import parse_json
from pydlshogi.support.files import InUse, write_whole
from pydlshogi.support.pool import PoolError, ProcessPool, WorkerPool, available_cores

_OUT_OF_MEMORY: Final = re.compile(r"(?i).*(out of memory|can't allocate memory).*")
"""How PyTorch says it, in an error that is no MemoryError."""


class _Formatter(RawDescriptionHelpFormatter, ArgumentDefaultsHelpFormatter):
    """Behind the help of an option stands its default, where it has one and the help says nothing of it."""

    def _get_help_string(self, action: Action) -> str | None:
        nothing = action.default is False or action.default in (None, "", (), [])
        return action.help if nothing or "default" in (action.help or "") else super()._get_help_string(action)


def parser_for(module: str, about: str | None, more: str | None = None) -> ArgumentParser:
    """Of `python -m MODULE`. `about` and `more`, below the options, are shown in lines as they are."""
    return ArgumentParser(prog=f"python -m {module}", description=about, epilog=more, formatter_class=_Formatter)


def add_pool_options(parser: ArgumentParser) -> None:
    """`--workers` and `--cluster`, for `pool_of`."""
    parser.add_argument(
        "--workers", type=positive, default=0, metavar="N", help="how many work at once (default: one for each core)"
    )
    add_cluster_option(parser)


def add_cluster_option(parser: ArgumentParser) -> None:
    """`--cluster`, for `pool_of`."""
    parser.add_argument(
        "--cluster",
        metavar="local|auto|HOST:PORT",
        help="work with Ray: in a cluster that is started here, in the one of this machine, or in another "
        "(default: in processes of this machine)",
    )


def pool_of(workers: int, cluster: str | None) -> WorkerPool:
    """As the options of `add_pool_options` say; 0 workers: one for each core. Raises PoolError."""
    if cluster is None:
        return ProcessPool(workers or available_cores())
    # Ray reads these while it is imported. What it says of workers would mix with the output.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}
    # By itself it misses a machine that is cut off without a word after more than seven minutes.
    os.environ |= {"RAY_grpc_client_keepalive_time_ms": "20000", "RAY_grpc_client_keepalive_timeout_ms": "60000"}
    if cluster == "local":
        # Other than by name: the loopback address alone is listened to, and nobody else's work goes first.
        os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
        workers = workers or available_cores()
    try:
        from pydlshogi.support.cluster import RayPool
    except ModuleNotFoundError as error:
        raise PoolError(f"--cluster needs Ray: {error}; {remedy('cluster', 'ray')}") from error
    return RayPool(cluster, workers)


def remedy(extra: str, package: str) -> str:
    """What to do where a package is missing that comes with an extra."""
    return f"run `sh bat/environment.sh {extra}`, on Windows `bat\\environment.bat {extra}`, or `pip install {package}`"


def bounded(low: float, high: float = inf, kind: Callable[[str], float] = int) -> Callable[[str], Any]:
    """The type of an option that is a number within these bounds."""

    def parse(text: str) -> float:
        value = kind(text)
        if not (low <= value <= high and value < inf):
            raise ArgumentTypeError(f"must be at least {low}" if high == inf else f"must be {low} to {high}")
        return value

    parse.__name__ = "number"  # what argparse calls it
    return parse


natural: Final = bounded(0)
positive: Final = bounded(1)


def exit_status(program: str, run: Callable[[], int | None], *errors: type[Exception], resume: str = "") -> int:
    """What `run` returns, None for 0. An error ends in one line on stderr: 1 after a OneLineError, InUse, PoolError or
    one of `errors`, whose text is the line, or after any other OSError or a MemoryError; 130 after Ctrl-C or SIGTERM.
    Where nobody reads the output any more: 1 and no line. `resume` says how to go on where the system or the user
    broke it off.

    Names that the output has no letters for are written by their bytes where it is UTF-8, else with escapes; and so is
    read what is no text.
    """
    how_to_go_on = f"; {resume}" if resume else ""
    known: tuple[type[Exception], ...] = (OneLineError, InUse, *errors)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="surrogateescape" if stream.encoding == "utf-8" else "backslashreplace")
    # The main thread alone may say so, and a program may see to it itself.
    main_thread = threading.current_thread() is threading.main_thread()
    as_ctrl_c = main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if as_ctrl_c:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        status = run() or 0
        sys.stdout.flush()
    except known as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # as when `head` has seen enough
        return 1
    except OSError as error:
        if isinstance(error, FileNotFoundError | FileExistsError):  # said again, the command would end in the same way
            how_to_go_on = ""
        print(f"{program}: {error.filename or 'output'}: {error.strerror or error}{how_to_go_on}", file=sys.stderr)
        return 1
    except PoolError as error:
        print(f"{program}: {error}{how_to_go_on}", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"{program}: out of memory{f': {error}' if str(error) else ''}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, RuntimeError) as error:
        if said := _OUT_OF_MEMORY.search(str(error)):
            print(f"{program}: out of memory: {said[0]}{how_to_go_on}", file=sys.stderr)
            return 1
        # Where tqdm is interrupted as it takes its lock, it fails to give it back.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__context__, KeyboardInterrupt):
            raise
        print(f"{program}: stopped{how_to_go_on}", file=sys.stderr)
        return 130
    finally:
        if as_ctrl_c:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            sys.stdout.flush()
        except OSError:  # what is still to be written goes nowhere, instead of failing once more at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


# Settings


class SettingError(OneLineError, ValueError):
    """A value that a setting does not take; the message is one line that names the option."""


def setting(default: Any, meaning: str, *choices: str, low: float = -inf, high: float = inf) -> Any:
    """A field that is an option of the command line too; numbers must be finite, and lie between `low` and `high`."""
    return field(default=default, metadata={"meaning": meaning, "choices": choices, "low": low, "high": high})


def option_of(name: str) -> str:
    """How the command line spells the name of a field."""
    return "--" + name.replace("_", "-")


def add_options(parser: ArgumentParser, settings: type[Any], usual: Mapping[str, Any] | None = None) -> None:
    """An option for every field. Those not given do not appear in the result: so they differ from defaults.

    `usual`: defaults by name, to be shown in place of the fields' own.
    """
    for each in fields(settings):
        meaning, choices = each.metadata["meaning"], each.metadata["choices"]
        default = (usual or {}).get(each.name, each.default)
        name, kind = option_of(each.name), type(each.default)
        if kind is bool:
            meaning = f"{meaning} ({default})"
            parser.add_argument(name, action=BooleanOptionalAction, default=SUPPRESS, dest=each.name, help=meaning)
        else:
            parser.add_argument(
                name,
                type=kind,
                choices=choices or None,
                default=SUPPRESS,
                dest=each.name,
                metavar=None if choices else kind.__name__,
                help=meaning + (f" ({default})" if default else ""),
            )


def check(settings: Any) -> None:
    """Raises SettingError for a value out of its bounds, or for one that is none of the choices."""
    for each in fields(settings):
        choices, low, high = (each.metadata[name] for name in ("choices", "low", "high"))
        value, kind = getattr(settings, each.name), type(each.default)
        if not isinstance(value, int | float if kind is float else kind):  # in a checkpoint
            raise SettingError(f"{option_of(each.name)} {value!r} is no {kind.__name__}")
        if choices and value not in choices:
            raise SettingError(f"{option_of(each.name)} {value} is none of {', '.join(choices)}")
        if isinstance(value, int | float) and not (low <= value <= high and abs(value) <= sys.float_info.max):
            bounds = [f"at least {low:g}"] if low > -inf else []
            bounds += [f"at most {high:g}"] if high < inf else []
            raise SettingError(f"{option_of(each.name)} must be {' and '.join(bounds) or 'a number'}")


def settle(path: Path, about: Mapping[str, Any]) -> None:
    """Write into `path` what decides the other files of its folder. Once one of them, not being a log, has something in
    it, a run that goes on must say the same. Raises SettingError, OSError.
    """
    folder, now = path.parent, json.loads(json.dumps(about))
    others = [each for each in folder.iterdir() if not each.name.startswith((path.name, f".{path.name}."))]
    kept = [each for each in others if each.suffix != ".log"]
    if not any(any(each.iterdir()) if each.is_dir() else each.stat().st_size for each in kept):
        write_whole(path, json.dumps(now, indent=1).encode() + b"\n")
        return
    if not path.exists():
        raise SettingError(f"{folder} holds something else: choose another --out")
    try:
        before = parse_json(path.read_bytes())
        # What only one of them names is as it was, if it is off.
        changed = [name for name in now | before if (now.get(name) or 0) != (before.get(name) or 0)]
    except (AttributeError, TypeError, ValueError) as error:
        raise SettingError(f"{path} does not say what its folder holds") from error
    if changed:
        raise SettingError(f"{folder} was made with other settings ({', '.join(changed)}): choose another --out")
