"""The searching engine of Othello as protocols use it."""

import math
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from networks import network
from othello_games import random_position
from test_othello_gtp import answers

from pydlshogi.engines.othello import OthelloOptions
from pydlshogi.engines.othello.clock import Clock, Effort
from pydlshogi.engines.othello.endgame import Solver
from pydlshogi.engines.othello.engine import EngineError, Hint
from pydlshogi.engines.othello.options import SEARCH
from pydlshogi.engines.othello.player import AlphaBetaEngine
from pydlshogi.engines.othello.players import Nothing, OthelloPlayer
from pydlshogi.engines.othello.search import Mind, SearchEngine, evaluator_of
from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import PASS, RULES, START, Position, position_of
from pydlshogi.games.othello.transcript import after
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import write_weights
from pydlshogi.player.base_player import Info
from pydlshogi.player.clock import Clock as PlayerClock
from pydlshogi.player.clock import Limits
from pydlshogi.protocols.play import main as play
from pydlshogi.protocols.serve import main as serve
from pydlshogi.uct.batch import Batch

MINDS = [Mind(megabytes=16), Mind(iago=True, rollouts=0.5, megabytes=16), Mind(iago=True, megabytes=16)]
NAMES = ["alphazero", "iago", "iago without rollouts"]
STOPPED = threading.Event()
STOPPED.set()


def unheard(_: Hint) -> None:
    pass


def prepared_alphabeta() -> AlphaBetaEngine:
    engine = AlphaBetaEngine(megabytes=1)
    engine.prepare()
    return engine


def prepared(mind: Mind) -> SearchEngine:
    engine = SearchEngine(mind)
    engine.prepare()
    return engine


@pytest.fixture(scope="module", params=MINDS, ids=NAMES)
def engine(request: pytest.FixtureRequest) -> Iterator[SearchEngine]:
    return prepared(request.param)


MANY_MOVES = "---------OO-OXO--OXXOOO---X-X-X--OXO--OX-XO--XO--OOXOOO--------- X"


def test_a_board_of_more_moves_than_any_game_has(engine: SearchEngine) -> None:
    position = position_of(MANY_MOVES)
    assert len(position.moves()) == 35
    for each in (engine, prepared_alphabeta()):
        each.new_game()
        assert each.choose(position, Clock(Effort(level=3)), unheard).move in position.moves()
        assert {hint.move for hint in each.hints(position, 64, Clock(Effort(level=2)), unheard)} == {*position.moves()}


@pytest.mark.parametrize(
    ("given", "playouts"), [(["--playouts", "100"], 100), (["--playouts", "100", "--level", "1"], 64)]
)
def test_playouts_are_the_most_whatever_the_level(given: list[str], playouts: int) -> None:
    parser = ArgumentParser()
    SEARCH.add_options(parser)
    engine, effort = SEARCH.engine_of(parser.parse_args([*given, "--memory", "16"]))
    engine.prepare()
    hint = engine.choose(random_position(0, 40), Clock(effort), unheard)
    assert playouts <= hint.nodes < playouts + 32


def test_a_level_doubles_the_playouts(engine: SearchEngine) -> None:
    engine.new_game()
    heard: list[Hint] = []
    position = random_position(0, 40)
    hint = engine.choose(position, Clock(Effort(level=4)), heard.append)
    assert heard[-1] == hint
    assert 512 <= hint.nodes < 544
    assert [each.nodes for each in heard] == sorted(each.nodes for each in heard)
    assert hint.score is not None
    assert not hint.exact
    assert hint.line[0] == hint.move
    after(position, hint.line)


def test_a_win_that_the_tree_proves_is_not_one_of_64_discs() -> None:
    position = position_of("XXXXXXXXOOXOOOXXOOXOXXOXOOXOOOXXOOXXXXXXOOX-----O-XX----O-XOOO-- O")
    (hint,) = prepared(MINDS[0]).hints(position, 1, Clock(Effort(level=4)), unheard)
    assert hint.score is not None
    assert (hint.exact, 5 < hint.score < 60) == (False, True)


@pytest.mark.parametrize("empties", [12, 11, 5, 2, 1])
def test_a_level_solves_the_end(engine: SearchEngine, empties: int) -> None:
    position = random_position(100, empties)
    solution = Solver(1).solve(position)
    hints = engine.hints(position, 60, Clock(Effort(level=4)), unheard)
    assert solution is not None
    assert [hint.move for hint in hints if hint.exact] == [hint.move for hint in hints]
    assert hints[0].score == solution.score
    for hint in hints:
        child = position.play(hint.move)
        answer = None if child.over else Solver(1).solve(child)
        assert hint.score == -(child.score if answer is None else answer.score)
    if len(position.moves()) > 1:
        best = engine.choose(position, Clock(Effort(level=4)), unheard)
        assert (best.score, best.exact) == (solution.score, True)


def test_what_was_proven_until_the_time_was_up_is_kept() -> None:
    """On a clock that goes on by a second whenever it is looked at."""
    engine, position, mixed = prepared(MINDS[0]), random_position(301, 16), 0
    solved = prepared(MINDS[0]).hints(position, 60, Clock(Effort(level=8)), unheard)
    worth = {hint.move: hint.score for hint in solved}
    for seconds in range(70, 90, 2):
        engine.new_game()
        looks = count()
        clock = Clock(Effort(optimum=seconds, maximum=seconds), now=lambda looks=looks: float(next(looks)))
        hints = engine.hints(position, 60, clock, unheard)
        assert {hint.move for hint in hints} == set(worth)
        proven = [hint for hint in hints if hint.exact]
        assert all(hint.score == worth[hint.move] for hint in proven)
        assert not proven or hints[0].exact or (proven[0].score < 0 and proven[0].score < hints[0].score)
        mixed += 0 < len(proven) < len(hints)
    assert mixed


def test_the_best_moves(engine: SearchEngine) -> None:
    hints = engine.hints(START, 3, Clock(Effort(level=3)), unheard)
    assert len(hints) == len({hint.move for hint in hints}) == 3
    assert {hint.move for hint in hints} <= set(START.moves())


def test_the_only_move_is_played_at_once(engine: SearchEngine) -> None:
    heard: list[Hint] = []
    passing = Position(mover=1 << 1, opponent=1 << 0)
    assert engine.choose(passing, Clock(Effort(level=60)), heard.append) == Hint(PASS, None, (PASS,))
    assert heard == []


def test_stopped_it_has_a_move(engine: SearchEngine) -> None:
    clock = Clock(Effort(level=60), STOPPED)
    assert engine.choose(START, clock, unheard).move in START.moves()
    position = random_position(1, 30)
    assert engine.choose(position, clock, unheard).move in position.moves()


def test_the_tree_is_kept_through_the_moves_of_both_sides() -> None:
    """Stopped at once, it can tell a long line only of a tree that was there."""
    engine = prepared(Mind(megabytes=16))
    hint = engine.choose(START, Clock(Effort(level=6)), unheard)
    later, stopped = after(START, hint.line[:2]), Clock(Effort(), STOPPED)
    assert engine.choose(later, stopped, unheard).line[:2] == hint.line[2:4]
    engine.new_game()
    assert len(engine.choose(later, stopped, unheard).line) <= 1


def test_the_policy_alone_plays_the_likeliest_move() -> None:
    mind, position = Mind(playouts=1, megabytes=16), OthelloPosition(START.play(37))
    evaluator, moves = evaluator_of(mind), position.legal_moves()
    batch = Batch(1, RULES.most_moves, evaluator.encoding)
    batch.add(position, moves)
    likeliest = moves[evaluator.evaluate(batch).priors[: len(moves)].argmax()]
    assert prepared(mind).choose(START.play(37), Clock(Effort()), unheard).move == likeliest


def test_its_lines_are_ranked_round_by_round() -> None:
    player = OthelloPlayer(OthelloOptions(), lambda _: SearchEngine(MINDS[0]))
    player.install(Nothing())
    player.options.level, player.options.multi_pv = 3, 3
    heard: list[Info] = []
    player.think(OthelloPosition(), PlayerClock(Limits(infinite=True)), heard.append)
    assert [info.multipv for info in heard] == len(heard) // 3 * [1, 2, 3]
    assert len(heard) > 3


def test_it_thinks_with_a_network(tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    write_weights(path, network(architecture_for(OTHELLO, "policy_value_dense", 1, 16)))
    for iago in (False, True):
        mind = Mind(network=path, iago=iago, rollouts=0.5 * iago, megabytes=16)
        position = random_position(3, 40)
        hint = prepared(mind).choose(position, Clock(Effort(level=2)), unheard)
        assert hint.move in position.moves()
        assert hint.score is not None
        assert math.isfinite(hint.score)


def test_a_conversation_in_gtp(engine: SearchEngine) -> None:
    said = answers(engine, "level 2", "play b f5", "genmove w", "undo", "undo", "genmove b", "hint 2", "reg_genmove w")
    assert [each[0] for each in said] == ["="] * 8
    assert len(said[6].splitlines()) == 2
    board = "setup_board " + random_position(100, 8).diagram()
    (_, best) = answers(engine, board, "hint 1")
    assert best.endswith("exact")


@pytest.mark.parametrize(
    "options",
    [["--memory", "0"], ["--rollouts", "2"], ["--playouts", "0"], ["--network", "none.npz"], ["--level", "0"]],
)
def test_what_cannot_be_is_said_in_a_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert serve(options, SEARCH) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_game_at_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert play(["--auto", "--playouts", "1", "--memory", "16"], SEARCH) == 0
    said = capsys.readouterr().out
    assert "wins by" in said or "A draw." in said


def test_a_file_that_is_no_network(tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(EngineError):
        prepared(Mind(path))
