"""What the engines of shogi let the user decide beside what all engines do."""

from typing import TYPE_CHECKING, Any

from pydlshogi.game import PlayedPosition
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import Check, Combo, Filename, Spin

if TYPE_CHECKING:
    from pydlshogi.support.arrays import Records


class MCTSPlayerOptions(MCTSOptions):
    """Those of the engine that searches. Names and units are dlshogi's or, after them, YaneuraOu's."""

    own_book = Check("USI_OwnBook", False, aliases=("OwnBook",), help="play from the book that Book_File names")
    book_file = Filename(
        "Book_File",
        "",
        aliases=("BookFile",),
        help="the book: .db or .ybb of YaneuraOu, .sbk of ShogiGUI; of several with ; between them the first "
        "that knows a position counts; empty: none",
    )
    best_book_move = Check(
        "Best_Book_Move",
        True,
        help="the book move of the highest value, among equals the most frequent; false: sampled by frequency",
    )
    min_book_score = Spin(
        "Min_Book_Score", -3000, -30000, 30000, help="centipawns that a book move must be worth to its player"
    )
    book_eval_diff = Spin(
        "BookEvalDiff", 30, 0, 99999, help="centipawns that a sampled book move may be worse than the best"
    )
    book_moves = Spin("Book_Moves", 10000, 0, 10000, aliases=("BookMoves",), help="moves of the game that may be book")

    # Found by games of the network that ships: see docs/laboratory/README.md.
    c_init = MCTSOptions.c_init.starting_at(70)
    c_init_root = MCTSOptions.c_init_root.starting_at(98)
    fpu_reduction = MCTSOptions.fpu_reduction.starting_at(37)
    entering_king_rule = Combo(
        "EnteringKingRule",
        "CSARule27",
        ("CSARule27", "CSARule24", "CSARule27H", "CSARule24H"),
        help="points that win by declaration; H: White, giving odds, also counts the pieces missing from the start",
    )
    mate_root_search = Spin(
        "Mate_Root_Search",
        33,
        0,
        199,
        help="plies of the longest mate looked for at the root and along the best line; 0: off",
    )
    mate_leaf_search = Combo(
        "Mate_Leaf_Search",
        "3",
        ("1", "3"),
        shown=False,
        help="plies of the longest mate looked for at every new position",
    )
    mate_search_nodes = Spin(
        "Mate_Search_Nodes",
        100,
        0,
        1_000_000,
        shown=False,
        help="nodes spent after each batch on the mates of Mate_Root_Search, fewer where it has fewer than 16 "
        "playouts; 0: only first looks at the root",
    )

    def rules(self) -> dict[str, Any]:
        rule = self.entering_king_rule
        return {
            **super().rules(),
            "declaration": 24 if rule.startswith("CSARule24") else 27,
            "odds_count": rule.endswith("H"),
        }

    def rule_settings(self, position: PlayedPosition) -> "Records":
        settings = position.settings.copy()
        settings["mate_plies"] = max(1, self.longest_win_seen(int(self.mate_leaf_search)))
        return settings
