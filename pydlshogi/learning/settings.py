"""The settings of self-play and of the cycle. Games have defaults of their own: see `GameEntry.learning`."""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydlshogi.catalogue import GAMES
from pydlshogi.network.sparse import is_sparse, sparse_widths
from pydlshogi.network.weights import read_architecture
from pydlshogi.support.command_line import add_options, setting
from pydlshogi.training.settings import SPARSE, Learning
from pydlshogi.uct.puct import Puct

_MOST = 10**9
"""Of what kernels count in 32 bits; of other numbers as good as no bound."""


@dataclass(frozen=True)
class SelfPlay:
    """How games are played to be learned from."""

    games: int = setting(512, "games of a set", low=1)
    side_by_side: int = setting(256, "games that are played at once: their positions make one batch", low=1)
    playouts: int = setting(64, "of a full search, whose move is learned", low=1, high=_MOST)
    cheap_playouts: int = setting(16, "of a cheap search, which only plays on", low=1, high=_MOST)
    full_share: float = setting(0.5, "of the moves that get a full search", low=0, high=1)
    exploration: float = setting(1.25, "C_init of the search, at the root too", low=0)
    fpu_reduction: float = setting(0.2, "by which unvisited moves are judged below their node", low=0)
    policy_temperature: float = setting(
        1.0, "divides the policy's logits in every search: above 1 it tries more moves", low=0.01
    )
    noise: float = setting(0.25, "share of the priors at the root of a full search that is random", low=0, high=1)
    noise_total: float = setting(10.83, "Dirichlet's alpha, summed over the moves of a root", low=0.01)
    temperature: float = setting(1.0, "moves are sampled by visits to the power of 1 / temperature", low=0.01, high=1e9)
    final_temperature: float = setting(0.2, "what the temperature falls to in the course of a game", low=0.01, high=1e9)
    halflife: float = setting(12.0, "plies in which the temperature falls half of the way", low=0.1)
    opening_plies: float = setting(
        3.0, "first moves, on average, that are sampled from the policy and not learned", low=0, high=1000
    )
    opening_random: float = setting(
        0.25, "share of those moves, the first of them, that is any legal one, so that games stay varied", low=0, high=1
    )
    draw_ply: int = setting(512, "plies after which a game is drawn; 0: never", low=0, high=_MOST)
    until_mated: bool = setting(True, "play on when the rules foresee the end of a game")
    resign: float = setting(0.0, "expected score below which a side gives up", low=0, high=0.5)
    play_on: float = setting(
        0.1, "share of the games in which nobody gives up, to see whether that is right", low=0, high=1
    )

    def puct(self) -> Puct:
        """The constants of its searches."""
        return Puct(c_init=self.exploration, c_init_root=self.exploration, fpu_reduction=self.fpu_reduction)


@dataclass(frozen=True)
class Cycle(Learning, SelfPlay):
    """How a network learns a game from its own games."""

    minutes: float = setting(20.0, "length of the run", low=0.01)
    encoding: str = setting("", "how the network sees the game; left out: as --init does, or as is usual for the game")
    sets: int = setting(
        0, "sets of games played between two networks; 0: one for each worker, but at least 2", low=0, high=10**5
    )
    window: int = setting(30_000, "positions that are learned from at first: the newest", low=1, high=_MOST)
    window_growth: float = setting(
        0.65, "the window grows with this power of the positions made; 1: it keeps all, in memory", low=0, high=1
    )
    reuse: float = setting(
        4.0, "how often a position is learned, on average, while it is in the window", low=0, high=_MOST
    )
    search_value: float = setting(
        0.3, "share of the search's expected score in the value learned; the rest is the result's", low=0, high=1
    )
    compare_every: int = setting(10, "cycles between two comparisons; 0: none", low=0)
    compare_games: int = setting(128, "of a comparison with the last network compared, and with the anchor", low=2)
    compare_playouts: int = setting(64, "of every move in a comparison", low=1, high=_MOST)

    def begun_with(self, network: Path) -> "Cycle":
        """These settings, with the kind and size of that network. Raises ModelError."""
        if is_sparse(network):
            value, policy = sparse_widths(network)
            return replace(self, kind=SPARSE, value_width=value, policy_width=policy)
        size = read_architecture(network)
        return replace(self, kind=size.kind, depth=size.depth, channels=size.channels)


def add_game_options(parser: ArgumentParser, settings: type[Any], words: Sequence[str]) -> None:
    """`game`, and an option for every field of `settings`; --help shows the defaults of the game among `words`."""
    parser.add_argument("game", help=f"{', '.join(sorted(GAMES))}, or MODULE:NAME; before --help, its defaults")
    named = next((word for word in words if word in GAMES), None)
    add_options(parser, settings, GAMES[named].learning if named else None)
