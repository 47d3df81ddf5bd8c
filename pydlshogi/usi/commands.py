"""What the commands of a GUI and of people at a terminal lead to: the game, a `go`, and questions such as `eval`.

Each command that takes time has a clock, by which `stop` ends it.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import (
    BasePlayer,
    BestMove,
    Checkmate,
    Info,
    PlayerError,
    any_move,
    game_over,
    play_moves,
)
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import EngineOptions, UnknownOption
from pydlshogi.usi.notation import Output, SearchOutput, parse_position


class Clocks:
    """The clocks of all that was asked for and is not answered yet, shared by the reading thread and the worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches: list[Clock] = []
        self._questions: list[Clock] = []
        self._last_times = Limits()
        """What is left to the players, as far as known, for a `ponderhit` that does not say."""

    def of_search(self, limits: Limits) -> Clock:
        """For a `go`. One that ponders without times gets the last times known."""
        with self._lock:
            if limits.timed:
                self._last_times = limits
            elif limits.ponder:
                limits = limits.with_times_of(self._last_times)
            clock = Clock(limits)
            self._searches.append(clock)
        return clock

    def of_question(self) -> Clock:
        """For a question of people."""
        with self._lock:
            self._questions.append(Clock())
            return self._questions[-1]

    @property
    def searching(self) -> bool:
        """Whether there is a search that is neither answered nor stopped."""
        with self._lock:
            return any(not clock.stopped for clock in self._searches)

    def stop(self) -> None:
        """Stop all that is under way."""
        with self._lock:
            for clock in [*self._searches, *self._questions]:
                clock.stop()

    def stop_endless(self, *, questions: bool) -> None:
        """Stop the searches that would not end by themselves, and the `questions` too if so wanted."""
        with self._lock:
            for clock in self._searches:
                limits = clock.limits
                if limits.infinite or limits.ponder or (limits.mate and limits.mate_time is None):
                    clock.stop()
            for clock in self._questions if questions else ():
                clock.stop()

    def hit(self, times: Limits) -> None:
        """The expected move was played."""
        with self._lock:
            if times.timed:
                self._last_times = times
            for clock in self._searches:
                clock.hit(times)

    def new_game(self) -> None:
        """Forget what was left to the players."""
        with self._lock:
            self._last_times = Limits()

    def searched(self, clock: Clock) -> None:
        """The search of this clock is answered."""
        with self._lock:
            self._searches.remove(clock)
            # Taken off `_last_times`: a `ponderhit` that comes without times goes by those.
            if clock.limits == clock.limits.with_times_of(self._last_times):
                self._last_times = self._last_times.after(clock.spent())

    def answered(self, clock: Clock) -> None:
        """The question of this clock is answered."""
        with self._lock:
            self._questions.remove(clock)


class GivenGame(NamedTuple):
    """A game as `position` gives it."""

    sfen: str | None = None
    """None: the start of the game."""
    moves: tuple[str, ...] = ()
    refused: bool = False
    """The last `position` was broken: this is not the game that the GUI means."""


class Board:
    """The present game, and the position it has led to."""

    def __init__(self, set_up: Callable[[str | None], PlayedPosition]) -> None:
        """`set_up`: as in Engine."""
        self._set_up = set_up
        self.game = GivenGame()
        self._reached: PlayedPosition | None = None
        """None: to be set up, under the rules that the options choose."""

    def option_was_set(self) -> None:
        """The rules of the game may be others now."""
        self._reached = None

    def set(self, text: str) -> None:
        """Set the game that follows `position`, or of one with an illegal move what comes before that.

        Raises PlayerError; `game` says then that it was refused.
        """
        sfen, moves = parse_position(text)
        before = self.game
        self.game = before._replace(refused=True)
        known = len(before.moves)
        # Setting up a long game anew, at every move, would cost milliseconds on the clock.
        position = self._reached
        if position is None or sfen != before.sfen or moves[:known] != before.moves:
            known = 0
            try:
                position = self._set_up(sfen)
            except ValueError as error:
                raise PlayerError(f"position: {error}") from None
        start = position.ply() - known
        try:
            play_moves(position, moves, known)
        finally:
            played = moves[: position.ply() - start]
            self.game = GivenGame(sfen, played, refused=len(played) < len(moves))
            self._reached = position

    def position(self, game: GivenGame | None = None) -> PlayedPosition:
        """The position that a game, or the present one, has led to, under the rules that the options choose now."""
        game = game or self.game
        if game is self.game and self._reached is not None:
            return self._reached.copy()
        position = self._set_up(game.sfen)
        play_moves(position, game.moves)
        return position


class Go:
    """A `go`."""

    def __init__(self, clock: Clock, board: Board, clocks: Clocks, output: Output) -> None:
        self.clock = clock
        self._board = board
        self._game = board.game
        self._clocks = clocks
        self._output = output
        self._search_output = SearchOutput(output)

    def begin(self, player: BasePlayer) -> None:
        """Let the player answer. If it fails, say so, and answer with a legal move or `timeout`."""
        answer: BestMove | Checkmate | None = None
        position = None
        if self._game.refused:
            self._output.remark("the last position was refused: what follows is about the one before it")
        try:
            position = self._board.position(self._game)
            answer = self._search(player, position)
        except Exception as error:
            self._output.blame(error)
        self._answer(answer or self._any_move())
        if position is not None:
            player.answered(position, self.clock)

    def _search(self, player: BasePlayer, position: PlayedPosition) -> BestMove | Checkmate:
        """The player's answer; its score is the result where a repetition has ended the game and a GUI plays on."""
        report, over = self._search_output.report, game_over(position)
        if over is None or self.clock.limits.mate:
            return player.search(position, self.clock, report)
        self._output.remark("a repetition has ended the game: the score is its result")
        score = over.score_cp

        def judged(info: Info) -> None:
            report(info if info.string else replace(info, score_cp=score, score_mate=None))

        return player.search(position, self.clock, judged)

    def give_up(self) -> None:
        """Do what can be done without a player."""
        self._answer(self._any_move())

    def _any_move(self) -> BestMove | Checkmate:
        """What is answered without thinking."""
        limits = self.clock.limits
        if limits.mate:
            return Checkmate("timeout")
        return any_move(self._board.position(self._game), limits.searchmoves)

    def _answer(self, answer: BestMove | Checkmate) -> None:
        """Say the answer as soon as it may be said."""
        self.clock.wait_until_released()
        self._clocks.searched(self.clock)
        self._search_output.answer(answer)


class PlayerQuestion:
    """A question of people, such as `eval`."""

    def __init__(self, command: str, text: str, clock: Clock, board: Board, clocks: Clocks, output: Output) -> None:
        """`command`: a key of PLAYER_QUESTIONS; `text`: what follows it."""
        self.clock = clock
        self._command, self._text = command, text
        self._board = board
        self._game = board.game
        self._clocks = clocks
        self._output = output

    def begin(self, player: BasePlayer) -> None:
        """Answer. Raises what the player raises."""
        try:
            position = self._board.position(self._game)
            for line in PLAYER_QUESTIONS[self._command](player, position, self._text, self.clock):
                self._output.say(line)
        finally:
            self._clocks.answered(self.clock)

    def give_up(self) -> None:
        self._clocks.answered(self.clock)


Asked: TypeAlias = Go | PlayerQuestion


# Questions of people. Each answers by lines, or raises PlayerError.

_HELP: Final = """\
usi, isready, usinewgame, setoption name N value V, quit: as every GUI sends them
position startpos [moves ...], position sfen ...
go [btime MS wtime MS] [byoyomi MS] [binc MS winc MS] [movetime MS] [nodes N] [infinite] [ponder] [searchmoves ...]
go mate [MS], stop, ponderhit, gameover win|lose|draw
d: the board; sfen; key; moves: the legal ones; eval: what the network thinks
getoption [N]; bench [SECONDS]; license; help"""

_LICENSE: Final = """\
Copyright the pydlshogi authors. This program is free software: you can redistribute it and/or modify it under the
terms of version 3 of the GNU General Public License. It comes with no warranty. See the file LICENSE."""


def _describe(position: PlayedPosition) -> Iterator[str]:
    yield from position.describe()
    yield f"sfen {position.sfen()}"


def _legal_moves(position: PlayedPosition) -> str:
    return " ".join(position.usi(move) for move in position.legal_moves().tolist())


def _get_option(options: EngineOptions, name: str) -> Iterator[str]:
    """One option, or all."""
    for each in [name] if name else [option.usi_name for option in options.declared()]:
        try:
            yield f"{options.find(each).usi_name} {options.get(each)}"
        except UnknownOption:
            raise PlayerError(f"there is no option {each}") from None


PLAYER_QUESTIONS: Final[Mapping[str, Callable[[BasePlayer, PlayedPosition, str, Clock], Iterable[str]]]] = {
    "eval": lambda player, position, _text, _clock: player.eval_lines(position),
    "bench": lambda player, position, text, clock: player.bench(position, text.split(), clock),
}
"""By command: what only a player that has loaded can answer, given what follows the command."""

_SetUp: TypeAlias = Callable[[], PlayedPosition]
OTHER_QUESTIONS: Final[Mapping[str, Callable[[EngineOptions, _SetUp, str], Iterable[str]]]] = {
    "d": lambda _options, set_up, _text: _describe(set_up()),
    "sfen": lambda _options, set_up, _text: [set_up().sfen()],
    "key": lambda _options, set_up, _text: [f"{set_up().key():016x}"],
    "moves": lambda _options, set_up, _text: [_legal_moves(set_up())],
    "getoption": lambda options, _set_up, text: _get_option(options, text),
    "help": lambda options, _set_up, _text: [*_HELP.splitlines(), "", *options.help_lines()],
    "license": lambda _options, _set_up, _text: _LICENSE.splitlines(),
}
"""By command: what can be answered at once, given the options, what sets up the position, and what follows."""
