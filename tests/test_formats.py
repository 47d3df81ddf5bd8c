"""Training data of other programs against cshogi: its types, its codes and its numbers of moves."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cshogi
import numpy as np
import pytest

from pydlshogi.games.shogi.training.fixed_formats import chosen
from pydlshogi.games.shogi.training.formats import load, read_parts
from pydlshogi.games.shogi.training.game_formats import HCPE3, HCPE3_MOVE, HCPE3_VISITS
from pydlshogi.games.shogi.training.recorded import read_sets
from pydlshogi.games.shogi.training.records import DRAW, LOSS, NO_RESULT, POSITION, WIN, Positions, pack
from tests.positions import recorded
from tests.random_games import random_games
from utils import convert

STARTS = [
    cshogi.STARTING_SFEN,
    "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "8k/9/9/9/9/9/9/9/K8 b 2R2B4G4S4N4L18P 1",
    "8k/9/9/9/9/9/9/9/K8 w RBGgrb2s3nl7p 7",
]
RESULTS = (cshogi.DRAW, cshogi.BLACK_WIN, cshogi.WHITE_WIN)


def some_games() -> list[tuple[Any, list[int], list[int], int]]:
    """Start, moves, evaluations for the mover, and cshogi's result."""
    generator, games = random.Random(5), []
    for number in range(12):
        start = cshogi.Board(STARTS[number % 4])
        board, moves = start.copy(), list[int]()
        while len(moves) < 90 and (legal := list(board.legal_moves)):
            moves.append(generator.choice(legal))
            board.push(moves[-1])
        games.append((start, moves, [generator.randrange(-32000, 32000) for _ in moves], RESULTS[number % 3]))
    return games


GAMES = some_games()


def plies() -> Iterator[tuple[Any, int, int, int]]:
    """Each move of GAMES: the board before it, which moves on, the move, its evaluation, and the result of the game."""
    for start, moves, evals, result in GAMES:
        board = start.copy()
        for move, score in zip(moves, evals, strict=True):
            yield board, move, score, result
            board.push(move)


COUNT = sum(len(moves) for _, moves, _, _ in GAMES)


def mover_won(board: Any, result: int) -> int:
    return DRAW if result == cshogi.DRAW else WIN if result - 1 == board.turn else LOSS


def write_psv(path: Path) -> None:
    """As YaneuraOu-ScriptCollection does, position by position with cshogi."""
    rows = np.zeros(COUNT, cshogi.PackedSfenValue)
    for record, (board, move, score, result) in zip(rows, plies(), strict=True):
        board.to_psfen(record["sfen"])
        record["score"], record["move"] = score, cshogi.move16_to_psv(cshogi.move16(move))
        record["gamePly"], record["game_result"] = board.move_number, mover_won(board, result)
    rows.tofile(path)


def write_hcpe(path: Path) -> None:
    rows = np.zeros(COUNT, cshogi.HuffmanCodedPosAndEval)
    for record, (board, move, score, result) in zip(rows, plies(), strict=True):
        board.to_hcp(record["hcp"])
        record["eval"], record["bestMove16"], record["gameResult"] = score, cshogi.move16(move), result
    rows.tofile(path)


def visits_of(board: Any, move: int) -> list[tuple[int, int]]:
    """Of some moves; none at each fifth position, which is not to be learned from."""
    if board.move_number % 5 == 0:
        return []
    return [(cshogi.move16(move), 70), *((cshogi.move16(each), 5 + each % 7) for each in list(board.legal_moves)[:4])]


def write_hcpe3(path: Path) -> None:
    """As dlshogi's `csa_to_hcpe3.py`."""
    with path.open("wb") as file:
        for start, moves, evals, result in GAMES:
            head = np.zeros(1, HCPE3)
            start.to_hcp(head["hcp"])
            head["moves"], head["result"] = len(moves), result | 4
            head.tofile(file)
            board = start.copy()
            for move, score in zip(moves, evals, strict=True):
                visits = visits_of(board, move)
                np.array([(cshogi.move16(move), score, len(visits))], HCPE3_MOVE).tofile(file)
                np.array(visits, HCPE3_VISITS).tofile(file)
                board.push(move)


def write_pack(path: Path) -> None:
    """By the letter of `GenSfen/readme.md`."""
    with path.open("wb") as file:
        for start, moves, evals, result in GAMES:
            if start.sfen() == cshogi.STARTING_SFEN:
                file.write(b"\1")
            else:
                code = np.zeros(32, np.uint8)
                start.to_hcp(code)
                file.write(b"\0" + code.tobytes() + start.move_number.to_bytes(2, "little"))
            for move, score in zip(moves, evals, strict=True):
                file.write(cshogi.move16(move).to_bytes(2, "little") + score.to_bytes(2, "little", signed=True))
            file.write((result | result << 7).to_bytes(2, "little") + (b"\6" if result else b"\1"))


WRITERS = {".psv": write_psv, ".hcpe": write_hcpe, ".hcpe3": write_hcpe3, ".pack": write_pack}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for suffix, write in WRITERS.items():
        write(tmp_path / f"games{suffix}")
    return tmp_path


def positions_in(path: Path) -> Positions:
    complaints: list[str] = []
    parts = [part.positions for part in read_parts(path, complaints.append)]
    assert not complaints
    return np.concatenate(parts)


def expected(suffix: str) -> Positions:
    """The same positions, by cshogi."""
    rows = np.zeros(COUNT, POSITION)
    for position, (board, move, score, result) in zip(rows, plies(), strict=True):
        board.to_hcp(position["hcp"])
        position["move"], position["eval"] = cshogi.move16(move), score
        position["result"], position["ply"] = mover_won(board, result), board.move_number - 1
        if suffix == ".hcpe3" and not visits_of(board, move):
            position["result"], position["eval"] = NO_RESULT, -32768
    return rows


@pytest.mark.parametrize("suffix", WRITERS)
def test_positions_moves_evaluations_and_results_are_cshogis(suffix: str, files: Path) -> None:
    found, wanted = positions_in(files / f"games{suffix}"), expected(suffix)
    for name in ("hcp", "move", "eval", "result"):
        assert np.array_equal(found[name], wanted[name]), name
    if suffix in (".psv", ".pack"):
        assert np.array_equal(found["ply"], wanted["ply"])
    if suffix in (".hcpe3", ".pack"):
        first = len(GAMES[0][1])
        begin = [[0, 0], [found["move"][0], 0], found["move"][[1, 0]].tolist(), [0, 0]]
        assert found["before"][[0, 1, 2, first]].tolist() == begin
        assert (found["ending"] == 4).all()


@pytest.mark.parametrize("source", WRITERS)
@pytest.mark.parametrize("target", [*WRITERS, ".positions"])
def test_each_format_becomes_each_other(source: str, target: str, files: Path) -> None:
    out = files / f"out{target}"
    assert convert.main([str(files / f"games{source}"), str(out)]) == 0
    if (source, target) in ((".psv", ".psv"), (".hcpe", ".hcpe"), (".psv", ".hcpe"), (".pack", ".psv")):
        assert out.read_bytes() == (files / f"games{target}").read_bytes()
    found, wanted = positions_in(out), positions_in(files / f"games{source}")
    if target != ".positions":
        wanted = wanted[wanted["result"] != NO_RESULT]
    for name in ("hcp", "move", "eval", "result"):
        assert np.array_equal(found[name], wanted[name]), name


def test_visits_survive_and_are_learned(files: Path) -> None:
    assert convert.main([str(files / "games.hcpe3"), str(files / "again.hcpe3")]) == 0
    (before,), (after,) = (list(read_parts(files / name, print)) for name in ("games.hcpe3", "again.hcpe3"))
    before = chosen(before, before.counts > 0)
    for name in ("counts", "moves", "visits"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
    searched = read_sets(files / "games.hcpe3")
    assert len(searched) == len(before.positions)
    assert np.array_equal(searched.moves, before.moves)
    assert searched.weights[0] == pytest.approx(70 / before.visits[: before.counts[0]].sum())
    assert searched.values[0] == pytest.approx(1 / (1 + np.exp(-before.positions["eval"][0] / 756.0865)), abs=1e-4)


def test_games_of_records_are_one_game_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    positions = pack(*random_games(3, plies=30, seed=2))
    positions.tofile(tmp_path / "games.positions")
    assert convert.main([str(tmp_path / "games.positions"), str(tmp_path / "games.pack")]) == 0
    assert np.array_equal(positions_in(tmp_path / "games.pack"), positions)
    assert (tmp_path / "games.pack").stat().st_size == 3 * (1 + 30 * 4 + 3)
    assert convert.main(["--check", str(tmp_path / "games.pack")]) == 0
    assert capsys.readouterr().out.endswith(" positions\n")


@pytest.mark.parametrize("suffix", WRITERS)
def test_what_came_before_a_file_broke_off_is_kept(suffix: str, files: Path, capsys) -> None:
    path = files / f"games{suffix}"
    path.write_bytes(path.read_bytes()[:-5])
    assert convert.main([str(path), str(files / "out.psv")]) == 1
    assert "it breaks off at byte" in capsys.readouterr().err.strip("\n")
    kept = positions_in(files / "out.psv")
    wanted = expected(suffix)
    wanted = wanted[wanted["result"] != NO_RESULT][: len(kept)]
    assert np.array_equal(kept["hcp"], wanted["hcp"])
    assert 0 < len(wanted) < len(expected(suffix))


@pytest.mark.parametrize("suffix", WRITERS)
def test_noise_is_left_out_in_a_line_each_file(suffix: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray((files / f"games{suffix}").read_bytes())
    generator = random.Random(1)
    for _ in range(20):
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
    (files / f"noisy{suffix}").write_bytes(data)
    (files / f"noise{suffix}").write_bytes(generator.randbytes(5000))
    assert convert.main([str(files / f"noisy{suffix}"), str(files / f"noise{suffix}"), str(files / "out.hcpe")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 2
    for position in positions_in(files / "out.hcpe"):
        board, origin = recorded(position), position["move"] >> 7 & 127
        assert origin > 80 or board.piece(origin) >> 4 == board.turn


def test_noise_beside_positions_of_our_own_is_left_out(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, noise, out = files / "games.positions", files / "noise.positions", files / "out.psv"
    assert convert.main([str(files / "games.psv"), str(own)]) == 0
    noise.write_bytes(random.Random(1).randbytes(100 * POSITION.itemsize))
    assert convert.main([str(own), str(noise), str(out)]) == 1
    assert "100 of 100 records are broken and left out" in capsys.readouterr().err
    assert np.array_equal(positions_in(out), positions_in(files / "games.psv"))


def test_training_takes_legal_moves_alone_and_converts_once(files: Path, tmp_path: Path) -> None:
    rows = np.fromfile(files / "games.psv", cshogi.PackedSfenValue)
    into_check = "4k4/9/9/9/4r4/9/9/4G4/4K4 b - 1"
    cshogi.Board(into_check).to_psfen(rows["sfen"][7])
    rows["move"][7] = 43 << 7 | 34  # 5h4h
    rows["move"][9] = 2 << 7 | 2  # "resign"
    rows.tofile(files / "games.psv")
    said: list[str] = []
    positions = load(files / "games.psv", "train", tmp_path / "cache", said.append)
    assert len(positions) == len(rows) - 1
    assert said == [f"{files / 'games.psv'}: 1 of {len(rows)} records are broken and left out"]
    positions.tofile(tmp_path / "taught.positions")
    for source in (files / "games.psv", tmp_path / "taught.positions"):
        assert len(load(source, "val", tmp_path / "cache", said.append)) == len(rows) - 2
    assert len(said) == 1
    record = {"moves": "7g7f 3c3d", "win": "b", "end": "resign", "random": [0]}
    (tmp_path / "games.jsonl").write_text(json.dumps(record))
    assert len(load(tmp_path / "games.jsonl", "val", tmp_path / "cache")) == 1
    assert positions["move"][8] == 0
