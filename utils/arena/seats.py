"""Two engines that play games of a match with each other: a task of a pool. It writes no files and counts nothing."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydlshogi.support import OneLineError
from utils.arena.engines import START_SECONDS, EngineError, EngineProcess
from utils.arena.games import Opening, PlayedGame, kind_of
from utils.arena.play_game import OPENING_ATTEMPTS, Limit, MatchRules, play_game, random_opening
from utils.arena.store import SIDES, Settings, Side, opening_of


class Pairing(NamedTuple):
    """A game to be played."""

    number: int
    """From 1; A is Black in those with odd numbers, and the next one has the same opening."""
    opening: Opening
    continued: bool = False
    """Engine A goes on from the opening with random moves."""

    @property
    def black(self) -> Side:
        return SIDES[(self.number - 1) % 2]


def pairings(
    settings: Settings, openings: Sequence[Opening], games: int, finished: Mapping[int, Mapping[str, object]]
) -> Iterator[Pairing]:
    """The games 1 to `games` that are not among the `finished`, of which there may be more whenever this goes on.

    The second game of a pair has the opening of the first: it is left out as long as nobody knows that.
    """
    handed_out, at_random = set(finished), settings.random_plies > 0
    while True:
        left = (number for number in range(1, games + 1) if number not in handed_out)
        number = next((each for each in left if each % 2 or not at_random or each - 1 in finished), None)
        if number is None:
            return
        handed_out.add(number)
        twin = number + 1 if number % 2 else number - 1
        if twin in finished:
            yield Pairing(number, opening_of(finished[twin], settings.game))
        else:
            yield Pairing(number, openings[(number - 1) // 2 % len(openings)], continued=at_random)


def longest_game(limits: Sequence[Limit], rules: MatchRules, random_plies: int = 0) -> float:
    """Seconds that no game takes: an engine that is silent for long has been killed before."""
    move = max(limit.byoyomi_ms + limit.increment_ms for limit in limits) + rules.tolerance_ms
    main = sum(limit.main_ms for limit in limits)
    moves = (main + rules.max_moves * move) / 1000 + rules.max_moves * rules.patience_s
    return 2 * START_SECONDS + OPENING_ATTEMPTS * 60 * random_plies + moves


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
            self._opening(pairing),
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

    def _opening(self, pairing: Pairing) -> Opening:
        settings = self._settings
        if not pairing.continued:
            return pairing.opening
        rng = Random(f"{settings.seed} {pairing.number}")
        plies, nodes, margin = settings.random_plies, settings.random_nodes, settings.random_margin
        try:
            engine = self._engines["A"]
            opening = random_opening(engine, pairing.opening, plies, nodes, margin, rng)
            for name, value in settings.contestant("A").options.items():
                if name.lower() in {"multipv", "usi_multipv"}:
                    engine.set_option(name, value)
            engine.new_game()  # or it would begin with what it knows of the opening already
            return opening
        except EngineError as error:
            raise self._failure("A", error) from error

    def _seat(self, side: Side) -> None:
        """Have an engine of `side` ready for a new game; one that died in the last game is started again."""
        contestant = self._settings.contestant(side)
        try:
            if side in self._engines and self._engines[side].alive():
                with contextlib.suppress(EngineError):
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
