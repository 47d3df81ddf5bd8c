"""The USI protocol: lines in, lines out. It knows players, but no search.

Two threads. The reading thread takes each line as it comes and never waits: it answers `usi`, tells the clocks of the
searches under way to stop or that the expected move was played, and puts everything else in a queue. The worker thread
alone touches the player, one thing after the other: load, set an option, set the game, think, answer. So every `go`
has exactly one answer, in order, and nothing changes the game under a search.

What happens in the corners:

* `go` while a search is under way stops that one; its answer comes first.
* `position`, `setoption` and the commands for people wait until the search under way is over.
* `isready` during a search is answered at once if the player has loaded, and leaves the search alone.
* `go` before `isready` loads first. If the player cannot load, that is said and a legal move is played.
* `isready` that cannot be fulfilled is answered by one `info string Error!` and no `readyok`; the next may succeed.
* A `position` that is broken or holds an illegal move is answered by one `info string Error!`. The last good one (or
  the moves before the illegal one) is kept, but as it is not the position of the GUI, `go` resigns until another
  `position` arrives.
* A player that fails while thinking costs one `info string Error!`, a traceback in the log and any legal move.
* The end of input means `quit`. After `quit` nothing is said.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Final

from pydlshogi import __version__
from pydlshogi.player.base_player import BasePlayer, BestMove, Checkmate, Info, PlayerError
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import UnknownOption
from pydlshogi.usi.notation import answer_line, info_line, parse_go, parse_position, parse_setoption, string_line
from pydlshogi.usi.process import Process, Terminated

KEEP_ALIVE: Final = 5.0
"""Seconds between the blank lines that tell a GUI the engine is still loading."""

log = logging.getLogger(__name__)

_HELP: Final = """\
usi, isready, usinewgame, setoption name N value V, quit: as every GUI sends them
position startpos [moves 7g7f ...], position sfen ...
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


class Usi:
    """One conversation with one GUI."""

    def __init__(
        self,
        player: BasePlayer,
        write: Callable[[str], None],
        *,
        keep_alive: float = KEEP_ALIVE,
        log_to: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`write` says a line. `log_to` moves the log to a file; it may raise OSError."""
        self._player = player
        self._output = Output(write)
        self._keep_alive = keep_alive
        self._log_to = log_to
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="search", daemon=True)

        # Shared by the two threads, under the lock.
        self._lock = threading.Lock()
        self._searches: list[Clock] = []
        """The clocks of the searches asked for and not yet answered."""
        self._questions_open: list[Clock] = []
        """The clocks of the questions asked by people and not yet answered: `stop` ends those too."""
        self._loaded = False
        """Whether the player has got ready, and is not doing so again."""
        self._awaiting_ready: dict[threading.Event, int] = {}
        """One for each `isready` that is not yet answered, set when it is or when it fails; and how many `setoption`s
        came before it."""
        self._last_times = Limits()
        """What is left on the clocks, as far as known, for a `ponderhit` that does not say."""

        # The reading thread's own.
        self._preload_asked = False
        self._options_asked = 0
        """How many `setoption`s have come."""

        # The worker's own.
        self._changed = False
        """Whether an option was set since the player got ready."""
        self._options_met = 0
        """How many `setoption`s have been obeyed or refused."""
        self._position_refused = False
        """Whether the last `position` was broken, so that the game known is not that of the GUI."""

        self._commands: dict[str, Callable[[str], None]] = {
            "usi": self._usi,
            "isready": self._isready,
            "setoption": self._setoption,
            "usinewgame": self._usinewgame,
            "position": lambda text: self._jobs.put(lambda: self._set_position(text)),
            "go": self._go,
            "stop": lambda _: self._stop(),
            "ponderhit": self._ponderhit,
            "gameover": self._gameover,
            "debug": lambda _: None,
            "register": lambda _: None,
            "copyprotection": lambda _: None,
        }
        # For people at a terminal.
        self._questions: dict[str, Callable[[str, Clock], Iterable[str]]] = {
            "d": lambda _text, _clock: player.describe(),
            "sfen": lambda _text, _clock: [player.game.board.sfen()],
            "key": lambda _text, _clock: [f"{player.game.board.zobrist_hash():016x}"],
            "moves": lambda _text, _clock: [" ".join(player.legal_moves())],
            "eval": lambda _text, _clock: player.evaluate(),
            "perft": lambda text, clock: player.perft(_depth(text), clock),
            "bench": lambda text, clock: player.bench(text.split(), clock),
            "getoption": lambda text, _clock: self._get_option(text),
            "help": lambda _text, _clock: [*_HELP.splitlines(), "", *player.options.help_lines()],
            "license": lambda _text, _clock: _LICENSE.splitlines(),
        }

    # The reading thread

    def run(self, lines: Iterable[str]) -> None:
        """Obey `lines` until `quit` or their end. Call `close` afterwards."""
        self._worker.start()
        for line in lines:
            log.debug("> %s", line)
            command, text = [*line.split(maxsplit=1), "", ""][:2]
            if command == "quit":
                return
            try:
                self._obey(command, text.strip())
            except Exception as error:
                self._complain_of_defect(error)

    def silence(self) -> None:
        """Say nothing from now on."""
        self._output.close()

    def close(self, patience: float) -> None:
        """Fall silent, stop everything and wait up to `patience` seconds for the worker to notice."""
        self.silence()
        self._stop()
        with self._lock:
            for done in self._awaiting_ready:
                done.set()
        self._jobs.put(None)
        self._worker.join(patience)
        self._player.close()

    def _obey(self, command: str, text: str) -> None:
        """Act upon one line: at once where that takes no time, else by putting a job in the queue."""
        if command in self._commands:
            self._commands[command](text)
        elif command in self._questions:
            self._ask(command, text)
        elif command:
            self._jobs.put(lambda: self._remark(f"unknown command {command}"))

    def _usi(self, _text: str) -> None:
        player = self._player
        self._output.say(f"id name {player.name} {__version__}")
        self._output.say(f"id author {player.author}")
        for line in player.options.declarations():
            self._output.say(line)
        self._output.say("usiok")
        if not self._preload_asked:
            self._preload_asked = True
            self._jobs.put(self._preload)

    def _isready(self, _text: str) -> None:
        """Answer at once during a search; else let the worker get ready, with blank lines said until it is."""
        with self._lock:
            answer_now = self._loaded and any(not clock.stopped for clock in self._searches)
            if not answer_now:
                done = threading.Event()
                self._awaiting_ready[done] = self._options_asked
        if answer_now:
            self._output.say("readyok")
            return
        threading.Thread(target=self._say_blank_lines_until, args=(done,), name="keep-alive", daemon=True).start()
        self._jobs.put(lambda: self._get_ready(done))

    def _setoption(self, text: str) -> None:
        self._options_asked += 1
        self._jobs.put(lambda: self._set_option(text))

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
        with self._lock:
            for clock in self._searches:
                clock.stop()
            if limits.timed:
                self._last_times = limits
            elif limits.ponder:
                limits = limits.with_times_of(self._last_times)
            clock = Clock(limits)
            self._searches.append(clock)
            ready = self._loaded and not self._awaiting_ready
        self._jobs.put(lambda: self._search(clock, ready))

    def _ask(self, command: str, text: str) -> None:
        """Put a question of people in the queue, with a clock by which `stop` can end it."""
        clock = Clock()
        with self._lock:
            self._questions_open.append(clock)
        self._jobs.put(lambda: self._answer_question(command, text, clock))

    def _stop(self) -> None:
        with self._lock:
            for clock in self._searches + self._questions_open:
                clock.stop()

    def _ponderhit(self, text: str) -> None:
        times = parse_go(text)
        with self._lock:
            if times.timed:
                self._last_times = times
            for clock in self._searches:
                clock.hit(times)

    def _usinewgame(self, _text: str) -> None:
        with self._lock:
            self._last_times = Limits()
        self._jobs.put(self._player.new_game)

    def _gameover(self, text: str) -> None:
        self._stop()
        self._jobs.put(lambda: self._player.game_over(text))

    # The worker thread

    def _work(self) -> None:
        """The worker thread: one job after the other, until None comes."""
        while job := self._jobs.get():
            try:
                job()
            except PlayerError as error:
                self._complain(str(error))
            except Exception as error:
                self._recover_from(error)

    def _preload(self) -> None:
        try:
            self._player.preload()
        except Exception:
            # Getting ready will meet the same trouble, when there is somebody to tell.
            log.exception("preload")

    def _remark(self, text: str) -> None:
        """Say what only somebody who looks for a fault wants to read."""
        if self._player.options.debug_message:
            self._output.say(string_line(text))

    def _complain(self, text: str) -> None:
        """Say what the user should mend."""
        self._output.say(string_line(f"Error! {text}"))

    def _complain_of_defect(self, error: Exception) -> None:
        """Say that the engine itself is at fault; the traceback goes to the log."""
        log.exception("a defect, please report it")
        self._complain(f"{type(error).__name__}: {error} (the log says more)")

    def _recover_from(self, error: Exception) -> None:
        """Say so, and let the player set its game anew: only the worker thread may, which is the one that moves it."""
        self._complain_of_defect(error)
        try:
            self._player.recover()
        except Exception:
            log.exception("the player does not recover")

    def _load(self) -> None:
        """Let the player get ready under the present options, and tell those who wait. Raises what `prepare` raises.

        Not told is who waits for options that are still in the queue.
        """
        with self._lock:
            self._loaded = False
        for remark in self._player.prepare():
            self._output.say(string_line(remark))
        self._changed = False
        with self._lock:
            self._loaded = True
            told = [done for done, asked in self._awaiting_ready.items() if asked <= self._options_met]
            for done in told:
                del self._awaiting_ready[done]
        for done in told:
            done.set()
            self._output.say("readyok")

    def _get_ready(self, done: threading.Event) -> None:
        """Fulfil the `isready` that waits for `done`, unless a loading in between has."""
        if done.is_set():
            return
        try:
            self._load()
        finally:
            # Still there if loading failed: then there is no `readyok`, and the GUI has to ask again.
            with self._lock:
                self._awaiting_ready.pop(done, None)
            done.set()

    def _set_option(self, text: str) -> None:
        self._options_met += 1
        name, value = parse_setoption(text)
        options = self._player.options
        log_file = options.log_file
        try:
            if remark := options.set(name, value):
                self._output.say(string_line(remark))
        except UnknownOption:
            self._remark(f"unknown option {name}")
            return
        self._changed = True
        log.setLevel(logging.DEBUG if options.debug_message else logging.INFO)
        if options.log_file != log_file:
            try:
                self._log_to(options.log_file)
            except OSError as error:
                self._complain(f"Log_File: {error.strerror or error}")

    def _get_option(self, text: str) -> Iterator[str]:
        options = self._player.options
        names = [text] if text else [option.usi_name for option in options.declared()]
        for name in names:
            try:
                yield f"{options.find(name).usi_name} {options.get(name)}"
            except UnknownOption:
                raise PlayerError(f"there is no option {name}") from None

    def _set_position(self, text: str) -> None:
        sfen, moves = parse_position(text)
        self._position_refused = True  # until the player has taken it: it may raise PlayerError
        self._player.position(sfen, moves)
        self._position_refused = False

    def _answer_question(self, command: str, text: str, clock: Clock) -> None:
        try:
            for line in self._questions[command](text, clock):
                self._output.say(line)
        finally:
            with self._lock:
                self._questions_open.remove(clock)

    def _search(self, clock: Clock, ready: bool) -> None:
        """Answer one `go`. `ready`: the player had loaded when it came, so that its time has run since then."""
        voice = Voice(self._output)
        try:
            answer = self._think(clock, voice, ready)
            clock.wait_until_released()
            self._note_time_spent(clock)
            voice.answer(answer)
            self._player.answered(clock)
        finally:
            with self._lock:
                self._searches.remove(clock)

    def _note_time_spent(self, clock: Clock) -> None:
        """Take what this move took off `_last_times`: a `ponderhit` that comes without times goes by those."""
        with self._lock:
            if clock.limits == clock.limits.with_times_of(self._last_times):
                self._last_times = self._last_times.after(clock.spent())

    def _think(self, clock: Clock, voice: Voice, ready: bool) -> BestMove | Checkmate:
        """The player's answer to `go`. If it fails, that is said, and the answer is a legal move, or `timeout`."""
        mate = clock.limits.mate
        try:
            if self._position_refused:
                return Checkmate("timeout") if mate else BestMove("resign")
            if self._changed or not self._loaded:
                self._load()
            if not ready:
                clock.restart()
            self._player.start_clock(clock.limits, clock)
            answer = self._player.think(clock.limits, clock, voice.report)
        except PlayerError as error:
            self._complain(str(error))
        except Exception as error:
            self._recover_from(error)
        else:
            if isinstance(answer, Checkmate if mate else BestMove):
                return answer
            if mate:
                return Checkmate("notimplemented")
            self._complain(f"{answer} is no answer to go")
        return Checkmate("timeout") if mate else self._any_move()

    def _any_move(self) -> BestMove:
        try:
            return self._player.any_move()
        except Exception:
            log.exception("not even a legal move was found")
            return BestMove("resign")


def _depth(text: str) -> int:
    """The depth of a `perft`, at most 99. Raises PlayerError."""
    if not text.isdecimal():
        raise PlayerError("perft wants a depth")
    return min(int(text[:3]), 99)


def serve(
    player: BasePlayer, lines: Iterable[str], write: Callable[[str], None], *, keep_alive: float = KEEP_ALIVE
) -> None:
    """Talk USI: obey `lines`, say answers by `write`, until `quit` or the end of the lines.

    `lines` may wait for what was said before it gives the next one. Returns with the worker thread ended, unless it
    is in the midst of something that cannot be stopped within two seconds.
    """
    usi = Usi(player, write, keep_alive=keep_alive)
    try:
        usi.run(lines)
    finally:
        usi.close(patience=2.0)


def run(player_class: Callable[[], BasePlayer]) -> None:
    """Be the engine process: USI on stdin and stdout, and everything else in the log. Does not return."""
    process = Process()
    player = player_class()
    usi = Usi(player, process.write, log_to=process.log_to)

    def close() -> None:
        # No lock is taken on this way out: a signal may have come while one was held.
        usi.silence()
        player.close()

    process.close = close
    try:
        usi.run(process.lines())
    except (KeyboardInterrupt, Terminated):
        pass
    finally:
        process.exit()
