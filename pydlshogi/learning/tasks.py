"""What a pool of workers does of a cycle: sets of games, and comparisons. Each is decided by its seed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.catalogue import game_named
from pydlshogi.games.entry import GameEntry
from pydlshogi.learning.comparison import compare
from pydlshogi.learning.played import PlayedGames
from pydlshogi.learning.self_play import SelfPlayers
from pydlshogi.learning.settings import Cycle, SelfPlay
from pydlshogi.network.backend import Backend
from pydlshogi.network.loading import load_backend
from pydlshogi.uct.batch import Batch, Evaluations, Evaluator

Seed = tuple[int, ...]

_SHORTEST_DEADLINE: Final = 3600.0
_SLOWEST: Final = 200
"""Playouts a second of a slow core with a network of a megabyte; with larger ones so many fewer."""
_MEGABYTE: Final = 10**6
_LONGEST_GAME: Final = 512
"""Plies, where games have no end of their own."""


def deadline(positions: int, playouts: int, network_bytes: int) -> float:
    """Seconds after which a worker that makes so many playouts in each of so many positions is given up."""
    return max(_SHORTEST_DEADLINE, positions * playouts / _SLOWEST * max(1.0, network_bytes / _MEGABYTE))


def set_deadline(settings: SelfPlay, network: bytes) -> float:
    """Seconds after which a worker that plays or searches a set of games with a network is given up."""
    return deadline(settings.games * (settings.draw_ply or _LONGEST_GAME), settings.playouts, len(network))


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
    evaluator = Timed(NetworkEvaluator(backend, settings.policy_temperature))
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
    """A task of a pool: paired games between two networks; see `comparison.compare`. Items: a seed, and how many games,
    at `most`."""
    game = game_named(name)
    backends = [load_network(game, network, most) for network in networks]
    evaluators = [NetworkEvaluator(backend, settings.policy_temperature) for backend in backends]

    def play(item: tuple[Seed, int]) -> list[int]:
        seed, games = item
        return compare(game, evaluators, settings.puct(), settings.compare_playouts, games, settings.draw_ply, seed)

    yield play
