"""Othello as one of the games of the catalogue."""

from typing import Final

from pydlshogi.games.entry import GameEntry, Opponent

GAME: Final = GameEntry(
    name="othello",
    rules="pydlshogi.games.othello.rules:RULES",
    encodings="pydlshogi.games.othello.encodings:ENCODINGS",
    position="pydlshogi.games.othello.position:OthelloPosition",
    engines={
        "alphabeta": "pydlshogi.engines.othello:alphabeta",
        "mcts": "pydlshogi.engines.othello:mcts",
        "iago": "pydlshogi.engines.othello:iago",
    },
    opponents={
        "beginner": Opponent("mcts", {"Skill_Level": "0"}),
        "novice": Opponent("mcts", {"Skill_Level": "4"}),
        "easy": Opponent("mcts", {"Skill_Level": "8"}),
        "casual": Opponent("mcts", {"Skill_Level": "12"}),
        "medium": Opponent("alphabeta", {"Level": "4"}),
        "strong": Opponent("alphabeta", {"Level": "6"}),
        "hard": Opponent("alphabeta", {"Level": "8"}),
        "expert": Opponent("alphabeta", {"Level": "11"}),
        "full strength": Opponent("alphabeta", {}, 2000),
        "network search": Opponent("mcts", {}, 2000),
        "IaGo": Opponent("iago", {}, 2000),
    },
    judged_visits=20_000,
    judged_lines=1,
    has_policy=False,
    in_discs=True,
    training="pydlshogi.training.othello.dataset:TRAINING",
    files="pydlshogi.web.othello_files:FILES",
    opening="pydlshogi.games.othello.openings:opening",
    match="utils.arena.othello:KIND",
    learning={
        "kind": "policy_value_dense",
        "depth": 3,
        "channels": 256,
        "batch_size": 512,
        "optimiser": "adamw",
        "learning_rate": 0.0015,
        "average": 0.995,
        "symmetries": True,
        "opening_plies": 8.0,
        "window": 100_000,
    },
)
