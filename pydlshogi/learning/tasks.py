"""What a pool of workers does of a cycle: sets of games, and comparisons. Each is decided by its seed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import numpy as np

from pydlshogi.catalogue import game_named
from pydlshogi.entry import GameEntry
from pydlshogi.evaluator import CachedEvaluator, NetworkEvaluator
from pydlshogi.game import PlayedPosition
from pydlshogi.learning.forest import Forest, over, score_of_mover
from pydlshogi.learning.played import PlayedGames
from pydlshogi.learning.self_play import SelfPlayers
from pydlshogi.learning.settings import Cycle, SelfPlay
from pydlshogi.network.backend import Backend
from pydlshogi.network.loading import load_backend
from pydlshogi.uct.batch import Batch, Evaluations, Evaluator
from pydlshogi.uct.puct import Puct

Seed = tuple[int, ...]

_OPENING: Final = (3, 8)
"""Plies, at least and at most: shorter ones are few, and would be played again and again."""


def load_network(game: GameEntry, network: bytes, batch_size: int, *, suffix: str = ".npz") -> Backend:
    """The network in the bytes of a file with that suffix, on one thread. Raises ModelError, BackendError."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"net{suffix}")
        path.write_bytes(network)
        return load_backend("auto", path, game.encodings, threads=1, streams=1, batch_size=batch_size)


class Timed:
    """Another evaluator, and how long it has taken."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.encoding = evaluator.encoding
        self.seconds = 0.0

    def evaluate(self, batch: Batch) -> Evaluations:
        start = perf_counter()
        try:
            return self._evaluator.evaluate(batch)
        finally:
            self.seconds += perf_counter() - start


@contextmanager
def playing(name: str, network: bytes, settings: SelfPlay) -> Iterator[Callable[[Seed], tuple[PlayedGames, float]]]:
    """A task of a pool: sets of games by one network. Results: a set, and the network's share of the time it took."""
    game = game_named(name)
    backend = load_network(game, network, settings.side_by_side)
    evaluator = Timed(CachedEvaluator(backend, settings.policy_temperature, game.rules.most_moves))
    players = SelfPlayers(game, evaluator, settings)

    def play(seed: Seed) -> tuple[PlayedGames, float]:
        start, evaluator.seconds = perf_counter(), 0.0
        played = players.play(seed)
        return played, evaluator.seconds / (perf_counter() - start)

    yield play


@contextmanager
def comparing(
    name: str, networks: Sequence[bytes], most: int, settings: Cycle
) -> Iterator[Callable[[tuple[Seed, int]], list[int]]]:
    """A task of a pool: paired games between two networks; see `compare`. Items: a seed, and how many games,
    at `most`."""
    game = game_named(name)
    backends = [load_network(game, network, most) for network in networks]
    evaluators = [NetworkEvaluator(backend, settings.policy_temperature) for backend in backends]

    def play(item: tuple[Seed, int]) -> list[int]:
        seed, games = item
        return compare(game, evaluators, settings.puct(), settings.compare_playouts, games, settings.draw_ply, seed)

    yield play


def compare(
    game: GameEntry,
    evaluators: Sequence[Evaluator],
    puct: Puct,
    playouts: int,
    games: int,
    draw_ply: int,
    seed: Sequence[int],
) -> list[int]:
    """How often the first of two evaluators made 0, 1/2, 1, 3/2 and 2 points of 2: counts [5].

    Every opening, of 3 to 8 random moves, is played twice, with colours changed. Every move gets `playouts`.
    """
    rng = np.random.default_rng(list(seed))
    openings = [_opening(game, draw_ply, rng) for _ in range((games + 1) // 2)]
    positions = [opening.copy() for opening in openings for _ in range(2)]
    first = [(number + position.ply()) % 2 for number, position in enumerate(positions)]
    """Which evaluator moves at the odd plies."""
    points = np.zeros(len(positions))
    forests = [Forest(game, evaluator, puct, playouts, len(positions), draw_ply) for evaluator in evaluators]
    alive = set(range(len(positions)))
    while alive:
        for player, forest in enumerate(forests):
            mine = [number for number in alive if (first[number] + positions[number].ply()) % 2 == player]
            for number, moves in forest.search({number: positions[number] for number in mine}, playouts).items():
                positions[number].push(moves[0].move)
                if over(positions[number], foreseen=True):
                    alive.remove(number)
                    score = score_of_mover(positions[number])
                    points[number] = score if player == 1 else 1 - score
    pairs = (2 * points.reshape(-1, 2).sum(1)).astype(int)
    return [int(count) for count in np.bincount(pairs, minlength=5)]


def _opening(game: GameEntry, draw_ply: int, rng: np.random.Generator) -> PlayedPosition:
    """A position in which the game is open."""
    while True:
        position = game.position(draw_ply=draw_ply)
        for _ in range(rng.integers(_OPENING[0], _OPENING[1] + 1)):
            moves = position.legal_moves()
            if not len(moves):
                break
            position.push(int(rng.choice(moves)))
        if position.outcome() is None and len(position.legal_moves()):
            return position
