"""The loader brings the player and what it needs under the present options, however long that takes.

                      load                       setoption
        UNREADY ────────────────▶ LOADING ─────────────────────▶ STALE
          ▲ ▲                      │ │ ▲ ▲                         │
setoption │ └────── it fails ──────┘ │ │ └──── it ends: once more ─┘
          │                          │ │
          └────── READY ◀─── done ───┘ │
                    └────── load ──────┘
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from copy import copy
from enum import Enum, auto

from pydlshogi.player.base_player import BasePlayer, Engine, Loaded, loading_now, loading_step
from pydlshogi.player.options import EngineOptions
from pydlshogi.usi.notation import Output, string_line


class State(Enum):
    """Of the player."""

    UNREADY = auto()
    """It is not loaded, or an option was set since."""
    LOADING = auto()
    STALE = auto()
    """An option was set while it loads."""
    READY = auto()


class Loader:
    """All but `player`, `able` and `close` is for one thread, the worker."""

    def __init__(self, engine: Engine, output: Output, keep_alive: float, ended: Callable[[], None]) -> None:
        """`keep_alive`: seconds between the lines that show a GUI why it waits. `ended` is called by another thread
        when `finish` has something to take over."""
        self._engine = engine
        self._output = output
        self._keep_alive = keep_alive
        self._ended = ended
        self._thread = ThreadPoolExecutor(1, "loader")
        self._loading: Future[Loaded | None]
        self.state = State.UNREADY
        self.player: BasePlayer | None = None
        """It may not be able to think yet."""
        self.able = False
        """The player has loaded once, be it under other options."""

    def preload(self) -> None:
        """Begin to import the player, which needs no options."""
        self._thread.submit(self._import)

    def option_was_set(self) -> None:
        """The options may now need something else than what is loaded, or being loaded."""
        self.state = State.UNREADY if self.state in (State.UNREADY, State.READY) else State.STALE

    def load(self) -> None:
        """Bring what the present options need, unless that is under way. `finish` must follow."""
        if self.state in (State.LOADING, State.STALE):
            return
        self.state = State.LOADING
        self._loading = self._thread.submit(self._load, copy(self._engine.options))
        self._loading.add_done_callback(lambda _: self._ended())
        threading.Thread(
            target=self._say_what_takes_long, args=(self._loading,), name="keep-alive", daemon=True
        ).start()

    def finish(self) -> None:
        """Give the player what was loaded: it is READY, or LOADING once more where it was STALE.

        Raises what loading raised; then it is UNREADY.
        """
        stale, self.state = self.state is State.STALE, State.UNREADY
        try:
            if (loaded := self._loading.result()) is not None:
                assert self.player is not None
                self.player.install(loaded)
                for remark in loaded.remarks:
                    self._output.remark(remark)
            self.able = True
        except Exception:
            if not stale:  # else the error is one of earlier options, and may be repaired
                raise
        if stale:
            self.load()
        else:
            self.state = State.READY

    def something_is_missing(self) -> bool:
        """Whether the loaded player would load something for the present options. Raises what `loading` raises."""
        assert self.player is not None
        return self.player.loading(copy(self._engine.options)) is not None

    # Its own thread

    def _import(self) -> BasePlayer:
        if self.player is None:
            with loading_step("importing the engine"):
                self.player = self._engine.load()
        return self.player

    def _load(self, options: EngineOptions) -> Loaded | None:
        """What the player is missing for these options; None: nothing."""
        load = self._import().loading(options)
        return load() if load else None

    def _say_what_takes_long(self, loading: Future[Loaded | None]) -> None:
        """Show the GUI that the engine is still there."""
        said = ""
        while wait([loading], self._keep_alive).not_done:
            now = loading_now()
            self._output.say(string_line(now) if now != said and now else "")
            said = now
