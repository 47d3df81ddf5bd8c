"""The words of KIF, and a game as KIF text, with evaluations and analyses in comments, as GUIs show them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from pydlshogi.analysis import AnalysedMove
from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS
from pydlshogi.games.shogi.kifu.game import CANDIDATE, Conclusion, Ending, Game, Variation, comment_lines, settle
from pydlshogi.games.shogi.names import COLOUR
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN, move_of
from pydlshogi.support.decoding import one_line

LOWER: Final = "/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
HANDICAPS: Final[dict[str, str]] = {
    "平手": START_SFEN,
    "香落ち": f"lnsgkgsn1/1r5b1{LOWER}",
    "右香落ち": f"1nsgkgsnl/1r5b1{LOWER}",
    "角落ち": f"lnsgkgsnl/1r7{LOWER}",
    "飛車落ち": f"lnsgkgsnl/7b1{LOWER}",
    "飛香落ち": f"lnsgkgsn1/7b1{LOWER}",
    "二枚落ち": f"lnsgkgsnl/9{LOWER}",
    "三枚落ち": f"lnsgkgsn1/9{LOWER}",
    "四枚落ち": f"1nsgkgsn1/9{LOWER}",
    "五枚落ち": f"2sgkgsn1/9{LOWER}",
    "左五枚落ち": f"1nsgkgs2/9{LOWER}",
    "六枚落ち": f"2sgkgs2/9{LOWER}",
    "左七枚落ち": f"2sgkg3/9{LOWER}",
    "右七枚落ち": f"3gkgs2/9{LOWER}",
    "八枚落ち": f"3gkg3/9{LOWER}",
    "十枚落ち": f"4k4/9{LOWER}",
}
HANDICAP_NAMES: Final = {sfen: name for name, sfen in HANDICAPS.items()}
NAMES: Final = " 歩香桂銀角飛金玉と杏圭全馬龍"
"""By the number of a piece."""
KANJI: Final = ("", *"一二三四五六七八九十", *(f"十{digit}" for digit in "一二三四五六七八"))
"""The numbers up to 18."""
ENDINGS: Final[dict[str, Conclusion]] = {
    "投了": ("resign", "-"),
    "不詰": ("no_mate", None),  # before 詰, which stands in it
    "詰み": ("mate", "-"),
    "詰": ("mate", "-"),
    "切れ負け": ("time_up", "-"),
    "切れ": ("time_up", "-"),
    "反則負け": ("illegal_move", "-"),
    "反則勝ち": ("illegal_move", "+"),
    "反則": ("illegal_move", None),
    "入玉勝ち": ("declaration", "+"),
    "入玉": ("declaration", "+"),
    "宣言": ("declaration", "+"),
    "トライ": ("try", "-"),
    "不戦勝": ("default", "+"),
    "不戦敗": ("default", "-"),
    "不戦": ("default", None),
    "王手": ("perpetual_check", "+"),  # before 千日手
    "千日手": ("sennichite", "d"),
    "持将棋": ("jishogi", "d"),
    "分け": ("jishogi", "d"),
    "最大手数": ("max_moves", "d"),
    "中断": ("interrupted", None),
    "封じ手": ("interrupted", None),
}
"""The words in the line that ends a game; of those that end it alike the first is written."""
DECLARED: Final = "入玉宣言"

_SUBSTITUTES: Final[dict[Ending, Ending]] = {
    "perpetual_check": "illegal_move",
    "max_moves": "jishogi",
    "abnormal": "interrupted",
}
"""What KIF has no word for, and what comes nearest."""


def line_to_kif(position: ShogiPosition, moves: Iterable[str], previous: int | None = None) -> list[str]:
    """USI moves from `position`, which is left as it is, as KIF writes them, ▲ or △ before.

    `previous`: the move that led there.
    """
    words = _words(position, [move_of(usi) for usi in moves], previous)
    return ["▲△"[(position.turn + ply) % 2] + word for ply, word in enumerate(words)]


def _words(position: ShogiPosition, moves: Sequence[int], previous: int | None) -> Iterator[str]:
    """Moves from a position on, to which `previous` led."""
    for move in position.named(moves):
        to, origin = move & SEVEN_BITS, move >> ORIGIN & SEVEN_BITS
        same = previous is not None and previous & SEVEN_BITS == to
        place = "同　" if same else f"{'１２３４５６７８９'[to // 9]}{KANJI[to % 9 + 1]}"
        if origin > DROP:
            yield f"{place}{NAMES[origin - DROP]}打"
        else:
            promotes = "成" if move & PROMOTE else ""
            yield f"{place}{NAMES[move >> 16]}{promotes}({origin // 9 + 1}{origin % 9 + 1})"
        previous = move


def _diagram(position: ShogiPosition) -> Iterator[str]:
    """The lines of a diagram, as BOD has them."""
    black, white = (
        "　".join(NAMES[kind] + (KANJI[many] if many > 1 else "") for kind, many in hand.items()) or "なし"
        for hand in position.hands()
    )
    edge, squares = "+---------------------------+", position.squares()
    yield from (f"後手の持駒：{white}", "  ９ ８ ７ ６ ５ ４ ３ ２ １", edge)
    for rank in range(9):
        row = squares[72 + rank :: -9]
        cells = (f"{' v'[piece // COLOUR]}{NAMES[piece % COLOUR] if piece else '・'}" for piece in row)
        yield f"|{''.join(cells)}|{KANJI[rank + 1]}"
    yield from (edge, f"先手の持駒：{black}", *["後手番"] * position.turn)


def to_kif(game: Game, lines: Sequence[Sequence[str]] = ()) -> str:
    """`game` as a KIF text ending in a newline, evaluations in comments as ShogiGUI writes them and other GUIs show.

    `lines`, if any, has one entry per move: the USI moves expected after it, written behind its evaluation. An analysis
    takes the place of both.

    Endings KIF has no word for become the nearest it has: max_moves 持将棋, perpetual_check 反則, abnormal 中断.
    """
    handicap = HANDICAP_NAMES.get(game.start_sfen)
    position = ShogiPosition(game.start_sfen)
    lower, upper = ("下手", "上手") if handicap and handicap != "平手" else ("先手", "後手")
    headers = (("開始日時", game.date), ("棋戦", game.event), ("場所", game.place), *game.headers)
    text = [f"{key}：{one_line(value)}" for key, value in headers if one_line(value)]
    text += [f"手合割：{handicap}"] if handicap else _diagram(position)
    text += [f"{side}：{one_line(name)}" for side, name in zip((lower, upper), game.names, strict=True)]
    text.append("手数----指手---------消費時間--")
    text += comment_lines(game.comments, 0, "*")
    text += chain(*game.analysis[:1])
    writer = _Writer(position)
    text += writer.line(game, game.comments, game.analysis[1:], lines)
    text += _closing(game, position.turn, upper if game.win == "w" else lower)
    for variation in game.variations:
        writer.go_back(variation.after)
        text += [
            "",
            f"変化：{variation.after + 1}手",
            *writer.line(variation, ("", *variation.comments), variation.analysis),
        ]
        known = _SUBSTITUTES.get(variation.ending, variation.ending)
        if word := next((word for word, (ending, _) in ENDINGS.items() if ending == known), None):
            text.append(f"{variation.after + len(variation.moves) + 1:4} {word}")
    return "\n".join(text) + "\n"


class _Writer:
    """Writes the line of a game, then the variations one after the other."""

    def __init__(self, position: ShogiPosition) -> None:
        self._position = position
        self._made: list[tuple[int, float]] = []
        """The moves on the board, and what the side of each has spent by then."""

    def go_back(self, after: int) -> None:
        """Take back all moves but the first `after`."""
        while len(self._made) > after:
            self._position.pop()
            self._made.pop()

    def line(
        self,
        line: Game | Variation,
        comments: Sequence[str],
        analysis: Sequence[Sequence[str]],
        expected: Sequence[Sequence[str]] = (),
    ) -> Iterator[str]:
        """`comments`: by number of moves."""
        words = _words(self._position, line.moves, self._made[-1][0] if self._made else None)
        plies = zip(words, line.moves, line.evals, line.times, strict=True)
        for number, (word, move, evaluation, time) in enumerate(plies, 1):
            yield self._make(word, move, time)
            if known := [*chain(*analysis[number - 1 : number])]:
                yield from known
            elif evaluation is not None:
                thought = ["**対局 時間", _clock(time or 0).strip(), "評価値", str(evaluation)]
                following = line_to_kif(self._position, expected[number - 1], move) if expected else []
                yield " ".join([*thought, "読み筋", *following] if following else thought)
            yield from comment_lines(comments, number, "*")

    def _make(self, word: str, move: int, time: float | None) -> str:
        spent = (self._made[-2][1] if len(self._made) > 1 else 0.0) + (time or 0.0)
        self._made.append((move, spent))
        self._position.push(move)
        clock = "" if time is None else f"   ({_clock(time)}/{_clock(spent, hours=True)})"
        return f"{len(self._made):4} {word}{clock}"


def candidate_lines(
    position: ShogiPosition, candidates: Iterable[AnalysedMove], previous: int | None = None
) -> Iterator[str]:
    """Comments on a position, to which the move `previous` led, as ShogiGUI's manual lays them out."""
    for rank, candidate in enumerate(candidates, 1):
        nodes = [] if candidate.nodes is None else ["ノード数", str(candidate.nodes)]
        words = [f"{CANDIDATE}{rank}", *nodes, "評価値", str(candidate.evaluation), "読み筋"]
        declared = [*candidate.line] == ["win"]
        yield " ".join([*words, *([DECLARED] if declared else line_to_kif(position, candidate.line, previous))])


def _clock(seconds: float, hours: bool = False) -> str:
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}" if hours else f"{minutes:2}:{second:02}"


def _closing(game: Game, turn: int, winner: str) -> list[str]:
    """The lines of how `game` ended; `winner`: what its side is called, where it has one."""
    count = len(game.moves)
    outcome = (_SUBSTITUTES.get(game.ending, game.ending), game.win)
    word = next((word for word, conclusion in ENDINGS.items() if settle(conclusion, turn) == outcome), None)
    lines = [f"{count + 1:4} {word}"] if word else []
    if game.win in ("b", "w"):
        cause = "反則" if outcome[0] == "illegal_move" else ""  # Kifu for JS refuses any other
        return [*lines, f"まで{count}手で{winner}の{cause}勝ち"]
    return [*lines, f"まで{count}手で{word}"] if word else lines


def kif_bytes(text: str, utf8: bool = False) -> bytes:
    """KIF text as its readers expect it: in Shift_JIS where that can say everything, unless `utf8` is wanted."""
    fits = (
        not utf8 and text.encode("cp932", "replace").decode("cp932", "replace") == text
    )  # it writes two wave dashes as one
    name, codec = ("Shift_JIS", "cp932") if fits else ("UTF-8", "utf-8")
    return f"#KIF version=2.0 encoding={name}\n{text}".encode(codec)
