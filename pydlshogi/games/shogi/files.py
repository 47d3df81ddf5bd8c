"""Records of shogi on the board; saved as KIF."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, get_args

from pydlshogi.analysis import AnalysedMove, Judgement
from pydlshogi.entry import Candidates, File, GameFiles, Opened, OpenError, RecordedGame, RecordedLine
from pydlshogi.game import GameEnd
from pydlshogi.games.shogi.analysis import annotated, without_ours
from pydlshogi.games.shogi.kifu.formats import SUFFIXES
from pydlshogi.games.shogi.kifu.game import Ending, Game, Variation, Win
from pydlshogi.games.shogi.kifu.kif import candidate_of
from pydlshogi.games.shogi.kifu.kif_writer import candidate_lines, kif_bytes
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.read_kifu import KifuError, parse
from pydlshogi.support.decoding import is_utf8
from pydlshogi.web.played import TableGame
from pydlshogi.web.tree import Node, variations_of

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
        return [partial(_recorded, each, is_utf8(data)) for each in parse(data, "the record")]
    except KifuError as error:
        raise OpenError(str(error)) from None


def _recorded(game: Game, utf8: bool) -> RecordedGame:
    ending = ENDINGS.get(game.ending)
    ended = GameEnd(ending, _WINNERS[game.win]) if ending and game.win else None

    comments = [without_ours(comment) if game.analysis else comment for comment in game.comments]
    known = _candidates(game.start_sfen, game.moves, game.analysis)
    played = RecordedLine(game.usi, game.times, game.evals, comments, known, ended, "unknown" if ended else game.ending)
    path, variations = game.moves, list[tuple[int, RecordedLine]]()
    for each in game.variations:
        path = (*path[: each.after], *each.moves)
        known = _candidates(game.start_sfen, path, (*[()] * (each.after + 1), *each.analysis))[each.after :]
        line = RecordedLine(each.usi, each.times, each.evals, ("", *each.comments), known, None, each.ending)
        variations.append((each.after, line))
    return RecordedGame(
        "shogi",
        game.start_sfen,
        played,
        variations,
        names=game.names,
        event=game.event,
        date=game.date,
        place=game.place,
        headers=game.headers,
        utf8=utf8,
        remark=game.remark,
    )


def _candidates(start: str, moves: Sequence[int], analysis: Sequence[Sequence[str]]) -> list[list[AnalysedMove]]:
    """Of the positions of a line, by the number of moves, what an analysis in KIF says."""
    position, known = ShogiPosition(start), list[list[AnalysedMove]]()
    for ply, texts in enumerate(analysis):
        before = moves[ply - 1] if ply else None
        if before is not None:
            position.push(before)
        known.append([each for text in texts if (each := candidate_of(position, text, before))])
    return known


def _saved(played: TableGame, judged: Sequence[Judgement], candidates: Candidates) -> File | None:
    data = kif_bytes(annotated(_game(played, candidates), judged, kif=True), played.utf8)
    try:
        parse(data, "")
    except KifuError:  # a problem with pieces that a game cannot have
        return None
    return File("kif", data, whole=True)


def _game(played: TableGame, candidates: Candidates) -> Game:
    line, ending = _line(0, played.line[1:], played.tip, candidates), played.tip.ending
    black, white = played.names
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
        variations=tuple(
            _line(after, nodes, nodes[-1], candidates)
            for after, _, nodes in variations_of(played.line)
            if not all(node.tried for node in nodes)
        ),
        headers=tuple((name, value) for name, value in played.headers),
        analysis=(_analysis(played.line[0], candidates), *line.analysis),
    )


def _line(after: int, nodes: Sequence[Node], tip: Node, candidates: Candidates) -> Variation:
    return Variation(
        after,
        tuple(node.number for node in nodes),
        tuple(node.evaluation for node in nodes),
        tuple(node.seconds for node in nodes),
        tuple(node.comment for node in nodes),
        _IN_RECORDS.get(tip.ending.reason, "unknown") if tip.ending else _BROKEN_OFF[tip.broken_off],
        tuple(_analysis(node, candidates) for node in nodes),
    )


def _analysis(node: Node, candidates: Candidates) -> tuple[str, ...]:
    previous = node.number if node.parent else None
    return tuple(candidate_lines(ShogiPosition(node.sfen), candidates(node), previous))


FILES: Final = GameFiles(_opened, _saved, SUFFIXES)
