"""Eval_Coef beside a network: the scores a GUI is shown follow it, unless the user set another."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from thinker import options_of
from usi_driver import InProcess

from pydlshogi.games.shogi.game import GAME as shogi
from pydlshogi.network.weights import FittedError, fitted_option, write_weights
from pydlshogi.player.base_player import Engine
from tests.networks import RESNET, network

Start = Callable[..., "Gui"]


class Gui(InProcess):
    """It sends back every default it was shown, as GUIs do; then what its user chose."""

    def __init__(self, engine: Engine, **chosen: object) -> None:
        super().__init__(engine)
        declared = [line.split(" default ") for line in self.ask("usi", "usiok") if " default " in line]
        for head, tail in declared:
            self.option(head.split()[2], re.split(" (?:min|var) ", tail)[0])
        for name, value in {"DNN_Batch_Size": 1, **chosen}.items():
            self.option(name, value)

    def option(self, name: str, value: object) -> None:
        self.send(f"setoption name {name} value {value}")

    def load(self) -> list[str]:
        """What is said of it beside what it is."""
        return [line for line in self.ask("isready", "readyok")[:-1] if line and " positions at once" not in line]

    def score(self) -> int:
        """What it says of a position with a single playout, which is the network's own opinion."""
        self.send("usinewgame", "position startpos moves 7g7f")
        return int(re.findall(r" score cp (\S+)", "\n".join(self.go("go nodes 1")))[-1])


@pytest.fixture
def engine() -> Iterator[Start]:
    with ExitStack() as started:
        yield lambda make=shogi.mcts, **chosen: started.enter_context(closing(Gui(make(), **chosen)))


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """A network that thinks one side is far ahead, with nothing beside it."""
    weights = network(RESNET)
    weights["value3/b"] = weights["value3/b"] * 0 + 2
    write_weights(tmp_path / "net.npz", weights)
    return tmp_path / "net.npz"


def lay_beside(net: Path, eval_coef: object) -> None:
    (net.parent / "net.json").write_text(json.dumps({"options": {"Eval_Coef": eval_coef, "temperature": 50}}))


@pytest.mark.parametrize("make", [shogi.mcts, shogi.policy])
def test_defaults_sent_back_leave_it_to_the_network(net: Path, engine: Start, make: Callable[[], Engine]) -> None:
    lay_beside(net, 200)
    gui = engine(make, modelfile=net)
    assert gui.load() == []
    fitted = gui.score()
    gui.option("Eval_Coef", 600)
    assert gui.load() == []
    assert abs(fitted) > 200
    assert gui.score() == pytest.approx(3 * fitted, abs=3)
    gui.option("Eval_Coef", 0)
    assert gui.load() == []
    assert gui.score() == fitted


def test_a_missing_one_is_said_once_and_only_to_those_who_asked(net: Path, engine: Start) -> None:
    assert engine(modelfile=net, Eval_Coef=500).load() == []
    gui = engine(modelfile=net)
    assert gui.load() == ["info string there is no net.json beside net.npz: Eval_Coef is 756"]
    assert gui.load() == []
    assert engine(Backend="hash").load() == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[" * 100_000, b"[]", b"{}", b'{"options": []}', b'{"options": {}}']
    + [json.dumps({"options": {"Eval_Coef": value}}).encode() for value in (None, "275", 0, 10001, 275.5, True)],
)
def test_a_broken_one_is_one_line_and_the_engine_plays_on(net: Path, content: bytes) -> None:
    (net.parent / "net.json").write_bytes(content)
    player = shogi.mcts(options_of(modelfile=net, DNN_Batch_Size=1)).load()
    _, remark = player.prepare()
    assert re.fullmatch(r"\S*net\.json (is no JSON|holds no Eval_Coef from 1 to 10000): Eval_Coef is 756", remark)
    assert player.eval_coef == 756


@pytest.mark.parametrize("name", ["net.npz", "net.onnx"])
def test_one_file_serves_a_network_in_every_format(tmp_path: Path, name: str) -> None:
    lay_beside(tmp_path / name, 321)
    assert fitted_option(tmp_path / name, "Eval_Coef") == 321
    with pytest.raises(FittedError, match=r"there is no net\.v3\.json beside net\.v3"):  # a version is part of it
        fitted_option(tmp_path / name.replace("net", "net.v3"), "Eval_Coef")
