"""The folder of a match, kept so that no kill, crash or full disk loses a finished game. It knows no processes."""

import glob
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydlshogi.support.errors import OneLineError
from pydlshogi.support.files import write_whole
from pydlshogi.support.settings import settle
from utils.arena.finished import FinishedGames
from utils.arena.games import Opening, PlayedGame, kind_of
from utils.arena.play_game import Limit, MatchRules
from utils.arena.referee import Colour

Side = Literal["A", "B"]
SIDES: tuple[Side, Side] = ("A", "B")


_KEPT = ("game", "black", "winner", "ending", "sfen", "opening_plies", "moves", "overruns", "names")
"""What is needed of a line of games.jsonl."""


@dataclass(frozen=True)
class Contestant:
    """An engine and what it plays with."""

    command: str
    options: Mapping[str, str]
    limit: Limit


@dataclass(frozen=True)
class Settings:
    """What makes two matches the same match: games played under other settings may not be added to it."""

    A: Contestant
    B: Contestant
    rules: MatchRules
    openings: str | None
    opening_plies: int | None
    random_plies: int
    random_nodes: int
    random_margin: int
    seed: int
    openings_digest: str = ""
    """Of what the file of openings held: it may have changed since."""
    game: str = "shogi"
    """As `kind_of` takes it."""

    def contestant(self, side: Side) -> Contestant:
        return self.A if side == "A" else self.B


class Store:
    """match.json (settings), games.jsonl (one finished game a line), the records; beside them the engines' stderr."""

    def __init__(self, out: Path, records: Path, settings: Settings) -> None:
        """Open a new or an interrupted match in `out`, which is reserved.

        Raises SettingError or OneLineError if a folder holds another one, OSError.
        """
        self.out, self.records = out, records
        self._kind = kind_of(settings.game)
        about = out / "match.json"
        if not about.exists() and any(records.glob(f"{glob.escape(out.name)}-*{self._kind.suffix}")):
            raise OneLineError(f"{records} holds records of another match called {out.name}: choose another")
        settle(about, asdict(settings))
        records.mkdir(parents=True, exist_ok=True)
        self._finished = FinishedGames(out / "games.jsonl", _KEPT)
        self.games = {game["game"]: game for game in self._finished.games}
        """By number, from 1."""

    def close(self) -> None:
        """Let go of its file."""
        self._finished.close()

    def add(self, number: int, black: Side, names: Mapping[Side, str], played: PlayedGame) -> None:
        """Keep a finished game: first its record, then the line that makes it count. Raises OSError."""
        side_of: dict[Colour, Side] = {"b": black, "w": "B" if black == "A" else "A"}
        winner = played.verdict.winner
        record = self.records / f"{self.out.name}-{number:05d}{self._kind.suffix}"
        line = {
            "game": number,
            "black": black,
            "winner": winner and side_of[winner],
            "ending": played.verdict.ending,
            "answer": played.answer,
            "plies": len(played.moves),
            "sfen": played.opening.sfen,
            "opening_plies": len(played.opening.moves),
            "moves": " ".join(played.moves),
            "evals": played.evals,
            "times_ms": played.times_ms,
            "overruns": [(overrun.ply, side_of[overrun.colour], overrun.milliseconds) for overrun in played.overruns],
            "names": names,
            "record": record.name,
        }
        names_of_colours = names[side_of["b"]], names[side_of["w"]]
        write_whole(record, self._kind.record(played, names_of_colours, f"{self.out.name} {number}").encode())
        self._finished.add(line)
        self.games[number] = line


def opening_of(line: Mapping[str, Any], game: str) -> Opening:
    """The opening of a line of games.jsonl."""
    return Opening(line["sfen"], tuple(line["moves"].split()[: line["opening_plies"]]), game)
