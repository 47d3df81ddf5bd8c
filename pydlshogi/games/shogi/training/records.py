"""Game records of shogi to positions on disk, with what was played and how it ended.

Such a position takes 48 bytes and is read through a memory map. A set is built once, on all cores, and found again by
the content of its records. Knows records; knows nothing of encodings, networks or frameworks.
"""

import hashlib
import lzma
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import TextIOWrapper
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from pydlshogi.games.shogi.kifu.game import Game, moves_of
from pydlshogi.games.shogi.names import PAWN, WHITE
from pydlshogi.games.shogi.read_kifu import KifuError, read_games, read_list
from pydlshogi.games.shogi.sfen import START_SFEN, read_sfen
from pydlshogi.games.shogi.state import pieces_of, through
from pydlshogi.games.shogi.training.huffman import codes_of
from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.command_line import pool_of
from pydlshogi.support.decoding import parse_json
from pydlshogi.support.files import open_plain, replacing
from pydlshogi.training.settings import DatasetError

Split = Literal["train", "val"]
Positions = npt.NDArray[Any]
"""Structured arrays with the fields of POSITION."""

POSITION: Final = np.dtype(
    [
        ("hcp", np.uint8, 32),  # cshogi's Huffman code of the position
        ("move", "<u2"),  # the move that teaches the policy, as a rule the one played: the 16 bits of cshogi; 0: none
        ("before", "<u2", 2),  # the moves before it, the last one first; 0 where there was none
        ("eval", "<i2"),  # the record's evaluation in centipawns for the side to move, or NO_EVAL
        ("ply", "<u2"),  # half moves played before
        ("length", "<u2"),  # half moves of the whole game
        ("rating", "<u2"),  # of the player to move; 0 where unknown
        ("result", np.int8),  # for the side to move: WIN, DRAW, LOSS or NO_RESULT
        ("ending", np.uint8),  # of the game, as dlshogi marks it: 4 repetition, 8 declaration, 16 move limit
    ]
)
NO_EVAL: Final = -32768
MAX_EVAL: Final = 32000
WIN, DRAW, LOSS, NO_RESULT = 1, 0, -1, -128
# By who won, for Black and for White.
_RESULTS: Final = {None: (NO_RESULT, NO_RESULT), "d": (DRAW, DRAW), "b": (WIN, LOSS), "w": (LOSS, WIN)}

OWN: Final = ".positions"
"""How the names of files end that hold POSITION records: in the cache, and what `utils.lab.teach` makes."""
FORMAT: Final = 4
"""Part of the names in the cache: a change of what is packed gives it a new number."""
_GAMES_PER_TASK: Final = 128
_COMPLAINTS_SHOWN: Final = 10
_MOST_PAWNS: Final = 18
"""For more the code of a position has no room in its 32 bytes. Of other pieces no sfen has too many."""


def load_positions(
    source: Path,
    split: Split,
    cache: Path,
    say: Callable[[str], None] = tqdm.write,
) -> Positions:
    """The packed positions of `source`, memory-mapped; a process for each core packs them if `cache` lacks them.

    `source` is a list of record files, one a line, or a `.jsonl` or `.jsonl.xz` of games, of which only those are
    taken whose "split" is `split` or absent; where others have one, those without are not of "val". A broken game costs
    that game: `say` gets a line about each. Raises DatasetError where nothing can be read, OSError where the
    cache cannot be written, PoolError.
    """
    is_jsonl = source.name.endswith((".jsonl", ".jsonl.xz"))
    try:
        units: list[Path] | list[str] = _lines(source, split) if is_jsonl else list(read_list(source))
    except KifuError as error:
        raise DatasetError(f"{error} (a list of record files is wanted: utils.make_kifu_list makes one)") from error
    except (EOFError, OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise DatasetError(f"{source} cannot be read: {error}") from error
    path = cache / f"{_digest(units)}-{split}-{FORMAT}{OWN}"
    size = path.stat().st_size if path.exists() else 0
    if not size or size % POSITION.itemsize:
        path.parent.mkdir(parents=True, exist_ok=True)
        _build(units, split, path, say)
    if not path.stat().st_size:
        raise DatasetError(f"{source} holds no positions to learn from ({split})")
    return np.memmap(path, POSITION, "r")


def _lines(source: Path, split: Split) -> list[str]:
    packed = source.suffix == ".xz"
    with open_plain(source) as file, TextIOWrapper(lzma.open(file) if packed else file, encoding="utf-8") as text:
        lines = list(text)
    marked = [line for line in lines if '"split"' in line] if split == "val" else []
    return marked or lines


def _digest(units: Iterable[Path | str]) -> str:
    digest = hashlib.sha256()
    for unit in units:
        # A file that is missing is complained of when its games are read.
        content = unit.encode() if isinstance(unit, str) else unit.read_bytes() if unit.is_file() else b""
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()[:24]


def _build(units: list[Path] | list[str], split: Split, path: Path, say: Callable[[str], None]) -> None:
    parts = [units[start : start + _GAMES_PER_TASK] for start in range(0, len(units), _GAMES_PER_TASK)]
    games, complaints = 0, []
    with (
        replacing(path) as file,
        pool_of(0, None) as pool,
        tqdm(total=len(units), desc=f"packing {split}", unit=" games", disable=None) as bar,
    ):
        for positions, count, wrong in pool.in_order(partial(pack_units, split=split), parts):
            file.write(positions.tobytes())
            games += count
            complaints += wrong
            bar.update(count + len(wrong))
    for complaint in complaints[:_COMPLAINTS_SHOWN]:
        say(f"left out: {complaint}")
    if len(complaints) > _COMPLAINTS_SHOWN:
        say(f"left out: {len(complaints) - _COMPLAINTS_SHOWN} more")
    say(f"packed {games} games ({split}), {len(complaints)} left out")


def pack_units(units: Iterable[Path] | Iterable[str], split: Split) -> tuple[Positions, int, list[str]]:
    """Positions of the games in `units`, how many games they are, and what was wrong with the others.

    A unit is a record file or a line of a `.jsonl`; of lines, those of another `split` hold no game.
    """
    games: list[Game] = []
    randoms: list[Sequence[int]] = []
    complaints = []
    for unit in units:
        try:
            if isinstance(unit, str):
                for game, plies in _games_of_line(unit, split):
                    games.append(game)
                    randoms.append(plies)
            else:
                found = read_games(unit)
                games += found
                randoms += [()] * len(found)
        except (DatasetError, KifuError) as error:
            complaints.append(str(error))
    positions = pack(*games)
    start = 0
    for game, random in zip(games, randoms, strict=True):
        if random:
            # They teach no policy, and up to the last of them the game's result says nothing.
            positions["move"][[start + ply for ply in random]] = 0
            positions["result"][start : start + max(random) + 1] = NO_RESULT
        start += len(game.moves)
    return positions, len(games), complaints


def _games_of_line(line: str, split: Split) -> list[tuple[Game, list[int]]]:
    """The game of one line of a `.jsonl`, if it belongs to `split`, and the plies of its random moves.

    A game that ended abnormally, or whose winner was only inferred from the last move, gets no result.
    """
    try:
        record = parse_json(line)
        if "bestmove" in record:
            record = _of_position(record)
        if record.get("split", split) != split:
            return []
        start = record.get("start_sfen", START_SFEN)
        evals = tuple(None if text == "-" else round(float(text)) for text in record.get("evals", "").split())
        trusted = record["end"] != "abnormal" and not record.get("win_inferred")
        if record["win"] not in ("b", "w", "d"):
            raise ValueError(f"win is {record['win']!r}, not b, w or d")
        states, _ = read_sfen(start)
        pawns = pieces_of(states)[PAWN]
        if pawns > _MOST_PAWNS:
            raise ValueError(f"the start position has {pawns} pawns, a set has {_MOST_PAWNS}")
        moves = moves_of(start, record["moves"].split())
        random = [int(ply) for ply in record.get("random", ())]
        if not all(0 <= ply < len(moves) for ply in random):
            raise ValueError(f"random moves {random} of {len(moves)}")
        game = Game(
            start_sfen=start,
            moves=moves,
            win=record["win"] if trusted else None,
            ending="unknown",
            evals=evals,
            times=(),
            ratings=(_rating(record.get("rb")), _rating(record.get("rw"))),
        )
        return [(game, random)]
    except KeyError as error:
        raise DatasetError(f"{line[:60].strip()}...: there is no {error}") from error
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise DatasetError(f"{line[:60].strip()}...: {error}") from error


def _of_position(record: dict[str, Any]) -> dict[str, Any]:
    """A game of one move, of a position with its move and its result, 1 for Black; the evaluation is the mover's."""
    evaluation = record["eval"] if record["turn"] == 0 else -record["eval"]
    win = "dbw"[record["gameResult"]]
    return {"start_sfen": record["sfen"], "moves": record["bestmove"], "win": win, "end": "", "evals": str(evaluation)}


def _rating(rating: object) -> float | None:
    return float(rating) if isinstance(rating, int | float) else None


def pack(*games: Game) -> Positions:
    """Every position of `games` in which a move was played: POSITION [number of all moves]."""
    lengths = [len(game.moves) for game in games]
    packed = np.zeros(sum(lengths), POSITION)
    moves = list(chain.from_iterable(game.moves for game in games))
    packed["move"] = np.array(moves, np.int64) & 0xFFFF
    starts = [read_sfen(game.start_sfen)[0] for game in games]
    ends = np.cumsum([0, *lengths]).tolist()
    for start, game, first, end in zip(starts, games, ends, ends[1:], strict=False):
        packed["hcp"][first:end] = codes_of(through(start, game.moves)[:-1])
    packed["length"] = np.repeat(lengths, lengths)
    packed["ply"] = np.concatenate([np.arange(length) for length in [0, *lengths]])
    for back in (1, 2):
        packed["before"][back:, back - 1] = np.where(packed["ply"][back:] >= back, packed["move"][:-back], 0)
    game_of = np.repeat(np.arange(len(games)), lengths)
    side = (np.array([start["turn"][0] for start in starts], np.int8)[game_of] + packed["ply"]) % 2
    packed["result"] = np.array([_RESULTS[game.win] for game in games], np.int8).reshape(-1, 2)[game_of, side]
    ratings = [[_whole_rating(rating) for rating in game.ratings] for game in games]
    packed["rating"] = np.array(ratings, np.uint16).reshape(-1, 2)[game_of, side]
    recorded = (islice(chain(game.evals, repeat(None)), length) for game, length in zip(games, lengths, strict=True))
    evals = np.array(list(chain.from_iterable(recorded)), np.float64)  # None becomes NaN
    evals = np.where(side == WHITE, -1, 1) * evals.clip(-MAX_EVAL, MAX_EVAL)  # the record's are Black's
    packed["eval"] = np.where(np.isnan(evals), NO_EVAL, evals)
    return packed


def _whole_rating(rating: float | None) -> int:
    return min(max(round(rating), 0), 65535) if rating and math.isfinite(rating) else 0


def limit_repeats(positions: Positions, most: int, generator: np.random.Generator) -> Int64Array:
    """Indices, ascending, that keep each position at most `most` times, at random: openings repeat in thousands."""
    words = np.ascontiguousarray(positions["hcp"]).view(np.uint64)
    keys = np.zeros(len(words), np.uint64)
    for column in range(words.shape[1]):
        keys = (keys ^ words[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    order = generator.permutation(len(keys))
    order = order[np.argsort(keys[order], kind="stable")]
    keys = keys[order]
    is_first = np.concatenate([[True], keys[1:] != keys[:-1]])
    place = np.arange(len(keys))
    first = np.maximum.accumulate(np.where(is_first, place, 0))
    return np.sort(order[place - first < most])
