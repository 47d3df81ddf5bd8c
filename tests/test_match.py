"""utils.match: scripted engines, so that every game, clock and figure is known beforehand."""

import lzma
import os
import shlex
import signal
import subprocess
import sys
from functools import partial
from math import inf
from pathlib import Path
from select import select

import pytest
from cshogi.elo import Elo as SingleGames
from scripted_engines import games, heard, scripted
from usi_driver import PATIENCE, ROOT

from pydlshogi.games.shogi.kifu.csa import parse
from pydlshogi.support import OneLineError
from pydlshogi.support.elo import elo_of_score, estimate, superiority
from utils import match as match_program
from utils.arena.games import STANDARD, Opening, Referee, Verdict, read_openings
from utils.arena.play_game import ChessClock, parse_limit
from utils.match import main

pytestmark = pytest.mark.lent_worker(match_program)

OPENING = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b"]

on_posix = pytest.mark.skipif(os.name != "posix", reason="names programs, files and reasons of POSIX")
on_posix_only = partial(pytest.param, marks=on_posix)
LAST_SAID = "has stopped while starting; it last said `info string Error! no network` (its stderr: "
engine = partial(scripted, "fake_usi_engine")


def match(out: Path, a: str, b: str, *words: str, limit: str = "--time=60000", games: int = 2) -> int:
    return main([a, b, *words, limit, "--games", str(games), "--out", str(out)])


def played(out: Path, *names: str) -> list[tuple[object, ...]]:
    """These fields of the games of a match; the ending and who won."""
    return [tuple(game[name] for name in names or ("ending", "winner")) for game in games(out)]


class TestElo:
    @pytest.mark.parametrize(("wins", "draws", "losses"), [(60, 4, 36), (5, 90, 5), (10, 3, 80)])
    def test_single_games_agree_with_cshogi(self, wins: int, draws: int, losses: int) -> None:
        expected = SingleGames(wins, losses, draws)
        elo = estimate((losses, draws, wins))
        assert elo.difference == pytest.approx(expected.diff())
        # Its inverse of the error function is an approximation.
        assert elo.margin == pytest.approx(expected.error_margin(), rel=3e-3)
        assert 100 * superiority((losses, draws, wins)) == pytest.approx(expected.los())

    def test_pairs_by_hand(self) -> None:
        # Scores 1/2, 1/2, 1, 1: mean 3/4, variance 1/16, standard error of the mean of four 1/8.
        elo, deviation = estimate((0, 0, 2, 0, 2)), 1.959964 / 8
        assert (elo.low, elo.high) == pytest.approx((elo_of_score(0.75 - deviation), elo_of_score(0.75 + deviation)))

    def test_equal_scores_leave_an_interval_after_wilson(self) -> None:
        assert [estimate((0, 0, 0, 0, n)).high for n in range(1, 300)] == [inf] * 299
        assert [estimate((n, 0, 0, 0, 0)).low for n in range(1, 300)] == [-inf] * 299
        assert estimate((0, 0, 0, 0, 5)) == pytest.approx((inf, elo_of_score(5 / (5 + 1.959964**2)), inf), abs=1e-3)


def last_verdict(referee: Referee, moves: str) -> Verdict | None:
    verdict = None
    for move in moves.split():
        assert verdict is None
        verdict = referee.play(move)
    return verdict


class TestReferee:
    def test_mate_even_with_the_last_move_and_sennichite(self) -> None:
        sfen = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
        assert Referee(sfen, max_moves=1).play("G*5b") == Verdict("b", "mate")
        assert Referee(sfen, max_moves=1).play("G*4b") == Verdict(None, "max_moves")
        assert last_verdict(Referee(), "2h3h 8b7b 3h2h 7b8b " * 3) == Verdict(None, "sennichite")

    @pytest.mark.parametrize(
        ("sfen", "cycle", "verdict"),
        [
            ("5k3/9/9/9/9/9/9/9/K3R4 b - 1", "5i4i 4a5a 4i5i 5a4a ", Verdict("w", "perpetual_check")),
            ("4k4/9/9/9/9/9/9/9/K3R4 w - 1", "5a4a 5i4i 4a5a 4i5i ", Verdict("w", "perpetual_check")),
            ("5k3/9/9/9/9/9/9/9/K3R4 b - 1", "5i6i 4a5a 6i5i 5a4a ", Verdict(None, "sennichite")),
        ],
        ids=["completed by the king", "completed by the check", "one quiet move in it"],
    )
    def test_perpetual_check_loses(self, sfen: str, cycle: str, verdict: Verdict) -> None:
        assert last_verdict(Referee(sfen), cycle * 3) == verdict


class TestOpenings:
    SFEN = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL"
    TEXT = f"""# comment
startpos moves 7g7f 3c3d 2g2f\x20

position startpos
position startpos moves 2g2f
2c2d
sfen {SFEN} b - 1 moves 5g5f 5c5d
{SFEN} w -
"""
    EXPECTED = (
        Opening(None, ("7g7f", "3c3d")),
        STANDARD,
        Opening(None, ("2g2f",)),
        Opening(f"{SFEN} b - 1", ("5g5f", "5c5d")),
        Opening(f"{SFEN} w -", ()),
    )

    def test_every_form_of_line_plain_and_compressed(self, tmp_path: Path) -> None:
        plain, compressed = tmp_path / "openings.txt", tmp_path / "openings.xz"
        plain.write_text(self.TEXT)
        compressed.write_bytes(lzma.compress(self.TEXT.encode()))
        assert tuple(read_openings(plain, plies=2)) == tuple(read_openings(compressed, plies=2)) == self.EXPECTED

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("startpos moves 7g7f 7c7e", "line 1: .*illegal_move at 7c7e"),
            ("startpos moves " + "2h3h 8b7b 3h2h 7b8b " * 3, "sennichite"),
            ("# nothing", "holds no opening"),
        ],
    )
    def test_what_cannot_be_used_is_named(self, tmp_path: Path, text: str, reason: str) -> None:
        (tmp_path / "bad.txt").write_text(text)
        (tmp_path / "broken.xz").write_text("not compressed")
        for name, message in (("bad.txt", reason), ("broken.xz", "broken.xz"), ("missing.txt", "missing.txt")):
            with pytest.raises(OneLineError, match=message):
                read_openings(tmp_path / name)

    def test_real_files(self, shared_data: Path) -> None:
        folder = shared_data / "openings"
        assert len(read_openings(folder / "taya36_2020-11-06.sfen.xz", plies=9)) == 1957


@pytest.mark.parametrize(
    ("limit", "spent", "over", "left"),
    [(("time", "1000"), (999, 1000, 1200), [0, 0, 200], 0), (("time", "3000/1000"), (2500,), [0], 500),
     (("time", "3000/1000"), (2500, 1700), [0, 200], 0), (("fischer", "1000+500"), (1500, 100), [0, 0], 400),
     (("fischer", "1000+500"), (1500, 100, 1000), [0, 0, 100], 0), (("nodes", "5"), (1e6,), [0], 0)],
)  # fmt: skip
def test_what_is_spent(limit, spent, over, left: float) -> None:
    """Main time before byoyomi; an increment may be spent at once, and saved; nodes cost no time."""
    clock = ChessClock(parse_limit(*limit))
    assert ([clock.spend(ms) for ms in spent], clock.remaining_ms) == (over, left)


class TestGames:
    def test_colours_swap_within_a_pair_and_options_arrive(self, tmp_path: Path) -> None:
        log = tmp_path / "b.log"
        words = ("A.Strength of Play=1", "B.strength of play=7", "B.MultiPV=1")
        assert match(tmp_path / "m", engine("alpha"), engine("beta", "7g7f", log=log), *words, games=4) == 0
        assert played(tmp_path / "m", "black", "winner", "plies") == [("A", "B", 0), ("B", "B", 1)] * 2
        assert heard(log, "setoption") == ["setoption name Strength of Play value 7", "setoption name MultiPV value 1"]
        assert len(heard(log, "usinewgame")) == 4
        assert heard(log, "go") == ["go btime 0 wtime 0 byoyomi 60000"] * 2
        assert heard(log, "gameover") == ["gameover win"] * 4
        assert "started" in (tmp_path / "m" / "stderr-A.log").read_text()

    def test_limits_may_differ(self, tmp_path: Path) -> None:
        logs = tmp_path / "a.log", tmp_path / "b.log"
        a, b = engine("a", *OPENING, log=logs[0]), engine("b", *OPENING, log=logs[1])
        assert match(tmp_path / "m", a, b, "--b-nodes", "7", limit="--fischer=60000+100") == 0
        assert heard(logs[1], "go")[0] == "go nodes 7"
        assert heard(logs[0], "go")[0] == "go btime 60000 wtime 0 binc 100 winc 0"

    def test_both_games_of_a_pair_start_from_its_opening(self, tmp_path: Path) -> None:
        sfen = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
        (tmp_path / "openings").write_text(f"startpos moves 7g7f 3c3d\nsfen {sfen}\n")
        log = tmp_path / "a.log"
        words = ("--openings", str(tmp_path / "openings"), "--opening-plies", "1")
        a, b = engine("a", "G*5b", log=log), engine("b", "G*5b")
        assert match(tmp_path / "m", a, b, *words, games=4) == 0
        played = games(tmp_path / "m")
        assert played[0]["sfen"] == played[1]["sfen"] != played[2]["sfen"] == played[3]["sfen"]
        assert [game["opening_plies"] for game in played if game["sfen"] is None] == [1, 1]
        # Mated by Black's first move, or resigned by White, at its turn after 7g7f.
        assert [game["winner"] for game in played if game["sfen"]] == ["A", "B"]
        assert [game["winner"] for game in played if not game["sfen"]] == ["A", "B"]
        assert f"position sfen {sfen}" in heard(log, "position")
        record = parse((tmp_path / "m" / "records" / played[2]["record"]).read_text())[0]
        assert record.start_sfen == played[2]["sfen"] or played[2]["sfen"] is None

    @pytest.mark.parametrize(
        ("a", "ending", "answer", "recorded"),
        [("7g7f+", "illegal_move", "7g7f+", ("illegal_move", "w", "b")),
         ("win", "false_declaration", "win", ("illegal_move", "w", "b")),
         ("resign", "resign", "resign", ("resign", "w", "b")), ("die", "crash", None, ("abnormal", None, None))],
    )  # fmt: skip
    def test_how_a_game_is_lost_at_once(self, tmp_path, a, ending, answer, recorded) -> None:
        """A crashed engine has lost and is there again for the next game; but nobody learns from that record."""
        assert match(tmp_path / "m", engine("a", a, a), engine("b", "2g2f")) == 0
        first, second = games(tmp_path / "m")
        assert (first["ending"], first["answer"], first["winner"], first["plies"]) == (ending, answer, "B", 0)
        assert (second["ending"], second["answer"], second["winner"], second["plies"]) == (ending, answer, "B", 1)
        records = [parse((tmp_path / "m" / "records" / game["record"]).read_text())[0] for game in (first, second)]
        assert [record.ending for record in records] == [recorded[0]] * 2
        assert tuple(record.win for record in records) == recorded[1:]

    def test_declaration_wins(self, tmp_path: Path) -> None:
        (tmp_path / "openings").write_text("+R+R+B+BKGGGG/SSSS5/9/9/9/9/9/9/4k4 b - 1")
        a, b = engine("a", "win"), engine("b", "win")
        assert match(tmp_path / "m", a, b, "--openings", str(tmp_path / "openings")) == 0
        assert played(tmp_path / "m") == [("declaration", "A"), ("declaration", "B")]

    def test_repetition_and_move_limit_are_draws(self, tmp_path: Path) -> None:
        shuffle = engine("shuffle", "2h3h", "8b7b", "3h2h", "7b8b", cp=10, cycle="")
        assert match(tmp_path / "m", shuffle, shuffle) == 0
        assert match(tmp_path / "n", shuffle, shuffle, "--max-moves", "5") == 0
        assert played(tmp_path / "m", "ending", "winner", "plies") == [("sennichite", None, 12)] * 2
        evals = [10, -10, 10, -10, 10]
        assert played(tmp_path / "n", "ending", "winner", "evals") == [("max_moves", None, evals)] * 2

    def test_both_engines_must_agree_before_a_game_is_adjudicated(self, tmp_path: Path) -> None:
        sure, lost, blind = (engine("e", *OPENING, cp=cp) for cp in (2000, -2000, 100))
        assert match(tmp_path / "m", sure, lost, "--adjudicate", "1500", "4") == 0
        assert match(tmp_path / "n", sure, blind, "--adjudicate", "1500", "4") == 0
        # Four agree after ply 4, but it is the loser who gives up.
        decided = [("adjudication", "A", 5), ("adjudication", "A", 4)]
        assert played(tmp_path / "m", "ending", "winner", "plies") == decided
        assert played(tmp_path / "n", "ending") == [("resign",)] * 2
        assert (tmp_path / "m" / "records" / "m-00001.csa").read_text().endswith("%TORYO\n")

    def test_a_late_answer_is_measured_and_beyond_the_tolerance_loses(self, tmp_path: Path) -> None:
        late = engine("late", "late=0.2=7g7f", "late=0.2=3c3d")
        for tolerance, ending in (("60000", "resign"), ("0", "time_up")):
            out = tmp_path / tolerance
            assert match(out, late, engine("b", "2g2f"), "--tolerance", tolerance, limit="--time=20") == 0
            game = games(out)[0]
            assert game["ending"] == ending
            assert game["overruns"][0][:2] == [1, "A"]
            assert game["overruns"][0][2] >= 180
            assert game["winner"] == ("A" if ending == "resign" else "B")

    def test_a_silent_engine_is_killed_and_loses(self, tmp_path: Path) -> None:
        words = ("--patience", "0.1", "--tolerance", "0", "--b-time", "60000")
        a, b = engine("a", "silent", "silent"), engine("b", "2g2f")
        assert match(tmp_path / "m", a, b, *words, limit="--a-nodes=9") == 0
        assert played(tmp_path / "m") == [("time_up", "B")] * 2

    def test_records_can_be_read_back(self, tmp_path: Path) -> None:
        a, b = engine("alpha", *OPENING, cp=120), engine("beta", *OPENING)
        records = tmp_path / "kifu"
        assert match(tmp_path / "m", a, b, "--records", str(records)) == 0
        first, second = games(tmp_path / "m")
        for game in (first, second):
            record = parse((records / game["record"]).read_text())[0]
            assert list(record.usi) == game["moves"].split() == OPENING
            assert list(record.evals) == game["evals"]
            assert record.names == tuple(game["names"][side] for side in ("AB" if game["black"] == "A" else "BA"))
            assert (record.win, record.ending) == ("w", "resign")
        assert (first["evals"][:2], second["evals"][:2]) == ([120, None], [None, -120])


class TestMatch:
    def test_other_settings_are_another_match(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file, a, b = tmp_path / "openings.txt", engine("a"), engine("b")
        file.write_text("startpos moves 7g7f\n")
        for mistyped in ("/no/such/engine", f"{sys.executable} -m no.such.engine"):  # nothing was played with them
            assert match(tmp_path / "m", mistyped, b) == 1
        assert match(tmp_path / "m", a, b, "--openings", str(file)) == 0
        file.write_text("startpos moves 2g2f\n")
        assert match(tmp_path / "m", a, b, "--openings", str(file), games=4) != 0
        assert "other settings (openings_digest)" in capsys.readouterr().err
        file.write_text("startpos moves 7g7f\n")
        assert match(tmp_path / "m", a, b, "--openings", str(file), limit="--time=5") == 1
        assert "other settings (A, B)" in capsys.readouterr().err
        assert len(games(tmp_path / "m")) == 2

    def test_overwrites_no_records_of_another(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        a, b, records = engine("a", *OPENING), engine("b", *OPENING), ("--records", str(tmp_path / "kifu"))
        assert match(tmp_path / "one" / "m", a, b, *records) == 0
        before = [path.read_bytes() for path in sorted((tmp_path / "kifu").iterdir())]
        assert match(tmp_path / "two" / "m", a, b, *records) != 0
        assert "holds records of another match called m" in capsys.readouterr().err
        assert [path.read_bytes() for path in sorted((tmp_path / "kifu").iterdir())] == before

    def test_goes_on_after_the_finished_games(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out, log = tmp_path / "m", tmp_path / "a.log"
        a, b = engine("a", log=log), engine("b", "7g7f")
        assert match(out, a, b) == 0
        assert match(out, a, b, games=6) == 0
        before = (out / "games.jsonl").read_text()
        # As if the process had died in the middle of writing game 6, or the disk had lost it.
        (out / "games.jsonl").write_text("".join(before.splitlines(keepends=True)[:5]) + '{"game": 6, "bla')
        assert match(out, a, b, games=6) == 0
        assert [game["game"] for game in games(out)] == [1, 2, 3, 4, 5, 6]
        assert (out / "games.jsonl").read_text().splitlines()[:5] == before.splitlines()[:5]
        assert len(heard(log, "usinewgame")) == 2 + 4 + 1
        assert match(out, a, b, games=6) == 0
        assert len(heard(log, "usinewgame")) == 7
        assert "+0 =0 -6" in capsys.readouterr().out

    def test_games_side_by_side(self, tmp_path: Path) -> None:
        assert match(tmp_path / "m", engine("a"), engine("b", "7g7f"), "--concurrency", "3", games=14) == 0
        assert [game["game"] for game in games(tmp_path / "m")] == list(range(1, 15))
        assert all(game["winner"] == "B" for game in games(tmp_path / "m"))

    def test_the_table(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        a, b = engine("alpha", *OPENING[:2], "resign"), engine("beta", *OPENING[:2], "resign")
        assert match(tmp_path / "m", a, b, games=4) == 0
        table = capsys.readouterr().out
        assert "A  alpha, 60000 ms a move" in table
        assert "+2 =0 -2 = 50.0 % (as Black +0 =0 -2; as White +2 =0 -0)" in table
        assert "0, 1/2, 1, 3/2, 2 points: 0 0 1 0 0\n1 pairs repeat another" in table
        assert "likelihood of superiority 50.0 %" in table
        assert "endings: resign 4" in table
        assert match(tmp_path / "n", engine("a", "7g7f"), engine("b"), games=20) == 0
        table = capsys.readouterr().out  # the same games again prove no more
        assert "0, 1/2, 1, 3/2, 2 points: 0 0 0 0 1\n9 pairs repeat another" in table

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            on_posix_only("{e} true --time=9", "engine B `true` has stopped while starting (its stderr: "),
            on_posix_only("{e} 'sh -c \"read usi; echo info string Error! no network\"' --time=9", LAST_SAID),
            on_posix_only("{e} {e} --time=9 --openings=/no/file", "/no/file: No such file"),
            on_posix_only("{e} {e} --time=9 --out=/dev/null/m", "/dev/null/m: Not a directory"),
            on_posix_only("{e} /no/such --time=9", "`/no/such` cannot be started: No such file"),
            ("{e} {e} B.Strangth=3 --time=9", "has no option Strangth; it has MultiPV, Strength of Play"),
            ("{e} {e}", "nothing limits engine A"),
            ("{e} {e} --time=9 --games=3", "--games must be even"),
            ("{e} {e} --time=9 --adjudicate 100 0", "--adjudicate needs centipawns and plies above 0"),
            ("{e} {e} --time=9 --game=othello --adjudicate 100 4", "engines of othello do not say who wins"),
            (
                "{e} {e} --time=9 --max-moves=8 --openings=kifu/openings.txt",
                "--max-moves 8 leaves nothing to play after",
            ),
            ("{e} '' --time=9", "engine B `` cannot be started: the command is empty"),
        ],
    )
    def test_a_match_that_cannot_be_played_says_why_in_one_line(self, tmp_path, capfd, words, reason) -> None:
        arguments = [word.format(e=engine("e")) for word in shlex.split(words)]
        assert main(["--out", str(tmp_path / "m"), *arguments]) == 1
        (complaint,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("match: ")]
        assert reason in complaint

    @pytest.mark.parametrize("damaged", ['{"game": 1}', "5", "\0\0"])
    def test_a_damaged_game_is_one_line_and_stays(self, tmp_path: Path, capsys, damaged: str) -> None:
        out = tmp_path / "m"
        assert match(out, engine("a"), engine("b")) == 0
        path = out / "games.jsonl"
        text = f'{path.read_text()}{damaged}\n{{"half'
        path.write_text(text)
        capsys.readouterr()
        assert match(out, engine("a"), engine("b")) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"match: {path}, line 3 is no game: ")
        assert path.read_text() == text

    @pytest.mark.skipif(os.name != "posix", reason="named pipes and kill -9")
    @pytest.mark.parametrize(("name", "word"), [("SIGINT", "block"), ("SIGTERM", "block"), ("SIGKILL", "hold")])
    def test_no_engine_outlives_the_match(self, tmp_path: Path, capsys, name: str, word: str) -> None:
        """Interrupted in game 2, even by kill -9: no process stays. Until then nobody else can play that match."""
        how, fifo, out = signal.Signals[name], tmp_path / "fifo", tmp_path / "m"
        os.mkfifo(fifo)
        # In game 1 A resigns at once; in game 2 B opens with 7g7f, A answers, and B hangs.
        a, b = engine("a", "resign", "3c3d"), engine("b", "7g7f", "8c8d", f"{word}={fifo}")
        command = [sys.executable, "-m", "utils.match", a, b, "--time=600000", "--games=2", f"--out={out}"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with fifo.open("rb") as pipe:
            said = ""
            while "1/2" not in said:  # game 1 is kept
                said += process.stderr.read(1)
            assert match(out, a, b, limit="--time=600000") == 1
            assert f"{out} is in use by another process" in capsys.readouterr().err
            process.send_signal(how)
            _, errors = process.communicate()
            ended, _, _ = select([pipe], [], [], PATIENCE)
            assert ended, "closed by the end of the engine"
        assert process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130)
        assert how == signal.SIGKILL or errors.splitlines()[-1].startswith("match: stopped")
        assert [game["game"] for game in games(out)] == [1]
