"""Games as files and as text: what can be opened, and what is saved. It knows formats, and no engine.

Of an archive only the game that is looked at is made into one.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pydlshogi.engines.games import GAMES
from pydlshogi.kifu.encoding import decode
from pydlshogi.kifu.game import RecordError as ShogiError
from pydlshogi.kifu.game import check_set
from pydlshogi.read_kifu import Ending, Game, KifuError, Win, parse
from pydlshogi.web.played import TableGame

if TYPE_CHECKING:
    from pydlshogi.games.othello.transcript import Transcript

Opened: TypeAlias = Sequence[Callable[[], TableGame]]
"""The games of a file, each made when it is wanted."""

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
        return [partial(_looked_through, _game_of(line, game), line) for line in lines]
    if holds_ggf(text) or (lines and _TRANSCRIPT.fullmatch(lines[0])):
        return _othello_text(text)
    try:
        return [partial(_shogi, each) for each in parse(data, "the record")]
    except KifuError as error:
        raise OpenError(str(error)) from None


def begin(game: str, text: str) -> TableGame:
    """A game that begins as `text` says, or has come so far: the name of a start, an sfen, both with `moves` behind
    them, or in Othello a transcript. Raises OpenError; that the moves are legal is not looked at."""
    starts = GAMES[game].starts
    if text in starts:
        return TableGame(game, starts[text])
    if game == "othello" and _TRANSCRIPT.fullmatch(text):
        (opened,) = _othello_text(text.replace("\n", " "))
        played = opened()
        played.at = len(played.moves)
        return played
    words = text.removeprefix("position ").removeprefix("sfen ").split()
    end = words.index("moves") if "moves" in words else len(words)
    start, moves = " ".join(words[:end]), words[end + 1 :]
    return TableGame(game, None if start == "startpos" else start, moves, len(moves), times=[None] * len(moves))


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


def usi_line(played: TableGame, start: str) -> str:
    """The game from the position `start` on, as USI's `position` has it."""
    return " ".join(["position sfen", start, *(["moves", *played.moves] if played.moves else [])])


def transcript(played: TableGame) -> File:
    """A game of Othello: a transcript, or GGF where there is more to say than moves, or a pass that none follows."""
    from pydlshogi.games.othello.ggf import ggf
    from pydlshogi.games.othello.rules import PASS, parse_move
    from pydlshogi.games.othello.transcript import game_of
    from pydlshogi.games.othello.transcript import transcript as one_line

    moves, names = [parse_move(move) for move in played.moves], names_of(played)
    more = [played.start, played.ended, *names, played.event, played.date]
    if moves and moves[-1] != PASS and not any(more):
        return File("txt", f"{one_line(moves)}\n".encode())
    from pydlshogi.games.othello.position import OthelloPosition

    game = game_of(moves, OthelloPosition(played.start).now)._replace(
        black=names[0], white=names[1], event=played.event, date=played.date
    )
    if played.ended is not None:
        ending, winner = played.ended
        game = game._replace(ending=ending, result=-64 if winner else 64)
    if played.result is not None:
        game = game._replace(result=played.result)
    return File("ggf", f"{ggf(game)}\n".encode())


def names_of(played: TableGame) -> list[str]:
    """Who played Black and White: a person of that name, or an opponent."""
    return [name or side for name, side in zip(played.names, played.sides, strict=True)]


def _looked_through(game: str, line: str) -> TableGame:
    """The game of a line at its beginning, and nobody to answer."""
    played = begin(game, line)
    played.at, played.sides = 0, ["", ""]
    return played


def _game_of(line: str, game: str) -> str:
    """The game that a board is of, by its rows."""
    board = next((word for word in line.split() if "/" in word), None)
    if board is None:
        return game
    return {4: "dobutsu", 8: "othello"}.get(board.count("/") + 1, "shogi")


def _shogi(game: Game) -> TableGame:
    ending = ENDINGS.get(game.ending)
    ended = (ending, _WINNERS[game.win]) if ending and game.win else None
    return TableGame(
        "shogi", game.start_sfen, list(game.moves), 0, ["", ""], ended, list(game.names), list(game.times),
        evals=list(game.evals), comments=list(game.comments), broken_off="unknown" if ended else game.ending,
        event=game.event, date=game.date, place=game.place,
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

    def made(number: int) -> TableGame:
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


def _othello(game: "Transcript") -> TableGame:
    from pydlshogi.games.othello.rules import START, move_name

    start = None if game.start == START else game.start.diagram()
    moves = [move_name(move) for move in game.moves]
    ended = None
    if game.result is not None and not game.end.over:
        ended = (game.ending or RECORDED, int(game.result < 0) if game.result else None)
    return TableGame(
        "othello", start, moves, 0, ["", ""], ended, [game.black, game.white], [None] * len(moves),
        result=game.result, event=game.event, date=game.date,
    )  # fmt: skip
