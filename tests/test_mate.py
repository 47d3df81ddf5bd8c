"""Mates. The problems were made from random positions; what is a mate, python-shogi says."""

import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count

import cshogi
import psutil
import pytest
import shogi
from processes import await_end
from usi_driver import ROOT

from pydlshogi.engines.shogi import checkmate, mcts
from pydlshogi.engines.shogi.checkmate import CheckmateSolver
from pydlshogi.games.shogi.mate import MAX_PLIES, Finding, find_mate, shorter_mates
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.player.allot import ClockSettings, allot
from pydlshogi.player.base_player import Checkmate, Info
from pydlshogi.player.clock import Clock, Limits

MATES = [
    ("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", 1),
    ("2p1kl1r1/9/P4R3/3p4l/3P2S2/L8/7P1/9/4K2s1 b 2BGNL2Pn7p 1", 3),
    ("l8/3p1k1gn/7R1/P8/9/3B3p1/5s1N1/9/4K4 b G3SNPrgn2l7p 1", 5),
    ("2B6/2k1n4/9/2p3Pp1/PP5b1/g4P3/9/1L7/4K4 b 2GSLPrs6p 1", 7),
    # White mates: the last one turned round.
    ("4k4/7l1/9/3p4G/1B5pp/1Pp3P2/9/4N1K2/6b2 w RS6P2gslp 1", 7),
    # Black is in check.
    ("7kS/7+p1/7KR/8g/5+sg2/9/9/9/9 b RN 1", 1),
    ("4S1lk+s/9/5NK2/9/9/9/9/9/9 b GL 1", 3),
    ("5Gbk1/5K3/8n/9/9/9/9/9/9 b BGL 1", 5),
    # Black has no king.
    ("3p1n3/6k2/p8/5L1S1/2n6/4pl3/P5P1p/2gGRs3/9 b RGSL3P2bgs2p 1", 3),
    ("1k7/9/2P4n1/1n4p2/7s1/2p3Pl1/7p1/8R/8S b RB3G2S2Pn2l4p 1", 5),
]
"""With the length of the shortest mate, as an exhaustive search found it."""

NO_MATES = [
    cshogi.STARTING_SFEN,
    # P*1b would mate, and that is against the rules.
    "7Bk/6G2/9/9/9/9/9/9/8K b Ps 1",
    # The dragon gives check for ever.
    "7k1/9/9/9/9/9/9/7+R1/K8 b 4g 1",
    # Nothing to give check with.
    "4k4/9/9/9/9/9/9/9/4K4 b - 1",
    # Black is mated.
    "9/9/9/9/9/9/4p4/4g4/4K4 b 2R 1",
]

HARD = "2p2sk2/6p1S/L1N1n4/N4p2R/S3g4/8P/6Pl1/9/4K4 b R3G3P2bsn2p 1"
"""A mate in eleven that takes df-pn more than 20,000 nodes, but not OslDfPn."""
UNSOLVED = "8p/9/kg7/8P/3R5/1p5G1/9/9/4K4 b G2SN2P2b2s2n4l3p 1"
"""The process looks at it for a minute, and gives up."""

PLAYED_BEFORE = "9/4+l4/9/1k7/9/2R6/1+N1R5/9/7K1 b GL 1"
BACK_AND_FORTH = ("7f8f", "8d7c", "8f7f", "7c8d")
"""The only mate in three begins with the first of these."""


def is_mate(sfen: str, moves: tuple[str, ...]) -> bool:
    board = shogi.Board(sfen)
    for move in moves:
        if shogi.Move.from_usi(move) not in board.legal_moves:
            return False
        board.push_usi(move)
    return bool(board.is_checkmate())


def usi(line: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(map(cshogi.move_to_usi, line))


# Finding one


@pytest.mark.parametrize(("sfen", "plies"), MATES)
def test_a_mate_is_found_with_its_whole_line(sfen: str, plies: int) -> None:
    board = cshogi.Board(sfen)
    line = find_mate(board, MAX_PLIES, 20_000).line
    for shorter in shorter_mates(board, line, 20_000):
        assert len(shorter.line) < len(line)
        line = shorter.line
    assert len(line) == plies
    assert is_mate(sfen, usi(line))
    assert board.sfen() == sfen
    assert find_mate(board, plies, 20_000).line
    assert plies == 1 or find_mate(board, plies - 2, 20_000).refuted


def test_a_mate_comes_with_those_after_all_evasions() -> None:
    board = cshogi.Board(MATES[3][0])
    finding = find_mate(board, 7, 20_000)

    def play_on(line: tuple[int, ...]) -> int:
        assert is_mate(board.sfen(), usi(line))
        board.push(line[0])
        ends = 0
        for evasion in board.legal_moves:
            board.push(evasion)
            after = finding.lines[board.zobrist_hash()]
            assert len(after) <= len(line) - 2
            ends += play_on(after)
            board.pop()
        board.pop()
        return ends or 1

    assert finding.lines[board.zobrist_hash()] == finding.line
    assert play_on(finding.line) > 3


def test_where_the_search_of_a_mate_ends() -> None:
    assert find_mate(cshogi.Board(HARD), MAX_PLIES, 1000) == Finding(nodes=1000)
    board = cshogi.Board(PLAYED_BEFORE)
    assert usi(find_mate(board, 3, 1000).line)[0] == "7f8f"
    for move in BACK_AND_FORTH:
        board.push_usi(move)
    assert find_mate(board, 3, 1000).line == ()


class Liar:
    """A df-pn search that finds a mate everywhere, beginning with `move` where it is legal."""

    searched_node = 1
    move = "G*4b"

    def __init__(self, _plies: int, _nodes: int) -> None:
        pass

    def search(self, _board: cshogi.Board) -> bool:
        return True

    def get_move(self, board: cshogi.Board) -> int:
        return int(board.move_from_usi(self.move))


@pytest.mark.parametrize(
    ("sfen", "moves", "claim"),
    [
        ("4k4/9/9/9/9/9/9/9/4K4 b GS 1", (), "G*4b"),
        ("4k4/4p4/9/9/9/9/9/9/4K4 b G 1", (), "G*4b"),
        ("8G/9/8k/9/9/7N1/9/4B4/K6R1 b - 1", (), "2f1d+"),  # mate, but nothing is promoted there
        ("8k/5G3/8P/9/9/9/9/9/4K4 b - 1", (), "4b3b"),  # no move left, but no check either
        (PLAYED_BEFORE, BACK_AND_FORTH, "7f8f"),
    ],
)
def test_a_mate_is_not_believed_before_every_evasion_was_played_out(
    sfen: str, moves: tuple[str, ...], claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Liar, "move", claim)
    board = cshogi.Board(sfen)
    for move in moves:
        board.push_usi(move)
    finding = find_mate(board, MAX_PLIES, 5000, Liar)
    assert (finding.line, finding.refuted) == ((), False)


# Answering `go mate`


class Problem:
    """`go mate` on a position, with a clock of its own."""

    def __init__(self, sfen: str, **limits: int) -> None:
        self.sfen = sfen
        self.limits = Limits(mate=True, **limits)
        self.solver = CheckmateSolver()
        self.infos: list[Info] = []

    def solve(self, tick: Callable[["Problem", int], float] = lambda _problem, _looks: 0.0) -> Checkmate:
        """`tick` tells the time, in milliseconds; it is given the number of times it was asked."""
        looks = count()
        self.clock = Clock(self.limits, now=lambda: tick(self, next(looks)))
        self.clock.begin(lambda limits: allot(limits, 0, 1, ClockSettings()))
        children = psutil.Process().children()  # other tests' pools may still have a helper
        answer = self.solver.solve(self.sfen, self.clock, self.infos.append)
        assert set(psutil.Process().children()) <= set(children)
        return answer


def process_looks() -> bool:
    """Whether the process for hard mates is under way."""
    return any("pydlshogi.engines.shogi.mate_worker" in child.cmdline() for child in psutil.Process().children())


@pytest.mark.parametrize(("sfen", "plies"), MATES)
def test_go_mate_answers_the_shortest_mate(sfen: str, plies: int) -> None:
    answer = Problem(sfen).solve()
    assert answer.result == "mate"
    assert len(answer.moves) == plies
    assert is_mate(sfen, answer.moves)


@pytest.mark.parametrize("sfen", NO_MATES)
def test_what_cannot_be_mated_is_refuted(sfen: str) -> None:
    finding = find_mate(cshogi.Board(sfen), MAX_PLIES, 20_000)
    assert (finding.refuted, finding.line) == (True, ())
    assert Problem(sfen).solve() == Checkmate("nomate")


def test_what_is_hard_is_left_to_a_process() -> None:
    """By way of repetitions, after 10,212 nodes."""
    problem = "3npp1pp/5+n1ln/5g3/9/5rp2/2N1+Rg3/8k/1pppP2Ll/2bb1+sS1L b 2G2S9p 1"
    assert find_mate(cshogi.Board(problem), MAX_PLIES, 16_000).refuted
    assert Problem(problem).solve().result == "mate"
    problem = Problem(HARD)
    answer = problem.solve()
    assert answer.result == "mate"
    assert is_mate(HARD, answer.moves)
    assert problem.infos == []


def test_what_was_played_before_is_no_part_of_the_problem() -> None:
    player = mcts().load()
    position = ShogiPosition(PLAYED_BEFORE, BACK_AND_FORTH)
    answer = player.think(position, player.start_clock(position, Clock(Limits(mate=True))), lambda _: None)
    assert isinstance(answer, Checkmate)
    assert answer.moves[0] == "7f8f"
    assert is_mate(PLAYED_BEFORE, answer.moves)


def test_time_and_nodes_are_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Problem(MATES[0][0], mate_time=0).solve() == Checkmate("timeout")  # before it begins
    assert Problem(UNSOLVED, mate_time=5000).solve(lambda _, looks: 100.0 * looks) == Checkmate("timeout")
    monkeypatch.delattr(checkmate, "start_worker")
    assert Problem(UNSOLVED, nodes=3000).solve() == Checkmate("timeout")


def test_stop_while_the_process_looks() -> None:
    def tick(problem: Problem, looks: int) -> float:
        if looks > 20 and process_looks():
            problem.clock.stop()
        return 0.0

    assert Problem(UNSOLVED).solve(tick) == Checkmate("timeout")


@pytest.mark.parametrize(
    ("script", "answer", "failed"),
    [
        ("print('mate G*5b', flush=True); print('mate G*5b 5a', end='', flush=True)", "mate", False),
        ("", "timeout", False),
        ("raise SystemExit(1)", "timeout", True),
        ("print('mate G*5b'); raise SystemExit(1)", "mate", True),
        ("print('nomate')", "nomate", False),
    ],
)
def test_what_the_process_may_say(script: str, answer: str, failed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_sfen: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    monkeypatch.setattr(checkmate, "start_worker", start)
    problem = Problem(UNSOLVED)
    assert problem.solve() == Checkmate(answer, ("G*5b",) if answer == "mate" else ())
    assert len(problem.infos) == failed


# The process


def test_the_process_ends_when_its_parent_is_killed() -> None:
    script = f"""
import sys
from pydlshogi.engines.shogi.checkmate import start_worker
print(start_worker({UNSOLVED!r}).pid, flush=True)
sys.stdin.read()
"""
    pipe = subprocess.PIPE
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert parent.stdout is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    await_end(worker)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sends a signal when a pipe ends")
def test_the_process_ends_even_while_it_holds_the_gil() -> None:
    script = f"""
import cshogi
from pydlshogi.engines.shogi.mate_worker import end_with_parent
end_with_parent()
print("looking", flush=True)
cshogi.OslDfPn(199, 2**31).search(cshogi.Board({UNSOLVED!r}))
"""
    pipe = subprocess.PIPE
    worker = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "looking\n"
    worker.communicate()  # which closes its stdin
    assert worker.returncode == -signal.SIGIO
