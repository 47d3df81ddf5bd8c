"""What a game is to everybody else: its name, its rules, its players, how it looks. Light, as long as nothing is asked.

`pydlshogi.games.catalogue` has the games there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Self, TypeAlias, TypeVar, overload

from pydlshogi.game import PlayedPosition, Rules

if TYPE_CHECKING:  # a protocol names games before it says `usiok`, and numpy takes as long as all the rest
    from pydlshogi.encoding import Encoding

T = TypeVar("T")


class Imported(Generic[T]):
    """A field that is given as `MODULE:NAME` and read as what stands there: it is imported by who reads it first."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = f"_{name}"

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> Self | T:
        if instance is None:
            raise AttributeError(self._slot)  # to a dataclass: there is no default
        value = instance.__dict__[self._slot]
        found: T = resolve_name(value) if isinstance(value, str) else value
        instance.__dict__[self._slot] = found
        return found

    def __set__(self, instance: object, value: str | T) -> None:
        instance.__dict__[self._slot] = value


class Opponent(NamedTuple):
    """An engine at some strength."""

    engine: str
    """One of those of the game."""
    settings: Mapping[str, str] = {}
    """Of its options, by name."""
    movetime: int | None = None
    """Milliseconds for a move; None: what the options say."""
    is_there: Callable[[], bool] = lambda: True
    """It has all that it needs."""


class Look(NamedTuple):
    """How a game looks on the board. The page itself knows the looks of games that it has pictures for."""

    title: str
    about: str
    """A few words for who does not know it."""
    advice: str
    """What to do first, for people."""
    pieces: Mapping[str, str]
    """For each letter of an sfen, in upper case, SVG from -50 to 50 as its owner sees it."""
    names: Mapping[str, str]
    """Of the pieces, for who hears the board read."""
    colours: tuple[str, str, str]
    """Of the ground, of Black's pieces and of White's."""
    hand: bool = False
    """Pieces may be held in hand."""


class Name(NamedTuple):
    """What something is called."""

    english: str
    japanese: str


class OpeningNames(NamedTuple):
    """What players call the way a game has begun."""

    name: Name | None = None
    """None: it has no name yet."""
    more: tuple[Name, ...] = ()
    """What else the position shows."""

    @property
    def names(self) -> tuple[Name, ...]:
        """All that there are."""
        return ((self.name,) if self.name else ()) + self.more


NO_NAMES: Final = OpeningNames()
NameOpening: TypeAlias = Callable[[PlayedPosition, OpeningNames], OpeningNames]
"""(position, opening of the position before) -> opening."""


_LEVELS: Final = {
    "beginner": 0,
    "novice": 2,
    "easy": 4,
    "casual": 6,
    "medium": 7,
    "strong": 8,
    "hard": 12,
    "expert": 16,
}


def ladder(milliseconds: int, **levels: int | tuple[int, int]) -> dict[str, Opponent]:
    """Opponents that search, from one for beginners to one that takes so long for a move: see docs/strength.md.

    `levels`: where a game has other ones, the weakest first: a Skill_Level, or that and a `temperature` of the policy.
    They never resign: who is to learn to win has to mate.
    """
    opponents = {}
    for name, level in (levels or _LEVELS).items():
        skill, temperature = level if isinstance(level, tuple) else (level, 0)
        settings = {"Skill_Level": str(skill), "temperature": str(temperature), "Resign_Threshold": "0"}
        opponents[name] = Opponent("mcts", settings)
    return opponents | {"full strength": Opponent("mcts", {}, milliseconds)}


@dataclass(frozen=True, kw_only=True)
class GameEntry:
    """A game. What is named as `MODULE:NAME` is imported when it is asked for."""

    name: str
    """`game_named` finds it by that."""
    rules: Imported[Rules] = Imported()
    encodings: Imported[Sequence[Encoding]] = Imported()
    """How networks see it: new ones in the first way, unless another is asked for."""
    position: Imported[Callable[..., PlayedPosition]] = Imported()
    """The class of its positions: (sfen, draw_ply=0) -> position. None: the start of the game; after `draw_ply` plies
    it is drawn, 0: never. Raises ValueError."""
    network: str = ""
    """The file in `model/`, or a whole path, that the shared search takes where nobody names another; "": none."""
    engines: Mapping[str, str | None] = field(default_factory=lambda: {"mcts": None})
    """What makes each, as `MODULE:NAME`; None: the search that all games share. The first one analyses."""
    opponents: Mapping[str, Opponent] = field(default_factory=lambda: ladder(1000))
    """Of people at the board, the weakest first."""
    starts: Mapping[str, str | None] = field(default_factory=lambda: {"even": None})
    """Where a game may begin, as `position` takes it: the usual start first, then handicaps."""
    judged_visits: int = 200
    """For each position of a game that is analysed as a whole."""
    judged_lines: int = 5
    """Candidates looked for then. A search of visits has them all anyway; one of alpha-beta does not."""
    has_policy: bool = True
    """The engine that analyses has an opinion of moves without a search."""
    in_discs: bool = False
    """Its evaluations are hundredths of a disc."""
    learning: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the cycle that are better for this game than the general ones."""
    training: str | None = None
    """How `pydlshogi.train` learns from its records, `MODULE:NAME` of a `training.dataset.TrainingEntry`; None: not."""
    files: str | None = None
    """What reads and writes its records on the board, as `MODULE:NAME`; None: lines of USI alone."""
    match: str | None = None
    """How matches are played, as `MODULE:NAME`; None: by USI, judged by `position`."""
    opening: str | None = None
    """The function that names openings, a `NameOpening`, as `MODULE:NAME`; None: they have no names."""
    in_danger: str | None = None
    """What is marked on the board, a function of the position to the square or "", as `MODULE:NAME`; None: nothing."""
    why_not: str | None = None
    """Why a move is forbidden that pieces could make, a function of the position and the move, or of the square, to
    a sentence or "", as `MODULE:NAME`; None: it is not told."""
    look: Look | None = None

    @property
    def encoding(self) -> Encoding:
        """Of a new network."""
        return self.encodings[0]
