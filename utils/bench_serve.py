"""Games a minute with a network in each process, and with one evaluation server for all of them, in one run.

    python -m utils.bench_serve dobutsu --modelfile model/dobutsu.npz --workers 2

Both ways play the same seeds, in turns; what starts processes and loads networks is not counted.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from pydlshogi.games.catalogue import GameEntry, UnknownGame, game_named
from pydlshogi.learning.service import serving
from pydlshogi.learning.settings import SelfPlay, add_game_options, given_settings
from pydlshogi.learning.tasks import PlaySets, set_deadline
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import BackendError
from pydlshogi.network.loading import encoding_of
from pydlshogi.support.command_line import exit_status, positive
from pydlshogi.support.processes import ProcessCrew, available_cores
from pydlshogi.support.settings import SettingError


def report(game: GameEntry, network: bytes, settings: SelfPlay, workers: int, rounds: int) -> Iterator[str]:
    """The lines of the whole bench. Raises CrewError."""
    with ProcessCrew(workers) as apart, ProcessCrew(workers) as together, serving(game, together.host) as service:
        ways = {
            "a network in each process": (apart, PlaySets(game.name, network, settings)),
            "one evaluation server": (together, PlaySets(game.name, network, settings, service)),
        }
        speeds: dict[str, list[float]] = {name: [] for name in ways}
        longest = set_deadline(settings, network)
        for number in range(rounds + 1):
            for name, (crew, task) in ways.items():
                start = perf_counter()
                sets = list(crew.map(task, [(number, worker) for worker in range(workers)], longest))
                speeds[name].append(60 * sum(len(played.lengths) for _, (played, _) in sets) / (perf_counter() - start))
        slow = median(speeds["a network in each process"][1:])
        for name, (_, *counted) in speeds.items():
            each = ", ".join(f"{speed:,.0f}" for speed in counted)
            yield f"{name:25} {median(counted):8,.0f} games a minute {median(counted) / slow:5.2f} x   ({each})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(prog="python -m utils.bench_serve", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--modelfile", required=True, type=Path, help="the network (.npz)")
    parser.add_argument("--workers", type=positive, default=available_cores(), help="processes (default: %(default)s)")
    parser.add_argument("--rounds", type=positive, default=3, help="of a set for each process (default: %(default)s)")
    words = sys.argv[1:] if arguments is None else arguments
    add_game_options(parser, SelfPlay, words)
    options = parser.parse_args(words)

    def show() -> None:
        game = game_named(options.game)
        settings = given_settings(game, SelfPlay, options)
        encoding_of(options.modelfile, game.encodings)
        for line in report(game, options.modelfile.read_bytes(), settings, options.workers, options.rounds):
            print(line, flush=True)

    return exit_status("bench_serve", show, UnknownGame, SettingError, ModelError, BackendError)


if __name__ == "__main__":
    sys.exit(main())
