"""A tree that a search of one thread grows, in words: `python tests/grown_tree.py GAME PLAYOUTS`.

With NUMBA_DISABLE_JIT=1 it is grown by the kernels as Python has them.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

if os.environ.get("NUMBA_DISABLE_JIT") == "1":  # numba reads the fields of records as attributes, and calls C

    def with_fields(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            array = make(*arguments, **named)
            return array.view(np.recarray) if array.dtype.names else array

        return made

    for name in ("zeros", "empty", "array"):
        setattr(np, name, with_fields(getattr(np, name)))
    from pydlshogi.games.othello import bits
    from pydlshogi.support import mutex

    vars(mutex).update(_acquire=lambda *_: 1, _release=lambda *_: None)
    vars(bits).update(
        count=lambda squares: int(squares).bit_count(),
        lowest=lambda squares: np.uint64((int(squares) & -int(squares)).bit_length() - 1 if squares else 64),
        zeros_above=lambda squares: np.uint64(64 - int(squares).bit_length()),
    )

from pydlshogi.evaluator import HashEvaluator
from pydlshogi.games.catalogue import game_named
from pydlshogi.games.shogi.encodings import MOVES
from pydlshogi.support.arrays import Records
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.search import stored_search

BATCH = 8


def grown(name: str, playouts: int) -> tuple[Records, list[str]]:
    """All nodes of the tree, and a line for each of the edges that were visited."""
    game = game_named(name)
    encoding = MOVES if name == "shogi" else game.encoding  # to pack bitboards takes more than Python's integers
    position = game.position()
    search = stored_search(game.rules, position.settings, encoding, megabytes=4)
    evaluator, batch = HashEvaluator(encoding), Batch(BATCH, game.rules.most_moves, encoding)
    search.set_root(position)
    while search.playouts < playouts:
        batch.clear()
        search.backup(search.gather(batch, BATCH), evaluator.evaluate(batch))
    tree = search.table.tree
    nodes = tree.nodes[: np.flatnonzero(tree.nodes["key"]).max() + 1]
    lines = []
    for number, node in enumerate(nodes):
        stats = tree.stats[node["stats"] : node["stats"] + node["visited_edges"]] if node["visits"] else ()
        for move, stat in zip(tree.moves[node["first"] : node["first"] + len(stats)], stats, strict=True):
            lines.append(f"{number} {move}: {stat['visits']} visits to {stat['child']}, {stat['value_sum']:.9f}")
    return nodes, lines


if __name__ == "__main__":
    _, edges = grown(sys.argv[1], int(sys.argv[2]))
    print(*edges, sep="\n")
