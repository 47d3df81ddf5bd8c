"""The search on games that can be checked by eye: tic-tac-toe, and graphs of letters drawn in the test."""

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from both_boards import ReplayedBoards
from test_uct_node import contents, reached
from tic_tac_toe import Letters, TicTacToe

from examples.search_in_a_page import Search as Page
from pydlshogi.evaluator import HashEvaluator, RolloutEvaluator, UniformEvaluator
from pydlshogi.game import MATED, Outcome, Position
from pydlshogi.games.shogi.game import GAME as SHOGI
from pydlshogi.player.mcts_options import NetworkOptions
from pydlshogi.player.network_player import Network
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.puct import DEFAULT_PUCT, Puct, exploration, first_value, lost_score, score
from pydlshogi.uct.root import MoveStats, Root
from pydlshogi.uct.search import Search
from pydlshogi.uct.tree import AWAITED, EXPANDED, MAX_BATCH, MAX_DEPTH, NONE, TERMINAL
from pydlshogi.uct.uct_node import UctNodeTable, free_unreferenced

WON = Outcome(1.0, plies=1)
DRAW = Outcome(0.5)

BOOK_PUCT = Puct(1.0, 1e12, 0.0, 1.0, 1e12, 0.0, unvisited=0.5)
"""The formula of the python-dlshogi book: Q + C_PUCT P sqrt(N) / (1 + n), C_PUCT 1.0, unvisited Q 0.5.

With c_base this large, c(N) stays c_init.
"""
IAGO_PUCT = Puct(0.5, 1e12, 0.0, 0.5, 1e12, 0.0, unvisited=0.5, u_offset=0.01, prior_bonus=0.1, expand_at=15)


class Opinions:
    """An evaluator with an opinion on each letter: 0.5 and equal priors where nothing is said."""

    def __init__(self, values: Mapping[str, float] | None = None, weights: Mapping[str, float] | None = None) -> None:
        self.values = values or {}
        self.weights = weights or {}
        self.asked = ""

    encoding = None

    def evaluate(self, batch: Batch) -> Evaluations:
        letters = [chr(key) for key in batch.keys[: len(batch)].tolist()]
        self.asked += "".join(letters)
        priors: list[float] = []
        for first, stop in pairwise(batch.firsts[: len(batch) + 1].tolist()):
            weights = [self.weights.get(chr(move), 1.0) for move in batch.labels[first:stop]]
            priors += [weight / sum(weights) for weight in weights]
        values = [self.values.get(letter, 0.5) for letter in letters]
        return Evaluations(np.array(priors, np.float32), np.array(values, np.float32))


class SearchOfOne(Search):
    """A search with the root of its one tree, and the position that this is."""

    def __init__(
        self, position: Position, puct: Puct = DEFAULT_PUCT, megabytes: int = 4, only: Iterable[int] = ()
    ) -> None:
        super().__init__(UctNodeTable(megabytes, average_moves=80, most_moves=600), ReplayedBoards(600), puct)
        self.root = Root(self)
        self.position = position
        self.set_root(position, only)

    def batch(self, capacity: int = MAX_BATCH) -> Batch:
        return Batch(capacity, self.boards.most_moves)


def step(search: SearchOfOne, evaluator: Any, playouts: int) -> None:
    """One batch."""
    batch, before = search.batch(max(1, playouts)), search.playouts
    leaves = search.gather(batch, playouts)
    assert leaves.playouts == search.playouts - before
    search.backup(leaves, evaluator.evaluate(batch))


def run(search: SearchOfOne, evaluator: Any, playouts: int, batch: int = 1, check: bool = False) -> SearchOfOne:
    """Search on until `playouts` playouts have been made since the root was set."""
    while search.playouts < playouts:
        step(search, evaluator, batch)
        if check:
            check_invariants(search)
    return search


def letters_of(search: SearchOfOne) -> dict[str, MoveStats]:
    return {chr(stats.move): stats for stats in search.root.moves()}


EDGE = np.dtype([("move", "u2"), ("prior", "f4"), ("visits", "i4"), ("value_sum", "f8"), ("child", "i4")])


def names_of(table: UctNodeTable) -> dict[int, tuple[int, int]]:
    """(key, ply) of every node that can be found."""
    nodes = table.tree.slots[table.tree.slots != NONE].tolist()
    return {node: (int(table.tree.nodes[node]["key"]), int(table.tree.nodes[node]["ply"])) for node in nodes}


def edges_of(search: Search, node: int) -> Any:
    """A copy of the edges of a node, with their statistics."""
    tree = search.table.tree
    record = tree.nodes[node]
    edges = np.zeros(record["count"], EDGE)
    edges["child"] = NONE
    here = slice(record["first"], record["first"] + record["count"])
    edges["move"], edges["prior"] = tree.moves[here], tree.priors[here]
    stats = tree.stats[record["stats"] : record["stats"] + record["visited_edges"]]
    for name in ("visits", "value_sum", "child"):
        edges[name][: len(stats)] = stats[name]
    return edges


def node_of(search: SearchOfOne, letter: str, ply: int) -> int:
    return search.table.find(ord(letter), ply)


def edge_of(search: SearchOfOne, letter: str, ply: int, move: str) -> Any:
    edges = edges_of(search, node_of(search, letter, ply))
    return edges[edges["move"] == ord(move)][0]


def check_invariants(search: SearchOfOne, in_flight: bool = False, from_scratch: bool = True) -> None:
    """What must hold after every batch.

    `in_flight`: leaves are out. `from_scratch`: one batch at a time, and nothing taken over from an earlier root, where
    freed edges had led to nodes that were kept.
    """
    names = names_of(search.table)
    numbers = sorted(names)
    of_number = {number: place for place, number in enumerate(numbers)}
    size = len(numbers)
    nodes = search.table.tree.nodes[numbers]
    edges = np.concatenate([edges_of(search, number) for number in numbers])
    assert size == len(search.table)
    assert len(set(names.values())) == size
    of_node = np.repeat(np.arange(size), nodes["count"])

    def total(column: np.ndarray) -> np.ndarray:
        return np.bincount(of_node, column, minlength=size)

    # No two nodes share an edge, and of the edges of a node those come first that were visited.
    places = [range(record["first"], record["first"] + record["count"]) for record in nodes]
    assert len({place for edges_here in places for place in edges_here}) == nodes["count"].sum()
    for record in nodes[nodes["state"] == EXPANDED]:
        priors = search.table.tree.priors[record["first"] + record["visited_edges"] : record["first"] + record["count"]]
        assert len(priors) == 0 or priors[0] == priors.max()

    assert (nodes["visits"] == total(edges["visits"])).all()
    awaited = nodes["state"] == AWAITED
    np.testing.assert_allclose(nodes["visited_policy"], total(edges["prior"] * (edges["visits"] > 0)), atol=1e-5)
    known = (nodes["evaluations"] == 1) & ~awaited
    np.testing.assert_allclose(
        nodes["value_sum"][known], (nodes["value"] + total(edges["value_sum"]))[known], atol=1e-6
    )
    assert ((edges["value_sum"] > -1e-9) & (edges["value_sum"] < edges["visits"] + 1e-9)).all()
    assert ((nodes["in_flight"] >= 0) & (nodes["in_flight"] <= nodes["visits"])).all()
    if not in_flight:
        assert not nodes["in_flight"].any()
        assert not awaited.any()

    tied = edges["child"] >= 0
    assert (edges["child"][~tied] == NONE).all()
    children = np.array([of_number[child] for child in edges["child"][tied].tolist()], np.int64)
    assert (nodes["ply"][children] == nodes["ply"][of_node[tied]] + 1).all()
    references = np.bincount(children, minlength=size)
    root = of_number[search.root_node()]
    references[root] += 1
    assert (nodes["references"] == references).all()
    assert nodes["to_free"][references == 0].all()
    if from_scratch:
        visits_into = np.bincount(children, edges["visits"][tied], minlength=size)
        edges_into = np.bincount(children, edges["visits"][tied] > 0, minlength=size)
        # The playout that first follows an edge stops at its end; all later ones go on below, until it is proven.
        below = nodes["visits"] + edges_into
        open_ended = (nodes["state"] == EXPANDED) & (nodes["proof"] == 0)
        not_root = np.arange(size) != root
        assert (visits_into >= below)[not_root].all()
        assert (visits_into == below)[not_root & open_ended].all()
        if search.root.expanded:
            assert search.playouts == search.root.visits


@cache
def solution(played: tuple[int, ...]) -> tuple[float, int]:
    """Tic-tac-toe by minimax: the value for the side to move and the plies until a win or loss, best played."""
    game = TicTacToe(played)
    if end := game.outcome():
        return end.value, 0
    replies = [solution((*played, move)) for move in game.legal_moves().tolist()]
    value = max(1 - reply for reply, _ in replies)
    plies = [1 + plies for reply, plies in replies if 1 - reply == value]
    return value, min(plies) if value == 1 else max(plies)


def played_to(key: int) -> tuple[int, ...]:
    """Some order of moves that leads to the position of this key."""
    cells = [key // 3**cell % 3 for cell in range(9)]
    firsts, seconds = ([cell for cell in range(9) if cells[cell] == side] for side in (1, 2))
    return tuple(cell for pair in zip(firsts, [*seconds, -1], strict=False) for cell in pair if cell >= 0)


def test_the_value_changes_sides_at_every_ply() -> None:
    """R to move likes what A's side to move (the opponent) does not like, and what C's (itself) likes."""
    search = SearchOfOne(Letters({"R": "A", "A": "C", "C": "D", "D": "E", "E": "F"}, "R"))
    opinions = Opinions({"R": 0.5, "A": 0.3, "C": 0.8, "D": 0.1})
    run(search, opinions, 1)
    assert letters_of(search)["A"].value == pytest.approx(0.7)
    assert search.root.value == pytest.approx((0.5 + 0.7) / 2)
    run(search, opinions, 2)
    assert letters_of(search)["A"].value == pytest.approx((0.7 + 0.8) / 2)
    run(search, opinions, 3)
    assert letters_of(search)["A"].value == pytest.approx((0.7 + 0.8 + 0.9) / 3)
    assert search.root.value == pytest.approx((0.5 + 0.7 + 0.8 + 0.9) / 4)
    assert opinions.asked == "RACD"
    assert search.deepest == 3


def test_before_and_after_the_first_evaluation() -> None:
    search = SearchOfOne(Letters({"R": "AB"}, "R"))
    assert not search.root.expanded
    assert search.root.moves() == []
    assert math.isnan(search.root.value)
    assert (search.root.plies, search.root.visits) == (None, 0)
    opinions = Opinions({"R": 0.25}, {"A": 3.0})
    step(search, opinions, 8)
    assert opinions.asked == "R"
    assert search.root.expanded
    assert search.playouts == search.root.visits == 0
    assert search.root.value == 0.25
    unvisited = {letter: (stats.visits, stats.prior, stats.plies) for letter, stats in letters_of(search).items()}
    assert unvisited == {"A": (0, 0.75, None), "B": (0, 0.25, None)}
    assert math.isnan(letters_of(search)["A"].value)


def test_a_batch_asks_about_different_positions() -> None:
    """A visit in flight counts as a loss: of three moves alike, three playouts try all."""
    search = SearchOfOne(Letters({"R": "ABC", "A": "D", "B": "D", "C": "D"}, "R"))
    opinions = Opinions()
    run(search, opinions, 3, batch=3)
    assert sorted(opinions.asked) == ["A", "B", "C", "R"]
    assert [stats.visits for stats in search.root.moves()] == [1, 1, 1]


def test_the_lead_and_the_line_follow_the_most_visited_moves() -> None:
    game = Letters({"R": "AB", "A": "C", "B": "C", "C": "D"}, "R")
    search = run(SearchOfOne(game), Opinions({"A": 0.1, "B": 0.9}), 9)
    visits = [stats.visits for stats in search.root.moves()]
    assert search.root.leader() == (search.root.moves()[0].move, visits[0] - visits[1])
    assert visits[0] > visits[1]
    assert run(SearchOfOne(Letters({"R": "A", "A": "C"}, "R")), Opinions(), 1).root.leader() == (ord("A"), None)
    graph = {"R": "AB", "A": "CD", "B": "E", "C": "F", "D": "F", "E": "F", "F": "G"}
    search = run(SearchOfOne(Letters(graph, "R")), Opinions({"C": 0.2, "D": 0.9}), 40)
    # At A the other side moves, and likes C because C's side to move does not.
    assert "".join(map(chr, search.root.line(ord("A")))).startswith("AC")
    assert "".join(map(chr, search.root.line(ord("B")))).startswith("BE")


SIZES = pytest.mark.parametrize(("batch", "playouts"), [(1, 100), (8, 300), (64, 600)])
"""The whole tree is looked at after each batch, so there are fewer where these are small."""


@SIZES
def test_invariants_after_every_batch(batch: int, playouts: int) -> None:
    search = SearchOfOne(TicTacToe())
    run(search, HashEvaluator(), playouts, batch, check=True)
    assert playouts <= search.root.visits < playouts + batch


def evaluation_of(game: Position, evaluator: Any) -> Evaluations:
    """What the evaluator says of one position."""
    batch = Batch(1, 600)
    batch.add(game, game.legal_moves())
    return evaluator.evaluate(batch)


@pytest.mark.parametrize("batch", [1, 64])
def test_every_node_has_its_own_evaluation(batch: int) -> None:
    """Whatever batch it came in: priors and value are those the evaluator gives the position alone."""
    search = run(SearchOfOne(TicTacToe()), HashEvaluator(), 300, batch)
    compared = 0
    for node, (key, _) in names_of(search.table).items():
        record = search.table.tree.nodes[node]
        if record["state"] == EXPANDED:
            game = TicTacToe(played_to(key))
            alone = evaluation_of(game, HashEvaluator())
            edges = edges_of(search, node)
            priors = dict(zip(game.legal_moves().tolist(), alone.priors.tolist(), strict=True))
            assert dict(zip(edges["move"].tolist(), edges["prior"].tolist(), strict=True)) == priors
            assert record["value"] == alone.values[0]
            compared += 1
    assert compared > 100


@SIZES
def test_batches_in_flight_leave_no_trace(batch: int, playouts: int) -> None:
    """Three batches out at once: what runs into an awaited node is undone, and no position is asked about twice."""
    search = SearchOfOne(TicTacToe())
    evaluator = HashEvaluator()
    batches = [search.batch(batch) for _ in range(3)]
    asked: Counter[int] = Counter()
    undone = 0
    step(search, evaluator, 1)
    while search.playouts < playouts:
        flight = []
        for filled in batches:
            before = search.playouts
            filled.clear()
            leaves = search.gather(filled, batch)
            undone += batch - (search.playouts - before)
            asked.update(filled.keys[: len(filled)].tolist())
            flight.append((leaves, evaluator.evaluate(filled)))
            check_invariants(search, in_flight=True, from_scratch=False)
        assert search.root.visits == search.playouts
        for leaves, evaluations in flight:
            search.backup(leaves, evaluations)
        check_invariants(search, from_scratch=False)
        assert search.root.visits == search.playouts
    assert undone > 0 or batch == 1
    assert set(asked.values()) == {1}


def test_a_collision_is_undone() -> None:
    """There is one position to ask about: of four playouts one stands, of the next batch none."""
    search = SearchOfOne(Letters({"R": "A", "A": "B"}, "R"))
    opinions = Opinions()
    first, second = search.batch(4), search.batch(4)
    step(search, opinions, 4)
    leaves = search.gather(first, 4)
    assert (len(first), search.playouts, search.root.visits) == (1, 1, 1)
    others = search.gather(second, 4)
    assert (len(second), search.playouts, search.root.visits) == (0, 1, 1)
    assert search.table.tree.nodes[search.root_node()]["in_flight"] == 1
    assert search.root.value == 0.5  # of what is backed up: the root's own evaluation
    search.backup(leaves, opinions.evaluate(first))
    search.backup(others, opinions.evaluate(second))
    check_invariants(search)
    assert letters_of(search)["A"].visits == 1
    # A batch of one is cut short by its second collision. With a prior of 0.7 A is left for B after one of them.
    for prior, begun in ((0.7, 1), (0.79, 0)):
        opinions = Opinions(weights={"A": prior, "B": 1 - prior})
        search = SearchOfOne(Letters({"R": "AB", "A": "C", "B": "C"}, "R"), BOOK_PUCT._replace(unvisited=0.0))
        step(search, opinions, 1)
        assert [search.gather(search.batch(), 1).playouts for _ in range(2)] == [1, begun]


def test_visits_under_way_do_not_lower_what_moves_are_worth() -> None:
    goes_on = dict.fromkeys("DEFGHI", "J")
    search = SearchOfOne(Letters({"R": "ABC", "A": "DE", "B": "FG", "C": "HI", **goes_on, "J": "K"}, "R"))
    opinions = Opinions()
    run(search, opinions, 4)
    before = {move.move: move.value for move in search.root.moves()}
    batch = search.batch(3)
    leaves = search.gather(batch, 3)
    assert {move.move: move.value for move in search.root.moves()} == pytest.approx(before, nan_ok=True)
    assert sum(move.visits for move in search.root.moves()) > 3
    search.backup(leaves, opinions.evaluate(batch))


def test_a_position_without_moves_is_lost_and_no_root() -> None:
    search = SearchOfOne(Letters({"R": "A"}, "R"))
    with pytest.raises(ValueError, match="the root has no legal move"):
        search.set_root(Letters({"R": ""}, "R"))
    search.set_root(Letters({"R": "A", "A": "B"}, "R"))
    assert run(search, Opinions(), 1).root.visits == 1
    # The rules gave no verdict on A, but it has no move.
    search = run(SearchOfOne(Letters({"R": "AB", "A": "", "B": "C", "C": "B"}, "R")), Opinions(), 5, batch=2)
    assert search.root.plies == 1
    assert letters_of(search)["A"].plies == 1


@pytest.mark.parametrize("seed", range(12))
def test_invariants_on_random_graphs(seed: int) -> None:
    """Cycles, verdicts, repetitions, batches in flight, advances and restricted roots in any order."""
    rng = random.Random(seed)
    letters = "ABCDEFGHIJKL"
    graph = {letter: "".join(rng.sample(letters, rng.randint(1, 4))) for letter in letters}
    ends = {letter: rng.choice((MATED, WON, DRAW)) for letter in rng.sample(letters[1:], 2)}
    repetition = rng.choice((Outcome(0.5, by_path=True), Outcome(0.0, by_path=True), Outcome(1.0, by_path=True)))
    game = Letters(graph, "A", ends, repetition)
    search = SearchOfOne(game, megabytes=rng.choice((0, 1)))
    evaluator = HashEvaluator()
    batches = [search.batch(16) for _ in range(3)]
    run(search, evaluator, 1)
    for _ in range(60):
        flight = []
        for batch in batches:
            batch.clear()
            flight.append((batch, search.gather(batch, rng.choice((1, 4, 16)))))
        for batch, leaves in flight:
            search.backup(leaves, evaluator.evaluate(batch))
        check_invariants(search, from_scratch=False)
        moves = [stats.move for stats in search.root.moves() if game.graph[chr(stats.move)]]
        if rng.random() < 0.1 and moves and chr(moves[0]) not in ends:
            search.position.push(moves[0])
            search.set_root(search.position)
        elif rng.random() < 0.1:
            search.set_root(game, rng.sample(game.legal_moves().tolist(), 1))
        if not search.root.expanded:
            run(search, evaluator, 1)
        check_invariants(search, from_scratch=False)
    check_proofs(search, graph, ends)


class Rollouts:
    """Their results depend on the position and on how often it was asked about."""

    def __init__(self) -> None:
        self.asked = Counter[int]()

    def results(self, batch: Batch) -> np.ndarray:
        keys = batch.keys[: len(batch)].tolist()
        self.asked.update(keys)
        return np.array([(key // 7 + 13 * self.asked[key]) % 3 / 2 for key in keys], np.float32)


class Lasting:
    """A HashEvaluator that need not compute the values that are known."""

    encoding = None

    def __init__(self) -> None:
        self.computed = Counter[int]()

    def evaluate(self, batch: Batch) -> Evaluations:
        said, known = HashEvaluator().evaluate(batch), batch.known_values[: len(batch)]
        self.computed.update(batch.keys[: len(batch)][np.isnan(known)].tolist())
        assert (np.isnan(known) | (known == said.values)).all()
        return said


@pytest.mark.parametrize("start", [(), (4,), (0, 4), (0, 1, 3), (4, 1, 8)])
@pytest.mark.parametrize(
    ("puct", "share"),
    [(DEFAULT_PUCT, 0), (BOOK_PUCT, 0), (Puct(0.7, 50.0, 0.4, 2.0, 30.0, 0.1), 0),
     (Puct(1.0, 19652.0, unvisited=0.0), 0), (IAGO_PUCT, 0.5),
     (IAGO_PUCT._replace(expand_at=3, evaluate_anew=False), 0)],
    ids=["default", "book", "steep", "alphazero", "iago", "iago without rollouts"],
)  # fmt: skip
def test_the_search_is_the_slow_obvious_one(start: tuple[int, ...], puct: Puct, share: float) -> None:
    lasting, rollouts = Lasting(), Rollouts()
    evaluator = RolloutEvaluator(lasting, rollouts.results, share)
    other = RolloutEvaluator(HashEvaluator(), Rollouts().results, share)

    def network(game: Position, _: object) -> tuple[np.ndarray, float]:
        priors, (value,), _ = evaluation_of(game, other)
        return priors, value

    slow = Page(TicTacToe(start), network, puct)
    search = SearchOfOne(TicTacToe(start), puct)
    for playouts in (1, 2, 3, 10, 50, 200, 400):
        run(search, evaluator, playouts)
        slow.go(playouts)
        visits = dict(zip(slow.root.moves, slow.root.N.tolist(), strict=True))
        assert {stats.move: stats.visits for stats in search.root.moves()} == visits
        assert search.root.value == pytest.approx(slow.root.mean())
    for name, node in slow.nodes.items():
        if node.values and not node.proof:
            record = search.table.tree.nodes[search.table.find(*name)]
            assert record["evaluations"] == len(node.values)
            assert record["value_sum"] == pytest.approx(sum(node.values) + node.W.sum())
    assert max(lasting.computed.values()) == 1
    assert (max(rollouts.asked.values()) > 10) is (puct is IAGO_PUCT)


def test_the_page_plays_shogi_as_the_engine_does() -> None:
    network, position = Network(SHOGI), SHOGI.position()
    network.prepare(NetworkOptions())
    page = Page(position, network.evaluate)
    page.go(100)
    search, batch = network.new_search(16), network.new_batch(1)
    search.set_root(position)
    while search.playouts < 100:
        batch.clear()
        search.backup(search.gather(batch, 1), network.loaded.evaluator.evaluate(batch))
    visits = {stats.move: stats.visits for stats in Root(search).moves()}
    apart = [visits[move & 0xFFFF] - count for move, count in zip(page.root.moves, page.root.N.tolist(), strict=True)]
    assert sum(map(abs, apart)) <= 4, "the engine's priors and values are float32"


def test_the_formula_by_hand() -> None:
    puct = Puct()
    assert exploration(puct, False, 4) == pytest.approx(2 * (1.44 + math.log((4 + 28289) / 28288)))
    assert exploration(puct, True, 4) == pytest.approx(2 * (1.16 + math.log((4 + 25618) / 25617)))
    assert exploration(puct, True, 0) == pytest.approx(1.16 + math.log(25618 / 25617), abs=1e-9)
    assert first_value(puct, False, mean=0.6, visited_policy=0.25) == pytest.approx(0.6 - 0.27 * 0.5)
    assert first_value(puct, True, mean=0.6, visited_policy=0.25) == 0.6
    assert first_value(puct, False, mean=0.1, visited_policy=1.0) == 0
    assert first_value(puct, False, mean=0.6, visited_policy=-1e-9) == 0.6
    scores = [score(puct, value=0.5, prior=0.2, visits=visits, explored=10.0) for visits in (0, 3)]
    assert scores == pytest.approx([2.5, 1.0])
    assert lost_score(prior=1.0, explored=10.0) < 0 < lost_score(0.2, 10.0) - lost_score(0.1, 10.0)


@pytest.mark.parametrize(
    ("game", "evaluated"),
    [
        (Letters({"R": "AB", "B": "C"}, "R", {"A": DRAW, "C": DRAW}), 1),
        (Letters({"R": "AB", "B": "C", "C": "B"}, "R", {"A": DRAW}, repetition=Outcome(0.5, by_path=True)), 2),
    ],
    ids=["by the rules", "by repetition"],
)
def test_a_draw_is_worth_what_the_side_at_the_root_says(game: Letters, evaluated: int) -> None:
    """A is drawn one ply down; below B two plies down by the rules, or three by repetition: 0.3 to the root's side.

    Before the first draw below B, B (and in the second game C) is evaluated, and pays 0.5.
    """
    letters = letters_of(run(SearchOfOne(game, Puct(draw_value=0.3)), Opinions(), 60))
    assert letters["A"].visits > 5
    assert letters["A"].value == pytest.approx(0.3)
    visits = letters["B"].visits
    assert visits * letters["B"].value == pytest.approx(0.5 * evaluated + 0.3 * (visits - evaluated))
    assert run(SearchOfOne(game), Opinions(), 60).root.value == pytest.approx(0.5)


def test_only_the_moves_asked_for_are_searched() -> None:
    search = SearchOfOne(TicTacToe(), only=[3, 7])
    run(search, HashEvaluator(), 100, check=True)
    assert {stats.move for stats in search.root.moves()} == {3, 7}
    assert sum(stats.visits for stats in search.root.moves()) == search.root.visits >= 100
    assert all(stats.visits for stats in search.root.moves())
    edges = edges_of(search, search.root_node())
    assert edges["visits"][~np.isin(edges["move"], [3, 7])].sum() == 0
    for only in combinations(range(9), 2):
        first, second = run(SearchOfOne(TicTacToe(), only=only), HashEvaluator(), 1).root.moves()
        assert (first.visits, first.prior >= second.prior) == (1, True)
    # B is mated at once; A loses to a mate in one.
    graph = {"R": "AB", "A": "C"}
    game = Letters(graph, "R", {"A": WON, "B": MATED})
    search = run(SearchOfOne(game, only=[ord("A")]), Opinions(), 5)
    assert [(chr(stats.move), stats.visits, stats.plies) for stats in search.root.moves()] == [("A", 5, -2)]
    search = SearchOfOne(TicTacToe())
    with pytest.raises(ValueError, match="none of the moves asked for is legal"):
        search.set_root(TicTacToe([4]), [4])
    search.set_root(TicTacToe([4]), [4, 5])
    run(search, HashEvaluator(), 5)
    assert [stats.move for stats in search.root.moves()] == [5]
    with pytest.raises(ValueError, match="none of the moves asked for is legal"):
        search.set_root(TicTacToe([4]), [4])


def test_a_restriction_can_come_and_go_with_the_same_root() -> None:
    """What was learned of the other moves stays; it is neither searched nor shown."""
    game = TicTacToe()
    search = run(SearchOfOne(game), HashEvaluator(), 100)
    before = {stats.move: stats.visits for stats in search.root.moves()}
    search.set_root(game, [8])
    run(search, HashEvaluator(), 50)
    assert [(stats.move, stats.visits) for stats in search.root.moves()] == [(8, before[8] + 50)]
    assert search.root.leader() == (8, None)
    search.set_root(game)
    assert {stats.move: stats.visits for stats in search.root.moves()} == before | {8: before[8] + 50}


@pytest.mark.parametrize("batch", [1, 2])
def test_an_evaluation_is_shared_by_all_who_come(batch: int) -> None:
    """D is reached through A and through B and asked about once; who comes second backs up its mean, no more."""
    search = SearchOfOne(Letters({"R": "AB", "A": "D", "B": "D", "D": "E", "E": "F"}, "R"), BOOK_PUCT)
    opinions = Opinions({"D": 0.55})
    run(search, opinions, 2, batch)
    run(search, opinions, 4, batch)
    assert opinions.asked == "RABD"
    check_invariants(search)
    assert edge_of(search, "A", 1, "D")["child"] == edge_of(search, "B", 1, "D")["child"] == node_of(search, "D", 2)
    assert {(stats.visits, round(stats.value, 6)) for stats in search.root.moves()} == {(2, 0.525)}
    assert search.table.tree.nodes[node_of(search, "D", 2)]["visits"] == 0


@pytest.mark.parametrize("batch", [1, 16])
def test_advance_keeps_the_subtree_and_nothing_else(batch: int) -> None:
    game = TicTacToe()
    search = run(SearchOfOne(game), HashEvaluator(), 1500, batch)
    before = contents(search.table)
    best = search.root.moves()[0]
    below = reached(before, (TicTacToe([best.move]).key(), 1))
    search.position.push(best.move)
    search.set_root(search.position)
    free_unreferenced(search.table.tree, len(search.table))
    assert game.played == [best.move]
    after = contents(search.table)
    assert after.keys() == below
    assert all(after[name] == before[name] for name in below)
    assert len(before) > len(after) == len(search.table) > 100
    assert search.root_node() == search.table.find(game.key(), 1)
    assert search.root.expanded
    assert search.playouts == search.deepest == 0
    assert search.root.visits == best.visits - 1
    value_sum, visits, *_ = before[game.key(), 1].node
    assert search.root.value == pytest.approx(value_sum / (1 + visits))
    run(search, HashEvaluator(), 200, batch)
    assert search.root.visits >= best.visits - 1 + 200
    check_invariants(search, from_scratch=False)


def test_a_root_that_was_closed_gets_its_moves_after_all() -> None:
    """A was closed as a mate in one, without moves; as a root it is searched."""
    game = Letters({"R": "A", "A": "BC", "B": "D", "C": "D", "D": "E"}, "R", {"A": WON, "B": MATED})
    search = run(SearchOfOne(game), Opinions(), 2)
    assert search.table.tree.nodes[node_of(search, "A", 1)]["state"] == TERMINAL
    search.position.push(ord("A"))
    search.set_root(search.position)
    assert not search.root.expanded
    run(search, Opinions(), 5)
    assert chr(search.root.moves()[0].move) == "B"
    assert search.root.plies == 1


def check_proofs(search: SearchOfOne, graph: Mapping[str, str], ends: Mapping[str, Outcome]) -> int:
    """Every proof holds without a look at any path: it is a win or a loss within as many plies. Returns how many."""
    within: dict[str, tuple[bool, int]] = {
        letter: (end.value == 1, end.plies) for letter, end in ends.items() if end.value != 0.5
    }
    for _ in range(200):
        for letter, moves in graph.items():
            if letter not in ends:
                replies = [within.get(move) for move in moves]
                lost = [reply[1] for reply in replies if reply and not reply[0]]
                if lost:
                    within[letter] = (True, 1 + min(lost))
                elif all(replies):
                    within[letter] = (False, 1 + max(reply[1] for reply in replies if reply))
    count = 0
    for node, (key, _) in names_of(search.table).items():
        proof = int(search.table.tree.nodes[node]["proof"])
        if proof:
            won, plies = within[chr(key)]
            assert won is (proof > 0)
            assert plies <= abs(proof) - 1
            count += 1
    return count


@pytest.mark.parametrize("batch", [1, 8, 64])
def test_every_proof_agrees_with_minimax(batch: int) -> None:
    """Tic-tac-toe after two bad moves is a win: all that is proven is true, and no win takes more plies than proven."""
    search = SearchOfOne(TicTacToe([0, 1]))
    while search.root.plies is None:
        step(search, HashEvaluator(), batch)
        check_invariants(search)
    proven = 0
    for node, (key, _) in names_of(search.table).items():
        proof = int(search.table.tree.nodes[node]["proof"])
        value, plies = solution(played_to(key))
        if proof:
            assert value == (proof > 0)
            assert plies <= abs(proof) - 1
            assert (abs(proof) - 1) % 2 == (proof > 0)
            proven += 1
    assert proven > 20
    assert search.root.plies >= 5
    assert search.root.moves()[0].plies == search.root.plies
    assert search.root.value == 1.0


def test_the_longest_loss_is_played() -> None:
    """A loses in 2, B in 4: all is lost, B comes first, and the line goes to the end."""
    graph = {"R": "AB", "A": "a", "B": "C", "C": "D", "D": "d"}
    search = run(SearchOfOne(Letters(graph, "R", {"a": MATED, "d": MATED})), Opinions(), 20)
    letters = letters_of(search)
    assert (letters["A"].plies, letters["B"].plies) == (-2, -4)
    assert search.root.plies == -4
    assert [chr(stats.move) for stats in search.root.moves()] == ["B", "A"]
    assert "".join(map(chr, search.root.line(ord("B")))) == "BCDd"
    assert search.root.value == 0.0


def test_the_shortest_win_is_played() -> None:
    """C wins in 3, found first because the evaluator points there; then A, mate at once, comes first."""
    graph = {"R": "CA", "C": "D", "D": "E"}
    search = SearchOfOne(Letters(graph, "R", {"A": MATED, "E": MATED}), Puct(c_init_root=0.01))
    opinions = Opinions({"C": 0.1, "D": 0.9}, {"C": 1000.0})
    run(search, opinions, 3)
    assert search.root.plies == 3
    assert chr(search.root.moves()[0].move) == "C"
    search.set_root(Letters(graph, "R", {"A": MATED, "E": MATED}), [ord("A")])
    run(search, opinions, 1)
    search.set_root(Letters(graph, "R", {"A": MATED, "E": MATED}))
    assert search.root.plies == 1
    assert [(chr(stats.move), stats.plies) for stats in search.root.moves()] == [("A", 1), ("C", 3)]


def test_a_proof_holds_for_the_playouts_that_were_under_way() -> None:
    """Two playouts reach A in one batch: m proves A won and R lost; n, 0.2 and later, does not blur that at P."""
    graph = {"P": "RQ", "R": "A", "A": "mn", "n": "n", "Q": "Q"}
    search = run(SearchOfOne(Letters(graph, "P", {"m": MATED}), only=[ord("R")]), Opinions({"n": 0.2}), 2)
    run(search, Opinions({"n": 0.2}), 4, batch=2)
    assert search.root.plies == 3
    assert edge_of(search, "A", 2, "n")["value_sum"] == pytest.approx(0.8)
    assert edge_of(search, "P", 0, "R")["value_sum"] == pytest.approx(0.5 + 0.5 + 1.0 + 1.0)


def test_moves_are_ranked_by_proof_then_visits() -> None:
    def stats(visits: int, plies: int | None, prior: float = 0.1) -> MoveStats:
        return MoveStats(0, visits, 0.5, 0.1, prior, plies)

    best_first = [stats(1, 1), stats(90, 3), stats(9, None), stats(5, None, prior=0.2), stats(5, None), stats(0, None)]
    best_first += [stats(70, -8), stats(80, -2, prior=0.3), stats(80, -2)]
    shuffled = random.Random(1).sample(best_first, len(best_first))
    assert sorted(shuffled, key=lambda move: move.rank, reverse=True) == best_first


def test_the_error_of_a_value_follows_from_what_was_backed_up() -> None:
    """A line of one move after the other: the third playout ends three plies below the root."""
    opinions = Opinions({"A": 0.2, "B": 0.4, "C": 0.9})
    line = Letters({"R": "A", "A": "B", "B": "C", "C": "D", "D": "E", "E": ""}, "R")
    values = [0.8, 0.4, 0.1]
    for playouts in (1, 2, 3):
        (move,) = run(SearchOfOne(line), opinions, playouts, batch=1).root.moves()
        assert move.value == pytest.approx(np.mean(values[:playouts]))
        if playouts == 1:
            assert math.isnan(move.error)
        else:
            assert move.error == pytest.approx(np.std(values[:playouts], ddof=1) / math.sqrt(playouts))


def test_a_repetition_is_paid_but_never_stored() -> None:
    """R -> S -> R: who repeats here has lost. The one line there is loses, yet nothing is proven."""
    game = Letters({"R": "S", "S": "R"}, "R", repetition=Outcome(0.0, by_path=True))
    search = run(SearchOfOne(game), Opinions(), 30, check=True)
    letters = letters_of(search)
    assert letters["S"].visits == 30
    # S's own evaluation pays 0.5; 29 times R comes back two plies on, and the side at the root has lost.
    assert letters["S"].value == pytest.approx(0.5 / 30)
    assert search.root.plies is None
    assert search.table.tree.nodes["proof"][:2].tolist() == [0, 0]
    assert len(search.table) == 2
    assert edge_of(search, "S", 1, "R")["child"] == NONE


def test_a_node_is_entered_by_one_path_and_a_repetition_on_another() -> None:
    """R -> Y -> Z -> Y repeats Y; R -> W -> Z -> Y does not. Z is one node, and so is the later Y.

    First the search sees only W; then, through Y, the very edge it has learned is a repetition and has its verdict.
    """
    graph = {"R": "YW", "Y": "Z", "W": "Z", "Z": "Y"}
    repetition = Outcome(1.0, by_path=True)  # for the side to move at the second Y: the opponent of the root's
    search = run(SearchOfOne(Letters(graph, "R", repetition=repetition), only=[ord("W")]), Opinions({"Y": 0.4}), 3)
    later = node_of(search, "Y", 3)
    assert edge_of(search, "Z", 2, "Y")["child"] == later != NONE
    search.set_root(Letters(graph, "R", repetition=repetition), only=[ord("Y")])
    sums = []
    for playouts in (1, 2, 3, 4):
        run(search, Opinions({"Y": 0.4}), playouts)
        sums.append(float(edge_of(search, "R", 0, "Y")["value_sum"]))
    # Y's evaluation, 0.6 to the root's side; the mean of Z, (0.5 + 0.6) / 2; then two repetitions, both lost.
    assert sums == pytest.approx([0.6, 1.15, 1.15, 1.15])
    assert edge_of(search, "Z", 2, "Y")["child"] == node_of(search, "Y", 3) != NONE
    assert not search.table.tree.nodes["proof"][: len(search.table)].any()


def test_a_position_of_the_game_so_far_is_a_repetition_whatever_led_there_before() -> None:
    """As above, but Y and Z are played: Z -> Y, learned through W, is cut and judged anew when it is next taken."""
    graph = {"R": "YW", "Y": "Z", "W": "Z", "Z": "YV"}
    game = Letters(graph, "R", {"V": Outcome(0.5)}, repetition=Outcome(1.0, by_path=True))
    search = run(SearchOfOne(game, only=[ord("W")]), Opinions({"Y": 0.1}), 6)
    search.set_root(game, only=[ord("Y")])
    run(search, Opinions(), 2)
    for move in "YZ":
        game.push(ord(move))
    assert edge_of(search, "Z", 2, "Y")["child"] != NONE
    search.set_root(game)
    assert letters_of(search)["Y"].visits == 0
    run(search, Opinions(), 20)
    learned = letters_of(search)["Y"]
    assert (learned.visits > 0, learned.value) == (True, 0.0)
    assert edge_of(search, "Z", 2, "Y")["child"] == NONE


def test_a_full_table_goes_on_answering() -> None:
    """64 nodes for tic-tac-toe: no more come in, playouts go on, and the winning move is found all the same."""
    search = SearchOfOne(TicTacToe(), megabytes=0)
    evaluator = UniformEvaluator()
    while not search.table.full:
        run(search, evaluator, search.playouts + 1, batch=8)
    assert len(search.table) == 64
    full_after = search.playouts
    for batch in (1, 8, 64):
        run(search, evaluator, search.playouts + 300, batch, check=True)
        assert len(search.table) == 64
        assert search.table.full
    assert search.root.visits == search.playouts >= full_after + 900
    assert 0.3 < search.root.value < 0.9
    assert len(search.root.line(search.root.moves()[0].move)) >= 2


def test_a_playout_ends_at_the_greatest_depth() -> None:
    """Each playout adds a mile until MAX_DEPTH; from then on what the last node is worth is backed up."""
    road = {chr(mile): chr(mile + 1) for mile in range(1000, 1000 + 2 * MAX_DEPTH)}
    search = run(SearchOfOne(Letters(road, chr(1000))), UniformEvaluator(), MAX_DEPTH + 50)
    assert search.deepest == MAX_DEPTH
    assert len(search.table) == MAX_DEPTH + 1
    assert (search.root.visits, search.root.value) == (MAX_DEPTH + 50, 0.5)
    assert search.table.tree.nodes["in_flight"][: len(search.table)].sum() == 0
    assert len(search.root.line(1001)) == MAX_DEPTH


@pytest.mark.parametrize("playouts", [10 * MAX_BATCH, [10 * MAX_BATCH]])
def test_more_playouts_than_a_batch_can_hold_are_not_begun(playouts: int | list[int]) -> None:
    """All of them would be backed up at once."""
    search = run(SearchOfOne(Letters({"R": "A"}, "R", {"A": DRAW})), UniformEvaluator(), 2)
    batch = search.batch()
    search.backup(search.gather(batch, playouts), UniformEvaluator().evaluate(batch))
    assert search.playouts == 2 + MAX_BATCH
    check_invariants(search)
