"""policy_player and search1_player against slow, obvious versions of themselves, and as engines."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from thinker import Thinker
from usi_driver import InProcess

from pydlshogi.evaluator import HashEvaluator
from pydlshogi.games.shogi.encodings import MOVES
from pydlshogi.games.shogi.game import GAME as shogi
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.player.base_player import BestMove, Engine
from pydlshogi.uct.batch import Batch

Make = Callable[[], Engine]

MIDDLE = "l2g4l/2ks3+R1/ppppp2pp/2s2np2/5P3/2P1P1P2/PPSP1G2P/1KG6/LN5NL b RBGNPbs3P 1"
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
DECLARABLE = "+R+R+B+BK4/GGGGSSSS1/9/9/9/9/9/9/4k4 b - 1"


def hashing(engine: Engine, sfen: str = START_SFEN, **options: object) -> Thinker:
    """A player that asks no network."""
    return Thinker(sfen, engine=engine, Backend="hash", **options)


def ratings(asked: Thinker) -> set[str]:
    """What was said of the moves."""
    return {info.string for info in asked.infos[:-1]}


def opinion(position: ShogiPosition) -> tuple[dict[str, float], float]:
    """Priors and value of one position, asked for alone."""
    batch = Batch(1, RULES.most_moves, MOVES)
    moves = position.legal_moves()
    batch.add(position, moves)
    priors, values, _ = HashEvaluator(MOVES).evaluate(batch)
    return dict(zip(map(position.usi, moves.tolist()), priors.tolist(), strict=True)), float(values[0])


@pytest.mark.parametrize("sfen", [START_SFEN, MIDDLE])
def test_policy_player_plays_the_move_of_highest_prior(sfen: str) -> None:
    asked = hashing(shogi.policy(), sfen)
    answer = asked.go()
    priors, value = opinion(ShogiPosition(sfen))
    best = max(priors, key=lambda move: priors[move])
    assert answer == BestMove(best)
    assert ratings(asked) == {f"{move:5} : {prior:.5f}" for move, prior in priors.items()}
    assert asked.infos[-1].pv == (best,)
    assert asked.infos[-1].win_rate == pytest.approx(value)
    assert asked.infos[-1].score_cp == round(756 * math.log(value / (1 - value)))


@pytest.mark.parametrize("batch", ["7", "1024"])
@pytest.mark.parametrize("sfen", [START_SFEN, MIDDLE])
def test_search1_player_plays_into_the_position_that_is_worst_for_the_opponent(sfen: str, batch: str) -> None:
    asked = hashing(shogi.search1(), sfen, DNN_Batch_Size=batch)
    answer = asked.go()
    position = ShogiPosition(sfen)
    rates = {}
    for move in map(position.usi, position.legal_moves().tolist()):
        position.push_usi(move)
        outcome = position.outcome()
        rates[move] = 1 - (outcome.value if outcome else opinion(position)[1])
        position.pop()
    best = max(rates, key=lambda move: rates[move])
    assert answer == BestMove(best)
    assert ratings(asked) == {f"{move:5} : {rate:.5f}" for move, rate in rates.items()}
    assert asked.infos[-1].pv == (best,)


def test_search1_player_mates() -> None:
    asked = hashing(shogi.search1(), MATE_IN_ONE)
    assert asked.go() == BestMove("G*5b")
    assert asked.infos[-1].score_cp == 29999


@pytest.fixture(params=[shogi.policy, shogi.search1])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


def test_temperature_draws_more_freely_the_higher_it_is(make: Make) -> None:
    counts = []
    for temperature in ("0", "30", "10000"):
        asked = hashing(make(), temperature=temperature, Random_Seed=1)
        counts.append(len(Counter(asked.go() for _ in range(60))))
    assert 1 == counts[0] < counts[1] < counts[2]


def test_a_seed_counts_from_when_it_is_set(make: Make) -> None:
    asked = hashing(make(), MIDDLE, temperature=300)
    answers = []
    for _ in range(2):
        asked.player.options.set("Random_Seed", "7")
        answers.append([asked.go() for _ in range(10)])
        asked.player.options.set("Random_Seed", "0")
        asked.go()
    assert answers[0] == answers[1]


def test_searchmoves(make: Make) -> None:
    assert hashing(make()).go(searchmoves=("9g9f", "9z9z")) == BestMove("9g9f")


@pytest.fixture
def engine(make: Make) -> Iterator[InProcess]:
    engine = make()
    engine.options.set("Backend", "hash")
    with closing(InProcess(engine)) as conversation:
        yield conversation.start()


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
    assert line.startswith("info depth 1 score cp 29999 ")
    assert answer == "bestmove win"
    assert engine.settle() == []


def test_a_missing_network_is_one_line(make: Make) -> None:
    conversation = InProcess(make())
    conversation.send("setoption name modelfile value none.npz", "isready")
    assert conversation.until("info string Error!")[-1].endswith("none.npz: No such file or directory")
    conversation.close()
