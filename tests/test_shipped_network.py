"""The network that comes with the package plays shogi, not noise."""

import re

import pytest

from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.games.shogi.game import GAME
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN as START
from pydlshogi.player.ask import ask
from pydlshogi.player.base_player import BasePlayer, Info
from pydlshogi.player.clock import Clock, Limits


@pytest.fixture(scope="module")
def player() -> BasePlayer:
    options = MCTSPlayerOptions()
    options.set("Random_Ply", "0")
    options.set("USI_Hash", "64")
    player = GAME.mcts(options).load()
    player.prepare()
    return player


def answer(player: BasePlayer, sfen: str, *moves: str, nodes: int = 200) -> tuple[str, Info]:
    player.new_game()
    position = ShogiPosition(sfen, moves)
    thought = ask(player, position, Clock(Limits(nodes=nodes)))
    return thought.move, thought.lines[0]


def test_bench_names_it_and_it_answers_as_people_do(player: BasePlayer) -> None:
    network, speed = player.bench(ShogiPosition(), ["0.1"], Clock())
    assert re.match(r"pydlshogi\.npz: \w+ ", network)
    assert " playouts in " in speed
    assert answer(player, START)[0] in {"7g7f", "2g2f"}
    for opening in ("7g7f", "2g2f"):
        assert answer(player, START, opening)[0] in {"3c3d", "8c8d"}


@pytest.mark.parametrize(
    ("moves", "capture"),
    [
        # White left the bishop on 8h without a defender of 2b: it is taken back.
        (("7g7f", "3c3d", "8h2b+"), "3a2b"),
        # The pawn on 2d is exchanged.
        (("2g2f", "8c8d", "2f2e", "8d8e", "7g7f", "4a3b", "8h7g", "3c3d", "7i6h", "1c1d", "2e2d"), "2c2d"),
        # A bishop given for a pawn.
        (("7g7f", "3c3d", "6g6f", "2b6f"), "8h6f"),
    ],
)
def test_it_takes_what_hangs(player: BasePlayer, moves: tuple[str, ...], capture: str) -> None:
    assert answer(player, START, *moves)[0] == capture


@pytest.mark.parametrize(
    ("sfen", "mate"), [("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "G*5b"), ("4k4/9/9/9/9/9/4p4/9/4K4 w g 1", "G*5h")]
)
def test_it_mates_in_one(player: BasePlayer, sfen: str, mate: str) -> None:
    move, info = answer(player, sfen)
    assert (move, info.score_mate) == (mate, 1)
