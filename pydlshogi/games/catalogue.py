"""The games there are, by name: what learning, playing and measuring need of each of them."""

from collections.abc import Callable, Iterable, Mapping
from pkgutil import resolve_name
from typing import Any, Final, NamedTuple, Protocol

from pydlshogi.encoding import Encoding
from pydlshogi.game import Outcome, Position, Rules
from pydlshogi.support.arrays import Records


class LearnedPosition(Position, Protocol):
    """A position of a game that plays itself to be learned from."""

    def outcome_to_learn(self) -> Outcome | None:
        """As `outcome`; but a game may go on after a repetition at which a search ends."""

    def usi(self, move: int) -> str:
        """How a move is written; its lowest 16 bits suffice."""


class Example(NamedTuple):
    """A run that others know the result of."""

    games: int
    """That it played against itself."""
    whose: str


class GameEntry(NamedTuple):
    """A game."""

    name: str
    """What `game_named` finds it by."""
    rules: Rules
    encodings: tuple[Encoding, ...]
    """How networks see it: new ones in the first way, unless another is asked for."""
    start: Callable[[int], LearnedPosition]
    """(draw_ply) -> the first position of a game that is drawn after so many plies; 0: never."""
    settings: Callable[[Any], Records]
    """(position) -> the rules' settings in its game."""
    learning: Mapping[str, Any]
    """Settings of the cycle that are better for this game than the general ones."""
    example: Example
    """What a run is measured by that wants to know how long it would take."""

    @property
    def encoding(self) -> Encoding:
        """Of a new network."""
        return self.encodings[0]


GAMES: Final = {name: f"pydlshogi.games.{name}.game:GAME" for name in ("dobutsu", "othello", "shogi")}


class UnknownGame(ValueError):
    """There is no game of this name; the message is one line."""


def game_named(name: str) -> GameEntry:
    """The game of this name: one of GAMES, or anybody's as `MODULE:NAME`. Raises UnknownGame."""
    game: GameEntry = resolved(GAMES.get(name, name), GAMES)
    return game


def resolved(place: str, known: Iterable[str]) -> Any:
    """What stands at `MODULE:NAME`. Raises UnknownGame, which lists the names that are `known` besides."""
    if ":" not in place:
        raise UnknownGame(f"no game is called {place}; there are {', '.join(sorted(known))}")
    try:
        return resolve_name(place)
    except (AttributeError, ImportError, ValueError) as error:
        raise UnknownGame(f"{place}: {error}") from error
