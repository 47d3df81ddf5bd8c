"""How fast Othello is searched, for `python -m pydlshogi.bench othello`."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.engine.rollouts import SHIPPED_ROLLOUTS, TableRollouts, load_rollouts
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import RULES
from pydlshogi.games.othello.transcript import parse_transcript
from pydlshogi.player.ask import ask
from pydlshogi.player.base_player import Engine
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import apply_settings
from pydlshogi.support.files import shipped_model
from pydlshogi.uct.batch import Batch

_MIDDLE_GAME: Final = "f5d6c3d3c4f4f6f3e6e7d7c5b6d8c6c7"
_SEARCHES: Final[Sequence[tuple[str, int, Mapping[str, str]]]] = (
    ("IaGo, rollouts 0.5", 40_000, {"IaGo": "true"}),
    ("IaGo, no rollouts", 200_000, {"IaGo": "true", "Rollouts": "0"}),
    ("AlphaZero", 40_000, {}),
)
"""Names, playouts and options."""


def speeds(mcts: Callable[[], Engine], seconds: float = 1.0) -> Iterator[str]:
    """Lines on the searching engine of Othello, by CPU time. Raises PlayerError."""
    start, middle = OthelloPosition(), OthelloPosition(parse_transcript(_MIDDLE_GAME).end)
    for name, playouts, settings in _SEARCHES:
        engine = mcts()
        apply_settings(engine.options, {"Threads": "1", **settings})
        player = engine.load()
        player.prepare()
        rates = []
        for root in (start, middle):
            player.new_game()
            began = time.process_time()
            ask(player, root, Clock(Limits(infinite=True, nodes=playouts)))
            rates.append(playouts / (time.process_time() - began))
        yield f"othello      {name:18}: {rates[0]:8,.0f} playouts/s from the start, {rates[1]:8,.0f} playouts/s later"
    rollouts = TableRollouts(load_rollouts(shipped_model() / SHIPPED_ROLLOUTS), seed=1)
    batch = Batch(256, RULES.most_moves, OTHELLO)
    for _ in range(batch.capacity):
        batch.add(start, start.legal_moves())
    rollouts.results(batch)
    began, done = time.process_time(), 0
    while time.process_time() - began < seconds:
        done += len(rollouts.results(batch))
    yield f"othello      whole rollouts    : {done / (time.process_time() - began):8,.0f} rollouts/s of one core"
