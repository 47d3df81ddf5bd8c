"""Weights of patterns are found again, and games of the engine with itself are sound."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game, random_weights

from pydlshogi.engines.othello.alphabeta_search import AlphaBeta
from pydlshogi.engines.othello.endgame import Solver
from pydlshogi.engines.othello.patterns import CLASSES, DISC, NUMBERS, STAGES, load_weights
from pydlshogi.games.othello.records import Archive, read_archive
from pydlshogi.games.othello.rules import PASS, START
from pydlshogi.games.othello.transcript import after
from pydlshogi.games.othello.wthor import held_out, read_wthor, rows_of
from utils.othello.learn import Settings, classes_of, fit, learn, positions_of, sums
from utils.othello.selfplay import Settings as Play
from utils.othello.selfplay import file_of, play

ROOT = Path(__file__).resolve().parent.parent
GAMES = rows_of(random_game(seed) for seed in range(1000))


def archive(count: int, depth: int = 0) -> Archive:
    """Random games, of which the file says that play is perfect from `depth` empty squares on."""
    return Archive(GAMES[:count].copy(), np.zeros(count, np.int16), np.full(count, depth, np.uint8))


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
        states, values, games = positions_of(archive(100), stage)
        assert list(zip(states["mover"], states["opponent"], values, games, strict=True)) == expected

    def test_what_perfect_play_would_have_come_to_counts(self) -> None:
        """The second of two games was played perfectly from 24 empty squares on, the first was not."""
        games = archive(2, depth=24)
        games.games["theoretical"][0] = games.games["score"][0] + 1
        before, there, later = (positions_of(games, stage) for stage in (8, 9, 10))
        assert set(before.games) == {0, 1}
        lead = 2 * int(games.games["theoretical"][0]) - 64
        assert set(np.abs(before.values[before.games == 0])) == {abs(lead)}
        assert [60 - 4 * 9 - int(number) for number in np.flatnonzero(there.games == 0)] == [24]
        assert set(there.games) == {0, 1}
        assert set(later.games) == {1}


def test_weights_are_found_again() -> None:
    """Values that are sums of weights can be predicted from other positions of the same weights."""
    weights = random_weights(1)[9, np.unique(CLASSES)].astype(np.float32) / DISC
    games = archive(1000)
    found = positions_of(games, 9)
    classes = classes_of(found.states)
    test = held_out(games.games)[found.games]
    values = sums(classes, weights)
    fitted = fit(classes[~test], values[~test], Settings(ridge=0.01, steps=60))
    error = sums(classes[test], fitted) - values[test]
    assert np.sqrt(np.mean(error**2)) < 0.8 * values.std()
    seen = sums(classes[~test], fitted) - values[~test]
    assert np.sqrt(np.mean(seen**2)) < 0.1 * values.std()


def test_the_penalty_keeps_rare_weights_small() -> None:
    classes = np.zeros((30, 47), np.int32)
    classes[:] = np.arange(47)
    free, held = (fit(classes, np.full(30, 9.4, np.float32), Settings(ridge=ridge)) for ridge in (0.001, 30 * 47.0))
    assert free[:47] == pytest.approx(0.2, rel=1e-2)
    assert held[:47] == pytest.approx(0.1, rel=1e-2)


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
    def test_games_are_the_same_for_the_same_seed(self) -> None:
        search, solver = AlphaBeta(random_weights(1), megabytes=1), Solver(1)
        first, again, other = (play(random.Random(seed), search, solver, Play(level=2)) for seed in (1, 1, 2))
        assert first == again != other
        assert first.result is not None

    def test_their_ends_are_perfect(self) -> None:
        game = play(random.Random(3), AlphaBeta(random_weights(1), megabytes=1), Solver(1), Play(level=2, exact=10))
        ply = next(ply for ply in range(60) if after(START, game.moves[:ply]).empties == 10)
        position = after(START, game.moves[:ply])
        solution = Solver(1).solve(position)
        assert solution is not None
        assert game.result == (solution.score if position.black_to_move else -solution.score)


@pytest.mark.long
def test_the_commands_from_nothing(tmp_path: Path) -> None:
    """Games without weights, weights from the games, games with the weights."""
    module = "pydlshogi.games.othello"
    play_them = [sys.executable, "-m", f"{module}.selfplay", "--games", "200", "--level", "1", "--exact", "4"]

    def run(*command: str) -> str:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    run(*play_them, "--out", str(tmp_path / "games"))
    header, games = read_wthor(file_of(tmp_path / "games", 1))
    assert (len(games), header["depth"]) == (100, 4)
    before = file_of(tmp_path / "games", 1).stat().st_mtime_ns
    file_of(tmp_path / "games", 2).unlink()
    run(*play_them, "--out", str(tmp_path / "games"))
    assert file_of(tmp_path / "games", 1).stat().st_mtime_ns == before, "what is there is not played again"
    refused = [*play_them, "--out", str(tmp_path / "games"), "--level", "2"]
    done = subprocess.run(refused, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "was made with other settings (level)" in done.stderr) == (1, True)
    files = sorted(map(str, (tmp_path / "games").glob("*.wtb")))
    assert len(read_archive(map(Path, files)).games) == 200
    learn_them = [sys.executable, "-m", f"{module}.learn", *files, "--out", str(tmp_path / "weights.npz")]
    lines = run(*learn_them).splitlines()
    assert sum("empty squares:" in line for line in lines) == STAGES
    assert load_weights(tmp_path / "weights.npz").any()
    run(*play_them, "--games", "100", "--out", str(tmp_path / "more"), "--weights", str(tmp_path / "weights.npz"))
    assert not np.array_equal(read_wthor(file_of(tmp_path / "more", 1))[1], games)
