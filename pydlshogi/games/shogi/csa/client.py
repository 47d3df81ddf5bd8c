"""Games on a server, one after the other: log in, agree, play, keep the record, and begin again.

A connection that breaks is made anew, after a pause that grows. A game that was under way counts as it stood; a server
that lets it go on sends its moves, and it is the same game.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from pydlshogi.games.shogi.csa.connection import Connection, Disconnected, Thinker
from pydlshogi.games.shogi.csa.game import ServerGame, Terms, TermsError, parse_terms
from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.game import Game
from pydlshogi.games.shogi.read_kifu import KifuError, read
from pydlshogi.player.base_player import Engine
from pydlshogi.support import OneLineError
from pydlshogi.support.files import write_whole

_BROKEN_OFF: Final = "broken off"
"""The result of a game whose end is not known."""
_LONGEST_SUMMARY: Final = 10_000
"""Lines."""


class Patience(NamedTuple):
    """Seconds."""

    keep_alive: float = 40.0
    """Of silence, before an empty line is sent; the protocol allows one every 30."""
    answer: float = 60.0
    """For what a server can answer at once."""
    agreement: float = 180.0
    """For START: the opponent has 120 to agree."""
    slack: float = 120.0
    """For a server that checks the clocks once a minute."""
    pause: float = 10.0
    """Before the first new try; each doubles it."""
    longest_pause: float = 300.0


PATIENCE: Final = Patience()


@dataclass(frozen=True)
class Login:
    """Where to play, and as whom."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)


class Client:
    """One player on one server."""

    def __init__(
        self,
        login: Login,
        engine: Engine,
        thinker: Thinker,
        records: Path,
        say: Callable[[str], None],
        *,
        comments: bool = False,
        patience: Patience = PATIENCE,
    ) -> None:
        """`records`: a folder. `say` tells the user a line. `comments`: as floodgate shows them."""
        self._login, self._engine, self._thinker = login, engine, thinker
        self._records, self._say, self._comments, self._patience = records, say, comments, patience
        self._pause = patience.pause
        self._draw_ply = engine.options.get("Draw_Ply")
        self._logged_in = False
        self.results: dict[Path, str] = {}
        """Of the games, by their records. One that went on after a break is one."""

    def play(self, games: int | None = None) -> None:
        """Play `games` games to their end, None: for ever. Raises OneLineError where the first login fails."""
        login = self._login
        while games is None or sum(result != _BROKEN_OFF for result in self.results.values()) < games:
            try:
                with Connection(login.host, login.port, self._patience.keep_alive) as connection:
                    self._log_in(connection)
                    self._play_one(connection)
                    with suppress(Disconnected):  # some servers have closed it by now
                        connection.send("LOGOUT")
            except Disconnected as error:
                if not self._logged_in:
                    raise OneLineError(str(error)) from None
                self._say(f"{error}; the next try in {self._pause:.0f} s")
                time.sleep(self._pause)
                self._pause = min(2 * self._pause, self._patience.longest_pause)

    def _log_in(self, connection: Connection) -> None:
        login = self._login
        connection.send(f"LOGIN {login.user} {login.password}", f"LOGIN {login.user} ...")
        until = time.monotonic() + self._patience.answer
        while not (line := connection.line(until)).startswith("LOGIN:"):
            pass
        if not line.endswith(" OK"):
            # Later it may be that the server has not noticed yet that a connection broke.
            raise Disconnected(f"the server refuses the login of {login.user}")
        if not self._logged_in:
            self._say(f"logged in as {login.user}")
        self._logged_in = True

    def _play_one(self, connection: Connection) -> None:
        terms = self._agree(connection)
        self._pause = self._patience.pause
        self._engine.options.set("Draw_Ply", str(terms.max_moves or self._draw_ply))
        self._thinker.new_game()
        path = self._path(terms)
        game = ServerGame(
            terms,
            self._engine,
            self._thinker,
            connection,
            say=self._say,
            save=partial(self._save, path),
            comments=self._comments,
            slack=self._patience.slack,
        )
        ended: Game | None = None
        try:
            self._save(path, game.record(), [])
            ended = game.play()
        finally:  # whatever has broken it off: the server, or Ctrl-C
            ended = ended or game.record()
            self._save(path, ended, game.lines)
            self.results[path] = _result(ended, terms.own)
            self._say(f"{self.results[path]} ({ended.ending}) after {len(ended.moves)} moves: {path}")
            counts = Counter(self.results.values()).items()
            self._say(f"{len(self.results)} games: {', '.join(f'{number} {result}' for result, number in counts)}")

    def _agree(self, connection: Connection) -> Terms:
        """Wait for a game that can be played, and for its START."""
        while True:
            while connection.line() != "BEGIN Game_Summary":
                pass
            until, lines = time.monotonic() + self._patience.answer, list[str]()
            while (line := connection.line(until)) != "END Game_Summary":
                lines.append(line)
                if len(lines) > _LONGEST_SUMMARY:
                    raise Disconnected("the server sends a Game_Summary without end")
            game_id = next((line.partition(":")[2] for line in lines if line.startswith("Game_ID:")), "")
            try:
                terms = parse_terms(lines)
            except TermsError as error:
                self._say(f"rejected {game_id}: {error}")
                connection.send(f"REJECT {game_id}")
                continue
            connection.send(f"AGREE {game_id}")
            until = time.monotonic() + self._patience.agreement
            while not (line := connection.line(until)).startswith(("START:", "REJECT:")):
                pass
            if line.startswith("START:"):
                self._say(f"began {game_id}: {' - '.join(terms.names)}")
                return terms
            self._say(f"the opponent rejects {game_id}")

    def _path(self, terms: Terms) -> Path:
        """The record of this game, or of the same one before a break. No other game is written over."""
        name = re.sub(r"[^\w.+@-]", "_", terms.game_id, flags=re.ASCII)[:200] or "game"
        number = 1
        while True:
            path = self._records / f"{name}{f'-{number}' if number > 1 else ''}.csa"
            if not path.exists() or _goes_on(path, terms.start):
                return path
            number += 1

    def _save(self, path: Path, game: Game, lines: Sequence[Sequence[str]]) -> None:
        """A full disk must not cost the game."""
        try:
            write_whole(path, to_csa(game, lines).encode())
        except OSError as error:
            self._say(f"not saved: {path}: {error.strerror}")


def _goes_on(path: Path, start: Game) -> bool:
    """Whether the record is of the same game, before a break."""
    try:
        (before,) = read(path)
    except (KifuError, ValueError):
        return False
    return before.ending == "abnormal" and before.moves == start.moves[: len(before.moves)]


def _result(game: Game, own: int) -> str:
    if game.win is None:
        return _BROKEN_OFF if game.ending == "abnormal" else game.ending
    return "drawn" if game.win == "d" else "won" if game.win == "bw"[own] else "lost"
