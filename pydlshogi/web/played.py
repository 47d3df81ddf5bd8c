"""A game on the board: one line of its tree is shown, and a place in that. It knows the rules, and no engine.

Nothing that was played is lost: another move in the midst of a game begins a variation. Positions are walked to by
moves forward and back, so no step plays a game from its start.
"""

import time
from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile
from typing import Any, Final, NamedTuple, TypeAlias

from pydlshogi.catalogue import GAMES
from pydlshogi.entry import Name, RecordedGame, RecordedLine
from pydlshogi.game import GameEnd, PlayedPosition
from pydlshogi.player.base_player import LONGEST_GAME, PlayerError
from pydlshogi.web.tree import Node, variations_of, written

ENGINE: Final = "pydlshogi ("
"""So begin the names of our opponents in records."""

SetUp: TypeAlias = Callable[[str, str | None], PlayedPosition]
"""Makes the first position of a game: its name, and the start as text or None for the usual one. Raises PlayerError."""


class TimeControl(NamedTuple):
    """What each side has, in seconds."""

    main: float
    """For the whole game."""
    byoyomi: float
    """For each move once that is used up."""


class LeftLine(NamedTuple):
    """The line that was left to try other moves."""

    line: list[Node]
    at: int


class ShownVariation(NamedTuple):
    """A line that leaves another."""

    after: int
    """How many moves of the other."""
    depth: int
    """0: it leaves the line that is shown; else it leaves an earlier one, whose depth is 1 less."""
    number: int
    """Of its first position."""
    moves: list[str]
    written: list[Name]
    own: bool
    """It can be deleted: neither a file has it, nor is it the game that was left to try it."""


class TableGame:
    """A game and the place in it that is shown."""

    def __init__(self, game: str, start: str | None, set_up: SetUp) -> None:
        """Between two people. Raises ValueError for a game that there is not, PlayerError for such a start."""
        if game not in GAMES:
            raise ValueError(f"there is no game {game}"[:80])
        self.game = game
        self.entry = GAMES[game]
        self.sides = ["", ""]
        """Black and White: an opponent of the game, "" a person."""
        self.position = set_up(game, start)
        """After the move that is shown: only `add` and `show` move it."""
        begin = Node(self.position.sfen(), self.position.turn, verdict=self.position.ending())
        self.start = None if set_up(game, None).sfen() == begin.sfen else start
        self.names = ["", ""]
        self.clock: TimeControl | None = None
        self.event = self.date = self.place = self.remark = ""
        self.headers: Sequence[Sequence[str]] = ()
        self.utf8 = False
        self.line = [begin]
        """The positions of the line that is shown, the first one included. Moves are added at its end; before any other
        change another list takes its place, because `left` may have this one."""
        self.at = 0
        """How many moves of the line have been made on the board."""
        self.nodes = [*self.line]
        """All positions, as they were added."""
        self.left: LeftLine | None = None
        self.asked: Node | None = None
        """Where a better move is to be found: until the answer is judged no engine plays on."""
        self.from_file = 0
        """How many of `nodes` come from a file, from whose line nothing is taken."""

    @classmethod
    def of(cls, recorded: RecordedGame, set_up: SetUp) -> "TableGame":
        """The game of a record, shown at its beginning, with people on both sides. Raises PlayerError, ValueError."""
        made = cls(recorded.game, recorded.start, set_up)
        made.names = [*recorded.names]
        made.event, made.date, made.place = recorded.event, recorded.date, recorded.place
        made.headers, made.utf8, made.remark = recorded.headers, recorded.utf8, recorded.remark
        made._add_line(recorded.line)
        made.tip.discs, line = recorded.discs, made.line
        for after, variation in recorded.variations:
            made.show(made.line[: after + 1])
            made._add_line(variation)
        made.show(line, 0)
        return made

    def _add_line(self, recorded: RecordedLine) -> None:
        """Go on from the end of the line by recorded moves."""
        begin = len(self.line)
        for move in recorded.moves:
            self.add(move)
        for node, seconds in zip(self.line[begin:], recorded.times, strict=False):
            node.seconds = seconds
        for node, evaluation in zip(self.line[begin:], recorded.evaluations, strict=False):
            node.evaluation = evaluation
        for node, comment in zip(self.line[begin - 1 :], recorded.comments, strict=False):
            node.comment = comment or node.comment
        for node, candidates in zip(self.line[begin - 1 :], recorded.candidates, strict=False):
            node.candidates = candidates or node.candidates
        self.tip.ended, self.tip.broken_off = recorded.ended, recorded.broken_off
        self.judge_tip()

    @property
    def tip(self) -> Node:
        """The last position of the line that is shown."""
        return self.line[-1]

    @property
    def shown(self) -> Node:
        return self.line[self.at]

    @property
    def moves(self) -> list[str]:
        """Of the line that is shown."""
        return [node.move for node in self.line[1:]]

    @property
    def variations(self) -> list[ShownVariation]:
        """All that leave the line that is shown, and those that leave them."""
        numbers, kept = {node: number for number, node in enumerate(self.nodes)}, self._kept()
        return [
            ShownVariation(
                after,
                depth,
                numbers[nodes[0]],
                [node.move for node in nodes],
                [node.written for node in nodes],
                nodes[0] not in kept,
            )
            for after, depth, nodes in variations_of(self.line)
        ]

    @property
    def at_tip(self) -> bool:
        return self.at == len(self.line) - 1

    @property
    def ending(self) -> GameEnd | None:
        """How the game has ended where it is shown."""
        return self.tip.ending if self.at_tip else None

    @property
    def engine_to_move(self) -> str:
        """The opponent that is to move where the game is shown; "" where a person is, or who looks back."""
        return "" if self.asked or self.ending or not self.at_tip else self.sides[self.position.turn]

    @property
    def person_to_move(self) -> bool:
        return not (self.ending or self.engine_to_move)

    @property
    def people(self) -> list[int]:
        """The sides that people have, 0 Black and 1 White: both where it is not known."""
        engines = [side or name.startswith(ENGINE) for side, name in zip(self.sides, self.names, strict=True)]
        return [side for side, engine in enumerate(engines) if not engine] or [0, 1]

    @property
    def legal(self) -> list[str]:
        """What a person may play where the game is shown."""
        if not self.person_to_move:
            return []
        return [self.position.usi(move) for move in self.position.legal_moves().tolist()]

    def why_not(self, move: str) -> str:
        """Why the rules forbid a person's move; "" for a legal one, promoting or not, and where they say nothing."""
        silent = not self.legal or any(each.startswith(move) for each in self.legal)
        return "" if silent else self.entry.why_not(self.position, move)

    @property
    def may_declare(self) -> bool:
        """Whether a person may win without a move."""
        return self.may_end and self.position.declares()

    @property
    def may_end(self) -> bool:
        """Whether a person may resign: who looks back ends nothing."""
        return self.at_tip and self.person_to_move

    def state(self) -> dict[str, Any]:
        """What a page shows of it."""
        ending = self.ending
        return {
            "game": self.game,
            "start": self.line[0].sfen,
            "usual": self.start is None,
            "odds": self.entry.gives_odds(self.line[0].sfen),
            "position": self.shown.sfen,
            "turn": self.shown.turn,
            "inDanger": self.entry.in_danger(self.position),
            "score": self.entry.score(self.position),
            "moves": self.moves,
            "written": [[*node.written] for node in self.line[1:]],
            "at": self.at,
            "variations": self.variations,
            "leftAt": self.left and self.left.at,
            "sides": self.sides,
            "names": self.names,
            "legal": self.legal,
            "mayDeclare": self.may_declare,
            "ending": ending and {"reason": ending.reason, "winner": ending.winner},
            "comment": self.shown.comment,
            "opening": [*self.shown.opening.names],
        }

    def take_sides(self, sides: object) -> None:
        """Who plays Black and White; a game with an engine begins now, if it has no date. Raises ValueError."""
        known = {"", *self.entry.opponents}
        if not isinstance(sides, list) or len(sides) != 2 or any(side not in known for side in map(str, sides)):
            raise ValueError("the two sides are people or opponents of the game")
        self.sides = [*map(str, sides)]
        self.date = self.date or (time.strftime("%Y/%m/%d %H:%M:%S") if any(self.sides) else "")

    def add(self, move: str) -> None:
        """End the line where it is shown, and go on by a move. Raises PlayerError for one that is not legal."""
        if not self.at_tip:
            self.show(self.line[: self.at + 1])
        if self.position.ply() >= LONGEST_GAME:
            raise PlayerError(f"position: a game of more than {LONGEST_GAME:,} plies")
        try:
            number = self.position.move_from_usi(move)
        except ValueError as error:
            raise PlayerError(f"position: move {len(self.line)}: {error}") from None
        move = self.position.usi(number)  # as the engines write it
        self.position.push(number)
        node, before = self.tip.child(move), self.tip
        if node is None:
            name = written(self.entry.look, before.sfen, move, before.move)
            node = Node(self.position.sfen(), self.position.turn, before, move, number, name)
            before.children.append(node)
            self.nodes.append(node)
        if self.start is None:
            node.opening = self.entry.opening(self.position, before.opening)
        self.line.append(node)
        self.at += 1

    def play(self, move: str) -> None:
        """Make a move where the game is shown; from the midst of a game that begins or takes up a variation. Raises
        PlayerError."""
        answers, known = self.asked is self.shown, len(self.nodes)
        if not self.at_tip and self.line[self.at + 1].move == move:
            self.go_to(self.at + 1)
        else:
            if not self.at_tip:
                self.leave()
            self.add(move)
            self.judge_tip()
            self.tip.tried = self.tip.tried or (answers and len(self.nodes) > known)
        self.asked = self.line[self.at - 1] if answers else None
        self._settle()

    def defend(self, move: str) -> None:
        """Answer the move that was tried, and let the next one be found."""
        known = len(self.nodes)
        self.play(move)
        self.tip.tried, self.asked = self.tip.tried or len(self.nodes) > known, self.shown

    def ask(self, ply: int) -> None:
        """Let a better move be found than the one after the first `ply` of the line. Raises ValueError."""
        if ply == len(self.line) - 1:
            raise ValueError("there is no move to be bettered")
        self.go_to(ply)
        self.asked = self.shown

    def judge_tip(self) -> None:
        """Ask the rules how the game stands at the end of the line, where it is shown."""
        self.tip.verdict = self.position.ending()

    def show(self, line: list[Node], at: int | None = None) -> None:
        """Show the position after `at` moves of a line; None: after all."""
        at = len(line) - 1 if at is None else at
        before, path = self.line[: self.at + 1], line[: at + 1]
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(before, path, strict=False)))
        for _ in before[same:]:
            self.position.pop()
        for node in path[same:]:
            self.position.push(node.number)
        self.line, self.at, self.asked = line, at, None

    def go_to(self, ply: int) -> None:
        """Raises ValueError."""
        if not 0 <= ply < len(self.line):
            raise ValueError("there is no such move")
        self.show(self.line, ply)

    def resign(self) -> None:
        """Raises ValueError."""
        if not self.may_end:
            raise ValueError("it is not your turn")
        self.end(GameEnd("resignation", 1 - self.position.turn))

    def declare(self) -> None:
        """Raises ValueError."""
        if not self.may_declare:
            raise ValueError("there is no win to declare")
        self.end(GameEnd("declaration", self.position.turn))

    def end(self, ended: GameEnd) -> None:
        """The game is over at the end of the line, and its moves do not say so."""
        self.tip.ended = ended
        self._settle()

    def _settle(self) -> None:
        """Where a game against an engine was left under way, the line that has come to its end is the game."""
        over = any(self.sides) and self.tip.ending and not self.asked
        left = self.left.line[-1] if over and self.left else None
        if left and not left.ending and left not in self.nodes[: self.from_file]:
            self.left = None

    def undo(self) -> None:
        """Go back to where a person was last to move, and end the line there; who has resigned is to move again.

        Who looked back, and whose game has ended or comes from a file, can come back to the line as it was; else the
        moves are taken back for good. Raises ValueError.
        """
        from_file, turn = self.tip in self.nodes[: self.from_file], self.tip.turn
        if self.ending == GameEnd("resignation", 1 - turn) and not (self.sides[turn] or from_file):
            self.tip.ended = None
            return
        if not self.at:
            raise ValueError("there is no move to take back")
        ply = self.at - 1
        while ply and self.sides[self.line[ply].turn] and not all(self.sides):
            ply -= 1
        line = self.line[: ply + 1]
        if not self.at_tip or self.tip.ending or from_file:
            self.leave()
            self.show(line)
            return
        taken = self.line[ply + 1 :]
        self.show(line)
        kept = self._kept()
        for node in takewhile(lambda node: not node.children and node not in kept, reversed(taken)):
            assert node.parent is not None
            node.parent.children.remove(node)
            self.nodes.remove(node)

    def leave(self) -> None:
        """Remember the line as it is, unless another is remembered already: other moves are tried from here on."""
        if self.left is None:
            self.left = LeftLine(self.line, self.at)

    def come_back(self) -> None:
        """To the line that was left: to its end where a game against an engine goes on there. Raises ValueError."""
        if self.left is None:
            raise ValueError("no game was left")
        (line, at), self.left = self.left, None
        self.show(line, None if any(self.sides) and not line[-1].ending else at)

    def take_variation(self, number: int) -> None:
        """Show the line that goes through a position, where it does so. Raises ValueError."""
        node = self._numbered(number)
        *before, _ = node.path()
        line, at = [*before, *node.played_on()], len(before)
        self.leave()
        self.show(line, at)
        if self.left and self.left.line == line:
            self.left = None

    def delete_variation(self, number: int) -> None:
        """Forget a position and all that follow it. Raises ValueError."""
        node = self._numbered(number)
        if node.parent is None or node in self._kept():
            raise ValueError("it belongs to the game")
        node.parent.children.remove(node)
        self.nodes = [each for each in self.nodes if node not in each.path()]

    def _numbered(self, number: int) -> Node:
        if not 0 <= number < len(self.nodes):
            raise ValueError("there is no such variation")
        return self.nodes[number]

    def _kept(self) -> set[Node]:
        """What cannot be taken: what a file has, the line that is shown, and the one that was left for it."""
        return {*self.nodes[: self.from_file], *self.line, *(self.left.line if self.left else ())}

    def walk(self, moves: Sequence[str]) -> list[tuple[Name, str]]:
        """The moves of a line from the position shown on, as people write them, each with the position after it."""
        steps: list[tuple[Name, str]] = []
        sfen, before = self.shown.sfen, self.shown.move
        try:
            for move in moves:
                name = written(self.entry.look, sfen, move, before)
                self.position.push(self.position.move_from_usi(move))
                steps.append((name, self.position.sfen()))
                sfen, before = steps[-1][1], move
        finally:
            for _ in steps:
                self.position.pop()
        return steps

    def so_far(self, set_up: SetUp) -> "TableGame":
        """Another game, with the moves that have been made on the board."""
        return TableGame.of(RecordedGame(self.game, self.start, RecordedLine(self.moves[: self.at])), set_up)

    def main_left(self) -> list[float]:
        """Seconds of main time that Black and White have left. There is a clock."""
        assert self.clock is not None
        left = [self.clock.main, self.clock.main]
        for before, node in pairwise(self.line):
            left[before.turn] = max(0.0, left[before.turn] - (node.seconds or 0.0))
        return left
