"""Compile what the engines are made of, so that their first start need not: `python -m pydlshogi.compile`

It does what `isready` does, says what is under way, and at the end where the machine code was put. Where that has been
done before it takes a second or two.
"""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import Event, Process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

import numpy as np

from pydlshogi.catalogue import GAMES, engine_named
from pydlshogi.network.backend import CPU_BATCH
from pydlshogi.player.mcts_options import NetworkOptions
from pydlshogi.support.command_line import exit_status, parser_for, positive
from pydlshogi.support.files import shipped_model
from pydlshogi.support.kernels.compiled import kernels_folder

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event as EventType

    from pydlshogi.uct.batch import Batch
    from pydlshogi.uct.search import Search

_PATIENCE: Final = 120.0
"""Seconds after which a process compiles what the other one, which may have been ended, did not."""


def compile_engines(games: Sequence[str], *, measure: bool = True) -> Iterator[str]:
    """Load the engines of these games and let them search a little; lines on that. Raises PlayerError.

    `measure`: what is measured of their networks for good, too, as at any first start.
    """
    began = time.monotonic()
    engines = [(game, name) for game in games for name in GAMES[game].engines]
    for number, (game, name) in enumerate(engines, 1):
        yield f"engine {number} of {len(engines)}: {game} {name}"
        engine = engine_named(game, name)
        if isinstance(engine.options, NetworkOptions) and not measure:
            engine.options.batch_size = CPU_BATCH
        engine.load().prepare()
    kept = kernels_folder() or "no folder, as none can be written to: each start compiles"
    yield f"compiled in {time.monotonic() - began:.0f} s, and kept in {kept}"


def compile_search() -> Iterator[str]:
    """Compile what shogi is searched with, in two processes: all that looks for mates in one, as it shares rules."""
    from pydlshogi.games.shogi.dfpn import prepare

    walked = Event()
    rest = Process(target=_compile_rest, args=(walked,), daemon=True)
    rest.start()
    yield "the search"
    search, batch = _search_of_shogi()
    search.gather(batch, 1)  # the way down a tree that has no root
    walked.set()
    yield "mates"
    prepare()
    rest.join()


def _compile_rest(walked: "EventType") -> None:
    """The network and what a search does but walk; then all of both, which needs the walk."""
    from pydlshogi.evaluator import UniformEvaluator
    from pydlshogi.games.shogi.game import GAME
    from pydlshogi.games.shogi.position import ShogiPosition
    from pydlshogi.network.loading import load_backend

    search, batch = _search_of_shogi()
    search.set_root(ShogiPosition())
    search.backup(search.gather(batch, 0), UniformEvaluator().evaluate(batch))
    load_backend("winograd", shipped_model() / GAME.network, GAME.encodings, threads=1)
    walked.wait(_PATIENCE)
    engine_named("shogi", "policy").load().prepare()


def _search_of_shogi() -> "tuple[Search, Batch]":
    """As the network that comes along sees it."""
    from pydlshogi.games.shogi.encodings import HISTORY
    from pydlshogi.games.shogi.rules import RULES
    from pydlshogi.uct.batch import Batch
    from pydlshogi.uct.search import new_search

    return new_search(RULES, np.zeros(1, RULES.settings), HISTORY, 1), Batch(1, RULES.most_moves, HISTORY)


def _end_with(process: int) -> None:
    """End this program once a process has ended: what the files hold then is whole."""
    with suppress(PermissionError):  # it is somebody else's by now
        with suppress(ProcessLookupError):
            while True:
                os.kill(process, 0)
                time.sleep(1.0)
        os._exit(0)


def main(arguments: list[str] | None = None) -> int:
    parser = parser_for("pydlshogi.compile", "Compile the engines, so that their first start need not.")
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(GAMES)}; none: all")
    parser.add_argument("--search", action="store_true", help="only the search of shogi, on two cores")
    parser.add_argument(
        "--idle",
        type=positive,
        metavar="PID",
        help="at the lowest priority, as long as that process lives, and measure nothing, which other work would spoil",
    )
    given = parser.parse_args(arguments)
    if unknown := [game for game in given.games if game not in GAMES]:
        parser.error(f"{unknown[0]} is no game: {', '.join(GAMES)}")
    if given.idle and sys.platform != "win32":
        Thread(target=_end_with, args=(given.idle,), daemon=True).start()
        os.nice(19)
        with suppress(OSError):  # Linux weighs sessions first, and `nice` only within one
            Path("/proc/self/autogroup").write_text("19")

    def show() -> None:
        for line in (
            compile_search() if given.search else compile_engines(given.games or list(GAMES), measure=not given.idle)
        ):
            print(line, flush=True)

    return exit_status("compile", show)


if __name__ == "__main__":
    sys.exit(main())
