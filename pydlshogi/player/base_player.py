"""What a player is, and the words it exchanges with the protocol.

A player turns a position, limits and a clock into a move. It never prints and never reads a line: it reports `Info`
and returns `BestMove` or `Checkmate`. When these may be said (pondering, analysis) it does not know: that is the
protocol's business. An `Engine` is what a protocol has in hand before the player is loaded.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from pydlshogi.game import PlayedPosition
from pydlshogi.player.allot import Costs, allot
from pydlshogi.player.clock import Clock
from pydlshogi.player.latency import Latency, Overhead
from pydlshogi.player.options import EngineOptions
from pydlshogi.support import OneLineError

if TYPE_CHECKING:
    from pydlshogi.support.arrays import Float32Array, Int32Array

HIGHEST_CP: Final = 29_999
"""From 30000 on, viewers take a score for a mate."""


class PlayerError(OneLineError):
    """A fault that the user made or can repair; the message is one line for them to read."""


class OtherGameError(PlayerError):
    """The network is one of another game."""


@dataclass(frozen=True, slots=True)
class Info:
    """What a search has to say. Scores are for the side to move at the root; None: nothing to say about that."""

    depth: int | None = None
    seldepth: int | None = None
    time: int | None = None
    """Milliseconds since `go`."""
    nodes: int | None = None
    nps: int | None = None
    hashfull: int | None = None
    """Permille."""
    multipv: int | None = None
    """Rank of the line, from 1. None: the only line."""
    score_cp: int | None = None
    score_mate: int | None = None
    """Plies until the mate, negative when the root is mated. Only when proven, and never 0."""
    win_rate: float | None = None
    """0 to 1."""
    exact: bool = False
    """The score is proven: a win or a loss."""
    visits: int | None = None
    """Visits of the first move of the line."""
    prior: float | None = None
    """Prior of the first move of the line, 0 to 1."""
    pv: tuple[str, ...] = ()
    """The line."""
    pv_visits: tuple[int, ...] = ()
    """Visits of each move of the line, 0 for those that the mate searcher found; empty: not known."""
    string: str = ""
    """Free text; it travels on a line of its own."""


@dataclass(frozen=True, slots=True)
class BestMove:
    """The answer to `go`."""

    move: str
    """A legal move, "resign" or "win"."""
    ponder: str | None = None
    """The expected reply: legal after `move`, or None."""


@dataclass(frozen=True, slots=True)
class Checkmate:
    """The answer to `go mate`."""

    result: Literal["mate", "nomate", "timeout", "notimplemented"]
    """nomate only when proven."""
    moves: tuple[str, ...] = ()
    """The whole line of the mate."""


Report: TypeAlias = Callable[[Info], None]


_steps: list[str] = []


@contextmanager
def loading_step(what: str) -> Iterator[None]:
    """Inside the `with`, `loading_now` gives `what`, such as "loading net.npz", for people who wait for it."""
    _steps.append(what)
    try:
        yield
    finally:
        _steps.remove(what)


def loading_now() -> str:
    """The innermost `loading_step` of this process; "": there is none."""
    return "".join(_steps[-1:])


class LoadedPart(Protocol):
    """What was loaded for one part of a player, ready for use."""

    @property
    def remarks(self) -> Sequence[str]:
        """What the user should know of it."""


OptionsT = TypeVar("OptionsT")
LoadedT = TypeVar("LoadedT", bound=LoadedPart)


class Part(Generic[OptionsT, LoadedT]):
    """Something that a player needs loaded. This one needs nothing."""

    def loading(self, options: OptionsT) -> Callable[[], LoadedT] | None:
        """What has to be loaded before thinking under these options, which do not change any more; None: nothing.

        The function returned may take its time, and in another thread: it does not touch the part. It raises
        PlayerError where something cannot be loaded.
        """
        return None

    def install(self, loaded: LoadedT) -> None:
        """Take over what the function of `loading` has brought."""


class Adviser(Part[OptionsT, LoadedT]):
    """A part that knows the answer to some positions without a search."""

    def new_game(self, options: OptionsT) -> None:
        """Forget what was learned from the last game."""

    def answer(self, position: Any, clock: Clock, options: OptionsT, report: Report) -> BestMove | None:
        """The answer, reported; None: there is none. `position` is one of the adviser's game."""
        raise NotImplementedError


class Loaded(NamedTuple):
    """What was loaded for the parts of a player. Players made in the same way may share it."""

    parts: Sequence[tuple[int, LoadedPart]]
    """What was loaded, each with the number of its part."""

    @property
    def remarks(self) -> list[str]:
        """What the user should know of it."""
        return [remark for _, loaded in self.parts for remark in loaded.remarks]


class BasePlayer(ABC):
    """What all players share: the options, and how long to think.

    All methods but the loading are called from one thread, one after the other.
    """

    options: EngineOptions

    def __init__(self, options: EngineOptions, parts: Sequence[Part[Any, Any]] = ()) -> None:
        self.options = options
        self.parts = parts
        self.latency = Latency()
        """What the network's batches take. Loading may measure it."""
        self.overhead = Overhead()

    # Loading

    def loading(self, options: EngineOptions) -> Callable[[], Loaded] | None:
        """What its parts need before thinking under these options: see `Part.loading`."""
        missing = [(number, load) for number, part in enumerate(self.parts) if (load := part.loading(options))]
        return (lambda: Loaded([(number, load()) for number, load in missing])) if missing else None

    def install(self, loaded: Loaded) -> None:
        """Give the parts what was loaded for them."""
        for number, each in loaded.parts:
            self.parts[number].install(each)

    def prepare(self) -> Sequence[str]:
        """Load what is missing now; returns remarks for the user. Raises PlayerError."""
        load = self.loading(copy(self.options))
        if load is None:
            return ()
        loaded = load()
        self.install(loaded)
        return loaded.remarks

    def share_cores(self, players: int) -> None:  # noqa: B027
        """From now on `players` of its kind search at once, and divide the cores among them."""

    # The game

    def new_game(self) -> None:  # noqa: B027
        """Forget what was learned from the last game."""

    # Thinking

    def start_clock(self, position: PlayedPosition, clock: Clock) -> Clock:
        """Give the clock of a `go` for `position` the budget of the side to move; returns the clock."""
        turn, ply, settings = position.turn, position.ply(), self.options.clock_settings()
        self.overhead.asked(clock.limits, turn, ply)
        costs = Costs(
            overhead=self.overhead.mean,
            evaluation=self.latency.of(1),
            at_once=self.overhead.at_once(self.latency.slowdown, ply),
        )
        clock.set_budget(lambda limits: allot(limits, turn, ply, settings, costs))
        return clock

    def search(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        """Answer a `go` for `position`: start its clock, think, and if that pondered, wait for the opponent's move."""
        self.start_clock(position, clock)
        answer = self.think(position, clock, report)
        clock.wait_until_hit()
        if clock.hit_late:
            # While it pondered it chose as in an analysis: at full skill, without resigning. Now it plays.
            clock.count_anew()
            answer = self.think(position, clock, report)
        return answer

    def answered(self, position: PlayedPosition, clock: Clock) -> None:
        """The answer of the search of `position` that `clock` belongs to has been said."""
        self.overhead.answered(clock, position.ply())

    @abstractmethod
    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        """Search `position`, which stays as it is, until `clock` says stop or the answer is found.

        `clock.limits` follow `ponderhit`. The last line of rank 1 reported begins with the move returned. With
        limits.mate the answer is a Checkmate. The player has been prepared.
        """

    # What people at a terminal ask for

    def evaluate(self, position: PlayedPosition, moves: "Int32Array") -> "tuple[Float32Array, float] | None":
        """What a network thinks of a position without a search: a prior for each of its legal `moves`, and the value;
        None: there is no network."""
        return None

    def eval_lines(self, position: PlayedPosition) -> Iterator[str]:
        """The lines that answer `eval`: the win rate, and the ten moves of the highest priors. Raises PlayerError."""
        moves = position.legal_moves()
        evaluation = self.evaluate(position, moves) if len(moves) else None
        if not len(moves):
            yield "no legal move"
        elif evaluation is None:
            raise PlayerError("there is no network to evaluate a position")
        else:
            priors, value = evaluation
            yield f"win rate {value:.4f}"
            for place in (-priors).argsort(kind="stable")[:10]:
                yield f"{position.usi(int(moves[place])):5} {priors[place]:.4f}"

    def bench(self, position: PlayedPosition, arguments: Sequence[str], clock: Clock) -> Iterator[str]:
        """The lines that answer `bench`, until `clock` is stopped. Raises PlayerError."""
        raise PlayerError("there is no search to measure")


class KnownMove(NamedTuple):
    """A move that a book knows."""

    move: str
    value: int
    """Centipawns for the side to move."""
    played: int
    """How often it was."""


class Engine(NamedTuple):
    """What a protocol needs to know before the player is loaded."""

    name: str
    options: EngineOptions
    set_up: Callable[[str | None], PlayedPosition]
    """The position of an sfen, None for the start of the game, under the rules that the options choose. ValueError."""
    load: Callable[[], BasePlayer]
    """The player with these options. It imports what it needs, which takes a while."""
    known_moves: Callable[[Any], Sequence[KnownMove]] = lambda _: ()
    """What the books that the options name know of a position, the best first. Raises PlayerError."""


def game_over(position: PlayedPosition) -> Info | None:
    """The result, where the rules have ended the game although there are legal moves: a search would play on. None: the
    game goes on."""
    ending = position.ending()
    if ending is None or not len(position.legal_moves()):
        return None
    win_rate = 0.5 if ending.winner is None else float(ending.winner == position.turn)
    return Info(nodes=0, score_cp=round(HIGHEST_CP * (2 * win_rate - 1)), win_rate=win_rate)


def any_move(position: PlayedPosition, among: Sequence[str] = ()) -> BestMove:
    """A legal move, for when no player could think, and `among` those if any of them is legal; else "resign"."""
    moves = moves_named(position, among) or position.legal_moves()[:1].tolist()
    return BestMove(position.usi(moves[0]) if moves else "resign")


def moves_named(position: PlayedPosition, names: Sequence[str]) -> list[int]:
    """The legal moves among `names`, of which a move may have several."""
    wanted = set[str]()
    for name in names:
        with suppress(ValueError):
            wanted.add(position.usi(position.move_from_usi(name)))
    return [move for move in position.legal_moves().tolist() if position.usi(move) in wanted] if wanted else []


LONGEST_GAME: Final = 30_000
"""Plies: a search counts them in 16 bits."""


def play_moves(position: PlayedPosition, moves: Sequence[str], played: int = 0) -> None:
    """Play `moves` on `position`, where the first `played` of them have been.

    Raises PlayerError for one that is not legal, having played those before it.
    """
    if position.ply() + len(moves) - played > LONGEST_GAME:
        raise PlayerError(f"position: a game of more than {LONGEST_GAME:,} plies")
    for index in range(played, len(moves)):
        try:
            position.push(position.move_from_usi(moves[index]))
        except ValueError as error:
            raise PlayerError(f"position: move {index + 1}: {error}") from None
