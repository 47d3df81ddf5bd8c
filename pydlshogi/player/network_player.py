"""What players with a network share: where it comes from, what runs it, and a search over the rules of their game.

It knows nothing of how a move is chosen.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from pydlshogi.encoding import Encoding, sample
from pydlshogi.evaluator import HashEvaluator, NetworkEvaluator, UniformEvaluator
from pydlshogi.game import PlayedPosition, Rules
from pydlshogi.network.architecture import EncodingError, ModelError
from pydlshogi.network.backend import CPU_BATCH, LARGEST_BATCH, Backend, BackendError
from pydlshogi.network.loading import encoding_of, load_backend
from pydlshogi.network.weights import FittedError, fitted_option
from pydlshogi.player.base_player import (
    HIGHEST_CP,
    Adviser,
    BasePlayer,
    BestMove,
    Info,
    Loaded,
    OtherGameError,
    Part,
    PlayerError,
    Report,
    loading_step,
)
from pydlshogi.player.clock import Clock, milliseconds
from pydlshogi.player.latency import Latency
from pydlshogi.player.mcts_options import GENERAL_EVAL_COEF, GENERAL_TEMPERATURE, NetworkOptions
from pydlshogi.support.arrays import Float32Array, Int32Array, Uint32Array
from pydlshogi.support.files import cache_folder, shipped_model, write_whole
from pydlshogi.support.pool import available_cores
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.root import Root
from pydlshogi.uct.search import Search, new_search

GENERAL: Final = {"Eval_Coef": GENERAL_EVAL_COEF, "temperature": GENERAL_TEMPERATURE}
"""Options for which a network may bring values of its own, with those for networks that bring none."""

_TIMED: Final = 3
"""Batches of each size that are timed, and each start waits for them; play goes on measuring."""


class Game(Protocol):
    """What a player asks of the entry of its game: see `GameEntry`."""

    network: str

    @property
    def rules(self) -> Rules: ...
    @property
    def encodings(self) -> Sequence[Encoding]: ...
    def position(self, sfen: str | None = None, *, draw_ply: int = 0) -> PlayedPosition: ...


class LoadedNetwork(NamedTuple):
    """An evaluator, warm, and what was measured of it."""

    loaded_by: tuple[object, ...]
    """The options that it was loaded by."""
    evaluator: Evaluator
    description: str
    """What evaluates, in one line."""
    threads: int
    """How many batches are evaluated at once."""
    batch_size: int
    latency: Latency
    fitted: Mapping[str, int]
    """Options that were fitted for the network, or the general ones: see GENERAL."""
    remarks: tuple[str, ...] = ()


class Network(Part[Any, LoadedNetwork]):
    """What evaluates positions of a game."""

    def __init__(
        self,
        game: Game,
        own: Callable[[Any], tuple[Evaluator, str]] | None = None,
        wrap: Callable[[Evaluator, Any], Evaluator] = lambda evaluator, _: evaluator,
        unmeasured_batch: int = CPU_BATCH,
        hashed: Encoding | None = None,
    ) -> None:
        """`own`: options -> what evaluates without a `modelfile`, and its description. Without it: the network of
        the game; where the game has none, all moves are alike. `wrap`: (evaluator, options) -> the evaluator with
        what the game adds. Both raise PlayerError. `unmeasured_batch`: positions at once where no network is loaded and
        the options name no number. `hashed`: what the hash evaluator sees of moves; None: their numbers."""
        self._game, self._own, self._wrap = game, own, wrap
        self._unmeasured_batch, self._hashed = unmeasured_batch, hashed
        if own is None and not game.network:
            self._own = lambda _: (UniformEvaluator(), "no network: all moves are alike")
        self.loaded = LoadedNetwork((), UniformEvaluator(), "", 1, CPU_BATCH, Latency(), GENERAL)
        """What was loaded last."""

    def loading(self, options: NetworkOptions) -> Callable[[], LoadedNetwork] | None:
        loaded_by = options.loaded_by()
        return partial(self._load, options, loaded_by) if loaded_by != self.loaded.loaded_by else None

    def install(self, loaded: LoadedNetwork) -> None:
        self.loaded = loaded

    def prepare(self, options: NetworkOptions) -> tuple[str, ...]:
        """Load it now; returns remarks for the user. Raises PlayerError."""
        self.install(self._load(options, options.loaded_by()))
        return self.loaded.remarks

    def new_search(self, megabytes: int, evaluator: Evaluator | None = None) -> Search:
        """A search for `evaluator`, or for the one loaded, with a table of `megabytes` MiB. Raises MemoryError."""
        settings = self._game.position().settings
        return new_search(self._game.rules, settings, (evaluator or self.loaded.evaluator).encoding, megabytes)

    def new_batch(self, size: int) -> Batch:
        """A batch with room for `size` positions."""
        return Batch(size, self._game.rules.most_moves, self.loaded.evaluator.encoding)

    def set_temperature(self, temperature: float) -> None:
        """What divides the logits of a network's policy: above 1 the priors are flatter, below 1 sharper."""
        if isinstance(self.loaded.evaluator, NetworkEvaluator):
            self.loaded.evaluator.temperature = temperature

    def evaluate(self, position: PlayedPosition, moves: Int32Array) -> tuple[Float32Array, float]:
        """A prior for each of the legal `moves` of a position, float32 [moves], and its value, 0 to 1."""
        batch = self.new_batch(1)
        batch.add(position, moves)
        priors, values, _ = self.loaded.evaluator.evaluate(batch)
        return priors, float(values[0])

    def _load(self, options: NetworkOptions, loaded_by: tuple[object, ...]) -> LoadedNetwork:
        """What the options ask for. Raises PlayerError."""
        remarks: tuple[str, ...] = ()
        cores = available_cores()
        threads = options.threads or cores
        if threads > cores:
            remarks = (f"Threads {threads}: {cores} are used, as many as there are cores",)
            threads = cores
        batch_size = options.batch_size or self._unmeasured_batch
        fitted: Mapping[str, int] = GENERAL
        if options.backend == "uniform":
            evaluator: Evaluator = UniformEvaluator()
            description = "no network: Backend uniform"
        elif options.backend == "hash":
            evaluator, description = HashEvaluator(self._hashed), "no network: Backend hash"
        elif self._own and not options.modelfile:
            evaluator, description = self._own(options)
        else:
            modelfile, backend = self._backend(options, threads)
            description = f"{modelfile.name}: {backend.description}"
            batch_size = options.batch_size or backend.batch_size
            if not batch_size:
                with loading_step("measuring how many positions to evaluate at once"):
                    batch_size = best_batch_size(backend, modelfile)
            remarks += (f"{description}, {batch_size} positions at once",)
            evaluator = NetworkEvaluator(backend)
            fitted, remark = _fitted_for(backend, modelfile)
            if remark and (backend.foreign or not options.eval_coef):
                remarks += (remark,)
        evaluator = self._wrap(evaluator, options)
        with loading_step("preparing the search; after an installation it is compiled, which takes some seconds"):
            latency = self.warmed_up(evaluator, batch_size)
        return LoadedNetwork(loaded_by, evaluator, description, threads, batch_size, latency, fitted, remarks)

    def _backend(self, options: NetworkOptions, threads: int) -> tuple[Path, Backend]:
        """The file and the backend of the network that the options name, else of the game's. Raises PlayerError."""
        modelfile = Path(options.modelfile) if options.modelfile else shipped_model() / self._game.network
        try:
            with loading_step(f"loading {modelfile.name}"):
                return modelfile, load_backend(
                    options.backend,
                    modelfile,
                    self._game.encodings,
                    device=options.device,
                    precision=options.precision,
                    threads=threads,
                    streams=threads,
                    batch_size=options.batch_size,
                )
        except EncodingError as error:
            raise OtherGameError(str(error)) from None
        except (BackendError, ModelError) as error:
            raise PlayerError(str(error)) from None

    def warmed_up(self, evaluator: Evaluator, batch_size: int) -> Latency:
        """Search a little, so that all kernels are there, and see how long batches take.

        Raises PlayerError if the network answers with nan or infinity.
        """
        search = self.new_search(1, evaluator)
        position = self._game.position()
        search.set_root(position)
        batch = Batch(batch_size, self._game.rules.most_moves, evaluator.encoding)
        root = Root(search)

        def took(playouts: int) -> float:
            began = milliseconds()
            batch.clear()
            leaves = search.gather(batch, playouts)
            evaluations = evaluator.evaluate(batch)
            if not (np.isfinite(evaluations.priors).all() and np.isfinite(evaluations.values).all()):
                raise PlayerError("the network answers with nan or infinity: its file is damaged")
            search.backup(leaves, evaluations)
            return milliseconds() - began

        for _ in ("the root", "a leaf"):
            took(1)
        ones, fulls = ([took(size) for _ in range(_TIMED)] for size in (1, batch_size))
        latency = Latency(min(ones), min(fulls), batch_size)
        for one, full in zip(ones, fulls, strict=True):
            latency.record(1, one)
            latency.record(batch_size, full)
        best = root.moves()[0].move
        root.line(best)
        _ = root.value, root.leader(), search.knows(position), position.sfen()
        batch.clear()
        batch.add(position, position.legal_moves())  # as `eval` does, and players without a search
        root.prove([best], 1)
        position.push(best)
        position.declares()
        search.set_root(position)
        return latency


class NetworkPlayer(BasePlayer):
    """A player that asks an evaluator about positions of one game."""

    options: NetworkOptions

    def __init__(
        self,
        options: NetworkOptions,
        network: Network,
        advisers: Sequence[Adviser[Any, Any]] = (),
        parts: Sequence[Part[Any, Any]] = (),
    ) -> None:
        """`parts`: what else is to be loaded."""
        super().__init__(options, (network, *advisers, *parts))
        self.network = network
        self._advisers = advisers

    def install(self, loaded: Loaded) -> None:
        super().install(loaded)
        self.latency = self.network.loaded.latency

    def share_cores(self, players: int) -> None:
        self.network.loaded = self.network.loaded._replace(threads=max(1, self.network.loaded.threads // players))

    def new_game(self) -> None:
        for adviser in self._advisers:
            adviser.new_game(self.options)

    @property
    def eval_coef(self) -> float:
        """Centipawns for one unit of the value's logit: the user's, else the network's."""
        return self.options.eval_coef or self.network.loaded.fitted["Eval_Coef"]

    def policy_temperature(self) -> int:
        """Percent."""
        return self.options.policy_temperature(self.network.loaded.fitted["temperature"])

    def evaluate(self, position: PlayedPosition, moves: Int32Array) -> tuple[Float32Array, float]:
        self.network.set_temperature(self.policy_temperature() / 100)
        return self.network.evaluate(position, moves)

    def advice(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | None:
        """An answer that needs no search, reported; None: there is none."""
        if not len(position.legal_moves()):
            return BestMove("resign")
        if position.declares():
            won = Info(depth=1, time=round(clock.elapsed()), nodes=0, score_cp=HIGHEST_CP, string="win by declaration")
            report(won)
            return BestMove("win")
        answers = (adviser.answer(position, clock, self.options, report) for adviser in self._advisers)
        return next((answer for answer in answers if answer), None)


@cache
def is_of_another(game: Game, modelfile: str) -> bool:
    """Whether a file holds a network, but none of the game. What else may be wrong with it is said at loading."""
    path = Path(modelfile)
    try:
        if path.suffix != ".onnx":
            encoding_of(path, game.encodings)
        elif find_spec("onnx"):
            from pydlshogi.network.onnx_file import graph_of

            graph_of(path, game.encodings, half=False)
    except ModelError as error:
        return isinstance(error, EncodingError)
    return False


def _fitted_for(backend: Backend, modelfile: Path) -> tuple[Mapping[str, int], str]:
    """The options that a network brings along, and what there is to say of them: "" or one line."""
    fitted, missing = dict(GENERAL), dict[str, None]()
    for name in GENERAL if backend.foreign else ["Eval_Coef"]:
        try:
            fitted[name] = fitted_option(modelfile, name)
        except FittedError as error:
            missing[str(error)] = None
    if not backend.foreign:
        return fitted, "".join(f"{reason}: Eval_Coef is {GENERAL_EVAL_COEF}" for reason in missing)
    values = ", ".join(f"{name} {value}" for name, value in fitted.items())
    reasons = f" ({'; '.join(missing)})" if missing else ""
    return fitted, f"{modelfile.name} is a network in the form of {backend.encoding.name}'s: {values}{reasons}"


# The batch size, which is measured once for a network on a GPU. Larger batches use a device better and a search worse:
# playouts of one batch do not learn from each other, and a move cannot be answered before its last batch is back.

SIZES: Final = tuple(1 << power for power in range(LARGEST_BATCH.bit_length()))
ENOUGH: Final = 0.8
"""Share of the best speed seen that is worth no larger batch."""
LONGEST: Final = 0.05
"""Seconds that a batch may take."""
FASTEST_OF: Final = 5
"""Batches that are timed; the fastest counts, for other programs can only slow one down."""
MOVES: Final = 64
"""Legal moves in each position of what is timed."""


def best_batch_size(backend: Backend, modelfile: Path) -> int:
    """The smallest size that reaches ENOUGH of the best speed among those that take no longer than LONGEST.

    Measured in a second or two; the answer is kept in the cache folder under the network's content and the device.
    """
    measured = f"{backend.description} up to {LARGEST_BATCH}"
    kept = cache_folder() / "measured" / hashlib.sha256(modelfile.read_bytes() + measured.encode()).hexdigest()
    with suppress(OSError, ValueError):
        return int(kept.read_text())
    seconds = dict[int, float]()
    for size in SIZES:
        seconds[size] = seconds_for(backend, size)
        if seconds[size] > LONGEST:
            break
    size = choose(seconds)
    with suppress(OSError):  # it is measured again next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, str(size).encode())
    return size


def choose(seconds: dict[int, float]) -> int:
    """The size to use, given the seconds that a batch of each size takes; the smallest is never too slow."""
    smallest = min(seconds)
    speeds = {size: size / took for size, took in seconds.items() if took <= LONGEST or size == smallest}
    return min(size for size, speed in speeds.items() if speed >= ENOUGH * max(speeds.values()))


def seconds_for(backend: Backend, size: int) -> float:
    """How long a batch takes, the fastest of FASTEST_OF, while all streams of the backend have one."""
    predict = partial(backend.predict, *some_batch(backend.encoding, size), 1.0)
    took = []
    with ThreadPoolExecutor(backend.streams) as pool:
        for _ in range(1 + FASTEST_OF):  # the first warms up
            began = perf_counter()
            others = [pool.submit(predict) for _ in range(1, backend.streams)]
            predict()
            for other in others:
                other.result()
            took.append(perf_counter() - began)
    return min(took[1:])


def some_batch(encoding: Encoding, size: int) -> tuple[Uint32Array, Int32Array, Int32Array]:
    """Something to predict: `packed`, `firsts` and `labels` as in `Backend.predict`."""
    firsts = np.arange(size + 1, dtype=np.int32) * np.int32(MOVES)
    labels = np.random.default_rng(0).integers(0, encoding.labels, firsts[-1], np.int32)
    return sample(encoding, size), firsts, labels
