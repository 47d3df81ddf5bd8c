"""One game on a server: what is proposed, a Game_Summary, as `Terms`; then from START to its end whose move, whose
clock, what is thought, and the record of it."""

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pydlshogi.analysis import assessment
from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.csa.connection import Connection, Thinker
from pydlshogi.games.shogi.kifu import csa
from pydlshogi.games.shogi.kifu.csa import line_to_csa, move_named
from pydlshogi.games.shogi.kifu.game import Ending, Game, RecordError, Win
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.player.ask import Thought
from pydlshogi.player.base_player import Engine, moves_named, play_moves
from pydlshogi.player.clock import Clock, Limits

SIGNS: Final = "+-"
"""Of Black and White."""
_NUMBER: Final = re.compile(r"\d{1,9}", re.ASCII)
_UNIT: Final = re.compile(r"([1-9]\d{0,5})?(msec|sec|min)", re.ASCII)
_MILLISECONDS: Final = {"msec": 1, "sec": 1000, "min": 60_000}
_MOVE: Final = re.compile(r"([+-])(\d{4}[A-Z]{2})(?:,T(\d{1,9})(?!\d))?", re.ASCII)
_ENDINGS: Final[dict[str, Ending]] = {
    "#RESIGN": "resign",
    "#TIME_UP": "time_up",
    "#ILLEGAL_MOVE": "illegal_move",
    "#ILLEGAL_ACTION": "illegal_move",
    "#SENNICHITE": "sennichite",
    "#OUTE_SENNICHITE": "perpetual_check",
    "#JISHOGI": "declaration",
    "#MAX_MOVES": "max_moves",
    "#CHUDAN": "interrupted",
}
_RESULTS: Final = {"#WIN", "#LOSE", "#DRAW", "#CENSORED", "#CHUDAN"}
"""What the server says last of a game."""
_SIDES: Final[tuple[Win, Win]] = ("b", "w")


class TermsError(ValueError):
    """What is proposed cannot be played; the message says why, in one line."""


class SideClock(NamedTuple):
    """The clock of one side, in milliseconds. All 0: there is none."""

    unit: int
    """Of the numbers that the server tells."""
    total: int
    byoyomi: int
    delay: int
    """At the beginning of each move, not counted."""
    increment: int
    """Gained by each move, and to be spent on that very move."""

    def after(self, left: int, units: int) -> int:
        """What is left once a move has taken `units`. Of a main time a millisecond stays: all 0 would mean no clock."""
        return max(min(1, self.total), left + self.increment - max(0, units * self.unit - self.delay))

    def most(self, left: int) -> int | None:
        """What the next move may take; None: any time."""
        return left + self.increment + self.byoyomi + self.delay if any(self[1:]) else None


class Terms(NamedTuple):
    """Of one game. Pairs are (Black, White)."""

    game_id: str
    names: tuple[str, str]
    own: int
    """The side that we play: 0 Black, 1 White."""
    times: tuple[SideClock, SideClock]
    max_moves: int
    """The game is drawn after as many moves; 0: no such rule."""
    start: Game
    """The position, with the moves that have been made: of an opening, or of a game that goes on after a break."""

    @property
    def left(self) -> list[int]:
        """Milliseconds on both clocks.

        Servers do not agree whether the moves of an opening count, so increments give no more than there was."""
        left = [control.total for control in self.times]
        first = "bw".index(self.start.start_sfen.split()[1])
        for number, spent in enumerate(self.start.times):
            side = (first + number) % 2
            left[side] = min(left[side], self.times[side].after(left[side], int(spent or 0)))
        return left


def parse_terms(lines: Iterable[str]) -> Terms:
    """What stands between the first and the last line of a Game_Summary. Raises TermsError."""
    fields, times, position = dict[str, str](), (dict[str, str](), dict[str, str]()), list[str]()
    section = ""
    for line in lines:
        word, _, rest = line.partition(" ")
        key, _, value = line.partition(":")
        if word in {"BEGIN", "END"}:
            section = rest if word == "BEGIN" else ""
        elif section == "Position":
            position.append(line)
        elif section.startswith("Time"):
            for side in (0, 1):
                if section in {"Time", f"Time{SIGNS[side]}"}:
                    times[side][key] = value
        else:
            fields[key] = value
    own = fields.get("Your_Turn", "")
    if own not in {*SIGNS}:
        raise TermsError(f"it says no side: Your_Turn:{own[:40]}")
    try:
        (start,) = csa.parse("\n".join(position))
    except RecordError as error:
        raise TermsError(f"the position: {error}") from None
    if start.ending != "unknown":
        raise TermsError("the position: the game has ended there")
    black, white = map(_time_control, times)
    names = fields.get("Name+", ""), fields.get("Name-", "")
    return Terms(
        fields.get("Game_ID", ""), names, SIGNS.index(own), (black, white), _number(fields, "Max_Moves"), start
    )


def _time_control(fields: Mapping[str, str]) -> SideClock:
    text = fields.get("Time_Unit", "1sec").strip()
    unit = _UNIT.fullmatch(text)
    if unit is None:
        raise TermsError(f"a unit of time that is unknown: {text[:40]}")
    milliseconds = int(unit[1] or 1) * _MILLISECONDS[unit[2]]
    keys = ("Total_Time", "Byoyomi", "Delay", "Increment")
    return SideClock(milliseconds, *(milliseconds * _number(fields, key) for key in keys))


def _number(fields: Mapping[str, str], key: str) -> int:
    text = fields.get(key, "0").strip()
    if not _NUMBER.fullmatch(text):
        raise TermsError(f"no number: {key}:{text[:40]}")
    return int(text)


@dataclass(slots=True)
class Ply:
    """A move that the server has sent."""

    move: int
    milliseconds: int
    evaluation: int | None = None
    """Centipawns, Black's."""
    line: tuple[str, ...] = ()
    """What was expected after it."""


class ServerGame:
    """What the server says counts: the moves, the clocks and the end."""

    def __init__(
        self,
        terms: Terms,
        engine: Engine,
        thinker: Thinker,
        connection: Connection,
        *,
        say: Callable[[str], None],
        save: Callable[[Game, Sequence[Sequence[str]]], None],
        comments: bool,
        slack: float,
    ) -> None:
        """`say` tells the user of what goes wrong. `save` gets the record after each of our moves, and what was
        expected after each move of it. `comments`: tell the server with a move what it is worth. `slack`: seconds that
        the server may be late."""
        self._terms, self._engine, self._thinker, self._connection = terms, engine, thinker, connection
        self._say, self._save, self._comments, self._slack = say, save, comments, slack
        self._position = engine.set_up(terms.start.start_sfen)
        play_moves(self._position, terms.start.usi)
        self._left = terms.left
        self._plies: list[Ply] = []
        self._thought: Thought | None = None
        """What our last move comes from."""
        self._clock: Clock | None = None
        """Of the search under way."""
        self._expected = ""
        """The opponent's move, while it is pondered on."""
        self._ending: Ending = "abnormal"
        self._refused = False
        """The opponent has played what is not legal: the server has to end the game."""
        self._due = self._began = 0.0

    def play(self) -> Game:
        """Play it to its end. Raises Disconnected."""
        try:
            self._next_turn()
            while True:
                event = self._connection.receive(self._due)
                if isinstance(event, Thought):
                    self._move(event)
                elif event in _RESULTS:
                    return self._end(event)
                elif event.startswith("#"):
                    self._ending = _ENDINGS.get(event, self._ending)
                elif found := _MOVE.match(event):
                    self._hear_move(*found.groups())
        finally:
            self._stop()

    def record(self, ending: Ending = "abnormal", win: Win | None = None) -> Game:
        """The game so far."""
        start, plies = self._terms.start, self._plies
        seconds = (ply.milliseconds / 1000 for ply in plies)
        return Game(
            start.start_sfen,
            (*start.moves, *(ply.move for ply in plies)),
            win,
            ending,
            (*start.evals, *(ply.evaluation for ply in plies)),
            (*start.times, *(int(each) if each.is_integer() else each for each in seconds)),
            self._terms.names,
            event=self._terms.game_id,
        )

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """What was expected after each move."""
        return [()] * len(self._terms.start.moves) + [ply.line for ply in self._plies]

    def _next_turn(self) -> None:
        turn, self._began = self._position.turn, time.monotonic()
        most = self._terms.times[turn].most(self._left[turn])
        self._due = math.inf if most is None else self._began + most / 1000 + self._slack
        if turn == self._terms.own:
            self._thought = None
            if self._clock is None:
                self._think(self._position, self._limits())

    def _think(self, position: PlayedPosition, limits: Limits) -> None:
        self._clock = self._thinker.think(position, limits, self._connection.inbox.put)

    def _stop(self) -> None:
        """What is being thought is not wanted any more."""
        if self._clock is not None:
            self._clock.stop()
        self._clock, self._expected = None, ""

    def _limits(self) -> Limits:
        (black, white), own = self._terms.times, self._terms.times[self._terms.own]
        return Limits(
            btime=self._left[0],
            wtime=self._left[1],
            binc=black.increment,
            winc=white.increment,
            byoyomi=own.byoyomi + own.delay,
        )

    def _move(self, thought: Thought) -> None:
        """Tell the server what was thought, unless that is not wanted any more."""
        if thought.clock is not self._clock:
            return
        self._clock, self._thought, move = None, thought, thought.move
        if move in {"resign", "win"}:
            self._connection.send("%TORYO" if move == "resign" else "%KACHI")
            return
        evaluation, line = self._assessment(thought)
        said = line_to_csa(ShogiPosition(self._position.sfen()), (move, *line))
        comment = "" if evaluation is None or not self._comments else " ".join([",'*", str(evaluation), *said[1:]])
        self._connection.send(said[0] + comment)

    def _assessment(self, thought: Thought) -> tuple[int | None, tuple[str, ...]]:
        """What a move is worth, for Black in centipawns, and what is expected after it."""
        if not thought.lines or thought.lines[0].win_rate is None:
            return None, ()
        evaluation = assessment(thought.move, thought.lines[0]).evaluation
        return -evaluation if self._terms.own else evaluation, thought.lines[0].pv[1:]

    def _hear_move(self, sign: str, csa: str, units: str | None) -> None:
        """A move was made: our own, which the server confirms, or the opponent's."""
        position, turn = self._position, self._position.turn
        if self._refused or SIGNS[turn] != sign:
            self._say(f"it is not the turn of {sign}{csa}")
            return
        made = ShogiPosition(position.sfen()).follow([move_named(csa)])
        if not made:
            self._say(f"{sign}{csa} is not legal here; the server has to end the game")
            self._stop()
            self._refused, self._due = True, time.monotonic() + self._slack
            return
        control = self._terms.times[turn]
        took = int(units) if units else math.ceil(1000 * (time.monotonic() - self._began) / control.unit)
        self._left[turn] = control.after(self._left[turn], took)
        ply = Ply(made[0], took * control.unit)
        self._plies.append(ply)
        if turn == self._terms.own:
            self._confirmed(ply)
        elif self._clock is not None and position.usi(ply.move) == self._expected:
            self._clock.hit(self._limits())
            self._expected = ""
        else:
            self._stop()
        position.push(ply.move)
        self._next_turn()
        if turn == self._terms.own:
            self._ponder()
            self._save(self.record(), self.lines)

    def _confirmed(self, ply: Ply) -> None:
        """The server has taken our move, or one that somebody else has made for us."""
        played = self._position.usi(ply.move)
        if self._thought is not None and self._thought.move == played:
            ply.evaluation, ply.line = self._assessment(self._thought)
        else:
            self._say(f"the server plays {played} for us")
            self._thought = None
            self._stop()

    def _ponder(self) -> None:
        """Think about what the opponent is expected to play now."""
        if self._thought is None or not self._thought.ponder or not self._engine.options.ponder:
            return
        if expected := moves_named(self._position, [self._thought.ponder]):
            position = self._position.copy()
            position.push(expected[0])
            self._expected = self._position.usi(expected[0])
            self._think(position, Limits(ponder=True))

    def _end(self, result: str) -> Game:
        ending = _ENDINGS.get(result, self._ending)
        if result in {"#CHUDAN", "#CENSORED"}:  # neither won nor drawn: stopped, or at the server's limit
            return self.record(ending)
        if result == "#DRAW":
            return self.record("jishogi" if ending == "declaration" else ending, "d")
        own = self._terms.own
        return self.record(ending, _SIDES[own if result == "#WIN" else 1 - own])
