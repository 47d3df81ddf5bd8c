"""A recorded game judged by a player: what it thinks of every position, and what every move cost.

It knows players and games, but no files and no screen: see `pydlshogi.analyze`.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from pydlshogi.player.base_player import Info

MATE_EVAL: Final = 100_000
"""Evaluation of a mate found, less the plies it takes; engines on floodgate write the same figure."""

MARKS: Final = ((0.20, "??"), (0.10, "?"), (0.05, "?!"))
"""Win rate lost from which on a move is a blunder, a mistake, an inaccuracy; ShogiHome draws its lines there too."""

_MARKED: Final = {"?!": "inaccuracies", "?": "mistakes", "??": "blunders"}

DISC_MARKS: Final = ((10, "??"), (6, "?"), (3, "?!"))
"""The same where discs are counted: there a lost game can still be lost by more."""

LOSSES: Final = (0.01, 0.02, 0.05, 0.10, 0.20)
"""Win rate lost: where the bars of a histogram meet. The first is of less than 1 %, the last of blunders."""
DISC_LOSSES: Final = (1, 2, 3, 6, 10)
"""The same in discs."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the player thinks of a position, for the side to move."""

    evaluation: int
    """Centipawns; for a proven mate MATE_EVAL less its plies, negative for the side that is mated."""
    win_rate: float
    line: tuple[str, ...] = ()
    """The moves it expects; none where the game is over."""


class AnalysedMove(NamedTuple):
    """One of the moves that an analysis thought of."""

    evaluation: int
    """From Black's view, in centipawns."""
    line: Sequence[str]
    """USI moves, the candidate first."""
    nodes: int | None = None
    """That the analysis has looked at."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One move of the game."""

    number: int
    """From 1."""
    turn: int
    """Who made it: 0 Black, 1 White."""
    move: str
    before: Assessment
    after: Assessment
    in_discs: bool = False
    """Evaluations are hundredths of a disc."""

    @property
    def evaluation(self) -> int:
        """After the move, from Black's view."""
        return self.after.evaluation if self.turn else -self.after.evaluation

    @property
    def win_rate(self) -> float:
        """Black's, after the move."""
        return self.after.win_rate if self.turn else 1 - self.after.win_rate

    @property
    def best(self) -> str:
        """The player's own move; "" where it would have ended the game by declaration."""
        return self.before.line[0] if self.before.line else ""

    @property
    def loss(self) -> float:
        """Win rate that the move cost its maker; none if it is the player's own move."""
        return 0.0 if self.move == self.best else max(0.0, self.before.win_rate - (1 - self.after.win_rate))

    @property
    def discs(self) -> int | None:
        """How many the move cost its maker, where they are counted."""
        if not self.in_discs:
            return None
        return 0 if self.move == self.best else max(0, round((self.before.evaluation + self.after.evaluation) / 100))

    @property
    def missed_mate(self) -> bool:
        """There was a mate, and there is none any more."""
        return self.move != self.best and mates(self.before) and not mates(self.after, lost=True)

    @property
    def mark(self) -> str:
        """One of MARKS, or "" for a move that cost less."""
        if self.discs is not None:
            return next((mark for least, mark in DISC_MARKS if self.discs >= least), "")
        return next((mark for least, mark in MARKS if self.loss >= least), "")


def mates(assessment: Assessment, lost: bool = False) -> bool:
    """Whether the side to move is known to mate, or to be mated where it is `lost`."""
    return (-assessment.evaluation if lost else assessment.evaluation) > MATE_EVAL // 2


def assessment(move: str, said: Info | None) -> Assessment:
    """What was thought: the player's move, "win" and "resign" included, and the last it said of it, if it is a move."""
    if move == "win":
        return Assessment(MATE_EVAL - 1, 1.0)
    if said is None:
        assert move == "resign"
        return Assessment(-MATE_EVAL, 0.0)
    assert said.win_rate is not None  # at least one batch was evaluated
    evaluation = said.score_cp or 0
    if said.score_mate:
        evaluation = MATE_EVAL - abs(said.score_mate) if said.score_mate > 0 else abs(said.score_mate) - MATE_EVAL
    return Assessment(evaluation, said.win_rate, said.pv)


def as_json(judged: Judgement) -> dict[str, Any]:
    """A judgement in numbers and words for other programs; evaluation and win rates are Black's."""
    return {
        "number": judged.number,
        "side": "bw"[judged.turn],
        "move": judged.move,
        "evaluation": judged.evaluation,
        "winRate": judged.win_rate,
        "best": judged.best,
        "line": list(judged.before.line),
        "loss": judged.loss,
        "discs": judged.discs,
        "mark": judged.mark,
    }


class Account(NamedTuple):
    """What the moves of one side cost it."""

    side: str
    """b or w."""
    moves: int
    found: int
    """How many of them were the player's own."""
    loss: float
    """Win rate, on average."""
    marks: dict[str, int]
    """How many moves have each of MARKS, the least grave first."""
    histogram: list[int]
    """How many moves cost how much, between LOSSES or DISC_LOSSES."""
    discs: float | None = None
    """On average, where they are counted."""


def accounts(judgements: Iterable[Judgement]) -> list[Account]:
    """What is to be said of each side that has moved, Black first."""
    judgements = list(judgements)
    sides = ([judged for judged in judgements if judged.turn == turn] for turn in (0, 1))
    return [_account(own) for own in sides if own]


def _account(own: Sequence[Judgement]) -> Account:
    """Of the moves of one side."""
    discs = [judged.discs for judged in own if judged.discs is not None]
    losses: Sequence[float] = discs or [judged.loss for judged in own]
    bounds: Sequence[float] = DISC_LOSSES if discs else LOSSES
    return Account(
        "bw"[own[0].turn],
        len(own),
        sum(judged.move == judged.best for judged in own),
        sum(judged.loss for judged in own) / len(own),
        {mark: sum(judged.mark == mark for judged in own) for _, mark in reversed(MARKS)},
        [sum(bisect_right(bounds, loss) == bar for loss in losses) for bar in range(len(bounds) + 1)],
        sum(discs) / len(discs) if discs else None,
    )


def summary(judgements: Iterable[Judgement], names: Sequence[str]) -> list[str]:
    """Two lines for each side: its account in words, and how many of its moves cost how much."""
    bounds = [f"{bound:.0%}" for bound in LOSSES]
    bars = [f"under {bounds[0]}", *map(" to ".join, pairwise(bounds)), f"{bounds[-1]} or more"]
    lines = []
    for account in accounts(judgements):
        turn = "bw".index(account.side)
        counts = ", ".join(f"{_MARKED[mark]} ({mark}): {count}" for mark, count in account.marks.items())
        histogram = ", ".join(f"{bar}: {count}" for bar, count in zip(bars, account.histogram, strict=True))
        lines += [
            f"{('Black', 'White')[turn]}{f' ({names[turn]})' if names[turn] else ''}: best move {account.found} of "
            f"{account.moves} times, {account.loss:.1%} of winning lost per move; {counts}",
            f"  how many moves lost how much: {histogram}",
        ]
    return lines
