"""Training: game records in, a policy-value network out. To be read from top to bottom.

    python -m pydlshogi.train --quick
    python -m pydlshogi.train --train games.jsonl.xz --out runs/mine --hours 8
    python -m pydlshogi.train --out runs/mine --resume
    python -m pydlshogi.train --train games.jsonl.xz --out runs/larger --hours 8 --depth 10 --init runs/mine/net.npz
    python -m pydlshogi.train --kind sparse --train games.jsonl.xz --taught taught --out runs/sparse --hours 2
    python -m pydlshogi.train othello --train WTHOR --out runs/othello --hours 8

The records come from the game's `TrainingEntry`, what learns from them is training/run.py. It knows no search and no
player.
"""

import math
import signal
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from pydlshogi.support.command_line import exit_status, parser_for, remedy

try:
    import torch
except ImportError as error:
    sys.exit(f"train: PyTorch is not installed here: {remedy('train', 'torch')} ({error})")

from pydlshogi.catalogue import GAMES, UnknownGame, game_named
from pydlshogi.encoding import Encoding
from pydlshogi.entry import GameEntry
from pydlshogi.network.weights import write_fitted
from pydlshogi.support.command_line import add_options, option_of
from pydlshogi.support.files import reserved
from pydlshogi.support.pool import available_cores
from pydlshogi.training.examples import Shuffle, TrainingBatch, batches
from pydlshogi.training.gradients import FIGURES, schedule
from pydlshogi.training.journal import Heartbeat, Journal, say
from pydlshogi.training.run import Run, TrainingError, first_weights, read_checkpoint
from pydlshogi.training.settings import OF_SPARSE, ON_RESUME, SPARSE, Dataset, FromRecords, TrainingEntry, encodings_for

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

    def __init__(self, settings: FromRecords, progress: float, step: int) -> None:
        self._steps, self._seconds = settings.steps, settings.hours * 3600
        self._progress, self._step, self._began = progress, step, time.time()

    def progress(self, step: int) -> float:
        """Progress 0..1 after `step`."""
        if self._steps:
            return min(1.0, step / self._steps)
        return min(1.0, self._progress + (time.time() - self._began) / self._seconds)

    def left(self, step: int) -> timedelta:
        """How long the run will still take after `step`, which is not its first."""
        seconds = (1.0 - self.progress(step)) * self._seconds
        if self._steps:
            seconds = (time.time() - self._began) / (step - self._step) * (self._steps - step)
        return timedelta(seconds=round(max(0.0, seconds)))


def begin(
    entry: TrainingEntry, encoding: Encoding, settings: FromRecords, state: dict[str, Any] | None
) -> tuple[Run, Dataset]:
    """The run at its start or as the checkpoint `state` has it, and what it learns from."""
    init = first_weights(settings, encoding) if state is None else None
    kept = {LOGGED: 0, **(state["kept"] if state else {})}
    dataset = entry.load(settings, encoding, kept)
    # Before a network of that batch takes all memory.
    if len(dataset.rows) < settings.batch_size:
        raise TrainingError(f"{len(dataset.rows)} positions do not fill a batch of {settings.batch_size}")
    run = Run(settings, encoding, torch.device("cuda" if torch.cuda.is_available() else "cpu"), init)
    if state is not None:
        run.load(state)
    run.kept = kept
    return run, dataset


class Log:
    """What is said of a run: the journal and the bar."""

    def __init__(self, run: Run, settings: FromRecords) -> None:
        self._run, self._settings = run, settings
        self._journal = Journal(Path(settings.out) / JOURNAL, run.step)
        self._logged, self._since, self._figures = time.monotonic(), run.step, ""
        self._bar = tqdm(
            total=1.0, initial=run.progress, disable=None, bar_format="{percentage:3.0f}%|{bar:20}|{postfix}"
        )

    def write(self, line: dict[str, Any]) -> None:
        self._journal.write(line)

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


def train(
    entry: TrainingEntry, encoding: Encoding, settings: FromRecords, state: dict[str, Any] | None, beat: Heartbeat
) -> None:
    """Run to the end of the schedule, from the start or from the checkpoint `state`; then write the network."""
    out = Path(settings.out)
    run, dataset = begin(entry, encoding, settings, state)
    shuffle = Shuffle(
        dataset.rows, settings.batch_size, settings.seed, symmetries=dataset.symmetries * settings.symmetries
    )

    def prepare(number: int) -> TrainingBatch:
        return dataset.batch(*shuffle.batch(number))

    log, timeline = Log(run, settings), Timeline(settings, run.progress, run.step)
    run.progress = timeline.progress(run.step)
    saved = -math.inf  # the first step is: a run that is killed before the next checkpoint goes on all the same
    with closing(log), closing(batches(prepare, run.step, LOADER_THREADS)) as source, stopping_by_signal() as stopped:
        while run.progress < 1.0:
            run.learn(next(source))
            run.progress = timeline.progress(run.step)
            now = time.monotonic()
            beat.now = how_far = log.step(now, timeline.left(run.step))
            if run.step % settings.validate_every == 0:
                log.validated(dataset.validate(run.predict, settings.validate_positions), how_far)
            stop = stopped()
            if now - saved > settings.save_minutes * 60 or run.progress == 1.0 or stop:
                run.save(out / CHECKPOINT)
                saved = now
            if stop:
                log.close()
                say(f"stopped after {run.step} steps; go on with: --out {out} --resume")
                return
    beat.now = "validating"
    finish(run, settings, dataset, log.write)


def line_of(run: Run, settings: FromRecords, steps_per_s: float) -> dict[str, Any]:
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


def finish(run: Run, settings: FromRecords, dataset: Dataset, note: Callable[[dict[str, Any]], object]) -> None:
    """Write the network and validate with all positions there are: net.npz, and net.json with its options."""
    out = Path(settings.out)
    run.write(out / "net.npz")
    report = dataset.validate(run.predict, 0)
    note({"step": run.step, "final": True, "validation": report})
    say(f"step {run.step}, the last: {summary(report)}")
    options = dataset.fit(run.predict, settings.validate_positions)
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


def resumed(entry: TrainingEntry, state: dict[str, Any], given: dict[str, Any]) -> FromRecords:
    """The settings of a checkpoint, changed by what was `given` on the command line.

    Raises TrainingError for a change that only a new run can have: see ON_RESUME.
    """
    try:
        before = entry.settings(**state["settings"])
    except TypeError as error:
        raise TrainingError(f"the checkpoint does not fit this program: {error}") from error
    for name in sorted(given.keys() - ON_RESUME - entry.on_resume):
        if given[name] != getattr(before, name):
            raise TrainingError(f"{option_of(name)} cannot change on the way: it was {getattr(before, name)}")
    if "hours" in given and state["progress"] >= 1:
        raise TrainingError("the run has come to its end: --steps makes it longer")
    if given.keys() & {"hours", "steps"}:
        before = replace(before, hours=0.0, steps=0)
    return replace(before, **given)


def _run(game: GameEntry, entry: TrainingEntry, given: dict[str, Any]) -> None:
    quick, resume = given.pop("quick", False), given.pop("resume")
    if quick and resume:
        given = {"out": entry.quick["out"], **given}
    elif quick:
        if "steps" in given:
            given = {"hours": 0.0, **given}
        given = {**entry.quick, **given}
    if given.get("kind") == SPARSE and not resume:
        given = {**OF_SPARSE, **given}
    out = Path(given.get("out", ""))
    state = read_checkpoint(out / CHECKPOINT) if resume else None
    settings = resumed(entry, state, given) if state else entry.settings(**given)
    settings.check()
    encoding = encodings_for(game.encodings, settings.kind, settings.encoding)[0]
    with reserved(out), Heartbeat("reading what is learned from") as beat:
        if not resume:
            check_new(out)
        try:
            train(entry, encoding, settings, state, beat)
        except OSError as error:
            how_to_go_on = "; --resume goes on" if (out / CHECKPOINT).exists() else ""
            raise TrainingError(f"{error.filename or out}: {error.strerror or error}{how_to_go_on}") from error


def check_new(out: Path) -> None:
    """Raises TrainingError where a new run would destroy another."""
    if (out / CHECKPOINT).exists():
        raise TrainingError(f"{out} holds a run already: --resume goes on with it")
    for name in (JOURNAL, "net.npz"):
        # A journal without a line is that of a run killed before its first step.
        if (out / name).exists() and (out / name).stat().st_size:
            raise TrainingError(f"{out} holds the {name} of another run: choose another --out")


def parser(game: GameEntry, entry: TrainingEntry) -> ArgumentParser:
    """Options that are not given do not appear in the result, so that they differ from defaults."""
    result = parser_for(
        f"pydlshogi.train {game.name}",
        f"Train a policy-value network on game records. A first word names the game: {', '.join(GAMES)}.",
    )
    if entry.quick:
        result.add_argument(
            "--quick", action="store_true", help="a small network in five minutes; other options still count"
        )
    result.add_argument("--resume", action="store_true", help="go on with the run in --out")
    add_options(result, entry.settings)
    return result


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    named = [word for word in words[:1] if not word.startswith("-")]

    def run() -> None:
        game = game_named(*named) if named else next(iter(GAMES.values()))
        if game.training is None:
            raise UnknownGame(f"{game.name} has no records to learn from; pydlshogi.cycle learns it from nothing")
        _run(game, game.training, vars(parser(game, game.training).parse_args(words[len(named) :])))

    # Ctrl-C counts here before the training, which notes it: see `stopping_by_signal`.
    return exit_status("train", run)


if __name__ == "__main__":
    sys.exit(main())
