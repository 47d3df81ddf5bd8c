"""Positions that a USI engine judged: against the engine's own log, and learned from."""

import sys
from itertools import pairwise
from pathlib import Path

import cshogi
import numpy as np
import pytest

from pydlshogi.games.shogi.sparse import SPARSE
from pydlshogi.games.shogi.training.formats import load
from pydlshogi.games.shogi.training.recorded import Recorded, ValueTarget
from pydlshogi.games.shogi.training.records import NO_RESULT, POSITION, Positions
from tests.positions import recorded
from tests.random_games import random_games, write_jsonl
from utils.arena.engines import command_line
from utils.lab import teach

pytestmark = pytest.mark.lent_worker(teach)

ENGINE = Path(__file__).with_name("judging_engine.py")


@pytest.fixture(autouse=True)
def small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teach, "ODD_POSITIONS", 30)
    monkeypatch.setattr(teach, "GAMES", 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "games.jsonl", random_games(6, plies=60, seed=7), [])
    (tmp_path / "openings.txt").write_text("startpos moves 7g7f 3c3d 2g2f 8c8d\n")
    return tmp_path


def arguments(folder: Path, *more: str, engine: tuple[str, ...] = (), option: str = "Threads=1") -> list[str]:
    command = command_line([sys.executable, str(ENGINE), *engine])
    places = [f"--records={folder / 'games.jsonl'}", f"--openings={folder / 'openings.txt'}"]
    return [command, option, "--nodes=7", f"--out={folder / 'taught'}", *places, "--workers=1", *more]


def taught_in(folder: Path) -> Positions:
    return load(folder, "train", folder)


def without_number(sfen: str) -> str:
    return sfen.rsplit(" ", 1)[0]


def test_odd_positions_lie_beside_the_records_and_say_what_the_engine_says(folder: Path) -> None:
    log = folder / "log"
    assert teach.main(arguments(folder, "--odd=2", engine=("--log", str(log)))) == 0
    taught = taught_in(folder / "taught")
    asked = log.read_text().splitlines()
    assert 50 < len(taught) == len(asked) <= 60
    assert len({line.split()[0] for line in asked}) == 1
    known = {without_number(recorded(each).sfen()) for each in load(folder / "games.jsonl", "train", folder)}
    for position, line in zip(taught, asked, strict=True):
        question = line.removeprefix("7 ")
        board = recorded(position)
        assert without_number(board.sfen()) == without_number(question.removeprefix("sfen "))
        assert position["eval"] == len(question)
        assert position["result"] == NO_RESULT
        legal = {cshogi.move16(move): cshogi.move_to_usi(move) for move in board.legal_moves}
        assert legal[position["move"]] == sorted(legal.values())[len(question) % len(legal)]
        assert position["before"][0] != 0
    assert sum(without_number(recorded(each).sfen()) in known for each in taught) < len(taught) / 4
    examples = Recorded(taught, SPARSE, ValueTarget(0.6, 600.0)).examples(np.arange(len(taught)))
    assert (examples.weights.sum(), examples.value_weights.all()) == (len(taught), True)
    assert np.diff(examples.firsts).tolist() == [len(list(recorded(each).legal_moves)) for each in taught]


def test_games_teach_the_best_moves_and_results_only_after_the_last_random_one(folder: Path) -> None:
    assert teach.main(arguments(folder, "--games=4")) == 0
    with_result = 0
    for path in sorted((folder / "taught").glob("games-*")):
        taught = np.fromfile(path, POSITION)
        begins = np.flatnonzero(np.diff(taught["ply"].astype(int), prepend=1000) != 1)
        assert len(begins) == 3
        for game in np.split(taught, begins[1:]):
            follows = game["before"][1:, 0] == game["move"][:-1]
            known = game["result"] != NO_RESULT
            assert not known[: 1 + np.flatnonzero(~follows).max(initial=-1)].any()
            with_result += known.any()
            assert follows.mean() > 0.8
            for before, after in pairwise(game):
                board = recorded(before)
                board.push_move16(int(after["before"][0]))
                assert without_number(board.sfen()) == without_number(recorded(after).sfen())
                assert after["before"][1] == before["before"][0]
            results = game["result"][known]
            assert (results[1:] == -results[:-1]).all()
    assert with_result > 6


def test_sets_that_are_there_are_not_made_again_and_engines_may_talk_nonsense(folder: Path, capsys) -> None:
    log = folder / "log"
    assert teach.main(arguments(folder, "--odd=1", engine=("--log", str(log), "--every", "20", "--nonsense"))) == 0
    asked = len(log.read_text().splitlines())
    assert len(taught_in(folder / "taught")) == asked - asked // 20
    assert teach.main(arguments(folder, "--odd=2", engine=("--log", str(log)))) == 0
    assert asked < len(log.read_text().splitlines()) <= asked + 30
    assert teach.main(arguments(folder, "--odd=3", option="Strength=7")) == 1
    assert "` has no option Strength; it has Threads" in capsys.readouterr().err
