"""Records of Othello: written and read again, and refused with a reason."""

import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game
from test_foreign_texts import WORDS

from pydlshogi.games.othello import transcript as records
from pydlshogi.games.othello.rules import PASS, START, parse_move, position_of
from pydlshogi.games.othello.transcript import RecordError, Transcript, ggf, parse_ggf, parse_transcript, transcript
from pydlshogi.games.othello.wthor import games_of, held_out, read_archive, read_games, read_wthor, rows_of, write_wthor
from pydlshogi.web.records import OpenError, begin, open_record, suffixes

WIPEOUT = "e6f4e3f6g5d6e7f5c5"
"""The shortest game there is: White has no disc left after nine moves."""
RANDOM = [random_game(seed) for seed in range(20)]


class TestTranscripts:
    def test_a_game_that_is_over_has_a_result(self) -> None:
        game = parse_transcript(WIPEOUT)
        assert (len(game.moves), game.end.over, game.result) == (9, True, 64)
        assert parse_transcript("f5d6").result is None
        assert parse_transcript("") == Transcript()

    def test_passes_may_be_written_or_not(self) -> None:
        for game in RANDOM:
            assert parse_transcript(transcript(game.moves)) == game
            names = "".join("PA" if move == PASS else transcript([move]) for move in game.moves)
            assert parse_transcript(names) == game

    @pytest.mark.parametrize(
        ("text", "reason"),
        [("f5d6c4a1", "move 4, a1, cannot be played"), ("f5pass", "move 2, pass, cannot be played"),
         (f"{WIPEOUT}a1", "move 10, a1, cannot be played"), ("f5d", "'d' is no move"), ("f5-d6", "'-d6' is no move")],
    )  # fmt: skip
    def test_refusals(self, text: str, reason: str) -> None:
        with pytest.raises(RecordError, match=reason):
            parse_transcript(text)

    def test_a_line_each(self) -> None:
        assert [len(game.moves) for game in records.parse_transcripts("# even\n\nf5d6\n\nf5f6e6\n")] == [2, 3]
        with pytest.raises(RecordError, match="line 2: move 2, a1, cannot be played"):
            list(records.parse_transcripts("f5d6\nf5a1"))


SERVER = (
    "1 (;GM[Othello]PC[GGS/os]DT[2009-07-01 02:52:45 MDT]PB[one]PW[two]RB[2691.38]RW[2693.68]TI[05:00//02:00]TY[8]"
    "RE[-10.000:r]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]"
    "B[f5/-6.00/26.00]W[d6//2]B[C3];)"
)
OTHER_START = "--O--O--X-XOO---XXXXOO-XXOXOXOOOXXOXXXOXXXXOXOX---XXOX----XXXX-- O"


class TestGGF:
    def test_a_game_of_the_server(self) -> None:
        (game,) = parse_ggf(SERVER)
        more = (("RB", "2691.38"), ("RW", "2693.68"), ("TI", "05:00//02:00"))
        moves, named = tuple(map(parse_move, ("f5", "d6", "c3"))), {"black": "one", "white": "two", "event": "GGS/os"}
        assert game.date == "2009-07-01 02:52:45 MDT"
        assert game == Transcript(moves, START, -10, **named, date=game.date, ending="resignation", headers=more)
        assert list(parse_ggf(ggf(game))) == [game]

    def test_games_among_other_things(self) -> None:
        assert len(list(parse_ggf(f"+ {SERVER}\n\nhello {SERVER}{SERVER}"))) == 3
        assert list(parse_ggf("hello")) == []

    @pytest.mark.parametrize("game", [*RANDOM, random_game(3, position_of(OTHER_START))])
    def test_written_and_read_again(self, game: Transcript) -> None:
        named = game._replace(black="b", white="w", event="somewhere", date="2024")
        assert list(parse_ggf(ggf(named))) == [named]

    @pytest.mark.parametrize("result", ["9" * 400, "65", "-99.000:r"])
    def test_a_result_that_cannot_be_says_nothing(self, result: str) -> None:
        (game,) = parse_ggf(SERVER.replace("RE[-10.000:r]", f"RE[{result}]"))
        assert (game.result, game.ending) == (None, "")

    def test_a_name_cannot_break_the_format(self) -> None:
        (game,) = parse_ggf(ggf(Transcript(black="a]b[c\n;)")))
        assert game.black == "a)b(c ;)"
        rng = random.Random(62)
        for _ in range(1000):
            texts = ["".join(rng.choices(WORDS, k=rng.randrange(5))) for _ in range(4)]
            written = ggf(Transcript(black=texts[0], white=texts[1], event=texts[2], date=texts[3]))
            assert [ggf(read) for read in parse_ggf(written.encode().decode())] == [written]
            assert open_record(written.encode(), "shogi")[0]().game == "othello"

    @pytest.mark.parametrize(
        ("before", "after", "reason"),
        [("GM[Othello]", "GM[Go]", "a game of Go"), ("BO[8 ", "BO[10 ", "a board of 10, not 8"),
         ("BO[8 ", "XX[8 ", "it has no board"), ("W[d6//2]", "W[d6//2", "is no property"),
         ("W[d6//2]", "W[d9]", "d9 is no move"), ("W[d6//2]", "W[a1]", "move 2, a1, cannot be played"),
         ("W[d6//2]", "B[d6]", "Black moves out of turn")],
    )  # fmt: skip
    def test_refusals(self, before: str, after: str, reason: str) -> None:
        with pytest.raises(RecordError, match=reason):
            list(parse_ggf(SERVER.replace(before, after, 1)))


class TestWthor:
    def test_the_shortest_game_by_hand(self, tmp_path: Path) -> None:
        moves = bytes([65, 46, 35, 66, 57, 64, 75, 56, 53])
        header = bytes([20, 24, 1, 2, 1, 0, 0, 0, 0, 0, 0xE8, 7, 8, 0, 24, 0])
        (tmp_path / "a.wtb").write_bytes(header + bytes([3, 0, 5, 0, 7, 1, 64, 40]) + moves.ljust(60, b"\0"))
        read, rows = read_wthor(tmp_path / "a.wtb")
        assert (read["year"], read["depth"], rows[0]["theoretical"]) == (2024, 24, 40)
        (game,) = games_of(rows, 2024)
        named = {"black": "player 5", "white": "player 263", "event": "tournament 3", "date": "2024"}
        assert game == parse_transcript(WIPEOUT)._replace(**named)

    def test_written_and_read_again(self, tmp_path: Path) -> None:
        rows = rows_of(RANDOM)
        write_wthor(tmp_path / "a.wtb", rows, 2024, 0)
        header, again = read_wthor(tmp_path / "a.wtb")
        assert np.array_equal(rows, again)
        assert (header["year"], header["games"]) == (2024, 20)
        assert [game._replace(black="", white="", event="", date="") for game in games_of(again, 2024)] == RANDOM
        rows[0]["moves"][2:], rows[0]["score"] = 0, 40
        (unfinished,) = games_of(rows[:1], 2024)
        assert (len(unfinished.moves), unfinished.result) == (2, 16)

    @pytest.mark.parametrize(
        ("where", "byte", "reason"),
        [(12, 10, "a board of 10, not 8"), (4, 3, "3 games are not 136 bytes"),
         (16 + 6, 63, "game 1: its score is not 63"), (16 + 68 + 9, 11, "game 2: move 2, 11, cannot be played"),
         (16 + 68 + 8, 255, "game 2: move 1, 255, cannot be played"),
         (16 + 8 + 10, 99, "game 1: move 10, 0, cannot be played"),
         (16 + 6, 200, "game 1: scores of 200 and 64; a board has 64 discs")],
    )  # fmt: skip
    def test_refusals(self, tmp_path: Path, where: int, byte: int, reason: str) -> None:
        path = tmp_path / "a.wtb"
        write_wthor(path, rows_of([parse_transcript(WIPEOUT), RANDOM[0]]), 2024, 0)
        data = bytearray(path.read_bytes())
        data[where] = byte
        path.write_bytes(data)
        with pytest.raises(RecordError, match=reason):
            read_wthor(path)
        with pytest.raises(RecordError, match=f"{path}: .*{reason}"):
            read_archive([path])

    def test_what_does_not_fit(self, tmp_path: Path) -> None:
        for game in (parse_transcript("f5d6"), random_game(3, START.play(PASS - 27))):
            with pytest.raises(RecordError, match="no place for other starts"):
                rows_of([game])
        (tmp_path / "short.wtb").write_bytes(b"123")
        with pytest.raises(RecordError, match="no header"):
            read_wthor(tmp_path / "short.wtb")

    def test_copies_of_a_game_are_on_one_side(self) -> None:
        rows = rows_of([random_game(seed) for seed in range(400)])
        test = held_out(rows)
        assert 5 < test.sum() < 40
        copies = rows.copy()
        copies["black"], copies["tournament"] = 7, 9
        assert np.array_equal(test, held_out(copies))

    def test_the_archive_is_sound(self, shared_data: Path, tmp_path: Path) -> None:
        shutil.unpack_archive(shared_data / "othello" / "wthor_train.tar.xz", tmp_path)
        games, depths = read_archive(sorted(tmp_path.glob("*.wtb")))
        assert len(games) == 131737
        assert (depths == 24).all()


def test_each_format_is_known(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{WIPEOUT}\nf5d6\n")
    (tmp_path / "a.ggf").write_text(SERVER)
    write_wthor(tmp_path / "a.WTB", rows_of(RANDOM), 2024, 0)
    assert [len(read_games(tmp_path / name)) for name in ("a.txt", "a.ggf", "a.WTB")] == [2, 1, 20]
    write_wthor(tmp_path / "a.wtb", rows_of([]), 2024, 0)
    with pytest.raises(RecordError, match=r"a\.wtb: it holds no game"):
        read_games(tmp_path / "a.wtb")


BOARD = "---------------------------OX------XO---------------------------"
MIDDLE = "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------"


@pytest.mark.parametrize("moves", ["", "f5d6c3", "F5D6C3", " f5 D6  c3", "f5d6 c3", "f5, d6,c3", "1. f5 d6 2. c3"])
@pytest.mark.parametrize("behind", ["", ";", "; F5:+3; D3:-2;", " % said by Edax", " # 5"])
@pytest.mark.parametrize("board", [f"{BOARD} X", BOARD.translate(str.maketrans("XO-", "01.")) + " 0", "GGS", ""])
def test_othello_as_it_is_written_elsewhere(board: str, moves: str, behind: str) -> None:
    if board == "GGS":
        board = " ".join(["8", *(BOARD[row : row + 8].replace("X", "*") for row in range(0, 64, 8)), "*"])
    if not board and (behind or not moves):
        return
    text = f"{board} {moves}{behind}".strip()
    wanted = ["f5", "d6", "c3"] if moves else []
    for game in (begin("othello", text), open_record(f"# a comment\n{text}\n".encode(), "shogi")[0]()):
        assert (game.game, game.start, game.line.moves) == ("othello", None, wanted)


@pytest.mark.parametrize(
    ("text", "games"),
    [('[Site "PlayOK"]\n1. f5 d6\n2. c3 d3 33-31\n\n1. f5 f6 0-64\n', ["PlayOK: f5d6c3d3", ": f5f6"]),
     ('[Event "?"]\n[Site "kurnik"]\n[Black "one"]\n\n1. f5 d6 2. c3\nd3 3. c4 0-64', ["kurnik one: f5d6c3d3c4"]),
     ('[Black "one"]\n[Date "2001"]\n1. F5 D6\n3. C3\n34-30\n[Date "2002"]\n1. F5', ["one2001: f5d6c3", "2002: f5"]),
     ('[Site "edax"]\n\n 1. f5 d6\n2. c3\n{one wins 33-31} 1-0\n\n\n1. f5 *', ["edax: f5d6c3", ": f5"]),
     (f"{BOARD} X;f5d6c3\nf5, d6", [": f5d6c3", ": f5d6"]), ("(;GM[2]PB[one];B[f5]\n;W[d6])", ["one: f5d6"]),
     ("(;GM[2]PC[x]AB[d6][e4][d5]AW[d4][e5]PL[W]RE[W+4]W[d7];)", [f"x {BOARD[:43]}X{BOARD[44:]} O: d7"]),
     ("\n  ".join(["", *re.findall("." * 8, BOARD), "X f5"]), [": f5"]), (f"{MIDDLE} X; G8:+18\n", [f"{MIDDLE} X: "])],
)  # fmt: skip
def test_othello_of_programs_goes_over_lines(text: str, games: list[str]) -> None:
    opened = [game() for game in open_record(text.encode(), "shogi")]
    about = [f"{game.event} {game.names[0]}{game.date}{game.start or ''}".strip() for game in opened]
    assert [f"{said}: {''.join(game.line.moves)}" for said, game in zip(about, opened, strict=True)] == games


def test_what_is_opened_and_what_is_not() -> None:
    assert {".obf", ".pgn", ".sgf"} <= {*suffixes()}
    with pytest.raises(OpenError, match="a1, cannot be played"):
        begin("othello", f"{BOARD} X f5 a1")
