"""A run of training between two steps: the network, its average, its optimisers; written to disk and found again.

It learns from batches, whatever their game and wherever they come from.
"""

import zlib
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import numpy as np
import torch
from torch import nn

from pydlshogi.encoding import Encoding, planes_of
from pydlshogi.network.backend import softmax_over_legal_moves
from pydlshogi.network.sparse import read_sparse
from pydlshogi.network.torch_nets import build, grow, to_npz
from pydlshogi.network.weights import Weights, read_weights, write_weights
from pydlshogi.support import OneLineError
from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array, Uint32Array
from pydlshogi.support.files import replacing
from pydlshogi.training.examples import TrainingBatch
from pydlshogi.training.gradients import FIGURES, Shards, faster_precision, follow, forward, optimisers_of, schedule
from pydlshogi.training.settings import SPARSE, Learning
from pydlshogi.training.sparse import SparseNet

_DAMAGED: Final = (
    *(AssertionError, AttributeError, EOFError, LookupError, OSError, RuntimeError, TypeError, UnpicklingError),
    *(BadZipFile, ValueError, zlib.error),
)
"""What PyTorch, or who looks at its checksums, raises for bytes that are no checkpoint."""
_PARTS: Final = {"settings": dict, "step": int, "progress": float, "kept": dict, "window": torch.Tensor}


class TrainingError(OneLineError):
    """A run that cannot go on; the message is one line."""


def first_weights(settings: Learning, encoding: Encoding) -> Weights | None:
    """Those that a new run begins with, if the settings name a network. Raises ModelError, OSError."""
    if not settings.init:
        return None
    path = Path(settings.init)
    return read_sparse(path, [encoding])[0] if settings.kind == SPARSE else read_weights(path)


class Run:
    """All that a checkpoint holds, and what was made from the settings."""

    def __init__(
        self, settings: Learning, encoding: Encoding, device: torch.device, init: Weights | None = None
    ) -> None:
        """The run before its first step, with a new network or one grown from `init`, of a sparse one with its weights;
        ModelError if it does not fit.

        A sparse network learns on the CPU.
        """
        torch.manual_seed(settings.seed)
        self.encoding = encoding
        self.device = device
        make: Callable[[], nn.Module]
        if settings.kind == SPARSE:
            self.device = device = torch.device("cpu")
            settings = replace(settings, precision="float32")
            self.network = f"sparse {settings.value_width}+{settings.policy_width}"
            make = fresh = partial(SparseNet, encoding, settings.value_width, settings.policy_width)
            self.net: nn.Module = fresh().having(init, settings.init) if init else fresh()
        else:
            architecture = settings.architecture(encoding)
            self.network = str(architecture)
            make = partial(build, architecture)
            self.net = (grow(init, architecture) if init else make()).to(device)
        if settings.precision == "auto":
            untouched = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}
            settings = replace(settings, precision=faster_precision(self.net, architecture, device, settings))
            self.net.load_state_dict(untouched)
        self.settings = settings
        self.averaged = make().to(device)
        self.averaged.load_state_dict(self.net.state_dict())
        self.shards = Shards(self.net, make, device, settings)
        self.optimisers = optimisers_of(self.net, settings, self.shards.map)
        self.peaks = [[group["lr"] for group in optimiser.param_groups] for optimiser in self.optimisers]
        """The highest learning rate of each parameter group."""
        self.step = 0
        self.progress = 0.0
        """Share of the run that is done, 0 to 1."""
        self.kept: dict[str, float] = {}
        """Numbers of the trainer, to find again after a resumption."""
        self.window = torch.zeros(len(FIGURES))
        """Sum of FIGURES since the last line of the log."""

    def write(self, path: Path, *, half: bool = False) -> None:
        """Write the network, the averaged one; with `half` in float16, as a sparse one always is. Raises OSError."""
        if isinstance(self.averaged, SparseNet):
            self.averaged.write(path)
        else:
            write_weights(path, to_npz(self.averaged), half=half)

    def learn(self, batch: TrainingBatch) -> None:
        """One step."""
        figures = self.shards.gradients(batch)
        nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        share = schedule(self.progress, self.settings)
        for optimiser, peaks in zip(self.optimisers, self.peaks, strict=True):
            for group, peak in zip(optimiser.param_groups, peaks, strict=True):
                group["lr"] = peak * share
            optimiser.step()
        if isinstance(self.net, SparseNet):
            self.net.bound()
        self.step += 1
        # At first the average follows more closely, or it would remember the untrained network for long.
        follow(self.averaged, self.net, min(self.settings.average, self.step / (self.step + 10)))
        self.window += figures.cpu()

    def predict(self, packed: Uint32Array, firsts: Int64Array, labels: Int32Array) -> tuple[Float32Array, Float32Array]:
        """What the averaged network says, as `Backend.predict`: priors [all] of the legal moves, win rates [B]."""
        self.averaged.eval()
        with torch.inference_mode():
            if isinstance(self.averaged, SparseNet):
                given = packed.view(np.int32), firsts, labels.astype(np.int64)
                chosen, value = self.averaged(*map(torch.from_numpy, given))
                return chosen.exp().numpy(), value.sigmoid().numpy()
            planes = planes_of(self.encoding, packed)
            policy, value = forward(self.averaged, planes, self.device, self.settings.precision)
            priors = np.empty(firsts[-1], np.float32)
            softmax_over_legal_moves(policy.cpu().numpy(), firsts.astype(np.int32), labels, np.float32(1), priors)
            return priors, value.sigmoid().cpu().numpy()

    def save(self, path: Path) -> None:
        """Write everything to `path`. Raises TrainingError if the run is spoilt."""
        self.check()
        state = {
            "settings": asdict(self.settings),
            "net": self.net.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "step": self.step,  # with the seed, it is the data order too
            "progress": self.progress,
            "kept": self.kept,
            "window": self.window,
            "generator": torch.get_rng_state(),
        }
        whole = BytesIO()  # of a full disk PyTorch says something else than OSError
        torch.save(state, whole)
        with replacing(path) as file:
            file.write(whole.getbuffer())

    def load(self, state: dict[str, Any]) -> None:
        """Go on where a checkpoint was written. Raises TrainingError."""
        try:
            self.net.load_state_dict(state["net"])
            self.averaged.load_state_dict(state["averaged"])
            for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
                decays = [group["weight_decay"] for group in optimiser.param_groups]
                optimiser.load_state_dict(saved)
                for group, decay in zip(optimiser.param_groups, decays, strict=True):
                    group["weight_decay"] = decay
            self.step, self.progress, self.window = state["step"], state["progress"], state["window"]
            # A cycle has named all that it needs; what `train` keeps is found only while it runs.
            self.kept = {name: state["kept"][name] for name in self.kept or state["kept"]}
            torch.set_rng_state(state["generator"])
        except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise TrainingError(f"the checkpoint does not fit this program: {' '.join(str(error).split())}") from error

    def check(self) -> None:
        """Raises TrainingError if the loss or a weight is no longer a number."""
        tensors = [self.window, *self.net.state_dict().values()]
        if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors):
            raise TrainingError(f"step {self.step}: the loss is not a number any more; the last checkpoint is kept")


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What `Run.save` wrote to `path`. Raises TrainingError."""
    try:
        whole = BytesIO(path.read_bytes())
    except FileNotFoundError as error:
        raise TrainingError(f"nothing to resume: there is no {path}") from error
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror or error}") from error
    try:
        state: dict[str, Any] = torch.load(whole, map_location="cpu", weights_only=True)
        changed = ZipFile(whole).testzip()  # PyTorch writes checksums and does not look at them
    except _DAMAGED as error:
        raise TrainingError(f"{path} is not a checkpoint, or damaged") from error
    if changed:
        raise TrainingError(f"{path} is damaged: something in it was changed after it was written")
    if not isinstance(state, dict) or any(not isinstance(state.get(name), kind) for name, kind in _PARTS.items()):
        raise TrainingError(f"{path} is not a checkpoint of a training run")
    return state
