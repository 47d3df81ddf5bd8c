"""Names of openings: well-known first moves, recognised however the board is turned and in whatever order they came."""

import re
from functools import cache
from typing import Final

from pydlshogi.entry import Name, OpeningNames
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import Position
from pydlshogi.games.othello.squares import standing
from pydlshogi.games.othello.transcript import parse_transcript

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
