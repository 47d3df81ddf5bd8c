"""Openings: what players call them, and the opening book; however the board is turned.

`python -m utils.lab.othello_book` makes the book grow. Its file (.npz) holds of each position a key and by how many
discs the side to move is expected to win: where all moves lead to positions of the book, that is what the best of them
leads to. There it is played from: one of the moves that are nearly as good as the best is drawn, so games differ."""

import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.entry import Name, OpeningNames
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import Position
from pydlshogi.games.othello.squares import turned
from pydlshogi.games.othello.transcript import parse_transcript
from pydlshogi.support.arrays import ArraysError, Int16Array, Uint64Array, read_arrays
from pydlshogi.support.kernels.compiled import compiled
from pydlshogi.support.kernels.hashes import splitmix

LINES: Final = """
c4e3                        Perpendicular     縦取り
c4c3                        Diagonal          斜め取り
c4c5                        Parallel          並び取り (鼠)
c4e3f6e6f5                  Tiger             虎
c4e3f6e6f5c5d3              Leader's Tiger    リーダーズタイガー
c4e3f6e6f5c5d6              Brightwell        ブライトウェル
c4e3f6e6f5c5c3              Stephenson        ステファンソン
c4e3f6e6f5c5c3b4            No-Kung           ノーカン
c4e3f6e6f5c5c3g5            Kung              カン
c4e3f6e6f5c5c3c6            Comp'Oth          コンポス
c4e3f6e6f5c5f4g6f7          Rose-Bill         ローズビル
c4e3f6e6f5c5f4g5g4f3c6d3d6  Ishii             石井流
c4e3f6e6f5g6                Aubrey (Tanaka)   田中流
c4e3f6b4                    Bent Ganglion     ベントガングリオン
c4e3f5b4                    No-Cat            ノーキャット
c4e3f5b4f3                  Swallow           燕
c4e3f5e6d3                  Italian           イタリアン
c4e3f5e6f4                  Cat               猫
c4e3f5e6f4c5d6c6f7g5g6      Berner            ベルナー
c4e3f4c5                    Rabbit            兎
c4e3f4c5e6                  Horse             馬
c4e3f4c5d6e6                Mimura            三村流
c4e3f4c5d6f3c6              Shaman            シャーマン
c4e3f4c5d6f3d3              Inoue             イノウエ
c4e3f4c5d6f3d3c3            Iago              イアーゴ
c4e3f4c5d6f3e2              Bhagat            バガット
c4e3f4c5d6f3e6              Rose              ローズ
c4e3f4c5d6f3e6c6            Greenberg         グリーンバーグ
c4e3f4c5d6f3e6c3d3e2        Flat Rose         フラットローズ
c4e3f4c5d6f3e6c3d3e2b5      Rotating Flat     回転フラット
c4e3f4c5d6f3e6c3d3e2b5f5    Murakami          村上流
c4c3e6c5                    Wing              ウイング
c4c3f5c5                    Semi-Wing         セミウイング
c4c3d3c5b2                  X-square          X打ち
c4c3d3c5b3                  Snake             蛇
c4c3d3c5b3f3                Lysons            ライソンズ
c4c3d3c5b4                  Heath             ヒース (飛び出し)
c4c3d3c5b4e3                Heath-Chimney     大量取り
c4c3d3c5b4d2d6              Heath-Bat         ヒースバット
c4c3d3c5b4d2e2              Iwasaki           岩崎流
c4c3d3c5b5                  Raccoon Dog       狸
c4c3d3c5b6                  Hamilton          ハミルトン
c4c3d3c5d6                  Cow               牛
c4c3d3c5d6e3                Chimney           煙突
c4c3d3c5d6f4b4              Bat               コウモリ
c4c3d3c5d6f4f5              Rose-v-Toth       ローズ対トス
c4c3d3c5d6f4f5d2            Tanida            谷田流
c4c3d3c5d6f4f5d2g4d7        Sailboat          快速船
c4c3d3c5d6f4f5e6f6          Landau            ランドー
c4c3d3c5d6f4f5e6c6d7        Maruoka           丸岡流
c4c3d3c5f6                  Buffalo (Kenichi)  バッファロー
c4c3d3c5f6e2c6              Maruoka Buffalo   丸岡バッファロー
c4c3d3c5f6e3c6f5f4g5        Tanida Buffalo    谷田バッファロー
c4c3d3c5f6f5                Hokuriku Buffalo  北陸バッファロー
"""
"""Moves, and what they are called in English and in Japanese."""


def opening(position: OthelloPosition, before: OpeningNames) -> OpeningNames:
    """The opening once a move has led to `position`; what has no name of its own is called as the position before."""
    name = names().get(standing(position.now))
    return OpeningNames(name) if name else before


@cache
def names() -> dict[Position, Name]:
    """By the position after the moves."""
    known = {}
    for line in LINES.strip().splitlines():
        moves, english, japanese = re.split(" {2,}", line)
        known[standing(parse_transcript(moves).end)] = Name(english, japanese)
    return known


def standing(position: Position) -> Position:
    """The position turned so that all its rotations and mirror images are the same, Black to move."""
    mover, opponent = np.uint64(position.mover), np.uint64(position.opponent)
    return Position(*min((int(turned(mover, turn)), int(turned(opponent, turn))) for turn in range(8)))


# The book

SHIPPED_OPENINGS: Final = "othello_openings.npz"
SPREADS: Final = (2.0,) * 8 + (0.5,)
"""Discs by which a move that is played may be worse than the best, by ply; the last from there on: games part early,
and each further move that is not the best costs something."""
_HOLDS: Final = "opening book of Othello"


@dataclass(frozen=True)
class OpeningBook:
    """Positions, found by their keys. That two of them share a key has a probability of 1 to 100 million."""

    keys: Uint64Array
    """uint64 [positions], rising: see `key_of`."""
    worths: Int16Array
    """int16 [positions]: by how many hundredths of a disc the side to move is expected to win."""

    def worth(self, position: Position) -> int | None:
        """What the book says of a position, in hundredths of a disc; None: it does not hold it."""
        key = key_of(position)
        place = int(np.searchsorted(self.keys, key))
        return int(self.worths[place]) if place < len(self.keys) and self.keys[place] == key else None

    def moves(self, position: Position) -> dict[int, float]:
        """The moves of `position`, and by how many discs each is expected to win for the side to move; none of them
        where one leads out of the book, which might be the best."""
        known: dict[int, float] = {}
        for move in position.moves():
            if (worth := self.worth(position.play(move))) is None:
                return {}
            known[move] = -worth / 100
        return known

    def good(self, position: Position) -> dict[int, float]:
        """Those of the moves that are nearly as good as the best one."""
        moves, ply = self.moves(position), 60 - position.empties
        spread = SPREADS[min(ply, len(SPREADS) - 1)]
        return {move: worth for move, worth in moves.items() if worth >= max(moves.values()) - spread}

    def choose(self, position: Position, rng: random.Random) -> tuple[int, float] | None:
        """One of these, and its worth; None: the book has none."""
        good = self.good(position)
        return rng.choice([*good.items()]) if good else None


NO_OPENINGS: Final = OpeningBook(np.zeros(0, np.uint64), np.zeros(0, np.int16))


def key_of(position: Position) -> np.uint64:
    """A hash of a position, the same whichever way the board is turned; who of Black and White moves is left out."""
    return _key(np.uint64(position.mover), np.uint64(position.opponent))


@compiled
def _key(mover: np.uint64, opponent: np.uint64) -> np.uint64:
    least = splitmix(mover ^ splitmix(opponent))
    for turn in range(1, 8):
        least = min(least, splitmix(turned(mover, turn) ^ splitmix(turned(opponent, turn))))
    return least  # type: ignore[no-any-return]


def read_openings(path: Path) -> OpeningBook:
    """The book of a file. Raises ArraysError, OSError."""
    book = read_arrays(path, OpeningBook, _HOLDS)
    keys, worths = book.keys, book.worths
    arrays = keys.dtype == np.uint64 and worths.dtype == np.int16 and keys.ndim == 1 and keys.shape == worths.shape
    if not arrays or (keys[1:] <= keys[:-1]).any():
        raise ArraysError(f"{path} holds no {_HOLDS}, or is damaged")
    return book
