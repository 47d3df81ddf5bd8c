"""How fast Dobutsu shogi is searched, for `python -m pydlshogi.bench dobutsu`."""

import statistics
import time
from collections.abc import Iterator

from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.rules import RULES
from pydlshogi.uct.batch import Batch
from pydlshogi.uct.search import stored_search


def speeds(playouts: int) -> Iterator[str]:
    """Lines on trees of many games at once, as self-play has them, and on one large tree."""
    for trees, each, batch_size in ((512, 64, 4), (1, playouts, 128)):
        speed = _speed(trees, each, batch_size)
        yield f"dobutsu      {trees:3} trees of {each:,} playouts: {speed:8,.0f} playouts/s of one core"


def _speed(trees: int, playouts: int, batch_size: int, repeats: int = 5) -> float:
    """Playouts per second of CPU time with all moves alike, the median of some runs, each with fresh trees.

    `playouts` in each of the trees, in batches of `batch_size` from each. The time to set the roots does not count.
    """
    position, evaluator, speeds = DobutsuPosition(), UniformEvaluator(), []
    batch = Batch(trees * batch_size, RULES.most_moves)
    megabytes = 16 + trees * playouts // 2000
    for _ in range(repeats + 1):  # the first warms up
        search = stored_search(RULES, position.settings, None, megabytes, trees=trees)
        for tree in range(trees):
            search.set_root(position, tree=tree)
        began = time.process_time()
        while search.playouts < trees * playouts:
            batch.clear()
            search.backup(search.gather(batch, [batch_size] * trees), evaluator.evaluate(batch))
        speeds.append(search.playouts / (time.process_time() - began))
    return statistics.median(speeds[1:])
