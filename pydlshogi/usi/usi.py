"""The USI protocol: lines in, lines out. It knows players, but no search.

Three threads. The reading thread takes each line as it comes and never waits: it answers `usi`, tells the clocks of the
searches under way to stop or that the expected move was played, and puts everything else in a queue. The worker takes
one job after the other from the queue: set an option, set the game, think, answer. So every `go` has exactly one
answer, in order, and nothing changes the game under a search. The loader brings what the player needs, however long
that takes: the worker sets a `go` or an `isready` that must wait for it aside, and can still answer a `stop`.

                      setoption                    isready, go
          ┌──────────────────────────┐   ┌─────────────────────────┐
          ▼                          │   │                         ▼
      UNREADY ◀────────── fails ───── LOADING ── setoption ──▶ LOADING, stale
          │                          ▲   │                         │
          └─────── isready, go ──────┘   └─ done ─▶ READY ◀─ done ─┘ (after loading once more)
                                          readyok, the `go`s set aside

What happens in the corners:

* `go` while a search is under way stops that one; its answer comes first.
* `position`, `setoption` and the commands for people wait until the search under way is over.
* `isready` during a search is answered at once if the player has loaded, and leaves the search alone.
* `go` before `isready` loads first; `stop` meanwhile is answered by a legal move. If the player cannot load, that is
  said and a legal move is played.
* `isready` that cannot be fulfilled is answered by one `info string Error!` and no `readyok`; the next may succeed.
* A `position` that is broken or holds an illegal move is answered by one `info string Error!`. The last good one (or
  the moves before the illegal one) is kept, but as it is not the position of the GUI, `go` resigns until another
  `position` arrives.
* A player that fails while thinking costs one `info string Error!`, a traceback in the log and any legal move.
* `quit` stops what is under way. The end of input stops only what would never end by itself. Both let an `isready` and
  the answers to `go` that are due be said.
"""

import logging
import threading
from argparse import ArgumentParser
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from copy import copy
from queue import SimpleQueue
from typing import Final, NamedTuple

from pydlshogi import __version__
from pydlshogi.player.base_player import (
    BasePlayer,
    BestMove,
    Checkmate,
    Engine,
    Info,
    Loaded,
    PlayedPosition,
    PlayerError,
    any_move,
    perft,
    play_moves,
)
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import EngineOptions, UnknownOption
from pydlshogi.usi.notation import answer_line, info_line, parse_go, parse_position, parse_setoption, string_line
from pydlshogi.usi.process import Process

KEEP_ALIVE: Final = 4.0
"""Seconds between the blank lines that tell a GUI the engine is still loading."""
AUTHOR: Final = "the pydlshogi authors"
_PATIENCE: Final = 30.0
"""Seconds that `quit` gives to what is due."""

log = logging.getLogger(__name__)

_HELP: Final = """\
usi, isready, usinewgame, setoption name N value V, quit: as every GUI sends them
position startpos [moves ...], position sfen ...
go [btime MS wtime MS] [byoyomi MS] [binc MS winc MS] [movetime MS] [nodes N] [infinite] [ponder] [searchmoves ...]
go mate [MS], go perft N, stop, ponderhit, gameover win|lose|draw
d: the board; sfen; key; moves: the legal ones; eval: what the network thinks
getoption [N]; bench [SECONDS]; perft N; license; help"""

_LICENSE: Final = """\
Copyright the pydlshogi authors. This program is free software: you can redistribute it and/or modify it under the
terms of version 3 of the GNU General Public License. It comes with no warranty. See the file LICENSE."""


class Output:
    """Where lines are said: one at a time, in plain ASCII, and none after `close`."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.lock = threading.RLock()
        self._write = write
        self._closed = False

    def say(self, line: str) -> None:
        line = " ".join(line.encode("ascii", "backslashreplace").decode().splitlines())
        with self.lock:
            if not self._closed:
                log.debug("< %s", line)
                self._write(line)

    def close(self) -> None:
        # Without the lock: whoever holds it may be waiting for a GUI that no longer reads.
        self._closed = True


class Voice:
    """What one search says: lines of `info` until its answer, and then nothing more."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._answered = False
        self._last = ""
        self._main_line = ""
        self._main_move = ""

    def report(self, info: Info) -> None:
        """Say it, unless the answer has been given. May be called by any thread."""
        with self._output.lock:
            if self._answered:
                return
            if info.string:
                self._say(string_line(info.string))
            if line := info_line(info):
                self._say(line)
                if info.pv and info.multipv in {None, 1}:
                    self._main_line, self._main_move = line, info.pv[0]

    def answer(self, answer: BestMove | Checkmate) -> None:
        """Say the answer, right after the line of rank 1 that begins with its move."""
        with self._output.lock:
            self._answered = True
            if isinstance(answer, BestMove) and answer.move == self._main_move and self._last != self._main_line:
                self._say(self._main_line)
            self._say(answer_line(answer))

    def _say(self, line: str) -> None:
        self._last = line
        self._output.say(line)


class GivenGame(NamedTuple):
    """The game as `position` has set it."""

    sfen: str | None = None
    """None: the start of the game."""
    moves: tuple[str, ...] = ()
    refused: bool = False
    """The last `position` was broken: this is not the game that the GUI means."""


class Job(NamedTuple):
    """Something that the worker is to do."""

    act: Callable[[], None]
    in_turn: bool = True
    """Not before the `go`s that came before it are answered."""


class Asked(NamedTuple):
    """A `go` that waits for its answer."""

    clock: Clock
    game: GivenGame
    timed: bool
    """No `readyok` was due when it came, so that its time has run since then."""


class Loading(NamedTuple):
    """What the loader is at."""

    what: Future[Loaded | None]
    met: int
    """How many options had been set when it began."""


class Usi:
    """One conversation with one GUI."""

    def __init__(
        self,
        engine: Engine,
        write: Callable[[str], None],
        *,
        keep_alive: float = KEEP_ALIVE,
        log_to: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`write` says a line. `log_to` moves the log to a file; it may raise OSError."""
        self._engine = engine
        self._output = Output(write)
        self._keep_alive = keep_alive
        self._log_to = log_to
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="worker", daemon=True)
        self._loader = ThreadPoolExecutor(1, "loader")
        self._player: Future[BasePlayer] | None = None

        # Shared by the reading thread and the worker, under the lock.
        self._lock = threading.Lock()
        self._clocks: list[Clock] = []
        """Of the searches asked for and not yet answered."""
        self._question_clocks: list[Clock] = []
        """Of the questions asked and not yet answered."""
        self._last_times = Limits()
        """What is left on the clocks, as far as known, for a `ponderhit` that does not say."""

        # The reading thread's own.
        self._options_asked = 0
        """How many `setoption`s have come."""
        self._readyok_due = True
        """There was no `isready` yet, or the last one is not answered. The worker clears it."""

        # The worker's own.
        self._input_ended = False
        self._game = GivenGame()
        self._reached: tuple[int, PlayedPosition] | None = None
        """How many `setoption`s had been met when it was set up, and the position that the game has led to."""
        self._loading: Loading | None = None
        self._ready = False
        """The player has loaded, and no option was set since that began."""
        self._able = False
        """The player has loaded once, be it under other options."""
        self._options_met = 0
        """How many `setoption`s have been obeyed or refused."""
        self._not_ready: list[tuple[threading.Event, int]] = []
        """One for each `isready` that waits, set when it waits no longer; and how many `setoption`s came before it."""
        self._aside: list[Asked] = []
        """The `go`s that wait for the player to be loaded."""
        self._behind: deque[Job] = deque()
        """What came after those."""

        self._commands: dict[str, Callable[[str], None]] = {
            "usi": self._usi,
            "isready": self._isready,
            "setoption": self._setoption,
            "usinewgame": self._usinewgame,
            "position": lambda text: self._put(lambda: self._set_position(text)),
            "go": self._go,
            "stop": lambda _: self._stop(),
            "ponderhit": self._ponderhit,
            "gameover": lambda _: self._stop(),
            "debug": lambda _: None,
            "register": lambda _: None,
            "copyprotection": lambda _: None,
        }
        # For people at a terminal.
        self._questions: dict[str, Callable[[str, Clock], Iterable[str]]] = {
            "d": lambda _text, _clock: [*self._position().describe(), f"sfen {self._position().sfen()}"],
            "sfen": lambda _text, _clock: [self._position().sfen()],
            "key": lambda _text, _clock: [f"{self._position().key():016x}"],
            "moves": lambda _text, _clock: [self._legal_moves()],
            "eval": lambda _text, _clock: self._loaded_player().evaluate(self._position()),
            "perft": lambda text, clock: perft(self._position(), _depth(text), clock),
            "bench": lambda text, clock: self._loaded_player().bench(self._position(), text.split(), clock),
            "getoption": lambda text, _clock: self._get_option(text),
            "help": lambda _text, _clock: [*_HELP.splitlines(), "", *engine.options.help_lines()],
            "license": lambda _text, _clock: _LICENSE.splitlines(),
        }

    # The reading thread

    def run(self, lines: Iterable[str]) -> None:
        """Obey `lines` until `quit` or their end, and let what is due be said. Call `close` afterwards."""
        self._worker.start()
        quitting = False
        for line in lines:
            log.debug("> %s", line)
            command, text = [*line.split(maxsplit=1), "", ""][:2]
            if quitting := command == "quit":
                break
            try:
                self._obey(command, text.strip())
            except Exception as error:
                self._complain_of_defect(error)
        self._stop(everything=quitting)
        self._put(self._end_of_input)
        if quitting:
            self._worker.join(_PATIENCE)
        # However long loading takes, `write` notices a GUI that has died, and ends the process.
        while not quitting and self._worker.is_alive():
            self._worker.join(self._keep_alive)
            if self._aside:
                self._output.say("")

    def close(self) -> None:
        """Fall silent and let go of the player. May be called by any thread, in the midst of anything."""
        self._output.close()
        if self._player is not None and self._player.done() and not self._player.exception():
            self._player.result().close()

    def _obey(self, command: str, text: str) -> None:
        """Act upon one line: at once where that takes no time, else by putting a job in the queue."""
        if command in self._commands:
            self._commands[command](text)
        elif command in self._questions:
            self._ask(command, text)
        elif command:
            self._put(lambda: self._remark(f"unknown command {command}"))

    def _usi(self, _text: str) -> None:
        engine = self._engine
        self._output.say(f"id name {engine.name} {__version__}")
        self._output.say(f"id author {AUTHOR}")
        for line in engine.options.declarations():
            self._output.say(line)
        self._output.say("usiok")
        self._put(self._import)

    def _isready(self, _text: str) -> None:
        """Answer at once during a search; else let the worker get ready, with blank lines said until it is."""
        with self._lock:
            searching = self._able and any(not clock.stopped for clock in self._clocks)
        if searching:
            self._output.say("readyok")
            return
        self._readyok_due = True
        done = threading.Event()
        threading.Thread(target=self._say_blank_lines_until, args=(done,), name="keep-alive", daemon=True).start()
        asked = self._options_asked
        self._put(lambda: self._get_ready(done, asked), in_turn=False)

    def _setoption(self, text: str) -> None:
        self._options_asked += 1
        self._put(lambda: self._set_option(text))

    def _say_blank_lines_until(self, done: threading.Event) -> None:
        """Show the GUI, while the engine loads, that it is still there."""
        while not done.wait(self._keep_alive):
            self._output.say("")

    def _go(self, text: str) -> None:
        words = text.split()
        if words[:1] == ["perft"]:
            self._ask("perft", " ".join(words[1:]))
            return
        limits = parse_go(text)
        self._stop()
        with self._lock:
            if limits.timed:
                self._last_times = limits
            elif limits.ponder:
                limits = limits.with_times_of(self._last_times)
            clock = Clock(limits)
            self._clocks.append(clock)
        timed = not self._readyok_due
        self._put(lambda: self._search(Asked(clock, self._game, timed)))

    def _ask(self, command: str, text: str) -> None:
        """Put a question of people in the queue, with a clock by which `stop` can end it."""
        clock = Clock()
        with self._lock:
            self._question_clocks.append(clock)
        self._put(lambda: self._answer_question(command, text, clock))

    def _stop(self, *, everything: bool = True) -> None:
        """Stop all that is under way, or only the searches that would not end by themselves."""
        with self._lock:
            for clock in [*self._clocks, *self._question_clocks]:
                limits = clock.limits
                if everything or limits.infinite or limits.ponder or (limits.mate and limits.mate_time is None):
                    clock.stop()
        self._put(self._answer_what_was_stopped, in_turn=False)

    def _ponderhit(self, text: str) -> None:
        times = parse_go(text)
        with self._lock:
            if times.timed:
                self._last_times = times
            for clock in self._clocks:
                clock.hit(times)

    def _usinewgame(self, _text: str) -> None:
        with self._lock:
            self._last_times = Limits()
        self._put(lambda: self._with_player(lambda player: player.new_game()))

    # The worker

    def _put(self, act: Callable[[], None], *, in_turn: bool = True) -> None:
        self._jobs.put(Job(act, in_turn))

    def _work(self) -> None:
        """One job after the other, until the input has ended and nothing is due any more."""
        while not (self._input_ended and not self._aside and not self._not_ready):
            job = self._behind.popleft() if self._behind and not self._aside else self._jobs.get()
            if job.in_turn and self._aside:
                self._behind.append(job)
                continue
            try:
                job.act()
            except Exception as error:
                self._blame(error)

    def _end_of_input(self) -> None:
        self._input_ended = True

    def _remark(self, text: str) -> None:
        """Say what only somebody who looks for a fault wants to read."""
        if self._engine.options.debug_message:
            self._output.say(string_line(text))

    def _complain(self, text: str) -> None:
        """Say what the user should mend."""
        self._output.say(string_line(f"Error! {text}"))

    def _complain_of_defect(self, error: Exception) -> None:
        """Say that the engine itself is at fault; the traceback goes to the log."""
        log.error("a defect, please report it", exc_info=error)
        self._complain(f"{type(error).__name__}: {error} (the log says more)")

    # Loading

    def _import(self) -> None:
        if self._player is None:
            self._player = self._loader.submit(self._engine.load)

    def _begin_loading(self) -> None:
        """Let the loader bring what the present options want, unless it is at it."""
        if self._loading is None:
            self._import()
            self._loading = Loading(self._loader.submit(self._load, copy(self._engine.options)), self._options_met)
            self._loading.what.add_done_callback(lambda _: self._put(self._end_loading, in_turn=False))

    def _load(self, options: EngineOptions) -> Loaded | None:
        """In the loader: what the player lacks for these options; None: nothing."""
        assert self._player is not None
        load = self._player.result().loading(options)
        return load() if load else None

    def _end_loading(self) -> None:
        """Give the player what was loaded, if that has not been done yet, and answer those who waited."""
        if self._loading is None or not self._loading.what.done():
            return
        (what, met), self._loading = self._loading, None
        loaded = True
        try:
            self._install(what.result())
        except Exception as error:
            self._blame(error)
            loaded = False
        searching = loaded and self._aside and met == self._options_met
        # A search begins now: what came behind it waits for its end, which no `isready` does.
        self._tell("readyok" if loaded else "", self._options_asked if searching else met)
        self._able |= loaded
        if met != self._options_met:
            if self._not_ready or self._aside:
                self._begin_loading()
            return
        self._ready = loaded
        aside, self._aside = self._aside, []
        for asked in aside:
            if loaded:
                self._search(asked)
            else:
                self._answer(asked, Voice(self._output), self._any_move(asked))

    def _install(self, loaded: Loaded | None) -> None:
        if loaded is not None:
            self._with_player(lambda player: player.install(loaded))
            for remark in loaded.remarks:
                self._output.say(string_line(remark))

    def _tell(self, answer: str, met: int) -> None:
        """End the waiting of every `isready` with no more than `met` options before it, with an answer if given."""
        waiting, self._not_ready = self._not_ready, []
        for done, asked in waiting:
            if asked > met:
                self._not_ready.append((done, asked))
                continue
            done.set()
            if answer:
                self._readyok_due = False
                self._output.say(answer)

    def _get_ready(self, done: threading.Event, asked: int) -> None:
        self._not_ready.append((done, asked))
        self._begin_loading()

    def _with_player(self, act: Callable[[BasePlayer], None]) -> None:
        """Let the player do something, if there is one by now."""
        if self._player is not None and self._player.done():
            act(self._player.result())

    def _loaded_player(self) -> BasePlayer:
        """The player, loaded now if need be. Raises what loading raises."""
        self._import()
        assert self._player is not None
        while self._loading is not None:
            wait([self._loading.what])
            self._end_loading()
        self._install(self._loader.submit(self._load, copy(self._engine.options)).result())
        return self._player.result()

    # Options and the game

    def _set_option(self, text: str) -> None:
        name, value = parse_setoption(text)
        options = self._engine.options
        log_file = options.log_file
        try:
            if remark := options.set(name, value):
                self._output.say(string_line(remark))
            self._ready = False
        except UnknownOption:
            self._remark(f"unknown option {name}")
        self._options_met += 1
        if self._not_ready:
            self._begin_loading()
        log.setLevel(logging.DEBUG if options.debug_message else logging.INFO)
        if options.log_file != log_file:
            try:
                self._log_to(options.log_file)
            except OSError as error:
                self._complain(f"Log_File: {error.strerror or error}")

    def _get_option(self, text: str) -> Iterator[str]:
        options = self._engine.options
        names = [text] if text else [option.usi_name for option in options.declared()]
        for name in names:
            try:
                yield f"{options.find(name).usi_name} {options.get(name)}"
            except UnknownOption:
                raise PlayerError(f"there is no option {name}") from None

    def _set_position(self, text: str) -> None:
        sfen, moves = parse_position(text)
        before = self._game
        self._game = before._replace(refused=True)
        known = len(before.moves)
        # Setting up a long game anew, at every move, would cost milliseconds on the clock.
        reached = self._reached_position()
        if reached is not None and sfen == before.sfen and moves[:known] == before.moves:
            position = reached
        else:
            known = 0
            try:
                position = self._engine.set_up(sfen)
            except ValueError as error:
                raise PlayerError(f"position: {error}") from None
        start = position.ply() - known
        try:
            play_moves(position, moves, known)
        finally:
            played = moves[: position.ply() - start]
            self._game = GivenGame(sfen, played, refused=len(played) < len(moves))
            self._reached = self._options_met, position

    def _reached_position(self) -> PlayedPosition | None:
        """The position that the game has led to, if it was set up under the options of now."""
        return self._reached[1] if self._reached is not None and self._reached[0] == self._options_met else None

    def _position(self, game: GivenGame | None = None) -> PlayedPosition:
        """The position of a game, or of the present one, under the rules that the options choose now."""
        sfen, moves, _ = game = game or self._game
        if game is self._game and (reached := self._reached_position()):
            return reached.copy()
        position = self._engine.set_up(sfen)
        play_moves(position, moves)
        return position

    def _legal_moves(self) -> str:
        position = self._position()
        return " ".join(position.usi(move) for move in position.legal_moves().tolist())

    def _answer_question(self, command: str, text: str, clock: Clock) -> None:
        try:
            for line in self._questions[command](text, clock):
                self._output.say(line)
        finally:
            with self._lock:
                self._question_clocks.remove(clock)

    # Searches

    def _search(self, asked: Asked) -> None:
        """Answer a `go`, or set it aside until the player is ready."""
        if self._ready and self._loading is None:
            self._think(asked)
        elif asked.clock.stopped:
            self._answer(asked, Voice(self._output), self._any_move(asked))
        elif self._able and asked.timed and asked.clock.limits.in_time:
            self._say_what_is_put_off()  # loading could cost the game
            self._think(asked)
        else:
            self._aside.append(asked)
            self._begin_loading()

    def _say_what_is_put_off(self) -> None:
        assert self._player is not None
        try:
            if self._player.result().loading(copy(self._engine.options)):
                self._output.say(string_line("what the options want loaded is loaded at the next isready"))
        except Exception as error:
            self._blame(error)

    def _answer_what_was_stopped(self) -> None:
        stopped = [asked for asked in self._aside if asked.clock.stopped]
        for asked in stopped:
            self._aside.remove(asked)
            self._answer(asked, Voice(self._output), self._any_move(asked))

    def _think(self, asked: Asked) -> None:
        """Let the player answer. If it fails, that is said, and the answer is a legal move, or `timeout`."""
        assert self._player is not None
        player, clock, voice = self._player.result(), asked.clock, Voice(self._output)
        answer: BestMove | Checkmate | None = None
        position = None
        if not asked.game.refused:
            try:
                if not asked.timed:
                    clock.restart()
                position = self._position(asked.game)
                player.start_clock(position, clock)
                answer = player.think(position, clock, voice.report)
                clock.wait_until_released()
                if clock.hit_late:
                    # What was chosen before is what an analysis plays: at full skill, never resigning.
                    clock.count_anew()
                    answer = player.think(position, clock, voice.report)
                if clock.limits.mate and isinstance(answer, BestMove):
                    answer = Checkmate("notimplemented")
            except Exception as error:
                self._blame(error)
        self._answer(asked, voice, answer or self._any_move(asked))
        if position is not None:
            player.answered(position, clock)

    def _answer(self, asked: Asked, voice: Voice, answer: BestMove | Checkmate) -> None:
        """Say the answer as soon as it may be said."""
        clock = asked.clock
        clock.wait_until_released()
        with self._lock:
            self._clocks.remove(clock)
            # Taken off `_last_times`: a `ponderhit` that comes without times goes by those.
            if clock.limits == clock.limits.with_times_of(self._last_times):
                self._last_times = self._last_times.after(clock.spent())
        voice.answer(answer)

    def _any_move(self, asked: Asked) -> BestMove | Checkmate:
        """What is answered without thinking."""
        limits = asked.clock.limits
        if limits.mate:
            return Checkmate("timeout")
        return BestMove("resign") if asked.game.refused else any_move(self._position(asked.game), limits.searchmoves)

    def _blame(self, error: Exception) -> None:
        """Say what is wrong, and who can mend it."""
        if isinstance(error, PlayerError):
            self._complain(str(error))
        else:
            self._complain_of_defect(error)


def _depth(text: str) -> int:
    """The depth of a `perft`, at most 99. Raises PlayerError."""
    if not text.isdecimal():
        raise PlayerError("perft wants a depth")
    return min(int(text[:3]), 99)


def serve(
    engine: Engine, lines: Iterable[str], write: Callable[[str], None], *, keep_alive: float = KEEP_ALIVE
) -> None:
    """Talk USI: obey `lines`, say answers by `write`, until `quit` or the end of the lines.

    `lines` may wait for what was said before it gives the next one.
    """
    usi = Usi(engine, write, keep_alive=keep_alive)
    try:
        usi.run(lines)
    finally:
        usi.close()


def run(engine: Engine) -> None:
    """Be the engine process: USI on stdin and stdout, and everything else in the log. Does not return."""
    ArgumentParser(description=f"{engine.name}: speaks USI, for a GUI, or for whoever types `help`.").parse_args()
    process = Process()
    usi = Usi(engine, process.write, log_to=process.log_to)
    process.close = usi.close
    try:
        usi.run(process.lines())
    finally:
        process.exit()
