"""Records with variations, in KIF and JKF, and what other formats say of them; JKF and lines of USI."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import cshogi
import pytest
from test_read_kifu import record, refusal

from pydlshogi.games.shogi.kifu.formats import to_usi
from pydlshogi.games.shogi.kifu.game import Game, Variation
from pydlshogi.games.shogi.kifu.jkf import to_jkf
from pydlshogi.games.shogi.kifu.kif_writer import to_kif
from pydlshogi.games.shogi.read_kifu import KifuError, parse, read
from utils.convert import main

MIDDLE = "lr5nl/3g1kg2/2n1ppsp1/p1pps1p1p/1p5P1/P1PPSPP1P/1PS1P1N2/2GK1G3/LN5RL b Bb 1"
FORKS = """\
手合割：平手
手数----指手---------消費時間--
   1 ７六歩(77)   ( 0:01/00:00:01)
   2 ３四歩(33)   ( 0:02/00:00:02)
   3 ２二馬(88)   ( 0:03/00:00:04)
   4 同　銀(31)   ( 0:04/00:00:06)
   5 投了
まで4手で後手の勝ち

変化：4手
*別の手
   4 同　飛(82)
*遠い

変化：2手
   2 ８四歩(83)
   3 ２六歩(27)

変化：3手
   3 ６八銀(79)
   4 投了
"""


def lines_of(game: Game) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Every line from the start, and what is said of it; the order of the variations does not matter."""
    path, found = list(game.usi), {game.usi: (game.win, game.ending, game.evals, game.times, game.comments)}
    for each in game.variations:
        path[each.after :] = each.usi
        found[tuple(path)] = (None, each.ending, each.evals, each.times, each.comments)
    return found


def random_tree(seed: int, start: str = cshogi.STARTING_SFEN) -> Game:
    """A game of random moves with variations that leave one another anywhere, also where a line ends."""
    rng, board, path = random.Random(seed), cshogi.Board(start), list[int]()

    def played(plies: int) -> tuple[int, ...]:
        for _ in range(plies):
            move = rng.choice(list(board.legal_moves))
            path.append(cshogi.move16(move))
            board.push(move)
        return tuple(path[-plies:])

    moves, variations = played(20), []
    for _ in range(8):
        after = rng.randrange(len(path) + 1)
        while len(path) > after:
            path.pop()
            board.pop()
        each = played(rng.randrange(1, 7))
        evals = tuple(rng.choice([None, 5, -30]) for _ in each)
        said = tuple(rng.choice(["", "one\ntwo"]) for _ in each)
        ending = rng.choice(["unknown", "resign", "mate"])
        variations.append(Variation(after, each, evals, (None,) * len(each), said, ending))
    evals = tuple(rng.choice([None, 7]) for _ in moves)
    return Game(
        start, moves, "w", "resign", evals, tuple(range(20)), ("a", "b"), event="e", date="2026/01/01", place="p",
        comments=("start", "", "said"), variations=tuple(variations),
    )  # fmt: skip


def test_variations_of_a_kif() -> None:
    game = record(FORKS)
    assert game.usi == ("7g7f", "3c3d", "8h2b+", "3a2b")  # the promotion is said by the new piece's name
    assert (game.ending, game.win) == ("resign", "w")
    branches = [(3, ("8b2b",), "unknown"), (1, ("8c8d", "2g2f"), "unknown"), (2, ("7i6h",), "resign")]
    assert [(each.after, each.usi, each.ending) for each in game.variations] == branches  # the last leaves the second
    assert game.variations[0].comments == ("別の手\n遠い",)


@pytest.mark.parametrize("start", [cshogi.STARTING_SFEN, MIDDLE])
@pytest.mark.parametrize("seed", range(20))
def test_trees_come_back(seed: int, start: str) -> None:
    game = random_tree(seed, start)
    assert record(to_kif(game)) == game
    again = record(to_jkf(game))
    assert (lines_of(again), replace(again, variations=())) == (lines_of(game), replace(game, variations=()))


@pytest.mark.parametrize(
    ("broken", "kept"),
    [("変化：4手\n   4 同　金(61)\n   5 ５八金(49)\n", "move 4, 同　金(61), is illegal"),
     ("変化：4手\n   4 同　飛(82)\n   9 ５八金(49)\n", "move 9 follows move 4"),
     ("変化：9手\n   9 同　飛(82)\n", "a variation begins at move 9"),
     ("変化：2手\n   2 ８四歩(83)\n変化：9手\n   9 同　飛(82)\n", "a variation begins at move 9")],
)  # fmt: skip
def test_a_variation_that_is_damaged_costs_the_game_nothing(broken: str, kept: str) -> None:
    begin, _, _ = FORKS.partition("変化")
    game = record(begin + broken)
    assert game.usi == ("7g7f", "3c3d", "8h2b+", "3a2b")
    said = "\n".join((*game.comments, *(each for line in game.variations for each in line.comments)))
    assert kept in said


def test_what_json_kifu_format_says_of_itself() -> None:
    """The example of its README, shortened."""

    def move(x: int, y: int, to: int, **more: Any) -> dict[str, Any]:
        return {"move": {"from": {"x": x, "y": y}, "to": {"x": x, "y": to}, "piece": "FU"}, **more}

    first = move(7, 7, 6, time={"now": {"m": 0, "s": 16}})
    reply = move(3, 3, 4, comments=["*#評価値=-40", "手"], forks=[[move(8, 3, 4)]])
    moves = [{"comments": ["分岐の例"]}, first, reply, {"special": "CHUDAN"}]
    game = record(json.dumps({"header": {"先手": "na2hiro", "後手": "うひょ"}, "moves": moves}))
    assert (game.names, game.usi, game.ending) == (("na2hiro", "うひょ"), ("7g7f", "3c3d"), "interrupted")
    assert (game.times, game.evals, game.comments) == ((16, None), (None, -40), ("分岐の例", "", "手"))
    assert [(each.after, each.usi) for each in game.variations] == [(1, ("8c8d",))]


@pytest.mark.parametrize(
    "text",
    ["{", "{}", '{"header": {}, "moves": 1}', '{"header": {}, "moves": [' + "[" * 9999,
     '{"header": {}, "moves": [{"move": 7}]}',
     '{"header": {}, "moves": [{}, {"move": {"from": {"x": 7, "y": 7}, "to": {"x": 7, "y": 5}, "piece": "FU"}}]}',
     '{"header": {}, "moves": [{}, {"move": {"to": {"x": 5, "y": 5}, "piece": "TO"}}]}',
     '{"header": {}, "initial": {"preset": "9"}, "moves": []}', '{"header": {"先手": 5}, "moves": []}',
     '{"header": {}, "moves": [{}, {"move": {"from": {"x": 7, "y": 7}, "to": {"x": 7, "y": 6}}, '
     '"time": {"now": {"m": 0, "s": NaN}}}]}'],
)  # fmt: skip
def test_what_is_no_jkf_is_refused_in_a_line(text: str) -> None:
    assert refusal(text)


def test_lines_of_usi_keep_their_evaluations() -> None:
    game = replace(random_tree(1), variations=())
    first, second = parse(f"# two games\n{to_usi(game)}position startpos moves 7g7f\n".encode(), "record")
    assert (first.start_sfen, first.moves, first.evals) == (game.start_sfen, game.moves, game.evals)
    assert (second.usi, second.evals) == (("7g7f",), (None,))
    with pytest.raises(KifuError, match=r"game 1: move 2, 7g7f, is illegal"):
        parse(b"startpos moves 7g7f 7g7f 3c3d", "record")


def test_a_record_becomes_another_and_loses_nothing_unsaid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heads = "終了日時：2020/01/03\n持ち時間：2時間\n戦型：四間飛車\n記録係：丙\n先手：a\n"
    (tmp_path / "a.kif").write_text(heads + FORKS, encoding="utf-8")
    assert main([str(tmp_path / "a.kif"), str(tmp_path / "a.jkf")]) == 0
    assert main([str(tmp_path / "a.jkf"), str(tmp_path / "b.kif")]) == 0
    assert read(tmp_path / "b.kif") == read(tmp_path / "a.kif")
    assert heads.splitlines()[3] in (tmp_path / "b.kif").read_text(encoding="utf-8")
    assert capsys.readouterr() == ("".join(f"{tmp_path / name}: games 1, moves 4\n" for name in ("a.jkf", "b.kif")), "")
    for name in ("a.csa", "a.usi"):
        assert main([str(tmp_path / "a.kif"), str(tmp_path / name)]) == 1
        assert "cannot hold variations" in capsys.readouterr().err
        assert main([str(tmp_path / "a.kif"), str(tmp_path / name), "--main-line"]) == 0
        assert read(tmp_path / name)[0].moves == read(tmp_path / "a.kif")[0].moves
        lost = "convert: .usi does not hold all of the times, names, headers\n"
        assert capsys.readouterr().err == ("" if name == "a.csa" else lost)
    (tmp_path / "b.usi").write_text("startpos moves 2g2f\nstartpos moves 7g7f 7f7d")
    assert main([str(tmp_path / "b.usi"), str(tmp_path / "b.csa")]) == 0
    assert capsys.readouterr().err == "convert: game 2: move 2, 7f7d, is illegal: the moves before it are kept\n"
    assert main([str(tmp_path / "a.kif"), str(tmp_path / "a.csa")]) == 1
    assert capsys.readouterr().err == f"convert: {tmp_path / 'a.csa'} exists (--overwrite replaces it)\n"
