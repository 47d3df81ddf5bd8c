"""The formats of game records, one line each, and lines of USI: who reads or converts records asks here."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from pydlshogi.games.shogi.kifu import csa, jkf, kif
from pydlshogi.games.shogi.kifu.game import UNKNOWN, Conclusion, Game, Line, Record, RecordError, settle
from pydlshogi.games.shogi.kifu.kif_writer import kif_bytes, to_kif
from pydlshogi.games.shogi.sfen import START_SFEN, move_of
from pydlshogi.support.usi_text import UsiLine, holds_usi, usi_lines


class Format(NamedTuple):
    """A way to write games down."""

    name: str
    """For people."""
    suffixes: tuple[str, ...]
    """Of its files, the first of those that are written."""
    holds: Callable[[str], bool]
    """Whether a text is in this format, if it is in none of those before it."""
    parse: Callable[[str], list[Game]]
    """Raises RecordError."""
    write: Callable[[Game], str]
    """Raises RecordError for what the format cannot hold."""
    between: str | None = None
    """What stands between two games of a file. None: a file holds one."""
    encode: Callable[[str, bool], bytes] = lambda text, utf8: text.encode()
    """Whether UTF-8 is wanted, too."""


_USI_ENDINGS: Final[dict[str, Conclusion]] = {
    "": UNKNOWN,
    "resign": ("resign", "-"),
    "win": ("declaration", "+"),
    "draw": ("jishogi", "d"),
    "rep_draw": ("sennichite", "d"),
    "timeout": ("time_up", "-"),
    "chudan": ("interrupted", None),
    "break": ("interrupted", None),  # the word that is written
}


def parse_usi(text: str) -> list[Game]:
    """The games of shogi in a text. Raises RecordError at an illegal move unless it is the last and not the first."""
    games = []
    for number, (start, usi, evaluations, end) in enumerate(usi_lines(text), 1):
        line = Line()
        line.moves, line.texts, line.evals = [*map(move_of, usi)], [*usi], [*evaluations]
        line.times, line.conclusion = [None] * len(usi), _USI_ENDINGS[end]
        try:
            if 0 in line.moves:
                raise ValueError(f"{usi[line.moves.index(0)]} is no move")
            record = Record(start or START_SFEN)
            record.play(line)
        except ValueError as error:
            raise RecordError(f"game {number}: {error}") from error
        games.append(record.game({}))
    return games


def to_usi(game: Game) -> str:
    """`game` as a line of USI, with its evaluations and its ending where there is a word for it. Raises RecordError for
    what that cannot hold: variations."""
    if game.variations:
        raise RecordError("a line of USI cannot hold variations")
    turn = ("bw".index(game.start_sfen.split()[1]) + len(game.moves)) % 2
    ends = {settle(conclusion, turn): word for word, conclusion in _USI_ENDINGS.items()}
    return str(UsiLine(game.start_sfen, game.usi, game.evals, ends.get((game.ending, game.win), "")))


FORMATS: Final = (
    Format("JKF", (".jkf",), jkf.holds_jkf, lambda text: [jkf.parse(text)], jkf.to_jkf),
    Format("lines of USI", (".usi", ".sfen"), holds_usi, parse_usi, to_usi, between=""),
    Format("CSA", (".csa",), csa.holds_csa, csa.parse, csa.to_csa, between="/\n"),
    # Last: it takes everything, and says what is wrong with what is no record at all.
    Format("KIF, KI2", (".kif", ".kifu", ".ki2", ".ki2u"), lambda text: True, kif.parse, to_kif, encode=kif_bytes),
)
"""In the order in which they are tried. A file is read by what it holds, not by its name."""

NAMES: Final = ", ".join(format.name for format in FORMATS)
SUFFIXES: Final = tuple(suffix for format in FORMATS for suffix in format.suffixes)
WRITTEN: Final = {format.suffixes[0]: format for format in FORMATS}


def parse(text: str) -> list[Game]:
    """The games of a text in any of the formats. Raises RecordError."""
    return next(format for format in FORMATS if format.holds(text)).parse(text)


def file_of(games: Sequence[Game], suffix: str, utf8: bool = False) -> bytes:
    """The file of these games in the format that `suffix` names, in UTF-8 where that is wanted. Raises RecordError."""
    if suffix not in WRITTEN:
        raise RecordError(f"{suffix or 'no suffix'} is none of {', '.join(WRITTEN)}")
    format = WRITTEN[suffix]
    if format.between is None and len(games) > 1:
        raise RecordError(f"{suffix} holds one game, not {len(games)}: choose one by --game N")
    return format.encode((format.between or "").join(map(format.write, games)), utf8)
