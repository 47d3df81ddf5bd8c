"""Settings of the command line, declared as fields."""

import math
from argparse import ArgumentParser
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pydlshogi.support.command_line import SettingError, add_options, check, setting


@dataclass(frozen=True)
class Meal:
    dish: str = setting("soup", "what there is", "soup", "fish")
    guest_count: int = setting(2, "how many eat", low=1, high=8)
    price: float = setting(1.5, "for each", low=0)
    outside: bool = setting(False, "where")
    note: str = setting("", "whatever")


def parsed(*words: str) -> dict[str, Any]:
    parser = ArgumentParser()
    add_options(parser, Meal)
    return vars(parser.parse_args(words))


def test_only_what_is_given_is_there_and_in_its_type() -> None:
    assert parsed() == {}
    assert parsed("--dish=fish", "--guest-count", "3", "--price=2", "--outside") == {
        "dish": "fish", "guest_count": 3, "price": 2.0, "outside": True
    }  # fmt: skip
    assert parsed("--no-outside") == {"outside": False}


def test_defaults_and_choices_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parsed("--help")
    out = " ".join(capsys.readouterr().out.split())
    for text in ("--dish {soup,fish} what there is (soup)", "--price float for each (1.5)", "where (False)"):
        assert text in out
    with pytest.raises(SystemExit, match="2"):
        parsed("--dish=stone")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"guest_count": 0}, "--guest-count must be at least 1 and at most 8"),
        ({"guest_count": 9}, "--guest-count must be at least 1 and at most 8"),
        ({"price": math.nan}, "--price must be at least 0"),
        ({"price": math.inf}, "--price must be at least 0"),
        ({"price": 10**400}, "--price must be at least 0"),
        ({"dish": "stone"}, "--dish stone is none of soup, fish"),
    ],
)
def test_what_makes_no_sense_is_a_line(change: dict[str, Any], complaint: str) -> None:
    check(Meal())
    with pytest.raises(SettingError) as caught:
        check(replace(Meal(), **change))
    assert str(caught.value) == complaint
