"""Training: game records of shogi in, a policy-value network out. To be read from top to bottom.

    python -m pydlshogi.train --quick
    python -m pydlshogi.train --train games.jsonl.xz --out runs/mine --hours 8
    python -m pydlshogi.train --out runs/mine --resume
    python -m pydlshogi.train --train games.jsonl.xz --out runs/larger --hours 8 --depth 10 --init runs/mine/net.npz
    python -m pydlshogi.train --kind sparse --train games.jsonl.xz --taught taught --out runs/sparse --hours 2

The records come from training/shogi/, what learns from them is training/run.py. Knows no search and no player.
"""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from pydlshogi.support.command_line import exit_status, pool_of, remedy

try:
    import torch
except ImportError as error:
    sys.exit(f"train: PyTorch is not installed here: {remedy('train', 'torch')} ({error})")

from pydlshogi.encoding import Encoding
from pydlshogi.games.shogi.encodings import ENCODINGS
from pydlshogi.games.shogi.sparse import SPARSE as SPARSE_ENCODING
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.fitted import write_fitted
from pydlshogi.network.torch_nets import to_npz
from pydlshogi.network.weights import read_weights, write_weights
from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.arrays_file import ArraysError
from pydlshogi.support.files import cache_folder, replacing, reserved
from pydlshogi.support.processes import available_cores
from pydlshogi.support.settings import SettingError, check, option_of
from pydlshogi.training.batches import Shuffle, batches, numbered_batch
from pydlshogi.training.examples import TrainingBatch, batch_of
from pydlshogi.training.gradients import FIGURES
from pydlshogi.training.journal import Journal, say
from pydlshogi.training.optimisers import schedule
from pydlshogi.training.run import Run, TrainingError, read_checkpoint
from pydlshogi.training.settings import GONE, SPARSE
from pydlshogi.training.shogi.evaluations import ValueTarget, averaged_evals, fit_eval_coef
from pydlshogi.training.shogi.fit import fit_for_play
from pydlshogi.training.shogi.formats import load
from pydlshogi.training.shogi.recorded import Recorded, SearchedRecords, Several
from pydlshogi.training.shogi.records import NO_EVAL, DatasetError, Positions, limit_repeats
from pydlshogi.training.shogi.reencoding import in_planes_of
from pydlshogi.training.shogi.searched import Searched, read_sets
from pydlshogi.training.shogi.settings import OF_SPARSE, ON_RESUME, QUICK, Settings, parser
from pydlshogi.training.shogi.validation import sample, validate
from pydlshogi.training.sparse import SparseNet

NAMED: Final[dict[str, Encoding]] = {encoding.name: encoding for encoding in (*ENCODINGS, SPARSE_ENCODING)}
EVAL_COEF: Final = {"train": "eval_coef", "taught": "taught_eval_coef", "searched": "searched_eval_coef"}
"""By the name of a source: centipawns of its evaluations for one unit of the logit of a win rate; kept with the run."""
LOGGED: Final = "logged"
"""The step of the last line of the log; kept with the run."""
CHECKPOINT: Final = "checkpoint.pt"
JOURNAL: Final = "log.jsonl"
LOADER_THREADS: Final = min(4, available_cores())
"""More would wait for each other: half of their work holds Python's lock."""


class Timeline:
    """How far the run is: by its steps, or by the time of day where hours are set.

    A resumed run has the share of its hours left that `progress` had not reached.
    """

    def __init__(self, settings: Settings, progress: float, step: int) -> None:
        self._steps = settings.steps
        self._first = step
        self._began = self._last = time.time()
        self._end = self._last + settings.hours * 3600 * (1.0 - progress)

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

    def left(self, step: int) -> timedelta:
        """How long the run will still take after `step`, which is not its first."""
        now = time.time()
        seconds = self._end - now
        if self._steps:
            seconds = (now - self._began) / (step - self._first) * (self._steps - step)
        return timedelta(seconds=round(max(0.0, seconds)))


def must_fill_a_batch(positions: int, settings: Settings) -> None:
    """Raises TrainingError where there are too few."""
    if positions < settings.batch_size:
        raise TrainingError(f"{positions} positions do not fill a batch of {settings.batch_size}")


def load_data(settings: Settings) -> tuple[dict[str, Positions | Searched], Positions]:
    """What is to be learned, by the name of its source, and positions to validate with."""
    cache = Path(settings.cache) if settings.cache else cache_folder()
    hire = partial(pool_of, 0, settings.cluster or None)
    val = load(Path(settings.val or settings.train), "val", cache, say, hire)
    data: dict[str, Positions | Searched] = {}
    if settings.train:
        learned = load(Path(settings.train), "train", cache, say, hire)
        if not settings.val and np.array_equal(learned, val):
            raise TrainingError(f"--val is needed: no line of {settings.train} has a split")
        if settings.more:
            further = np.array(load(Path(settings.more), "train", cache, say, hire))
            # The engine's own opinion of its games teaches it nothing, and is on another scale.
            further["eval"] = NO_EVAL
            learned = np.concatenate([learned, further])
        data["train"] = learned
    if settings.taught:
        data["taught"] = load(Path(settings.taught), "train", cache, say, hire)
    if settings.searched:
        data["searched"] = read_sets(Path(settings.searched), say)
    # Before a network of that batch takes all memory.
    must_fill_a_batch(sum(len(each) for each in data.values()), settings)
    return data, val


def positions_of(data: Positions | Searched) -> Positions:
    """Without what was found in them."""
    return data.positions if isinstance(data, Searched) else data


def source_of(data: Mapping[str, Positions | Searched], settings: Settings, kept: Mapping[str, float]) -> Several:
    """All that is to be learned as examples, `kept` having the scales of the evaluations."""
    encoding = NAMED[settings.encoding]
    sources: list[Recorded | SearchedRecords] = []
    for name, each in data.items():
        target = ValueTarget(settings.val_lambda, kept[EVAL_COEF[name]])
        if isinstance(each, Searched):
            sources.append(SearchedRecords(each, encoding, target, settings.search_value))
            continue
        positions = each
        if settings.eval_plies > 1 and name == "train":
            positions = np.array(each)
            positions["eval"] = averaged_evals(each, settings.eval_plies, target.eval_coef)
        sources.append(Recorded(positions, encoding, target))
    return Several(sources)


def often_enough(data: Mapping[str, Positions | Searched], settings: Settings) -> Int64Array:
    """The numbers of the examples of one epoch: of each source no position more than settings.repeats times."""
    generator, ends = np.random.default_rng(settings.seed), np.cumsum([0, *map(len, data.values())])
    limited = (limit_repeats(positions_of(each), settings.repeats, generator) for each in data.values())
    return np.concatenate([end + rows for end, rows in zip(ends, limited, strict=False)])


def begin(
    settings: Settings, state: dict[str, Any] | None
) -> tuple[Run, Mapping[str, Positions | Searched], Positions]:
    """The run at its start or as the checkpoint `state` has it, what it learns from, and what it is validated by."""
    encoding, sparse = NAMED[settings.encoding], settings.kind == SPARSE
    first = settings.init if state is None else ""
    init = in_planes_of(encoding, read_weights(first)) if first and not sparse else None
    data, val = load_data(settings)
    run = Run(settings, encoding, torch.device("cuda" if torch.cuda.is_available() else "cpu"), init)
    if first and sparse:
        run.begin_with(Path(first))
    if state is not None:
        run.load(state)
    for name, each in data.items():
        if EVAL_COEF[name] not in run.kept:
            run.kept[EVAL_COEF[name]] = fit_eval_coef(positions_of(each))
    run.kept.setdefault(LOGGED, 0)
    return run, data, val


def try_to_write(out: Path, action: Callable[[], None]) -> bool:
    """Whether it was written. A disk that is full for a while must not end a run of many hours."""
    try:
        action()
    except OSError as error:
        say(f"{error.filename or out}: {error.strerror}; the run goes on, the last checkpoint is kept")
        return False
    return True


class Log:
    """What is said of a run: the journal and the bar."""

    def __init__(self, run: Run, settings: Settings) -> None:
        self._run, self._settings, self._out = run, settings, Path(settings.out)
        self._journal = Journal(self._out / JOURNAL, run.step)
        self._logged, self._since, self._figures = time.monotonic(), run.step, ""
        self._bar = tqdm(
            total=1.0, initial=run.progress, disable=None, bar_format="{percentage:3.0f}%|{bar:20}|{postfix}"
        )

    def write(self, line: dict[str, Any]) -> None:
        try_to_write(self._out, partial(self._journal.write, line))

    def step(self, now: float, left: timedelta) -> str:
        """Tell of a step; returns how far the run is."""
        run, settings = self._run, self._settings
        if run.step % settings.log_every == 0:
            run.check()
            line = line_of(run, settings, (run.step - self._since) / (now - self._logged))
            run.window.zero_()
            self._logged, self._since, run.kept[LOGGED] = now, run.step, run.step
            self.write(line)
            self._figures = shown(line)
        how_far = f"step {run.step}{f' of {settings.steps}' if settings.steps else ''}"
        with suppress(OSError):
            self._bar.set_postfix_str(f"{how_far}, {left} left{self._figures}", refresh=False)
            self._bar.update(run.progress - self._bar.n)
        return f"{how_far} ({run.progress:.0%}, {left} left)"

    def validated(self, report: dict[str, Any], how_far: str) -> None:
        self.write({"step": self._run.step, "validation": report})
        say(f"{how_far}: {summary(report)}")

    def close(self) -> None:
        self._bar.close()


def train(settings: Settings, state: dict[str, Any] | None) -> None:
    """Run to the end of the schedule, from the start or from the checkpoint `state`; then write the network."""
    out, encoding = Path(settings.out), NAMED[settings.encoding]
    run, data, val = begin(settings, state)
    val_sample = sample(val, settings.validate_positions)
    prepare = preparing(settings, source_of(data, settings, run.kept), often_enough(data, settings))
    log, timeline = Log(run, settings), Timeline(settings, run.progress, run.step)
    run.progress = timeline.progress(run.progress, run.step)
    saved = -math.inf  # the first step is: a run that is killed before the next checkpoint goes on all the same
    with closing(log), closing(batches(prepare, run.step, LOADER_THREADS)) as source, stopping_by_signal() as stopped:
        while run.progress < 1.0:
            run.learn(next(source))
            run.progress = timeline.progress(run.progress, run.step)
            now = time.monotonic()
            how_far = log.step(now, timeline.left(run.step))
            if run.step % settings.validate_every == 0:
                log.validated(validate(run.predict, val_sample, encoding), how_far)
            stop = stopped()
            if now - saved > settings.save_minutes * 60 or run.progress == 1.0 or stop:
                kept = try_to_write(out, partial(run.save, out / CHECKPOINT))
                saved = now
            if stop:
                log.close()
                if not kept:
                    raise TrainingError(f"stopped after {run.step} steps, which could not be saved in {out}")
                say(f"stopped after {run.step} steps; go on with: --out {out} --resume")
                return
    try:
        finish(run, settings, val, log.write)
    except OSError as error:
        how_to_go_on = "; --resume writes what is missing" if (out / CHECKPOINT).exists() else ""
        raise TrainingError(f"{error.filename or out}: {error.strerror or error}{how_to_go_on}") from error


def preparing(settings: Settings, examples: Several, rows: Int64Array) -> Callable[[int], TrainingBatch]:
    """A function that prepares the batch of each number from these `rows` of `examples`. Raises TrainingError."""
    must_fill_a_batch(len(rows), settings)
    encoding = NAMED[settings.encoding]
    shuffle = Shuffle(rows, settings.batch_size, settings.seed, symmetries=int(settings.symmetries))
    return partial(numbered_batch if encoding.planes else mirrored_batch, examples, encoding, shuffle)


def mirrored_batch(examples: Several, encoding: Encoding, shuffle: Shuffle, number: int) -> TrainingBatch:
    """As `numbered_batch`, for an encoding that cannot turn what is packed: the positions are."""
    rows, turns = shuffle.batch(number)
    return batch_of(examples.examples(rows, turns > 0), encoding, turns)


def line_of(run: Run, settings: Settings, steps_per_s: float) -> dict[str, Any]:
    """The line of the log for the steps since the last one."""
    means = (run.window / (run.step - run.kept[LOGGED])).tolist()
    return {
        "step": run.step,
        "positions": run.step * settings.batch_size,
        **{name: round(mean, 5) for name, mean in zip(FIGURES, means, strict=True)},
        "learning_rate": schedule(run.progress, settings) * settings.learning_rate,
        "positions_per_s": round(steps_per_s * settings.batch_size, 1),
        "progress": round(run.progress, 5),
        "time": round(time.time()),
    }


def shown(line: dict[str, Any]) -> str:
    """A line of the log, for the progress bar."""
    return (
        f", loss {line['loss']:.3f}, policy {line['policy_accuracy']:.1%}, value {line['value_accuracy']:.1%}, "
        f"{line['positions_per_s']:.0f} positions/s"
    )


def summary(report: dict[str, Any]) -> str:
    """A validation in one line."""
    value = "unknown" if report["value_accuracy"] is None else f"{report['value_accuracy']:.1%}"
    return (
        f"of {report['positions']} positions top-1 {report['top1']:.1%}, top-5 {report['top5']:.1%}, "
        f"value {value}; policy loss {report['policy_loss']}, value loss {report['value_loss']}"
    )


def finish(run: Run, settings: Settings, val: Positions, note: Callable[[dict[str, Any]], object]) -> None:
    """Write the network and validate with all positions of `val`: net.npz, net.json with its options, and net.onnx, but
    for a sparse network."""
    out, encoding = Path(settings.out), NAMED[settings.encoding]
    if isinstance(run.averaged, SparseNet):
        run.averaged.write(out / "net.npz")
    else:
        write_weights(out / "net.npz", to_npz(run.averaged))
    report = validate(run.predict, val, encoding)
    note({"step": run.step, "final": True, "validation": report})
    say(f"step {run.step}, the last: {summary(report)}")
    options = fit_for_play(run.predict, sample(val, settings.validate_positions), encoding)
    if not isinstance(run.averaged, SparseNet):
        # Imported here, so that the .npz is there even if onnx is not.
        from onnx import save_model

        from pydlshogi.network.onnx_export import onnx_model

        with replacing(out / "net.onnx") as file:
            save_model(onnx_model(to_npz(run.averaged)), file)
    write_fitted(out / "net.json", options, report)
    say(f"wrote {', '.join(sorted(path.name for path in out.glob('net.*')))} in {out}: {options}")


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


def resumed(state: dict[str, Any], given: dict[str, Any]) -> Settings:
    """The settings of a checkpoint, changed by what was `given` on the command line.

    Raises TrainingError for a change that only a new run can have: see ON_RESUME.
    """
    try:
        before = Settings(**{name: value for name, value in state["settings"].items() if value or name not in GONE})
    except TypeError as error:
        raise TrainingError(f"the checkpoint does not fit this program: {error}") from error
    for name in sorted(given.keys() - ON_RESUME):
        if given[name] != getattr(before, name):
            raise TrainingError(f"{option_of(name)} cannot change on the way: it was {getattr(before, name)}")
    if "hours" in given and state["progress"] >= 1:
        raise TrainingError("the run has come to its end: --steps makes it longer")
    if given.keys() & {"hours", "steps"}:
        before = replace(before, hours=0.0, steps=0)
    return replace(before, **given)


def checked(settings: Settings) -> Settings:
    """`settings`, or TrainingError or SettingError if something is missing, contradicts itself or makes no sense."""
    check(settings)
    if not settings.out or not (settings.train or settings.taught or settings.searched):
        raise TrainingError("--train and --out are needed, or --quick")
    if (settings.kind == SPARSE) != (settings.encoding == SPARSE_ENCODING.name):
        raise TrainingError(f"--kind {settings.kind} does not go with --encoding {settings.encoding}")
    if bool(settings.hours) == bool(settings.steps):
        raise TrainingError("say how long: --hours or --steps")
    if not settings.val and ".jsonl" not in Path(settings.train).name:
        raise TrainingError("--val is needed: a list of records has no val split")
    return settings


def _run(given: dict[str, Any]) -> None:
    quick, resume = given.pop("quick"), given.pop("resume")
    if quick and resume:
        given = {"out": QUICK["out"], **given}
    elif quick:
        if "steps" in given:
            given = {"hours": 0.0, **given}
        given = {**QUICK, **given}
    if given.get("kind") == SPARSE and not resume:
        given = {**OF_SPARSE, **given}
    out = Path(given.get("out", ""))
    state = read_checkpoint(out / CHECKPOINT) if resume else None
    settings = checked(resumed(state, given) if state else Settings(**given))
    out.mkdir(parents=True, exist_ok=True)
    with reserved(out):
        if not resume:
            check_new(out)
        train(settings, state)


def check_new(out: Path) -> None:
    """Raises TrainingError where a new run would destroy another."""
    if (out / CHECKPOINT).exists():
        raise TrainingError(f"{out} holds a run already: --resume goes on with it")
    for name in (JOURNAL, "net.npz"):
        # A journal without a line is that of a run killed before its first step.
        if (out / name).exists() and (out / name).stat().st_size:
            raise TrainingError(f"{out} holds the {name} of another run: choose another --out")


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    given = vars(parser().parse_args(arguments))
    # Ctrl-C counts here before the training, which notes it: see `stopping_by_signal`.
    return exit_status(
        "train", partial(_run, given), TrainingError, ArraysError, DatasetError, ModelError, SettingError
    )


if __name__ == "__main__":
    sys.exit(main())
