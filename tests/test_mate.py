"""Mates. The problems were made from random positions; what is a mate, python-shogi says."""

from collections.abc import Callable
from itertools import count

import cshogi
import pytest
import shogi

from pydlshogi.games.shogi.dfpn import MateSearch
from pydlshogi.games.shogi.engine import mate_searcher
from pydlshogi.games.shogi.engine.mate_searcher import CheckmateSolver
from pydlshogi.games.shogi.game import GAME
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.player.allot import ClockSettings, allot
from pydlshogi.player.base_player import Checkmate
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
    "7k1/9/9/9/9/9/9/6+R2/K8 b 4g 1",
    # Nothing to give check with.
    "4k4/9/9/9/9/9/9/9/4K4 b - 1",
    # Black is mated.
    "9/9/9/9/9/9/4p4/4g4/4K4 b 2R 1",
]

HARD = "2p2sk2/6p1S/L1N1n4/N4p2R/S3g4/8P/6Pl1/9/4K4 b R3G3P2bsn2p 1"
"""A mate in eleven that takes cshogi's df-pn more than 20,000 nodes."""
BY_WAY_OF_REPETITIONS = "3npp1pp/5+n1ln/5g3/9/5rp2/2N1+Rg3/8k/1pppP2Ll/2bb1+sS1L b 2G2S9p 1"
"""A mate that cshogi's df-pn refutes after 10,212 nodes."""
UNSOLVED = "8p/9/kg7/8P/3R5/1p5G1/9/9/4K4 b G2SN2P2b2s2n4l3p 1"

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


class Problem:
    """`go mate` on a position, with a clock of its own."""

    def __init__(self, sfen: str, **limits: int) -> None:
        self.sfen = sfen
        self.limits = Limits(mate=True, **limits)

    def solve(self, tick: Callable[["Problem", int], float] = lambda _problem, _looks: 0.0) -> Checkmate:
        """`tick` tells the time, in milliseconds; it is given the number of times it was asked."""
        looks = count()
        self.clock = Clock(self.limits, now=lambda: tick(self, next(looks)))
        self.clock.set_budget(lambda limits: allot(limits, 0, 1, ClockSettings()))
        return CheckmateSolver().solve(self.sfen, self.clock)


@pytest.mark.parametrize(("sfen", "plies"), MATES)
def test_go_mate_answers_the_shortest_mate(sfen: str, plies: int) -> None:
    answer = Problem(sfen).solve()
    assert answer.result == "mate"
    assert len(answer.moves) == plies
    assert is_mate(sfen, answer.moves)


@pytest.mark.parametrize("sfen", NO_MATES)
def test_go_mate_says_where_there_is_none(sfen: str) -> None:
    assert Problem(sfen).solve() == Checkmate("nomate")


@pytest.mark.parametrize("sfen", [HARD, BY_WAY_OF_REPETITIONS])
def test_what_is_hard(sfen: str) -> None:
    answer = Problem(sfen).solve()
    assert answer.result == "mate"
    assert is_mate(sfen, answer.moves)


def test_what_was_played_before_is_no_part_of_the_problem() -> None:
    player = GAME.mcts().load()
    position = ShogiPosition(PLAYED_BEFORE, BACK_AND_FORTH)
    answer = player.think(position, player.start_clock(position, Clock(Limits(mate=True))), lambda _: None)
    assert isinstance(answer, Checkmate)
    assert answer.moves[0] == "7f8f"
    assert is_mate(PLAYED_BEFORE, answer.moves)


def test_time_and_nodes_are_limits() -> None:
    assert Problem(MATES[0][0], mate_time=0).solve() == Checkmate("timeout")  # before it begins
    assert Problem(UNSOLVED, mate_time=5000).solve(lambda _, looks: 100.0 * looks) == Checkmate("timeout")
    assert Problem(UNSOLVED, nodes=3000).solve() == Checkmate("timeout")

    def stop(problem: Problem, looks: int) -> float:
        if looks > 100:
            problem.clock.stop()
        return 0.0

    assert Problem(UNSOLVED).solve(stop) == Checkmate("timeout")


def test_a_mate_that_is_too_long_for_the_path_is_not_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mate_searcher, "MateSearch", lambda megabytes: MateSearch(megabytes, plies=4))
    assert Problem(MATES[3][0]).solve() == Checkmate("timeout")
