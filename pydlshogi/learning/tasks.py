"""The parts of a cycle that a crew does: sets of games, and comparisons. Each is decided by its seed.

Where a task has a `service`, that evaluation server has its networks; else every worker loads them.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from pydlshogi.games.catalogue import game_named
from pydlshogi.learning.comparison import compare
from pydlshogi.learning.played import PlayedGames
from pydlshogi.learning.reanalysis import reanalysed
from pydlshogi.learning.self_play import SelfPlayers
from pydlshogi.learning.service import Service, evaluator_of
from pydlshogi.learning.settings import Cycle, SelfPlay
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


@dataclass(frozen=True)
class PlaySets:
    """A task of a crew: sets of games by one network. Results: a set, and the network's share of the time it took."""

    game: str
    network: bytes
    settings: SelfPlay
    service: Service | None = None

    @contextmanager
    def __call__(self) -> Iterator[Callable[[Seed], tuple[PlayedGames, float]]]:
        game = game_named(self.game)
        settings = self.settings
        with evaluator_of(
            game, self.network, settings.side_by_side, settings.policy_temperature, self.service
        ) as asked:
            evaluator = Timed(asked)
            players = SelfPlayers(game, evaluator, settings)

            def play(seed: Seed) -> tuple[PlayedGames, float]:
                start, evaluator.seconds = perf_counter(), 0.0
                played = players.play(seed)
                return played, evaluator.seconds / (perf_counter() - start)

            yield play


@dataclass(frozen=True)
class Reanalyse:
    """A task of a crew: sets of games searched anew by one network. Items: the number of a set, and the set."""

    game: str
    network: bytes
    settings: SelfPlay
    service: Service | None = None

    @contextmanager
    def __call__(self) -> Iterator[Callable[[tuple[Seed, PlayedGames]], PlayedGames]]:
        game = game_named(self.game)
        settings = self.settings
        with evaluator_of(
            game, self.network, settings.side_by_side, settings.policy_temperature, self.service
        ) as evaluator:
            yield lambda item: reanalysed(game, evaluator, settings, item[1])


@dataclass(frozen=True)
class PlayComparisons:
    """A task of a crew: paired games between two networks; see `comparison.compare`. Items: a seed, and how many."""

    game: str
    networks: tuple[bytes, bytes]
    most: int
    """Games of an item."""
    settings: Cycle
    service: Service | None = None

    @contextmanager
    def __call__(self) -> Iterator[Callable[[tuple[Seed, int]], list[int]]]:
        game, settings = game_named(self.game), self.settings
        with ExitStack() as stack:
            temperature = settings.policy_temperature
            each = (evaluator_of(game, network, self.most, temperature, self.service) for network in self.networks)
            evaluators = [stack.enter_context(evaluator) for evaluator in each]

            def play(item: tuple[Seed, int]) -> list[int]:
                seed, games = item
                return compare(
                    game, evaluators, settings.puct(), settings.compare_playouts, games, settings.draw_ply, seed
                )

            yield play
