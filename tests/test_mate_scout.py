"""Mates beside the search: what is announced is proven to the last move, and what is proven is played or avoided."""

import math

import cshogi
import pytest
from test_mate import MATES, is_mate
from test_search import Opinions, a_search, letters_of, run
from tic_tac_toe import Letters

from pydlshogi.games.shogi import ShogiPosition
from pydlshogi.player.base_player import BestMove, Info, Limits
from pydlshogi.player.mate_scout import MateScout
from pydlshogi.player.mcts_player import MCTSOptions, MCTSPlayer
from pydlshogi.uct.search import MoveStats, Search

MATE_IN_SEVEN = MATES[3][0]
LONG_MATES = [(sfen, plies) for sfen, plies in MATES if plies > 1 and sfen.count("k") == sfen.count("K")]
WELL_HIDDEN = "2Gpn2k1/8p/p8/7s1/1S7/P8/9/4P3P/4KP3 b R2BG2S2NL2Pgn2l6p 1"
"""A mate that takes df-pn more nodes than the first looks at the root have."""


class Engine:
    """A player without a network, asked about positions."""

    def __init__(self, sfen: str, moves: tuple[str, ...] = (), **options: object) -> None:
        settings = MCTSOptions()
        for name, value in {"Backend": "uniform", "USI_Hash": 16, "Random_Ply": 0, **options}.items():
            assert settings.set(name, str(value)) == ""
        self.player = MCTSPlayer(settings)
        self.player.prepare()
        self.player.new_game()
        self.player.position(sfen, moves)

    def go(self, **limits: object) -> BestMove:
        self.infos: list[Info] = []
        wanted = Limits(**limits)  # type: ignore[arg-type]
        answer = self.player.think(wanted, self.player.start_clock(wanted), self.infos.append)
        assert isinstance(answer, BestMove)
        return answer

    @property
    def last(self) -> Info:
        return self.infos[-1]


# At the root


@pytest.mark.parametrize(("sfen", "plies"), LONG_MATES)
def test_a_mate_is_played_and_announced_with_its_whole_line(sfen: str, plies: int) -> None:
    engine = Engine(sfen)
    answer = engine.go(nodes=1000)
    assert engine.last.score_mate == plies == len(engine.last.pv)
    assert engine.last.score_cp is None
    assert is_mate(sfen, engine.last.pv)
    assert (answer.move, answer.ponder) == engine.last.pv[:2]
    assert engine.last.nodes == 0  # no need to search


def test_in_analysis_too() -> None:
    engine = Engine(MATE_IN_SEVEN, MultiPV=3)
    assert engine.go(infinite=True).move == engine.last.pv[0]
    assert (engine.last.score_mate, engine.last.multipv) == (7, 1)


def test_a_mate_once_found_is_carried_through_whatever_the_other_side_does() -> None:
    engine = Engine(MATE_IN_SEVEN)
    board = cshogi.Board(MATE_IN_SEVEN)
    engine.go(nodes=100)

    def play_on(moves: tuple[str, ...], plies: int) -> None:
        engine.player.position(MATE_IN_SEVEN, moves)
        move = engine.go(nodes=100).move
        announced = engine.last.score_mate
        assert announced is not None
        assert 0 < announced <= plies
        board.push_usi(move)
        for evasion in board.legal_moves:
            board.push(evasion)
            play_on((*moves, move, cshogi.move_to_usi(evasion)), announced - 2)
            board.pop()
        board.pop()

    play_on((), 7)


def test_with_a_mate_come_those_after_its_evasions() -> None:
    position = ShogiPosition(MATE_IN_SEVEN)
    scout = MateScout()
    scout.begin(position, 33)
    scout.look_at_root(lambda: math.inf)
    position.push(scout.mate_at(position)[0])
    evasions = position.legal_moves().tolist()
    assert len(evasions) == 3
    for evasion in evasions:
        position.push(evasion)
        assert 0 < len(scout.mate_at(position)) <= 5
        position.pop()


def test_longer_mates_than_the_option_says_are_not_looked_for() -> None:
    for plies, announced in ((0, None), (5, None), (7, 7)):
        engine = Engine(MATE_IN_SEVEN, Mate_Root_Search=plies)
        engine.go(nodes=10)
        assert engine.last.score_mate == announced


def test_weak_players_overlook_long_mates() -> None:
    for level, announced in ((3, None), (7, 7)):
        engine = Engine(MATE_IN_SEVEN, Skill_Level=level)
        engine.go(nodes=1)
        assert engine.last.score_mate == announced


def test_a_mate_must_come_before_the_game_is_drawn() -> None:
    for draw_ply, announced in ((6, None), (7, 7)):
        engine = Engine(MATE_IN_SEVEN, Draw_Ply=draw_ply)
        engine.go(nodes=10)
        assert engine.last.score_mate == announced


def test_a_mate_that_does_not_begin_with_the_moves_asked_for_is_not_played() -> None:
    engine = Engine(MATE_IN_SEVEN)
    assert engine.go(nodes=10).move != "5i4h"
    assert engine.go(nodes=100, searchmoves=("5i4h",)).move == "5i4h"
    assert engine.last.pv[0] == "5i4h"


def test_without_time_nothing_is_looked_at() -> None:
    scout = MateScout()
    position = ShogiPosition(MATE_IN_SEVEN)
    scout.begin(position, 33)
    scout.look_at_root(lambda: 1.0)
    assert scout.mate_at(position) == ()
    scout.look_at_root(lambda: 100.0)
    assert len(scout.mate_at(position)) == 7
    scout.forget()
    assert scout.mate_at(position) == ()


def test_the_root_is_looked_at_again_while_the_search_goes_on() -> None:
    engine = Engine(WELL_HIDDEN, Mate_Search_Nodes=0)
    engine.go(nodes=300)
    assert engine.last.score_mate is None
    engine = Engine(WELL_HIDDEN, Mate_Search_Nodes=2000)
    engine.go(nodes=3000)
    assert engine.last.score_mate == len(engine.last.pv)
    assert is_mate(WELL_HIDDEN, engine.last.pv)
    assert 0 < (engine.last.nodes or 0) < 3000


# Along the line


def test_what_was_proven_outside_is_known_to_the_search() -> None:
    game = Letters({"a": "bc", "b": "d", "c": "e", "d": "f", "e": "f", "f": "a"}, "a")
    search = run(a_search(game), Opinions(), 20)
    search.prove([ord("b")], 5)
    assert letters_of(search)["b"].plies == -6
    assert search.root_moves()[0].move == ord("c")
    assert search.root_plies is None
    search.prove([ord("c")], 3)
    assert search.root_plies == -6
    assert search.root_moves()[0].move == ord("b")  # the longer defence


def test_a_proof_deep_in_the_line_proves_the_moves_before() -> None:
    search = run(a_search(Letters({"a": "bc", "b": "d", "c": "e", "d": "f", "e": "f", "f": "a"}, "a")), Opinions(), 20)
    search.prove([ord("b"), ord("d")], 5)  # d is won, so b, which leads nowhere else, is lost, so a is won
    assert letters_of(search)["b"].plies == 7
    assert search.root_plies == 7


def test_a_proof_does_not_replace_a_shorter_one() -> None:
    game = Letters({"a": "b", "b": "c", "c": "a"}, "a")
    search = run(a_search(game), Opinions(), 10)
    search.prove([], 5)
    search.prove([], 7)
    assert search.root_plies == 5
    search.prove([], 3)
    assert search.root_plies == 3


def test_a_proof_of_a_position_without_a_node_is_dropped() -> None:
    search = run(a_search(Letters({"a": "bc", "b": "d", "c": "d", "d": "a"}, "a")), Opinions(), 1)
    visited, other = search.root_moves()
    assert (visited.visits, other.visits) == (1, 0)
    search.prove([other.move], 3)
    assert all(move.plies is None for move in search.root_moves())


BLUNDERS = [
    ("+B2p3nl/R3+P1g2/4pp1p1/p1p2kp1p/3ls+sPN1/PPP4BP/1KSg5/1GS6/+r7L b 2N2Pgl2p 125", "N*4g"),
    ("lr4knl/4+P1g2/p1g2p1P1/4ssppp/4pN3/P2+b1PP1P/LPP+p1S3/1Kg6/1N5RL b BGSNP2p 93", "8h9h"),
    ("ln5nl/2g1k1g2/3pppspp/pr7/1pR4nP/P1pP2s2/1P2PP3/2G2KG2/LN7 w 2B2SL2P2p 74", "P*3g"),
]
"""Positions of the engine's own games and what it played there, into a mate in five or more that df-pn sees at once."""


@pytest.mark.parametrize(("sfen", "blunder"), BLUNDERS)
def test_the_move_preferred_is_looked_into(sfen: str, blunder: str) -> None:
    proven: list[tuple[list[int], int]] = []

    class Listens:
        def prove(self, moves: list[int], plies: int) -> None:
            proven.append((moves, plies))

    position = ShogiPosition(sfen)
    move = position.move_from_usi(blunder)
    scout = MateScout()
    for plies, milliseconds, proofs in ((0, math.inf, 0), (33, 5.0, 0), (33, math.inf, 1), (33, 5.0, 2)):
        scout.begin(position, plies)
        scout.look_after(Listens(), move, lambda left=milliseconds: left)  # type: ignore[arg-type, misc]
        assert len(proven) == proofs
        assert position.board.sfen() == sfen
    assert proven[0][0] == [move]
    assert proven[0][1] >= 5
    engine = Engine(sfen, Resign_Threshold=0)
    position.push_usi(engine.go(nodes=400).move)
    scout.begin(position, 33)
    scout.look_at_root(lambda: math.inf)
    assert not scout.mate_at(position)


def test_a_search_is_told_of_the_mates_that_an_earlier_one_found_along_its_line() -> None:
    position = ShogiPosition(MATE_IN_SEVEN)
    scout = MateScout()
    scout.begin(position, 33)
    scout.look_at_root(lambda: math.inf)
    line = list(scout.mate_at(position)[:3])
    proven: list[tuple[list[int], int]] = []

    class Expects:
        expanded = True

        def root_moves(self) -> list[MoveStats]:
            return [MoveStats(line[0], 1, 0.5, 1.0, None)]

        def line(self, _move: int) -> list[int]:
            return line

        def prove(self, moves: list[int], plies: int) -> None:
            proven.append((moves, plies))

    scout.look_along(Expects(), 1e9, lambda: math.inf)  # type: ignore[arg-type]
    assert proven == [(line[:2], 5)]
    assert position.board.sfen() == MATE_IN_SEVEN


def test_the_leader_is_the_most_visited_move_that_is_not_lost() -> None:
    game = Letters({"a": "bcd", "b": "e", "c": "e", "d": "e", "e": "a"}, "a")
    search = run(a_search(game), Opinions(), 30)
    for move in search.root_moves():
        assert search.leader() == move.move
        search.prove([move.move], 5)
    assert search.leader() is None


def test_a_lost_move_does_not_lead() -> None:
    game = Letters({"a": "bcd", "b": "e", "c": "e", "d": "e", "e": "a"}, "a")
    search = run(a_search(game), Opinions(), 30)
    first, second, third = search.root_moves()
    search.prove([first.move], 5)
    assert search.lead() == second.visits - third.visits


def test_mates_along_the_line_are_found_and_the_line_is_shown_to_its_end() -> None:
    """White is mated in six whatever it does, and each of its moves must be looked into."""
    first = Engine(MATE_IN_SEVEN).go(nodes=1).move
    board = cshogi.Board(MATE_IN_SEVEN)
    board.push_usi(first)
    engine = Engine(board.sfen(), Mate_Search_Nodes=1000)
    answer = engine.go(infinite=True)
    assert engine.last.score_mate == -6
    assert len(engine.last.pv) == 6
    assert is_mate(board.sfen(), engine.last.pv)
    assert answer.move == engine.last.pv[0]
    assert engine.go(nodes=10).move == "resign"


def test_the_only_move_that_is_not_proven_lost_is_played_at_once() -> None:
    board = cshogi.Board(MATE_IN_SEVEN)
    board.push_usi(Engine(MATE_IN_SEVEN).go(nodes=1).move)
    engine = Engine(board.sfen(), Mate_Search_Nodes=0)
    assert engine.go(btime=3_600_000, wtime=3_600_000).move in engine.player.legal_moves()
    assert (engine.last.nodes or 0) < 5000


def test_a_threat_of_mate_is_seen_and_met() -> None:
    """White threatens mate in seven. Five of Black's 23 moves are not mated within thirty-three plies."""
    sfen = "4k4/7l1/9/3p4G/1B5pp/1Pp3P2/9/4N1K2/6b2 b 2gslp 1"
    engine = Engine(sfen, Mate_Search_Nodes=2000)
    answer = engine.go(nodes=2000)
    assert answer.move in {"3h3g", "3h3i", "8e7d", "8e4a+", "8e5b+"}
    search = engine.player._search
    assert search is not None
    lost = [move for move in search.root_moves() if move.plies is not None]
    assert max(-(move.plies or 0) for move in lost) >= 8
    for move in lost:
        line = engine.player._line(search, move)
        assert line[0] == cshogi.move_to_usi(move.move)
        assert len(line) <= -(move.plies or 0)
        assert is_mate(sfen, line)


def test_a_batch_of_a_few_playouts_gets_its_share_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[float] = []
    monkeypatch.setattr(MateScout, "look_along", lambda _scout, _search, nodes, _time_left: spent.append(nodes))
    for batch, most in ((1, 20), (4, 80), (64, 320)):
        spent.clear()
        Engine(cshogi.STARTING_SFEN, DNN_Batch_Size=batch, Mate_Search_Nodes=320).go(nodes=1000)
        assert max(spent) == most


def test_where_there_is_nothing_to_look_at_the_line_is_seldom_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[int] = []
    original = MateScout._next_looks_along

    def next_looks_along(scout: MateScout, search: Search, line: list[int]) -> list[int]:
        followed.append(len(line))
        return original(scout, search, line)

    monkeypatch.setattr(MateScout, "_next_looks_along", next_looks_along)
    Engine(cshogi.STARTING_SFEN, DNN_Batch_Size=1, Mate_Search_Nodes=1600).go(nodes=1000)
    assert 10 < len(followed) <= 1000 * 100 / 2000
