"""Self-play with evaluators that need no network."""

from pathlib import Path
from random import Random

import pytest

from pydlshogi.evaluator import HashEvaluator, UniformEvaluator
from pydlshogi.games.shogi.encodings import MOVES
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.kifu.game import Game
from pydlshogi.read_kifu import replay, to_csa
from pydlshogi.selfplay import Settings, main, play, record_path

QUICK = Settings(playouts=8, batch=4, max_plies=40)


def game(seed: int, settings: Settings = QUICK, start: str = START_SFEN) -> Game:
    return play(HashEvaluator(MOVES), settings, Random(seed), start)


def test_a_seed_is_a_game_and_another_seed_another() -> None:
    assert game(1) == game(1)
    assert game(1).moves != game(2).moves


def test_every_move_is_legal_and_has_an_evaluation() -> None:
    played = game(3)
    assert len(played.moves) == len(played.evals) == 40
    assert played.ending == "max_moves"
    assert played.win == "d"
    for board, move in replay(played):
        assert move in list(board.legal_moves)
    assert "%MAX_MOVES" in to_csa(played) or "JISHOGI" in to_csa(played)


def test_a_mate_on_the_board_is_played_and_wins() -> None:
    played = game(1, Settings(playouts=500), "4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    assert played.moves == ("G*5b",)
    assert (played.ending, played.win) == ("mate", "b")
    assert played.evals[0] is not None
    assert played.evals[0] > 30000


def test_blunders_come_before_the_game() -> None:
    starts = {game(seed, Settings(playouts=2, batch=1, max_plies=1, blunders=6)).start_sfen for seed in range(20)}
    assert len(starts) > 10
    assert all(len(list(replay(game(seed, QUICK._replace(max_plies=2, blunders=6))))) == 2 for seed in range(5))


def test_no_blunder_ends_the_game_before_it_began() -> None:
    one_move = "k8/2G6/1P7/9/9/9/9/9/K8 w - 1"
    assert game(1, Settings(playouts=8, blunders=50, max_plies=3), one_move).moves


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "holds no position"),
        ("lnsg b - 1", "lnsg b - 1: "),
        ("k8/1G7/1G7/9/9/9/9/9/K8 w - 1", "over"),
        ("\xe9", "codec"),
        (None, "No such file"),
    ],
)
def test_unusable_starts_are_refused_in_one_line(
    content: str | None, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    starts = tmp_path / "starts.txt"
    if content is not None:
        starts.write_text(content, encoding="latin-1")
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path), "--starts", str(starts)])
    assert complaint in capsys.readouterr().err.splitlines()[-1]


def test_where_the_only_move_looked_at_loses_another_is_looked_at_and_played() -> None:
    evasions = "kng5+P/ls1g5/ppPppp3/2p3p1p/4s4/9/PL+bPPP2P/LK2R1S2/2L6 b BS2N2gn3p 110"
    played = game(1, Settings(playouts=1, batch=1, max_plies=1), evasions)
    assert played.evals[0] is not None
    assert abs(played.evals[0]) < 30000


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--out", "own", "--modelfile", "none.npz"], "selfplay: none.npz: No such file"),
        (["--out", "file/own"], "selfplay: file/own: Not a directory; the same command"),
        (["--out", "own", "--playouts", "0"], "--playouts must be at least 1"),
        (["--out", "own", "--random-plies", "-1"], "--random-plies must be at least 0"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    try:
        status = main(["--games", "1", *arguments])
    except SystemExit as left:  # argparse's way
        status = left.code
    assert status in (1, 2)
    said = capfd.readouterr().err
    assert complaint in said.splitlines()[-1]
    assert "Traceback" not in said


def test_a_game_that_goes_in_circles_is_a_draw() -> None:
    """Bare kings, and all moves alike: each side always plays the first, and so comes back to where it was."""
    circling = Settings(playouts=1, batch=1, random_plies=0)
    played = play(UniformEvaluator(), circling, Random(1), "k8/9/9/9/9/9/9/9/8K b - 1")
    assert (played.ending, played.win) == ("sennichite", "d")
    boards = [board.sfen().rsplit(" ", 1)[0] for board, _ in replay(played)]
    assert max(boards.count(board) for board in boards) == 3  # the fourth time is after the last move


def test_with_nothing_left_to_play_it_says_so_and_where_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2):
        record_path(tmp_path, number).write_text("a game")
    assert main(["--out", str(tmp_path), "--games", "2"]) == 0
    assert capsys.readouterr() == (f"{tmp_path} holds the 2 games asked for; nothing was left to play\n", "")
