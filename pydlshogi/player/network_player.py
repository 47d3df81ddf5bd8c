"""What players with a network share: the options that name it, and how it is loaded.

It knows where a network comes from and what runs it, and nothing of how a move is chosen.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydlshogi.files import shipped_model
from pydlshogi.player.base_player import HIGHEST_CP, BasePlayer, PlayerError
from pydlshogi.player.clock import Latency, milliseconds
from pydlshogi.player.options import Check, Combo, EngineOptions, Filename, Spin

if TYPE_CHECKING:
    from pydlshogi.network.backend import Backend

SHIPPED_NETWORK: Final = "pydlshogi.npz"
QUANTISED_NETWORK: Final = "pydlshogi.int8.onnx"

QUANTISED_BACKENDS: Final = ("onnx", "openvino")
"""Backends that can run a quantised network."""

UNMEASURED_BATCH: Final = 16
"""Positions evaluated at once where nothing was measured."""

GENERAL_EVAL_COEF: Final = 756
"""For networks that come without a fitted one: dlshogi's."""

_MATE_IN_ONE: Final = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"


class NetworkOptions(EngineOptions):
    """What a player lets the user decide about its network."""

    modelfile = Filename(
        "modelfile",
        "",
        aliases=("DNN_Model", "Model_File", "WeightPath"),
        help="the network, .npz or .onnx; empty: the one that comes with the package",
    )
    backend = Combo(
        "Backend",
        "auto",
        ("auto", "onnx", "openvino", "chainer", "torch", "uniform", "hash"),
        help="what runs the network; auto: openvino where it is installed and the network runs on the CPU, else onnx; "
        "uniform and hash play without a network",
    )
    device = Combo("Device", "auto", ("auto", "cpu", "gpu", "tensorrt"), help="where the network runs")
    precision = Combo(
        "Precision",
        "auto",
        ("auto", "float32", "half"),
        help="what the network computes in; half: float16 on a GPU, bfloat16 on a CPU; auto: what is fast there",
    )
    threads = Spin("Threads", 0, 0, 512, aliases=("UCT_Threads",), help="CPU threads of the network; 0: all cores")
    spinning = Check("Thread_Spinning", False, help="waiting threads keep their core busy: for otherwise idle machines")
    batch_size = Spin(
        "DNN_Batch_Size",
        0,
        0,
        1024,
        aliases=("batchsize",),
        help="positions evaluated at once, at most; 0: measured, once per network and device",
    )
    eval_coef = Spin(
        "Eval_Coef",
        0,
        0,
        10000,
        help="centipawns = Eval_Coef x ln(p / (1 - p)); 0: what was fitted for the network, else "
        f"{GENERAL_EVAL_COEF}; 600 in the book and in ShogiHome's graph of win rates",
    )


class NetworkPlayer(BasePlayer):
    """A player that asks an evaluator."""

    options: NetworkOptions

    def __init__(self, options: NetworkOptions) -> None:
        super().__init__(options)
        self.evaluator: Any = None
        """An `Evaluator`, once ready."""
        self.requests: Any = None
        """Its notebook, for `batch_size` positions."""
        self.batch_size = UNMEASURED_BATCH
        self.eval_coef = GENERAL_EVAL_COEF
        """Centipawns for one unit of the value's logit, once ready: the user's, else the network's."""
        self._modelfile: Path | None = None
        """None before loading, and for `uniform` and `hash`."""
        self._loaded: tuple[object, ...] = ()
        """The options that the evaluator was loaded with; () while there is none."""
        self._eval_coef_settled_for: tuple[object, ...] = ()

    def preload(self) -> None:
        import cshogi  # noqa: F401

        import pydlshogi.evaluator
        import pydlshogi.network.onnx_export  # noqa: F401
        from pydlshogi.network.backend import why_unusable

        for name in QUANTISED_BACKENDS:
            why_unusable(name)  # imports those that are there

    def prepare(self) -> list[str]:
        from pydlshogi.evaluator import HashEvaluator, NetworkEvaluator, UniformEvaluator

        options = self.options
        wanted = (
            options.backend,
            options.modelfile,
            options.device,
            options.precision,
            options.threads,
            options.spinning,
            options.batch_size,
        )
        remarks = []
        if wanted != self._loaded:
            self.evaluator = None
            self._loaded = ()
            self._modelfile = None
            self.batch_size = options.batch_size or UNMEASURED_BATCH
            if options.backend == "uniform":
                self.evaluator = UniformEvaluator()
            elif options.backend == "hash":
                self.evaluator = HashEvaluator()
            else:
                self.evaluator = NetworkEvaluator(self._load_backend())
                remarks = self._broken_backends()
            self.requests = self.evaluator.requests(self.batch_size)
            self._warm_up()
            self._loaded = wanted
        return remarks + self._settle_eval_coef()

    def _broken_backends(self) -> list[str]:
        """Why a backend that is installed was not among those that Backend auto chose from."""
        from pydlshogi.network.backend import installed, why_unusable

        if self.options.backend != "auto":
            return []
        return [reason for name in QUANTISED_BACKENDS if installed(name) and (reason := why_unusable(name))]

    def _settle_eval_coef(self) -> list[str]:
        """Set `eval_coef`; a remark if the user left it to what was fitted for the network and that is of no use."""
        from pydlshogi.network.fitted import FittedError, eval_coef_for

        wanted = (self.options.eval_coef, self._modelfile)
        if wanted == self._eval_coef_settled_for:
            return []
        self._eval_coef_settled_for = wanted
        self.eval_coef = self.options.eval_coef or GENERAL_EVAL_COEF
        if self._modelfile is None or self.options.eval_coef:
            return []
        try:
            self.eval_coef = eval_coef_for(self._modelfile)
        except FittedError as error:
            return [f"{error}: Eval_Coef is {GENERAL_EVAL_COEF}"]
        return []

    def _load_backend(self) -> Any:
        """The network, loaded; sets `_modelfile`, and `batch_size` unless the user has. Raises PlayerError."""
        from pydlshogi.network.backend import BackendError
        from pydlshogi.network.weights import ModelError
        from pydlshogi.player.batching import best_batch_size

        try:
            self._modelfile, backend = self._choose_network()
        except (BackendError, ModelError) as error:
            raise PlayerError(str(error)) from None
        if not self.options.batch_size:
            self.batch_size = best_batch_size(backend, self._modelfile)
        return backend

    def _choose_network(self) -> "tuple[Path, Backend]":
        """The network the user named; else the shipped one, quantised where that is clearly faster."""
        from pydlshogi.network.backend import why_unusable
        from pydlshogi.player.batching import fastest

        options = self.options
        if options.modelfile:
            modelfile = Path(options.modelfile)
            return modelfile, self._load(options.backend, modelfile)
        shipped = shipped_model() / SHIPPED_NETWORK
        quantised = shipped.with_name(QUANTISED_NETWORK)
        exact = self._load(options.backend, shipped)
        names = [name for name in QUANTISED_BACKENDS if options.backend in ("auto", name) and not why_unusable(name)]
        if exact.on_gpu or options.precision != "auto" or not names or not quantised.exists():
            return shipped, exact
        best = fastest(exact, [self._load(name, quantised) for name in names], quantised)
        return (shipped if best is exact else quantised), best

    def _load(self, name: str, modelfile: Path) -> "Backend":
        """`modelfile` run by the backend `name`, under the user's options."""
        from pydlshogi.network.backend import load_backend

        return load_backend(
            name,
            modelfile,
            device=self.options.device,
            precision=self.options.precision,
            threads=self.options.threads,
            spinning=self.options.spinning,
            batch_size=self.batch_size,
        )

    def _warm_up(self) -> None:
        """Search a little, so that all kernels are compiled and the latencies are known.

        First the root and one leaf, which compile most of what there is to compile; what follows is timed. To advance
        the root compiles what moves the tree, and mates what proves. Raises PlayerError if the network answers with
        nan or infinity.
        """
        import numpy as np

        from pydlshogi.games.shogi import ShogiPosition
        from pydlshogi.player.batching import FASTEST_OF
        from pydlshogi.uct.search import Search
        from pydlshogi.uct.uct_node import UctNodeTable

        search = Search(UctNodeTable(1))
        search.set_root(ShogiPosition())

        def took(playouts: int) -> float:
            began = milliseconds()
            leaves = search.gather(self.requests, playouts)
            evaluations = self.evaluator.evaluate(self.requests)
            if not all(np.isfinite(opinions).all() for opinions in evaluations):
                raise PlayerError("the network answers with nan or infinity: its file is damaged")
            search.backup(leaves, evaluations)
            return milliseconds() - began

        for _ in ("the root", "a leaf"):
            took(1)
        ones, fulls = ([took(size) for _ in range(FASTEST_OF)] for size in (1, self.batch_size))
        self.latency = Latency(min(ones), min(fulls), self.batch_size)
        for one, full in zip(ones, fulls, strict=True):
            self.latency.record(1, one)
            self.latency.record(self.batch_size, full)
        search.advance(search.root_moves()[0].move)
        search.set_root(ShogiPosition(_MATE_IN_ONE))
        for playouts in (1, self.batch_size):
            took(playouts)
        search.prove([search.root_moves()[0].move], 1)


def centipawns(win_rate: float, eval_coef: int) -> int:
    """A win rate p, 0 to 1, as centipawns: `eval_coef` x ln(p / (1 - p)), within HIGHEST_CP either way."""
    if not 0.0 < win_rate < 1.0:
        return HIGHEST_CP if win_rate >= 1.0 else -HIGHEST_CP
    return max(-HIGHEST_CP, min(HIGHEST_CP, round(-math.log(1 / win_rate - 1) * eval_coef)))
