"""Files of games, whatever their format; and WTHOR, the format of the French federation's archive of tournament games
(.wtb), as arrays.

A file is a header of 16 bytes and a row of 68 for each game. Squares are 10 * rank + file, a1 being 11; passes are not
written, and rows are filled up with zeros. Scores are Black's discs, the winner having the empty squares too.
"""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.games.othello.rules import PASS, START, START_MOVER, START_OPPONENT, STATE, final_score, moved, to_move
from pydlshogi.games.othello.squares import ONE, ZERO
from pydlshogi.games.othello.transcript import RecordError, Transcript, game_of, parse_games
from pydlshogi.support.arrays import Records, Uint8Array
from pydlshogi.support.files import read_plain, write_whole
from pydlshogi.support.kernels.compiled import allocating, compiled

LARGEST_FILE: Final = 1 << 28
"""Bytes of a file of games."""

HEADER: Final = np.dtype(
    [
        ("written", np.uint8, 4),  # century, year, month and day
        ("games", "<i4"),
        ("names", "<i2"),  # of players or tournaments, in the files that list those
        ("year", "<i2"),  # of the games
        ("size", np.uint8),  # of the board, 0 for 8
        ("kind", np.uint8),  # 1 for the archive's problems
        ("depth", np.uint8),  # with how many empty squares play is perfect that leads to `theoretical`
        ("reserved", np.uint8),
    ]
)
GAME: Final = np.dtype(
    [
        ("tournament", "<u2"),
        ("black", "<u2"),
        ("white", "<u2"),
        ("score", np.uint8),  # as played
        ("theoretical", np.uint8),  # with perfect play of both sides from some point on
        ("moves", np.uint8, 60),
    ]
)
Games = npt.NDArray[Any]
"""An array of GAME."""
POSITION: Final = np.dtype([*STATE.descr, ("move", np.uint8), ("lead", np.int8), ("game", np.int32)])
"""A position of a game, the square played, by how many discs the side to move won, and the number of the game."""

_SOUND: Final = -1
_WRONG_SCORE: Final = -2
_NO_SCORE: Final = -3
MOVES: Final = np.array([10 * rank + file for rank in range(1, 9) for file in range(1, 9)], np.uint8)
"""uint8 [64]: the move to each square as it is written."""


def read_wthor(path: str | PathLike[str]) -> tuple[Any, Games]:
    """The header and the games of a file, each of them checked. Raises RecordError, OSError."""
    return parse_wthor(read_plain(Path(path), LARGEST_FILE))


def parse_wthor(data: bytes) -> tuple[Any, Games]:
    """The header and the games of what a file holds, each of them checked. Raises RecordError."""
    if len(data) < HEADER.itemsize:
        raise RecordError("it has no header of 16 bytes")
    header = np.frombuffer(data[: HEADER.itemsize], HEADER)[0]
    if header["size"] not in (0, 8):
        raise RecordError(f"a board of {header['size']}, not 8")
    rows = data[HEADER.itemsize :]
    if header["games"] < 0 or len(rows) != header["games"] * GAME.itemsize:
        raise RecordError(f"{header['games']} games are not {len(rows)} bytes")
    games = np.frombuffer(rows, GAME)
    flaws = _flaws(games)
    for number in np.flatnonzero(flaws != _SOUND):
        raise RecordError(f"game {number + 1}: {_reason(games[number], flaws[number])}")
    return header, games


def write_wthor(path: Path, games: Games, year: int, depth: int) -> None:
    """Write `games`; see HEADER for `depth`. Raises OSError."""
    header = np.zeros(1, HEADER)
    header["games"], header["year"], header["size"], header["depth"] = len(games), year, 8, depth
    write_whole(path, header.tobytes() + games.astype(GAME, copy=False).tobytes())


def held_out(games: Games) -> npt.NDArray[np.bool_]:
    """bool [games]: the games to test by, one in twenty. What was played decides: a game and its copies go together."""
    return np.array([zlib.crc32(moves.tobytes()) % 20 == 0 for moves in games["moves"]], np.bool_)


def games_of(rows: Games, year: int) -> Iterator[Transcript]:
    """The games of an array. Players and tournaments are numbers, whose names are in other files of the archive."""
    for row in rows:
        squares = [8 * (move // 10 - 1) + move % 10 - 1 for move in row["moves"].tolist() if move]
        game = game_of(squares)
        yield game._replace(
            result=2 * int(row["score"]) - 64,
            black=f"player {row['black']}",
            white=f"player {row['white']}",
            event=f"tournament {row['tournament']}",
            date=str(year),
        )


def rows_of(games: Iterable[Transcript]) -> Games:
    """The array of `games`; names are lost. Raises RecordError for games that do not fit."""
    rows = []
    for game in games:
        if game.start != START or game.result is None:
            raise RecordError("WTHOR has no place for other starts, nor for games without a result")
        moves = [int(MOVES[move]) for move in game.moves if move != PASS]
        score = (64 + game.result) // 2
        rows.append((0, 0, 0, score, score, moves + [0] * (60 - len(moves))))
    return np.array(rows, GAME)


@compiled
def square_of(move: np.uint8) -> np.uint64:
    """The square of a WTHOR move; 64 or more for what is none."""
    rank, file = move // 10 - 1, move % 10 - 1
    return np.uint64(8 * rank + file) if 0 <= rank < 8 and 0 <= file < 8 else np.uint64(64)


def positions_of(games: Games, scores: Uint8Array, begin: int = 0, end: int = 60) -> Records:
    """POSITION [n]: the positions of `games` in which there is a move to play, from `begin` discs more than at the
    start to fewer than `end`. `scores`, uint8 [games], count as what the games came to.
    """
    positions = np.empty((end - begin) * len(games), POSITION)
    return positions[: _collect(games, scores, begin, end, positions)]


@compiled
def _collect(games: Games, scores: Uint8Array, begin: int, end: int, positions: Records) -> int:
    """Write the positions; returns how many."""
    n = 0
    for number in range(len(games)):
        mover, opponent, black = START_MOVER, START_OPPONENT, True
        lead = 2 * int(scores[number]) - 64
        for ply in range(end):
            mover, opponent, moves, passed = to_move(mover, opponent)
            black = black != passed
            square = square_of(games[number].moves[ply])
            if square >= np.uint64(64) or moves == ZERO:
                break
            if ply >= begin:
                positions[n].mover, positions[n].opponent, positions[n].move = mover, opponent, square
                positions[n].lead, positions[n].game = lead if black else -lead, number
                n += 1
            mover, opponent = moved(mover, opponent, square)
            black = not black
    return n


@allocating
def _flaws(games: Games) -> npt.NDArray[np.int8]:
    """int8 [games]: _SOUND, _WRONG_SCORE, _NO_SCORE, or the index of the first move that cannot be played."""
    flaws = np.full(len(games), _SOUND, np.int8)
    for number in range(len(games)):
        mover, opponent, black = START_MOVER, START_OPPONENT, True
        for ply in range(61):
            mover, opponent, moves, passed = to_move(mover, opponent)
            black = black != passed
            rest = games[number].moves[ply:]
            if not rest.any():
                if moves == ZERO:
                    lead = final_score(mover, opponent)
                    if 2 * int(games[number].score) - 64 != (lead if black else -lead):
                        flaws[number] = _WRONG_SCORE
                break
            square = square_of(rest[0])
            if square >= np.uint64(64) or moves & (ONE << square) == ZERO:
                flaws[number] = ply
                break
            mover, opponent = moved(mover, opponent, square)
            black = not black
        if games[number].score > 64 or games[number].theoretical > 64:
            flaws[number] = _NO_SCORE
    return flaws


def _reason(game: Any, flaw: int) -> str:
    if flaw == _WRONG_SCORE:
        return f"its score is not {game['score']}"
    if flaw == _NO_SCORE:
        return f"scores of {game['score']} and {game['theoretical']}; a board has 64 discs"
    return f"move {flaw + 1}, {game['moves'][flaw]}, cannot be played"


# Files of any format


@contextmanager
def _naming(path: str | PathLike[str]) -> Iterator[None]:
    """Errors of what happens inside name the file."""
    try:
        yield
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from error


def read_games(path: str | PathLike[str]) -> list[Transcript]:
    """The games of a file, every move of them legal. Raises RecordError, which names the file; OSError."""
    with _naming(path):
        if Path(path).suffix.lower() == ".wtb":
            header, rows = read_wthor(path)
            games = list(games_of(rows, int(header["year"])))
        else:
            games = _read_text(Path(path))
        if not games:
            raise RecordError("it holds no game")
        return games


def _read_text(path: Path) -> list[Transcript]:
    return parse_games(read_plain(path, LARGEST_FILE).decode("utf-8-sig", "replace"))


class Archive(NamedTuple):
    """The games of several files, as WTHOR has them."""

    games: Games
    depths: npt.NDArray[np.uint8]
    """uint8 [games]: with how many empty squares play is perfect that leads to `theoretical`."""


def read_archive(paths: Iterable[Path]) -> Archive:
    """The games of several files of any format, all from the start of Othello and with a result.

    Raises RecordError, which names the file; OSError.
    """
    games, depths = [np.zeros(0, GAME)], [np.zeros(0, np.uint8)]
    for path in paths:
        depth = 0
        with _naming(path):
            if path.suffix.lower() == ".wtb":
                header, rows = read_wthor(path)
                depth = header["depth"]
            else:
                rows = rows_of(_read_text(path))
        games.append(rows)
        depths.append(np.full(len(rows), depth, np.uint8))
    return Archive(np.concatenate(games), np.concatenate(depths))
