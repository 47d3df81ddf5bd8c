"""The tree of a game: its positions, the lines through them, and moves as people write them. It knows no rules."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydlshogi.analysis import AnalysedMove
from pydlshogi.entry import NO_NAMES, Look, Name, OpeningNames
from pydlshogi.game import GameEnd

NO_MOVE: Final = Name("", "")
_MOVE: Final = re.compile(r"([A-Z]\*|\d[a-z])(\d[a-z])(\+?)")
"""The piece that is dropped or the square that is left, the square that is reached, whether it promotes."""


@dataclass(eq=False, slots=True)
class Node:
    """A position of a game, the move that led to it, and what is known of both."""

    sfen: str
    turn: int
    """0: Black is to move, 1: White."""
    parent: "Node | None" = None
    move: str = ""
    number: int = 0
    """The same move as the position takes it."""
    written: Name = NO_MOVE
    """The same as people write it."""
    seconds: float | None = None
    """That the move took; None: nobody knows."""
    evaluation: int | None = None
    """What a record says, in centipawns from Black's view."""
    comment: str = ""
    candidates: Sequence[AnalysedMove] = ()
    """What a record says that an analysis thought here."""
    tried: bool = False
    """The move was an answer in practice."""
    ended: GameEnd | None = None
    """How the game ended here where the rules do not say it: by resignation, on time, as a record has it."""
    broken_off: str = "unknown"
    """How a record says that the game ended, where it can be played on."""
    discs: int | None = None
    """By how many discs Black won, as a record says."""
    spent: float = 0.0
    """Seconds that the side to move has thought here, up to when its clock last stood."""
    verdict: GameEnd | None = None
    """How the rules end the game here."""
    opening: OpeningNames = NO_NAMES
    children: list["Node"] = field(default_factory=list)

    @property
    def ending(self) -> GameEnd | None:
        return self.ended or self.verdict

    def child(self, move: str) -> "Node | None":
        """Where a move leads that has been played from here."""
        return next((child for child in self.children if child.move == move), None)

    def path(self) -> list["Node"]:
        """The positions that lead here, the first one and itself included."""
        path = [self]
        while path[-1].parent is not None:
            path.append(path[-1].parent)
        return path[::-1]

    def played_on(self) -> list["Node"]:
        """Itself, and the line that was played first from here."""
        line = [self]
        while line[-1].children:
            line.append(line[-1].children[0])
        return line


class Variation(NamedTuple):
    """A line that leaves another."""

    after: int
    """How many moves of the other."""
    depth: int
    """0: it leaves the line that is shown; else it leaves one that stands before it, whose depth is 1 less."""
    nodes: list[Node]


def variations_of(line: Sequence[Node], since: int = 0, depth: int = 0) -> Iterator[Variation]:
    """All that leave a line, and those that leave them, as `RecordedGame` has them: the last to leave comes first."""
    for ply in reversed(range(since, len(line))):
        for child in line[ply].children:
            if child not in line[ply + 1 : ply + 2]:
                tail = child.played_on()
                yield Variation(ply, depth, tail)
                yield from variations_of([*line[: ply + 1], *tail], ply + 1, depth + 1)


def written(look: Look, sfen: str, move: str, before: str = "") -> Name:
    """A move of a position as people write it, where `before` led there: P7g-7f, ▲７六歩(77) or △同歩(75) where pieces
    move, else as USI does."""
    found = _MOVE.fullmatch(move)
    if found is None:
        return Name("Pass", "パス") if move == "pass" else Name(move, move)
    origin, target, promotes = found.groups()
    board, side, *_ = sfen.split()
    piece, arrow, act, source = origin[0], "*", "打", ""
    if not origin.endswith("*"):
        piece = _letter(look, board, origin).upper()
        arrow = origin + ("-" if _letter(look, board, target) == " " else "x")
        act, source = "成" if promotes else "", f"({origin[0]}{look.rows.index(origin[1]) + 1})"
    to = "０１２３４５６７８９"[int(target[0])] + "一二三四五六七八九"[look.rows.index(target[1])]
    if before.rstrip("+").endswith(target):
        to = "同"
    return Name(
        f"{look.letters.get(piece, piece)}{arrow}{target}{promotes}",
        f"{'▲△'[side == 'w']}{to}{look.names[piece].japanese}{act}{source}",
    )


def _letter(look: Look, board: str, square: str) -> str:
    """What stands on a square of an sfen's board; a blank: nothing."""
    row = re.sub(r"\d", lambda digit: " " * int(digit[0]), board.split("/")[look.rows.index(square[1])])
    cells = re.findall(r"\+?.", row)
    return str(cells[look.columns[-len(cells) :].index(square[0])])
