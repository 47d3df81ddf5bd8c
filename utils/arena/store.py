"""The folder of a match, kept so that no kill, crash or full disk loses a finished game. It knows no processes."""

import glob
import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydlshogi.support.files import append_whole, replacing, reserved
from utils.arena.games import GameKind, kind_of
from utils.arena.openings import Opening
from utils.arena.play_game import Limit, MatchRules, PlayedGame
from utils.arena.referee import Colour

Side = Literal["A", "B"]
SIDES: tuple[Side, Side] = ("A", "B")


class MatchError(Exception):
    """The match cannot be played; the text is for the user."""


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
        """Open a new or an interrupted match; raises MatchError if the folder holds another one or is in use."""
        self.out, self.records = out, records
        self._kind = kind_of(settings.game)
        self.games: dict[int, dict[str, Any]] = {}
        """Finished games by number, from 1, as they are in games.jsonl."""
        try:
            out.mkdir(parents=True, exist_ok=True)
            records.mkdir(parents=True, exist_ok=True)
            self._held = ExitStack()
            self._held.enter_context(reserved(out))
            self._file = self._held.enter_context((out / "games.jsonl").open("ab", buffering=0))
            self._settle(settings)
            self._load()
        except BlockingIOError as error:
            raise MatchError(f"{out} is being played by another process") from error
        except OSError as error:
            raise MatchError(f"{error.filename or out}: {error.strerror}") from error

    def close(self) -> None:
        """Let go of the folder."""
        self._held.close()

    def _settle(self, settings: Settings) -> None:
        path = self.out / "match.json"
        now = json.loads(json.dumps(asdict(settings)))
        if not path.exists():
            if os.fstat(self._file.fileno()).st_size:
                raise MatchError(f"{self.out} holds games, but no match.json says of which match: choose another --out")
            if any(self.records.glob(f"{glob.escape(self.out.name)}-*{self._kind.suffix}")):
                raise MatchError(
                    f"{self.records} holds records of another match called {self.out.name}: choose another"
                )
            _write(path, json.dumps(now, indent=1) + "\n")
            return
        try:
            # Matches were of shogi before there was another game.
            then = {"game": "shogi"} | json.loads(path.read_text(encoding="utf-8"))
            changed = [key for key in now if now[key] != then.get(key)]
        except (ValueError, TypeError, RecursionError) as error:
            raise MatchError(f"{path} is no description of a match: {error}") from error
        if changed:
            raise MatchError(
                f"{self.out} holds a match with other settings ({', '.join(changed)}): choose another --out"
            )

    def _load(self) -> None:
        path = self.out / "games.jsonl"
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                game = _game(line, self._kind)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise MatchError(f"{path}, line {number} is no game: {error!r}") from error
            self.games[game["game"]] = game
        if whole < len(data):
            # The process died while it wrote its last line: that game is played again.
            self._file.truncate(whole)

    def add(self, number: int, black: Side, names: Mapping[Side, str], played: PlayedGame) -> None:
        """Keep a finished game: first its record, then the line that makes it count."""
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
        try:
            event = f"{self.out.name} {number}"
            _write(record, self._kind.record(played, (names[side_of["b"]], names[side_of["w"]]), event))
            append_whole(self._file, f"{json.dumps(line)}\n".encode())
        except OSError as error:
            raise MatchError(f"game {number} is lost: {error.filename or self.out}: {error.strerror}") from error
        self.games[number] = line


def _game(line: bytes, kind: GameKind) -> dict[str, Any]:
    """A line of games.jsonl; raises ValueError, KeyError, TypeError, AttributeError or RecursionError if it is none."""
    game: dict[str, Any] = json.loads(line)
    if type(game["game"]) is not int or game["game"] < 1:
        raise ValueError(f"{game['game']!r} is no number of a game")
    if game["black"] not in SIDES or game["winner"] not in (*SIDES, None):
        raise ValueError("it is played by others than A and B")
    opening_of(game, kind).referee(max_moves=len(game["moves"]) + 1)
    for _, side, milliseconds in game["overruns"]:
        if side not in SIDES or type(milliseconds) is not int:
            raise ValueError("its overruns are none")
    if not all(isinstance(game["names"][side], str) for side in SIDES) or not isinstance(game["ending"], str):
        raise ValueError("it lacks names or an ending")
    return game


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


def opening_of(game: Mapping[str, Any], kind: GameKind) -> Opening:
    """The opening of a line of games.jsonl."""
    return kind.opening(game["sfen"], tuple(game["moves"].split()[: game["opening_plies"]]))
