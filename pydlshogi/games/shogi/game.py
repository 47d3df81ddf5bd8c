"""Shogi as one of the games of the catalogue."""

from typing import Final

from pydlshogi.games.entry import GameEntry, Opponent, ladder

GAME: Final = GameEntry(
    name="shogi",
    rules="pydlshogi.games.shogi.rules:RULES",
    encodings="pydlshogi.games.shogi.sparse:ALL_ENCODINGS",
    position="pydlshogi.games.shogi.position:ShogiPosition",
    network="pydlshogi.npz",
    engines={name: f"pydlshogi.engines.shogi:{name}" for name in ("mcts", "policy", "search1")},
    opponents={
        **ladder(
            2000,
            beginner=(0, 210),
            novice=1,
            easy=(4, 184),
            casual=5,
            medium=6,
            strong=7,
            hard=(7, 120),
            expert=8,
            master=11,
            champion=13,
        ),
        "policy only": Opponent("policy"),
        "one move ahead": Opponent("search1"),
    },
    starts={
        "even": None,
        "lance handicap": "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "bishop handicap": "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "rook handicap": "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "rook and lance": "lnsgkgsn1/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "two pieces": "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "four pieces": "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "six pieces": "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    },
    training="pydlshogi.training.shogi.dataset:TRAINING",
    files="pydlshogi.web.shogi_files:FILES",
    opening="pydlshogi.games.shogi.openings:opening",
    in_danger="pydlshogi.games.shogi.position:checked_king",
    why_not="pydlshogi.games.shogi.position:why_not",
    match="utils.arena.shogi:KIND",
    learning={"games": 32, "draw_ply": 320, "resign": 0.05, "opening_plies": 8, "until_mated": False},
)
