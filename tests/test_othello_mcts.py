"""The searching player of Othello: tables, networks, rollouts, exact ends. What all searches do is tested elsewhere."""

import math
from pathlib import Path

import pytest
from othello_games import random_position
from test_othello_gtp import answers

from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.options import OthelloMCTSOptions
from pydlshogi.games.othello.engine.policy import tables_of
from pydlshogi.games.othello.game import GAME
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.loaded_engine import LoadedEngine
from pydlshogi.games.othello.rules import RULES, START, Position, parse_move, position_of
from pydlshogi.games.othello.transcript import after
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import write_weights
from pydlshogi.player.ask import ask as asked
from pydlshogi.player.base_player import Info, PlayerError
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.player.options import apply_settings
from pydlshogi.uct.batch import Batch
from tests.networks import network

SETTINGS = {"alphazero": {}, "iago": {"IaGo": "true"}, "iago without rollouts": {"IaGo": "true", "Rollouts": "0"}}


def prepared(**settings: str) -> MCTSPlayer:
    engine = GAME.mcts()
    apply_settings(engine.options, {"USI_Hash": "16", "Random_Seed": "1", **settings})
    player = engine.load()
    player.prepare()
    return player


@pytest.fixture(scope="module", params=SETTINGS.values(), ids=SETTINGS)
def player(request: pytest.FixtureRequest) -> MCTSPlayer:
    return prepared(**request.param)


def ask(player: MCTSPlayer, position: Position, limits: Limits, lines: int = 1) -> tuple[str, list[Info]]:
    """The answer, and what was said last of each rank."""
    thought = asked(player, OthelloPosition(position, 61 - position.empties), Clock(limits), lines)
    return thought.move, [*thought.lines]


def test_a_board_of_more_moves_than_any_game_has(player: MCTSPlayer) -> None:
    position = position_of("---------OO-OXO--OXXOOO---X-X-X--OXO--OX-XO--XO--OOXOOO--------- X")
    assert len(position.moves()) == 35
    move, said = ask(player, position, Limits(nodes=200), lines=64)
    assert parse_move(move) in position.moves()
    assert {parse_move(info.pv[0]) for info in said} == {*position.moves()}


def test_a_level_doubles_the_playouts_where_nothing_limits_them(player: MCTSPlayer) -> None:
    position = random_position(0, 40)
    for level, playouts in ((0, 300), (4, 512), (5, 1024)):
        player.new_game()
        player.options.level = level
        move, (said,) = ask(player, position, Limits())
        assert (said.nodes or 0) <= playouts
        assert player.start_clock(OthelloPosition(position), Clock(Limits())).budget.nodes == playouts
        assert (said.pv[0], said.exact) == (move, False)
        after(position, map(parse_move, said.pv))
    player.options.level = 0


@pytest.mark.parametrize("empties", [12, 11, 5, 2, 1])
def test_it_solves_the_end(player: MCTSPlayer, empties: int) -> None:
    position = random_position(100, empties)
    solution = Solver(1).solve(position)
    move, (said,) = ask(player, position, Limits(movetime=5000))
    if len(position.moves()) > 1:
        assert (said.score_cp, said.exact) == (100 * solution.score, True)
        child = position.play(parse_move(move))
        answer = None if child.over else Solver(1).solve(child)
        assert solution.score == -(child.score if answer is None else answer.score)


def test_the_best_moves_are_solved_too() -> None:
    position = random_position(100, 11)
    _, said = ask(prepared(), position, Limits(movetime=10_000), lines=3)
    assert [info.multipv for info in said] == [1, 2, 3]
    worth = {}
    for move in position.moves():
        child = position.play(move)
        answer = None if child.over else Solver(1).solve(child)
        worth[move] = -100 * (child.score if answer is None else answer.score)
    assert [info.score_cp for info in said] == sorted(worth.values(), reverse=True)[:3]
    assert all(info.score_cp == worth[parse_move(info.pv[0])] for info in said)


@pytest.mark.parametrize("limits", [Limits(nodes=50), Limits(infinite=True, nodes=50), Limits(movetime=1)])
def test_otherwise_it_searches_but_an_only_move_is_played_at_once(player: MCTSPlayer, limits: Limits) -> None:
    _, (said,) = ask(player, random_position(100, 16), limits)
    assert not said.exact
    move, said = ask(player, Position(mover=1 << 1, opponent=1 << 0), Limits(movetime=60_000))
    assert (move, [(info.nodes, info.score_cp) for info in said]) == ("pass", [(0, None)])


def test_stopped_it_has_a_move(player: MCTSPlayer) -> None:
    for position in (START, random_position(1, 30), random_position(1, 18)):
        clock = Clock(Limits(movetime=60_000))
        clock.stop()
        assert parse_move(asked(player, OthelloPosition(position), clock).move) in position.moves()
    winning = position_of("XXXXXXXXOOXOOOXXOOXOXXOXOOXOOOXXOOXXXXXXOOX-----O-XX----O-XOOO-- O")
    _, (said,) = ask(prepared(), winning, Limits(nodes=4000, infinite=True))
    assert (said.exact, said.score_mate, (said.win_rate or 0) > 0.7) == (False, None, True)  # no mate


def test_the_policy_alone_plays_the_likeliest_move() -> None:
    position, (evaluator, _) = OthelloPosition(START.play(37), 2), tables_of(OthelloMCTSOptions())
    moves = position.legal_moves()
    batch = Batch(1, RULES.most_moves, evaluator.encoding)
    batch.add(position, moves)
    likeliest = moves[evaluator.evaluate(batch).priors[: len(moves)].argmax()]
    move, _ = ask(prepared(), START.play(37), Limits(nodes=1))
    assert parse_move(move) == likeliest


def test_rollouts_are_part_of_the_value() -> None:
    """Of the same position, the values differ by their share."""
    values = []
    for share in ("0", "100"):
        _, (said,) = ask(prepared(Rollouts=share), random_position(3, 30), Limits(nodes=1))
        values.append(said.win_rate)
    assert values[0] != values[1]


@pytest.mark.parametrize("iago", ["false", "true"])
def test_it_thinks_with_a_network(tmp_path: Path, iago: str) -> None:
    path = tmp_path / "net.npz"
    write_weights(path, network(architecture_for(OTHELLO, "policy_value_dense", 1, 16)))
    player, position = prepared(modelfile=str(path), IaGo=iago), random_position(3, 40)
    move, (said,) = ask(player, position, Limits(nodes=100))
    assert parse_move(move) in position.moves()
    assert math.isfinite(said.win_rate or math.nan)
    path.write_bytes(b"nothing")
    with pytest.raises(PlayerError):
        prepared(modelfile=str(path))


def test_it_converses_in_gtp() -> None:
    engine = GAME.mcts()
    apply_settings(engine.options, {"USI_Hash": "16"})
    asked = "level 2|play b f5|genmove w|undo|undo|genmove b|hint 2|reg_genmove w".split("|")
    said = answers(LoadedEngine(engine, 2), *asked)
    assert [each[0] for each in said] == ["="] * 8
    assert len(said[6].splitlines()) == 2
