"""The folder of a run: all that it knows is in its files, each there whole or not at all."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import Any, Final

from pydlshogi.learning.played import PlayedGames
from pydlshogi.learning.settings import Cycle
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import option_of
from pydlshogi.support.decoding import parse_json
from pydlshogi.support.files import write_whole

_FIXED: Final = ("encoding", "kind", "depth", "channels", "value_width", "policy_width", "init", "optimiser", "seed")
"""Settings that a run keeps to."""


def numbered(folder: Path) -> dict[int, Path]:
    """Its files of arrays whose names are numbers, the lowest number first."""
    return dict(sorted((int(path.stem), path) for path in folder.glob("*.npz") if path.stem.isdecimal()))


class RunFolder:
    """Networks, games and the state of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoint = path / "checkpoint.pt"
        self.journal = path / "log.jsonl"
        self.result = path / "net.npz"
        self._about = path / "run.json"
        self._read: dict[Path, PlayedGames] = {}

    def settle(self, game: str, defaults: Cycle, given: dict[str, Any]) -> Cycle:
        """The settings of the run: a new one gets `defaults`, with the kind and size of a network that it begins with,
        changed by what was `given`; one that is there keeps its own, changed by what was given. Raises OneLineError
        where that cannot be, and ModelError.
        """
        if not self._about.exists():
            for path in (self.checkpoint, self.journal, self.result):
                if path.exists() and path.stat().st_size:
                    raise OneLineError(f"{self.path} holds {path.name} of something else: give another --out")
            first = Path(given["init"]) if given.get("init") else None
            return replace(defaults.begun_with(first) if first else defaults, **given)
        try:
            about = parse_json(self._about.read_bytes())
            before = replace(defaults, **about["settings"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise OneLineError(f"{self._about} does not describe a run") from error
        if about["game"] != game:
            raise OneLineError(f"{self.path} is a run of {about['game']}, not of {game}")
        settings = replace(before, **given)
        for name in _FIXED:
            if getattr(settings, name) != getattr(before, name):
                option = f"{option_of(name)} {quote(str(getattr(before, name)))}"
                raise OneLineError(f"{self.path} is a run with {option}: give another --out")
        # The first cycle writes its network before there is a checkpoint.
        if not self.checkpoint.exists() and (self.result.exists() or max(self._networks(), default=0) > 1):
            raise OneLineError(f"{self.checkpoint} is missing, without which the run cannot go on: give another --out")
        return settings

    def describe(self, game: str, settings: Cycle) -> None:
        """Write down the settings of the run. Raises OSError."""
        for folder in ("networks", "games"):
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        write_whole(self._about, json.dumps({"game": game, "settings": asdict(settings)}, indent=1).encode())

    def network(self, cycle: int) -> Path:
        """The network that came out of the first `cycle` cycles."""
        return self.path / "networks" / f"{cycle:05}.npz"

    def games(self, cycle: int, number: int) -> Path:
        """A set of games of a cycle."""
        return self.path / "games" / f"{cycle:05}-{number:03}.npz"

    def newest_network(self) -> Path | None:
        """Of a run that is there."""
        return next(reversed(self._networks().values()), None)

    def forget_networks(self, keep: set[int]) -> None:
        """Delete all networks but those of the cycles to `keep`."""
        for cycle, path in self._networks().items():
            if cycle not in keep:
                path.unlink()

    def _networks(self) -> dict[int, Path]:
        """Those that are there, by the cycles that they came out of."""
        return numbered(self.path / "networks")

    def played(self, cycle: int) -> list[PlayedGames]:
        """The sets of games of one cycle. Raises ArraysError, OSError."""
        return self._games_in(sorted((self.path / "games").glob(f"{cycle:05}-*.npz")))

    def _games_in(self, paths: Sequence[Path]) -> list[PlayedGames]:
        for path in paths:
            if path not in self._read:
                self._read[path] = PlayedGames.read(path)
        return [self._read[path] for path in paths]

    def newest(self, cycle: int, positions: int) -> list[PlayedGames]:
        """Sets of games up to a cycle, the newest first, until they hold `positions` or there are no more."""
        paths: dict[int, list[Path]] = {}
        for path in sorted((self.path / "games").glob("*-*.npz")):
            if (played_in := path.stem.split("-")[0]).isdecimal():
                paths.setdefault(int(played_in), []).append(path)
        chosen: list[PlayedGames] = []
        for number in range(cycle, -1, -1):
            sets = self._games_in(paths.get(number, []))
            chosen += sets
            positions -= sum(map(len, sets))
            if positions <= 0:
                break
        # Games of earlier cycles are not needed in memory any more.
        self._read = {path: read for path, read in self._read.items() if int(path.stem.split("-")[0]) >= number}
        return chosen
