"""Records of shogi on the board; saved as KIF."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, get_args

from pydlshogi.analysis import AnalysedMove, Judgement
from pydlshogi.game import GameEnd
from pydlshogi.games.shogi.analysis import annotated
from pydlshogi.games.shogi.kifu import kif
from pydlshogi.games.shogi.kifu.formats import SUFFIXES
from pydlshogi.games.shogi.kifu.game import Ending, Game, RecordError, Variation, Win
from pydlshogi.games.shogi.kifu.kif_writer import kif_bytes
from pydlshogi.games.shogi.read_kifu import KifuError, parse
from pydlshogi.web.played import TableGame
from pydlshogi.web.records import File, GameFiles, Opened, OpenError, names_of
from pydlshogi.web.tree import Node, RecordedGame, RecordedLine, variations_of

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
_WINNERS: Final[Mapping[Win, int | None]] = {"b": 0, "w": 1, "d": None}
_WINS: Final[Mapping[int | None, Win]] = {winner: win for win, winner in _WINNERS.items()}
_BROKEN_OFF: Final[Mapping[str, Ending]] = {each: each for each in get_args(Ending)}
_IN_RECORDS: Final = {ours: theirs for theirs, ours in ENDINGS.items()}


def _opened(data: bytes, text: str) -> Opened:
    try:
        return [partial(_recorded, each) for each in parse(data, "the record")]
    except KifuError as error:
        raise OpenError(str(error)) from None


def _recorded(game: Game) -> RecordedGame:
    ending = ENDINGS.get(game.ending)
    ended = GameEnd(ending, _WINNERS[game.win]) if ending and game.win else None
    line = RecordedLine(game.usi, game.times, game.evals, game.comments, ended, "unknown" if ended else game.ending)
    variations = [
        (each.after, RecordedLine(each.usi, each.times, each.evals, ("", *each.comments), None, each.ending))
        for each in game.variations
    ]
    return RecordedGame("shogi", game.start_sfen, line, variations, None, game.names, game.event, game.date, game.place)


def _saved(
    played: TableGame, judged: Sequence[Judgement], candidates: Mapping[int, Sequence[AnalysedMove]]
) -> File | None:
    text = annotated(_game(played), judged, kif=True, candidates=candidates)
    try:
        kif.parse(text)
    except RecordError:  # a problem with pieces that a game cannot have
        return None
    return File("kif", kif_bytes(text), whole=True)


def _game(played: TableGame) -> Game:
    line, ending = _line(0, played.line[1:], played.tip), played.tip.ending
    black, white = names_of(played)
    return Game(
        played.line[0].sfen,
        line.moves,
        _WINS[ending.winner] if ending else None,
        line.ending,
        line.evals,
        line.times,
        (black, white),
        event=played.event,
        date=played.date,
        place=played.place,
        comments=tuple(node.comment for node in played.line),
        variations=tuple(_line(after, nodes, nodes[-1]) for after, _, nodes in variations_of(played.line)),
    )


def _line(after: int, nodes: Sequence[Node], tip: Node) -> Variation:
    return Variation(
        after,
        tuple(node.number for node in nodes),
        tuple(node.evaluation for node in nodes),
        tuple(node.seconds for node in nodes),
        tuple(node.comment for node in nodes),
        _IN_RECORDS.get(tip.ending.reason, "unknown") if tip.ending else _BROKEN_OFF[tip.broken_off],
    )


FILES: Final = GameFiles(_opened, _saved, SUFFIXES)
