"""utils.match plays Dobutsu shogi: scripted USI engines, so that every game is known beforehand."""

from functools import partial
from pathlib import Path

import pytest
from scripted_engines import games, heard, scripted

from pydlshogi.web.records import open_record
from utils import match as match_program
from utils.arena.games import Opening, Verdict, kind_of, read_openings
from utils.match import main

KIND = kind_of("dobutsu")

pytestmark = pytest.mark.lent_worker(match_program)

SHORT = "2c2b 2a2b P*2c C*3b".split()
"""A drop in each dialect; after the second White's lion can be taken."""
KEPT = "2c2b 2a2b C*2c C*3b"
SHUFFLE = "1d1c 3a3b 1c1d 3b3a".split()
"""Both giraffes go up and back."""


engine = partial(scripted, "fake_usi_engine")


def match(out: Path, a: str, b: str, *words: str, games: int = 2) -> int:
    return main([a, b, "--game", "dobutsu", *words, "--time=60000", "--games", str(games), "--out", str(out)])


class TestReferee:
    @pytest.mark.parametrize(
        ("sfen", "move", "verdict"),
        [
            ("1k1/1R1/3/K2 b - 1", "2b2a", Verdict("b", "mate")),  # it takes the lion
            ("k2/3/2r/2K w - 1", "1c1d", Verdict("w", "mate")),
            ("2l/L2/3/3 b - 1", "3b3a", Verdict("b", "mate")),  # a try
            ("3/K2/2k/3 w - 1", "1c1d", Verdict("w", "mate")),
            ("1k1/K2/3/3 b - 1", "3b3a", Verdict("w", "mate")),  # there it is taken
            ("1k1/2R/3/K2 w - 1", "2a2b", Verdict("b", "mate")),  # and so it is here
            ("3/K1k/3/3 w - 1", "1b1c", None),
            ("1k1/K2/3/3 b - 1", "3b3c", None),
        ],
    )
    def test_who_has_won(self, sfen: str, move: str, verdict: Verdict | None) -> None:
        assert KIND.referee(sfen, 512).play(move) == verdict

    def test_a_position_for_the_third_time_is_a_draw(self) -> None:
        referee = KIND.referee(None, 512)
        assert [referee.play(move) for move in 2 * SHUFFLE] == [None] * 7 + [Verdict(None, "sennichite")]

    def test_the_last_move_may_win(self) -> None:
        assert KIND.referee("2k/K2/3/3 b - 1", 1).play("3b3a") == Verdict("b", "mate")
        assert KIND.referee("2k/K2/3/3 b - 1", 1).play("3b3c") == Verdict(None, "max_moves")

    @pytest.mark.parametrize("move", ["2c2a", "C*3c", "resign", "none", ""])
    def test_an_illegal_move_is_not_made_and_loses(self, move: str) -> None:
        referee = KIND.referee(None, 512)
        assert referee.play("1d1c") is None
        assert referee.play(move) == Verdict("b", "illegal_move")
        assert (referee.moves, referee.turn) == (["1d1c"], "w")
        assert referee.declare() == Verdict("b", "false_declaration")

    @pytest.mark.parametrize("letters", ["RBP", "GEC"])
    def test_drops_are_kept_in_one_dialect(self, letters: str) -> None:
        referee = KIND.referee("2k/3/3/K2 b RBPrbp 1", 512)
        for letter, square in zip(2 * letters, ("3c", "3b", "2d", "2b", "2a", "1c"), strict=True):
            assert referee.play(f"{letter}*{square}") is None
        assert referee.moves == ["G*3c", "E*3b", "C*2d", "G*2b", "E*2a", "C*1c"]


def test_a_game_is_played_to_its_end_with_both_colours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "b.log"
    assert match(tmp_path / "m", engine("a", *SHORT), engine("b", *SHORT, log=log)) == 0
    first, second = games(tmp_path / "m")
    played = [(game["winner"], game["ending"], game["moves"]) for game in (first, second)]
    assert played == [("A", "mate", KEPT), ("B", "mate", KEPT)]
    begun = ["position startpos moves 2c2b", "position startpos moves 2c2b 2a2b C*2c"]
    assert heard(log, "position") == [*begun, "position startpos", "position startpos moves 2c2b 2a2b"]
    assert "(as Black +1 =0 -0; as White +0 =0 -1)" in capsys.readouterr().out


def test_records_can_be_read_back(tmp_path: Path) -> None:
    assert match(tmp_path / "m", engine("a", *SHORT), engine("b", *SHORT)) == 0
    record = tmp_path / "m" / "records" / "m-00002.txt"
    assert record.read_text() == f"# m 2: b (Black) against a (White), Black wins: mate\nstartpos moves {KEPT}\n"
    (game,) = open_record(record.read_bytes(), "dobutsu")
    assert game().line.moves == KEPT.split()
    assert read_openings(record, 3, "dobutsu") == [Opening(None, tuple(KEPT.split()[:3]), "dobutsu")]


def test_openings_are_said_in_the_letters_that_all_engines_know(tmp_path: Path) -> None:
    openings, log = tmp_path / "openings.txt", tmp_path / "b.log"
    openings.write_text("startpos moves 2c2b 2a2b P*2c\nsfen 1k1/3/1+P1/1K1 w 2rB 7 moves R*1a\n")
    assert match(tmp_path / "m", engine("a"), engine("b", log=log), "--openings", str(openings), games=4) == 0
    assert sorted(heard(log, "position")) == [
        "position sfen 1l1/3/1+C1/1L1 w E2g 7 moves G*1a",
        "position startpos moves 2c2b 2a2b C*2c",
    ]
    assert sorted(game["opening_plies"] for game in games(tmp_path / "m")) == [1, 1, 3, 3]


def test_random_openings_leave_something_to_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After 2c2b White must do something for its lion: 3a3b would end the game."""
    (tmp_path / "openings.txt").write_text("startpos moves 2c2b\n")
    words = ("--openings", str(tmp_path / "openings.txt"), "--random-plies", "1")
    a = engine("a", candidates="3a3b:50,2a2b:0,1a2b:0")
    assert match(tmp_path / "m", a, engine("b"), *words, games=20) == 0
    assert {game["moves"] for game in games(tmp_path / "m")} == {"2c2b 2a2b", "2c2b 1a2b"}
    assert match(tmp_path / "n", engine("a", candidates="3a3b:50"), engine("b"), *words) == 1
    assert "found no 1 moves that keep the game open, 10 times" in capsys.readouterr().err
