"""Names of openings and castles, recognised from where the pieces stand: the two tables are all there is to it.

`S77` is a silver on 7g and `S56,66` one on 5f or 6f, `R2` a rook anywhere on the 2nd file, `-P2` no pawn there, `B*` a
bishop in hand: each as its owner sees the board, small letters being the other side's. A row fits for either side.
"""

import re
from typing import Final, NamedTuple

from pydlshogi.entry import Name, OpeningNames
from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.sfen import ON_BOARD
from pydlshogi.support.usi_text import pieces_on

OPENING_PLIES: Final = 50
"""After this no opening gets another name."""

_OPENINGS: Final = """
0   Static rooks                    相居飛車　　　　　  R2 r2 P24,25,26 p24,25,26
1   Yokofudori (side pawn)          横歩取り　　　　　  R34 P76 -P2 -p7 -p2
1   Aigakari (double wing attack)   相掛かり　　　　　  P77 R2 r2 -P2 p24,25
1   Aigakari (double wing attack)   相掛かり　　　　　  P77 R2 r2 -P2 -p2
1   Aigakari (double wing attack)   相掛かり　　　　　  P77 R2 r2 P24,25 -p2
k1  Kakugawari (bishop exchange)    角換わり　　　　　  R2 r2 B* b* P24,25,26 p24,25,26
k2  Kakugawari, reclining silver    角換わり腰掛け銀　  R2 r2 B* b* P24,25,26 p24,25,26 S56
k2  Kakugawari, rushing silver      角換わり早繰り銀　  R2 r2 B* b* P24,25,26 p24,25,26 S46
k2  Kakugawari, climbing silver     角換わり棒銀　　　  R2 r2 B* b* P24,25 p24,25,26 S26
1   Gangi (snow roof)               雁木　　　　　　　  R2 r2 -B* -b* S67 P66 P76 G78 p24,25,26
1   Yagura                          矢倉　　　　　　　  R2 r2 -B* -b* S77 P76 p24,25,26
1   Right-hand fourth-file rook     右四間飛車　　　　  R48 P45,46 P25,26,27 r2
r2  Ishida                          石田流　　　　　　  R76,78 P75 P26,27
r2  Gokigen nakabisha               ゴキゲン中飛車　　  R58 P55,56 P67 P76 P26,27
r2  Shikenbisha, bishops exchanged  角交換四間飛車　　  R68 P26,27 B* b*
r2  Mukaibisha, bishops exchanged   角交換向かい飛車　  R88 P26,27 B* b*
r1  Nakabisha (central rook)        中飛車　　　　　　  R58 P26,27
r1  Shikenbisha (fourth-file rook)  四間飛車　　　　　  R68 P26,27
r1  Sankenbisha (third-file rook)   三間飛車　　　　　  R78 P26,27
r1  Mukaibisha (opposing rook)      向かい飛車　　　　  R88 P26,27
r3  Double ranging rook             相振り飛車　　　　  R58,68,76,78,88 P26,27 r58,68,76,78,88 p26,27
"""
"""A name gives way to those of its family, the letter, with a higher number; 0 to all."""

_CASTLES: Final = """
Silver crown     銀冠          K28 S27 G38
Silver crown     銀冠          K88 S87 G78
High mino        高美濃囲い    K28 S38 G49 G47
Mino             美濃囲い      K28 S38 G49
Left mino        左美濃        K88 S78 G69
Left mino        天守閣美濃    K87 S78 G69
Anaguma          穴熊          K19 L18,19
Anaguma          穴熊          K99 L98,99
Kin-muso         金無双        K38 G48 G58
Yagura castle    矢倉囲い      K88 S77 G78
Gangi castle     雁木囲い      S67 S57 G78
Boat             舟囲い        K78 G69 G58
Elmo             エルモ囲い    K78 S68 G79
Millennium       ミレニアム    K89 G79
Right-hand king  右玉          K38,48 R29 S47
Nakazumai        中住まい      K58 G38 G78
"""


class _Piece(NamedTuple):
    any_of: tuple[str, ...]
    others: bool
    """It is the other side's."""
    missing: bool
    """There is to be none."""


class _Row(NamedTuple):
    place: str
    """Family and number; "" of castles."""
    name: Name
    pieces: tuple[_Piece, ...]


def _rows(table: str) -> list[_Row]:
    rows = []
    for line in table.strip().splitlines():
        *place, english, japanese, pieces = re.split(r"[ \u3000]{2,}", line)
        rows.append(_Row("".join(place), Name(english, japanese), tuple(map(_meant, pieces.split()))))
    return rows


def _meant(text: str) -> _Piece:
    piece, squares = text.removeprefix("-")[0], text.removeprefix("-")[1:].split(",")
    return _Piece(tuple(piece.upper() + square for square in squares), piece.islower(), text.startswith("-"))


OPENINGS: Final = _rows(_OPENINGS)
CASTLES: Final = _rows(_CASTLES)
_PLACES: Final = {row.name: row.place for row in OPENINGS}


def opening(position: PlayedPosition, before: OpeningNames) -> OpeningNames:
    """The opening and the castles once a move has led to `position`."""
    sides = _sides(position.sfen())
    name = before.name
    if position.ply() <= OPENING_PLIES:
        rows = (row for row in OPENINGS if _gives_way(_PLACES[name] if name else "", row.place))
        name = next((row.name for row in rows if _fits(row, *sides) or _fits(row, *sides[::-1])), name)
    castles = []
    for mark, own in zip("▲△", sides, strict=True):
        if castle := next((row.name for row in CASTLES if _fits(row, own, frozenset())), None):
            castles.append(Name(mark + castle.english, mark + castle.japanese))
    return OpeningNames(name, tuple(castles))


def _gives_way(before: str, place: str) -> bool:
    return before < place and (before in ("", "0") or before[:-1] == place[:-1] != "")


def _fits(row: _Row, own: frozenset[str], other: frozenset[str]) -> bool:
    return all((other if each.others else own).isdisjoint(each.any_of) == each.missing for each in row.pieces)


def _sides(sfen: str) -> tuple[frozenset[str], frozenset[str]]:
    """What Black and White have, each as in the tables: the squares, the files and the hand."""
    rows, _, hands, *_ = sfen.split()
    sides: tuple[set[str], set[str]] = (set(), set())
    for (rank, file), piece in pieces_on(rows, 9, 9, ON_BOARD).items():
        white = piece[-1].islower()
        seen = (file + 1, 9 - rank) if white else (9 - file, rank + 1)
        sides[white].update({f"{piece.upper()}{seen[0]}", f"{piece.upper()}{seen[0]}{seen[1]}"})
    for piece in filter(str.isalpha, hands):
        sides[piece.islower()].add(f"{piece.upper()}*")
    return frozenset(sides[0]), frozenset(sides[1])
