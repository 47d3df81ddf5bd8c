"""The USI protocol: lines in, lines out. It knows players, but no search.

Three threads. The reading thread takes each line as it comes and never waits: it answers `usi`, stops the
clocks of the searches under way or releases them at `ponderhit`, and puts everything else in a queue. The worker takes
one job after the other from the queue: set an option, set the game, think, answer. So every `go` has exactly one
answer, in order, and nothing changes the game under a search. The loader (loader.py, with a drawing of its states)
brings what the player needs, however long that takes: the worker sets a `go` that must wait for it aside, and can still
answer a `stop`.

What happens in the corners:

* `go` while a search is under way stops that one; its answer comes first.
* `position`, `setoption` and the commands for people wait until the search under way is over.
* `isready` during a search is answered at once if the player has loaded, and leaves the search alone.
* `go` before `isready` loads first; `stop` meanwhile is answered by a legal move. If the player cannot load, that is
  said and a legal move is played.
* `isready` is answered once all that the options need is loaded. If that fails it is answered by one `info string
  Error!` and no `readyok`; the next may succeed.
* A `position` that is broken or holds an illegal move is answered by one `info string Error!`. The last good one (or
  the moves before the illegal one) is kept, but as it is not the position of the GUI, `go` says what it thinks about
  until another `position` arrives.
* A player that fails while thinking costs one `info string Error!`, a traceback in the log and any legal move.
* `quit` stops what is under way and does not wait for the loader. But where nothing was loaded yet, all lines may have
  come in one pipe: then a `go` that ends by itself is thought about first.
* The end of input stops only what would never end by itself, and lets the loader come to its end.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue
from typing import Final

from pydlshogi.player.base_player import Engine, PlayerError
from pydlshogi.player.options import UnknownOption
from pydlshogi.support import __version__
from pydlshogi.usi.commands import OTHER_QUESTIONS, PLAYER_QUESTIONS, Asked, Board, Clocks, Go, PlayerQuestion
from pydlshogi.usi.loader import Loader, State
from pydlshogi.usi.notation import Output, parse_go, parse_setoption
from pydlshogi.usi.process import Process

KEEP_ALIVE: Final = 2.0
"""Seconds between the lines that show a GUI what it waits for."""
AUTHOR: Final = "the pydlshogi authors"
_PATIENCE: Final = 5.0
"""Seconds that `quit` gives to the answer of a search: GUIs wait no longer for the process to end."""

log = logging.getLogger(__package__)


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
        self._clocks = Clocks()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="worker", daemon=True)
        self._loader = Loader(engine, self._output, keep_alive, lambda: self._jobs.put(self._end_loading))

        # The worker's own.
        self._board = Board(engine.set_up)
        self._aside: list[Asked] = []
        """What waits for the player to be loaded."""
        self._readyoks_due = 0
        """How many `isready` wait for that too."""
        self._input_ended = False

        self._commands: dict[str, Callable[[str], None]] = {
            "usi": self._usi,
            "isready": self._isready,
            "setoption": lambda text: self._jobs.put(lambda: self._set_option(text)),
            "usinewgame": self._usinewgame,
            "position": lambda text: self._jobs.put(lambda: self._board.set(text)),
            "go": self._go,
            "stop": self._stop,
            "ponderhit": self._ponderhit,
            "gameover": self._stop,
            "debug": lambda _: None,
            "register": lambda _: None,
            "copyprotection": lambda _: None,
        }

    # The reading thread

    def run(self, lines: Iterable[str]) -> None:
        """Obey `lines` until `quit` or their end, and let what is due be said. Call `close` afterwards.

        `lines` may wait for what was said before it gives the next one.
        """
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
                self._output.blame(error)
        at_once = quitting and self._loader.able
        if at_once:
            self._clocks.stop()
        else:
            self._clocks.stop_endless(questions=quitting)
        self._jobs.put(self._give_up_aside)
        self._jobs.put(partial(self._end_of_input, quitting=quitting))
        if at_once:
            self._worker.join(_PATIENCE)
            return
        self._worker.join(self._keep_alive)
        while self._worker.is_alive():
            self._output.say("")  # if the GUI has died this write fails, and the process ends
            self._worker.join(self._keep_alive)

    def close(self) -> None:
        """Fall silent. May be called by any thread, in the midst of anything."""
        self._output.close()

    def _obey(self, command: str, text: str) -> None:
        """Act upon one line: at once where that takes no time, else by putting a job in the queue."""
        if command in self._commands:
            self._commands[command](text)
        elif command in PLAYER_QUESTIONS or command in OTHER_QUESTIONS:
            self._ask(command, text)
        elif command:
            self._jobs.put(lambda: self._remark(f"unknown command {command}"))

    def _usi(self, _text: str) -> None:
        engine = self._engine
        self._output.say(f"id name {engine.name} {__version__}")
        self._output.say(f"id author {AUTHOR}")
        for line in engine.options.declarations():
            self._output.say(line)
        self._output.say("usiok")
        self._loader.preload()

    def _isready(self, _text: str) -> None:
        """Answer at once during a search; else let the worker get ready."""
        if self._loader.able and self._clocks.searching:
            self._output.say("readyok")
        else:
            self._jobs.put(self._get_ready)

    def _go(self, text: str) -> None:
        self._stop()
        clock = self._clocks.of_search(parse_go(text))
        self._jobs.put(lambda: self._when_ready(Go(clock, self._board, self._clocks, self._output)))

    def _ask(self, command: str, text: str) -> None:
        """Put a question of people in the queue; one for the player has a clock by which `stop` can end it."""
        if command in PLAYER_QUESTIONS:
            clock = self._clocks.of_question()
            arguments = command, text, clock, self._board, self._clocks, self._output
            self._jobs.put(lambda: self._when_ready(PlayerQuestion(*arguments)))
        else:
            self._jobs.put(lambda: self._answer_question(command, text))

    def _stop(self, _text: str = "") -> None:
        self._clocks.stop()
        self._jobs.put(self._give_up_aside)

    def _ponderhit(self, text: str) -> None:
        self._clocks.hit(parse_go(text))
        self._jobs.put(self._give_up_aside)

    def _usinewgame(self, _text: str) -> None:
        self._clocks.new_game()
        self._jobs.put(self._new_game)

    # The worker

    def _work(self) -> None:
        """One job after the other, until the input has ended and nothing is due any more."""
        while not (self._input_ended and not self._aside and not self._readyoks_due):
            job = self._jobs.get()
            try:
                job()
            except Exception as error:
                self._output.blame(error)

    def _end_of_input(self, *, quitting: bool) -> None:
        self._input_ended = True
        if quitting and not self._aside:
            self._readyoks_due = 0

    def _remark(self, text: str) -> None:
        """Say what helps only to find a fault."""
        if self._engine.options.debug_message:
            self._output.remark(text)

    def _new_game(self) -> None:
        if self._loader.player is not None:
            self._loader.player.new_game()

    def _set_option(self, text: str) -> None:
        name, value = parse_setoption(text)
        options = self._engine.options
        log_file = options.log_file
        try:
            if remark := options.set(name, value):
                self._output.remark(remark)
        except UnknownOption:
            # GUIs send options of the protocol unasked.
            if name and not name.upper().startswith("USI_"):
                self._output.remark(f"unknown option {name}")
            return
        self._loader.option_was_set()
        self._board.option_was_set()
        log.setLevel(logging.DEBUG if options.debug_message else logging.INFO)
        if options.log_file != log_file:
            try:
                self._log_to(options.log_file)
            except OSError as error:
                raise PlayerError(f"Log_File: {error.strerror or error}") from None

    def _answer_question(self, command: str, text: str) -> None:
        for line in OTHER_QUESTIONS[command](self._engine.options, self._board.position, text):
            self._output.say(line)

    # What needs the player

    def _get_ready(self) -> None:
        self._readyoks_due += 1
        self._loader.load()

    def _end_loading(self) -> None:
        """Answer those who waited for the loader."""
        due = self._readyoks_due
        try:
            self._loader.finish()
        except Exception as error:
            self._output.blame(error)
            self._readyoks_due = 0
            self._give_up_aside()
        if self._loader.state is State.READY:
            self._readyoks_due = 0
            for _ in range(due):
                self._output.say("readyok")
            aside, self._aside = self._aside, []
            for asked in aside:
                asked.clock.restart()
                self._begin(asked)

    def _when_ready(self, asked: Asked) -> None:
        """Begin what was asked for, or set it aside until the player is ready."""
        on_the_clock = self._loader.able and not self._readyoks_due and asked.clock.limits.in_time
        if self._loader.state is State.READY:
            self._begin(asked)
        elif on_the_clock:  # loading could lose the game
            self._say_what_is_put_off()
            self._begin(asked)
        else:
            self._aside.append(asked)
            self._loader.load()

    def _begin(self, asked: Asked) -> None:
        assert self._loader.player is not None
        try:
            asked.begin(self._loader.player)
        except Exception as error:
            self._output.blame(error)

    def _say_what_is_put_off(self) -> None:
        try:
            if self._loader.something_is_missing():
                self._output.remark("what the new options need is loaded at the next isready")
        except Exception as error:
            self._output.blame(error)

    def _give_up_aside(self) -> None:
        """Answer what waits for the player and was stopped, or waits in vain and may be answered."""
        in_vain = self._loader.state is State.UNREADY
        for asked in [*self._aside]:
            if (isinstance(asked, Go) and asked.clock.stopped) or (in_vain and asked.clock.wait_until_released(0)):
                self._aside.remove(asked)
                asked.give_up()


def run(engine: Engine) -> None:
    """Be the engine process: USI on stdin and stdout, and everything else in the log. Does not return."""
    process = Process()
    usi = Usi(engine, process.write, log_to=process.log_to)
    process.close = usi.close
    try:
        usi.run(process.lines())
    finally:
        process.exit()
