"""The folder of a match, kept so that no kill, crash or full disk loses a finished game, and what it came to so far.

It knows no processes.
"""

import errno
import glob
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import settle
from pydlshogi.support.decoding import parse_json
from pydlshogi.support.elo import estimate, histogram_of_pairs, superiority
from pydlshogi.support.files import write_whole
from utils.arena.games import Colour, PlayedGame, kind_of
from utils.arena.play_game import SIDES, Limit, Settings, Side

_KEPT = ("game", "black", "winner", "ending", "sfen", "opening_plies", "moves", "overruns", "names")
"""What is needed of a line of games.jsonl."""


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
        self._file = (out / "games.jsonl").open("ab+", buffering=0)
        self.games = {game["game"]: game for game in self._read()}
        """By number, from 1."""

    def close(self) -> None:
        """Let go of its file."""
        self._file.close()

    def _read(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                game = parse_json(line)
                yield {**game, **{name: game[name] for name in _KEPT}}
            except (ValueError, LookupError, TypeError) as error:
                self.close()
                raise OneLineError(f"{self._file.name}, line {number} is no game: {error!r}") from error
        self._file.truncate(whole)  # a line that was cut off was being written when the process was killed

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
        data = f"{json.dumps(line)}\n".encode()
        size = os.fstat(self._file.fileno()).st_size
        try:
            if self._file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._file.name)
            os.fsync(self._file)
        except OSError:
            self._file.truncate(size)
            raise
        self.games[number] = line


class Score:
    """The games of a match, counted."""

    def __init__(self, games: Mapping[int, Mapping[str, Any]]) -> None:
        self.results: dict[Side, Counter[str]] = {side: Counter() for side in SIDES}
        """win, draw, loss of A, by the colour A had: "A" when A was Black."""
        for game in games.values():
            self.results[game["black"]][_result(game)] += 1
        points = {"win": 1.0, "draw": 0.5, "loss": 0.0}
        firsts = [first for first in games if first % 2 and first + 1 in games]
        played = {number: (game["sfen"], game["moves"], game["winner"]) for number, game in games.items()}
        different = {(played[first], played[first + 1]): first for first in firsts}
        self.repeated = len(firsts) - len(different)
        """How many pairs repeat another, move by move: they prove no more."""
        counted = [first + second for first in different.values() for second in (0, 1)]
        self.pairs = histogram_of_pairs({number - 1: points[_result(games[number])] for number in counted})
        """How many of the others gave A 0, 1/2, 1, 3/2 and 2 points."""

    @property
    def total(self) -> Counter[str]:
        return self.results["A"] + self.results["B"]


def _result(game: Mapping[str, Any]) -> Literal["win", "draw", "loss"]:
    return "draw" if game["winner"] is None else "win" if game["winner"] == "A" else "loss"


def report(games: Mapping[int, Mapping[str, Any]], settings: Settings) -> str:
    """The final table."""
    if not games:
        return "no game finished"
    score = Score(games)
    names = games[max(games)]["names"]
    lines = [f"{side}  {names[side]}, {describe(settings.contestant(side).limit)}" for side in SIDES]
    total = score.total
    colours = "; ".join(
        f"as {colour} {_wdl(score.results[side])}" for side, colour in zip(SIDES, ("Black", "White"), strict=True)
    )
    points = total["win"] + total["draw"] / 2
    lines.append(f"A against B in {len(games)} games: {_wdl(total)} = {100 * points / len(games):.1f} % ({colours})")
    if sum(score.pairs):
        elo = estimate(score.pairs)
        lines.append(
            f"Elo difference {elo.difference:+.0f}{f' +- {elo.margin:.0f}' if isfinite(elo.margin) else ''} "
            f"(95 %: {elo.low:+.0f} to {elo.high:+.0f}), "
            f"likelihood of superiority {100 * superiority(score.pairs):.1f} %"
        )
        lines.append(f"from {sum(score.pairs)} pairs with 0, 1/2, 1, 3/2, 2 points: {' '.join(map(str, score.pairs))}")
        if score.repeated:
            lines.append(f"{score.repeated} pairs repeat another, move by move, and do not count")
    endings = Counter(game["ending"] for game in games.values())
    lines.append("endings: " + ", ".join(f"{ending} {count}" for ending, count in endings.most_common()))
    for side in SIDES:
        overruns = [ms for game in games.values() for _, late, ms in game["overruns"] if late == side]
        if overruns:
            lines.append(f"{side} overran its time {len(overruns)} times, by {max(overruns)} ms at most")
    return "\n".join(lines)


def standing(games: Mapping[int, Mapping[str, Any]]) -> str:
    """The same in a few words, for a progress bar."""
    score = Score(games)
    elo = f", Elo {estimate(score.pairs).difference:+.0f}" if sum(score.pairs) else ""
    return f"A {_wdl(score.total)}{elo}"


def _wdl(counts: Mapping[str, int]) -> str:
    return f"+{counts.get('win', 0)} ={counts.get('draw', 0)} -{counts.get('loss', 0)}"


def describe(limit: Limit) -> str:
    if limit.nodes:
        return f"{limit.nodes} nodes a move"
    if limit.increment_ms:
        return f"{limit.main_ms} ms + {limit.increment_ms} ms a move"
    return (
        f"{limit.main_ms} ms, then {limit.byoyomi_ms} ms a move" if limit.main_ms else f"{limit.byoyomi_ms} ms a move"
    )
