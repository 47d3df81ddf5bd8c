"""Options declared once, as typed fields: `option` lines, parsing, range checks, help and a table follow.

    class Options(EngineOptions):
        playout = Spin("playout", 300, 100, 10000, help="playouts for a `go` without limits")

`Options().playout` is an int. Programs of the command line take them as `--option NAME=VALUE`. Nothing here knows
players or reads a line of the protocol.
"""

import math
import os
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, overload

from pydlshogi.player.allot import TIME_OPTIONS, ClockSettings
from pydlshogi.support import OneLineError

T = TypeVar("T")

EMPTY: Final = "<empty>"
"""How the protocol writes the empty string."""


class UnknownOption(KeyError):
    """No option of this name, or of this alias, is declared."""


@dataclass(eq=False)
class Option(Generic[T]):
    """One declared option; on an instance of its class, its value.

    `usi_name`, the default and the words of a combo hold no blank, because GUIs split the line at blanks; a spin has 32
    bits. Aliases, and options that are not `shown`, which are for those who tune, are accepted but not declared. Names
    are compared without regard to case.
    """

    usi_type: ClassVar[str]
    usi_name: str
    default: T
    help: str = field(kw_only=True)
    aliases: tuple[str, ...] = field(default=(), kw_only=True)
    shown: bool = field(default=True, kw_only=True)

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = f"_{name}"

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: "Options", owner: type) -> T: ...
    def __get__(self, instance: "Options | None", owner: type) -> Self | T:
        if instance is None:
            return self
        value: T = instance.__dict__.get(self._slot, self.default)
        return value

    def __set__(self, instance: "Options", value: T) -> None:
        instance.__dict__[self._slot] = value

    def starting_at(self, default: T) -> Self:
        """The same option with another default, for a class that declares it anew."""
        return replace(self, default=default)

    def parse(self, text: str) -> tuple[T, str]:
        """The value `text` stands for, and a remark if that is not quite what it says.

        Raises ValueError, with the reason, if it stands for none.
        """
        raise NotImplementedError

    def show(self, value: T) -> str:
        """`value` as the protocol writes it."""
        return str(value)

    def declaration(self) -> str:
        """The line that answers `usi`."""
        return f"option name {self.usi_name} type {self.usi_type} default {self.show(self.default)}{self.domain()}"

    def domain(self) -> str:
        """What follows the default in the declaration."""
        return ""

    def values(self) -> str:
        """The values it takes, for people."""
        return self.usi_type


class Check(Option[bool]):
    """true or false."""

    usi_type = "check"

    def parse(self, text: str) -> tuple[bool, str]:
        word = text.lower()
        if word not in {"true", "false"}:
            raise ValueError("true or false is wanted")
        return word == "true", ""

    def show(self, value: bool) -> str:
        return "true" if value else "false"

    def values(self) -> str:
        return "true, false"


@dataclass(eq=False)
class Spin(Option[int]):
    """A whole number between bounds."""

    usi_type = "spin"
    minimum: int
    maximum: int

    def parse(self, text: str) -> tuple[int, str]:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise ValueError(f"a whole number from {self.minimum} to {self.maximum} is wanted")
        value = round(min(max(number, self.minimum), self.maximum))
        if value == number:
            return value, ""
        return value, f"{text} becomes {value}, a whole number from {self.minimum} to {self.maximum}"

    def domain(self) -> str:
        return f" min {self.minimum} max {self.maximum}"

    def values(self) -> str:
        return f"{self.minimum} to {self.maximum}"


class Filename(Option[str]):
    """A path, any text to the end of the line, also in quotes, as Windows copies it; GUIs show a file picker."""

    usi_type = "filename"

    def parse(self, text: str) -> tuple[str, str]:
        quoted = len(text) > 1 and text[0] == text[-1] == '"'
        path = "" if text == EMPTY else text[1:-1] if quoted else text
        try:
            os.fsencode(path)
        except UnicodeEncodeError:  # in a locale that knows ASCII alone names of files are bytes
            path = os.fsdecode(path.encode())
        return path, ""

    def show(self, value: str) -> str:
        return value or EMPTY


@dataclass(eq=False)
class Combo(Option[str]):
    """One of some words."""

    usi_type = "combo"
    words: tuple[str, ...]

    def parse(self, text: str) -> tuple[str, str]:
        for word in self.words:
            if word.lower() == text.lower():
                return word, ""
        raise ValueError(f"one of {', '.join(self.words)} is wanted")

    def domain(self) -> str:
        return "".join(f" var {word}" for word in self.words)

    def values(self) -> str:
        return ", ".join(self.words)


@dataclass(eq=False)
class Button(Option[int]):
    """A button; its value counts how often it was pressed."""

    usi_type = "button"
    default: int = 0

    def declaration(self) -> str:
        return f"option name {self.usi_name} type button"


class Options:
    """The values of the options its classes declare, base class first."""

    _by_name: ClassVar[dict[str, Option[Any]]] = {}

    def __init_subclass__(cls) -> None:
        cls._by_name = {}
        for option in cls.declared():
            cls._by_name |= {name.lower(): option for name in (option.usi_name, *option.aliases)}

    @classmethod
    def declared(cls) -> Iterator[Option[Any]]:
        """The options in order of declaration. A class may declare a field of its base anew."""
        fields: dict[str, Option[Any]] = {}
        for owner in reversed(cls.__mro__):
            fields |= {name: field for name, field in vars(owner).items() if isinstance(field, Option)}
        return iter(fields.values())

    @classmethod
    def find(cls, name: str) -> Option[Any]:
        """The option called `name`. Raises UnknownOption."""
        try:
            return cls._by_name[name.lower()]
        except KeyError:
            raise UnknownOption(name) from None

    def set(self, name: str, text: str) -> str:
        """Give the option called `name` the value `text` stands for.

        Returns a remark for the user when the value was brought into range, or refused (and nothing changed); else "".
        Raises UnknownOption.
        """
        option = self.find(name)
        if isinstance(option, Button):
            option.__set__(self, option.__get__(self, type(self)) + 1)
            return ""
        try:
            value, remark = option.parse(text)
        except ValueError as error:
            return f"option {option.usi_name}: {text or 'an empty value'} is refused, {error}"
        option.__set__(self, value)
        return remark and f"option {option.usi_name}: {remark}"

    def get(self, name: str) -> str:
        """The value of the option called `name` as the protocol writes it. Raises UnknownOption."""
        option = self.find(name)
        return option.show(option.__get__(self, type(self)))

    @classmethod
    def declarations(cls) -> list[str]:
        """The `option` lines that answer `usi`."""
        return [option.declaration() for option in cls.declared() if option.shown]

    @classmethod
    def help_lines(cls) -> list[str]:
        """One line per option, for people at a terminal: first those that GUIs show."""

        def lines(*, shown: bool) -> list[str]:
            return [
                f"{option.usi_name} ({option.values()}; default {option.show(option.default)}): {option.help}"
                for option in cls.declared()
                if option.shown == shown
            ]

        return [*lines(shown=True), "", "For those who tune, not shown by GUIs:", *lines(shown=False)]

    @classmethod
    def markdown_table(cls) -> str:
        """The options as a table for docs/play.md."""
        rows = ["| Option | Values | Default | Meaning |", "|---|---|---|---|"]
        for option in cls.declared():
            if not option.shown:
                continue
            names = " ".join(f"`{name}`" for name in (option.usi_name, *option.aliases))
            default = "" if isinstance(option, Button) else f"`{option.show(option.default)}`"
            rows.append(f"| {names} | {option.values()} | {default} | {option.help} |")
        return "\n".join(rows)


class EngineOptions(Options):
    """What every engine of the package declares."""

    ponder = Check("USI_Ponder", False, help="the GUI lets the engine think on the opponent's time")
    debug_message = Check(
        "DebugMessage",
        False,
        aliases=("debug",),
        help="say more in `info string` lines, and write every line read and written to the log",
    )
    log_file = Filename("Log_File", "", shown=False, help="the log; empty: pydlshogi.log in the user's state folder")

    def rules(self) -> dict[str, Any]:
        """What they say of the rules of the game, as arguments of its positions."""
        return {}

    def clock_settings(self) -> ClockSettings:
        """What they say of time. With default_nodes set, a `go` without limits ends by itself."""
        return ClockSettings()


class ClockOptions(EngineOptions):
    """What an engine declares that plays against a clock."""

    byoyomi_margin = Spin(
        "Byoyomi_Margin", 0, 0, 60000, help="ms held back from the byoyomi of every move, half of it at most"
    )
    time_margin = Spin(
        "Time_Margin", 1000, 0, 600000, help="ms held back from the clock when there is no byoyomi; at most half of it"
    )
    network_delay = Spin(
        "Network_Delay",
        400,
        0,
        60000,
        aliases=("NetworkDelay",),
        help="ms a move may lose on the way to the GUI or server; at most a quarter of what the move may take",
    )
    minimum_thinking_time = Spin(
        "Minimum_Thinking_Time",
        100,
        0,
        60000,
        aliases=("MinimumThinkingTime",),
        shown=False,
        help="ms thought about every move where the clock allows it",
    )
    whole_seconds = Check(
        "Round_Up_To_Full_Second",
        False,
        aliases=("RoundUpToFullSecond",),
        help="for servers that count whole seconds: think until the second that has begun is over",
    )
    draw_ply = Spin(
        "Draw_Ply",
        0,
        0,
        10000,
        aliases=("MaxMovesToDraw", "USI_MaxPly"),
        help="moves after which the game is drawn; 0: no such rule",
    )

    def rules(self) -> dict[str, Any]:
        return {"draw_ply": self.draw_ply}

    def clock_settings(self) -> ClockSettings:
        return ClockSettings(*(getattr(self, name) for name in TIME_OPTIONS))


class SearchOptions(ClockOptions):
    """What an engine declares that searches a tree."""

    hash_mb = Spin("USI_Hash", 1024, 1, 18432, aliases=("Hash",), help="MB for the search tree")
    multi_pv = Spin("MultiPV", 1, 1, 600, aliases=("USI_MultiPV",), help="lines of play to show")
    pv_interval = Spin(
        "PV_Interval", 500, 0, 1000000, aliases=("PvInterval",), help="ms between reports; 0: every batch"
    )


# On the command line


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
