"""What a game is to everybody else: its name, its rules, its players, how it looks.

Light, as long as nothing is asked: an entry imports what it gives in the property or method that gives it.
`pydlshogi.catalogue` has the games there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pydlshogi.game import GameEnd, PlayedPosition, Rules
from pydlshogi.player.base_player import BasePlayer, Engine
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import EngineOptions

if TYPE_CHECKING:
    from pydlshogi.analysis import AnalysedMove, Judgement
    from pydlshogi.encoding import Encoding
    from pydlshogi.training.settings import TrainingEntry


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


class Name(NamedTuple):
    """What something is called."""

    english: str
    japanese: str


class Look(NamedTuple):
    """How a game looks on the board, and how people write its moves. The page has pictures of our own games itself."""

    title: str = ""
    about: str = ""
    """A few words for people who do not know it."""
    advice: str = ""
    """What to do first, for people."""
    pieces: Mapping[str, str] = {}
    """For each letter of an sfen, in upper case, SVG from -50 to 50 as its owner sees it."""
    names: Mapping[str, Name] = {}
    """Of the pieces."""
    letters: Mapping[str, str] = {}
    """Of the pieces in moves, where an sfen has others."""
    colours: tuple[str, str, str] | None = None
    """Of the ground, of Black's pieces and of White's."""
    hand: bool = False
    """Pieces may be held in hand."""
    columns: str = "987654321"
    """From the left; a narrower board has the last of them. A square is named by its column and its row."""
    rows: str = "abcdefghi"
    """From above."""


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


Question = tuple[PlayedPosition, frozenset[int]]
"""A position, and the moves that keep its value; others do not."""


class Exam(NamedTuple):
    """A network passes if its moves keep the value often enough."""

    questions: Sequence[Question]
    playouts: int
    """Before each move."""
    temperature: float
    """Divides the logits of the policy."""
    goal: float
    """The least share of the questions."""


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
    """Opponents that search, from one for beginners to one that takes `milliseconds` for a move: see docs/strength.md.

    `levels`: where a game has other ones, the weakest first: a Skill_Level, or that and a `temperature` of the policy.
    They never resign: a learner has to mate.
    """
    opponents = {}
    for name, level in (levels or _LEVELS).items():
        skill, temperature = level if isinstance(level, tuple) else (level, 0)
        settings = {"Skill_Level": str(skill), "temperature": str(temperature), "Resign_Threshold": "0"}
        opponents[name] = Opponent("mcts", settings)
    return opponents | {"full strength": Opponent("mcts", {}, milliseconds)}


# Records of a game, as the board opens and saves them


@dataclass(frozen=True, slots=True)
class RecordedLine:
    """Moves as a file tells them. Nobody has looked yet whether they are legal."""

    moves: Sequence[str] = ()
    times: Sequence[float | None] = ()
    """Seconds that each move took; of moves beyond these nothing is known, here and below."""
    evaluations: Sequence[int | None] = ()
    """After each move, in centipawns from Black's view."""
    comments: Sequence[str] = ()
    """On the positions, by the number of moves before them."""
    candidates: Sequence[Sequence[AnalysedMove]] = ()
    """Of an analysis, likewise."""
    ended: GameEnd | None = None
    broken_off: str = "unknown"


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game as a file tells it."""

    game: str
    start: str | None = None
    """None: the usual start."""
    line: RecordedLine = RecordedLine()
    variations: Sequence[tuple[int, RecordedLine]] = ()
    """Each leaves the one before it after a number of moves of the game, the first one `line`."""
    discs: int | None = None
    names: tuple[str, str] = ("", "")
    event: str = ""
    date: str = ""
    place: str = ""
    headers: Sequence[Sequence[str]] = ()
    """What else the file says of it: names and values."""
    utf8: bool = False
    """The file is in UTF-8, and so is what is saved."""
    remark: str = ""
    """One line to show when the game is opened."""


Candidates: TypeAlias = Callable[[Any], Sequence["AnalysedMove"]]
"""What an engine thought of a position, a `web.tree.Node`."""
Opened: TypeAlias = Sequence[Callable[[], RecordedGame]]
"""The games of a file, each read when it is wanted."""

RECORDED: Final = "as recorded"
"""The end of a game of which a record says what the result was, but not how it came about."""


class OpenError(ValueError):
    """What is no game; the message is one line."""


class File(NamedTuple):
    """A game as it is saved."""

    suffix: str
    content: bytes
    whole: bool = False
    """Variations are in it too."""
    name: str = ""


class GameFiles(NamedTuple):
    """The formats of one game."""

    opened: Callable[[bytes, str], Opened | None]
    """(content, the same as text) -> its games; None: it is in another format. Raises OpenError."""
    saved: Callable[[Any, Sequence[Judgement], Candidates], File | None]
    """(the game on the board, judgements, candidates) -> a file, the line that is shown first; None where the formats
    cannot say it."""
    suffixes: Sequence[str]
    """Of files that can be opened."""
    typed: Callable[[str], RecordedGame | None] = lambda text: None
    """A game as people type it to begin from; None: that is another text. Raises OpenError."""


class GameEntry(ABC):
    """A game. What it has in common with most others need not be said."""

    name: str
    """`game_named` finds it by that."""
    rank = 9
    """Games are listed by it. The first is meant where none is named, and its formats are tried last for a record."""
    network = ""
    """The file in `model/`, or a whole path, that the shared search takes where nobody names another; "": none."""
    opponents: Mapping[str, Opponent] = ladder(1000)
    """Of people at the board, the weakest first."""
    elo: Mapping[str, int] = {}
    """Of opponents that were measured, counted from random moves: docs/strength.md."""
    starts: Mapping[str, str | None] = {"even": None}
    """Where a game may begin, as `position` takes it: the usual start first, then handicaps."""
    judged_visits = 200
    """For each position of a game that is analysed as a whole."""
    judged_lines = 5
    """Candidates looked for then. A search of visits has them all anyway; one of alpha-beta does not."""
    has_policy = True
    """The engine that analyses has an opinion of moves without a search."""
    poses_mates = False
    """The board makes a problem of a mate that was found, and answers by `defence`."""
    in_discs = False
    """Its evaluations are hundredths of a disc."""
    learning: Mapping[str, Any] = {}
    """Settings of the cycle that are better for this game than the general ones."""
    look = Look()

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """Compiled, for the search."""

    @property
    @abstractmethod
    def encodings(self) -> Sequence[Encoding]:
        """How networks see it: new ones in the first way, unless another is asked for."""

    @property
    def encoding(self) -> Encoding:
        """Of a new network."""
        return self.encodings[0]

    @abstractmethod
    def position(self, sfen: str | None = None, *, draw_ply: int = 0) -> PlayedPosition:
        """A position; None: the start of the game. After `draw_ply` plies it is drawn, 0: never. Raises ValueError.

        Games whose options choose among rules take these too.
        """

    @property
    def engines(self) -> Mapping[str, Callable[[], Engine]]:
        """What makes each. The first one analyses."""
        return {"mcts": self._shared_search}

    def engine(self, options: EngineOptions, load: Callable[[], BasePlayer], name: str = "") -> Engine:
        """An engine of the game, under the rules that its options choose."""
        return Engine(
            name or f"pydlshogi {self.name}", options, lambda sfen: self.position(sfen, **options.rules()), load
        )

    def _shared_search(self) -> Engine:
        options = MCTSOptions()

        def load() -> BasePlayer:
            from pydlshogi.player.mcts_player import MCTSPlayer
            from pydlshogi.player.network_player import Network

            return MCTSPlayer(options, Network(self))

        return self.engine(options, load)

    @property
    def training(self) -> TrainingEntry | None:
        """How `pydlshogi.train` learns from its records; None: not."""
        return None

    @property
    def files(self) -> GameFiles | None:
        """What reads and writes its records on the board; None: lines of USI alone."""
        return None

    @property
    def exam(self) -> Exam | None:
        """What ends a speedrun once a network passes it, made anew; None: there is none. Raises OneLineError."""
        return None

    def opening(self, position: Any, before: OpeningNames) -> OpeningNames:
        """What players call the way to a position, where the one before it had these names."""
        return NO_NAMES

    def gives_odds(self, start: str) -> bool:
        """Whether White gives Black odds from there on, and the sides have other names."""
        return False

    def score(self, position: Any) -> str:
        """What is counted on the board; "": nothing."""
        return ""

    def in_danger(self, position: Any) -> str:
        """The square that is marked on the board; "": none."""
        return ""

    def defence(self, position: Any) -> Sequence[str]:
        """Where every move leads to being mated: the longest defence and the mate after it; else nothing."""
        return ()

    def why_not(self, position: Any, move: str) -> str:
        """Why a move is forbidden that pieces could make: of the move, or of its square; "": it is not said."""
        return ""
