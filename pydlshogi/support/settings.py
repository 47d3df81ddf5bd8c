"""Settings of a program of the command line, declared once, as fields of a frozen dataclass.

    @dataclass(frozen=True)
    class Settings:
        steps: int = setting(1000, "length of the run", low=1)

The options, their help and the check of what was given come from the fields. Nothing here knows what they mean.
"""

import json
import math
import sys
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from pydlshogi.support.errors import OneLineError
from pydlshogi.support.files import write_whole


class SettingError(OneLineError, ValueError):
    """A value that a setting does not take; the message is one line that names the option."""


def setting(default: Any, meaning: str, *choices: str, low: float = -math.inf, high: float = math.inf) -> Any:
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
        value = getattr(settings, each.name)
        if choices and value not in choices:
            raise SettingError(f"{option_of(each.name)} {value} is none of {', '.join(choices)}")
        if isinstance(value, int | float) and not (low <= value <= high and abs(value) <= sys.float_info.max):
            bounds = [f"at least {low:g}"] if low > -math.inf else []
            bounds += [f"at most {high:g}"] if high < math.inf else []
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
        before = json.loads(path.read_bytes())
        # What only one of them names is as it was, if it is off.
        changed = [name for name in now | before if (now.get(name) or 0) != (before.get(name) or 0)]
    except (AttributeError, TypeError, ValueError) as error:
        raise SettingError(f"{path} does not say what its folder holds") from error
    if changed:
        raise SettingError(f"{folder} was made with other settings ({', '.join(changed)}): choose another --out")
