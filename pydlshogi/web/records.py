"""Games as files and as text: what can be opened, and what is saved. It knows formats, and no engine.

Each game has formats of its own (`GameEntry.files`); all have lines as USI's `position` has them. Of an archive only
the game that is looked at is made into one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pkgutil import resolve_name
from typing import Final, NamedTuple, TypeAlias

from pydlshogi.analysis import Judgement
from pydlshogi.games.catalogue import GAMES
from pydlshogi.kifu.encoding import decode
from pydlshogi.kifu.kif import AnalysedMove
from pydlshogi.web.played import Recorded, TableGame

Opened: TypeAlias = Sequence[Callable[[], Recorded]]
"""The games of a file, each read when it is wanted."""

RECORDED: Final = "as recorded"
"""The end of a game of which a record says what the result was, but not how it came about."""
_USI: Final = re.compile(r"(?:position|sfen|startpos)\b|[^\s/]+(?:/[^\s/]+){2,} [bw] ")


class OpenError(ValueError):
    """What is no game; the message is one line."""


class File(NamedTuple):
    """A game as it is saved."""

    suffix: str
    content: bytes


class GameFiles(NamedTuple):
    """The formats of one game."""

    opened: Callable[[bytes, str], Opened | None]
    """(content, the same as text) -> its games; None: it is in another format. Raises OpenError."""
    saved: Callable[[TableGame, Sequence[Judgement], Mapping[int, Sequence[AnalysedMove]]], File | None]
    """The line that is shown as a file; None where the formats cannot say it."""


def open_record(data: bytes, shown: str) -> Opened:
    """The games of a file: lines as USI's `position` has them, or what the formats of any game are.

    `shown`: the game that is on the board, which `startpos` begins. Raises OpenError.
    """
    text = decode(data)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if lines and _USI.match(lines[0]):
        return [partial(begin, _game_of(line, shown), line) for line in lines]
    for files in reversed(_files()):  # that of shogi, for which what no other one knows is a damaged record, at last
        if (games := files.opened(data, text)) is not None:
            return games
    raise OpenError("the record: it is in no format that is known")


def begin(game: str, text: str) -> Recorded:
    """A game that begins as `text` says, or has come so far: the name of a start, an sfen, both with `moves` behind
    them, or a game in a format of its own. Raises OpenError."""
    entry = GAMES[game]
    if text in entry.starts:
        return Recorded(game, entry.starts[text])
    if entry.files and not _USI.match(text):
        line = text.replace("\n", " ")
        with suppress(OpenError):
            for opened in _files_of(entry.files).opened(line.encode(), line) or ():
                return opened()
    words = text.removeprefix("position ").removeprefix("sfen ").split()
    end = words.index("moves") if "moves" in words else len(words)
    start, moves = " ".join(words[:end]), words[end + 1 :]
    return Recorded(game, None if start == "startpos" else start, moves)


def saved(played: TableGame, judged: Sequence[Judgement], candidates: Mapping[int, Sequence[AnalysedMove]]) -> File:
    """The line of a game that is shown, as a file; of shogi with what an engine thinks of it."""
    place = GAMES[played.game].files
    file = _files_of(place).saved(played, judged, candidates) if place else None
    moves = ["moves", *played.moves] if played.moves else []
    return file or File("txt", f"{' '.join(['position sfen', played.start_sfen, *moves])}\n".encode())


def names_of(played: TableGame) -> list[str]:
    """Who played Black and White: a person of that name, or an opponent."""
    return [name or side for name, side in zip(played.names, played.sides, strict=True)]


def _files() -> list[GameFiles]:
    return [_files_of(entry.files) for entry in GAMES.values() if entry.files]


def _files_of(place: str) -> GameFiles:
    files: GameFiles = resolve_name(place)
    return files


def _game_of(line: str, shown: str) -> str:
    """The game that a position belongs to: the one shown, or the first that knows such a position."""
    start = begin(shown, line).start
    for name in (shown, *GAMES):
        with suppress(ValueError):
            GAMES[name].position(start)
            return name
    return shown
