"""How well a network predicts games of people."""

from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game

from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.engine.patterns import SHIPPED_WEIGHTS, load_weights
from pydlshogi.games.othello.rules import MOST_MOVES, PASS
from pydlshogi.games.othello.wthor import held_out, rows_of, write_wthor
from pydlshogi.support.files import shipped_model
from pydlshogi.uct.batch import Batch, Evaluations
from utils.othello.learn_policy import fit_scales
from utils.othello.predicted import main, predicted


class FirstMoveWins:
    """Likes the first of the moves, and the side to move."""

    encoding = OTHELLO

    def evaluate(self, batch: Batch) -> Evaluations:
        priors = np.zeros(batch.firsts[len(batch)], np.float32)
        priors[batch.firsts[: len(batch)]] = 1
        return Evaluations(priors, np.full(len(batch), 0.75, np.float32))


def test_moves_and_winners_are_counted() -> None:
    batch = Batch(60, MOST_MOVES, OTHELLO)
    for seed in range(20):
        game = random_game(seed)
        hits, stages, position = [], [[0, 0] for _ in range(15)], game.start
        for move in game.moves:
            if move != PASS:
                hits.append(move == position.moves()[0])
                right = (game.end.lead > 0) == position.black_to_move
                if game.end.lead != 0:
                    stages[(60 - position.empties) // 4][right] += 1
            position = position.play(move)
        found, winners = predicted(game, FirstMoveWins(), batch)
        assert found == hits
        assert winners.tolist() == stages


def test_the_command_says_of_the_tables_what_learning_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, games = tmp_path / "games.wtb", rows_of(random_game(seed) for seed in range(400))
    write_wthor(path, games, 2020, 24)
    assert main([str(path)]) == 0
    moves, winner = capsys.readouterr().out.splitlines()
    _, right = fit_scales(games, np.flatnonzero(held_out(games)), load_weights(shipped_model() / SHIPPED_WEIGHTS))
    assert winner == "winner predicted, by four plies: " + " ".join(f"{100 * share:.0f}" for share in right)
    assert moves.endswith(f" of {np.count_nonzero(games['moves'][held_out(games)]):,}")
    assert main([str(path), "--network", str(tmp_path / "none.npz")]) == 1
    assert "none.npz: No such file" in capsys.readouterr().err
