"""The ladder: what its simple players see, what it makes of results."""

from random import Random

import pytest

from pydlshogi.catalogue import GAMES
from pydlshogi.support.elo import elo_of_score
from utils.lab.ladder import VIRTUAL, Played, Simple, main, rate


def chosen(game: str, sfen: str, plies: int, *, greedy: bool = False) -> set[str]:
    """What a simple player plays, of many tries."""
    player, position = Simple(game, plies, Random(1), greedy=greedy), GAMES[game].position(sfen)
    return {player(position) for _ in range(60)}


def test_simple_players_see_so_far_and_no_farther() -> None:
    guarded = "4k4/9/3s5/4p4/9/9/9/4R4/4K4 b - 1"  # who takes the pawn loses the rook
    assert chosen("shogi", guarded, 1) == {"5h5d"}
    assert "5h5d" not in chosen("shogi", guarded, 2)
    assert len(chosen("shogi", guarded, 0)) > 10
    two = "4k4/9/9/4p4/9/4b4/9/4R4/4K4 b - 1"  # the bishop stands before the pawn
    assert chosen("shogi", two, 1) == chosen("shogi", two, 1, greedy=True) == {"5h5f"}
    lion = chosen("dobutsu", "1k1/1P1/3/1K1 b - 1", 1)
    assert {move[:4] for move in lion} == {"2b2a"}


def test_players_are_rated_by_their_scores() -> None:
    games = [Played("a", "b", score) for score in (1.0, 1.0, 1.0, 0.0) * 10]
    ratings = rate(games)
    expected = elo_of_score((30 + VIRTUAL / 2) / (40 + VIRTUAL))
    assert ratings["a"].elo - ratings["b"].elo == pytest.approx(expected, abs=0.1)
    assert rate(games * 4)["a"].margin == pytest.approx(ratings["a"].margin / 2, rel=0.02)
    games = [Played(*pair, score) for pair in (("a", "b"), ("b", "c")) for score in (1.0, 1.0, 0.5, 0.0)]
    a, b, c = (rate(games)[name].elo for name in "abc")
    assert a - b == pytest.approx(b - c)
    assert b == pytest.approx(0, abs=1e-6)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dobutsu", "--levels", "0", "--games", "2"]) == 0
    assert "| level 0 | " in capsys.readouterr().out
