"""MCTSPlayer on positions whose right answer a reader can see."""

import re
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import cshogi
import numpy as np
import pytest
from thinker import ALL_MOVES, Thinker, options_of

from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.games.shogi.game import GAME as shogi
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import write_weights
from pydlshogi.player import mcts_player
from pydlshogi.player.allot import allot
from pydlshogi.player.base_player import HIGHEST_CP, BestMove, Info, PlayerError
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.lines import centipawns
from pydlshogi.support.arrays import Records
from pydlshogi.uct import search
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.puct import Puct
from pydlshogi.uct.tree import constants
from tests.networks import random_weights

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"  # G*5b
MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 2"
ONE_LEGAL_MOVE = "k8/9/1GG6/9/9/9/9/9/8K w - 1"
DECLARABLE = "2GK1+L3/2+P+S+R1G+N1/3+B1GG2/9/9/1+bs6/+p+p3+n3/2+n2k3/6+p2 b R2SN7P3l7p 375"


@pytest.mark.parametrize("skill", [20, 19])
def test_mates_in_one_and_announces_it(skill: int) -> None:
    thinker = Thinker(MATE_IN_ONE, Skill_Level=skill)
    assert thinker.go(nodes=300).move == "G*5b"
    assert (thinker.last.score_mate, thinker.last.score_cp, thinker.last.pv) == (1, None, ("G*5b",))


def test_declares_a_won_entering_king_by_the_rule_asked_for() -> None:
    thinker = Thinker(DECLARABLE)
    assert thinker.go(nodes=10) == BestMove("win")
    assert (thinker.infos[-1].score_cp, thinker.infos[-1].score_mate) == (HIGHEST_CP, None)
    two_pieces = "4K4/9/9/9/9/9/ggggnn3/ssss1k3/9 w RB2N4L11P7p 1"  # 10 + 7 points, and 10 that were given away
    assert Thinker(two_pieces, EnteringKingRule="CSARule27H").go(nodes=10) == BestMove("win")
    for rule in ("CSARule27", "CSARule24", "CSARule24H"):
        assert Thinker(two_pieces, EnteringKingRule=rule).go(nodes=10) != BestMove("win")


@pytest.mark.parametrize(
    ("sfen", "cp"),
    [
        ("9/9/4K4/9/9/9/ppppppppp/1k1b5/9 b 4p2rb4g4s 1", -HIGHEST_CP),
        ("+R+B+P+P+P+P+P+P+P/1PPP5/9/1K7/9/9/3ggg3/3sss3/4k4 b RB 1", HIGHEST_CP),
    ],
)
def test_a_declaration_to_come_is_no_mate(sfen: str, cp: int) -> None:
    thinker = Thinker(sfen, Mate_Root_Search=0, Resign_Threshold=0, ConsiderationMode="true")
    thinker.go(nodes=800)
    assert (thinker.last.score_cp, thinker.last.score_mate) == (cp, None)


def test_the_only_legal_move_is_played_with_an_opinion() -> None:
    thinker = Thinker(ONE_LEGAL_MOVE, Resign_Threshold=0)
    (only,) = thinker.legal_moves()
    assert thinker.go(btime=60000, wtime=60000).move == only
    assert thinker.last.pv[0] == only
    thinker = Thinker("4k2r1/9/9/9/9/9/9/9/8K b - 1", PV_Interval=0)
    clock = Clock(Limits(ponder=True, btime=0, wtime=0, byoyomi=4000))
    thinker.think(clock, lambda info: clock.hit() if (info.nodes or 0) > 300 else None)
    assert (thinker.last.nodes or 0) < 1000


def test_last_line_is_that_of_the_move_played_and_every_line_is_legal() -> None:
    thinker = Thinker(MultiPV=5, Random_Ply=9, Random_Cutoff=1000, Random_Seed=7)
    answer = thinker.go(nodes=600)
    assert [info.multipv for info in thinker.infos[-5:]] == [1, 2, 3, 4, 5]
    assert len({info.pv[0] for info in thinker.infos[-5:]}) == 5
    assert thinker.last.pv[0] == answer.move
    for info in thinker.infos:
        board = cshogi.Board()
        for move in info.pv:
            assert board.move_from_usi(move) in list(board.legal_moves)
            board.push_usi(move)
    assert answer.ponder == (thinker.last.pv[1] if len(thinker.last.pv) > 1 else None)


def test_moves_are_drawn_by_the_seed_as_long_as_the_option_says() -> None:
    def opening(seed: int) -> str:
        return Thinker(Random_Ply=9, Random_Cutoff=1000, Random_Seed=seed, Backend="hash").go(nodes=200).move

    moves = [opening(seed) for seed in range(1, 9)]
    assert len(set(moves)) > 1
    assert moves == [opening(seed) for seed in range(1, 9)]

    def answers(ply: int) -> set[str]:
        options = {"Random_Ply": ply, "Random_Cutoff": 1000, "Backend": "hash"}
        seeds = range(1, 9)
        return {Thinker(START, ("7g7f", "3c3d"), Random_Seed=seed, **options).go(nodes=100).move for seed in seeds}

    assert len(answers(2)) == 1
    assert len(answers(3)) > 1


def test_the_lines_are_ranked_by_visits_and_tell_them() -> None:
    thinker = Thinker(MultiPV=ALL_MOVES, Backend="hash")
    thinker.go(nodes=300)
    visits = [info.visits or 0 for info in thinker.lines]
    assert len(visits) == len(thinker.legal_moves())
    assert visits[1:] == sorted(visits[1:], reverse=True)  # the first is the lcb_move, see test_choice.py
    assert sum(visits) == 300
    assert sum(info.prior or 0 for info in thinker.lines) == pytest.approx(1)
    for info in thinker.lines:
        assert info.score_cp == centipawns(info.win_rate or 0, 756)


@pytest.mark.parametrize(
    ("moves", "nodes"),
    [(("2g2f",), 100), (("7g7f", "8c8d"), 1000), (("2g2f", "3c3d"), 100), (("7g7f", "3c3d", "2g2f"), 300)],
)
def test_the_lines_shown_before_a_stop_are_those_of_the_answer(moves: tuple[str, ...], nodes: int) -> None:
    """The move played has fewer visits than another one here; in one position it would have had two."""
    thinker = Thinker(START, moves, Backend="hash", PV_Interval=0, MultiPV=3)
    clock = Clock(Limits(infinite=True))
    answer = thinker.think(clock, lambda info: clock.stop() if (info.nodes or 0) >= nodes else None)
    before, after = thinker.infos[-6:-3], thinker.infos[-3:]
    assert [info.pv for info in before] == [info.pv for info in after]
    assert answer.move == before[0].pv[0]
    assert (before[0].visits or 0) > 2


def test_it_resigns_below_the_threshold() -> None:
    """Without a network every position is won half the time."""
    for permille, resigns in ((0, False), (500, False), (501, True), (1000, True)):
        assert (Thinker(Resign_Threshold=permille).go(nodes=50).move == "resign") is resigns
        assert Thinker(Resign_Threshold=permille).go(nodes=50, infinite=True).move != "resign"
        assert Thinker(Resign_Threshold=permille, ConsiderationMode="true").go(nodes=50).move != "resign"


@pytest.mark.parametrize(("moves", "draw_value"), [((), 0.7), (("7g7f",), 0.8)])
def test_every_option_of_the_selection_reaches_its_constant(monkeypatch, moves, draw_value: float) -> None:
    used: list[Puct] = []

    def noted(puct: Puct) -> Records:
        used.append(puct)
        return constants(puct)

    monkeypatch.setattr(search, "constants", noted)
    thinker = Thinker(START, moves, C_init=101, C_base=102, C_fpu_reduction=3)
    thinker.set(C_init_root=104, C_base_root=105, C_fpu_reduction_root=6)
    thinker.set(Draw_Value_Black=700, Draw_Value_White=800)
    thinker.go(nodes=1)
    root = {"c_init_root": 1.04, "c_base_root": 105, "fpu_reduction_root": 0.06}
    assert used[-1] == Puct(c_init=1.01, c_base=102, fpu_reduction=0.03, **root, draw_value=draw_value)


@pytest.mark.parametrize("mode", ["true", "false"])
def test_analysis_is_never_random(mode: str) -> None:
    random = {"ConsiderationMode": mode, "Random_Ply": 9, "Random_Cutoff": 1000, "Backend": "hash"}
    infinite = mode == "false"
    answers = [Thinker(Random_Seed=seed, **random).go(nodes=300, infinite=infinite) for seed in (3, 4, 5)]
    assert answers == 3 * [Thinker(Backend="hash").go(nodes=300)]


def test_a_bad_move_drawn_below_full_skill_is_no_reason_to_resign() -> None:
    strong = Thinker(Backend="hash", Resign_Threshold=0)
    strong.go(nodes=12)
    threshold = int(1000 * (strong.last.win_rate or 0))
    played = set()
    for seed in range(1, 30):
        thinker = Thinker(Backend="hash", Resign_Threshold=threshold, Skill_Level=0, Random_Seed=seed)
        played.add(thinker.go(nodes=12).move)
    assert len(played) > 1
    assert "resign" not in played


def test_searches_of_other_moves_decide_no_other_search() -> None:
    thinker = Thinker(Backend="hash", Random_Ply=0)
    free = thinker.go(nodes=300).move
    named = next(move for move in thinker.legal_moves() if move != free)
    assert thinker.go(nodes=3000, searchmoves=(named,)).move == named
    assert thinker.go(nodes=300).move == free
    thinker = Thinker(MATE_IN_ONE, Mate_Root_Search=0)
    thinker.go(nodes=100)
    assert thinker.last.score_mate == 1
    thinker.go(nodes=100, searchmoves=("5i5h",))
    assert thinker.last.score_mate is None
    assert (thinker.last.nodes or 0) >= 100
    assert abs(thinker.last.score_cp or 0) < HIGHEST_CP


@pytest.mark.parametrize("plies", [33, 0])
def test_every_mate_said_is_played_out_in_its_line(plies: int) -> None:
    """White mates in seven after some of the moves. What such looks find does not outlast the option."""
    sfen = "lnps1n3/rk3gs1l/pp1+S5/4p2p1/1P+B5p/3gP1P+b1/P2P1p+n1P/L3G2SR/1N3GKPL b 3Pp 91"
    thinker = Thinker(sfen, Backend="hash", Resign_Threshold=0, MultiPV=ALL_MOVES, Mate_Root_Search=33)
    thinker.go(nodes=1500)
    thinker.set(Mate_Root_Search=plies)
    thinker.go(nodes=8)
    mates = [info for info in thinker.lines if info.score_mate]
    assert len(mates) >= (7 if plies else 0)
    for info in mates:
        board = cshogi.Board(sfen)
        for move in info.pv:
            board.push_usi(move)
        assert board.is_check()
        assert not len(board.legal_moves)


@pytest.mark.parametrize(("options", "plies"), [({"Mate_Leaf_Search": 1}, None), ({}, -4), ({"Skill_Level": 2}, None)])
def test_the_longest_mate_looked_for_at_leaves_is_an_option(options: dict[str, object], plies: int | None) -> None:
    """After 1g1f White mates in three."""
    sfen = "ln1gkg1nl/6+P2/2sppps1p/2p3p2/p8/P1P1P4/2NP1PP1P/3s1KSR1/L1+b2G1NL b R2Pbgp 41"
    thinker = Thinker(sfen, Mate_Root_Search=0, Resign_Threshold=0, **options)
    thinker.go(nodes=3, searchmoves=("1g1f",))
    assert thinker.last.score_mate == plies


def test_more_memory_than_there_is_is_said_before_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(mcts_player, "np", SimpleNamespace(empty=refused, uint8=np.uint8))
    with pytest.raises(PlayerError, match=r"^USI_Hash 16384: the system does not lend so much memory$"):
        Thinker(USI_Hash=16384)


def test_the_tree_is_kept_for_the_moves_that_were_expected() -> None:
    thinker = Thinker(MultiPV=ALL_MOVES)
    answer = thinker.go(nodes=2000)
    assert answer.ponder
    visits = thinker.visits
    thinker.moves = (answer.move, answer.ponder)
    thinker.go(nodes=1)
    assert thinker.last.nodes == 1
    assert 2 < thinker.visits < visits


def test_a_full_table_is_said_once_and_still_answers() -> None:
    thinker = Thinker(USI_Hash=1)
    said: list[Info] = []
    for _ in range(2):
        assert thinker.go(nodes=3000).move
        said += thinker.infos
    assert sum("USI_Hash is full" in info.string for info in said) == 1
    assert thinker.last.hashfull == 1000


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [("C_init", "100", True), ("C_base_root", "20000", True), ("C_fpu_reduction", "30", True),
     ("Draw_Value_Black", "400", False), ("temperature", "100", False), ("Clear_Hash", "", False),
     ("Backend", "hash", False)],
)  # fmt: skip
def test_only_what_changes_the_meaning_of_values_or_priors_starts_a_new_tree(name: str, text: str, kept: bool) -> None:
    thinker = Thinker(MultiPV=ALL_MOVES)
    thinker.go(nodes=500)
    thinker.set(**{name: text})
    thinker.go(nodes=2)
    assert (thinker.visits > 500) if kept else (thinker.visits == 2)
    thinker.go(nodes=500)
    assert thinker.visits > 500
    assert (len({info.prior for info in thinker.lines}) > 1) is (name == "Backend")


@pytest.mark.parametrize("nodes", [1, 2, 5, 100, 301])
def test_a_limit_of_playouts_is_kept_to_the_playout(nodes: int) -> None:
    thinker = Thinker(DNN_Batch_Size=16)
    for _ in range(2):  # what the tree holds already is not counted
        thinker.go(nodes=nodes)
        assert thinker.last.nodes == nodes


@pytest.mark.parametrize(("value", "cp"), [(0.5, 0), (0.75, 831), (0.25, -831), (1.0, HIGHEST_CP), (0.0, -HIGHEST_CP)])
def test_centipawns(value: float, cp: int) -> None:
    """0.75: 756 x ln 3 = 830.6."""
    assert centipawns(value, 756) == cp


def test_a_network_written_anew_under_its_name_is_loaded_anew(tmp_path: Path) -> None:
    options = options_of(modelfile=tmp_path / "net.npz")
    player = shogi.mcts(options).load()
    for channels in (4, 8):
        weights = random_weights(architecture_for(BOOK, "policy_value_resnet", 1, channels), seed=1)
        write_weights(tmp_path / "net.npz", weights)
        player.prepare()
        assert f"1x{channels} " in player.network.loaded.description
        assert player.loading(options) is None


def test_eval_answers_the_same_before_and_after_a_search() -> None:
    """The policy has the same temperature."""
    thinker = Thinker(Backend="auto")
    before = list(thinker.player.eval_lines(thinker.position()))
    thinker.go(nodes=2)
    assert list(thinker.player.eval_lines(thinker.position())) == before


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failed_search_leaves_a_player_that_plays_on(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    thinker = Thinker(Threads=threads)
    asked = count()

    def break_down(evaluator: UniformEvaluator, batch: Batch) -> Evaluations:
        if next(asked) == 5:
            raise RuntimeError("the network broke down")
        return evaluate(evaluator, batch)

    evaluate = UniformEvaluator.evaluate
    monkeypatch.setattr(UniformEvaluator, "evaluate", break_down)
    with pytest.raises(RuntimeError, match="broke down"):
        thinker.go(nodes=500)
    assert thinker.go(nodes=100).move
    assert thinker.last.nodes == 100


@pytest.mark.parametrize(("black", "white", "kept"), [(400, 600, True), (900, 900, False)])
def test_a_tree_is_kept_where_draws_mean_the_same(black: int, white: int, kept: bool) -> None:
    thinker = Thinker(Draw_Value_Black=black, Draw_Value_White=white, MultiPV=ALL_MOVES)
    thinker.moves = (thinker.go(nodes=300).move,)
    thinker.go(nodes=1)
    assert (thinker.visits > 1) == kept


def test_lower_skill_searches_less_and_obeys_the_clock() -> None:
    def playouts(level: int) -> int:
        thinker = Thinker(Skill_Level=level)
        thinker.go(btime=60000, wtime=60000)
        return thinker.last.nodes or 0

    assert playouts(0) <= 2 + 1
    assert playouts(0) < playouts(8) < playouts(14)
    settings = Thinker(Skill_Level=19).options.clock_settings()
    budget = allot(Limits(byoyomi=100), 0, 1, settings)
    assert (budget.maximum, budget.nodes) == (75, 976)
    assert allot(Limits(nodes=2000), 0, 1, settings).nodes == 2000


def test_without_any_time_left_the_network_is_asked_all_the_same() -> None:
    thinker = Thinker()
    assert thinker.go(movetime=0).move in thinker.legal_moves()


def test_with_no_time_for_a_look_the_answer_is_what_the_tree_knows_else_any_move() -> None:
    thinker = Thinker(START.replace(" 1", " 300"), MultiPV=ALL_MOVES)
    assert thinker.go(btime=1, wtime=1).move in thinker.legal_moves()
    assert thinker.last.nodes == 0
    assert thinker.go(btime=1, wtime=1, searchmoves=("9g9f",)).move == "9g9f"
    best = thinker.go(nodes=300).move
    assert thinker.go(btime=1, wtime=1).move == best
    assert thinker.visits >= 299
    thinker = Thinker(MATE_IN_ONE.replace(" 1", " 300"))
    assert thinker.go(nodes=300).move == "G*5b"
    assert thinker.go(btime=1, wtime=1).move == "G*5b"


def test_rules_chosen_after_the_position_hold_at_once() -> None:
    """After the next move the game is drawn."""
    thinker = Thinker(START, ("7g7f", "3c3d"), Draw_Value_Black=900)
    thinker.go(nodes=100)
    assert thinker.last.score_cp == 0
    thinker.set(Draw_Ply=3)
    thinker.go(nodes=100)
    assert thinker.last.score_cp == centipawns(0.9, 756)


def test_bench_stops_when_asked_and_refuses_nonsense() -> None:
    thinker = Thinker()
    clock = Clock()
    clock.stop()
    assert list(thinker.player.bench(thinker.position(), ["1e9"], clock))[1:]
    solved = Thinker(MATE_IN_ONE)
    assert re.match(r"[1-9]\d* playouts in ", list(solved.player.bench(solved.position(), ["0.05"], Clock()))[1])
    for seconds in ("fast", "inf"):
        with pytest.raises(PlayerError, match="number of seconds"):
            list(thinker.player.bench(thinker.position(), [seconds], clock))
    assert list(thinker.player.bench(Thinker(MATED).position(), [], Clock())) == ["no legal move"]


def test_bench_names_it_and_it_answers_as_people_do() -> None:
    thinker = Thinker(Backend="auto", USI_Hash=64)
    network, speed = thinker.player.bench(thinker.position(), ["0.1"], Clock())
    assert re.match(r"pydlshogi\.npz: \w+ ", network)
    assert " playouts in " in speed
    assert thinker.go(nodes=200).move in {"7g7f", "2g2f"}
    for opening in ("7g7f", "2g2f"):
        thinker.moves = (opening,)
        assert thinker.go(nodes=200).move in {"3c3d", "8c8d"}
