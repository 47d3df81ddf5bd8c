"""Options of engines as programs of the command line take them: `--option NAME=VALUE`."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence

from pydlshogi.player.options import Options, UnknownOption
from pydlshogi.support import OneLineError


class OptionError(OneLineError, ValueError):
    """An option that cannot be so; the message is one line."""


def add_option_setting(parser: ArgumentParser) -> None:
    """`--option NAME=VALUE`, for `option_settings`."""
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the engine, such as USI_Hash=256; repeatable",
    )


def option_settings(given: Sequence[str]) -> dict[str, str]:
    """The values by name of what was given as `--option`. Raises OptionError."""
    if wrong := next((option for option in given if "=" not in option), None):
        raise OptionError(f"--option {wrong}: NAME=VALUE is wanted")
    return {name: value for name, _, value in (option.partition("=") for option in given)}


def set_given(options: Options, given: Sequence[str]) -> None:
    """Set what was given as `--option`. Raises OptionError, also for what the options do not have."""
    settings = option_settings(given)
    if unknown := settings.keys() - apply_settings(options, settings):
        raise OptionError(f"there is no option {', '.join(sorted(unknown))}")


def apply_settings(options: Options, settings: Mapping[str, str]) -> set[str]:
    """Set what the options have of `settings`, and name it. Raises OptionError."""
    known = set()
    for name, value in settings.items():
        try:
            refused = options.set(name, value)
        except UnknownOption:
            continue
        if refused:
            raise OptionError(refused)
        known.add(name)
    return known
