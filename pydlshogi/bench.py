"""How fast is it, and does it still search the same tree? `python -m pydlshogi.bench`

Prints playouts per second of one core with an evaluator that costs nothing but with all the work of a leaf (moves,
repetition, declaration, mate in one, planes, labels, softmax), then those of a real network beside the bare speed of
the network, and last a signature: a hash of the root visits under opinions that are the same on every machine. A
change that should not alter the search must not alter the signature.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from pydlshogi.command_line import exit_status
from pydlshogi.common import NUM_LABELS, NUM_PLANES
from pydlshogi.evaluator import HashEvaluator, NetworkEvaluator
from pydlshogi.features import Float32Array
from pydlshogi.games.shogi import START_SFEN, ShogiPosition
from pydlshogi.network.backend import BackendError, load_backend
from pydlshogi.network.weights import ModelError
from pydlshogi.player.pipeline import Pipeline
from pydlshogi.uct.search import Search
from pydlshogi.uct.uct_node import UctNodeTable

MIDDLE_GAME: Final = "l2g4l/2ks3+R1/ppppp2pp/2s2np2/5P3/2P1P1P2/PPSP1G2P/1KG6/LN5NL b RBGNPbs3P 1"
END_GAME: Final = "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124"
POSITIONS: Final = {"start": START_SFEN, "middle game": MIDDLE_GAME, "end game": END_GAME}


class NullBackend:
    """Answers with logits drawn once: the work around a network without the network."""

    on_gpu = False

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._policy = rng.normal(0, 1.5, (1024, NUM_LABELS)).astype(np.float32)
        self._values = rng.normal(0, 0.6, 8192).astype(np.float32)
        self._given = 0

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        count = len(planes)
        self._given = (self._given + count) % (len(self._values) - 1024)
        return self._policy[:count], self._values[self._given : self._given + count]


def search_for(sfen: str, evaluator: Any, playouts: int, batch: int) -> tuple[Search, float]:
    """A search of at least `playouts` playouts, and the seconds of CPU time of this process that it took."""
    search = Search(UctNodeTable(max(64, playouts // 200)))
    search.set_root(ShogiPosition(sfen))
    requests = evaluator.requests(batch)
    began = time.process_time()
    while search.playouts < playouts:
        leaves = search.gather(requests, batch)
        search.backup(leaves, evaluator.evaluate(requests))
    return search, time.process_time() - began


def core_speed(sfen: str, playouts: int, batch: int, repeats: int = 3) -> float:
    """Playouts per second of one core under the NullBackend: the best of some runs, for the machine is shared."""
    evaluator = NetworkEvaluator(NullBackend())
    search_for(sfen, evaluator, 2 * batch, batch)
    runs = (search_for(sfen, evaluator, playouts, batch) for _ in range(repeats))
    return max(search.playouts / seconds for search, seconds in runs)


def network_speed(backend: Any, batch: int, seconds: float) -> tuple[float, float]:
    """Playouts per second with a network, and positions per second of the network alone.

    Both by the clock on the wall, half of `seconds` each.
    """
    evaluator = NetworkEvaluator(backend)
    pipeline = Pipeline(evaluator, batch, ahead=int(evaluator.on_gpu))
    search = Search(UctNodeTable(512))
    search.set_root(ShogiPosition(MIDDLE_GAME))
    planes = (np.random.default_rng(0).random((batch, NUM_PLANES, 9, 9)) < 0.05).astype(np.float32)

    def playouts() -> int:
        before = search.playouts
        pipeline.step(search, batch)
        return search.playouts - before

    def positions() -> int:
        pipeline.drain(search)  # one thread at a time may ask a backend
        backend.infer(planes)
        return batch

    speeds = speeds_in_turns({"searched": playouts, "bare": positions}, seconds / 2)
    return speeds["searched"], speeds["bare"]


def speeds_in_turns(ways: Mapping[str, Callable[[], int]], seconds: float) -> dict[str, float]:
    """How much each of the `ways` does in a second, each called for `seconds` and returning how much it did.

    They take turns of a quarter of a second: what else the machine does weighs on all alike.
    """
    counts = dict.fromkeys(ways, 0)
    spent = dict.fromkeys(ways, 0.0)
    for work in ways.values():  # what is compiled when it is first needed
        for _ in range(8):
            work()
    while min(spent.values()) < seconds:
        for name, work in ways.items():
            began = time.perf_counter()
            while (taken := time.perf_counter() - began) < 0.25:
                counts[name] += work()
            spent[name] += taken
    return {name: counts[name] / spent[name] for name in ways}


def signature(playouts: int = 5000) -> str:
    """Eight hexadecimal digits that change whenever the search does."""
    digest = hashlib.sha256()
    for sfen in POSITIONS.values():
        for batch in (1, 16):
            search, _ = search_for(sfen, HashEvaluator(), playouts, batch)
            for move in search.root_moves():
                digest.update(f"{move.move} {move.visits};".encode())
    return digest.hexdigest()[:8]


def report(
    playouts: int, modelfile: str | None, batch: int, seconds: float, backend_name: str = "auto"
) -> Iterator[str]:
    """The lines of the whole bench; `modelfile` None: no network. Raises BackendError, ModelError."""
    backend = None if modelfile is None else load_backend(backend_name, modelfile, batch_size=batch)
    for name, sfen in POSITIONS.items():
        for size in (1, 8, 32):
            speed = core_speed(sfen, playouts, size)
            yield f"{name:12} batch {size:3}: {speed:8,.0f} playouts/s"
    if backend is not None:
        searched, bare = network_speed(backend, batch, seconds)
        yield backend.description
        yield (
            f"network      batch {batch:3}: {searched:8,.0f} playouts/s, "
            f"{bare:,.0f} positions/s alone, ratio {searched / bare:.2f}"
        )
    yield f"signature {signature()}"


def main(arguments: list[str] | None = None) -> int:
    """Run the bench from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m pydlshogi.bench", description="Measure the search and print its signature."
    )
    parser.add_argument("--playouts", type=int, default=30000, help="playouts per position (default %(default)s)")
    parser.add_argument("--modelfile", help="a network to measure too, .npz or .onnx")
    parser.add_argument("--backend", default="auto", help="what runs it (default %(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="its batch size (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to measure it (default %(default)s)")
    given = parser.parse_args(arguments)
    if min(given.playouts, given.batch) < 1 or not 0 < given.seconds < float("inf"):
        parser.error("--playouts, --batch and --seconds are above 0")

    def show() -> None:
        for line in report(given.playouts, given.modelfile, given.batch, given.seconds, given.backend):
            print(line, flush=True)

    return exit_status("bench", show, BackendError, ModelError)


if __name__ == "__main__":
    sys.exit(main())
