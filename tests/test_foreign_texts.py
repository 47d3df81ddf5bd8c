"""Records as other programs write them, by kind, in files and on the board; and any text in records of ours."""

import random
from dataclasses import replace

import pytest
from test_read_kifu import refusal

from pydlshogi.analysis import AnalysedMove
from pydlshogi.entry import OpenError
from pydlshogi.games.shogi.kifu.formats import WRITTEN, file_of
from pydlshogi.games.shogi.kifu.game import Game, Variation, moves_of
from pydlshogi.games.shogi.kifu.kif_writer import candidate_lines
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.read_kifu import KifuError, parse
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.support.decoding import lines_of, one_line
from pydlshogi.web.records import open_record, suffixes

USI = "position startpos moves 7g7f 3c3d"
KI2 = "手合割：平手\n先手：a\n後手：b\n▲７六歩 △３四歩"
KIF = "先手：a\n後手：b\n   1 ７六歩(77)\n   2 ３四歩(33)\n"
CSA = "PI\n+\n+7776FU\n-3334FU\n"
JKF_MOVES = (
    '{},{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"piece":"FU"}},'
    '{"move":{"from":{"x":3,"y":3},"to":{"x":3,"y":4},"piece":"FU"},"time":null,"comments":[""]}'
)


def jkf(*more: str) -> str:
    return f'{{"header":null,"initial":null,"moves":[{",".join([JKF_MOVES, *more])}]}}'


ENDINGS = [
    (f"{USI} resign", "resign", "w"), (f"{USI} win", "declaration", "b"), (f"{USI} draw", "jishogi", "d"),
    (f"{USI} rep_draw", "sennichite", "d"), (f"{USI} timeout", "time_up", "w"), (f"{USI} break", "interrupted", None),
    (f"{USI} chudan", "interrupted", None), (f"{KI2}△投了", "resign", "b"), ("▲７六歩(77)△３四歩(33)", "unknown", None),
    (f"{KI2} ▲投了", "resign", "w"), (f"{KI2}\n▲中断", "interrupted", None), (f"{KI2} ▲千日手", "sennichite", "d"),
    (f"{KI2} △投了", "resign", "b"), (f"{KI2} ▲切れ負け", "time_up", "w"), (f"{KI2} △反則負け", "illegal_move", "b"),
    (jkf('{"special":"TORYO"}'), "resign", "w"), (jkf('{"special":null}'), "unknown", None),
    # The last move is illegal. Behind it the other side is to move.
    (f"{KIF}   3 ２一角成(88)\n   4 中断\n", "interrupted", None), (f"{KIF}   3 ２一角成(88)\n", "illegal_move", "w"),
    (f"{KIF}   3 ２一角成(88)\n   4 投了\n", "resign", "b"), (f"{KI2} ▲２一角成 △投了", "resign", "b"),
    *((f"{KIF}   3 ２一角成(88)\n{end}", "illegal_move", "w")
      for end in ("4 反則勝ち", "4 反則負け", "まで3手で後手の反則勝ち", "*反則手にて終局")),
    (f"{CSA}+8856KA\n", "illegal_move", "w"), (f"{CSA}+8856KA\n%TORYO\n", "resign", "b"),
    (f"{USI} 8h5f", "illegal_move", "w"), (f"{USI} 8h5f break", "interrupted", None),
    (jkf('{"move":{"from":{"x":8,"y":8},"to":{"x":5,"y":6},"piece":"KA"}}'), "illegal_move", "w"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "ending", "win"), ENDINGS)
def test_the_moves_and_the_ending(text: str, ending: str, win: str | None) -> None:
    (game,) = parse(text.encode(), "record")
    assert (game.usi, game.ending, game.win) == (("7g7f", "3c3d"), ending, win)
    shown = open_record(text.encode(), "dobutsu")[0]()
    assert (shown.game, list(shown.line.moves)) == ("shogi", ["7g7f", "3c3d"])
    assert (shown.line.ended.winner if shown.line.ended else None) == {"b": 0, "w": 1}.get(win or "")


@pytest.mark.parametrize(
    "text",
    [f"{CSA}+8856KA\n-8384FU\n", f"{KIF}   3 ２一角成(88)\n   4 ８四歩(83)\n", f"{USI} 8h5f 8c8d",
     jkf('{"move":{"from":{"x":8,"y":8},"to":{"x":5,"y":6}}}', '{"move":{"from":{"x":8,"y":3},"to":{"x":8,"y":4}}}'),
     f"{KI2}\nまで2手で後手の勝ち\n▲２六歩\n",  # another game without a header
     '{"black_player":"a","transcript":"f5d6c3d3c4","white_player":"b"}', '{"moves":[3]}'],
)  # fmt: skip
def test_what_is_refused_in_words(text: str) -> None:
    assert "Error" not in refusal(text)
    with pytest.raises(OpenError):
        open_record(text.encode(), "shogi")[0]()


LOWER = "/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
HANDICAPS = {
    "両香落ち": f"1nsgkgsn1/1r5b1{LOWER}", "兩香落ち": f"1nsgkgsn1/1r5b1{LOWER}", "三枚落ち": f"lnsgkgsn1/9{LOWER}",
    "七枚落ち": f"3gkgs2/9{LOWER}", "九枚落ち": f"4kg3/9{LOWER}", "トンボ": f"4k4/1r5b1{LOWER}",
    "トンボ＋香": f"l3k3l/1r5b1{LOWER}", "トンボ＋桂香": f"ln2k2nl/1r5b1{LOWER}",
    "太閤落ち": f"lnsgkgsnl/1r5b1/p1ppppppp{LOWER[10:]}", "裸玉": "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "歩三兵": "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 3p 1",
    "香得": f"lnsgkgsn1/1r5b1{LOWER[:-3]}L 1", "兩香得": f"1nsgkgsn1/1r5b1{LOWER[:-3]}2L 1",
    "角得": f"lnsgkgsnl/1r7{LOWER[:-3]}B 1", "飛車得": f"lnsgkgsnl/7b1{LOWER[:-3]}R 1",
    "飛香得": f"lnsgkgsn1/7b1{LOWER[:-3]}RL 1", "二枚得": f"lnsgkgsnl/9{LOWER[:-3]}RB 1",
    "四枚得": f"1nsgkgsn1/9{LOWER[:-3]}RB2L 1", "九枚得": f"4kg3/9{LOWER[:-3]}RBG2S2N2L 1",
}  # fmt: skip


@pytest.mark.parametrize("name", HANDICAPS)
def test_handicaps_by_their_name(name: str) -> None:
    (game,) = parse(f"手合割：{name}\n下手：a\n上手：b\n   1 投了\n".encode(), "record")
    assert game.start_sfen == HANDICAPS[name]
    assert parse(file_of([game], ".kif"), "record") == [game]


@pytest.mark.parametrize(
    ("move", "lance"), [("１二香(11)", "1nsgkgsnl"), ("９二香(91)", "lnsgkgsn1"), ("６二玉(51)", "lnsgkgsn1")]
)
def test_of_three_pieces_the_moves_say_which(move: str, lance: str) -> None:
    for end in ("", "   2 投了\n"):
        (game,) = parse(f"手合割：三枚落ち\n   1 {move}\n{end}".encode(), "record")
        assert (game.start_sfen, len(game.moves)) == (f"{lance}/9{LOWER}", 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [(f"{KI2}\nまで2手で後手の勝ち\n\n", "# two\n棋戦：x\n先手：c\n▲２六歩△８四歩\nまで2手で後手の勝ち"),
     (f"{KI2} ▲投了\n終了日時：y\n", "棋戦：x\n先手：c\n▲２六歩 △８四歩 ▲投了\n場所：z\n"),
     (f"{KIF}3 投了\n", "手合割：平手\n先手：c\n棋戦：x\n1 ２六歩(27)\n2 ８四歩(83)\n3 投了\n")],
)  # fmt: skip
def test_a_file_of_several_games(first: str, second: str) -> None:
    one, two = parse((first + second).encode(), "record")
    assert (one.usi, one.win, two.usi, two.win) == (("7g7f", "3c3d"), "w", ("2g2f", "8c8d"), "w")
    assert (one.event, two.event, two.names[0]) == ("", "x", "c")
    with pytest.raises(KifuError, match="game 2: "):
        parse((first + second.replace("２六歩", "２二歩")).encode(), "record")


def test_what_the_dialog_opens() -> None:
    assert {".sfen", ".usi", ".kif", ".ki2", ".jkf", ".csa"} <= set(suffixes())


WORDS = [
    "+50", "-3", "*x", "**", "#評価値=5", "評価値=5", "[%eval 0.5]", "解析 候補1 評価値 5", "\r", "\n", "\r\n",
    "\x0b", "\x85", "\u2028", "\x00", "\x1b$B", "\ud800", "\t", " ", "\u3000", "A/B/C b ", "9/9/9 w - 1",
    "position startpos moves 7g7f", "   1 ７六歩(77)", "▲７六歩", "△投了", "変化：1手", "まで2手で先手の勝ち",
    "手合割：平手", "先手：x", "後手番", "|", "+7776FU", "%TORYO", "/", "PI", "N+x", "'summary:toryo:a win:b lose",
    "T5", "$EVENT:x", "V2.2", ",", ":", "：", "&", "#", "{", "}", "[", "]", "(;GM[Othello]", "encoding=Shift_JIS",
    "encoding=EUC-JP", "〜", "～", "¥", "\\", "─", "😀", "é", "将棋", "ｱ", "abc", "50", "f5d6", "反則", '"', "'",
    "\ufeff",
]  # fmt: skip


LINES = [(("7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"), 57), (("win",), None), ((), None), (("2g2f",), 0)]


def test_any_text_comes_back_as_it_was_written() -> None:
    rng = random.Random(62)

    def text() -> str:
        return "".join(rng.choices(WORDS, k=rng.randrange(5)))

    moves, (_, other) = moves_of(START_SFEN, ("7g7f", "3c3d")), moves_of(START_SFEN, ("7g7f", "8c8d"))
    for number in range(1000):
        comments, names = (text(), text(), text()), (text(), text())
        headers = tuple((name, one_line(text())) for name in ("戦型", "Max_Moves", "手数", "記録係"))
        headers = tuple(each for each in headers if each[1])
        evals, win = (rng.choice([None, 30]), None), rng.choice(["b", "w"])
        game = Game(START_SFEN, moves, win, "resign", evals, (1, None), names, (None, None), text(), text(), text())
        thought = [AnalysedMove(rng.choice([30, -99_991]), *rng.choice(LINES)) for _ in range(rng.randrange(3))]
        analysis = (tuple(candidate_lines(ShogiPosition(START_SFEN), thought)), (), ()) if thought else ()
        variation = Variation(1, (other,), (None,), (None,), (text(),))
        game = replace(game, comments=comments, variations=(variation,), headers=headers, analysis=analysis)
        for suffix in WRITTEN:
            held = replace(game, variations=()) if suffix in (".csa", ".usi") else game
            written = file_of([held], suffix)
            (read,) = parse(written, "record")
            assert file_of([read], suffix) == written, (number, suffix)
            assert (read.moves, read.evals) == (moves, evals)
            assert open_record(written, "dobutsu")[0]().game == "shogi"
            if suffix != ".usi":
                assert (read.names, read.event) == (tuple(map(one_line, names)), one_line(game.event))
                assert dict(read.headers) == dict(headers)
                assert suffix == ".csa" or read.analysis == analysis
                known = open_record(written, "dobutsu")[0]().line.candidates
                assert suffix == ".csa" or [each for said in known for each in said] == thought
                said = ["\n".join(lines_of(comment)) for comment in comments]
                assert [*read.comments, *[""] * (3 - len(read.comments))] == said
                assert (read.ending, read.win) == ("resign", "w") or win == "b"
