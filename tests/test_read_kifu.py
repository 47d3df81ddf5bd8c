"""Records: every format against what it should mean, against python-shogi and cshogi, and against damage."""

import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import cshogi
import pytest
import shogi
import shogi.CSA
import shogi.KIF
from cshogi import KI2, KIF
from random_games import random_games

from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.formats import SUFFIXES, file_of
from pydlshogi.games.shogi.kifu.game import Game, moves_of
from pydlshogi.games.shogi.kifu.jkf import to_jkf
from pydlshogi.games.shogi.kifu.kif_writer import to_kif
from pydlshogi.games.shogi.read_kifu import KifuError, parse, read, read_list, read_many
from pydlshogi.support.decoding import decode

FIXTURES = Path(__file__).parent / "fixtures" / "kifu"
EVEN = cshogi.STARTING_SFEN
OPENING = "+7776FU\n-3334FU\n"  # Black is to move


def record(content: str | bytes) -> Game:
    """The game of a record."""
    (game,) = parse(content.encode() if isinstance(content, str) else content, "record")
    return game


def refusal(content: str | bytes) -> str:
    """The reason why a record is refused."""
    with pytest.raises(KifuError) as refused:
        record(content)
    assert "\n" not in str(refused.value)
    return refused.value.reason


def random_game(seed: int, start: str = EVEN, plies: int = 120) -> Game:
    """A game of random legal moves, with evaluations here and there, that ends as the side to move resigns."""
    (game,), rng = random_games(1, plies=plies, seed=seed, start=start), random.Random(seed)
    win = "wb"[(start.split()[1] == "w") != (len(game.moves) % 2 == 1)]
    evals = tuple(each if rng.random() < 0.8 else None for each in game.evals)
    times, ends = tuple(rng.randrange(100) for _ in game.moves), {"win": win, "names": ("first", "second")}
    return replace(
        game, evals=evals, times=times, event="random", place="somewhere", date="2026/01/02 03:04:05", **ends
    )


def test_floodgate_record() -> None:
    (game,) = read(FIXTURES / "floodgate.csa")
    assert game.start_sfen == EVEN
    assert " ".join(game.usi) == "7g7f 3c3d 8h2b+ 3a2b B*4e 5a4b 4e3d B*3c 5i6h 3c9i+ 6h7h 9i8h"
    assert (game.ending, game.win) == ("resign", "w")
    assert game.evals == (31, None, 45, -8, 0, 120, 180, 96, -410, -655, -702, -100000)
    assert game.times == (1, 0, 12, 3, 0, 7, 2, 4, 9, 1, 30, 0)
    assert game.names == ("first_engine", "second_engine")
    assert game.ratings == (3012.5, 2871.0)
    assert game.event.startswith("wdoor+floodgate-300-10F")
    assert game.date == "2026/01/02 03:04:05"
    (summary,) = shogi.CSA.Parser.parse_file(FIXTURES / "floodgate.csa")  # by python-shogi
    assert (summary["sfen"], tuple(summary["moves"]), summary["win"]) == (game.start_sfen, game.usi, game.win)


def table(*lines: str) -> list[tuple[str, ...]]:
    """Of how games end: "what it says, ending, winner; ..."."""
    return [tuple(row.split(", ")) for line in lines for row in line.split("; ")]


@pytest.mark.parametrize(
    ("special", "ending", "win"),
    table(
        "%TORYO, resign, w; %TSUMI, mate, w; %TIME_UP, time_up, w; %KACHI, declaration, b; %SENNICHITE, sennichite, d",
        "%ILLEGAL_MOVE, illegal_move, w; %+ILLEGAL_ACTION, illegal_move, w; %-ILLEGAL_ACTION, illegal_move, b",
        "%JISHOGI, jishogi, d; %HIKIWAKE, jishogi, d; %MAX_MOVES, max_moves, d; %CHUDAN, interrupted, None",
        "%MATTA, interrupted, None; %ERROR, abnormal, None; %FUZUMI, no_mate, None; %SOMETHING_NEW, unknown, None",
    ),
)
def test_csa_endings_with_black_to_move(special: str, ending: str, win: str) -> None:
    game = record(f"V2.2\nPI\n+\n{OPENING}{special}\nT3\n")
    assert (game.usi, game.ending, str(game.win)) == (("7g7f", "3c3d"), ending, win)
    assert game.times == (None, None)


@pytest.mark.parametrize(
    ("special", "summary", "ending", "win"),
    [("%TORYO\n", "toryo:a lose:b win", "resign", "w"), ("%TORYO\n", "abnormal:a lose:b win", "abnormal", None),
     ("%KACHI\n", "kachi:a win:b lose", "declaration", "b"),
     ("%KACHI\n", "illegal kachi:a lose:b win", "illegal_move", "w"), ("", "time up:a win:b lose", "time_up", "b"),
     ("", "illegal move:a lose:b win", "illegal_move", "w"),
     ("", "oute_sennichite:a win:b lose", "perpetual_check", "b"),
     ("", "sennichite:a draw:b draw", "sennichite", "d"), ("", "max_moves:a draw:b draw", "max_moves", "d")],
)  # fmt: skip
def test_the_summary_of_the_server_decides(special: str, summary: str, ending: str, win: str | None) -> None:
    game = record(f"PI\n+\n{OPENING}{special}'P1-KY * \n'summary:{summary}\n'$END_TIME:2026/01/02\n")
    assert (game.ending, game.win) == (ending, win)


@pytest.mark.parametrize("end", ["%ILLEGAL_MOVE\n", "%+ILLEGAL_ACTION\n", "'summary:illegal move:a lose:b win\n"])
def test_a_record_that_ends_by_an_illegal_move_is_cut_before_it(end: str) -> None:
    game = record(f"PI\n+\n{OPENING}+8856KA\nT9\n'** 5\n{end}")
    assert (game.usi, game.ending, game.win) == (("7g7f", "3c3d"), "illegal_move", "w")
    assert (game.evals, game.times) == ((None, None), (None, None))


@pytest.mark.parametrize(
    ("position", "move"),
    [
        ("PI\n+\n", "+7776TO"),  # promotes outside the camp
        ("PI\n+\n", "+8822KA"),  # jumps
        ("PI\n+\n", "+3334FU"),  # the opponent's pawn
        ("P-51OU\nP+59OU92FU\n+\n", "+9291FU"),  # can never move again
        ("P-51OU\nP+59OU00FU\n+\n", "+0091FU"),
        ("P-51OU\nP+59OU99FU00FU\n+\n", "+0095FU"),  # two pawns on a file
        ("P-51OU11KA\nP+59OU55KI\n+\n", "+5545KI"),  # fine: the next line is not
        ("P-15HI51OU\nP+55OU45KI\n+\n", "+4544KI"),  # pinned
        ("P-11OU21KE12KY\nP+59OU23KI00FU\n+\n", "+0012FU"),
        ("P-51OU\nP+59OU00FU\n+\n", "+0055TO"),  # no such piece is in hand, ever
    ],
)
def test_moves_against_the_rules(position: str, move: str) -> None:
    if move == "+5545KI":
        assert record(f"{position}{move}\n").usi == ("5e4e",)
    else:
        assert refusal(f"{position}{move}\n") == f"move 1, {move}, is illegal"
        game = record(f"{position}{move}\n%ILLEGAL_MOVE\n")
        assert (game.usi, game.ending, game.win) == ((), "illegal_move", "w")


def test_what_a_csa_may_hold() -> None:
    game = record(f"PI\n+\n{OPENING}+8822KA\n-3122GI\n%CHUDAN\n")
    assert game.usi[2:] == ("8h2b", "3a2b")
    game = record("V2.2\nN+a, b\nPI\n+\n+7776FU,T5\n-3334FU,T7,+2726FU\nT1\n%TORYO,T2\n")
    assert (game.usi, game.times, game.win) == (("7g7f", "3c3d", "2g2f"), (5, 7, 1), "b")
    assert game.names == ("a, b", "")
    game = record("V3.0\nPI\n+\n+7776FU\nT12.345\n-3334FU\n+2726FU\n'a comment\nT4\n-8384FU\nT0\n")
    assert game.times == (12.345, None, 4, 0)
    game = record(
        "V3.0\n'** 9 before the first move\nPI\n+\n+7776FU\n'** 30 -3334FU\n'** 31\n-3334FU\nT1\n'*-20\n+2726FU\nT1\n"
        "'** nothing\n-8384FU\n'a comment\n+2625FU\n'** 12.5 x\n-8485FU\n'*30% of 7\n"
    )
    assert game.evals == (30, -20, None, None, 12, None)
    game = record(
        "'a comment first\n\n'CSA encoding=UTF-8\nV3.0\n'comment\nN+a\nN-b\n$EVENT:e\n$TIME_LIMIT:00:25+00\n\n"
        "PI\n'x\n+\n'y\n+7776FU\n\n'z\nT3\n-3334FU\n\n%CHUDAN\n$END_TIME:2026/01/02 00:00:00\n"
    )
    assert (game.usi, game.times, game.names, game.event) == (("7g7f", "3c3d"), (3, None), ("a", "b"), "e")


def test_an_illegal_fourth_check_loses_for_the_side_that_gave_it() -> None:
    check = "+5848HI\n-4151OU\n+4858HI\n-5141OU\n"
    position = "P-41OU\nP+99OU58HI\n+\n"
    game = record(f"{position}{check * 3}+5848HI\n%ILLEGAL_MOVE\n")
    assert (game.ending, game.win) == ("perpetual_check", "w")
    game = record(f"{position}{check * 2}+5848HI\n%ILLEGAL_MOVE\n")
    assert (game.ending, game.win) == ("illegal_move", "b")


@pytest.mark.parametrize(
    ("position", "sfen"),
    [("PI\n+\n", EVEN), ("", EVEN),
     ("PI82HI22KA\n-\n", "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
     ("PI11KY\n-\n", "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
     ("P-51OU\nP+53TO00KI\nP-00AL\n+\n", "4k4/9/4+P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"),
     ("P-51OU\nP+59OU53TO00HI00KI00KI\nP-00AL\n+\n", "4k4/9/4+P4/9/9/9/9/9/4K4 b R2Gr2b2g4s4n4l17p 1"),
     (cshogi.Board("4k4/9/4P4/9/9/9/9/9/4K4 w 2G2r 1").csa_pos(), "4k4/9/4P4/9/9/9/9/9/4K4 w 2G2r 1")],
)  # fmt: skip
def test_csa_start_positions(position: str, sfen: str) -> None:
    text = f"V2.2\n{position}%CHUDAN\n"
    assert record(text).start_sfen == record(text.replace("\n", "\n  ")).start_sfen == sfen


@pytest.mark.parametrize(
    ("content", "reason"),
    [("P1-KY-KE\n+\n", "not a row of nine squares: 'P1-KY-KE'"),
     ("PI33GI\n+\n", "'PI33GI' takes away a piece that is not there"),
     ("P+5XOU\n+\n", "not a list of pieces: 'P+5XOU'"), ("P+59OU\n+\n+5958OU\n", "White has no king"),
     ("P+59OU\nP-51OU00HI00HI00HI\n+\n", "no start position: 3 pieces of kind R: a set has 2"),
     ("P+00OU\nP-51OU\n+\n", "'P+00OU' puts a piece where none can be"),
     ("P+59OU\nP-51OU05FU\n+\n", "'P-51OU05FU' puts a piece where none can be"),
     ("P+59OU52KI\nP-51OU\n+\n", "no start position: the side that is not to move is in check"),
     ("PI\n+\n+7776FU\n+2726FU\n", "move 2, +2726FU, is made by the side that is not to move"),
     ("PI\n+\n+7776FU\nnonsense\n", "not a CSA statement here: 'nonsense'"),
     ("PI\n+\n+7776FU\nPI\n+\n", "not a CSA statement here: 'PI'"),
     ("PI\n+\n+7776FU\n%TORYO\n-3334FU\n", "-3334FU follows the end, %TORYO"),
     ("PI\n+\n+7776FU\nT" + "9" * 5000 + "\n", f"not a CSA statement here: {'9' * 40!r}"), ("", "empty"),
     ("hello\n", "neither a move nor a position nor a player: not a record")],
)  # fmt: skip
def test_what_is_wrong_is_said(content: str, reason: str) -> None:
    assert refusal(content) == reason


def test_several_games_in_a_file() -> None:
    ends = f"N+a\nPI\n+\n{OPENING}%TORYO\n/\n'only a comment\n/\nN+b\nPI\n+\n+2726FU\n%TORYO\n/\n"
    first, second = parse(ends.encode(), "two.csa")
    assert (first.names[0], first.win, second.names[0], second.win) == ("a", "w", "b", "b")
    with pytest.raises(KifuError, match=r"two\.csa: game 2: move 1, \+8822KA, is illegal"):
        parse(f"PI\n+\n{OPENING}/\nPI\n+\n+8822KA\n".encode(), "two.csa")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16", "iso2022_jp"])
@pytest.mark.parametrize(
    "text",
    [f"N+羽生善治\nN-柿木\nPI\n+\n{OPENING}%TORYO\n", "先手：羽生善治\n後手：柿木\n1 ７六歩(77)\n2 ３四歩(33)\n3 投了",
     "先手: 羽生善治 / 後手: 柿木\n▲７六歩△３四歩▲投了"],
)  # fmt: skip
def test_names_in_every_encoding(text: str, encoding: str, newline: str) -> None:
    game = record(text.replace("\n", newline).encode(encoding))
    assert (game.names, game.usi, game.win) == (("羽生善治", "柿木"), ("7g7f", "3c3d"), "w")


def test_a_declared_encoding_comes_before_guessing() -> None:
    assert decode("'CSA encoding=SHIFT_JIS\nN+髙①".encode("cp932")).endswith("N+髙①")
    # These bytes are valid in both: nothing but the declaration tells that they are half-width katakana.
    ambiguous = "ﾎﾞﾅﾝｻﾞ".encode("cp932")
    assert decode(b"'CSA encoding=SHIFT_JIS\nN+" + ambiguous).endswith("ﾎﾞﾅﾝｻﾞ")
    assert decode("'CSA encoding=EUC-JP\nN+将棋".encode("euc_jp")).endswith("将棋")


def test_files_of_kif_and_ki2() -> None:
    (game,) = read(FIXTURES / "branches.kif")
    assert " ".join(game.usi) == "7g7f 3c3d 8h2b+ 3a2b B*4e 5a6b 4e3d B*5d 3d4c+ 5d4c"
    assert (game.ending, game.win) == ("resign", "w")
    assert game.names == ("羽生　五段", "ボナンザ①")
    assert (game.event, game.date) == ("手書きの対局", "2026/01/02(金) 10:00:00")
    assert game.times == (16, 0, 65, 2, 9, 30, 0, 1, None, None)
    assert game.evals == (None, None, -35) + (None,) * 7
    (game,) = read(FIXTURES / "relative.ki2")
    assert game.start_sfen == KIF.Parser.HANDYCAP_SFENS["二枚落ち"]
    assert game.names == ("教わる人", "教える人")
    assert game.usi[12:] == ("3a4b", "4i5h", "5a4a", "7i6h")
    assert (game.ending, game.win) == ("resign", "b")
    (game,) = read(FIXTURES / "diagram.kifu")
    assert game.start_sfen == "l6nl/6gk1/7pp/9/6N2/9/7PP/+b4S1K1/L1+s5L w RBG2SN3Pr2gn11p 1"
    assert (game.usi, game.ending, game.win) == (("R*5i", "4h5i"), "jishogi", "d")


def kif(*lines: str, handicap: str = "平手") -> str:
    return "\n".join([f"手合割：{handicap}", "手数----指手---------消費時間--", *lines, ""])


@pytest.mark.parametrize(
    ("end", "ending", "win"),
    table(
        "3 投了, resign, w; 3 詰み, mate, w; 3 切れ負け, time_up, w; 3 反則負け, illegal_move, w",
        "3 反則勝ち, illegal_move, b; 3 入玉勝ち, declaration, b; 3 持将棋, jishogi, d; 3 封じ手, interrupted, None",
        "   3 中断         ( 0:03/00:00:19), interrupted, None; 3 不戦敗, default, w; 3 新しい終局, unknown, None",
        "まで2手で後手の勝ち, resign, w; まで2手で先手の反則負け, illegal_move, w; まで2手で先手の投了, resign, w",
        "まで2手で先手の反則負け　, illegal_move, w; まで2手で先手の反則負け。, illegal_move, w; , unknown, None",
        "まで2手で先手の反則勝ち, illegal_move, b; まで2手で先手の時間切れにより後手の勝ち, time_up, w",
        "まで2手で時間切れにより後手の勝ち, time_up, w; まで2手で先手の入玉勝ち, declaration, b",
        "3 何か, unknown, None; 3 千日手, sennichite, d; まで2手で千日手, sennichite, d",
        "まで2手で中断, interrupted, None; まで2手で連続王手の千日手により後手の勝ち, perpetual_check, w",
        "まで2手で不詰, no_mate, None; まで2手で持将棋, jishogi, d; 3 投了\nまで2手で後手の勝ち, resign, w",
        "3 何か\nまで2手で後手の勝ち, resign, w; 3 時間切れ, time_up, w; 3 入玉宣言, declaration, b; 3 トライ, try, w",
        "3 不戦勝, default, b; 3 引き分け, jishogi, d; 3 最大手数, max_moves, d; 3 詰, mate, w; 3 引分け, jishogi, d",
        "3 王手連続千日手, perpetual_check, b; 3 勝ち宣言, declaration, b; 3 最大手数超過, max_moves, d",
        "3 入玉宣言勝ち, declaration, b; まで、先手の反則勝ち, illegal_move, b; 3 時間切れ勝ち, unknown, None",
        "3 後手反則負け, illegal_move, b; まで2手で不戦により後手の勝ち, default, w",
        "まで2手で反則により後手の勝ち, illegal_move, w",
    ),
)
def test_kif_endings_with_black_to_move(end: str, ending: str, win: str) -> None:
    game = record(kif("   1 ７六歩(77)", "   2 ３四歩(33)", end))
    assert (game.usi, game.ending, str(game.win)) == (("7g7f", "3c3d"), ending, win)


@pytest.mark.parametrize("held", ["歩十二 飛二", "歩12 飛2", "歩１２　飛２"])
def test_diagrams_name_hands_and_the_side_to_move_in_several_ways(held: str) -> None:
    rows = "\n".join(f"|{' ・' * 8}{king}|" if king else f"|{' ・' * 9}|" for king in ["v玉", *[""] * 7, " 玉"])
    text = f"後手の持駒：桂\n{rows}\n先手の持駒：{held}\n先手番\n   1 ５八歩打\n"
    assert record(text).start_sfen.split()[2] == "2R12Pn"
    assert refusal(text.replace(held, "歩一二")) == "一二 is no number of pieces in hand"
    assert record(text.replace("の持駒", "の持ち駒")) == record(text.replace("の持駒", "持駒")) == record(text)
    assert record(text.replace("\n", "\n    ")) == record(text)
    for begin in ("△１二玉", "1 １二玉(11)", "手番：後手\n1 １二玉(11)", "上手番\n▽１二玉"):
        assert record(text.partition("先手番")[0] + begin).usi == ("1a1b",)
    assert refusal(f"手合割：安南将棋\n{text}") == "unknown handicap '安南将棋'"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [(["1 ７五歩(77)"], "move 1, 7五歩(77), is illegal"),
     (["1 ７六歩(77)", "2 ３四歩(33)", "3 ５六角(88)", "4 ８四歩(83)"], "move 3, 5六角(88), is illegal"),
     (["1 ７六歩成(77)"], "move 1, 7六歩成(77), is illegal"), (["1 ５五歩打"], "move 1, 5五歩打, is illegal"),
     (["1 同　歩(77)"], "move 1, 同　歩(77): the same square as which move?"),
     (["1 ７六歩(77)", "3 ２六歩(27)"], "move 3 follows move 1"),
     (["1 ７六歩(77)", "2 ３四何か"], "not a move: '2 3四何か'"),
     (["1 ７六歩(77)", "2 何か", "3 ２六歩(27)"], "2六歩(27) follows the end of the game"),
     (["1 投了", "2 ３四歩(33)"], "3四歩(33) follows the end of the game"),
     (["1手目 ７六歩"], "not a move: '1手目 ７六歩'"), (["1: ７六歩"], "not a move: '1: ７六歩'")],
)  # fmt: skip
def test_kif_that_is_refused(lines: list[str], reason: str) -> None:
    assert refusal(kif(*lines)) == reason


def test_handicaps() -> None:
    for name, sfen in KIF.Parser.HANDYCAP_SFENS.items():
        if sfen and name != "平手":
            game = record(kif("1 ３四歩(33)", "2 ７六歩(77)", "3 投了", handicap=f"{name}　"))
            assert (game.start_sfen, game.win) == (sfen, "b"), name
            # The diagram python-shogi draws of it is the same position.
            assert shogi.Board(sfen).turn == shogi.WHITE
            assert to_kif(game).endswith("\nまで2手で下手の勝ち\n")
    assert record(kif(handicap="左七枚落ち")).start_sfen.startswith("2sgkg3/9/")
    assert refusal(kif("1 ７六歩(77)", handicap="百枚落ち")) == "unknown handicap '百枚落ち'"
    assert refusal(kif("1 ７六歩(77)", handicap="その他")).startswith("手合割 その他")


@pytest.mark.parametrize(
    "move",
    [
        "１八飛(28)",
        "18飛(28)",
        "１八飛（２８）",
        "▲１八飛(28)",
        "１八飛不成(28)",
        "１八飛(28)   ( 0:16/00:00:16)+",
        "１八飛寄(28)",
        "１八飛",
        "▲１八飛",
    ],
)
def test_ways_to_write_a_kif_move(move: str) -> None:
    assert record(kif(f"   1 {move}")).usi == ("2h1h",)


def test_names_of_promoted_pieces() -> None:
    board = cshogi.Board("4k4/9/9/9/1+R+B3+S+N+L/9/9/9/4K4 b - 1")
    promoted = {"85": "龍竜", "75": "馬", "35": ("成銀", "全"), "25": ("成桂", "圭"), "15": ("成香", "杏")}
    for square, names in promoted.items():
        for name in names:
            text = f"{KIF.board_to_bod(board)}\n1 {square[0]}四{name}({square})\n"
            assert record(text).usi == (f"{square[0]}e{square[0]}d",), name


@pytest.mark.parametrize(
    ("comments", "evals"),
    [
        (["**対局 時間 00:01.2 深さ 2/3 ノード数 9 評価値 54 読み筋 ▲", "**対局 深さ 2 評価値 -55"], (54, -55)),
        (["**解析 0 候補1 時間 00:01 評価値 54 読み筋 ▲", "**Analysis 0 Rank1 Depth 9 Value -55 Moves"], (54, -55)),
        (["**対局 時間 00:01.2 評価値 +詰 5", "**対局 時間 00:01.2 評価値 -詰"], (99995, -100000)),
        (["*54", "*55"], (54, -55)),  # Shogidokoro writes the mover's view
        (["*+Mate:9", "*-Mate:8"], (99991, 99992)),
        (["*互角", "**評価値=54"], (None, 54)),
        (["*互角\n**評価値=54", "*#評価値=-55"], (54, -55)),
        (["**詰み=先手勝ち:5手", "**詰み=後手勝ち"], (99995, -100000)),
        (["** 54 -3334FU", "** -55"], (54, -55)),
        (["* [%eval 0.54]", "* (0.54 → -0.55) Mistake.\n* [%eval -0.55]"], (54, -55)),
        (["* [%eval mate3]", "* [%eval mate-11]"], (99997, -99989)),
        (["*５四歩が好手", "*-"], (None, None)),
        (["*" + "9" * 5000, "**評価値=30 (深さ9)"], (None, 30)),
    ],
)
def test_kif_evaluations(comments: list[str], evals: tuple[int | None, int | None]) -> None:
    game = record(kif("*30", "1 ７六歩(77)", comments[0], "2 ３四歩(33)", comments[1], "3 投了"))
    assert game.evals == evals


def test_what_people_say_is_no_evaluation_and_what_programs_write_no_comment() -> None:
    comments = ["*30", "*角道", "**解析 候補1 評価値 12 読み筋 △３四歩"]
    game = record(kif("*はじめに", "1 ７六歩(77)", *comments, "2 ３四歩(33)", "* 普通"))
    assert (game.evals, game.comments) == ((30, None), ("はじめに", "角道", "普通"))
    game = record(kif("1 ７六歩(77)", "2 ３四歩(33)", "3 ５六角(88)", "*", "4 反則負け", "*二歩ではない"))
    assert (game.evals, game.comments) == ((None, None), ("", "", "二歩ではない"))
    assert record(kif("*", "1 ７六歩(77)", "*", "2 投了")).comments == ()
    move = "+7776FU\nT3\n'** 30 -3334FU\n'*good\n'*move\n'** no\n"
    reply = "-3334FU\n'*end\n'**評価値=54\n'*#評価値=-55\n"
    game = record(f"'*first\nPI\n+\n{move}{reply}%TORYO\n")
    assert (game.evals, game.comments) == ((30, 54), ("first", "good\nmove", "end"))


KI2_TABLE = [
    # Two golds beside each other, one straight behind: G 69, 58, 48 to 59-57 ... as JSA's table of notation has them.
    ("4k4/9/9/9/9/9/9/3G1G3/K8 b - 1", "▲５七金右", "4h5g"),
    ("4k4/9/9/9/9/9/9/3GG4/K8 b - 1", "▲５七金直", "5h5g"),
    ("4k4/9/9/9/9/9/3G5/4G4/K8 b - 1", "▲５七金寄", "6g5g"),
    ("4k4/9/9/9/9/4G4/9/4G4/K8 b - 1", "▲５七金引", "5f5g"),
    ("4k4/9/9/9/9/9/3G5/3G5/K8 b - 1", "▲５七金左上", "6h5g"),
    ("4k4/9/9/9/9/9/9/1R1R5/K8 b - 1", "▲７八飛左", "8h7h"),
    ("4k4/9/9/9/9/9/+R8/1+R7/K8 b - 1", "▲５四龍", None),
    ("4k4/9/9/+R8/1+R7/9/9/9/K8 b - 1", "▲８四龍右", "8e8d"),
    ("k8/3g1g3/9/9/9/9/9/9/K8 w - 1", "△５三金右", "6b5c"),
    ("k8/3g1g3/9/9/9/9/9/9/K8 w - 1", "△５三金(42)", "4b5c"),
    ("4k4/9/9/9/9/9/9/3G5/K8 b G 1", "▲５七金打", "G*5g"),
    ("4k4/9/9/9/9/9/9/3G5/K8 b G 1", "▲５七金", "6h5g"),
    ("4k4/9/4S4/9/9/9/9/9/K8 b - 1", "▲４二銀成", "5c4b+"),
]


@pytest.mark.parametrize(("sfen", "move", "usi"), KI2_TABLE)
def test_relative_notation(sfen: str, move: str, usi: str | None) -> None:
    text = f"{KIF.board_to_bod(cshogi.Board(sfen))}\n{move}\n"
    if usi:
        assert record(text).usi == (usi,)
    else:
        assert "is illegal" in refusal(text)


def test_ambiguous_or_foreign_ki2_moves_are_refused() -> None:
    diagram = KIF.board_to_bod(cshogi.Board("4k4/9/9/9/9/9/9/3G1G3/K8 b - 1"))
    assert refusal(f"{diagram}\n▲５七金\n") == "move 1, ▲5七金, can be made by 2 pieces"
    assert refusal(f"{diagram}\n先手番\n△４二玉\n") == "move 1, △4二玉, is made by the side not to move"
    assert refusal(f"{diagram}\n▲５七金右 ▲何か\n") == "not a move: '▲何か'"


@pytest.mark.parametrize("seed", range(6))
def test_ki2_as_cshogi_writes_it(seed: int) -> None:
    game, board, text = random_game(seed, plies=200), cshogi.Board(), "手合割：平手\n先手：a\n後手：b"
    for move in game.usi:
        text += f"\n{KI2.move_to_ki2(board.move_from_usi(move), board)}"
        board.push_usi(move)
    assert record(text).usi == game.usi


HANDICAP = KIF.Parser.HANDYCAP_SFENS["四枚落ち"]
MIDDLE = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"

COMMENTS: list[tuple[str, ...]] = [(), ("before", "", "of, two\n\nlines"), ("", "後手の一手"), ("7776FU",)]


@pytest.mark.parametrize("start", [EVEN, HANDICAP, MIDDLE])
@pytest.mark.parametrize("seed", range(4))
def test_csa_and_kif_come_back_as_they_were(start: str, seed: int) -> None:
    game = replace(random_game(seed, start), comments=COMMENTS[seed])
    rated = replace(game, ratings=(2900.5, None))
    assert (record(to_csa(rated)), record(to_kif(game))) == (rated, game)


@pytest.mark.parametrize("seed", range(3))
def test_python_shogi_reads_what_is_written(seed: int) -> None:
    game = random_game(seed, HANDICAP if seed else EVEN)
    for parsed in (shogi.CSA.Parser.parse_str(to_csa(game)), shogi.KIF.Parser.parse_str(to_kif(game))):
        (summary,) = parsed
        assert (summary["sfen"], tuple(summary["moves"]), summary["win"]) == (game.start_sfen, game.usi, game.win)
        assert tuple(summary["names"]) == game.names


ENDINGS = [
    ("resign", "w"), ("mate", "w"), ("declaration", "b"), ("try", "w"), ("time_up", "w"), ("time_up", "b"),
    ("illegal_move", "w"), ("illegal_move", "b"), ("perpetual_check", "w"), ("perpetual_check", "b"), ("default", "b"),
    ("sennichite", "d"), ("jishogi", "d"), ("max_moves", "d"), ("interrupted", None), ("abnormal", None),
    ("no_mate", None), ("unknown", None),
]  # fmt: skip
KIF_HAS_NO_WORD_FOR = {"perpetual_check": "illegal_move", "max_moves": "jishogi", "abnormal": "interrupted"}


@pytest.mark.parametrize(("ending", "win"), ENDINGS)
def test_every_ending_comes_back(ending, win) -> None:
    game = Game(EVEN, moves_of(EVEN, ("7g7f", "3c3d")), win, ending, (None, 5), (1, 2), names=("a:1", "羽生　五段"))
    assert record(to_csa(game)) == game
    from_kif = record(to_kif(game))
    assert "の入玉" not in to_kif(game)  # for Kifu for JS such a line is no record
    if (ending, win) != ("time_up", "b"):  # KIF's word is for the side to move only
        assert from_kif.ending == KIF_HAS_NO_WORD_FOR.get(ending, ending)
    assert from_kif.win == win
    from_jkf = record(to_jkf(game))
    assert (from_jkf.moves, from_jkf.win) == (game.moves, win)
    assert from_jkf.ending == ending or ending in {"perpetual_check", "try", "default", "time_up", "abnormal"}


def test_names_and_times_that_other_versions_lack_make_it_version_3() -> None:
    game = Game(EVEN, moves_of(EVEN, ["7g7f"]), None, "unknown", (None,), (1.25,), names=("将棋\nソフト", "b"))
    assert to_csa(game).startswith("'CSA encoding=UTF-8\nV3.0\nN+将棋 ソフト\n")
    assert record(to_csa(game)).times == (1.25,)
    assert to_csa(replace(game, times=(1.0,), names=("a", "b"))).startswith("V2.2\n")


def test_files_and_lines_have_bounds(tmp_path: Path) -> None:
    with pytest.raises(KifuError, match=r"none\.csa: No such file or directory$"):
        read(tmp_path / "none.csa")
    assert refusal(f"PI\n+\n'{'x' * (1 << 20)}\n{OPENING}") == "line 3 is longer than any of a record"
    for name in ("huge.csa", "huge.txt"):
        with (tmp_path / name).open("wb") as file:
            file.truncate((1 << 26) + 1)
    with pytest.raises(KifuError, match=r"huge\.csa: Larger than 64 MB$"):
        read(tmp_path / "huge.csa")
    with pytest.raises(KifuError, match=r"huge\.txt: Larger than 64 MB$"):
        read_list(tmp_path / "huge.txt")


def test_lists_are_relative_to_the_list(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("kifu/a.csa\r\n\n  kifu/将棋.kif\n", encoding="utf-8")
    assert list(read_list(tmp_path / "list.txt")) == [tmp_path / "kifu/a.csa", tmp_path / "kifu/将棋.kif"]
    with pytest.raises(KifuError, match="No such file"):
        read_list(tmp_path / "none.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KifuError, match="not a list of files in UTF-8"):
        read_list(tmp_path / "binary")


@pytest.mark.parametrize("workers", [1, 2])
def test_many_files_in_their_order_and_one_broken_costs_only_itself(tmp_path: Path, workers: int) -> None:
    (tmp_path / "broken.csa").write_text("PI\n+\n+7775FU\n")
    paths = [FIXTURES / "floodgate.csa", tmp_path / "broken.csa", FIXTURES / "branches.kif"] * 8
    results = list(read_many(paths, workers))
    assert [path for path, _ in results] == paths
    assert [isinstance(games, KifuError) for _, games in results] == [False, True, False] * 8
    assert str(results[1][1]) == f"{tmp_path / 'broken.csa'}: move 1, +7775FU, is illegal"
    assert results[0][1] == read(paths[0])


def damaged(data: bytes, rng: random.Random) -> bytes:
    result = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 20])):
        at = rng.randrange(len(result))
        if rng.random() < 0.5:
            result[at] = rng.choice(b"+-%'T0159\n,/PN\xe3\x81\x82\xff ")
        else:
            del result[at : at + rng.randrange(1, min(30, len(result) - at + 1))]
    return bytes(result)


def test_damage_never_raises_anything_but_a_kifu_error(tmp_path: Path) -> None:
    rng = random.Random(5)
    outcomes: Counter[bool] = Counter()
    paths = []
    for source in sorted(path for path in FIXTURES.iterdir() if path.suffix in SUFFIXES):
        for number in range(150):
            paths.append(tmp_path / f"{source.name}.{number}")
            paths[-1].write_bytes(damaged(source.read_bytes(), rng))
    for _, games in read_many(paths):
        outcomes[isinstance(games, KifuError)] += 1
        assert not isinstance(games, KifuError) or "\n" not in str(games)
        for game in games if not isinstance(games, KifuError) else []:
            board = shogi.Board(game.start_sfen)
            for usi in game.usi:
                assert shogi.Move.from_usi(usi) in board.legal_moves
                board.push_usi(usi)
    assert min(outcomes[True], outcomes[False]) > 100


def assert_comes_back(game: Game) -> None:
    """KIF has no ratings, and no word for some endings."""
    for suffix in (".kif", ".jkf", *([] if game.variations else [".csa"])):
        (again,) = parse(file_of([game], suffix), "record")
        assert replace(again, ratings=game.ratings, ending=game.ending) == game


def test_what_a_record_says_comes_back_in_every_format() -> None:
    for path in FIXTURES.glob("[a-z]*"):
        for game in read(path):
            assert_comes_back(game)


def unpacked(archive: Path, folder: Path) -> list[Path]:
    shutil.unpack_archive(archive, folder)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_floodgate_2016(shared_data: Path, tmp_path: Path) -> None:
    paths = unpacked(shared_data / "records" / "floodgate2016_1100.tar.xz", tmp_path)
    games = [game for path in paths for game in read(path)]
    assert len(games) == 1100
    assert Counter(game.ending for game in games) == {"resign": 1056, "abnormal": 44}
    assert all((game.win is None) == (game.ending == "abnormal") for game in games)
    assert all(None not in game.ratings for game in games)
    assert sum(evaluation is not None for game in games for evaluation in game.evals) == 146_679
    for path, game in list(zip(paths, games, strict=True))[::100]:
        assert tuple(shogi.CSA.Parser.parse_file(path)[0]["moves"]) == game.usi


def test_mixed_records(shared_data: Path, tmp_path: Path) -> None:
    paths = unpacked(shared_data / "records" / "mixed.tar.xz", tmp_path)
    reasons = Counter(games.reason for _, games in read_many(paths) if isinstance(games, KifuError))
    assert len(paths) == 300
    assert reasons == {
        "a king is missing: a problem, not a game": 6,
        "neither a move nor a position nor a player: not a record": 2,
        "unknown handicap 'handicap'": 1,
    }
    for _, games in read_many(paths):
        for game in [] if isinstance(games, KifuError) else games:
            assert_comes_back(game)
