"""What the engines of Othello let the user decide."""

from typing import Final

from pydlshogi.player.allot import ClockSettings
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import Check, Filename, SearchOptions, Spin
from pydlshogi.uct.puct import Puct

_LEVEL_PLAYOUTS: Final = 32
"""Playouts of level 0; each level doubles them."""
_DEFAULT_NODES: Final = 1_000_000
"""Positions that alpha-beta looks at for a `go` that names no limit, where there is no level either."""
LAST_PLY: Final = 42
"""Up to it the main time is spread: from then on the end is solved, and the moves after that cost nothing."""
IAGO: Final = Puct(
    c_init=0.5,
    c_base=1e12,
    c_init_root=0.5,
    c_base_root=1e12,
    unvisited=0.5,
    u_offset=0.01,
    prior_bonus=0.1,
    expand_at=15,
)
"""IaGo's constants. Its values are -1 to 1 and its c is 1: that is 0.5 where they are 0 to 1."""


class OthelloOptions(SearchOptions):
    """Those of both engines. Boards of Othello run on the same machine."""

    network_delay = SearchOptions.network_delay.starting_at(100)
    time_margin = SearchOptions.time_margin.starting_at(200)
    level = Spin(
        "Level", 0, 0, 60, help="plies to search; the end is solved 8 plies earlier; 0: as many as there is time for"
    )
    weights = Filename("Weights", "", help="of the patterns, .npz; empty: those that come with the package")


class AlphaBetaOptions(OthelloOptions):
    """Those of the engine that searches with alpha-beta over learned patterns."""

    hash_mb = SearchOptions.hash_mb.starting_at(128)
    threads = Spin("Threads", 0, 0, 512, help="threads that solve the end of the game; 0: all cores")
    cuts = Filename("Cuts", "", help="for Multi-ProbCut, .toml; empty: those that come with the package")
    plain = Check("Plain", False, help="without Multi-ProbCut")
    openings = Check("Openings", True, help="play registered openings")
    openings_file = Filename("Openings_File", "", help="the openings; empty: those that come with the package")

    def clock_settings(self) -> ClockSettings:
        return super().clock_settings()._replace(draw_ply=LAST_PLY, default_nodes=0 if self.level else _DEFAULT_NODES)


class OthelloMCTSOptions(OthelloOptions, MCTSOptions):
    """Those of the engine that searches as AlphaZero did, or as IaGo."""

    hash_mb = SearchOptions.hash_mb.starting_at(256)
    level = Spin(
        "Level", 0, 0, 25, help="how often to double 32 playouts, for a `go` that names no limit; 0: see playout"
    )
    iago = Check("IaGo", False, help="the constants of IaGo's search, and its rollouts")
    policy = Filename("Policy", "", help="tables of the policy, .npz; empty: those that come with the package")
    rollouts = Spin("Rollouts", -1, -1, 100, help="percent of the values that are rollouts; -1: 50 with IaGo, else 0")
    rollouts_file = Filename("Rollouts_File", "", help="their weights, .npz; empty: those that come with the package")

    temperature = MCTSOptions.temperature.starting_at(100)
    eval_coef = MCTSOptions.eval_coef.starting_at(600)
    resign_threshold = MCTSOptions.resign_threshold.starting_at(0)
    random_ply = MCTSOptions.random_ply.starting_at(0)

    def loaded_by(self) -> tuple[object, ...]:
        return *super().loaded_by(), self.weights, self.policy, self.rollout_share, self.rollouts_file

    def clock_settings(self) -> ClockSettings:
        settings = super().clock_settings()
        playouts = _LEVEL_PLAYOUTS << self.level if self.level else settings.default_nodes
        return settings._replace(draw_ply=LAST_PLY, default_nodes=playouts)

    @property
    def rollout_share(self) -> float:
        """Of the values, 0 to 1."""
        return (50 if self.iago else 0) / 100 if self.rollouts < 0 else self.rollouts / 100

    def puct(self, turn: int) -> Puct:
        own = super().puct(turn)
        if not self.iago:
            return own
        return IAGO._replace(evaluate_anew=self.rollout_share > 0, draw_value=own.draw_value)
