"""A run that learns a game from nothing: cycle after cycle it plays, learns, and compares.

All that a run knows is in its folder: see run_folder.py.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from tqdm import tqdm

from pydlshogi.entry import Exam, GameEntry
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.learning.forest import value_keeping
from pydlshogi.learning.played import PlayedGames
from pydlshogi.learning.run_folder import RunFolder
from pydlshogi.learning.settings import Cycle
from pydlshogi.learning.tasks import comparing, load_network, playing
from pydlshogi.network.loading import encoding_of
from pydlshogi.support.arrays import write_arrays
from pydlshogi.support.elo import MOST_ELO, estimate
from pydlshogi.support.pool import WorkerPool
from pydlshogi.training.examples import TrainingBatch, batch_of, batches, joined
from pydlshogi.training.gradients import FIGURES
from pydlshogi.training.journal import Heartbeat, Journal, say
from pydlshogi.training.run import Run, first_weights, read_checkpoint
from pydlshogi.training.settings import encodings_for

_COMPARISON: Final = 1 << 20
"""Comparisons draw their openings from other seeds than games."""
_SIZED: Final = 4
"""Cycles after which a run can say what it would need; the first of them does not count."""


class Learner:
    """A run: cycle after cycle."""

    def __init__(
        self, game: GameEntry, folder: RunFolder, settings: Cycle, pool: WorkerPool, exam: Exam | None = None
    ) -> None:
        """With an `exam` networks take it where they would be compared."""
        self._game = game
        self._folder = folder
        self._settings = settings
        self._pool = pool
        self._exam = exam
        self.passed = False
        """A network has passed the exam."""
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        goes_on = folder.checkpoint.exists()
        encodings = encodings_for(game.encodings, settings.kind, settings.encoding)
        network = folder.newest_network() if goes_on else Path(settings.init) if settings.init else None
        self._encoding = encoding_of(network, encodings) if network else encodings[0]
        self._run = Run(settings, self._encoding, device, None if goes_on else first_weights(settings, self._encoding))
        names = ("cycle", "seconds", "positions", "games", "anchor", "elo")
        self._run.kept = {"compared": -1.0} | dict.fromkeys(names, 0.0)
        if goes_on:
            self._run.load(read_checkpoint(folder.checkpoint))
        # What was measured at the beginning is not measured anew when it goes on.
        measured = replace(settings, encoding=self._encoding.name, precision=self._run.settings.precision)
        folder.describe(game.name, measured)
        newest = folder.network(int(self._run.kept["cycle"]))
        if not goes_on or not newest.exists():
            self._run.write(newest)
        self._journal = Journal(folder.journal, int(self._run.kept["cycle"]))

    @property
    def minutes(self) -> float:
        """How long the run has taken so far."""
        return self._run.kept["seconds"] / 60

    @property
    def sets(self) -> int:
        """How many sets of games the next cycle plays; workers may come or go."""
        return self._settings.sets or max(2, self._pool.size())

    @property
    def done(self) -> bool:
        return self.passed or self.minutes >= self._settings.minutes

    def cycle(self, beat: Heartbeat) -> dict[str, Any]:
        """Play, learn, compare. Returns the line of the journal."""
        folder, kept = self._folder, self._run.kept
        number = int(kept["cycle"])
        begun = time.monotonic()
        sets, share, games = self._play(number, beat)
        beat.now = f"cycle {number + 1}: learning"
        played = time.monotonic()
        line = {"step": number + 1, "played": games} | self._learn(number, sets, kept["seconds"] + played - begun)
        learned = time.monotonic()
        kept["cycle"] = number + 1
        self._run.write(folder.network(number + 1))
        compared = time.monotonic()
        beat.now = f"cycle {number + 1}: comparing"
        every = self._settings.compare_every
        due = bool(every) and (number + 1) % every == 0
        if self._exam is None and due:
            line |= self._compare(number + 1)
        elif self._exam and (due or kept["seconds"] + compared - begun >= 60 * self._settings.minutes):
            line |= self._examine(number + 1, self._exam)
        times = {"play": played - begun, "learn": learned - played, "compare": time.monotonic() - compared}
        kept["seconds"] += sum(times.values())
        line |= times | {"network": share * times["play"]}
        self._run.window.zero_()
        self._journal.write(line)  # if the checkpoint does not follow, it is dropped again
        self._run.save(folder.checkpoint)
        folder.forget_networks({number + 1, int(kept["compared"]), int(kept["anchor"])})
        return line

    def finish(self) -> Path:
        """Write the network of the run; returns where."""
        self._run.write(self._folder.result, half=True)
        return self._folder.result

    def _play(self, number: int, beat: Heartbeat) -> tuple[list[PlayedGames], float, int]:
        """The sets of games of this cycle, those that are missing played now; the network's share of that time; and how
        many games that was.
        """
        folder, settings = self._folder, self._settings
        missing = [index for index in range(self.sets) if not folder.games(number, index).exists()]
        network = folder.network(number).read_bytes()
        task = partial(playing, self._game.name, network, settings)
        seeds = [(settings.seed, number, index) for index in missing]
        shares, games = [0.0], 0
        beat.now = f"cycle {number + 1}: playing {len(missing)} sets of {settings.games} games"
        for (_, _, index), (played, share) in self._pool.map(task, seeds):
            write_arrays(folder.games(number, index), played)
            shares.append(share)
            games += len(played.lengths)
            beat.now = f"cycle {number + 1}: {len(shares) - 1} of {len(missing)} sets of games are played"
        return folder.played(number), sum(shares) / max(1, len(missing)), games

    def _learn(self, number: int, sets: Sequence[PlayedGames], seconds: float) -> dict[str, Any]:
        """Learn from the window of newest games, `seconds` after the run began; returns figures of the games, and
        of what was learned."""
        settings, run, kept = self._settings, self._run, self._run.kept
        new, games = sum(map(len, sets)), sum(len(each.lengths) for each in sets)
        kept["positions"] += new
        kept["games"] += games
        start = time.monotonic()
        window = max(1.0, kept["positions"] / settings.window) ** settings.window_growth * settings.window
        newest = self._folder.newest(number, round(window))
        examples = joined([each.examples(settings.search_value) for each in newest])
        steps = round(new * settings.reuse / settings.batch_size)
        symmetries = len(self._encoding.symmetries) if settings.symmetries else 0

        def prepare(step: int) -> TrainingBatch:
            rng = np.random.default_rng((settings.seed, number, step))
            rows = rng.integers(len(examples), size=settings.batch_size)
            turns = rng.integers(symmetries + 1, size=settings.batch_size)
            return batch_of(examples.examples(rows), self._encoding, turns)

        for batch in islice(batches(prepare, 0), steps if len(examples) else 0):
            run.progress = min(1.0, (seconds + time.monotonic() - start) / (60 * settings.minutes))
            run.learn(batch)
        run.check()
        lengths, scores = (np.concatenate([getattr(each, name) for each in sets]) for name in ("lengths", "scores"))
        gave_up, wrongly = np.sum([each.misjudged for each in sets], axis=0).tolist()
        return {
            "games": games,
            "positions": new,
            "window": len(examples),
            "steps": steps,
            "length": float(lengths.mean()),
            "draws": float((scores == 0.5).mean()),
            "first_wins": float((scores == 1).mean()),
            "exact": float(np.concatenate([each.exact for each in sets]).sum() / max(1, new)),
            "false_resignations": float(wrongly / gave_up) if gave_up else None,
            **dict(zip(FIGURES, (run.window / steps).tolist() if steps else [None] * len(FIGURES), strict=True)),
        }

    def _examine(self, number: int, exam: Exam) -> dict[str, Any]:
        """Have the network of a cycle take an exam."""
        backend = load_network(self._game, self._folder.network(number).read_bytes(), self._settings.side_by_side)
        evaluator = NetworkEvaluator(backend, exam.temperature)
        kept = value_keeping(self._game, exam.questions, evaluator, exam.playouts, exam.goal)
        self.passed = kept >= exam.goal
        return {"kept": kept}

    def _compare(self, number: int) -> dict[str, Any]:
        """Compare the network of a cycle with the last one compared, and with the anchor, the first one."""
        kept, line = self._run.kept, dict[str, Any]()
        if kept["compared"] < 0:
            kept["anchor"] = number
        others = {"last": int(kept["compared"])}
        if kept["anchor"] != others["last"]:
            others["anchor"] = int(kept["anchor"])
        for name, other in others.items():
            if 0 <= other < number and self._folder.network(other).exists():
                counts = self._match(number, other)
                difference = max(-MOST_ELO, min(MOST_ELO, estimate(counts).difference))  # it is to be summed up
                line[name] = {"against": other, "counts": counts, "elo": difference}
        kept["elo"] += line["last"]["elo"] if "last" in line else 0.0
        kept["compared"] = number
        return {"elo": kept["elo"], **line}

    def _match(self, number: int, other: int) -> list[int]:
        """Results of pairs, of the network after `number` cycles against that after `other`."""
        settings = self._settings
        pairs = (settings.compare_games + 1) // 2
        workers = min(self._pool.size(), pairs)
        shares = [2 * len(range(worker, pairs, workers)) for worker in range(workers)]
        networks = self._folder.network(number).read_bytes(), self._folder.network(other).read_bytes()
        task = partial(comparing, self._game.name, networks, shares[0], settings)
        items = [((settings.seed, _COMPARISON, number, worker), games) for worker, games in enumerate(shares)]
        results = [counts for _, counts in self._pool.map(task, items)]
        return np.sum(results, axis=0).tolist()  # type: ignore[no-any-return]


def described(line: dict[str, Any]) -> str:
    """A line of the journal for people."""
    total = max(1e-9, line["play"] + line["learn"] + line["compare"])
    learned = "too few positions for a step"
    if line["steps"]:
        learned = f"loss {line['policy_loss']:.3f} + {line['value_loss']:.3f} in {line['steps']} steps"
    said = (
        f"cycle {line['step']}: {line['games']} games of {line['length']:.0f} plies, draws {line['draws']:.0%}, "
        f"{line['positions']:,} positions of {line['window']:,} new; {learned}; "
        f"{60 * line['played'] / total:.0f} games a minute, "
        f"play {line['play'] / total:.0%}, learn {line['learn'] / total:.0%}"
    )
    for name in ("last", "anchor"):
        if name in line:
            match = line[name]
            _, low, high = estimate(match["counts"])
            said += f"; against {match['against']} {match['elo']:+.0f} Elo (95 %: {low:+.0f} to {high:+.0f})"
    return f"{said}; exam: {line['kept']:.1%}" if "kept" in line else said


def sized(lines: Sequence[dict[str, Any]], minutes: float, workers: int) -> str:
    """What cycles with these lines of the journal let expect of a run of `minutes`, in one line."""
    games, play, network = (max(1e-9, sum(line[name] for line in lines)) for name in ("played", "play", "network"))
    total = play + sum(line["learn"] + line["compare"] for line in lines)
    rate = 60 * games / total
    return (
        f"sizing: {rate:,.0f} games a minute, {workers} at work; playing takes {play / total:.0%} of the time, of that "
        f"the network {network / play:.0%}, the search {1 - network / play:.0%}; {minutes:g} minutes are some "
        f"{rate * minutes:,.0f} games"
    )


def learn(game: GameEntry, folder: RunFolder, settings: Cycle, pool: WorkerPool, exam: Exam | None = None) -> bool:
    """Run to the end, which is when a network passes the `exam`, if there is one. Returns whether one did."""
    learner = Learner(game, folder, settings, pool, exam)
    layout = "{l_bar}{bar}| {n:.1f} of {total:g} minutes{postfix}"
    before = min(learner.minutes, settings.minutes)  # of a bar that is more than full tqdm no longer knows the whole
    with (
        tqdm(total=settings.minutes, initial=before, bar_format=layout, disable=None) as bar,
        Heartbeat("", bar) as beat,
    ):
        lines: list[dict[str, Any]] = []
        while not learner.done:
            lines.append(learner.cycle(beat))
            say(described(lines[-1]))
            if len(lines) == _SIZED:
                say(sized(lines[1:], settings.minutes, min(pool.size(), learner.sets)))
            bar.update(min(settings.minutes, learner.minutes) - bar.n)
    say(f"the network is {learner.finish()}")
    return learner.passed
