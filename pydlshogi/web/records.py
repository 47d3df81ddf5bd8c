"""Games as files and as text: what can be opened, and what is saved. It knows formats, and no engine.

Of an archive only the game that is looked at is made into one.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pydlshogi.analysis import Judgement
from pydlshogi.analyze import annotated, encoded
from pydlshogi.engines.games import GAMES, GameEnd
from pydlshogi.kifu.encoding import decode
from pydlshogi.kifu.game import RecordError as ShogiError
from pydlshogi.kifu.game import check_set
from pydlshogi.kifu.kif import AnalysedMove
from pydlshogi.read_kifu import Ending, Game, KifuError, Win, parse
from pydlshogi.web.played import Recorded, TableGame

if TYPE_CHECKING:
    from pydlshogi.games.othello.transcript import Transcript

Opened: TypeAlias = Sequence[Callable[[], Recorded]]
"""The games of a file, each read when it is wanted."""

ENDINGS: Final[Mapping[Ending, str]] = {
    "resign": "resignation",
    "mate": "mate",
    "declaration": "declaration",
    "try": "try",
    "time_up": "time",
    "illegal_move": "illegal move",
    "perpetual_check": "perpetual check",
    "default": "default",
    "sennichite": "repetition",
    "jishogi": "impasse",
    "max_moves": "too many moves",
}
"""How records say that games ended, and how the board does. The others end nothing."""
RECORDED: Final = "as recorded"
"""The end of a game of which a record says what the result was, but not how it came about."""
_WINNERS: Final[Mapping[Win, int | None]] = {"b": 0, "w": 1, "d": None}
_WINS: Final[Mapping[int | None, Win]] = {winner: win for win, winner in _WINNERS.items()}
_IN_RECORDS: Final = {ours: theirs for theirs, ours in ENDINGS.items()}
_TRANSCRIPT: Final = re.compile(r"(?:\s*(?:[a-h][1-8]|pass|pa|ps|--))+\s*", re.IGNORECASE)
_USI: Final = re.compile(r"(?:position|sfen|startpos)\b|[^\s/]+(?:/[^\s/]+){3,8} [bw] ")
_WTHOR_HEADER: Final = 16
_WTHOR_GAME: Final = 68


class OpenError(ValueError):
    """What is no game; the message is one line."""


class File(NamedTuple):
    """A game as it is saved."""

    suffix: str
    content: bytes


def open_record(data: bytes, game: str) -> Opened:
    """The games of a file: CSA, KIF, KI2, WTHOR, GGF, transcripts, or lines as USI's `position` has them.

    `game`: what `startpos` begins. Raises OpenError.
    """
    from pydlshogi.games.othello.ggf import holds_ggf

    if _is_wthor(data):
        return _othello_archive(data)
    text = decode(data)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if lines and _USI.match(lines[0]):
        return [partial(begin, _game_of(line, game), line) for line in lines]
    if holds_ggf(text) or (lines and _TRANSCRIPT.fullmatch(lines[0])):
        return _othello_text(text)
    try:
        return [partial(_shogi, each) for each in parse(data, "the record")]
    except KifuError as error:
        raise OpenError(str(error)) from None


def begin(game: str, text: str) -> Recorded:
    """A game that begins as `text` says, or has come so far: the name of a start, an sfen, both with `moves` behind
    them, or in Othello a transcript. Raises OpenError."""
    starts = GAMES[game].starts
    if text in starts:
        return Recorded(game, starts[text])
    if game == "othello" and _TRANSCRIPT.fullmatch(text):
        (opened,) = _othello_text(text.replace("\n", " "))
        return opened()
    words = text.removeprefix("position ").removeprefix("sfen ").split()
    end = words.index("moves") if "moves" in words else len(words)
    start, moves = " ".join(words[:end]), words[end + 1 :]
    return Recorded(game, None if start == "startpos" else start, moves)


def saved(played: TableGame, judged: Sequence[Judgement], candidates: Mapping[int, Sequence[AnalysedMove]]) -> File:
    """The line of a game that is shown, as a file; of shogi with what an engine thinks of it."""
    if played.game == "shogi" and has_kif(played.start_sfen):
        return File("kif", encoded(annotated(_shogi_game(played), judged, kif=True, candidates=candidates), kif=True))
    if played.game == "othello":
        return _transcript(played)
    moves = ["moves", *played.moves] if played.moves else []
    return File("txt", f"{' '.join(['position sfen', played.start_sfen, *moves])}\n".encode())


def has_kif(start: str) -> bool:
    """Whether a KIF that begins with this sfen can be read: not that of a problem with pieces a game cannot have."""
    rows, _, hands, _ = start.split()
    pieces = Counter(filter(str.isalpha, rows))
    for count, letter in re.findall(r"(\d*)([a-zA-Z])", hands):
        pieces[letter] += int(count or 1)
    try:
        check_set(pieces)
    except ShogiError:
        return False
    return True


def _shogi_game(played: TableGame) -> Game:
    nodes, ending = played.line[1:], played.tip.ending
    black, white = _names_of(played)
    return Game(
        played.start_sfen,
        tuple(played.moves),
        _WINS[ending.winner] if ending else None,
        _IN_RECORDS[ending.reason] if ending else played.tip.broken_off,
        tuple(node.evaluation for node in nodes),
        tuple(node.seconds for node in nodes),
        (black, white),
        event=played.event,
        date=played.date,
        place=played.place,
        comments=tuple(node.comment for node in played.line),
    )


def _transcript(played: TableGame) -> File:
    """A game of Othello: a transcript, or GGF where there is more to say than moves, or a pass that none follows."""
    from pydlshogi.games.othello.ggf import ggf
    from pydlshogi.games.othello.rules import PASS, parse_move
    from pydlshogi.games.othello.transcript import game_of
    from pydlshogi.games.othello.transcript import transcript as one_line

    moves, names, tip = [parse_move(move) for move in played.moves], _names_of(played), played.tip
    more = [played.start, tip.ended, *names, played.event, played.date]
    if moves and moves[-1] != PASS and not any(more):
        return File("txt", f"{one_line(moves)}\n".encode())
    from pydlshogi.games.othello.position import OthelloPosition

    game = game_of(moves, OthelloPosition(played.start).now)._replace(
        black=names[0], white=names[1], event=played.event, date=played.date
    )
    if tip.ended is not None:
        game = game._replace(ending=tip.ended.reason, result=-64 if tip.ended.winner else 64)
    if tip.discs is not None:
        game = game._replace(result=tip.discs)
    return File("ggf", f"{ggf(game)}\n".encode())


def _names_of(played: TableGame) -> list[str]:
    """Who played Black and White: a person of that name, or an opponent."""
    return [name or side for name, side in zip(played.names, played.sides, strict=True)]


def _game_of(line: str, game: str) -> str:
    """The game that a board is of, by its rows."""
    board = next((word for word in line.split() if "/" in word), None)
    if board is None:
        return game
    return {4: "dobutsu", 8: "othello"}.get(board.count("/") + 1, "shogi")


def _shogi(game: Game) -> Recorded:
    ending = ENDINGS.get(game.ending)
    ended = GameEnd(ending, _WINNERS[game.win]) if ending and game.win else None
    return Recorded(
        "shogi", game.start_sfen, game.moves, game.times, game.evals, game.comments, ended,
        "unknown" if ended else game.ending, None, game.names, game.event, game.date, game.place,
    )  # fmt: skip


def _is_wthor(data: bytes) -> bool:
    games = int.from_bytes(data[4:8], "little")
    return len(data) == _WTHOR_HEADER + games * _WTHOR_GAME and len(data) > _WTHOR_HEADER


def _othello_archive(data: bytes) -> Opened:
    from pydlshogi.games.othello.transcript import RecordError as OthelloError
    from pydlshogi.games.othello.wthor import games_of, parse_wthor

    try:
        header, rows = parse_wthor(data)
    except OthelloError as error:
        raise OpenError(f"the record: {error}") from None

    def made(number: int) -> Recorded:
        (game,) = games_of(rows[number : number + 1], int(header["year"]))
        return _othello(game)

    return [partial(made, number) for number in range(len(rows))]


def _othello_text(text: str) -> Opened:
    from pydlshogi.games.othello.records import parse_games
    from pydlshogi.games.othello.transcript import RecordError as OthelloError

    try:
        return [partial(_othello, game) for game in parse_games(text)]
    except OthelloError as error:
        raise OpenError(f"the record: {error}") from None


def _othello(game: "Transcript") -> Recorded:
    from pydlshogi.games.othello.rules import START, move_name

    ended = None
    if game.result is not None and not game.end.over:
        ended = GameEnd(game.ending or RECORDED, int(game.result < 0) if game.result else None)
    return Recorded(
        "othello",
        None if game.start == START else game.start.diagram(),
        [move_name(move) for move in game.moves],
        ended=ended,
        discs=game.result,
        names=(game.black, game.white),
        event=game.event,
        date=game.date,
    )
