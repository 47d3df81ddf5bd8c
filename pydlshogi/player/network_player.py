"""What players with a network share: where it comes from, what runs it, and a search over the rules of their game.

It knows nothing of how a move is chosen.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.evaluator import HashEvaluator, NetworkEvaluator, UniformEvaluator
from pydlshogi.game import PlayedPosition, Rules
from pydlshogi.network.architecture import EncodingError, ModelError
from pydlshogi.network.backend import CPU_BATCH, Backend, BackendError
from pydlshogi.network.fitted import FittedError, fitted_option
from pydlshogi.network.loading import load_backend
from pydlshogi.player.base_player import BasePlayer, BestMove, Loaded, OtherGameError, PlayerError, Report
from pydlshogi.player.batching import best_batch_size
from pydlshogi.player.clock import Clock, milliseconds
from pydlshogi.player.latency import Latency
from pydlshogi.player.mcts_options import GENERAL_EVAL_COEF, GENERAL_TEMPERATURE, NetworkOptions
from pydlshogi.player.options import EngineOptions
from pydlshogi.support.arrays import Float32Array, Int32Array, Records
from pydlshogi.support.files import shipped_model, stamp_of
from pydlshogi.support.processes import available_cores
from pydlshogi.support.progress import step
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.root import Root
from pydlshogi.uct.search import Search, stored_search

GENERAL: Final = {"Eval_Coef": GENERAL_EVAL_COEF, "temperature": GENERAL_TEMPERATURE}
"""Options that a network may bring along, and what they are where it does not."""

_TIMED: Final = 3
"""So many batches of each size are timed, and each start waits for them; play goes on measuring."""


class LoadedNetwork(NamedTuple):
    """An evaluator, warm, and what was measured of it."""

    loaded_with: tuple[object, ...]
    """The options that it was loaded with."""
    evaluator: Evaluator
    description: str
    threads: int
    """How many batches are evaluated at once."""
    batch_size: int
    latency: Latency
    fitted: Mapping[str, int]
    """Options that were fitted for the network, or the general ones: see GENERAL."""
    remarks: tuple[str, ...]


class NetworkPlayer(BasePlayer):
    """A player that asks an evaluator about positions of one game."""

    options: NetworkOptions
    rules: Rules
    encodings: Sequence[Encoding]
    """How networks of this game may see it."""
    moves_encoding: ClassVar[Encoding | None] = None
    """What the hash evaluator is told of moves; None: their numbers."""
    shipped: str = ""
    """The file in `model/` of the network that comes along; "": there is none, see `without_network`."""
    unmeasured_batch: ClassVar[int] = CPU_BATCH
    """The batch size where none is asked for and there is no network."""

    def __init__(self, options: NetworkOptions) -> None:
        super().__init__(options)
        self.evaluator: Evaluator = UniformEvaluator()
        self.description = ""
        """What evaluates, in one line."""
        self.batch_size = CPU_BATCH
        self.threads = 1
        self.fitted: Mapping[str, int] = GENERAL
        self._loaded_with: tuple[object, ...] = ()

    @abstractmethod
    def start(self) -> PlayedPosition:
        """The start of the game."""

    def rule_settings(self, position: PlayedPosition) -> Records:
        """What the options say of the rules of the game that `position` is of: one record of `rules.settings`."""
        return np.zeros(1, self.rules.settings)

    # What a game may add to the loading

    def without_network(self) -> tuple[Evaluator, str] | None:
        """What evaluates where `modelfile` is empty, and its description; None: the network that comes along.

        Raises PlayerError, as the next one.
        """
        return None

    def completed(self, evaluator: Evaluator, options: NetworkOptions) -> Evaluator:
        """The evaluator with what the game adds to it."""
        return evaluator

    def loaded_by(self, options: NetworkOptions) -> tuple[object, ...]:
        """What decides which evaluator is loaded, and how."""
        return (
            options.backend,
            options.modelfile,
            stamp_of(Path(options.modelfile)) if options.modelfile else (),
            options.device,
            options.precision,
            options.threads,
            options.batch_size,
        )

    # Loading

    def loading(self, options: EngineOptions) -> Callable[[], Loaded] | None:
        assert isinstance(options, NetworkOptions)
        loaded_by = self.loaded_by(options)
        return partial(self._load, options, loaded_by) if loaded_by != self._loaded_with else None

    def install(self, loaded: Loaded) -> None:
        assert isinstance(loaded, LoadedNetwork)
        self._loaded_with = loaded.loaded_with
        self.evaluator = loaded.evaluator
        self.description = loaded.description
        self.batch_size = loaded.batch_size
        self.threads = loaded.threads
        self.latency = loaded.latency
        self.fitted = loaded.fitted

    def _load(self, options: NetworkOptions, loaded_by: tuple[object, ...]) -> LoadedNetwork:
        """What the options ask for, which `loaded_by` repeats. Raises PlayerError."""
        remarks: tuple[str, ...] = ()
        cores = available_cores()
        threads = options.threads or cores
        if threads > cores:
            remarks = (f"Threads {threads}: {cores} are used, as many as there are cores",)
            threads = cores
        batch_size = options.batch_size or self.unmeasured_batch
        fitted: Mapping[str, int] = GENERAL
        if options.backend == "uniform":
            evaluator: Evaluator = UniformEvaluator()
            description = "no network: Backend uniform"
        elif options.backend == "hash":
            evaluator, description = HashEvaluator(self.moves_encoding), "no network: Backend hash"
        elif not options.modelfile and (own := self.without_network()):
            evaluator, description = own
        else:
            try:
                modelfile, backend = self._network(options, threads)
            except EncodingError as error:
                raise OtherGameError(str(error)) from None
            except (BackendError, ModelError) as error:
                raise PlayerError(str(error)) from None
            description = f"{modelfile.name}: {backend.description}"
            batch_size = options.batch_size or backend.batch_size
            if not batch_size:
                with step("measuring how many positions to evaluate at once"):
                    batch_size = best_batch_size(backend, modelfile)
            remarks += (f"{description}, {batch_size} positions at once",)
            evaluator = NetworkEvaluator(backend)
            fitted, remark = _fitted_for(backend, modelfile)
            if remark and (backend.foreign or not options.eval_coef):
                remarks += (remark,)
        evaluator = self.completed(evaluator, options)
        with step("preparing the search; after an installation it is compiled, which takes some seconds"):
            latency = self.warmed_up(evaluator, batch_size)
        return LoadedNetwork(loaded_by, evaluator, description, threads, batch_size, latency, fitted, remarks)

    def _network(self, options: NetworkOptions, threads: int) -> tuple[Path, Backend]:
        """The network the user named; else the shipped one."""
        modelfile = Path(options.modelfile) if options.modelfile else shipped_model() / self.shipped
        with step(f"loading {modelfile.name}"):
            return modelfile, load_backend(
                options.backend,
                modelfile,
                self.encodings,
                device=options.device,
                precision=options.precision,
                threads=threads,
                streams=threads,
                batch_size=options.batch_size,
            )

    def warmed_up(self, evaluator: Evaluator, batch_size: int) -> Latency:
        """Search a little, so that all kernels are there, and see how long batches take.

        Raises PlayerError if the network answers with nan or infinity.
        """
        search = self.new_search(1, evaluator)
        position = self.start()
        search.set_root(position)
        batch = Batch(batch_size, self.rules.most_moves, evaluator.encoding)
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
        _ = root.value, root.leader(), search.knows(position)
        batch.clear()
        batch.add(position, position.legal_moves())  # as `eval` does, and players without a search
        root.prove([best], 1)
        search.advance(position, best)
        return latency

    # What it is for

    @property
    def eval_coef(self) -> float:
        """Centipawns for one unit of the value's logit: the user's, else the network's."""
        return self.options.eval_coef or self.fitted["Eval_Coef"]

    def answer_at_once(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | None:
        """An answer that needs no thought, reported; None: there is none. For games to add."""
        return None

    def new_search(self, megabytes: int, evaluator: Evaluator | None = None) -> Search:
        """A search of this game for the evaluator, or for the present one. MemoryError."""
        encoding = (evaluator or self.evaluator).encoding
        return stored_search(self.rules, self.rule_settings(self.start()), encoding, megabytes)

    def evaluator_at(self, temperature: float) -> None:
        """Let the network's policy have a temperature: above 1 the priors are flatter, below 1 sharper."""
        if isinstance(self.evaluator, NetworkEvaluator):
            self.evaluator.temperature = temperature

    def priors_and_value(self, position: PlayedPosition, moves: Int32Array) -> tuple[Float32Array, float]:
        """What the evaluator thinks of a position without a search: the priors of its legal `moves`, and the value."""
        batch = Batch(1, self.rules.most_moves, self.evaluator.encoding)
        batch.add(position, moves)
        priors, values, _ = self.evaluator.evaluate(batch)
        return priors, float(values[0])

    def evaluate(self, position: PlayedPosition) -> Iterator[str]:
        """The network's own opinion, without a search: the win rate, and the ten moves of the highest priors."""
        moves = position.legal_moves()
        if not len(moves):
            yield "no legal move"
            return
        priors, value = self.priors_and_value(position, moves)
        yield f"win rate {value:.4f}"
        for place in np.argsort(-priors, kind="stable")[:10]:
            yield f"{position.usi(int(moves[place])):5} {priors[place]:.4f}"


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
