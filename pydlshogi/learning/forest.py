"""Many positions searched side by side, each in a tree of its own, all in one batch."""

from collections.abc import Mapping, Sequence

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.entry import GameEntry, Question
from pydlshogi.game import PlayedPosition, Position
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.puct import DEFAULT_PUCT, Puct
from pydlshogi.uct.root import MoveStats, Root
from pydlshogi.uct.search import Search, new_search

_MEGABYTE = 1 << 20
_AT_ONCE = 256
_SPARE = 4
"""Trees keep what they know below a new root, until what is above it has been given back."""


def many_trees(
    game: GameEntry, encoding: Encoding | None, puct: Puct, playouts: int, trees: int, draw_ply: int
) -> Search:
    """A search with room for `trees` trees of `playouts` playouts each; `encoding`: its evaluator's."""
    rules = game.rules
    node = 64 + rules.state.itemsize + 16 * rules.average_moves
    megabytes = 1 + _SPARE * trees * (playouts + 2) * node // _MEGABYTE
    settings = game.position(draw_ply=draw_ply).settings
    return new_search(rules, settings, encoding, megabytes, puct, trees=trees)


def over(position: PlayedPosition, *, foreseen: bool = False) -> bool:
    """Whether the game has ended; with `foreseen`, also whether the rules say how it will."""
    outcome = position.outcome_to_learn()
    if outcome is not None and (foreseen or outcome.value == 0.5 or outcome.plies == 0):
        return True
    return not len(position.legal_moves())


def score_of_mover(position: PlayedPosition) -> float:
    """What a game that is over, or whose end is foreseen, is worth to the side to move."""
    outcome = position.outcome_to_learn()
    return float(outcome.value) if outcome is not None else 0.0


def value_keeping(
    game: GameEntry, questions: Sequence[Question], evaluator: Evaluator, playouts: int, goal: float = 0.0
) -> float:
    """The share of the questions in which the move chosen after `playouts`, as in play, keeps the value.

    Of as many as it takes to see that the share of all is less than `goal`.
    """
    forest, seen, lost = Forest(game, evaluator, DEFAULT_PUCT, playouts, _AT_ONCE), 0, 0
    while seen < len(questions) and lost <= (1 - goal) * len(questions):
        part = questions[seen : seen + _AT_ONCE]
        found = forest.search({tree: position for tree, (position, _) in enumerate(part)}, playouts)
        lost += sum(found[tree][0].move not in keeping for tree, (_, keeping) in enumerate(part))
        seen += len(part)
    return 1 - lost / seen


class Forest:
    """Trees of one evaluator."""

    def __init__(
        self, game: GameEntry, evaluator: Evaluator, puct: Puct, playouts: int, trees: int, draw_ply: int = 0
    ) -> None:
        self._evaluator = evaluator
        self._count = trees
        self._search = many_trees(game, evaluator.encoding, puct, playouts, trees, draw_ply)
        self._batch = Batch(trees, game.rules.most_moves, evaluator.encoding)

    def root(self, tree: int) -> Root:
        """The root of one tree, as it is at the time."""
        return Root(self._search, tree)

    def search(self, positions: Mapping[int, Position], playouts: int) -> dict[int, list[MoveStats]]:
        """The moves of each position, by the number of its tree, the best first, after `playouts` visits of its root.

        0: only the evaluator's priors are known. What is proven sooner gets fewer. Every position has a legal move.
        """
        search = self._search
        wanted = np.zeros(self._count, np.bool_)
        for tree, position in positions.items():
            search.set_root(position, tree=tree)
            wanted[tree] = True
        found: dict[int, list[MoveStats]] = {}
        while wanted.any():
            self._batch.clear()
            leaves = search.gather(self._batch, wanted.astype(np.int32))
            search.backup(leaves, self._evaluator.evaluate(self._batch))
            expanded, visits, proven = search.standings()
            for tree in np.flatnonzero(wanted & expanded & ((visits >= playouts) | proven)).tolist():
                found[tree] = self.root(tree).moves()
                wanted[tree] = False
        return found
