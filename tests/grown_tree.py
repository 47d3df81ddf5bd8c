"""A tree that a search of one thread grows, in words: `python tests/grown_tree.py GAME PLAYOUTS`.

With NUMBA_DISABLE_JIT=1 it is grown by the kernels as Python has them.
"""

import sys

import numpy as np
import plain_kernels  # noqa: F401

from pydlshogi.catalogue import game_named
from pydlshogi.evaluator import HashEvaluator
from pydlshogi.games.shogi.encodings import MOVES
from pydlshogi.support.arrays import Records
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.search import new_search

BATCH = 8


def grown(name: str, playouts: int) -> tuple[Records, list[str]]:
    """All nodes of the tree, and a line for each of the edges that were visited."""
    game = game_named(name)
    encoding = MOVES if name == "shogi" else game.encoding  # to pack bitboards takes more than Python's integers
    position = game.position()
    search = new_search(game.rules, position.settings, encoding, megabytes=4)
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
