"""The alpha-beta player: levels, exact ends, lines, time."""

import math
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from othello_games import LowestSquare, random_position, random_weights
from web_board import SETTINGS

from pydlshogi.analysis_server.pool import Answer as Judged
from pydlshogi.analysis_server.pool import Pool, Question
from pydlshogi.catalogue import GAMES
from pydlshogi.games.othello.engine.alphabeta_player import AlphaBetaPlayer
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.options import AlphaBetaOptions
from pydlshogi.games.othello.engine.patterns import save_weights
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import Position, parse_move
from pydlshogi.games.othello.transcript import after
from pydlshogi.player.ask import Lines, ask
from pydlshogi.player.base_player import Checkmate, Engine, Info
from pydlshogi.player.clock import Clock, Limits

ANALYSIS = Limits(infinite=True)


def prepared(weights: Path, **options: object) -> AlphaBetaPlayer:
    chosen = AlphaBetaOptions()
    given = {"weights": str(weights), "plain": True, "openings": False, "hash_mb": 8, **options}
    for name, value in given.items():
        setattr(chosen, name, value)
    player = AlphaBetaPlayer(chosen)
    player.prepare()
    return player


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "weights.npz"
    save_weights(path, random_weights(1))
    return path


@pytest.fixture(scope="module")
def player(weights: Path) -> AlphaBetaPlayer:
    return prepared(weights)


class Answer:
    """What a player says of a position."""

    def __init__(self, player, position, limits=None, *, level=4, lines=1, clock=None, hear=lambda _: None) -> None:
        player.options.level = level
        self.said: list[Info] = []

        def report(heard: Lines) -> None:
            self.said += heard
            hear(heard[-1])

        root = OthelloPosition(position, 61 - position.empties)
        thought = ask(player, root, clock or Clock(limits or Limits()), lines, report)
        self.move, self.lines, self.last = thought.move, thought.lines, thought.lines[0]


def ticking(milliseconds: int) -> tuple[Clock, "count[int]"]:
    """A clock with a `movetime` that goes on by a millisecond whenever it is read, and its readings."""
    looks: count[int] = count()
    return Clock(Limits(movetime=milliseconds), now=lambda: float(next(looks))), looks


def score(info: Info) -> float:
    return info.score_cp / 100


def test_a_level_is_a_depth(player: AlphaBetaPlayer) -> None:
    position = random_position(0, 40)
    answer = Answer(player, position)
    assert [info.depth for info in answer.said] == [1, 2, 3, 4]
    assert answer.said == sorted(answer.said, key=lambda info: info.nodes or 0)
    assert not answer.last.exact
    assert answer.last.pv[0] == answer.move
    after(position, map(parse_move, answer.last.pv))


@pytest.mark.parametrize("empties", [12, 11, 5, 2, 1])
def test_a_level_solves_the_end(player: AlphaBetaPlayer, empties: int) -> None:
    position = random_position(100, empties)
    solution = Solver(1).solve(position)
    answer = Answer(player, position, ANALYSIS)
    assert (score(answer.last), answer.last.exact, answer.last.depth) == (solution.score, True, empties)
    assert not Answer(player, random_position(100, 13)).last.exact


def test_the_only_move_is_played_at_once_and_a_game_that_is_over_has_its_score(player: AlphaBetaPlayer) -> None:
    answer = Answer(player, Position(mover=1 << 1, opponent=1 << 0), level=60)
    assert answer.move == "pass"
    assert [(info.pv, info.score_cp) for info in answer.said] == [(("pass",), None)]
    answer = Answer(player, Position(mover=(1 << 40) - 1, opponent=~((1 << 40) - 1) & (1 << 64) - 1))
    assert (answer.move, score(answer.last), answer.last.exact) == ("resign", 16, True)
    clock = player.start_clock(OthelloPosition(), Clock(Limits(mate=True)))
    assert player.think(OthelloPosition(), clock, lambda _: None) == Checkmate("notimplemented")


@pytest.mark.parametrize("empties", [45, 11])
def test_lines_are_the_best_moves_with_their_scores(player: AlphaBetaPlayer, empties: int) -> None:
    position = random_position(200, empties)
    everything = Answer(player, position, lines=60).lines
    assert sorted(parse_move(info.pv[0]) for info in everything) == position.moves()
    scores = [score(info) for info in everything]
    assert scores == sorted(scores, reverse=True)
    assert score(Answer(player, position).last) == scores[0]
    assert {(info.exact, info.depth) for info in everything} == {(True, 11) if empties == 11 else (False, 4)}
    assert [score(info) for info in Answer(player, position, lines=3).lines] == scores[:3]
    worst = everything[-1]
    answer = Answer(player, position, replace(ANALYSIS, searchmoves=(worst.pv[0],)))
    assert (answer.move, answer.last.score_cp) == (worst.pv[0], worst.score_cp)


@pytest.mark.parametrize("empties", [50, 30, 19])
@pytest.mark.parametrize("lines", [1, 3])
def test_it_stops_when_the_time_is_up(player: AlphaBetaPlayer, empties: int, lines: int) -> None:
    clock, looks = ticking(60)
    Answer(player, random_position(300, empties), clock=clock, level=0, lines=lines)
    assert 60 <= next(looks) <= 75


def test_the_time_is_used_and_without_any_there_is_a_move(player: AlphaBetaPlayer) -> None:
    """Also where the next search is not expected to come to its end."""
    for seed in range(2):
        clock, looks = ticking(200)
        Answer(player, random_position(seed, 45), clock=clock, level=0)
        assert next(looks) >= 200
    position = random_position(300, 30)
    assert Answer(player, position, Limits(movetime=0), level=0).last.depth == 1
    assert len(Answer(player, position, Limits(movetime=0), level=0, lines=2).lines) == 2
    assert (Answer(player, position, level=0).last.nodes or 0) >= 1_000_000  # no limit at all: it ends all the same


def test_it_can_be_stopped(player: AlphaBetaPlayer) -> None:
    for position in (random_position(300, 30), random_position(300, 20)):
        clock = Clock(ANALYSIS)

        def stop(info: Info, clock: Clock = clock) -> None:
            if (info.depth or 0) > 4:
                clock.stop()

        answer = Answer(player, position, clock=clock, level=0, hear=stop)
        assert parse_move(answer.move) in position.moves()
        assert (answer.last.depth or 0) <= 5


@pytest.mark.parametrize("seconds", [1.0, 3.0, 10.0, 60.0, 300.0])
def test_main_time_outlasts_moves_that_cost_more_than_the_thinking(player: AlphaBetaPlayer, seconds: float) -> None:
    """All of each budget's maximum is taken from the ply on from which ends are solved, and the optimum before it."""
    left = 1000 * seconds
    for ply in range(1, 61, 2):
        limits = Limits(btime=round(left), wtime=round(left))
        root = OthelloPosition(random_position(0, 61 - ply) if ply > 1 else None, ply)
        budget = player.start_clock(root, Clock(limits)).budget
        left -= max(budget.optimum, budget.maximum / 2 if ply > 42 else 0.0) + 3
        assert left > 0


def test_another_file_is_loaded_anew(weights: Path, tmp_path: Path) -> None:
    player = prepared(weights)
    assert player.loading(player.options) is None
    other = tmp_path / "other.npz"
    save_weights(other, random_weights(2))
    player.options.weights = str(other)
    before = score(Answer(player, random_position(0, 40), level=1).last)
    player.prepare()
    assert score(Answer(player, random_position(0, 40), level=1).last) != before


def asked(engines: Pool, *questions: Question) -> list[Judged]:
    answers: list[Judged] = []
    with closing(engines) as pool:
        for question in questions:
            pool.ask(question, answers.append)
    return answers


def test_what_is_solved_is_on_the_scale_of_what_is_estimated() -> None:
    """Else the last move before the end is solved would be blamed for the step from one scale to the other."""
    positions = [random_position(seed, empties).diagram() for seed, empties in ((0, 24), (100, 10), (200, 9))]
    questions = [Question("othello", start, visits=2000) for start in positions]
    questions.append(Question("othello", positions[1], opponent="hard"))
    for answer in asked(Pool(1, SETTINGS), *questions):
        assert answer.lines[0].win_rate == pytest.approx(1 / (1 + math.exp(-score(answer.lines[0]) / 6)), abs=1e-3)


def test_a_player_that_loads_nothing_answers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    lowest = LowestSquare()
    engine = Engine("lowest", lowest.options, OthelloPosition, lambda: lowest)
    monkeypatch.setattr(type(GAMES["othello"]), "engines", {"alphabeta": lambda: engine})
    (answer,) = asked(Pool(1), Question("othello", moves=("f5",), visits=1))
    assert (answer.move, answer.error) == ("f4", "")
