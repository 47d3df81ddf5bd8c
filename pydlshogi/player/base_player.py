"""What a player is, and the words it exchanges with the protocol.

A player turns a position, limits and a clock into a move. It never prints and never reads a line: it reports `Info`
and returns `BestMove` or `Checkmate`. When these may be said (pondering, analysis) it does not know: that is the
protocol's business. All methods but `close` are called from one thread, one after the other.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from pydlshogi.player.clock import Budget, Clock, ClockSettings, Latency, Limits, Overhead, allot
from pydlshogi.player.options import ClockOptions, EngineOptions

if TYPE_CHECKING:
    from pydlshogi.games.shogi import ShogiPosition

__all__ = ["BasePlayer", "BestMove", "Checkmate", "Clock", "Info", "Limits", "PlayerError", "Report"]

HIGHEST_CP: Final = 29_999
"""From 30000 on, viewers take a score for a mate."""
STARTPOS: Final = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


class PlayerError(Exception):
    """A fault that the user made or can mend; the message is one line for them to read."""


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
    pv: tuple[str, ...] = ()
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


class BasePlayer(ABC):
    """What all players share: the options, the game so far, and how long to think."""

    name: ClassVar[str] = "pydlshogi"
    author: ClassVar[str] = "the pydlshogi authors"
    options: EngineOptions

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self.sfen = STARTPOS
        """Where the game began."""
        self.moves: tuple[str, ...] = ()
        """The moves played since."""
        self.latency = Latency()
        """Of the network's batches. `prepare` may measure it."""
        self.overhead = Overhead()
        self._game: ShogiPosition | None = None

    # Loading

    def preload(self) -> None:  # noqa: B027
        """Import what `prepare` will need. Called once `usi` is answered; the end of the process may cut it short."""

    def prepare(self) -> list[str]:
        """Get ready to think under the present options: load, warm up. Cheap when nothing has changed since last time.

        Returns remarks for the user, each said once. Raises PlayerError when it cannot; it may be called again.
        """
        return []

    def close(self) -> None:  # noqa: B027
        """End processes that would outlive this one. Called once, from any thread, even in the midst of a search."""

    # The game

    def new_game(self) -> None:  # noqa: B027
        """Forget what was learned from the last game."""

    def game_over(self, result: str) -> None:  # noqa: B027
        """The game ended: "win", "lose", "draw", another word, or nothing."""

    def position(self, sfen: str, moves: Sequence[str]) -> None:
        """Set the game.

        Raises PlayerError for a broken sfen, having changed nothing, and for an illegal move, which it names, having
        kept the moves before it.
        """
        try:
            game = self.set_up(sfen)
        except ValueError as error:
            raise PlayerError(f"position: {error}") from None
        played = 0
        problem = ""
        try:
            for move in moves:
                game.push_usi(move)
                played += 1
        except ValueError as error:
            problem = f"position: move {played + 1}: {error}"
        self.sfen, self.moves, self._game = sfen, tuple(moves[:played]), game
        if problem:
            raise PlayerError(problem)

    def set_up(self, sfen: str) -> "ShogiPosition":
        """The position `sfen`, under the rules that the options choose. Raises ValueError."""
        from pydlshogi.games.shogi import ShogiPosition

        return ShogiPosition(sfen)

    @property
    def game(self) -> "ShogiPosition":
        """The current position. Whoever pushes moves takes them back."""
        if self._game is None:
            self._game = self.set_up(self.sfen)
        return self._game

    # Thinking

    def clock_settings(self) -> ClockSettings:
        """What the options say about time. With default_nodes set, a `go` without limits ends by itself."""
        return self.options.clock_settings() if isinstance(self.options, ClockOptions) else ClockSettings()

    def start_clock(self, limits: Limits | None = None, clock: Clock | None = None) -> Clock:
        """The clock of a search of the current position, told how long that side to move may think.

        `clock` is the one that has run since `go` was read; without it a new one is made for `limits`.
        """
        board = self.game.board
        turn, ply, settings = board.turn, board.move_number, self.clock_settings()
        clock = clock or Clock(limits)
        self.overhead.asked(clock.limits, turn, ply)
        overhead, look = self.overhead.mean, self.latency.look

        def law(limits: Limits) -> Budget:
            return allot(limits, turn, ply, settings, overhead, look)

        clock.govern(law)
        return clock

    def answered(self, clock: Clock) -> None:
        """The answer of the search that `clock` belongs to has been said."""
        self.overhead.answered(clock, self.game.board.move_number)

    @abstractmethod
    def think(self, limits: Limits, clock: Clock, report: Report) -> BestMove | Checkmate:
        """Search the current position until `clock` says stop or the answer is found.

        `limits` are those of the `go`; `clock.limits` follow `ponderhit`. The last line of rank 1 reported begins with
        the move returned. With limits.mate the answer is a Checkmate.
        """

    def recover(self) -> None:
        """After a defect, which may have left moves on the board: set the game anew."""
        self.position(self.sfen, self.moves)

    def any_move(self) -> BestMove:
        """A legal move, for when the player could not think; "resign" if there is none."""
        moves = self.legal_moves()
        return BestMove(moves[0] if moves else "resign")

    # What people at a terminal ask for

    def legal_moves(self) -> list[str]:
        """The legal moves of the current position."""
        from cshogi import move_to_usi

        return [move_to_usi(move) for move in self.game.legal_moves().tolist()]

    def describe(self) -> list[str]:
        """The lines that answer `d`."""
        board = self.game.board
        return [*str(board).splitlines(), f"sfen {board.sfen()}"]

    def evaluate(self) -> Iterator[str]:
        """The lines that answer `eval`. Raises PlayerError."""
        raise PlayerError(f"{self.name} has no opinion without a search")

    def perft(self, depth: int, clock: Clock) -> Iterator[str]:
        """The lines that answer `perft`: the leaves of the tree of legal moves, by first move and in all."""
        from cshogi import move_to_usi

        game = self.game

        def leaves(depth: int) -> int:
            if depth <= 0 or clock.stopped:
                return 1
            moves = game.legal_moves()
            if depth == 1:
                return len(moves)
            count = 0
            for move in moves.tolist():
                game.push(move)
                count += leaves(depth - 1)
                game.pop()
            return count

        total = 0
        for move in game.legal_moves().tolist() if depth > 0 else ():
            game.push(move)
            count = leaves(depth - 1)
            game.pop()
            if clock.stopped:
                return
            total += count
            yield f"{move_to_usi(move)}: {count}"
        yield f"total: {total if depth > 0 else 1}"

    def bench(self, arguments: Sequence[str], clock: Clock) -> Iterator[str]:
        """The lines that answer `bench`, until `clock` is stopped. Raises PlayerError."""
        raise PlayerError(f"{self.name} has no search to measure")
