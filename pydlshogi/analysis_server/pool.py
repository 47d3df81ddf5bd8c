"""Players that answer questions about positions, several at once and the urgent ones first.

Every question is answered once and for all, and on the way as often as it asks. Each search has a thread and, for every
engine, a player of its own, with its own tree; they share one network. It knows no JSON.
"""

import heapq
import logging
import threading
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, TypeAlias

from pydlshogi.catalogue import GAMES, engine_named
from pydlshogi.game import PlayedPosition
from pydlshogi.player.ask import Lines, ask
from pydlshogi.player.base_player import BasePlayer, Engine, Loaded, OtherGameError, PlayerError, game_over, play_moves
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import OptionError, SearchOptions, apply_settings

HASH_MB: Final = 64
"""For the tree of each player, unless the options say something else."""

_NEVER: Final = SearchOptions.pv_interval.maximum
"""As PV_Interval."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A position, and what is wanted to know about it."""

    game: str
    """A key of GAMES."""
    start: str | None = None
    """As text; None: the start of the game."""
    moves: tuple[str, ...] = ()
    """Played since then."""
    opponent: str = ""
    """Of that game: its next move is wanted. "": an analysis, always the best move and never a resignation."""
    clock: Limits | None = None
    """What the opponent's move may cost where a chess clock runs; None: as much as moves of that opponent do."""
    visits: int | None = None
    """Playouts of an analysis; None: as many as there is time for."""
    time: float | None = None
    """Milliseconds of an analysis; with neither it goes on until it is cancelled."""
    lines: int = 1
    """How many moves the answer names."""
    searchmoves: tuple[str, ...] = ()
    """Only these are searched; none: all."""
    policy: bool = False
    """Whether the answer has the priors of all moves too."""
    report_every: float | None = None
    """Milliseconds between the answers on the way; None: only the last."""
    priority: int = 0
    """The higher, the sooner it begins. What has begun is not interrupted."""
    after: int | None = None
    """How many of the moves lead to the position; None: all. So the questions of a game share its moves."""

    @property
    def turn(self) -> int:
        """How many moves lead to the position."""
        return len(self.moves) if self.after is None else self.after


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a position, for the side to move."""

    turn: int = 0
    """The side to move: 0 the side that moved first in the game, 1 the other."""
    lines: Lines = ()
    """The best moves, the best first. None where the game is over, or nothing was searched.
    An answer on the way without any: the thinking begins; only a question with a chess clock gets it."""
    move: str = ""
    """The player's move, "resign" or "win"; "" on the way, and where nothing was searched."""
    final: bool = True
    """This is the last answer."""
    error: str = ""
    """Why there is none."""
    policy: Mapping[str, float] | None = None
    """What the network expects of each legal move; None: nobody asked, or the engine has no network."""
    repetitions: int = 0
    """How often the position was there before, as far as the question tells the game."""


Tell: TypeAlias = Callable[[Answer], None]


@dataclass(eq=False)
class Task:
    """A question that has been asked."""

    question: Question
    tell: Tell
    begun: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)


class Replay:
    """The last game looked at, as far as it has been played: another position of it costs only the moves between."""

    def __init__(self) -> None:
        self._game: tuple[Engine, str | None, tuple[str, ...]] | None = None
        self._position: PlayedPosition
        self._keys: list[int] = []
        """Of all positions up to the present one."""

    @property
    def repetitions(self) -> int:
        """How often the present position was there before."""
        return self._keys.count(self._keys[-1]) - 1

    def position(self, engine: Engine, start: str | None, moves: tuple[str, ...], turn: int) -> PlayedPosition:
        """The position after `turn` of the moves, under the rules of the engine; it may not be changed.

        Games are distinguished by the object `moves`. Raises PlayerError.
        """
        game = engine, start, moves
        before, self._game = self._game, None
        if before is None or any(new is not old for new, old in zip(game, before, strict=True)):
            try:
                self._position = engine.set_up(start)
            except ValueError as error:
                raise PlayerError(str(error)) from error
            self._keys = [self._position.key()]
        while len(self._keys) > turn + 1:
            self._position.pop()
            self._keys.pop()
        for played in range(len(self._keys) - 1, turn):
            play_moves(self._position, moves[: played + 1], played)
            self._keys.append(self._position.key())
        self._game = game
        return self._position

    def forget(self) -> None:
        """The position may have been changed."""
        self._game = None


class Pool:
    """The searches. Loading waits for the first question that needs it."""

    def __init__(self, searches: int, settings: Mapping[str, str] | None = None) -> None:
        """`searches`: how many at once; `settings` of the engines' options, by name, for those that have them.

        Raises OptionError.
        """
        self._searches = searches
        self._settings = {"USI_Hash": str(HASH_MB), **(settings or {})}
        self._engines = {(game, name): engine_named(game, name) for game in GAMES for name in GAMES[game].engines}
        known = [apply_settings(engine.options, self._settings) for engine in self._engines.values()]
        if unknown := self._settings.keys() - set().union(*known):
            raise OptionError(f"no engine has an option {', '.join(sorted(unknown))}")
        self._loaded: dict[tuple[str, str], Loaded] = {}
        self._loading = threading.Lock()
        self._waiting: list[tuple[int, int, Task]] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._closed = False
        self._silent = False
        """No answer is handed out any more."""
        self._current: set[Task] = set()
        # Daemons: a program that ends without `close` does not wait for its questions.
        self._threads = [threading.Thread(target=self._work, name=f"search {n}", daemon=True) for n in range(searches)]
        for thread in self._threads:
            thread.start()

    def engine_for(self, question: Question) -> Engine:
        """The engine that answers a question."""
        return self._engines[self._key(question)]

    def ask(self, question: Question, tell: Tell) -> Task:
        """Have a question answered: `tell` is called by the thread of a search, which waits for it to return, or by who
        cancels it before that has begun."""
        task = Task(question, tell)
        with self._changed:
            heapq.heappush(self._waiting, (-question.priority, next(self._numbers), task))
            self._changed.notify()
        return task

    def cancel(self, task: Task) -> None:
        """Let the last answer to a question come now; it may be empty. Nothing happens where it has come already."""
        with self._changed:
            waits = not (task.begun or task.cancelled.is_set() or self._silent)
            task.cancelled.set()
        if waits:
            task.tell(Answer())

    def close(self, *, cancel: bool = False) -> None:
        """Answer what has been asked, then end; `cancel`: end now, and answer nothing more."""
        if cancel:
            self.give_up()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def give_up(self) -> None:
        """Answer nothing more. May be called by `tell`, where nobody listens any longer."""
        with self._changed:
            self._closed = self._silent = True
            self._changed.notify_all()
            for task in self._current:
                self.cancel(task)

    def _key(self, question: Question) -> tuple[str, str]:
        game = GAMES[question.game]
        name = game.opponents[question.opponent].engine if question.opponent else next(iter(game.engines))
        return question.game, name

    # The threads of the searches

    def _work(self) -> None:
        players: dict[tuple[str, str], BasePlayer] = {}
        replay = Replay()
        while (task := self._next()) is not None:
            answer = self._answer(task, players, replay)
            if self._silent:
                return
            try:
                task.tell(answer)
            except Exception:  # an answer that cannot be handed out does not end the other searches
                if not self._silent:
                    log.exception("an answer was lost")
            with self._changed:
                self._current.discard(task)

    def _next(self) -> Task | None:
        """The most urgent question, the oldest of those; None when all is done."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._silent or not self._waiting:
                    return None
                _, _, task = heapq.heappop(self._waiting)
                if not task.cancelled.is_set():
                    task.begun = True
                    self._current.add(task)
                    return task

    def _answer(self, task: Task, players: dict[tuple[str, str], BasePlayer], replay: Replay) -> Answer:
        question = task.question
        key = self._key(question)
        try:
            if key not in players:
                players[key] = self._player(key)
            position = replay.position(self._engines[key], question.start, question.moves, question.turn)
            answer = self._think(task, players[key], position)
            policy = _policy(players[key], position) if question.policy else None
            return replace(answer, repetitions=replay.repetitions, policy=policy)
        except PlayerError as error:
            return Answer(error=str(error))
        except Exception as error:  # one question that fails must not take the others along
            log.exception("a search failed")
            replay.forget()
            return Answer(error=f"the search failed: {error!r}")

    def _player(self, key: tuple[str, str]) -> BasePlayer:
        """A player of its own for this thread, with the network of the others. Raises PlayerError."""
        player = self._engines[key].load()
        with self._loading:
            if key not in self._loaded and (loaded := self._load(key[0], player)):
                self._loaded[key] = loaded
                for remark in loaded.remarks:
                    log.warning("%s: %s", key[0], remark)
            if key in self._loaded:
                player.install(self._loaded[key])
        player.share_cores(self._searches)
        return player

    def _load(self, game: str, player: BasePlayer) -> Loaded | None:
        """What the player needs, if anything. Raises PlayerError."""
        load = player.loading(player.options)
        try:
            return load and load()
        except OtherGameError as error:
            # `modelfile` is set for the engines of all games, and was meant for another one.
            log.warning("%s: %s; the network that comes along is taken", game, error)
            apply_settings(player.options, {"modelfile": ""})
            return self._load(game, player)

    def _think(self, task: Task, player: BasePlayer, position: PlayedPosition) -> Answer:
        question, turn = task.question, position.turn
        options = copy(self.engine_for(question).options)
        if question.opponent:
            opponent = GAMES[question.game].opponents[question.opponent]
            apply_settings(options, opponent.settings)
            limits = question.clock or Limits(movetime=opponent.movetime)
        elif over := game_over(position):
            return Answer(turn, (over,))
        else:
            limits = Limits(
                infinite=True, nodes=question.visits, movetime=question.time, searchmoves=question.searchmoves
            )
        every = question.report_every
        if isinstance(options, SearchOptions):
            options.pv_interval = _NEVER if every is None else round(every)
        player.options = options
        player.new_game()  # so that no answer depends on the questions before
        if question.clock:
            task.tell(Answer(turn, final=False))

        def hear(lines: Lines) -> None:
            if every is not None and not task.cancelled.is_set() and (judged := _judged(lines)):
                task.tell(Answer(turn, judged, final=False))

        thought = ask(player, position, Clock(limits, stopped=task.cancelled), question.lines, hear)
        return Answer(turn, _judged(thought.lines), thought.move)


def _judged(lines: Lines) -> Lines:
    """Without the moves of a book, and moves played without a search."""
    return tuple(line for line in lines if line.win_rate is not None)


def _policy(player: BasePlayer, position: PlayedPosition) -> Mapping[str, float] | None:
    moves = position.legal_moves()
    evaluation = player.evaluate(position, moves) if len(moves) else None
    if evaluation is None:
        return None
    priors, _ = evaluation
    return {position.usi(move): float(prior) for move, prior in zip(moves.tolist(), priors.tolist(), strict=True)}
