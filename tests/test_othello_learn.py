"""Weights of patterns are found again, and games of the engine with itself are sound."""

import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from othello_games import random_game, random_weights

from pydlshogi.games.othello.engine.alphabeta_search import AlphaBeta
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.patterns import CLASSES, DISC, NUMBERS, STAGES
from pydlshogi.games.othello.records import Archive
from pydlshogi.games.othello.rules import PASS, START
from pydlshogi.games.othello.transcript import after
from pydlshogi.games.othello.wthor import Games, held_out, read_wthor, rows_of
from utils.othello import selfplay
from utils.othello.learn import classes_of, fit, learn, main, positions_of, sums
from utils.othello.selfplay import Settings as Play
from utils.othello.selfplay import play


@cache
def games() -> Games:
    return rows_of(random_game(seed) for seed in range(1000))


def archive(count: int, depth: int = 0) -> Archive:
    """Random games, of which the file says that play is perfect from `depth` empty squares on."""
    return Archive(games()[:count].copy(), np.full(count, depth, np.uint8))


class TestPositions:
    @pytest.mark.parametrize("stage", [2, 7, 14])
    def test_all_positions_of_a_stage_in_which_somebody_can_play(self, stage: int) -> None:
        expected = []
        for number in range(100):
            game, position = random_game(number), START
            assert game.result is not None
            for move in game.moves:
                if (60 - position.empties) // 4 == stage and move != PASS:
                    lead = game.result if position.black_to_move else -game.result
                    expected.append((position.mover, position.opponent, lead, number))
                position = position.play(move)
        found = positions_of(archive(100), stage)
        assert found[["mover", "opponent", "lead", "game"]].tolist() == expected

    def test_what_perfect_play_would_have_come_to_counts(self) -> None:
        """The second of two games was played perfectly from 24 empty squares on, the first was not."""
        games = archive(2, depth=24)
        games.games["theoretical"][0] = games.games["score"][0] + 1
        before, there, later = (positions_of(games, stage) for stage in (8, 9, 10))
        assert set(before["game"]) == {0, 1}
        lead = 2 * int(games.games["theoretical"][0]) - 64
        assert set(np.abs(before["lead"][before["game"] == 0])) == {abs(lead)}
        assert [60 - 4 * 9 - int(number) for number in np.flatnonzero(there["game"] == 0)] == [24]
        assert set(there["game"]) == {0, 1}
        assert set(later["game"]) == {1}


def test_weights_are_found_again() -> None:
    """Values that are sums of weights can be predicted from other positions of the same weights."""
    weights = random_weights(1)[9, np.unique(CLASSES)].astype(np.float32) / DISC
    games = archive(1000)
    found = positions_of(games, 9)
    classes = classes_of(found)
    test = held_out(games.games)[found["game"]]
    values = sums(classes, weights)
    fitted = fit(classes[~test], values[~test], ridge=0.01, steps=60)
    error = sums(classes[test], fitted) - values[test]
    assert np.sqrt(np.mean(error**2)) < 0.8 * values.std()
    seen = sums(classes[~test], fitted) - values[~test]
    assert np.sqrt(np.mean(seen**2)) < 0.1 * values.std()


def test_stage_after_stage_from_the_last_one() -> None:
    lines, weights = zip(*((line, weights.copy()) for line, weights in learn(archive(200))), strict=True)
    assert len(lines) == STAGES
    assert lines[0].startswith(" 4 to  1 empty squares: 7")
    assert lines[-1].startswith("60 to 57 empty squares: 7")
    assert weights[-1].shape == (STAGES, NUMBERS)
    assert (weights[0][: STAGES - 1] == 0).all()
    assert weights[-1].any(axis=1).all()
    games = archive(200, depth=24)
    games.games["theoretical"] = games.games["score"] ^ 1
    lines, weights = zip(*((line, weights.copy()) for line, weights in learn(games)), strict=True)
    assert lines[0] == " 4 to  1 empty squares: nothing to learn from"  # there the next stage counts
    assert not weights[-1][10:].any()
    assert weights[-1][:10].any(axis=1).all()


class TestSelfplay:
    def test_their_ends_are_perfect(self) -> None:
        game = play(random.Random(3), AlphaBeta(random_weights(1), megabytes=1), Solver(1), Play(level=2, exact=10))
        ply = next(ply for ply in range(60) if after(START, game.moves[:ply]).empties == 10)
        position = after(START, game.moves[:ply])
        solution = Solver(1).solve(position)
        assert solution is not None
        assert game.result == (solution.score if position.black_to_move else -solution.score)


def test_the_commands_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Games without weights, weights from the games, games with the weights."""

    def played(name: str, *more: str) -> tuple[Any, Games]:
        words = ["--games", "100", "--level", "1", "--exact", "4", "--out", str(tmp_path / name), *more]
        assert selfplay.main(words) == 0
        return read_wthor(selfplay.file_of(tmp_path / name, 1))

    header, games = played("games")
    assert (len(games), header["depth"]) == (100, 4)
    out = tmp_path / "weights.npz"
    assert main([str(selfplay.file_of(tmp_path / "games", 1)), "--out", str(out)]) == 0
    assert capsys.readouterr().out.count("empty squares:") == STAGES
    assert not np.array_equal(played("more", "--weights", str(out))[1], games)
