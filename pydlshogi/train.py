"""Training: game records in, a policy-value network out. To be read from top to bottom.

    python -m pydlshogi.train --quick
    python -m pydlshogi.train --train games.jsonl.xz --out runs/mine --hours 8
    python -m pydlshogi.train --out runs/mine --resume
    python -m pydlshogi.train --train games.jsonl.xz --out runs/larger --hours 8 --blocks 10 --init runs/mine/net.npz

Knows records through dataset.py, the encoding through batches.py and networks through network/torch_nets.py; knows no
search and no player.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from itertools import repeat
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final

import numpy as np
from tqdm import tqdm

try:
    import torch
    from torch import nn
except ImportError as error:
    remedy = "run `sh bat/environment.sh train`, on Windows `bat\\environment.bat train`, or `pip install torch`"
    sys.exit(f"train: PyTorch is not installed here: {remedy} ({error})")

from pydlshogi.command_line import exit_status
from pydlshogi.dataset import (
    DEFAULT_EVAL_COEF,
    NO_EVAL,
    DatasetError,
    Positions,
    averaged_evals,
    fit_eval_coef,
    limit_repeats,
    load_positions,
)
from pydlshogi.features import Float32Array
from pydlshogi.files import cache_folder, replacing, reserved
from pydlshogi.network.backend import available_cores
from pydlshogi.network.fitted import write_fitted
from pydlshogi.network.torch_nets import build, grow, to_npz
from pydlshogi.network.weights import ModelError, read_weights, write_weights
from pydlshogi.training.batches import Batch, Shuffle, ValueTarget, batches, numbered_batch
from pydlshogi.training.gradients import FIGURES, Shards, architecture_of, faster_precision, forward
from pydlshogi.training.journal import Journal
from pydlshogi.training.optimisers import follow, optimisers_of, schedule
from pydlshogi.training.settings import ON_RESUME, QUICK, Settings, parser
from pydlshogi.training.validation import fit_for_play, sample, validate

CHECKPOINT: Final = "checkpoint.pt"
BEFORE_DECAY: Final = "before_decay.pt"
"""The run when its learning rate began to fall, kept for whoever wants to go on from there in another way."""
JOURNAL: Final = "log.jsonl"
LOADER_THREADS: Final = min(4, available_cores())
"""More would wait for each other: half of their work holds Python's lock."""


class TrainingError(Exception):
    """A run that cannot go on; the message is one line."""


class Run:
    """A run between two steps: all that a checkpoint holds, and what was made from the settings."""

    def __init__(self, settings: Settings, device: torch.device, init: str = "") -> None:
        """The run before its first step, with a new network or with one grown from the file `init`; ModelError."""
        torch.manual_seed(settings.seed)
        self.device = device
        size = architecture_of(settings)
        self.net = (grow(read_weights(init), size) if init else build(size)).to(device)
        if settings.precision == "auto":
            untouched = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}
            settings = replace(settings, precision=faster_precision(self.net, device, settings))
            self.net.load_state_dict(untouched)
        self.settings = settings
        self.averaged = build(architecture_of(settings)).to(device)
        self.averaged.load_state_dict(self.net.state_dict())
        self.optimisers = optimisers_of(self.net, settings)
        self.peaks = [[group["lr"] for group in optimiser.param_groups] for optimiser in self.optimisers]
        """The highest learning rate of each parameter group."""
        self.shards = Shards(self.net, device, settings)
        self.step = 0
        self.progress = 0.0
        """Share of the run that is done, 0 to 1."""
        self.eval_coef = 0.0
        """Centipawns of the records' evaluations for one unit of the logit of a win rate."""
        self.window = torch.zeros(len(FIGURES))
        """Sum of FIGURES since the last line of the log."""

    def learn(self, batch: Batch) -> None:
        """One step."""
        figures = self.shards.gradients(batch)
        nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        share = schedule(self.progress, self.settings)
        for optimiser, peaks in zip(self.optimisers, self.peaks, strict=True):
            for group, peak in zip(optimiser.param_groups, peaks, strict=True):
                group["lr"] = peak * share
            optimiser.step()
        self.step += 1
        # At first the average follows more closely, or it would remember the untrained network for long.
        follow(self.averaged, self.net, min(self.settings.average, self.step / (self.step + 10)))
        self.window += figures.cpu()

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Logits of the averaged network."""
        self.averaged.eval()
        with torch.inference_mode():
            policy, value = forward(self.averaged, planes, self.device, self.settings.precision)
        return policy.cpu().numpy(), value.cpu().numpy()

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
            "eval_coef": self.eval_coef,
            "window": self.window,
            "generator": torch.get_rng_state(),
        }
        with replacing(path) as file:
            torch.save(state, file)

    def load(self, state: dict[str, Any]) -> None:
        """Go on where a checkpoint was written. Raises TrainingError."""
        try:
            self.net.load_state_dict(state["net"])
            self.averaged.load_state_dict(state["averaged"])
            for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
                optimiser.load_state_dict(saved)
            self.step, self.progress, self.eval_coef = state["step"], state["progress"], state["eval_coef"]
            self.window = state["window"]
            torch.set_rng_state(state["generator"])
        except (LookupError, RuntimeError, TypeError, ValueError) as error:
            raise TrainingError(f"the checkpoint does not fit this program: {error}") from error

    def check(self) -> None:
        """Raises TrainingError if the loss or a weight is no longer a number."""
        tensors = [self.window, *self.net.state_dict().values()]
        if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors):
            raise TrainingError(
                f"step {self.step}: the loss is not a number any more; {CHECKPOINT} holds the run before"
            )


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What `Run.save` wrote to `path`. Raises TrainingError."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise TrainingError(f"nothing to resume: there is no {path}") from error
    except (AssertionError, EOFError, LookupError, OSError, RuntimeError, UnpicklingError, ValueError) as error:
        raise TrainingError(f"{path} is not a checkpoint, or damaged") from error
    if not isinstance(state, dict) or "settings" not in state:
        raise TrainingError(f"{path} is not a checkpoint of a training run")
    return state


def seconds_of(stop_at: str) -> float:
    """The time of day `stop_at`, as `time.time` counts. Raises ValueError or OverflowError for what is none."""
    return datetime.fromisoformat(stop_at).timestamp()


class Timeline:
    """How far the run is: by its steps, or by the time of day where hours or an end are set.

    A resumed run has the share of its hours left that `progress` had not reached.
    """

    def __init__(self, settings: Settings, progress: float) -> None:
        self._steps = settings.steps
        self._last = time.time()
        self._end = self._last + settings.hours * 3600 * (1.0 - progress)
        if settings.stop_at:
            self._end = seconds_of(settings.stop_at)

    def progress(self, before: float, step: int) -> float:
        """Progress 0..1 after `step`, where it was `before` at the last call."""
        if self._steps:
            return min(1.0, step / self._steps)
        now = time.time()
        if now >= self._end:
            return 1.0
        share = (now - self._last) / (self._end - self._last)
        self._last = now
        return before + (1.0 - before) * share


def tensorboard_for(settings: Settings) -> Callable[[dict[str, Any], int], None]:
    """A function that hands a line of the log and its step to TensorBoard; without --tensorboard it does nothing."""
    if not settings.tensorboard:
        return lambda figures, step: None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise TrainingError("--tensorboard needs TensorBoard: pip install tensorboard") from error
    writer = SummaryWriter(settings.out)

    def add(figures: dict[str, Any], step: int) -> None:
        for name, value in figures.items():
            if isinstance(value, float):
                writer.add_scalar(name, value, step)

    return add


def load_data(settings: Settings) -> tuple[Positions, Positions]:
    """Positions to learn from, and positions to validate with."""
    cache = Path(settings.cache) if settings.cache else cache_folder()
    learned = load_positions(Path(settings.train), "train", cache, say)
    if settings.more:
        further = np.array(load_positions(Path(settings.more), "train", cache, say))
        # The engine's own opinion of its games teaches it nothing, and is on another scale.
        further["eval"] = NO_EVAL
        learned = np.concatenate([learned, further])
    return learned, load_positions(Path(settings.val or settings.train), "val", cache, say)


def train(settings: Settings, state: dict[str, Any] | None) -> None:
    """Run to the end of the schedule, from the start or from the checkpoint `state`; then write the network."""
    out = Path(settings.out)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    run = Run(settings, device, settings.init if state is None else "")
    learned, val = load_data(settings)
    val_sample = sample(val, settings.validate_positions)
    if state is None:
        run.eval_coef = fit_eval_coef(learned)
    else:
        run.load(state)
    if settings.eval_plies > 1:
        learned = np.array(learned)
        learned["eval"] = averaged_evals(learned, settings.eval_plies, run.eval_coef)
    journal, plot = Journal(out / JOURNAL, run.step), tensorboard_for(settings)
    indices = limit_repeats(learned, settings.repeats, np.random.default_rng(settings.seed))
    if len(indices) < settings.batch_size:
        raise TrainingError(f"{len(indices)} positions do not fill a batch of {settings.batch_size}")
    shuffle = Shuffle(indices, settings.batch_size, settings.seed, mirror=settings.mirror)
    target = ValueTarget(settings.val_lambda, run.eval_coef)
    prepare = partial(numbered_batch, learned, shuffle, target)

    def try_to_write(action: Callable[[], None]) -> bool:
        """Whether it was written. A disk that is full for a while must not end a run of many hours."""
        try:
            action()
        except OSError as error:
            say(f"{error.filename or out}: {error.strerror}; the run goes on, the last checkpoint is kept")
            return False
        return True

    bar = tqdm(
        total=1.0,
        initial=run.progress,
        disable=None,
        bar_format="{percentage:3.0f}%|{bar:20}| {elapsed}<{remaining}{postfix}",
    )
    timeline = Timeline(settings, run.progress)
    run.progress = timeline.progress(run.progress, run.step)
    logged = saved = time.monotonic()
    with closing(batches(prepare, run.step, LOADER_THREADS)) as source, stopping_by_signal() as stopped:
        while run.progress < 1.0:
            run.learn(next(source))
            before = run.progress
            run.progress = timeline.progress(before, run.step)
            now = time.monotonic()
            if run.step % settings.log_every == 0:
                run.check()
                line = line_of(run, now - logged)
                run.window.zero_()
                logged = now
                try_to_write(partial(journal.write, line))
                plot(line, run.step)
                with suppress(OSError):
                    show(bar, line)
            if run.step % settings.validate_every == 0:
                report = validate(run.infer, val_sample)
                try_to_write(partial(journal.write, {"step": run.step, "validation": report}))
                plot(report, run.step)
                say(summary(run.step, report))
            begins_to_fall = before <= 1.0 - settings.decay < run.progress
            if begins_to_fall:
                try_to_write(partial(run.save, out / BEFORE_DECAY))
            stop = stopped()
            if now - saved > settings.save_minutes * 60 or run.progress == 1.0 or stop:
                kept = try_to_write(partial(run.save, out / CHECKPOINT))
                saved = now
            if stop:
                bar.close()
                if not kept:
                    raise TrainingError(f"stopped after {run.step} steps, which could not be saved in {out}")
                say(f"stopped after {run.step} steps; go on with: --out {out} --resume")
                return
    bar.close()
    finish(run, val, journal)


def say(text: str) -> None:
    """Show a line, if anybody can see it: a run of many hours outlives whoever read its output."""
    with suppress(OSError):
        tqdm.write(text)


def line_of(run: Run, seconds: float) -> dict[str, Any]:
    """The line of the log for the steps since the last one, which took `seconds`."""
    settings = run.settings
    means = (run.window / settings.log_every).tolist()
    return {
        "step": run.step,
        "positions": run.step * settings.batch_size,
        **{name: round(mean, 5) for name, mean in zip(FIGURES, means, strict=True)},
        "learning_rate": schedule(run.progress, settings) * settings.learning_rate,
        "positions_per_s": round(settings.log_every * settings.batch_size / seconds, 1),
        "progress": round(run.progress, 5),
        "time": round(time.time()),
    }


def show(bar: Any, line: dict[str, Any]) -> None:
    """Bring the progress bar up to date."""
    bar.set_postfix_str(
        f"loss {line['loss']:.3f}, policy {line['policy_accuracy']:.1%}, value {line['value_accuracy']:.1%}, "
        f"{line['positions_per_s']:.0f} positions/s",
        refresh=False,
    )
    bar.update(line["progress"] - bar.n)


def summary(step: int, report: dict[str, Any]) -> str:
    """A validation in one line."""
    value = "unknown" if report["value_accuracy"] is None else f"{report['value_accuracy']:.1%}"
    return (
        f"step {step}: of {report['positions']} positions top-1 {report['top1']:.1%}, top-5 {report['top5']:.1%}, "
        f"value {value}; policy loss {report['policy_loss']}, value loss {report['value_loss']}"
    )


def finish(run: Run, val: Positions, journal: Journal) -> None:
    """Validate with all positions of `val` and write the network: net.npz, net.onnx, and net.json with its options."""
    out = Path(run.settings.out)
    report = validate(run.infer, val)
    journal.write({"step": run.step, "final": True, "validation": report})
    say(summary(run.step, report))
    options = fit_for_play(run.infer, sample(val, run.settings.validate_positions))
    weights = to_npz(run.averaged)
    write_weights(out / "net.npz", weights)
    # Imported here, so that the .npz is there even if onnx is not.
    from onnx import save_model

    from pydlshogi.network.onnx_export import onnx_model

    with replacing(out / "net.onnx") as file:
        save_model(onnx_model(weights), file)
    write_fitted(out / "net.json", options, report)
    say(f"wrote {out / 'net.npz'}, net.onnx and net.json: {options}")


@contextmanager
def stopping_by_signal() -> Iterator[Callable[[], bool]]:
    """Inside, the first Ctrl-C or SIGTERM does not end the process: the function given tells that it came.

    A second one does end it.
    """
    came = threading.Event()

    def note(number: int, frame: Any) -> None:
        came.set()
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def benchmark(settings: Settings, seconds: float = 10.0) -> None:
    """Print positions a second of bare forward and backward passes, and of the same fed by the loader."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    learned, _ = load_data(settings)
    run = Run(settings, device)
    shuffle = Shuffle(np.arange(len(learned)), settings.batch_size, settings.seed, mirror=settings.mirror)
    prepare = partial(numbered_batch, learned, shuffle, ValueTarget(settings.val_lambda, DEFAULT_EVAL_COEF))

    def steps(source: Iterator[Batch], limit: float) -> tuple[int, float]:
        """Steps made in `limit` seconds, and the seconds they took."""
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < limit:
            run.shards.gradients(next(source)).tolist()
            count += 1
        return count, time.perf_counter() - start

    bare, fed = [], []
    with closing(batches(prepare, 0, LOADER_THREADS)) as loader:
        same = repeat(next(loader))
        steps(same, 2.0)
        # In turns, so that whatever else the machine does slows both.
        for _ in range(10):
            bare.append(steps(same, seconds / 10))
            fed.append(steps(loader, seconds / 10))
    rates = [settings.batch_size * sum(n for n, _ in runs) / sum(t for _, t in runs) for runs in (bare, fed)]
    net = f"{architecture_of(settings)}, {run.settings.precision}, batch {settings.batch_size}, {device.type}"
    print(f"{net}: {rates[0]:.0f} positions/s bare, {rates[1]:.0f} from the loader, ratio {rates[1] / rates[0]:.3f}")


def resumed(state: dict[str, Any], given: dict[str, Any]) -> Settings:
    """The settings of a checkpoint, changed by what was `given` on the command line.

    Raises TrainingError for a change that only a new run can have: see ON_RESUME.
    """
    try:
        before = Settings(**state["settings"])
    except TypeError as error:
        raise TrainingError(f"the checkpoint does not fit this program: {error}") from error
    for name in sorted(given.keys() - ON_RESUME):
        if given[name] != getattr(before, name):
            raise TrainingError(f"--{name.replace('_', '-')} cannot change on the way: it was {getattr(before, name)}")
    if given.keys() & {"hours", "stop_at", "steps"}:
        before = replace(before, hours=0.0, stop_at="", steps=0)
    return replace(before, **given)


def checked(settings: Settings) -> Settings:
    """`settings`, or TrainingError if something is missing or contradicts itself."""
    if not settings.out or not settings.train:
        raise TrainingError("--train and --out are needed, or --quick")
    if sum(bool(end) for end in (settings.hours, settings.stop_at, settings.steps)) != 1:
        raise TrainingError("say how long: one of --hours, --stop-at and --steps")
    if not settings.val and ".jsonl" not in Path(settings.train).name:
        raise TrainingError("--val is needed: a list of records has no val split")
    try:
        if settings.stop_at:
            seconds_of(settings.stop_at)
    except (OverflowError, ValueError) as error:
        raise TrainingError(f"--stop-at {settings.stop_at}: not a time like 2026-01-31T18:00") from error
    for name in (
        "blocks",
        "channels",
        "batch_size",
        "log_every",
        "validate_every",
        "validate_positions",
        "repeats",
        "eval_plies",
    ):
        if getattr(settings, name) < 1:
            raise TrainingError(f"--{name.replace('_', '-')} must be at least 1")
    return settings


def _run(given: dict[str, Any]) -> None:
    quick, resume, only_benchmark = given.pop("quick"), given.pop("resume"), given.pop("benchmark")
    if quick:
        if given.keys() & {"steps", "stop_at"}:
            given = {"hours": 0.0, **given}
        given = {**QUICK, **given}
    if only_benchmark:
        benchmark(replace(Settings(), **given))
        return
    out = Path(given.get("out", ""))
    state = read_checkpoint(out / CHECKPOINT) if resume else None
    settings = checked(resumed(state, given) if state else Settings(**given))
    out.mkdir(parents=True, exist_ok=True)
    try:
        with reserved(out):
            if not resume:
                check_new(out, settings)
            train(settings, state)
    except BlockingIOError as error:
        raise TrainingError(f"{out} is in use by another run") from error


def check_new(out: Path, settings: Settings) -> None:
    """Raises TrainingError where a new run would destroy another, or end as it begins."""
    if (out / CHECKPOINT).exists():
        raise TrainingError(f"{out} holds a run already: --resume goes on with it")
    for name in (JOURNAL, "net.npz"):
        if (out / name).exists():
            raise TrainingError(f"{out} holds the {name} of another run: choose another --out")
    if settings.stop_at and seconds_of(settings.stop_at) <= time.time():
        raise TrainingError(f"--stop-at {settings.stop_at} is past")


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    given = vars(parser().parse_args(arguments))
    # Ctrl-C counts here before the training, which notes it: see `stopping_by_signal`.
    return exit_status("train", partial(_run, given), TrainingError, DatasetError, ModelError)


if __name__ == "__main__":
    sys.exit(main())
