"""Options: what is declared is what is parsed, checked and shown."""

import re

import pytest

from pydlshogi.catalogue import GAMES
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.player.mcts_options import ReflexOptions, Search1Options
from pydlshogi.player.options import Button, Combo, EngineOptions, Filename, SearchOptions, Spin, UnknownOption


class Sample(EngineOptions):
    playout = Spin("playout", 300, 100, 10000, help="playouts", aliases=("Const", "Nodes"))
    model = Filename("modelfile", "", help="the network")
    greeting = Filename("Greeting", "hello", help="words")
    device = Combo("Device", "auto", ("auto", "cpu", "cuda"), help="where")
    clear = Button("Clear", help="forget")
    tuned = Spin("Tuned", 5, 0, 9, shown=False, help="for tuning")


@pytest.fixture
def options() -> Sample:
    return Sample()


def test_declarations_come_in_order_and_in_the_form_guis_parse() -> None:
    assert Sample.declarations() == [
        "option name USI_Ponder type check default false",
        "option name DebugMessage type check default false",
        "option name playout type spin default 300 min 100 max 10000",
        "option name modelfile type filename default <empty>",
        "option name Greeting type filename default hello",
        "option name Device type combo default auto var auto var cpu var cuda",
        "option name Clear type button",
    ]


@pytest.mark.parametrize(
    ("name", "text", "attribute", "value"),
    [("playout", "200", "playout", 200), ("nodes", "200", "playout", 200), ("playout", "200.0", "playout", 200),
     ("usi_ponder", "TRUE", "ponder", True), ("debug", "true", "debug_message", True),
     ("modelfile", r"C:\My Models\net value 1.onnx", "model", r"C:\My Models\net value 1.onnx"),
     ("Greeting", "<empty>", "greeting", ""), ("modelfile", '"C:\\my nets\\a.npz"', "model", "C:\\my nets\\a.npz"),
     ("device", "CUDA", "device", "cuda")],
)  # fmt: skip
def test_values_are_taken(options: Sample, name: str, text: str, attribute: str, value: object) -> None:
    assert options.set(name, text) == ""
    assert getattr(options, attribute) == value


@pytest.mark.parametrize(
    ("text", "value"), [("5", 100), ("99999", 10000), ("-1", 100), ("1e99", 10000), ("inf", 10000), ("150.7", 151)]
)
def test_a_number_is_brought_into_range_and_that_is_said(options: Sample, text: str, value: int) -> None:
    remark = options.set("playout", text)
    assert options.playout == value
    assert {text, str(value)} <= set(re.findall(r"[\w.-]+", remark.replace(",", " ")))


@pytest.mark.parametrize(
    ("name", "texts"), [("playout", ("many", "", "nan")), ("USI_Ponder", ("yes", "")), ("Device", ("x",))]
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(options: Sample, name: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        before = options.get(name)
        assert "refused" in options.set(name, text)
        assert options.get(name) == before
    with pytest.raises(UnknownOption):
        options.set("USI_Variant", "shogi")


def test_get_speaks_the_language_of_set_and_a_button_counts(options: Sample) -> None:
    for option in options.declared():
        if not isinstance(option, Button):
            assert options.set(option.usi_name, options.get(option.usi_name)) == ""
            assert options.get(option.usi_name) == option.show(option.default)
    options.set("clear", "")
    options.set("Clear", "anything")
    assert options.clear == 2


LINE = re.compile(r"option name \S+ type (button|check default (true|false)|filename default \S+|combo .*|spin .*)")


@pytest.mark.parametrize("game", GAMES)
def test_guis_can_split_each_line_at_blanks_and_no_name_is_there_twice(game: str) -> None:
    for make in GAMES[game].engines.values():
        options = make().options
        names = [name.lower() for option in options.declared() for name in (option.usi_name, *option.aliases)]
        assert len(names) == len({*names})
        for line in options.declarations():
            assert LINE.fullmatch(line)
            match line.split()[4:]:
                case ["combo", "default", word, *words]:
                    assert word in words[1::2]
                    assert {*words[::2]} == {"var"}
                case ["spin", "default", default, "min", low, "max", high]:
                    assert -(2**31) < int(low) <= int(default) <= int(high) < 2**31
                case [kind, *_]:
                    assert kind not in {"combo", "spin"}


def test_what_is_not_shown_can_be_set_and_asked_for_by_name(options: Sample) -> None:
    assert not any("Tuned" in line for line in Sample.declarations())
    assert "Tuned" not in Sample.markdown_table()
    assert options.set("tuned", "7") == ""
    assert (options.tuned, options.get("Tuned")) == (7, "7")


def test_help_names_every_option_and_the_table_those_that_are_shown() -> None:
    names = [option.usi_name for option in Sample.declared()]
    helped = [line.split()[0] for line in Sample.help_lines() if "default" in line]
    assert sorted(helped) == sorted(names)
    rows = Sample.markdown_table().splitlines()[2:]
    shown = [option.usi_name for option in Sample.declared() if option.shown]
    assert [re.match(r"\| `(\w+)`", row)[1] for row in rows] == shown  # type: ignore[index]
    assert len(shown) < len(names)
    assert helped[: len(shown)] == shown, "those come first in help too"
    assert all(row.count("|") == 5 for row in rows)


@pytest.mark.parametrize("options", [MCTSPlayerOptions, ReflexOptions, Search1Options])
def test_a_gui_is_shown_what_a_player_or_an_analyst_sets(options: type[EngineOptions]) -> None:
    assert len(options.declarations()) <= 35
    # A GUI sends by itself only what was declared to it.
    assert any(line.startswith("option name USI_Ponder ") for line in options.declarations())
    shown = {option.usi_name for option in MCTSPlayerOptions.declared() if option.shown}
    assert {"USI_Ponder", "USI_Hash", SearchOptions.find("USI_MultiPV").usi_name} <= shown
