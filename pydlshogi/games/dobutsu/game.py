"""Dobutsu shogi as one of the games of the catalogue."""

from typing import Final

from pydlshogi.games.dobutsu import is_solved
from pydlshogi.games.entry import GameEntry, Opponent, ladder

GAME: Final = GameEntry(
    name="dobutsu",
    rules="pydlshogi.games.dobutsu.rules:RULES",
    encodings="pydlshogi.games.dobutsu.encodings:ENCODINGS",
    position="pydlshogi.games.dobutsu.position:DobutsuPosition",
    network="dobutsu.npz",
    engines={"mcts": "pydlshogi.engines.dobutsu:mcts"},
    opponents={
        **ladder(
            1000,
            beginner=(0, 200),
            novice=3,
            easy=5,
            casual=7,
            medium=(7, 120),
            strong=(7, 80),
            hard=10,
            expert=13,
        ),
        "perfect": Opponent("mcts", {"Perfect_Play": "true"}, 1000, is_solved),
    },
    in_danger="pydlshogi.games.dobutsu.position:threatened_lion",
    match="utils.arena.dobutsu:KIND",
    learning={
        "kind": "policy_value_dense",
        "depth": 3,
        "channels": 256,
        "batch_size": 512,
        "optimiser": "muon",
        "learning_rate": 0.02,
        "average": 0.995,
        "symmetries": True,
        "games": 256,
        "side_by_side": 128,
        "full_share": 1.0,
        "window_growth": 1.0,
        "opening_plies": 10.0,
        "opening_random": 1.0,
        "final_temperature": 0.25,
        "draw_ply": 160,
    },
)
