"""Games as files and as text: what can be opened, and what is saved. It knows formats, and no engine.

Each game has formats of its own (`GameEntry.files`); all have lines as USI's `position` has them. Of an archive only
the game that is looked at is made into one.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final

from pydlshogi.analysis import AnalysedMove, Judgement
from pydlshogi.catalogue import GAMES
from pydlshogi.entry import RECORDED, Candidates, File, Opened, OpenError, RecordedGame, RecordedLine
from pydlshogi.game import GameEnd, PlayedPosition
from pydlshogi.support.decoding import decode, one_line
from pydlshogi.support.usi_text import UsiLine, holds_usi, read_line, usi_lines
from pydlshogi.web.played import TableGame

_NAME: Final = re.compile(r"^# (Black|White): (.+)", re.MULTILINE)
_THOUGHT: Final = re.compile(r"^# after (\d+): (.+)", re.MULTILINE)
_CANDIDATE: Final = re.compile(r"(-?\d{1,6}) (\d{1,12}|-)((?: [\w*+]+)*)", re.ASCII)
"""Its evaluation, the positions looked at, its line."""
_ENDS: Final[Mapping[str, tuple[str, int | None]]] = {
    "resign": ("resignation", 1),
    "win": ("declaration", 0),
    "timeout": ("time", 1),
    "draw": (RECORDED, None),
    "rep_draw": ("repetition", None),
}
"""What the last word of a line of USI says and its moves do not: why the game ended; who won, 0: the side to move."""


def suffixes() -> list[str]:
    """Of all files that can be opened."""
    files = [game.files.suffixes for game in GAMES.values() if game.files]
    return sorted({".txt", ".usi", *chain.from_iterable(files)})


def open_record(data: bytes, shown: str) -> Opened:
    """The games of a file: lines as USI's `position` has them, or what the formats of any game are.

    `shown`: the game that is on the board, which `startpos` begins. Raises OpenError.
    """
    text = decode(data)
    games = _games(data, text, shown)
    if _NAME.search(text) or _THOUGHT.search(text):
        return [partial(_with_comments, games[0], text), *games[1:]]
    return games


def _games(data: bytes, text: str, shown: str) -> Opened:
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
    """A game as a file, the line that is shown first, with its names, and what an engine thinks of it: in comments
    below, where its format has no place for that."""
    files = GAMES[played.game].files
    file = files.saved(played, judged, candidates) if files else None
    if file is None:
        names = zip(("Black", "White"), map(one_line, played.names), strict=True)
        evaluations = [node.evaluation for node in played.line[1:]]
        end = next((word for word in _ENDS if _ending(word, played.tip.turn) == played.tip.ended), "")
        text = str(UsiLine(played.line[0].sfen, played.moves, evaluations, end))
        text += "".join(f"# {side}: {name}\n" for side, name in names if name)
        file = File("txt", text.encode())
    if judged and not file.whole:
        file = file._replace(content=file.content + "".join(_thought(played, candidates)).encode())
    began = re.sub(r"\D", "", played.date) or time.strftime("%Y%m%d%H%M%S")
    name = f"{'-'.join(filter(None, (began[:8], began[8:14])))} {' - '.join(filter(None, played.names))}"
    return file._replace(name=re.sub(r'[\s/\\:*?"<>|]+', " ", name).strip())


def _thought(played: TableGame, candidates: Candidates) -> Iterator[str]:
    """A line for each position that an engine has thought of."""
    for ply, node in enumerate(played.line):
        known = [(each.evaluation, "-" if each.nodes is None else each.nodes, *each.line) for each in candidates(node)]
        if known:
            yield f"# after {ply}: {'; '.join(' '.join(map(str, each)) for each in known)}\n"


def _with_comments(read: Callable[[], RecordedGame], text: str) -> RecordedGame:
    """A game with what the comments of its file say of it."""
    game, said, names = read(), dict(_THOUGHT.findall(text)), dict(_NAME.findall(text))
    position, thought = GAMES[game.game].position(game.start), list[list[AnalysedMove]]()
    for ply, before in enumerate([[], *zip(game.line.moves)]):
        _make(position, before)
        known = map(_CANDIDATE.fullmatch, said.get(str(ply), "").split("; "))
        thought.append([_candidate(position, *each.groups()) for each in known if each])
    black, white = (names.get(side, name) for side, name in zip(("Black", "White"), game.names, strict=True))
    return replace(game, line=replace(game.line, candidates=thought), names=(black, white))


def _candidate(position: PlayedPosition, evaluation: str, nodes: str, line: str) -> AnalysedMove:
    """The same as numbers and moves, up to the first that is not legal."""
    legal = _make(position, line.split())
    for _ in legal:
        position.pop()
    return AnalysedMove(int(evaluation), ["win"] if line == " win" else legal, None if nodes == "-" else int(nodes))


def _make(position: PlayedPosition, moves: Sequence[str]) -> list[str]:
    """Make moves up to the first that is not legal; return them."""
    made = list[str]()
    with suppress(ValueError):
        for move in moves:
            position.push(position.move_from_usi(move))
            made.append(move)
    return made


def _of_usi(line: UsiLine, shown: str) -> RecordedGame:
    """Of the game in which most of its moves are legal; of such ones the game shown, or one with its ranks. A format of
    that game says best how it ended."""
    name = max((shown, *GAMES), key=partial(_fits, line))
    files = GAMES[name].files
    if files and (games := files.opened(str(line).encode(), str(line))):
        return games[0]()
    ended = _ending(line.end, GAMES[name].position(line.start).turn ^ len(line.moves) % 2)
    return RecordedGame(name, line.start, RecordedLine(line.moves, evaluations=line.evaluations, ended=ended))


def _fits(line: UsiLine, name: str) -> tuple[int, bool]:
    made, ranks = -1, GAMES[name].position(None).sfen().count("/")
    with suppress(ValueError):
        made = len(_make(GAMES[name].position(line.start), line.moves))
    return made, ranks == (line.start or "").count("/")


def _ending(word: str, turn: int) -> GameEnd | None:
    """How a game ended where `turn` is to move; None where the word does not say it."""
    reason, winner = _ENDS.get(word, ("", None))
    return GameEnd(reason, None if winner is None else winner ^ turn) if reason else None
