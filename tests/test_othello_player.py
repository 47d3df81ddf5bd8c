"""The alpha-beta engine as protocols use it."""

import threading
from itertools import count
from pathlib import Path

import pytest
from othello_games import random_position, random_weights

from pydlshogi.engines.othello.clock import Clock, Effort
from pydlshogi.engines.othello.endgame import Solver
from pydlshogi.engines.othello.engine import EngineError, Hint, OthelloEngine
from pydlshogi.engines.othello.patterns import save_weights
from pydlshogi.engines.othello.player import AlphaBetaEngine
from pydlshogi.games.othello.rules import PASS, Position
from pydlshogi.games.othello.transcript import after


def unheard(_: Hint) -> None:
    pass


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> OthelloEngine:
    weights = tmp_path_factory.mktemp("weights") / "weights.npz"
    save_weights(weights, random_weights(1))
    engine = AlphaBetaEngine(weights, plain=True, megabytes=4)
    engine.prepare()
    return engine


def test_a_level_is_a_depth(engine: OthelloEngine) -> None:
    heard: list[Hint] = []
    position = random_position(0, 40)
    hint = engine.choose(position, Clock(Effort(level=4)), heard.append)
    assert [each.depth for each in heard] == [1, 2, 3, 4]
    assert heard[-1] == hint
    assert [each.nodes for each in heard] == sorted(each.nodes for each in heard)
    assert not hint.exact
    assert hint.line[0] == hint.move
    after(position, hint.line)


@pytest.mark.parametrize("empties", [12, 11, 5, 2, 1])
def test_a_level_solves_the_end(engine: OthelloEngine, empties: int) -> None:
    position = random_position(100, empties)
    hint = engine.choose(position, Clock(Effort(level=4)), unheard)
    solution = Solver(1).solve(position)
    assert solution is not None
    if len(position.moves()) > 1:
        assert (hint.score, hint.exact, hint.depth) == (solution.score, True, empties)


def test_before_that_it_does_not(engine: OthelloEngine) -> None:
    assert not engine.choose(random_position(100, 13), Clock(Effort(level=4)), unheard).exact


def test_the_only_move_is_played_at_once(engine: OthelloEngine) -> None:
    heard: list[Hint] = []
    passing = Position(mover=1 << 1, opponent=1 << 0)
    assert engine.choose(passing, Clock(Effort(level=60)), heard.append) == Hint(PASS, None, (PASS,))
    assert heard == []


@pytest.mark.parametrize("empties", [45, 11])
def test_hints_are_the_best_moves_with_their_scores(engine: OthelloEngine, empties: int) -> None:
    position = random_position(200, empties)
    everything = engine.hints(position, 60, Clock(Effort(level=4)), unheard)
    assert sorted(hint.move for hint in everything) == position.moves()
    scores = [hint.score or 0.0 for hint in everything]
    assert scores == sorted(scores, reverse=True)
    best = engine.choose(position, Clock(Effort(level=4)), unheard)
    assert scores[0] == best.score
    assert {(hint.exact, hint.depth) for hint in everything} == {(True, 11) if empties == 11 else (False, 4)}
    few = engine.hints(position, 3, Clock(Effort(level=4)), unheard)
    assert [hint.score for hint in few] == scores[:3]


def test_no_score_is_beyond_a_board(tmp_path: Path) -> None:
    save_weights(tmp_path / "weights.npz", 50 * random_weights(1))
    engine = AlphaBetaEngine(tmp_path / "weights.npz", plain=True, megabytes=4)
    engine.prepare()
    for position in (random_position(seed, 40) for seed in range(5)):
        clock = Clock(Effort(level=2))
        hints = [engine.choose(position, clock, unheard), *engine.hints(position, 60, clock, unheard)]
        assert max(abs(hint.score or 0.0) for hint in hints) == 64


def test_the_hint_of_a_draw_has_no_sign(engine: OthelloEngine) -> None:
    """The last square, h8's opposite: it makes it 32 to 32."""
    rows = "-OXXXXXX XXOOOOOO XXXXXXXX XXXXXXXX XXXXXXOO OOOOOOOO OOOOOOOO OOOOOOOO".replace(" ", "")
    black, white = (sum(1 << square for square, disc in enumerate(rows) if disc == side) for side in "XO")
    (hint,) = engine.hints(Position(mover=black, opponent=white), 1, Clock(Effort(level=4)), unheard)
    assert f"{hint.score:+.2f}" == "+0.00"


@pytest.mark.parametrize("empties", [50, 30, 19])
def test_it_stops_when_the_time_is_up(engine: OthelloEngine, empties: int) -> None:
    """On a clock that goes on by a second whenever it is looked at."""
    position = random_position(300, empties)
    for ask in (engine.choose, lambda *arguments: engine.hints(position, 3, *arguments[1:])):
        looks = count()
        ask(position, Clock(Effort(optimum=40.0, maximum=40.0), now=lambda looks=looks: float(next(looks))), unheard)
        assert next(looks) <= 43


def test_what_a_search_preferred_when_it_was_stopped_is_told_too(engine: OthelloEngine) -> None:
    for seed in range(10):
        heard, looks = list[Hint](), count()
        effort = Effort(optimum=40.0, maximum=40.0)
        clock = Clock(effort, now=lambda looks=looks: float(next(looks)))
        assert engine.choose(random_position(seed, 40), clock, heard.append) == heard[-1]


def test_it_can_be_stopped_by_another_thread(engine: OthelloEngine) -> None:
    for position in (random_position(300, 30), random_position(300, 20)):
        event = threading.Event()
        clock = Clock(Effort(), event)
        hint = engine.choose(position, clock, lambda hint, event=event: event.set() if hint.depth > 4 else None)
        assert hint.move in position.moves()
        assert hint.depth <= 5 or hint.score is None


def test_without_time_there_is_a_move_all_the_same(engine: OthelloEngine) -> None:
    position = random_position(300, 30)
    clock = Clock(Effort(optimum=0.0, maximum=0.0))
    assert engine.choose(position, clock, unheard).depth == 1
    assert len(engine.hints(position, 2, clock, unheard)) == 2


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"nothing\.npz: No such file"):
        AlphaBetaEngine(tmp_path / "nothing.npz").prepare()
    weights = tmp_path / "weights.npz"
    save_weights(weights, random_weights(1))
    with pytest.raises(EngineError, match=r"nothing\.toml: No such file"):
        AlphaBetaEngine(weights, tmp_path / "nothing.toml").prepare()
