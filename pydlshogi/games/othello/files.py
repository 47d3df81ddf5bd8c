"""Records of Othello on the board: WTHOR, GGF, SGF and transcripts."""

from functools import partial
from typing import Any, Final

from pydlshogi.entry import RECORDED, File, GameFiles, Opened, OpenError, RecordedGame, RecordedLine
from pydlshogi.game import GameEnd
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import PASS, START, move_name, parse_move
from pydlshogi.games.othello.transcript import (
    RecordError,
    Transcript,
    game_of,
    ggf,
    holds_ggf,
    holds_transcript,
    parse_games,
    transcript,
)
from pydlshogi.games.othello.wthor import GAME, HEADER, Games, games_of, parse_wthor
from pydlshogi.web.played import TableGame


def _opened(data: bytes, text: str) -> Opened | None:
    try:
        if _is_wthor(data):
            header, rows = parse_wthor(data)
            return [partial(_of_archive, rows[number : number + 1], int(header["year"])) for number in range(len(rows))]
        if holds_ggf(text) or holds_transcript(text):
            return [partial(_recorded, game) for game in parse_games(text)]
    except RecordError as error:
        raise OpenError(f"the record: {error}") from None
    return None


def _is_wthor(data: bytes) -> bool:
    games = int.from_bytes(data[4:8], "little")
    return games > 0 and len(data) == HEADER.itemsize + games * GAME.itemsize


def _of_archive(row: Games, year: int) -> RecordedGame:
    (game,) = games_of(row, year)
    return _recorded(game)


def _recorded(game: Transcript) -> RecordedGame:
    ended = None
    if game.result is not None and not game.end.over:
        ended = GameEnd(game.ending or RECORDED, int(game.result < 0) if game.result else None)
    return RecordedGame(
        "othello",
        None if game.start == START else game.start.diagram(),
        RecordedLine([move_name(move) for move in game.moves], ended=ended),
        discs=game.result,
        names=(game.black, game.white),
        event=game.event,
        date=game.date,
        headers=game.headers,
    )


def _saved(played: TableGame, *_: Any) -> File:
    """A transcript, or GGF where there is more to say than moves, or a pass that none follows."""
    moves, names, tip = [parse_move(move) for move in played.moves], played.names, played.tip
    more = [played.start, tip.ended, *names, played.event, played.date, *played.headers]
    if moves and moves[-1] != PASS and not any(more):
        return File("txt", f"{transcript(moves)}\n".encode())
    game = game_of(moves, OthelloPosition(played.start).now)._replace(
        black=names[0],
        white=names[1],
        event=played.event,
        date=played.date,
        headers=tuple((name, value) for name, value in played.headers),
    )
    if tip.ended is not None:
        game = game._replace(ending=tip.ended.reason, result={None: 0, 0: 64, 1: -64}[tip.ended.winner])
    if tip.discs is not None:
        game = game._replace(result=tip.discs)
    return File("ggf", f"{ggf(game)}\n".encode())


def _typed(text: str) -> RecordedGame | None:
    opened = _opened(b"", text.replace("\n", " "))
    return opened[0]() if opened else None


FILES: Final = GameFiles(_opened, _saved, (".wtb", ".ggf", ".obf", ".pgn", ".sgf"), _typed)
