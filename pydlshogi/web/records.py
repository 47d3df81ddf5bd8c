"""Games as files and as text: what can be opened, and what is saved. It knows formats, and no engine.

Each game has formats of its own (`GameEntry.files`); all have lines as USI's `position` has them. Of an archive only
the game that is looked at is made into one.
"""

import re
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import chain

from pydlshogi.analysis import Judgement
from pydlshogi.catalogue import GAMES
from pydlshogi.entry import Candidates, File, Opened, OpenError, RecordedGame, RecordedLine
from pydlshogi.support.decoding import decode
from pydlshogi.support.usi_text import UsiLine, holds_usi, read_line, usi_lines, written
from pydlshogi.web.played import TableGame


def suffixes() -> list[str]:
    """Of all files that can be opened."""
    files = [game.files.suffixes for game in GAMES.values() if game.files]
    return sorted({".txt", ".usi", *chain.from_iterable(files)})


def open_record(data: bytes, shown: str) -> Opened:
    """The games of a file: lines as USI's `position` has them, or what the formats of any game are.

    `shown`: the game that is on the board, which `startpos` begins. Raises OpenError.
    """
    text = decode(data)
    if holds_usi(text):
        return [partial(_of_usi, line, shown) for line in usi_lines(text)]
    for game in reversed(GAMES.values()):  # the first of them takes what no other game knows for a damaged record
        if game.files and (games := game.files.opened(data, text)) is not None:
            if not games:
                raise OpenError("the record: it holds no game")
            return games
    raise OpenError("the record: it is in no format that is known")


def begin(game: str, text: str) -> RecordedGame:
    """A game that begins as `text` says, or has come so far: the name of a start, an sfen, both with `moves` behind
    them, or a game in a format of its own. Raises OpenError."""
    entry = GAMES[game]
    if text in entry.starts:
        return RecordedGame(game, entry.starts[text])
    if entry.files and (typed := entry.files.typed(text)):
        return typed
    line = read_line(text)
    return RecordedGame(game, line.start, RecordedLine(line.moves))


def saved(played: TableGame, judged: Sequence[Judgement], candidates: Candidates) -> File:
    """A game as a file, the line that is shown first; of shogi with what an engine thinks of it."""
    files = GAMES[played.game].files
    file = files.saved(played, judged, candidates) if files else None
    evaluations = [node.evaluation for node in played.line[1:]]
    file = file or File("txt", written(played.line[0].sfen, played.moves, evaluations).encode())
    day = re.sub(r"\W", "", played.date)[:8] or time.strftime("%Y%m%d-%H%M%S")
    return file._replace(
        name=re.sub(r'[\s/\\:*?"<>|]+', " ", " ".join([day, " - ".join(filter(None, names_of(played)))])).strip()
    )


def names_of(played: TableGame) -> list[str]:
    """Who played Black and White: a person of that name, "" without one, or this program and how strong it was."""
    return [name or (side and f"pydlshogi ({side})") for name, side in zip(played.names, played.sides, strict=True)]


def _of_usi(line: UsiLine, shown: str) -> RecordedGame:
    """Of the game in which most of its moves are legal; of such ones the game shown, or one with its ranks."""
    return _with_ending(max((shown, *GAMES), key=partial(_fits, line)), line)


def _fits(line: UsiLine, name: str) -> tuple[int, bool]:
    made, ranks = -1, GAMES[name].position(None).sfen().count("/")
    with suppress(ValueError):
        position = GAMES[name].position(line.start)
        for made, move in enumerate(line.moves):  # noqa: B007
            position.push(position.move_from_usi(move))
        made = len(line.moves)
    return made, ranks == (line.start or "").count("/")


def _with_ending(name: str, line: UsiLine) -> RecordedGame:
    """How the game ended, its own formats know."""
    files = GAMES[name].files
    if files and (games := files.opened(str(line).encode(), str(line))):
        return games[0]()
    return RecordedGame(name, line.start, RecordedLine(line.moves, evaluations=line.evaluations))
