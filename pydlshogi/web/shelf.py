"""Where games lie: the one on the board, the others of its file, and earlier ones; all of them on the disk, as JSON."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pydlshogi.catalogue import GAMES
from pydlshogi.entry import Opened
from pydlshogi.game import GameEnd
from pydlshogi.player.base_player import PlayerError
from pydlshogi.support.files import read_plain, write_whole
from pydlshogi.web.played import LeftLine, SetUp, TableGame, TimeControl
from pydlshogi.web.review import Review
from pydlshogi.web.tree import Node

MOST_EARLIER: Final = 10
"""Games that can be taken up again."""
LARGEST: Final = 1 << 28
"""Bytes of the file of games."""

Kept: TypeAlias = Mapping[str, Any]
"""A game as JSON has it."""
_OF_NODE: Final = {
    "seconds": None,
    "evaluation": None,
    "comment": "",
    "ended": None,
    "broken_off": "unknown",
    "discs": None,
    "spent": 0.0,
    "tried": False,
}
"""What is kept of a position, and what need not be."""

log = logging.getLogger(__name__)


@dataclass(eq=False)
class OpenedFile:
    """A file whose games can be chosen."""

    games: Opened
    chosen: int = 0
    looked_at: dict[int, "Sheet"] = field(default_factory=dict)
    """Those of its games in which something was tried or found out."""


class Sheet(NamedTuple):
    """A game, what the engines have said of it, and the file that it comes from."""

    game: TableGame
    review: Review
    file: OpenedFile | None = None

    @property
    def begun(self) -> bool:
        """Whether more is here than a start that the game offers."""
        return len(self.game.nodes) > 1 or self.game.start not in GAMES[self.game.game].starts.values()

    @property
    def changed(self) -> bool:
        """Whether something would be lost that is not in its file."""
        return self.begun if self.file is None else len(self.game.nodes) > self.game.from_file or self.review.found

    def others(self) -> list["Sheet"]:
        """The other games of its file in which something was tried or found out."""
        file = self.file
        return [sheet for number, sheet in file.looked_at.items() if number != file.chosen] if file else []


class _Earlier(NamedTuple):
    """A game that another one has replaced; without a sheet it was on the disk, and is read when it is taken up."""

    kept: list[Kept]
    """With the other games of its file, itself last."""
    sheet: Sheet | None = None


class Shelf:
    """The games of one table."""

    def __init__(self, set_up: SetUp, review: Callable[[TableGame], Review], path: Path | None) -> None:
        """`review` makes one for a game. `path`: where games are kept; what it holds is damaged in no way that ends the
        program: the log says so, and the file is put aside."""
        self._set_up = set_up
        self._review = review
        self._path = path
        self._earlier: list[_Earlier] = []
        """The one that was replaced last stands last."""
        self.shown = self._remembered() or self._sheet(self._first())

    @property
    def earlier(self) -> int:
        """How many games can be taken up again."""
        return len(self._earlier)

    def show(self, game: TableGame) -> None:
        """A new game, in place of the one before."""
        self._put_away(self.shown.begun)
        self.shown = self._sheet(game)

    def open(self, games: Opened) -> None:
        """The first game of a file, which can be opened again where nothing was tried or found out in it. Raises
        ValueError or PlayerError."""
        sheet = self._read(OpenedFile(games), 0)
        self._put_away(self.shown.changed)
        self.shown = sheet

    def choose(self, number: int) -> None:
        """Another game of the file, from 0. Raises ValueError or PlayerError."""
        file, shown = self.shown.file, self.shown
        if file is None or not 0 <= number < len(file.games):
            raise ValueError("the file that was opened has no such game")
        if shown.changed:
            file.looked_at[file.chosen] = shown
        sheet = file.looked_at.get(number) or self._read(file, number)
        if sheet.game.left:
            sheet.game.come_back()
        sheet.game.go_to(0)
        file.chosen = number
        self.shown = sheet

    def take_earlier(self) -> None:
        """The game that was replaced last. The one shown is met after all others then. Raises ValueError or
        PlayerError where there can be no such game any more, which is not met again."""
        if not self._earlier:
            raise ValueError("there is no earlier game")
        wanted = self._earlier.pop()
        sheet = wanted.sheet or self._taken_up(wanted.kept[-1])
        if self.shown.begun:
            self._earlier.insert(0, _earlier(self.shown))
        self.shown = sheet

    def keep(self) -> None:
        """Write all games to the disk. Raises OSError."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        earlier = [game for each in self._earlier for game in each.kept]
        *others, shown = _earlier(self.shown).kept
        write_whole(self._path, json.dumps({"shown": shown, "earlier": [*earlier, *others]}).encode())

    def _first(self) -> TableGame:
        game = TableGame(next(iter(GAMES)), None, self._set_up)
        game.take_sides(["", "easy"])
        return game

    def _sheet(self, game: TableGame, file: OpenedFile | None = None) -> Sheet:
        return Sheet(game, self._review(game), file)

    def _read(self, file: OpenedFile, number: int) -> Sheet:
        game = TableGame.of(file.games[number](), self._set_up)
        game.from_file = len(game.nodes)
        return self._sheet(game, file)

    def _put_away(self, worth_it: bool) -> None:
        """The game shown can be taken up again."""
        if worth_it or self.shown.others():
            self._earlier.append(_earlier(self.shown))
            del self._earlier[:-MOST_EARLIER]

    def _taken_up(self, kept: Kept) -> Sheet:
        """A game that was kept. Raises ValueError or PlayerError where there can be none."""
        try:
            sheet = self._sheet(_game_of(kept, self._set_up))
            if review := kept.get("review"):
                sheet.review.take(review)
        except (AttributeError, LookupError, TypeError) as error:  # of another version
            raise ValueError(f"a kept game has another form: {error!r}") from error
        return sheet

    def _remembered(self) -> Sheet | None:
        """The game that was shown, if it was kept and there can be one still; earlier ones are taken along."""
        if self._path is None:
            return None
        try:
            line, *_ = read_plain(self._path, LARGEST).split(b"\n", 1)  # versions before wrote a second one
            content = json.loads(line)
            self._earlier += [_Earlier([each]) for each in content["earlier"]]
            return self._taken_up(content["shown"])
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, LookupError, TypeError, RecursionError, PlayerError) as error:
            self._put_file_aside(str(error) or repr(error))
            return None

    def _put_file_aside(self, damage: str) -> None:
        assert self._path is not None
        try:
            aside = self._path.rename(f"{self._path}.{time.strftime('%Y%m%d-%H%M%S')}")
        except OSError as error:
            log.warning("no game will be kept: %s is damaged and cannot be put aside: %s", self._path, error)
            self._path = None
        else:
            log.warning("%s, as it is named now, holds games that cannot be gone on with: %s", aside, damage)


def _earlier(sheet: Sheet) -> _Earlier:
    return _Earlier([{**_kept(each.game), "review": each.review.kept()} for each in (*sheet.others(), sheet)], sheet)


def _kept(game: TableGame) -> Kept:
    """The game with all its variations. Positions are numbered as they were added; each but the first has a parent."""
    numbers = {node: number for number, node in enumerate(game.nodes)}
    positions = [
        {
            "parent": None if node.parent is None else numbers[node.parent],
            "move": node.move,
            **{name: said for name, usual in _OF_NODE.items() if (said := getattr(node, name)) != usual},
        }
        for node in game.nodes
    ]
    return {
        "game": game.game,
        "start": game.start,
        "sides": [*game.sides],
        "names": [*game.names],
        "clock": game.clock,
        "event": game.event,
        "date": game.date,
        "place": game.place,
        "headers": game.headers,
        "utf8": game.utf8,
        "fromFile": game.from_file,
        "positions": positions,
        "tip": numbers[game.tip],
        "at": game.at,
        "left": game.left and [numbers[game.left.line[-1]], game.left.at],
    }


def _game_of(kept: Kept, set_up: SetUp) -> TableGame:
    """The game that was kept. Raises ValueError or PlayerError where it is not offered any more, or has other rules."""
    game = TableGame(kept["game"], kept.get("start"), set_up)
    game.take_sides(kept["sides"])
    game.names = kept["names"]
    game.event, game.date, game.place = kept["event"], kept["date"], kept["place"]
    game.headers, game.utf8 = kept.get("headers", ()), kept.get("utf8", False)
    if kept["clock"]:
        game.clock = TimeControl(*kept["clock"])
    first, *others = kept["positions"]
    _describe(game.tip, first)
    for position in others:
        parent = game.nodes[position["parent"]]
        if parent is not game.shown:
            game.show(parent.path())
        game.add(position["move"])
        game.judge_tip()
        _describe(game.tip, position)
    game.from_file = kept["fromFile"]
    if kept["left"]:
        tip, at = kept["left"]
        game.left = LeftLine(game.nodes[tip].path(), at)
    game.show(game.nodes[kept["tip"]].path(), kept["at"])
    return game


def _describe(node: Node, position: Kept) -> None:
    for name in _OF_NODE.keys() & position.keys():
        setattr(node, name, GameEnd(*position[name]) if name == "ended" else position[name])
