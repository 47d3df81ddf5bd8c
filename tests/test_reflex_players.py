"""policy_player and search1_player against slow, obvious versions of themselves, and as engines."""

import math
from collections import Counter
from collections.abc import Callable, Iterator

import cshogi
import numpy as np
import pytest
from usi_driver import InProcess

from pydlshogi.evaluator import HashEvaluator
from pydlshogi.games.shogi import ShogiPosition
from pydlshogi.player.base_player import BestMove, Checkmate, Info, Limits
from pydlshogi.player.policy_player import PolicyPlayer
from pydlshogi.player.reflex_player import ReflexPlayer, logit
from pydlshogi.player.search1_player import Search1Player

MIDDLE = "l2g4l/2ks3+R1/ppppp2pp/2s2np2/5P3/2P1P1P2/PPSP1G2P/1KG6/LN5NL b RBGNPbs3P 1"
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
DECLARABLE = "+R+R+B+BK4/GGGGSSSS1/9/9/9/9/9/9/4k4 b - 1"


def ready(player: ReflexPlayer, sfen: str, **options: str) -> ReflexPlayer:
    player.options.set("Backend", "hash")
    for name, value in options.items():
        player.options.set(name, value)
    player.prepare()
    player.new_game()
    player.position(sfen, ())
    return player


def think(player: ReflexPlayer, limits: Limits | None = None) -> tuple[BestMove | Checkmate, list[Info]]:
    said: list[Info] = []
    clock = player.start_clock(limits or Limits())
    return player.think(clock.limits, clock, said.append), said


def opinion(position: ShogiPosition) -> tuple[dict[str, float], float]:
    """Priors and value of one position, asked for alone."""
    evaluator = HashEvaluator()
    requests = evaluator.requests(1)
    requests.clear()
    requests.note(position)
    requests.moves = position.legal_moves()
    requests.counts = np.array([len(requests.moves)], np.int32)
    priors, values = evaluator.evaluate(requests)
    return dict(zip(map(cshogi.move_to_usi, requests.moves.tolist()), priors.tolist(), strict=True)), float(values[0])


@pytest.mark.parametrize("sfen", [cshogi.STARTING_SFEN, MIDDLE])
def test_policy_player_plays_the_move_of_highest_prior(sfen: str) -> None:
    answer, said = think(ready(PolicyPlayer(), sfen))
    priors, value = opinion(ShogiPosition(sfen))
    best = max(priors, key=lambda move: priors[move])
    assert answer == BestMove(best)
    assert {info.string for info in said[:-1]} == {f"{move:5} : {prior:.5f}" for move, prior in priors.items()}
    assert said[-1].pv == (best,)
    assert said[-1].score_cp == round(756 * math.log(value / (1 - value)))


@pytest.mark.parametrize("batch", ["7", "1024"])
@pytest.mark.parametrize("sfen", [cshogi.STARTING_SFEN, MIDDLE])
def test_search1_player_plays_into_the_position_that_is_worst_for_the_opponent(sfen: str, batch: str) -> None:
    answer, said = think(ready(Search1Player(), sfen, DNN_Batch_Size=batch))
    position = ShogiPosition(sfen)
    rates = {}
    for move in map(cshogi.move_to_usi, position.legal_moves().tolist()):
        position.push_usi(move)
        outcome = position.outcome()
        rates[move] = 1 - (outcome.value if outcome else opinion(position)[1])
        position.pop()
    best = max(rates, key=lambda move: rates[move])
    assert answer == BestMove(best)
    assert {info.string for info in said[:-1]} == {f"{move:5} : {rate:.5f}" for move, rate in rates.items()}
    assert said[-1].pv == (best,)


def test_search1_player_mates() -> None:
    answer, said = think(ready(Search1Player(), MATE_IN_ONE))
    assert answer == BestMove("G*5b")
    assert said[-1].score_cp == 29999


@pytest.fixture(params=[PolicyPlayer, Search1Player])
def make(request: pytest.FixtureRequest) -> Callable[[], ReflexPlayer]:
    return request.param  # type: ignore[no-any-return]


def test_temperature_draws_more_freely_the_higher_it_is(make: Callable[[], ReflexPlayer]) -> None:
    counts = []
    for temperature in ("0", "30", "10000"):
        player = ready(make(), cshogi.STARTING_SFEN, temperature=temperature, Random_Seed="1")
        counts.append(len(Counter(think(player)[0] for _ in range(60))))
    assert counts[0] == 1
    assert counts[0] < counts[1] < counts[2]


def test_the_same_seed_plays_the_same_game(make: Callable[[], ReflexPlayer]) -> None:
    def moves() -> list[object]:
        player = ready(make(), MIDDLE, temperature="300", Random_Seed="7")
        return [think(player)[0] for _ in range(10)]

    assert moves() == moves()


def test_a_drawn_move_is_as_likely_as_its_probability() -> None:
    player = ready(PolicyPlayer(), "4k4/9/9/9/9/9/9/9/K8 b - 1", temperature="100", Random_Seed="3")
    priors, _ = opinion(player.game)
    drawn = Counter(think(player)[0].move for _ in range(3000))  # type: ignore[union-attr]
    for move, prior in priors.items():
        assert drawn[move] / 3000 == pytest.approx(prior, abs=4 * math.sqrt(prior * (1 - prior) / 3000))


def test_searchmoves(make: Callable[[], ReflexPlayer]) -> None:
    answer, _ = think(ready(make(), cshogi.STARTING_SFEN), Limits(searchmoves=("9g9f", "9z9z")))
    assert answer == BestMove("9g9f")


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certainty_stays_finite(p: float) -> None:
    assert math.isfinite(logit(p))
    assert logit(0.75) == pytest.approx(math.log(3))


@pytest.fixture
def engine(make: Callable[[], ReflexPlayer]) -> Iterator[InProcess]:
    player = make()
    player.options.set("Backend", "hash")
    conversation = InProcess(player)
    conversation.start()
    yield conversation
    conversation.close()


def test_it_speaks_usi(engine: InProcess) -> None:
    engine.send("position startpos moves 7g7f")
    lines = engine.go("go btime 0 wtime 0 byoyomi 1000")
    assert f" pv {lines[-1].split()[1]}" in lines[-2]
    engine.send("go infinite")
    engine.wait_for_thought()
    engine.wait_for_thought()
    assert not [line for line in engine.ask("isready", "readyok") if line.startswith("bestmove")]
    engine.send("stop")
    engine.until("bestmove")
    assert engine.go("go mate 100") == ["checkmate notimplemented"]
    engine.send("position sfen 4k4/9/9/9/9/9/4p4/4g4/4K4 b - 1")
    assert engine.go()[-1] == "bestmove resign"
    engine.send(f"position sfen {DECLARABLE}")
    line, answer = engine.go()[-2:]
    assert line.startswith("info depth 1 score mate 1 ")
    assert answer == "bestmove win"
    assert engine.settle() == []


def test_a_missing_network_is_one_line(make: Callable[[], ReflexPlayer], tmp_path: object) -> None:
    conversation = InProcess(make())
    conversation.send(f"setoption name modelfile value {tmp_path}/none.npz", "isready", "go")
    lines = conversation.until("bestmove")
    assert len([line for line in lines if line.startswith("info string Error!")]) == 2  # isready, and go
    assert "readyok" not in lines
    conversation.close()
