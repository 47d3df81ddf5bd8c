"""How fast the searching engine is on one core: `python -m utils.othello.speed`

Printed are playouts a second of processor time with IaGo's constants, with and without rollouts, and with AlphaZero's;
whole games rolled out from the start; and positions judged, priors and value, in the middle of games.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from pydlshogi.engines.othello import mcts
from pydlshogi.engines.othello.rollouts import SHIPPED_ROLLOUTS, load_rollouts
from pydlshogi.engines.othello.tables import TableRollouts, shipped_tables
from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import RULES, START, Position
from pydlshogi.games.othello.transcript import parse_transcript
from pydlshogi.player.base_player import BasePlayer, PlayerError
from pydlshogi.player.option_settings import apply_settings
from pydlshogi.support.command_line import exit_status
from pydlshogi.support.files import shipped_model
from pydlshogi.uct.batch import Batch

_MIDDLE: Final = "f5d6c3d3c4f4f6f3e6e7d7c5b6d8c6c7"
_SEARCHES: Final = {
    "IaGo, rollouts 0.5": (40_000, {"IaGo": "true"}),
    "IaGo, no rollouts": (200_000, {"IaGo": "true", "Rollouts": "0"}),
    "AlphaZero": (40_000, {}),
}
"""Playouts and options."""
_SECONDS: Final = 1.0


def lines() -> Iterator[str]:
    """What there is to say. Raises PlayerError."""
    middle = parse_transcript(_MIDDLE).end
    for name, (playouts, settings) in _SEARCHES.items():
        engine = mcts()
        apply_settings(engine.options, {"Threads": "1", **settings})
        player = engine.load()
        player.prepare()
        speeds = [_playouts(player, position, playouts) for position in (START, middle)]
        yield f"{name:20} {speeds[0]:9,.0f} playouts/s from the start, {speeds[1]:9,.0f} from move 17"
    games = TableRollouts(load_rollouts(shipped_model() / SHIPPED_ROLLOUTS), seed=1)
    yield f"{'whole rollouts':20} {_rate(games.results, START):9,.0f} /s"
    judged = _rate(shipped_tables().evaluate, middle)
    yield f"{'priors and value':20} {judged:9,.0f} positions/s, {1000 / judged:.4f} ms each"


def _playouts(player: BasePlayer, position: Position, playouts: int) -> float:
    player.new_game()
    began, root = time.process_time(), OthelloPosition(position)
    player.think(root, player.start_analysis(root, playouts, None), lambda _: None)
    return playouts / (time.process_time() - began)


def _rate(work: Callable[[Batch], object], position: Position) -> float:
    """Positions a second."""
    batch = Batch(256, RULES.most_moves, OTHELLO)
    for _ in range(batch.capacity):
        batch.add(OthelloPosition(position), np.array(position.moves(), np.int32))
    work(batch)
    began, done = time.process_time(), 0
    while time.process_time() - began < _SECONDS:
        work(batch)
        done += len(batch)
    return done / (time.process_time() - began)


def main() -> int:
    """The command line; returns the exit status."""
    argparse.ArgumentParser(
        prog="python -m utils.othello.speed", description="Measure the searching engine of Othello."
    ).parse_args()

    def run() -> None:
        for line in lines():
            print(line, flush=True)

    return exit_status("speed", run, PlayerError)


if __name__ == "__main__":
    sys.exit(main())
