"""Games between two engines: whose turn, whose clock, whose fault, and which game of a match is next.

It writes no files and counts nothing.
"""

import os
from argparse import ArgumentTypeError
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import bounded
from utils.arena.engines import EngineDied, EngineError, EngineProcess, EngineSilent
from utils.arena.games import Colour, Judge, Opening, Overrun, PlayedGame, Verdict, kind_of, other

Side = Literal["A", "B"]
SIDES: tuple[Side, Side] = ("A", "B")

LONGEST_MS: Final = 10**9
"""No limit is above this, eleven days in milliseconds: the system's clocks know no such deadlines."""
in_range: Final = bounded(0, LONGEST_MS, float)
LIMITS: Final = {"time": "[MAIN/]BYOYOMI", "fischer": "MAIN+INCREMENT", "nodes": "N"}


@dataclass(frozen=True)
class Limit:
    """What an engine may spend on its moves: either `nodes` per move, or time in milliseconds."""

    main_ms: int = 0
    byoyomi_ms: int = 0
    increment_ms: int = 0
    nodes: int = 0


def parse_limit(kind: str, text: str) -> Limit:
    """`--time 1000` (byoyomi), `--time 60000/1000` (main time / byoyomi), `--fischer 60000+1000`, `--nodes 800`.

    Raises ArgumentTypeError.
    """
    with suppress(ValueError):
        numbers = [int(part) for part in text.split({"time": "/", "fischer": "+"}.get(kind))]
        if min(numbers) >= 0 and sum(numbers) > 0 and max(numbers) <= LONGEST_MS:
            match kind, numbers:
                case "nodes", [nodes]:
                    return Limit(nodes=nodes)
                case "time", [byoyomi]:
                    return Limit(byoyomi_ms=byoyomi)
                case "time", [main, byoyomi]:
                    return Limit(main_ms=main, byoyomi_ms=byoyomi)
                case "fischer", [main, increment]:
                    return Limit(main_ms=main, increment_ms=increment)
    raise ArgumentTypeError(f"{text} makes no sense")


def add_limits(add: Callable[..., object], side: str = "", about: str | None = None) -> None:
    """`--time`, `--fischer` and `--nodes`, each of which sets `limit`; with a `side`, `--a-time` sets `a_limit`."""
    for kind, form in LIMITS.items():
        dest = f"{side}limit".replace("-", "_")
        add(f"--{side}{kind}", dest=dest, type=partial(parse_limit, kind), metavar=form, help=about)


class ChessClock:
    """The time one side has left."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.remaining_ms: float = limit.main_ms

    @property
    def allowance_ms(self) -> float:
        """The most the next move may take; 0 where only nodes are limited."""
        return self.remaining_ms + self.limit.increment_ms + self.limit.byoyomi_ms

    def spend(self, milliseconds: float) -> float:
        """Charge one move; returns by how many milliseconds it was too long."""
        if self.limit.nodes:
            return 0.0
        overrun = max(0.0, milliseconds - self.allowance_ms)
        self.remaining_ms = max(0.0, self.remaining_ms + self.limit.increment_ms - milliseconds)
        return overrun


def go_limits(clocks: Mapping[Colour, ChessClock], mover: Colour) -> dict[str, int]:
    """What `go` says to the mover. USI has one byoyomi for both sides: it is the mover's own."""
    limit = clocks[mover].limit
    if limit.nodes:
        return {"nodes": limit.nodes}
    times = {"btime": int(clocks["b"].remaining_ms), "wtime": int(clocks["w"].remaining_ms)}
    if limit.increment_ms:
        return times | {"binc": clocks["b"].limit.increment_ms, "winc": clocks["w"].limit.increment_ms}
    return times | {"byoyomi": limit.byoyomi_ms}


@dataclass(frozen=True)
class MatchRules:
    """When a game ends other than by its rules."""

    max_moves: int = 320
    """Moves after the start position (those of the opening included) after which the game is drawn."""
    tolerance_ms: float = 1000.0
    """An overrun up to this is recorded and forgiven, a longer one loses."""
    patience_s: float = 60.0
    """An engine that is silent for so much longer is killed; with `nodes`, an engine that is silent for so long."""
    adjudicate_cp: int | None = None
    """The game is won for the side that both engines have seen ahead by this much..."""
    adjudicate_plies: int = 8
    """...with each of their last moves; this many, of both together."""


def play_game(
    engines: Mapping[Colour, EngineProcess], limits: Mapping[Colour, Limit], opening: Opening, rules: MatchRules
) -> PlayedGame:
    """Play from `opening` to the end. The engines have had `usinewgame`; afterwards they know the result.

    An engine that dies, or has to be killed because it stays silent, loses; it is not started again here.
    """
    referee = opening.referee(rules.max_moves)
    clocks = {colour: ChessClock(limit) for colour, limit in limits.items()}
    played = PlayedGame(opening, Verdict(None, "max_moves"), referee.moves)
    played.evals.extend(None for _ in opening.moves)
    played.times_ms.extend(0 for _ in opening.moves)
    verdict = None
    while verdict is None:
        verdict = _move(engines, clocks, referee, rules, played)
    played.verdict = verdict
    for colour, engine in engines.items():
        engine.game_over("draw" if verdict.winner is None else "win" if verdict.winner == colour else "lose")
    return played


def _move(
    engines: Mapping[Colour, EngineProcess],
    clocks: Mapping[Colour, ChessClock],
    referee: Judge,
    rules: MatchRules,
    played: PlayedGame,
) -> Verdict | None:
    """One move of the side to move, written into `played`; the verdict if it ends the game."""
    mover = referee.turn
    ply = len(referee.moves) + 1
    seconds = (clocks[mover].allowance_ms + rules.tolerance_ms) / 1000 + rules.patience_s
    try:
        answer = engines[mover].go(played.opening.start, referee.moves, go_limits(clocks, mover), seconds)
    except EngineSilent:
        played.overruns.append(Overrun(ply, mover, round(seconds * 1000 - clocks[mover].allowance_ms)))
        return Verdict(other(mover), "time_up")
    except EngineDied:
        return Verdict(other(mover), "crash")
    overrun = clocks[mover].spend(answer.milliseconds)
    if overrun > 0:
        played.overruns.append(Overrun(ply, mover, round(overrun)))
    played.answer = answer.bestmove
    if overrun > rules.tolerance_ms:
        return Verdict(other(mover), "time_up")
    if answer.bestmove == "resign":
        return Verdict(other(mover), "resign")
    if answer.bestmove == "win":
        return referee.declare()
    verdict = referee.play(answer.bestmove)
    if len(referee.moves) == ply:
        played.answer = None
        played.evals.append(None if answer.cp is None else answer.cp if mover == "b" else -answer.cp)
        played.times_ms.append(round(answer.milliseconds))
    return verdict or _adjudicate(played.evals, rules, referee.turn)


def _adjudicate(evals: Sequence[int | None], rules: MatchRules, turn: Colour) -> Verdict | None:
    """Lost for the side to move if all agree: it could have resigned, and records can say so."""
    if rules.adjudicate_cp is None or len(evals) < rules.adjudicate_plies:
        return None
    sign = -1 if turn == "b" else 1
    if all(cp is not None and sign * cp >= rules.adjudicate_cp for cp in evals[-rules.adjudicate_plies :]):
        return Verdict(other(turn), "adjudication")
    return None


# A match


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
    seed: int
    openings_digest: str = ""
    """Of what the file of openings held: it may have changed since."""
    game: str = "shogi"
    """As `kind_of` takes it."""

    def contestant(self, side: Side) -> Contestant:
        return self.A if side == "A" else self.B


class Pairing(NamedTuple):
    """A game to be played."""

    number: int
    """From 1; A is Black in those with odd numbers, and the next one has the same opening."""
    opening: Opening

    @property
    def black(self) -> Side:
        return SIDES[(self.number - 1) % 2]


def pairings(openings: Sequence[Opening], games: int, finished: Container[int]) -> Iterator[Pairing]:
    """The games 1 to `games` that are not among the `finished`."""
    for number in range(1, games + 1):
        if number not in finished:
            yield Pairing(number, openings[(number - 1) // 2 % len(openings)])


class Seats:
    """Two engines, started when they are needed, and again after they died.

    Inside `with` a function plays a game between them. To leave it while a game is under way kills them.
    """

    def __init__(self, settings: Settings, out: Path) -> None:
        """What they say on stderr goes to files of the folder `out`, where that can be seen."""
        self._settings, self._out = settings, out
        self._engines: dict[Side, EngineProcess] = {}
        self._playing = False

    def __enter__(self) -> Callable[[Pairing], tuple[dict[Side, str], PlayedGame]]:
        return self.play

    def play(self, pairing: Pairing) -> tuple[dict[Side, str], PlayedGame]:
        """The names of the engines and what happened. Raises OneLineError if one cannot be used."""
        self._playing = True
        for side in SIDES:
            self._seat(side)
        white: Side = "B" if pairing.black == "A" else "A"
        contestants, engines = self._settings.contestant, self._engines
        played = play_game(
            {"b": engines[pairing.black], "w": engines[white]},
            {"b": contestants(pairing.black).limit, "w": contestants(white).limit},
            pairing.opening,
            self._settings.rules,
        )
        self._playing = False
        return {side: engines[side].name for side in SIDES}, played

    def __exit__(self, *_: object) -> None:
        for engine in self._engines.values():
            if self._playing:
                engine.kill()
            else:
                engine.close()

    def _seat(self, side: Side) -> None:
        """Have an engine of `side` ready for a new game; one that died in the last game is started again."""
        contestant = self._settings.contestant(side)
        try:
            if side in self._engines and self._engines[side].alive():
                with suppress(EngineError):
                    self._engines[side].new_game()
                    return
                self._engines[side].kill()
            log = self._out / f"stderr-{side}.log" if self._out.is_dir() else Path(os.devnull)
            engine = self._engines[side] = kind_of(self._settings.game).engine(contestant.command, log)
            engine.prepare(contestant.options)
            engine.new_game()
        except EngineError as error:
            raise self._failure(side, error) from error

    def _failure(self, side: Side, error: EngineError) -> OneLineError:
        return OneLineError(f"engine {side} `{self._settings.contestant(side).command}` {error}")
