"""MCTSPlayer on positions whose right answer a reader can see."""

import re
from collections.abc import Callable

import cshogi
import pytest

from pydlshogi.player.base_player import HIGHEST_CP, BestMove, Clock, Info, Limits, PlayerError
from pydlshogi.player.clock import allot
from pydlshogi.player.mcts_player import MCTSOptions, MCTSPlayer
from pydlshogi.uct import uct_node

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"  # G*5b
MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 2"
ONE_LEGAL_MOVE = "k8/9/1GG6/9/9/9/9/9/8K w - 1"
DECLARABLE = "2GK1+L3/2+P+S+R1G+N1/3+B1GG2/9/9/1+bs6/+p+p3+n3/2+n2k3/6+p2 b R2SN7P3l7p 375"


class Game:
    """A player with a position, asked once."""

    def __init__(self, sfen: str = START, moves: tuple[str, ...] = (), **options: object) -> None:
        settings = MCTSOptions()
        settings.set("Backend", "uniform")
        settings.set("Random_Ply", "0")
        settings.set("USI_Hash", "16")
        for name, value in options.items():
            assert settings.set(name, str(value)) == ""
        self.player = MCTSPlayer(settings)
        self.player.prepare()
        self.player.new_game()
        self.player.position(sfen, moves)
        self.infos: list[Info] = []

    def go(self, **limits: object) -> BestMove:
        wanted = Limits(**limits)  # type: ignore[arg-type]
        clock = self.player.start_clock(wanted)
        answer = self.player.think(wanted, clock, self.infos.append)
        assert isinstance(answer, BestMove)
        return answer

    @property
    def last(self) -> Info:
        return self.infos[-1]


def test_bare_go_makes_the_playouts_of_the_option() -> None:
    game = Game(playout=200)
    game.go()
    assert 150 <= (game.last.nodes or 0) <= 200 + 16  # fewer only when the rest could not change the answer


def test_nodes_are_new_playouts() -> None:
    game = Game()
    game.go(nodes=500)
    game.go(nodes=100)
    assert 0 < (game.last.nodes or 0) <= 100 + 16


def test_mates_in_one_and_announces_it() -> None:
    game = Game(MATE_IN_ONE)
    assert game.go(nodes=300).move == "G*5b"
    assert (game.last.score_mate, game.last.score_cp, game.last.pv) == (1, None, ("G*5b",))


def test_mated_root_resigns() -> None:
    assert Game(MATED).go(nodes=10) == BestMove("resign")


def test_declares_a_won_entering_king() -> None:
    game = Game(DECLARABLE)
    assert game.go(nodes=10) == BestMove("win")
    assert (game.last.score_cp, game.last.score_mate) == (HIGHEST_CP, None)


@pytest.mark.parametrize(
    ("sfen", "cp"),
    [
        ("9/9/4K4/9/9/9/ppppppppp/1k1b5/9 b 4p2rb4g4s 1", -HIGHEST_CP),
        ("+R+B+P+P+P+P+P+P+P/1PPP5/9/1K7/9/9/3ggg3/3sss3/4k4 b RB 1", HIGHEST_CP),
    ],
)
def test_a_declaration_to_come_is_no_mate(sfen: str, cp: int) -> None:
    game = Game(sfen, Mate_Root_Search=0, Resign_Threshold=0, ConsiderationMode="true")
    game.go(nodes=800)
    assert (game.last.score_cp, game.last.score_mate) == (cp, None)


def test_declares_at_odds_if_the_rule_says_so() -> None:
    two_pieces = "4K4/9/9/9/9/9/ggggnn3/ssss1k3/9 w RB2N4L11P7p 1"  # 10 + 7 points, and 10 that were given away
    assert Game(two_pieces, EnteringKingRule="CSARule27H").go(nodes=10) == BestMove("win")
    for rule in ("CSARule27", "CSARule24", "CSARule24H"):
        assert Game(two_pieces, EnteringKingRule=rule).go(nodes=10) != BestMove("win")


def test_the_only_legal_move_is_played_with_an_opinion() -> None:
    game = Game(ONE_LEGAL_MOVE, Resign_Threshold=0)
    only = game.player.legal_moves()
    assert len(only) == 1
    assert game.go(btime=60000, wtime=60000).move == only[0]
    assert game.last.pv[0] == only[0]


def test_last_line_is_that_of_the_move_played_and_every_line_is_legal() -> None:
    game = Game(MultiPV=5, Random_Ply=9, Random_Cutoff=1000, Random_Seed=7)
    answer = game.go(nodes=600)
    assert game.last.pv[0] == answer.move
    assert game.last.multipv == 1
    assert [info.multipv for info in game.infos[-5:]] == [5, 4, 3, 2, 1]
    assert len({info.pv[0] for info in game.infos[-5:]}) == 5
    for info in game.infos:
        board = cshogi.Board()
        for move in info.pv:
            assert board.move_from_usi(move) in list(board.legal_moves)
            board.push_usi(move)
    assert answer.ponder == (game.last.pv[1] if len(game.last.pv) > 1 else None)


def test_more_lines_than_moves() -> None:
    game = Game(ONE_LEGAL_MOVE, MultiPV=5, Resign_Threshold=0)
    game.go(nodes=50)
    assert game.last.multipv == 1


def test_drawn_moves_differ_and_the_seed_repeats_them() -> None:
    def opening(seed: int) -> str:
        return Game(Random_Ply=9, Random_Cutoff=1000, Random_Seed=seed, Backend="hash").go(nodes=200).move

    moves = [opening(seed) for seed in range(1, 9)]
    assert len(set(moves)) > 1
    assert moves == [opening(seed) for seed in range(1, 9)]


def test_analysis_never_draws_its_move() -> None:
    game = Game(Random_Ply=9, Random_Cutoff=1000, Random_Seed=3, Backend="hash")
    wanted = Limits(infinite=True, nodes=300)
    answer = game.player.think(wanted, game.player.start_clock(wanted), game.infos.append)
    best = max(game.player._search.root_moves(), key=lambda move: move.visits)  # type: ignore[union-attr]
    assert isinstance(answer, BestMove)
    assert answer.move == cshogi.move_to_usi(best.move)


def test_searchmoves_are_the_only_moves_played() -> None:
    game = Game(MultiPV=5)
    assert game.go(nodes=200, searchmoves=("1g1f", "9g9f")).move in {"1g1f", "9g9f"}
    assert {info.pv[0] for info in game.infos} == {"1g1f", "9g9f"}


def test_a_single_move_of_searchmoves_is_searched_and_not_resigned() -> None:
    game = Game(MATE_IN_ONE, Resign_Threshold=1000)
    assert game.go(nodes=60, searchmoves=("5i5h",)).move == "5i5h"
    assert (game.last.nodes or 0) >= 60


def test_what_other_moves_prove_is_not_said_of_searchmoves() -> None:
    game = Game(MATE_IN_ONE, Mate_Root_Search=0)
    game.go(nodes=100)
    assert game.last.score_mate == 1
    game.go(nodes=100, searchmoves=("5i5h",))
    assert game.last.score_mate is None
    assert (game.last.nodes or 0) >= 100
    assert abs(game.last.score_cp or 0) < HIGHEST_CP


def test_a_mate_seen_at_a_new_position_is_announced_with_its_whole_line() -> None:
    """Black's only move is 7h6h, and there the nodes end: White mates in three."""
    sfen = "l2gkg2l/2s3s2/p1nppp1pp/2p3p2/P4P1P1/4n3P/1PPPG1N2/1BKS2+s2/LN3+r3 w RBgl3p 72"
    game = Game(sfen, ("5f6h+",), Mate_Root_Search=0, Resign_Threshold=0, ConsiderationMode="true")
    assert game.go(nodes=10).move == "7h6h"
    assert game.last.score_mate == -4
    board = cshogi.Board(sfen)
    for move in ("5f6h+", *game.last.pv):
        board.push_usi(move)
    assert len(game.last.pv) == 4
    assert board.is_check()
    assert not len(board.legal_moves)


def test_the_longest_mate_looked_for_at_leaves_is_an_option() -> None:
    sfen = "ln1gkg1nl/6+P2/2sppps1p/2p3p2/p8/P1P1P3P/2NP1PP2/3s1KSR1/L1+b2G1NL w R2Pbgp 42"
    for plies, seen in (("1", False), ("3", True), ("5", True)):
        assert bool(Game(sfen, Mate_Leaf_Search=plies).player.game.outcome()) is seen
    assert not Game(sfen, Mate_Leaf_Search=5, Skill_Level=2).player.game.outcome()


def test_more_memory_than_there_is_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_megabytes: int) -> None:
        raise MemoryError

    game = Game()
    game.player.options.set("USI_Hash", "1048576")
    monkeypatch.setattr(uct_node, "UctNodeTable", refused)
    with pytest.raises(PlayerError, match=r"^USI_Hash 1048576: "):
        game.player.prepare()


def test_candidates_of_the_book_under_debug_message() -> None:
    game = Game(DebugMessage="true")
    game.go(nodes=100)
    table = [info.string for info in game.infos if "move_count" in info.string]
    assert len(table) == 30
    assert "nn_rate:0.03333" in table[0]
    assert "win_rate:0.5" in table[0]


def test_the_tree_is_kept_for_the_moves_that_were_expected() -> None:
    game = Game()
    answer = game.go(nodes=2000)
    assert answer.ponder
    visits = game.player._search.root_visits  # type: ignore[union-attr]
    game.player.position(START, (answer.move, answer.ponder))
    game.go(nodes=1)
    kept = game.player._search.root_visits  # type: ignore[union-attr]
    assert 1 < kept < visits


def test_a_full_table_is_said_once_and_still_answers() -> None:
    game = Game(USI_Hash=1)
    for _ in range(2):
        assert game.go(nodes=3000).move
    assert sum("USI_Hash is full" in info.string for info in game.infos) == 1
    assert game.last.hashfull == 1000


@pytest.mark.parametrize(("name", "text"), [("C_init", "100"), ("Clear_Hash", "")])
def test_another_formula_and_clear_hash_start_a_new_tree(name: str, text: str) -> None:
    game = Game()
    game.go(nodes=500)
    game.player.options.set(name, text)
    game.go(nodes=1)
    assert game.player._search.root_visits <= 16  # type: ignore[union-attr]
    game.go(nodes=500)
    assert game.player._search.root_visits > 500  # type: ignore[union-attr]


@pytest.mark.parametrize("nodes", [1, 2, 5, 100, 301])
def test_a_limit_of_playouts_is_kept_to_the_playout(nodes: int) -> None:
    game = Game(DNN_Batch_Size=16)
    game.go(nodes=nodes)
    assert game.last.nodes == nodes


@pytest.mark.parametrize(("value", "cp"), [(0.5, 0), (0.75, 831), (0.25, -831), (1.0, HIGHEST_CP), (0.0, -HIGHEST_CP)])
def test_centipawns(value: float, cp: int) -> None:
    """0.75: 756 x ln 3 = 830.6."""
    from pydlshogi.uct.search import MoveStats

    player = Game().player
    assert player._centipawns(player._search, MoveStats(0, 1, value, 0.1, None)) == cp  # type: ignore[arg-type]


def test_a_missing_network_is_one_line_and_can_be_replaced() -> None:
    options = MCTSOptions()
    options.set("modelfile", "/nowhere/network.npz")
    player = MCTSPlayer(options)
    with pytest.raises(PlayerError, match=r"/nowhere/network\.npz") as error:
        player.prepare()
    assert "\n" not in str(error.value)
    options.set("Backend", "uniform")
    player.prepare()


def test_a_failed_search_leaves_a_player_that_plays_on() -> None:
    game = Game()

    def break_down(requests: object) -> None:
        raise RuntimeError("the network broke down")

    evaluator = game.player.evaluator
    working, evaluator.evaluate = evaluator.evaluate, break_down
    with pytest.raises(RuntimeError, match="broke down"):
        game.go(nodes=10)
    evaluator.evaluate = working
    assert game.go(nodes=100).move


def test_eval_shows_the_networks_own_opinion() -> None:
    lines = list(Game().player.evaluate())
    assert lines[0] == "win rate 0.5000"
    assert all(line.endswith("0.0333") for line in lines[1:])


def test_stopped_before_it_began_it_still_answers() -> None:
    game = Game()
    clock = Clock(Limits(infinite=True))
    clock.stop()
    answer = game.player.think(Limits(infinite=True), clock, game.infos.append)
    assert isinstance(answer, BestMove)
    assert answer.move in game.player.legal_moves()


def test_lower_skill_looks_less_far() -> None:
    def playouts(level: int) -> int:
        game = Game(Skill_Level=level)
        game.go(btime=60000, wtime=60000)
        return game.last.nodes or 0

    assert playouts(0) <= 2 + 1
    assert playouts(0) < playouts(8) < playouts(14)


def test_lower_skill_heeds_the_clock() -> None:
    settings = Game(Skill_Level=19).player.clock_settings()
    budget = allot(Limits(byoyomi=100), 0, 1, settings)
    assert (budget.maximum, budget.nodes) == (75, 976)
    assert allot(Limits(nodes=2000), 0, 1, settings).nodes == 2000


def test_a_seed_counts_from_when_it_is_set() -> None:
    answers = []
    for _ in range(2):
        game = Game(Random_Ply=9, Random_Cutoff=1000)
        game.go(nodes=100)
        game.player.options.set("Random_Seed", "7")
        answers.append([game.go(nodes=100).move for _ in range(4)])
    assert answers[0] == answers[1]


def test_without_any_time_left_the_network_is_asked_all_the_same() -> None:
    assert Game().go(movetime=0) is not None
    game = Game()
    game.go(btime=-5000, wtime=-5000, byoyomi=1000)
    assert (game.last.nodes or 0) > 100


def test_lower_skill_still_mates_in_one() -> None:
    game = Game(MATE_IN_ONE, Skill_Level=19)
    assert game.go(btime=60000, wtime=60000).move == "G*5b"


def stochastic_ponder(game: Game, played: tuple[str, ...], end: Callable[[Clock], None]) -> BestMove:
    """The answer to a ponder on all replies to all but the last of `played`, ended after 1000 playouts."""
    game.player.position(START, played)
    wanted = Limits(ponder=True, nodes=2000)
    clock = game.player.start_clock(wanted)
    answer = game.player.think(wanted, clock, lambda info: end(clock) if (info.nodes or 0) > 1000 else None)
    assert isinstance(answer, BestMove)
    return answer


def test_stochastic_ponder_knows_every_reply() -> None:
    """It thinks about the opponent's position, so the tree holds a reply nobody expected."""
    game = Game(Stochastic_Ponder="true", PV_Interval=0)
    answer = stochastic_ponder(game, ("7g7f", "3c3d"), Clock.stop)
    assert answer.move in game.player.legal_moves()
    game.player.position(START, ("7g7f", "8c8d"))
    game.go(nodes=1)
    assert game.player._search is not None
    assert game.player._search.root_visits > 5


def test_stochastic_ponder_sees_draws_with_the_eyes_of_the_engine() -> None:
    """Black gives all for a draw. The root of its pondering is White's."""
    game = Game(Stochastic_Ponder="true", PV_Interval=0, Draw_Value_Black=900)
    seen = []

    def look(clock: Clock) -> None:
        assert game.player._search is not None
        seen.append(game.player._search.puct.draw_value)
        clock.stop()

    stochastic_ponder(game, ("7g7f", "3c3d"), look)
    assert seen[0] == pytest.approx(0.1)
    assert game.player._search is not None
    assert game.player._search.puct.draw_value == pytest.approx(0.9)


def test_a_new_evaluator_does_not_search_on_in_the_tree_of_the_old() -> None:
    game = Game()
    game.go(nodes=300)
    game.player.options.set("Backend", "hash")
    game.go(nodes=200)
    assert game.player._search is not None
    assert len({stats.prior for stats in game.player._search.root_moves()}) > 1


def test_rules_chosen_after_the_position_hold_at_once() -> None:
    game = Game()
    game.player.position(START, ("7g7f", "3c3d"))
    game.player.options.set("Draw_Ply", "10")
    game.go(nodes=100)
    assert game.player.game.draw_ply == 10
    assert game.player.moves == ("7g7f", "3c3d")


@pytest.mark.parametrize("stochastic", ["false", "true"])
def test_ponderhit_turns_pondering_into_a_timed_search(stochastic: str) -> None:
    game = Game(Stochastic_Ponder=stochastic, PV_Interval=0)
    game.player.position(START, ("7g7f", "3c3d"))
    wanted = Limits(ponder=True, btime=0, wtime=0, byoyomi=400)
    clock = game.player.start_clock(wanted)
    answer = game.player.think(wanted, clock, lambda info: clock.hit() if (info.nodes or 0) > 300 else None)
    assert isinstance(answer, BestMove)
    assert answer.move in game.player.legal_moves()


def test_consideration_mode_always_gives_the_best_move() -> None:
    game = Game(ConsiderationMode="true", Random_Ply=9, Random_Cutoff=1000, Random_Seed=5, Backend="hash")
    answer = game.go(nodes=300)
    best = max(game.player._search.root_moves(), key=lambda move: move.visits)  # type: ignore[union-attr]
    assert answer.move == cshogi.move_to_usi(best.move)


@pytest.mark.parametrize("sfen", [START, MATE_IN_ONE, ONE_LEGAL_MOVE])
def test_bench_says_what_runs_and_how_fast(sfen: str) -> None:
    player = Game(sfen, DNN_Batch_Size=4).player
    network, speed = player.bench(["0.05"], Clock())
    assert network == "no network: Backend uniform"
    playouts, seconds, rate = re.fullmatch(
        r"(\d+) playouts in (\d+\.\d) s: (\d+) a second, in batches of up to 4", speed
    ).groups()  # type: ignore[union-attr]
    assert int(playouts) >= 4
    assert int(rate) > int(playouts) / (float(seconds) + 0.1)


def test_bench_stops_when_told_and_refuses_nonsense() -> None:
    clock = Clock()
    clock.stop()
    assert list(Game().player.bench(["1e9"], clock))[1:]
    with pytest.raises(PlayerError, match="number of seconds"):
        list(Game().player.bench(["fast"], Clock()))
    assert list(Game(MATED).player.bench([], Clock())) == ["no legal move"]
