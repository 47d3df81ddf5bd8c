"""The solution of Dobutsu shogi: few pieces against a slow solver, the whole game against what is known."""

import lzma
import random
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from slow_dobutsu import SlowDobutsu
from usi_driver import InProcess

from pydlshogi.analysis_server.pool import Answer, Pool, Question
from pydlshogi.catalogue import engine_named
from pydlshogi.game import Outcome
from pydlshogi.games.dobutsu.numbering import Numbering, numbered, numbering
from pydlshogi.games.dobutsu.position import START_SFEN, DobutsuPosition
from pydlshogi.games.dobutsu.retrograde import solved
from pydlshogi.games.dobutsu.solve import Solution, main, write_solution
from pydlshogi.player.options import apply_settings
from pydlshogi.support import OneLineError
from pydlshogi.web.table import setup

CHICK = "2k/3/1P1/1K1 b - 1"
"""The lions and a chick."""
CHICK_AND_ELEPHANT = "2k/1b1/1P1/1K1 b - 1"


def pieces_of(sfen: str) -> int:
    return int(DobutsuPosition(sfen).state["pieces"])


def solution_of(sfen: str, numbers: Numbering, path: Path) -> Solution:
    """Of all positions that can be reached from `sfen`, written and read."""
    write_solution(solved([pieces_of(sfen)], numbers, threads=2), numbers, path, threads=2)
    return Solution(path)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the solution for the lions, a chick and an elephant."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "pydlshogi").mkdir()
    solution_of(CHICK_AND_ELEPHANT, numbering(1, 1, 0), folder / "pydlshogi" / "dobutsu.solution")
    return folder


def test_a_number_is_that_of_a_position_and_its_mirror_image() -> None:
    numbers, rng, seen = numbering(), random.Random(1), dict[int, set[str]]()
    assert numbers.size == 855_232_344
    for _ in range(60):
        position = DobutsuPosition()
        while len(moves := position.legal_moves()) and position.ply() < 60:
            number = numbered(int(position.state["pieces"]), numbers)
            assert 0 <= number < numbers.size
            board, _, hands, _ = position.sfen().split()
            letters = board.replace("+p", "h").replace("+P", "H")
            as_seen = letters if position.turn == 0 else letters[::-1].swapcase()
            hands = hands if position.turn == 0 else hands.swapcase()
            sides = "".join(sorted(hands))
            mirror = "/".join(row[::-1] for row in as_seen.split("/"))
            seen.setdefault(number, set()).add(f"{min(as_seen, mirror)} {sides}")
            position.push(rng.choice(moves.tolist()))
    assert len(seen) > 500
    assert all(len(positions) == 1 for positions in seen.values())


def slow_solution(start: SlowDobutsu) -> dict[Any, tuple[float, int]]:
    """Value and plies of all positions, by their snapshots: found by looking at all of them again and again."""
    known, followers, waiting = dict[Any, tuple[float, int]](), dict[Any, list[Any]](), [start]
    while waiting:
        position = waiting.pop()
        if (here := position.snapshot()) in followers:
            continue
        if position.outcome():
            known[here], followers[here] = (1.0, 1), []
            continue
        after = [position.copy() for _ in position.actions()]
        for each, move in zip(after, position.actions(), strict=True):
            each.push(move)
            each.earlier.clear()
        followers[here] = [each.snapshot() for each in after]
        waiting += after
    for plies in count(2):
        found = dict[Any, tuple[float, int]]()
        for here in followers.keys() - known.keys():
            ends = [known.get(follower, (0.5, 0)) for follower in followers[here]]
            if plies % 2 and any(end == (0.0, plies - 1) for end in ends):
                found[here] = 1.0, plies
            elif plies % 2 == 0 and all(value == 1 for value, _ in ends):
                found[here] = 0.0, plies
        if not found:
            break
        known |= found
    return {here: known.get(here, (0.5, 0)) for here in followers}


def test_a_chick_decides_as_a_slow_solver_says(tmp_path: Path) -> None:
    start = SlowDobutsu()
    start.board = {(2, 0): ("K", 1), (1, 2): ("P", 0), (1, 3): ("K", 0)}
    known = slow_solution(start)
    solution = solution_of(CHICK, numbering(1, 0, 0), tmp_path / "solution")
    seen = set[int]()
    for (side, board, *hands), (value, plies) in known.items():
        rows = [["1"] * 3 for _ in range(4)]
        for (file, rank), (piece, colour) in board:
            rows[rank][file] = piece.lower() if colour else piece
        held = "".join([*hands[0], *(piece.lower() for piece in hands[1])]) or "-"
        pieces = pieces_of(f"{'/'.join(map(''.join, rows))} {'bw'[side]} {held} 1")
        assert solution.outcome(pieces) == Outcome(value, plies)
        seen.add(numbered(pieces, numbering(1, 0, 0)))
    assert len(seen) == 1_198
    assert set(known.values()) >= {(0.5, 0), (1.0, 19), (0.0, 18)}


def test_a_third_occurrence_is_a_draw(small: Path) -> None:
    there_and_back = ["2d1d", "2a1a", "1d2d", "1a2a"]
    position = DobutsuPosition("1k1/3/3/1K1 b Pb 1", there_and_back + there_and_back[:3])
    moves = Solution(small / "pydlshogi" / "dobutsu.solution").moves(position)
    assert moves[position.move_from_usi("1a2a")] == Outcome(0.5, by_path=True)


def test_what_is_no_solution_is_refused(tmp_path: Path, small: Path) -> None:
    whole = (small / "pydlshogi" / "dobutsu.solution").read_bytes()
    path = tmp_path / "solution"
    for content, reason in ((b"", "no solution"), (whole[:-1], "cut short"), (whole[:30], "cut short")):
        path.write_bytes(content)
        with pytest.raises(OneLineError, match=reason):
            Solution(path)
    assert Solution(small / "pydlshogi" / "dobutsu.solution").outcome(pieces_of(START_SFEN)) is None


@pytest.fixture
def solved_here(small: Path, monkeypatch: pytest.MonkeyPatch) -> Solution:
    """The small solution is where the engine looks for one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(small))
    monkeypatch.setenv("LOCALAPPDATA", str(small))
    return Solution(small / "pydlshogi" / "dobutsu.solution")


def perfect() -> InProcess:
    engine = engine_named("dobutsu")
    apply_settings(engine.options, {"Backend": "uniform", "Perfect_Play": "true"})
    engine.load().prepare()  # compiled, which takes longer than a GUI waits
    gui = InProcess(engine)
    gui.ask("usi", "usiok")
    gui.ask("isready", "readyok")
    return gui


def test_perfect_play_wins_or_loses_in_as_many_plies_as_it_says(solved_here: Solution) -> None:
    gui, rng = perfect(), random.Random(3)
    lengths = set[int]()
    while len(lengths) < 6:
        position = DobutsuPosition(CHICK_AND_ELEPHANT)
        for _ in range(rng.randrange(12)):
            if not position.outcome():
                position.push(rng.choice(position.legal_moves().tolist()))
        sfen, moves = position.sfen(), list[str]()
        position = DobutsuPosition(sfen)
        ends = solved_here.outcome(int(position.state["pieces"]))
        if ends is None or ends.value == 0.5 or ends.plies in lengths:
            continue
        lengths.add(ends.plies)
        while len(position.legal_moves()):
            gui.send(f"position sfen {sfen} moves {' '.join(moves)}")
            *_, info, best = gui.go("go btime 1000 wtime 1000")
            left = ends.plies - len(moves)
            winning = (ends.value == 1) == (len(moves) % 2 == 0)
            assert f" score mate {left if winning else -left} " in info
            moves.append(best.split()[1])
            position.push_usi(moves[-1])
        assert len(moves) == ends.plies
    gui.close()


def test_where_the_game_does_not_get_it_searches(solved_here: Solution) -> None:
    gui = perfect()
    gui.send("position startpos")
    *_, info, best = gui.go("go nodes 50")
    gui.close()
    assert " nodes 50 " in info
    assert best.split()[1] in {"2c2b", "1d1c", "3d2c", "2d1c", "2d3c"}


def test_without_a_solution_nothing_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert "perfect" not in setup()["games"]["dobutsu"]["opponents"]
    gui = InProcess(engine_named("dobutsu"))
    gui.ask("usi", "usiok")
    gui.send("setoption name Perfect_Play value true")
    refused = gui.ask("isready", "info string")[-1]
    gui.close()
    assert refused.startswith("info string Error! Perfect_Play: the game has not been solved here; `python -m ")


def asked(question: Question) -> Answer:
    pool, answers = Pool(1, {"Backend": "uniform"}), list[Answer]()
    pool.ask(question, answers.append)
    pool.close()
    return answers[-1]


def test_the_board_offers_a_perfect_opponent_and_the_distance_of_every_move(solved_here: Solution) -> None:
    assert setup()["games"]["dobutsu"]["opponents"][-1] == "perfect"
    position = DobutsuPosition(CHICK_AND_ELEPHANT)
    moves = solved_here.moves(position)
    answer = asked(Question("dobutsu", CHICK_AND_ELEPHANT, visits=10, lines=20))
    found = {info.pv[0]: (info.win_rate, info.score_mate) for info in answer.lines}
    assert found == {
        position.usi(move): (ends.value, {1.0: ends.plies, 0.0: -ends.plies}.get(ends.value))
        for move, ends in moves.items()
    }
    answer = asked(Question("dobutsu", CHICK_AND_ELEPHANT, opponent="perfect"))
    assert moves[position.move_from_usi(answer.move)].value == max(ends.value for ends in moves.values())


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_the_whole_game(tmp_path: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Known: 246,803,167 positions, a loss in 78 plies, and what somebody else's solution says of 4,096 positions."""
    path = tmp_path / "solution"
    assert main(["--out", str(path)]) == 0
    said = capsys.readouterr().out
    assert "246,803,167 positions can be reached" in said
    assert "the start is lost in 78 plies" in said
    solution = Solution(path)
    lines = lzma.decompress((shared_data / "dobutsu" / "critical.tsv.xz").read_bytes()).decode().splitlines()[1:]
    assert len(lines) == 4_096
    for line in lines:
        setup, known = line.split("\t")
        rows, hands = setup.split()
        position = DobutsuPosition(f"{rows.replace('.', '1')} b {hands} 1")
        found = {
            move: {1.0: 10_000, 0.5: 0, 0.0: -10_000}[ends.value] + round(1 - 2 * ends.value) * (ends.plies // 2)
            for move, ends in solution.moves(position).items()
        }
        assert found == {int(move): int(value) for move, value in (each.split(":") for each in known.split())}
