"""Self-play, what it teaches, and comparisons: mostly on Dobutsu shogi, with evaluators that need no network."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pydlshogi.catalogue import game_named
from pydlshogi.evaluator import CachedEvaluator, HashEvaluator, NetworkEvaluator, UniformEvaluator
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.shogi.encodings import DLSHOGI
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.learning.forest import Forest, over, score_of_mover, value_keeping
from pydlshogi.learning.moves import improved_policy, moves_for, sampled
from pydlshogi.learning.played import PlayedGames
from pydlshogi.learning.self_play import SelfPlayers
from pydlshogi.learning.settings import Cycle, SelfPlay
from pydlshogi.learning.tasks import compare, comparing, load_network, playing
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import write_weights
from pydlshogi.support.arrays import ArraysError, write_arrays
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.puct import Puct
from pydlshogi.uct.root import MoveStats
from tests.networks import random_weights
from utils.arena.games import Referee, Verdict

DOBUTSU = game_named("dobutsu")
SHOGI = game_named("shogi")
HASH = HashEvaluator(DOBUTSU.encoding)
QUICK = SelfPlay(games=12, playouts=12, cheap_playouts=4, opening_plies=2, draw_ply=40)
ALL = SelfPlay(games=12, playouts=12, full_share=1, opening_plies=0, draw_ply=40)
"""Every move is learned, so that the positions are the plies of the games, one after the other."""


@pytest.fixture(scope="module")
def all_moves() -> PlayedGames:
    return SelfPlayers(DOBUTSU, HASH, ALL).play((1, 0, 0))


def test_games_are_legal_and_end_as_the_rules_say(all_moves: PlayedGames) -> None:
    assert len(all_moves.lengths) == ALL.games
    for moves, score in zip(all_moves.games(), all_moves.scores.tolist(), strict=True):
        position = DobutsuPosition(draw_ply=ALL.draw_ply)
        for move in moves:
            assert move in position.legal_moves()
            position.push(move)
        outcome = position.outcome()
        of_mover = 0.0 if outcome is None else outcome.value
        assert len(position.legal_moves()) == 0 or of_mover == 0.5
        assert score == (1 - of_mover if len(moves) % 2 else of_mover)


def test_self_play_at_shogi_ends_games_when_a_referee_does(monkeypatch: pytest.MonkeyPatch) -> None:
    kings = "4k4/9/9/9/9/9/9/9/4K4 b - 1"
    start = lambda sfen=kings, draw_ply=0: ShogiPosition(sfen, draw_ply=draw_ply)  # noqa: E731
    monkeypatch.setattr(SHOGI, "position", start)
    settings = SelfPlay(games=6, playouts=4, opening_plies=0, draw_ply=300)
    played = SelfPlayers(SHOGI, HashEvaluator(DLSHOGI), settings).play((1,))
    endings = set()
    for moves in played.games():
        position, referee = ShogiPosition(kings), Referee(kings, settings.draw_ply)
        for left, move in enumerate(moves, 1 - len(moves)):
            usi = position.usi(move)
            position.push_usi(usi)
            verdict = referee.play(usi)
            assert (verdict is None) == (left < 0)
        endings.add(verdict)
    assert Verdict(None, "sennichite") in endings
    assert set(played.scores.tolist()) == {0.5}


def test_games_of_dobutsu_shogi_end_as_soon_as_a_position_comes_back() -> None:
    around = "1d1c 3a3b 1c1d 3b3a".split()
    assert not over(DobutsuPosition(moves=around[:3]))
    position = DobutsuPosition(moves=around)
    assert over(position)
    assert score_of_mover(position) == 0.5


def test_positions_teach_legal_moves_and_the_result_of_the_side_to_move(all_moves: PlayedGames) -> None:
    row = 0
    for moves, score in zip(all_moves.games(), all_moves.scores.tolist(), strict=True):
        position = DobutsuPosition(draw_ply=ALL.draw_ply)
        for ply, move in enumerate(moves):
            first, end = all_moves.firsts[row : row + 2]
            labels, weights = all_moves.labels[first:end], all_moves.weights[first:end]
            assert np.isin(labels, position.legal_moves()).all()  # its labels are the moves' own numbers
            assert weights.sum() == pytest.approx(1, abs=1e-5)
            assert move in labels
            assert all_moves.results[row] == (1 - score if ply % 2 else score)
            position.push(move)
            row += 1
    assert row == len(all_moves)
    assert {0.0, 1.0} <= set(all_moves.results.tolist())
    row = int(np.flatnonzero((all_moves.exact == 0) & (all_moves.results == 1))[0])
    assert all_moves.examples(0.3).values[row] == pytest.approx(0.7 + 0.3 * all_moves.searched[row])


def test_a_win_that_was_seen_is_exact_and_is_played(all_moves: PlayedGames) -> None:
    before_last = np.cumsum(all_moves.lengths) - 1
    decided = before_last[all_moves.scores != 0.5]
    assert all_moves.exact[decided].all()
    assert (all_moves.searched[decided] == 1).all()
    examples = all_moves.examples(0.3)
    assert (examples.values[decided] == 1).all()


def test_a_seed_decides_a_set_of_games_and_cheap_searches_are_not_learned() -> None:
    players = SelfPlayers(DOBUTSU, HASH, QUICK)
    first, other, again = (players.play(seed) for seed in ((3, 1), (3, 2), (3, 1)))
    assert first.games() == again.games()
    assert first.games() != other.games()
    assert len(SelfPlayers(DOBUTSU, HASH, replace(QUICK, full_share=0, cheap_playouts=12)).play((6,))) == 0


OTHERWISE = {
    "games": 13, "side_by_side": 5, "playouts": 24, "cheap_playouts": 8, "full_share": 0.9, "exploration": 3.0,
    "fpu_reduction": 0.0, "noise": 0.0, "noise_total": 1.0, "temperature": 0.1,
    "final_temperature": 2.0, "halflife": 1.0, "opening_plies": 4.0, "opening_random": 1.0, "draw_ply": 10,
    "until_mated": False, "resign": 0.0, "play_on": 0.9,
}  # fmt: skip


@pytest.mark.parametrize("name", [each.name for each in fields(SelfPlay) if each.name != "policy_temperature"])
def test_no_setting_of_self_play_is_without_effect(name: str) -> None:
    """But for one that the loader of a network takes: see the next test."""
    usual = replace(QUICK, resign=0.3)
    other = replace(usual, **{name: OTHERWISE[name]})
    one, other = (SelfPlayers(DOBUTSU, HASH, settings).play((4,)) for settings in (usual, other))
    assert [one.games(), one.weights.tobytes()] != [other.games(), other.weights.tobytes()]


def test_the_policys_temperature_reaches_self_play_and_comparisons(tmp_path: Path) -> None:
    tiny: dict[str, Any] = {"games": 2, "playouts": 8, "full_share": 1, "draw_ply": 24, "compare_playouts": 8}
    networks = []
    for seed in (1, 2):
        architecture = architecture_for(DOBUTSU.encoding, "policy_value_resnet", 1, 8)
        write_weights(tmp_path / "net.npz", random_weights(architecture, seed))
        networks.append((tmp_path / "net.npz").read_bytes())
    sets, counts = [], []
    for temperature in (0.05, 1.0, 20.0):
        settings = Cycle(**tiny, policy_temperature=temperature)
        with playing("dobutsu", networks[0], settings) as play:
            sets.append(play((1, 2))[0])
        with comparing("dobutsu", networks, 16, settings) as match:
            counts.append(match(((1, 2), 16)))
    assert len({each.weights.tobytes() for each in sets}) == 3
    assert len(set(map(tuple, counts))) > 1


def test_a_network_is_not_asked_twice_about_a_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_weights(
        tmp_path / "net.npz", random_weights(architecture_for(DOBUTSU.encoding, "policy_value_dense", 1, 8), 1)
    )
    backend = load_network(DOBUTSU, (tmp_path / "net.npz").read_bytes(), 16)
    predict, asked = backend.predict, list[bytes]()

    def noted(packed: Any, *rest: Any) -> Any:
        asked.extend(position.tobytes() for position in packed)
        return predict(packed, *rest)

    forgetful = SelfPlayers(DOBUTSU, NetworkEvaluator(backend, 1.5), ALL).play((5,))
    monkeypatch.setattr(backend, "predict", noted)
    evaluator = CachedEvaluator(backend, 1.5, DOBUTSU.rules.most_moves)
    played = SelfPlayers(DOBUTSU, evaluator, ALL).play((5,))
    assert [played.games(), played.weights.tobytes()] == [forgetful.games(), forgetful.weights.tobytes()]
    assert len(asked) > len(played)
    before = len(asked)
    SelfPlayers(DOBUTSU, evaluator, ALL).play((5,))
    assert len(asked) - before < before // 100, "but where two have the same place"


def test_openings_are_varied_and_not_learned() -> None:
    settings = SelfPlay(games=40, playouts=4, full_share=1, opening_plies=30, opening_random=1, draw_ply=12)
    played = SelfPlayers(DOBUTSU, HASH, settings).play((8,))
    assert len({tuple(moves[:4]) for moves in played.games() if len(moves) > 3}) > 30
    assert len(played) < len(played.moves)
    assert min(played.lengths) > 0
    assert len(played) > 0, "an opening that ends the game is drawn anew"


def test_sides_give_up_and_some_play_on() -> None:
    settings = SelfPlay(games=40, playouts=12, resign=0.4, play_on=0.5, opening_plies=0, draw_ply=40)
    played = SelfPlayers(DOBUTSU, HASH, settings).play((7,))
    gave_up, wrongly = played.misjudged
    assert 0 < wrongly <= gave_up < 40
    ended = [len(moves) for moves, score in zip(played.games(), played.scores, strict=True) if score != 0.5]
    assert min(ended) < 5


def test_games_are_written_whole_and_read_again(all_moves: PlayedGames, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    write_arrays(path, all_moves)
    assert np.array_equal(PlayedGames.read(path).labels, all_moves.labels)
    whole = path.read_bytes()
    entry = whole.index(b"PK\1\2")  # of the directory: its flags are 8 bytes further on, the method two more
    changed = [whole[: entry + at] + bytes([whole[entry + at] ^ 1]) + whole[entry + at + 1 :] for at in (8, 10)]
    for damage in (whole[:1000], b"", b"nothing", *changed):
        path.write_bytes(damage)
        with pytest.raises(ArraysError, match="holds no games"):
            PlayedGames.read(path)


def test_the_one_who_judges_better_wins() -> None:
    class Upside(UniformEvaluator):
        """Likes positions in which the other side has more moves."""

        def evaluate(self, batch: Batch) -> Evaluations:
            counts = np.diff(batch.firsts[: len(batch) + 1])
            return Evaluations(super().evaluate(batch).priors, (1 / (1 + counts / 10)).astype(np.float32))

    class Mobile(Upside):
        """Likes positions in which it has more moves."""

        def evaluate(self, batch: Batch) -> Evaluations:
            priors, values, _ = super().evaluate(batch)
            return Evaluations(priors, 1 - values)

    counts = compare(DOBUTSU, (Mobile(), Upside()), Puct(), 30, 40, 80, (2,))
    assert sum(counts) == 20
    assert counts[3] + counts[4] > 2 * (counts[0] + counts[1])


def test_who_keeps_too_few_values_is_not_asked_about_all_positions() -> None:
    start = DobutsuPosition()
    right, wrong = (start, frozenset(start.legal_moves().tolist())), (start, frozenset[int]())
    positions = [wrong] * 3 + [right] * 253 + [wrong] * 256
    assert value_keeping(DOBUTSU, positions, UniformEvaluator(), 2) == 253 / 512
    assert value_keeping(DOBUTSU, positions, UniformEvaluator(), 2, goal=0.995) == 253 / 256


def test_a_win_in_one_is_found_and_equal_players_share_every_pair() -> None:
    forest = Forest(DOBUTSU, UniformEvaluator(), Puct(), 50, 2)
    position = DobutsuPosition("1l1/1C1/3/1L1 b - 1")
    best = forest.search({1: position}, 50)[1][0]
    assert (position.usi(best.move), best.plies) == ("2b2a+", 1)
    assert compare(DOBUTSU, (HASH, HASH), Puct(), 8, 12, 60, (1,)) == [0, 0, 6, 0, 0]


def move(visits: int, prior: float, value: float, plies: int | None = None) -> MoveStats:
    return MoveStats(0, visits, value, 0.1, prior, plies)


@pytest.mark.parametrize(
    ("visits", "proven", "best", "opening", "sharpness", "often"),
    [
        ([50, 40, 0], [0, 0, 0], 0, False, 1.0, [50, 40, 0]),
        ([60, 30, 0], [0, 0, 0], 0, False, 2.0, [72, 18, 0]),
        ([60, 3, 0], [0, 1, 0], 1, False, 1.0, [0, 90, 0]),
        ([60, 5, 0], [-2, 0, 0], 1, False, 1.0, [0, 90, 0]),
        ([60, 5, 0], [-2, -4, -2], 1, False, 1.0, [0, 90, 0]),
        ([0, 0, 0], [0, 0, 0], 2, False, 1.0, [0, 0, 90]),
        ([60, 5, 0], [-2, 1, 0], 1, True, 2.0, [18, 27, 45]),
    ],
)
def test_moves_are_sampled_by_visits_but_where_something_is_proven(
    visits: list[int], proven: list[int], best: int, opening: bool, sharpness: float, often: list[int]
) -> None:
    moves = moves_for(3)
    moves.visits[:], moves.proven[:], moves.priors[:] = visits, proven, [0.2, 0.3, 0.5]
    chosen = [sampled(moves, 3, best, opening, sharpness, (i + 0.5) / 90) for i in range(90)]
    assert np.bincount(chosen, minlength=3).tolist() == often


def test_a_policy_is_improved_by_what_moves_turned_out_to_be_worth() -> None:
    moves = [move(4, 0.2, 0.7), move(1, 0.5, 0.4), move(0, 0.3, np.nan)]
    by_hand = np.array([0.2 * np.exp((4.2 + 1.75 * 2) * 0.1), 0.5 * np.exp((4.2 + 1.75) * -0.2), 0.3])
    assert improved_policy(moves, np.array([0.2, 0.5, 0.3]), 0.6) == pytest.approx(by_hand / by_hand.sum())
    assert improved_policy([move(3, 0.1, 1.0, 1), move(60, 0.9, 0.6)], np.array([0.1, 0.9]), 1.0).tolist() == [1, 0]
    assert improved_policy([move(5, 0.1, 0.4), move(9, 0.9, 0.3, -2)], np.array([0.1, 0.9]), 0.3).tolist() == [1, 0]
