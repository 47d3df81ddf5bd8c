"""Recorded games of shogi as positions and examples: against hand-made games, mirrored ones, and slow counting."""

import json
import lzma
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import cshogi
import numpy as np
import pytest
import shogi
from positions import naive_label, naive_planes

from pydlshogi.encoding import planes_of
from pydlshogi.games.shogi.encodings import BOOK, HISTORY
from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.game import Game, moves_of
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.training.recorded import Recorded, ValueTarget, averaged_evals, fit_eval_coef, win_rates
from pydlshogi.games.shogi.training.records import (
    DRAW,
    LOSS,
    MAX_EVAL,
    NO_EVAL,
    NO_RESULT,
    POSITION,
    WIN,
    limit_repeats,
    load_positions,
    pack,
)
from pydlshogi.training.examples import batch_of
from pydlshogi.training.settings import DatasetError
from pydlshogi.uct.batch import Batch
from tests.positions import mirrored, mirrored_usi, recorded
from tests.random_games import random_games, write_jsonl


def game(moves: str, win: str | None, evals: tuple[int | None, ...] = (), start: str = cshogi.STARTING_SFEN) -> Game:
    return Game(start, moves_of(start, moves.split()), win, "resign", evals, (), ratings=(3000.4, None))


def test_everything_is_seen_by_the_side_to_move() -> None:
    packed = pack(game("7g7f 3c3d 2g2f", "b", (50, 30, None)))
    assert packed["result"].tolist() == [WIN, LOSS, WIN]
    assert packed[["eval", "rating"]].tolist() == [(50, 3000), (-30, 0), (NO_EVAL, 3000)]
    assert packed[["ply", "length"]].tolist() == [(0, 3), (1, 3), (2, 3)]
    board = cshogi.Board()
    for row, usi in zip(packed, ("7g7f", "3c3d", "2g2f"), strict=True):
        assert recorded(row).sfen().split()[:3] == board.sfen().split()[:3]
        assert cshogi.move_to_usi(int(row["move"])) == usi
        board.push_usi(usi)


def test_positions_know_the_moves_before_them_in_their_game_alone() -> None:
    packed = pack(game("7g7f 3c3d 2g2f", "b", ()), game("2g2f 8c8d 2f2e 8d8e", "b", ()))
    none = 0
    first, second = packed["move"][:3].tolist(), packed["move"][3:].tolist()
    assert packed["before"][:3].tolist() == [[none, none], [first[0], none], [first[1], first[0]]]
    assert packed["before"][3:6].tolist() == [[none, none], [second[0], none], [second[1], second[0]]]
    assert packed["before"][6].tolist() == [second[2], second[1]]
    start = "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    handicap = replace(game("3c3d 7g7f 8c8d", "w", (9, None), start), ratings=(None, 1500.0))
    seen = [(WIN, -9, 1500), (LOSS, NO_EVAL, 0), (WIN, NO_EVAL, 1500)]
    assert pack(handicap)[["result", "eval", "rating"]].tolist() == seen
    games = [game("7g7f 3c3d 2g2f", "b", (50, 30, None, 7)), handicap, game("", None), game("2g2f", "d", (1,))]
    assert pack(*games).tobytes() == b"".join(pack(each).tobytes() for each in games)
    assert len(pack()) == 0


def test_a_network_learns_from_what_it_will_see() -> None:
    """Planes are those of the game as the engine gets it, but every tenth has no past, and the next half of it."""
    moves = "7g7f 3c3d 8h2b+ 3a2b B*4e 5c5d 4e3d 4a3b 2g2f 2b3c 2f2e 8b4b 3i4h 5a6b".split()
    recorded = Recorded(pack(game(" ".join(moves), "b", ())), HISTORY, ValueTarget(1.0, 600))
    planes = planes_of(HISTORY, recorded.examples(np.arange(len(moves))).packed)
    position = ShogiPosition()
    for ply, usi in enumerate(moves):
        shown = position
        if ply % 10 < 2:
            shown = position.copy()
            for _ in range(ply % 10):
                shown.pop()
            shown = ShogiPosition(shown.sfen(), moves[ply - ply % 10 : ply])
        batch = Batch(1, 600, HISTORY)
        batch.add(shown, shown.legal_moves())
        assert np.array_equal(planes[ply], planes_of(HISTORY, batch.packed)[0]), ply
        position.push_usi(usi)
    assert [int(seen[119:].sum()) for seen in planes] == [0, 2, 4, 4, 4, 3, 3, 4, 4, 4, 0, 2, 4, 4]


@pytest.mark.parametrize(("win", "results"), [("w", [LOSS, WIN]), ("d", [DRAW, DRAW]), (None, [NO_RESULT, NO_RESULT])])
def test_results(win: str | None, results: list[int]) -> None:
    packed = pack(game("7g7f 3c3d", win, (100_000, 100_000)))  # evaluations of mates are bounded
    assert (packed["result"].tolist(), packed["eval"].tolist()) == (results, [MAX_EVAL, -MAX_EVAL])


def line_of(**more: object) -> str:
    return json.dumps({"win": "b", "end": "resign", "moves": "7g7f", **more}) + "\n"


def test_jsonl(tmp_path: Path) -> None:
    moves = {"split": "train", "moves": "7g7f 3c3d"}
    changes = [{"evals": "12 -"}, {"end": "abnormal"}, {"win_inferred": 1}, {"split": "val", "win": "w"}]
    changes += [{"moves": "7g7e"}, {"moves": "7g7f K*5e"}, {"moves": "7g7f+"}, {"win": None}]
    source = tmp_path / "games.jsonl"
    source.write_text("".join(line_of(**(moves | change)) for change in changes) + "{broken\n")
    said: list[str] = []
    positions = load_positions(source, "train", tmp_path / "cache", said.append)
    assert positions["result"].tolist() == [WIN, LOSS] + 4 * [NO_RESULT]
    assert positions["eval"].tolist() == [12] + 5 * [NO_EVAL]
    reasons = ["7g7e, is not legal", "move 2, K*5e, is not legal", "7g7f+, is not legal", "win is None", "{broken"]
    assert all(reason in line for reason, line in zip(reasons, said, strict=False))
    assert said[5:] == ["packed 3 games (train), 5 left out"]
    assert load_positions(source, "val", tmp_path / "cache", said.append)["result"].tolist() == [LOSS, WIN]


def test_a_game_without_a_split_is_trained_with_where_others_have_one(tmp_path: Path) -> None:
    lines = [line_of(), line_of(moves="2g2f 8c8d", split="val")]
    source, cache = tmp_path / "games.jsonl", tmp_path / "cache"
    source.write_text("".join(lines))
    assert len(load_positions(source, "train", cache)) == 1
    assert len(load_positions(source, "val", cache)) == 2
    source.write_text(lines[0])
    assert len(load_positions(source, "val", cache)) == 1


def test_impossible_numbers_cost_no_more_than_themselves(tmp_path: Path) -> None:
    source = tmp_path / "games.jsonl"
    ratings = [70000, -5, "2000", math.nan, math.inf, 1234.4]
    nine_rooks = line_of(start_sfen="rrrrrrrrr/4k4/9/9/9/9/9/4K4/9 b - 1")
    source.write_text("".join(line_of(rb=rating) for rating in ratings) + line_of(evals="1e999") + nine_rooks)
    said: list[str] = []
    positions = load_positions(source, "train", tmp_path / "cache", said.append)
    assert positions["rating"].tolist() == [65535, 0, 0, 0, 0, 1234]
    assert said[-1] == "packed 6 games (train), 2 left out"
    assert pack(replace(game("7g7f", "b"), ratings=(-12.5, math.inf)))["rating"].tolist() == [0]


def test_a_cut_archive_is_one_line(tmp_path: Path) -> None:
    whole = lzma.compress(b'{"win": "b", "end": "resign", "moves": "7g7f"}\n' * 99)
    for content in (b"", whole[:-20]):
        (tmp_path / "games.jsonl.xz").write_bytes(content)
        with pytest.raises(DatasetError, match="cannot be read"):
            load_positions(tmp_path / "games.jsonl.xz", "train", tmp_path / "cache")


@pytest.mark.parametrize("damage", [b"", b"half a position"])
def test_a_damaged_set_is_packed_anew(tmp_path: Path, damage: bytes) -> None:
    write_jsonl(tmp_path / "games.jsonl", random_games(2, plies=9, seed=1), [])
    before = load_positions(tmp_path / "games.jsonl", "train", tmp_path / "cache").tobytes()
    (packed,) = (tmp_path / "cache").iterdir()
    packed.write_bytes(damage)
    assert load_positions(tmp_path / "games.jsonl", "train", tmp_path / "cache").tobytes() == before


def test_a_list_of_records_and_a_jsonl_of_the_same_games_pack_alike(tmp_path: Path) -> None:
    games = random_games(3, plies=30, seed=1)
    for number, each in enumerate(games):
        (tmp_path / f"{number}.csa").write_text(to_csa(each))
    (tmp_path / "list.txt").write_text("0.csa\n1.csa\nmissing.csa\n2.csa\n")
    write_jsonl(tmp_path / "games.jsonl", games, [])
    said: list[str] = []
    listed = load_positions(tmp_path / "list.txt", "train", tmp_path / "cache", said.append)
    lines = load_positions(tmp_path / "games.jsonl", "train", tmp_path / "cache", said.append)
    assert "missing.csa" in said[0]
    for name in ("hcp", "move", "ply", "result"):
        assert np.array_equal(listed[name], lines[name])


def test_a_set_is_packed_once_and_again_when_its_content_changes(tmp_path: Path) -> None:
    source, cache = tmp_path / "games.jsonl", tmp_path / "cache"
    write_jsonl(source, random_games(2, plies=10, seed=1), [])
    said: list[str] = []
    first = load_positions(source, "train", cache, said.append)
    moved = source.rename(tmp_path / "moved.jsonl")
    assert np.array_equal(load_positions(moved, "train", cache, said.append), first)
    assert len(said) == 1
    write_jsonl(moved, random_games(3, plies=10, seed=1), [])
    assert len(load_positions(moved, "train", cache, said.append)) == 30
    assert len(said) == 2
    assert all(path.suffix == ".positions" for path in cache.iterdir())


def test_repeats_are_limited() -> None:
    positions = pack(*random_games(20, plies=12, seed=3))
    kept = positions[limit_repeats(positions, 2, np.random.default_rng(0))]
    there = Counter(row.tobytes() for row in positions["hcp"])
    assert max(there.values()) == 20
    assert Counter(row.tobytes() for row in kept["hcp"]) == {code: min(2, often) for code, often in there.items()}


def test_eval_coef_is_found_again() -> None:
    generator = np.random.default_rng(0)
    positions = np.zeros(50_000, POSITION)
    positions["eval"] = generator.normal(0, 800, len(positions)).round()
    won = generator.random(len(positions)) < win_rates(positions["eval"], 400.0)
    positions["result"] = np.where(won, WIN, LOSS)
    assert fit_eval_coef(positions) == pytest.approx(400, rel=0.05)
    positions["eval"] = NO_EVAL
    assert fit_eval_coef(positions) == 600


def test_evals_are_averaged_within_their_game() -> None:
    evals = (100, -50, None, 32000, None, None), (-300, 700)
    positions = pack(game("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e", "b", evals[0]), game("7g7f 3c3d", "w", evals[1]))
    rates = [[1 / (1 + math.exp(-each / 340)) for each in known] for known in ([100, -50], [-50, 32000], [-300, 700])]
    lead = [340 * math.log(mean / (1 - mean)) for mean in (sum(each) / 2 for each in rates)]
    found = averaged_evals(positions, 2, 340.0).tolist()
    assert found[:2] == [round(lead[0]), 50]
    assert found[2] == found[3] * -1 > 3000
    assert found[4:6] == [NO_EVAL, NO_EVAL]
    assert found[6:] == [round(lead[2]), -700]
    assert averaged_evals(positions, 3, 340.0)[1] == -round(lead[1])
    assert averaged_evals(positions, 1, 340.0)[[0, 1, 6, 7]].tolist() == [100, 50, -300, -700]


def test_value_targets() -> None:
    rows = np.zeros(5, POSITION)
    rows["result"] = [WIN, WIN, NO_RESULT, DRAW, NO_RESULT]
    rows["eval"] = [0, NO_EVAL, 0, NO_EVAL, NO_EVAL]
    values, weights = ValueTarget(0.6, 340.0)(rows)
    assert values[:4].tolist() == pytest.approx([0.6 + 0.4 * 0.5, 1.0, 0.5, 0.5])
    assert weights.tolist() == [1, 1, 1, 1, 0]


def test_batches_are_the_planes_and_labels_of_their_positions_and_mirrors() -> None:
    rows = pack(*random_games(6, plies=120, seed=5))
    turns = np.random.default_rng(0).integers(0, 2, len(rows))
    chosen = np.random.default_rng(1).permutation(len(rows))
    source = Recorded(rows, BOOK, ValueTarget(1.0, 600.0))
    assert len(source) == len(rows)
    batch = batch_of(source.examples(chosen), BOOK, turns)
    assert batch.firsts.tolist() == list(range(len(rows) + 1))
    assert batch.weights.tolist() == batch.value_weights.tolist() == [1] * len(rows)
    kinds = set()
    for i, row in enumerate(rows[chosen]):
        board = recorded(row)
        usi = cshogi.move_to_usi(int(row["move"]))
        if turns[i]:
            board, usi = cshogi.Board(mirrored(board.sfen())), mirrored_usi(usi)
        assert np.array_equal(batch.inputs[i], naive_planes(shogi.Board(board.sfen())))
        assert batch.labels[i] == naive_label(shogi.Move.from_usi(usi), board.turn)
        assert batch.values[i] == (row["result"] == WIN)
        kinds.add(batch.labels[i] // 81)
    assert len(kinds) > 15
