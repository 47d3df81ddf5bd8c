"""Mates beside the search: what is announced is proven to the last move, and what is proven is played or avoided."""

import math

import cshogi
import pytest
from test_mate import BACK_AND_FORTH, MATES, PLAYED_BEFORE, is_mate
from test_search import Opinions, SearchOfOne, letters_of, run
from thinker import ALL_MOVES, Thinker
from tic_tac_toe import Letters

from pydlshogi.games.shogi.engine.mate_searcher import ShogiMateSearcher
from pydlshogi.games.shogi.position import ShogiPosition

MATE_IN_SEVEN = MATES[3][0]


LONG_MATES = [(sfen, plies) for sfen, plies in MATES if plies > 1 and sfen.count("k") == sfen.count("K")]
WELL_HIDDEN = "2Gpn2k1/8p/p8/7s1/1S7/P8/9/4P3P/4KP3 b R2BG2S2NL2Pgn2l6p 1"
"""A mate that takes df-pn some thousand nodes."""


@pytest.mark.parametrize(("sfen", "plies"), LONG_MATES)
def test_a_mate_is_played_and_announced_with_its_whole_line(sfen: str, plies: int) -> None:
    thinker = Thinker(sfen)
    answer = thinker.go(nodes=1000)
    assert thinker.last.score_mate == plies == len(thinker.last.pv)
    assert thinker.last.score_cp is None
    assert is_mate(sfen, thinker.last.pv)
    assert (answer.move, answer.ponder) == thinker.last.pv[:2]
    assert thinker.last.nodes == 0  # no need to search


@pytest.mark.parametrize("limits", [{"byoyomi": 60_000}, {"nodes": 2000}])
@pytest.mark.parametrize("options", [{}, {"MultiPV": 3}, {"Mate_Leaf_Search": 1, "Mate_Search_Nodes": 0}])
def test_a_mate_that_others_knew_and_did_not_play(options: dict[str, object], limits: dict[str, int]) -> None:
    """FukauraOu's df-pn found it, and its answer was another move (its issue 286)."""
    sfen = "lr5nl/6k2/6bpp/p1p1S1R2/1P1np2P1/P1P1P3P/3K5/1S3G3/LN5NL b 2G6Pbg2sp 95"
    thinker = Thinker(sfen, **options)
    answer = thinker.go(**limits)
    assert answer.move == thinker.last.pv[0] == "3d3c+"
    assert thinker.last.score_mate == len(thinker.last.pv)
    assert is_mate(sfen, thinker.last.pv)


def test_a_mate_once_found_is_carried_through_whatever_the_other_side_does() -> None:
    thinker = Thinker(MATE_IN_SEVEN)
    board = cshogi.Board(MATE_IN_SEVEN)
    thinker.go(nodes=100)

    def play_on(moves: tuple[str, ...], plies: int) -> None:
        thinker.moves = moves
        move = thinker.go(nodes=100).move
        announced = thinker.last.score_mate
        assert announced is not None
        assert 0 < announced <= plies
        board.push_usi(move)
        for evasion in board.legal_moves:
            board.push(evasion)
            play_on((*moves, move, cshogi.move_to_usi(evasion)), announced - 2)
            board.pop()
        board.pop()

    play_on((), 7)


def test_a_mate_through_a_position_played_before_is_none() -> None:
    mate_searcher = ShogiMateSearcher()
    position = ShogiPosition(PLAYED_BEFORE)
    for moves, plies in ((), 3), (BACK_AND_FORTH, 0):
        position = ShogiPosition(PLAYED_BEFORE, moves)
        mate_searcher.begin(position, 3)
        mate_searcher.look_at_root(lambda: math.inf)
        assert len(mate_searcher.solution()) == plies


@pytest.mark.parametrize(
    ("options", "announced"),
    [({"Mate_Root_Search": 0}, None), ({"Mate_Root_Search": 5}, None), ({"Mate_Root_Search": 7}, 7),
     ({"Skill_Level": 3}, None), ({"Skill_Level": 7}, 7), ({"Draw_Ply": 6}, None), ({"Draw_Ply": 7}, 7)],
)  # fmt: skip
def test_which_mates_are_looked_for(options: dict[str, int], announced: int | None) -> None:
    """No longer ones than the option says, by no weak player, and none that comes after the game is drawn."""
    thinker = Thinker(MATE_IN_SEVEN, **options)
    thinker.go(nodes=1)
    assert thinker.last.score_mate == announced


def test_which_mates_are_not_taken() -> None:
    thinker = Thinker(MATE_IN_SEVEN)
    assert thinker.go(nodes=10).move != "5i4h"
    assert thinker.go(nodes=100, searchmoves=("5i4h",)).move == "5i4h"
    assert thinker.last.pv[0] == "5i4h"
    search = run(SearchOfOne(Letters({"a": "b", "b": "c", "c": "a"}, "a")), Opinions(), 10)
    for proven, plies in ((5, 5), (7, 5), (3, 3)):
        search.root.prove([], proven)
        assert search.root.plies == plies


def test_the_root_is_looked_at_again_while_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydlshogi.games.shogi.engine.mate_searcher._AT_ONCE", 500)
    thinker = Thinker(WELL_HIDDEN, Mate_Search_Nodes=0)
    thinker.go(nodes=300)
    assert thinker.last.score_mate is None
    thinker = Thinker(WELL_HIDDEN, Mate_Search_Nodes=2000)
    thinker.go(nodes=3000)
    assert thinker.last.score_mate == len(thinker.last.pv)
    assert is_mate(WELL_HIDDEN, thinker.last.pv)
    assert 0 < (thinker.last.nodes or 0) < 3000


def test_what_was_proven_outside_is_known_to_the_search() -> None:
    game = Letters({"a": "bc", "b": "d", "c": "e", "d": "f", "e": "f", "f": "a"}, "a")
    search = run(SearchOfOne(game), Opinions(), 20)
    search.root.prove([ord("b")], 5)
    assert letters_of(search)["b"].plies == -6
    assert search.root.moves()[0].move == ord("c")
    assert search.root.plies is None
    search.root.prove([ord("c")], 3)
    assert search.root.plies == -6
    assert search.root.moves()[0].move == ord("b")  # the longer defence

    search.root.prove([ord("b"), ord("d")], 5)  # d is won, so b, which leads nowhere else, is lost, so a is won
    assert letters_of(search)["b"].plies == search.root.plies == 7


BLUNDERS = [
    ("+B2p3nl/R3+P1g2/4pp1p1/p1p2kp1p/3ls+sPN1/PPP4BP/1KSg5/1GS6/+r7L b 2N2Pgl2p 125", "N*4g"),
    ("lr4knl/4+P1g2/p1g2p1P1/4ssppp/4pN3/P2+b1PP1P/LPP+p1S3/1Kg6/1N5RL b BGSNP2p 93", "8h9h"),
    ("ln5nl/2g1k1g2/3pppspp/pr7/1pR4nP/P1pP2s2/1P2PP3/2G2KG2/LN7 w 2B2SL2P2p 74", "P*3g"),
]
"""Positions of the engine's own games and what it played there, into a mate in five or more that df-pn sees at once."""


@pytest.mark.parametrize(("sfen", "blunder"), BLUNDERS)
def test_a_move_is_not_played_into_a_mate(sfen: str, blunder: str) -> None:
    thinker = Thinker(sfen, Resign_Threshold=0)
    thinker.go(nodes=800, searchmoves=(blunder,))
    assert (thinker.last.score_mate or 0) <= -6
    position = ShogiPosition(sfen)
    position.push_usi(thinker.go(nodes=800).move)
    mate_searcher = ShogiMateSearcher()
    mate_searcher.begin(position, 33)
    mate_searcher.look_at_root(lambda: math.inf)
    assert not mate_searcher.solution()


def test_mates_along_the_line_are_found_and_the_line_is_shown_to_its_end() -> None:
    """White is mated in six whatever it does, and each of its moves must be looked into."""
    first = Thinker(MATE_IN_SEVEN).go(nodes=1).move
    board = cshogi.Board(MATE_IN_SEVEN)
    board.push_usi(first)
    thinker = Thinker(board.sfen(), Mate_Search_Nodes=1000)
    answer = thinker.go(infinite=True)
    assert thinker.last.score_mate == -6
    assert len(thinker.last.pv) == 6
    assert is_mate(board.sfen(), thinker.last.pv)
    assert answer.move == thinker.last.pv[0]
    assert thinker.go(nodes=10).move == "resign"


def test_the_only_move_that_is_not_proven_lost_is_played_at_once() -> None:
    board = cshogi.Board(MATE_IN_SEVEN)
    board.push_usi(Thinker(MATE_IN_SEVEN).go(nodes=1).move)
    thinker = Thinker(board.sfen(), Mate_Search_Nodes=0)
    assert thinker.go(btime=3_600_000, wtime=3_600_000).move in thinker.legal_moves()
    assert (thinker.last.nodes or 0) < 5000


def test_a_threat_of_mate_is_seen_and_met() -> None:
    """White threatens mate in seven. Five of Black's 23 moves are not mated within thirty-three plies."""
    sfen = "4k4/7l1/9/3p4G/1B5pp/1Pp3P2/9/4N1K2/6b2 b 2gslp 1"
    thinker = Thinker(sfen, Mate_Search_Nodes=2000, MultiPV=ALL_MOVES)
    answer = thinker.go(nodes=2000)
    assert answer.move in {"3h3g", "3h3i", "8e7d", "8e4a+", "8e5b+"}
    lost = [info for info in thinker.lines if info.score_mate]
    assert max(-(info.score_mate or 0) for info in lost) >= 8
    for info in lost:
        assert len(info.pv) <= -(info.score_mate or 0)
        assert is_mate(sfen, info.pv)
