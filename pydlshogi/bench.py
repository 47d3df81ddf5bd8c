"""How fast is it, and does it still search the same tree? `python -m pydlshogi.bench`

What is printed, part by part:

    core       playouts a second with an evaluator that costs nothing but with all the work of a leaf (moves, labels,
               repetition, declaration, mates, packing, softmax): in one thread by CPU time, in several by the clock
    network    playouts a second in the default configuration, beside the positions a second of the bare network
    signature  a hash of the root visits, with hashes for evaluations and with the network that comes along, whose
               integers are the same on every machine: a change that should alter neither must not alter it
    backends   microseconds a position, and the error, of every backend that can run the network here; only where asked
               for

The machine may be shared: compare what is printed in one run, or two checkouts in turns by `--compare OTHER_CHECKOUT`.
"""

import hashlib
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.bench_backends import backends
from pydlshogi.encoding import Encoding, labels_of
from pydlshogi.evaluator import HashEvaluator, NetworkEvaluator
from pydlshogi.games.shogi.encodings import BOOK, ENCODINGS, MOVES
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.games.shogi.game import GAME as SHOGI
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.network.backend import softmax_over_legal_moves
from pydlshogi.network.loading import load_backend
from pydlshogi.player.base_player import PlayerError
from pydlshogi.player.network_player import Network
from pydlshogi.support.arrays import Float32Array
from pydlshogi.support.command_line import bounded, exit_status, natural, parser_for
from pydlshogi.support.files import shipped_model
from pydlshogi.support.pool import available_cores
from pydlshogi.uct.batch import Batch, Evaluations, Evaluator
from pydlshogi.uct.pipeline import Pipeline
from pydlshogi.uct.root import Root
from pydlshogi.uct.search import Search, new_search

MIDDLE_GAME: Final = "l2g4l/2ks3+R1/ppppp2pp/2s2np2/5P3/2P1P1P2/PPSP1G2P/1KG6/LN5NL b RBGNPbs3P 1"
END_GAME: Final = "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124"
POSITIONS: Final = {"start": START_SFEN, "middle game": MIDDLE_GAME, "end game": END_GAME}
MATE_PLIES: Final = int(MCTSPlayerOptions().mate_leaf_search)


class NullEvaluator:
    """Softmax over logits drawn once: the work around a network without the network."""

    encoding: Encoding | None = BOOK

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._policy: Float32Array = rng.normal(0, 1.5, (1024, BOOK.labels)).astype(np.float32)
        self._values: Float32Array = (1 / (1 + np.exp(-rng.normal(0, 0.6, 8192)))).astype(np.float32)
        self._given = 0

    def evaluate(self, batch: Batch) -> Evaluations:
        count = len(batch)
        priors = np.empty(batch.firsts[count], np.float32)
        softmax_over_legal_moves(self._policy, batch.firsts[: count + 1], batch.labels, np.float32(1), priors)
        self._given = (self._given + count) % (len(self._values) - 1024)
        return Evaluations(priors, self._values[self._given : self._given + count])


def search_from(sfen: str, encoding: Encoding | None, megabytes: int, mate_plies: int = MATE_PLIES) -> Search:
    """A search of a position under the rules of the defaults."""
    position = ShogiPosition(sfen, mate_plies=mate_plies)
    search = new_search(RULES, position.settings, encoding, megabytes)
    search.set_root(position)
    return search


def make_playouts(search: Search, evaluator: Evaluator, playouts: int, batch_size: int, threads: int = 1) -> None:
    """Make `playouts`, in batches of up to `batch_size` in each thread."""
    pipeline = Pipeline(search, evaluator, batch_size, threads)
    wanted: Callable[[int], int] = lambda begun: playouts - begun  # noqa: E731
    aim = search.playouts + playouts
    with pipeline.running(wanted):
        while search.playouts < aim:
            pipeline.step(wanted)
    pipeline.close()


def core_speed(sfen: str, playouts: int, batch_size: int, threads: int = 1) -> float:
    """Playouts per second under the NullEvaluator, the median of five runs.

    With one thread by the CPU time of this process, with several by the clock.
    """
    now = time.process_time if threads == 1 else time.perf_counter
    speeds = []
    for _ in range(6):  # the first warms up
        search, evaluator = search_from(sfen, BOOK, max(64, playouts // 500)), NullEvaluator()
        began = now()
        make_playouts(search, evaluator, playouts, batch_size, threads)
        speeds.append(search.playouts / (now() - began))
    return statistics.median(speeds[1:])


def network_speed(network: Network, seconds: float) -> tuple[float, float]:
    """Playouts per second of a search with a network, and positions per second of the network alone.

    Both by the clock on the wall and with as many threads, `seconds` each. Raises PlayerError where it has none.
    """
    evaluator, batch_size, threads = network.loaded.evaluator, network.loaded.batch_size, network.loaded.threads
    if not isinstance(evaluator, NetworkEvaluator):
        raise PlayerError(f"{network.loaded.description}, so nothing to measure")
    search = network.new_search(512)
    search.set_root(ShogiPosition(MIDDLE_GAME))
    make_playouts(search, evaluator, 4 * batch_size, batch_size, threads)
    batch = Batch(batch_size, RULES.most_moves, evaluator.encoding)
    for _ in range(batch_size):
        batch.add(ShogiPosition(MIDDLE_GAME), ShogiPosition(MIDDLE_GAME).legal_moves())

    def searched() -> int:
        before = search.playouts
        make_playouts(search, evaluator, 8 * threads * batch_size, batch_size, threads)
        return search.playouts - before

    def bare() -> int:
        helpers = [threading.Thread(target=ask) for _ in range(threads - 1)]
        for helper in helpers:
            helper.start()
        ask()
        for helper in helpers:
            helper.join()
        return 8 * threads * batch_size

    def ask() -> None:
        for _ in range(8):
            evaluator.evaluate(batch)

    searched(), bare()
    counts, spent = [0, 0], [0.0, 0.0]
    while min(spent) < seconds:
        # In turns of a quarter of a second: what else the machine does weighs on both alike.
        for place, work in enumerate((searched, bare)):
            began = time.perf_counter()
            while (taken := time.perf_counter() - began) < 0.25:
                counts[place] += work()
            spent[place] += taken
    return counts[0] / spent[0], counts[1] / spent[1]


def signature(playouts: int = 5000, network_playouts: int = 1000) -> str:
    """Eight hexadecimal digits that change whenever the search does, or what the network says."""
    digest = hashlib.sha256()
    network = load_backend("winograd", shipped_model() / SHOGI.network, ENCODINGS, threads=1)
    searches: Sequence[tuple[Evaluator, int, int]] = (
        (HashEvaluator(MOVES), playouts, 1),
        (HashEvaluator(MOVES), playouts, 16),
        (NetworkEvaluator(network), network_playouts, 4),
    )
    for sfen in POSITIONS.values():
        for evaluator, most, batch_size in searches:
            search = search_from(sfen, evaluator.encoding, 64, mate_plies=1)
            batch = Batch(batch_size, RULES.most_moves, evaluator.encoding)
            while search.playouts < most:
                batch.clear()
                search.backup(search.gather(batch, batch_size), evaluator.evaluate(batch))
            for move in Root(search).moves():
                (number,) = labels_of(MOVES, ShogiPosition(sfen).state, np.array([move.move]))
                digest.update(f"{number} {move.visits};".encode())
    return digest.hexdigest()[:8]


PARTS: Final = ("core", "network", "signature")
ASKED_PARTS: Final = ("backends",)
"""Run only where they are asked for."""


def report(
    parts: Sequence[str], playouts: int, seconds: float, options: MCTSPlayerOptions, also: Sequence[Path] = ()
) -> Iterator[str]:
    """The lines of these parts of the bench, rates as _RATE reads them. Raises PlayerError."""
    cores = available_cores()
    if "core" in parts:
        for name, sfen in POSITIONS.items():
            for batch_size in (1, 8, 32, 128):
                one = core_speed(sfen, playouts, batch_size)
                line = f"{name:12} batch {batch_size:3}: {one:8,.0f} playouts/s of one core"
                for threads in range(2, cores + 1 if batch_size > 1 else 0):
                    line += f", {core_speed(sfen, playouts, batch_size, threads):8,.0f} playouts/s in {threads} threads"
                yield line
    if "network" in parts:
        network = Network(SHOGI)
        yield from network.prepare(options)
        searched, bare = network_speed(network, seconds)
        batch_size, threads = network.loaded.batch_size, network.loaded.threads
        yield (
            f"network      batch {batch_size:3}, {threads} thread{'' if threads == 1 else 's'}: {searched:8,.0f} "
            f"playouts/s, {bare:,.0f} positions/s alone, ratio {searched / bare:.2f}"
        )
    if "signature" in parts:
        yield f"signature {signature()}"
    if "backends" in parts:
        files = [Path(options.modelfile) if options.modelfile else shipped_model() / SHOGI.network, *also]
        yield from backends(files, ENCODINGS, options.threads or 1, seconds / 5)


_PLAYOUTS: Final = 60_000
_COMPARED_PLAYOUTS: Final = 2000
TURNS: Final = 5
_RATE: Final = re.compile(r"([\d,]+) (\w+/s[^,(\n]*)")
"""What `compare` reads of a line, NAME: RATE, RATE ..."""


def compare(arguments: Sequence[str], checkout: Path, other: Path) -> Iterator[str]:
    """Run the bench with these arguments in two checkouts in turns; lines on how many times as fast the first one is.

    Of each turn when it has ended, and then of each rate: the median of TURNS ratios, of which each divides what was
    measured one after the other. Raises PlayerError where a bench fails, or the two have no rate in common.
    """
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    for turn in range(TURNS):
        rates = {}
        for each in (checkout, other) if turn % 2 == 0 else (other, checkout):
            rates[each] = _rates_in(each, arguments)
        this_turn = {what: rate / rates[other][what] for what, rate in rates[checkout].items() if what in rates[other]}
        if not this_turn:
            raise PlayerError(f"nothing is measured both here and in {other}")
        for what, ratio in this_turn.items():
            ratios[what].append(ratio)
        yield f"turn {turn + 1} of {TURNS}: median {statistics.median(this_turn.values()):.2f} times"
    for what, each_turn in ratios.items():
        yield f"{what}: {statistics.median(each_turn):.2f} times, {min(each_turn):.2f} to {max(each_turn):.2f}"


def _rates_in(checkout: Path, arguments: Sequence[str]) -> dict[str, float]:
    """What the bench of a checkout prints: each rate by its name."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pydlshogi.bench", *arguments],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PlayerError(f"{checkout}: {(done.stderr.splitlines() or ['no reason given'])[-1]}")
    rates = {}
    for line in done.stdout.splitlines():
        what, _, measured = line.partition(":")
        for number, unit in _RATE.findall(measured):
            rates[f"{' '.join(what.split())}, {unit.strip()}"] = float(number.replace(",", ""))
    return rates


def main(arguments: list[str] | None = None) -> int:
    parser = parser_for("pydlshogi.bench", "Measure the search and print its signature.")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; none: all; {', '.join(ASKED_PARTS)}"
    )
    parser.add_argument(
        "--playouts",
        type=natural,
        default=0,
        help=f"per position (default: {_PLAYOUTS}, with --compare {_COMPARED_PLAYOUTS} in each turn)",
    )
    parser.add_argument(
        "--modelfile", default="", help="the network, .npz or .onnx (default: the one that comes along)"
    )
    parser.add_argument(
        "--also", type=Path, action="append", default=[], metavar="FILE", help="another file that `backends` runs"
    )
    parser.add_argument("--backend", default="auto", help="what runs it")
    parser.add_argument("--batch", type=natural, default=0, help="its batch size (default: the engine's)")
    parser.add_argument("--threads", type=natural, default=0, help="threads with the network (default: all cores)")
    parser.add_argument("--seconds", type=bounded(0.001, kind=float), default=5.0, help="how long to measure it")
    parser.add_argument(
        "--compare", type=Path, metavar="CHECKOUT", help=f"run that one too, in {TURNS} turns, and print ratios"
    )
    given = parser.parse_args(arguments)
    if unknown := [part for part in given.parts if part not in PARTS + ASKED_PARTS]:
        parser.error(f"{unknown[0]} is no part: {', '.join(PARTS + ASKED_PARTS)}")
    if given.compare and not (given.compare / "pydlshogi" / "bench.py").is_file():
        parser.error(f"{given.compare} is no checkout")
    playouts = given.playouts or (_COMPARED_PLAYOUTS if given.compare else _PLAYOUTS)
    options = MCTSPlayerOptions()
    options.modelfile, options.backend = given.modelfile, given.backend
    options.batch_size, options.threads = given.batch, given.threads

    if given.compare:
        again = [*given.parts, f"--playouts={playouts}", f"--backend={given.backend}", f"--batch={given.batch}"]
        again += [f"--modelfile={given.modelfile}", f"--threads={given.threads}", f"--seconds={given.seconds}"]
        lines = compare(again, Path(__file__).resolve().parents[1], given.compare.resolve())
    else:
        lines = report(given.parts or PARTS, playouts, given.seconds, options, given.also)

    def show() -> None:
        for line in lines:
            print(line, flush=True)

    return exit_status("bench", show)


if __name__ == "__main__":
    sys.exit(main())
