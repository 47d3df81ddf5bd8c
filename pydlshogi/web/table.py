"""The game on the board: what people and engines do with it, and what is known of it. It knows no HTTP.

There is one game, whoever looks at it; those that it replaced can be taken up again. Each change gives it a new
generation, and ends what was thought about the one before; a move must name the generation that its maker saw.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pydlshogi.analysis import LOSSES, Judgement, Opinion, accounts, as_json, opinion, repetition
from pydlshogi.analysis_server.pool import Answer, Pool, Question, Task, set_up
from pydlshogi.analysis_server.queries import result
from pydlshogi.analyze import annotated, encoded
from pydlshogi.engines.games import GAMES, GameEnd, OfferedGame
from pydlshogi.kifu.kif import AnalysedMove
from pydlshogi.player.base_player import PlayedPosition, PlayerError
from pydlshogi.player.clock import Limits
from pydlshogi.read_kifu import Game, Win
from pydlshogi.support.files import replacing
from pydlshogi.web.played import TableGame, TimeControl
from pydlshogi.web.records import (
    ENDINGS,
    File,
    Opened,
    OpenError,
    begin,
    has_kif,
    names_of,
    open_record,
    transcript,
    usi_line,
)

NEWS_EVERY: Final = 100.0
"""Milliseconds between two news of a search."""
LINES: Final = 5
"""Candidates shown, unless people want another number."""
MOST_LINES: Final = 20
ALL_MOVES: Final = 600
HINT_TIME: Final = 1000.0
"""Milliseconds."""
LONGEST_CLOCK: Final = 100_000.0
"""Seconds."""
MOST_EARLIER: Final = 10
"""Games that can be taken up again."""
_WINS: Final[Mapping[int | None, Win]] = {0: "b", 1: "w", None: "d"}
_IN_RECORDS: Final = {ours: theirs for theirs, ours in ENDINGS.items()}
_OF_ONE_POSITION: Final = ("move", "undo", "resign", "declare", "earlier")
"""Commands that mean the position that was seen. The others mean what there is, however quickly they follow."""
_URGENT, _WATCHED, _JUDGED = 2, 1, 0

log = logging.getLogger(__name__)
Message: TypeAlias = dict[str, Any]
_Known: TypeAlias = tuple[dict[int, Opinion], dict[int, Answer]]
_Left: TypeAlias = tuple[dict[int, Opinion], dict[int, Answer], float]
"""Of the game that was left: what was known of it, and the seconds that its side to move had taken."""


class Refused(ValueError):
    """Something that cannot be done now; the message is one line for people."""


class _File(NamedTuple):
    """A file that was opened."""

    games: Opened
    chosen: int
    known: Mapping[int, _Known] = {}
    """Of its games that have been looked at."""


class _Earlier(NamedTuple):
    """A game that another one has replaced, and what Table knew of it, by the same names."""

    played: TableGame
    opinions: dict[int, Opinion]
    heard: dict[int, Answer]
    left: _Left
    file: _File | None
    spent: float = 0.0
    """Seconds that its side to move had taken."""


class Table:
    """The game, its engines, and those who look."""

    def __init__(self, pool: Pool, tell: Callable[[str, Message], None], kept: Path | None = None) -> None:
        """`tell` is given the kind of a message, state or info, and the message. `kept`: where the game is kept."""
        self.pool = pool
        self._tell = tell
        self._kept = kept
        self._lock = threading.RLock()
        self.generation = 0
        self._played = TableGame()
        self._position: PlayedPosition = self._set_up()
        self._ending: GameEnd | None = None
        self._watching = False
        self._lines = LINES
        self._task: Task | None = None
        self._judging: list[Task] = []
        self._opinions: dict[int, Opinion] = {}
        self._heard: dict[int, Answer] = {}
        """By ply: the longest search so far of the position after so many moves."""
        self._left: _Left = ({}, {}, 0.0)
        self._file: _File | None = None
        """Where the game comes from, if it does."""
        self._earlier: list[_Earlier] = []
        """The one that was replaced last stands last."""
        self._spent_before = 0.0
        """Seconds that the side to move had taken when its clock last stood."""
        self._runs_since: float | None = None
        """On the monotonic clock, in seconds; None: the clock stands."""
        self._alarm: threading.Timer | None = None
        self._seen = False
        """A page has come."""
        self._error = ""
        with self._lock:
            self._remember()
            self._changed()

    # What people see

    def setup(self) -> Message:
        """What does not change: the games, and who plays them."""
        return {
            "games": {
                name: {
                    "opponents": [*offered.opponents],
                    "starts": [*offered.starts],
                    "hasPolicy": offered.has_policy,
                }
                for name, offered in GAMES.items()
            },
            "losses": LOSSES,
        }

    def state(self) -> Message:
        """The game as it stands."""
        with self._lock:
            played, position = self._played, self._position
            ending, judged = self._ending, self._judgements()
            return {
                "generation": self.generation,
                "game": played.game,
                "start": self._set_up().sfen(),
                "position": position.sfen(),
                "turn": position.turn,
                "moves": [*played.moves],
                "at": played.at,
                "sides": [*played.sides],
                "names": [*played.names],
                "legal": self._legal(),
                "mayDeclare": self._may_end() and self._offered.may_declare(position),
                "ending": ending and {"reason": ending.reason, "winner": ending.winner},
                "thinks": self._engines_turn() and self._task is not None,
                "watching": self._watching,
                "judging": len(self._judging),
                "comment": "".join(played.comments[played.at : played.at + 1]),
                "lines": self._lines,
                "winRates": [self._win_rate(ply) for ply in range(len(played.moves) + 1)],
                "judged": [as_json(judged) for judged in judged],
                "summary": [account._asdict() for account in accounts(judged)],
                "file": self._file and {"number": self._file.chosen + 1, "games": len(self._file.games)},
                "leftAt": played.left and played.left["at"],
                "earlier": len(self._earlier),
                "clock": self._clock_state(),
                "error": self._error,
            }

    def greet(self, put: Callable[[str, Message], None]) -> None:
        """Say all there is to a page that comes, before anything newer is said."""
        with self._lock:
            if not self._seen:
                self._seen = True
                if self._persons_turn():
                    self._set_clock()
            put("state", self.state())
            put("setup", self.setup())
            if (known := self._known()) is not None:
                put("info", known)

    def _known(self) -> Message | None:
        """What was said of the position shown by the analysis of the whole game, or by a search that is watched."""
        at = self._played.at
        return self._info(self._heard[at]) if at in self._heard and (at in self._opinions or self._watching) else None

    # What people do

    def do(self, command: Mapping[str, Any]) -> None:
        """Raises Refused, and changes nothing then."""
        doing = {
            "new": self._new,
            "move": self._move,
            "undo": self._undo,
            "resign": self._resign,
            "declare": self._declare,
            "goto": self._go_to,
            "back": self._come_back,
            "earlier": self._take_earlier,
            "choose": self._choose,
            "watch": self._watch,
            "hint": self._hint,
            "policy": self._policy,
            "judge": self._judge,
        }
        with self._lock:
            do = command.get("do")
            if not isinstance(do, str) or do not in doing:
                raise Refused(f"there is no command {do}"[:80])
            if do in _OF_ONE_POSITION and command.get("generation") != self.generation:
                raise Refused("the game has gone on meanwhile")
            doing[do](command)

    def nobody_looks(self) -> None:
        """What is thought for people who watch is in vain."""
        with self._lock:
            if self._watching:
                self._watch({"on": False})

    def open_record(self, data: bytes) -> None:
        """Show the first game of a file. Raises Refused."""
        try:
            opened = open_record(data, self._played.game)  # of a large file that takes seconds
        except OpenError as error:
            raise Refused(str(error)) from None
        if not opened:
            raise Refused("the record: it holds no game")
        with self._lock:
            self._show_opened(opened, 0)

    def record(self) -> File:
        """The game as a file, of shogi with what the engine thinks of it where it was asked."""
        with self._lock:
            start = self._set_up().sfen()
            if self._played.game == "shogi" and has_kif(start):
                return File("kif", self._kif())
            if self._played.game == "othello":
                return transcript(self._played)
            return File("txt", f"{usi_line(self._played, start)}\n".encode())

    def _kif(self) -> bytes:
        played = self._played
        position = self._set_up(len(played.moves))
        ending = self._judged_ending(position)
        names = names_of(played)
        game = Game(
            self._set_up().sfen(),
            tuple(played.moves),
            _WINS[ending.winner] if ending else None,
            _IN_RECORDS[ending.reason] if ending else played.broken_off,
            (*played.evals, *(None,) * (len(played.moves) - len(played.evals))),
            tuple(played.times),
            (names[0], names[1]),
            event=played.event,
            date=played.date,
            place=played.place,
            comments=tuple(played.comments),
        )
        candidates = {ply: _candidates(answer) for ply, answer in self._heard.items() if answer.lines}
        return encoded(annotated(game, self._judgements(), kif=True, candidates=candidates), kif=True)

    def _new(self, command: Mapping[str, Any]) -> None:
        name = _text(command, "game")
        if name not in GAMES:
            raise Refused(f"there is no game {name}"[:80])
        try:
            start, shown = _text(command, "start").strip(), self._played
            from_here = start == "position shown" and name == shown.game
            played = shown.so_far() if from_here else begin(name, start)
            played.sides, played.clock = self._checked_sides(name, command), _clock_of(command)
            self._replace(played)
        except (ValueError, PlayerError) as error:
            raise Refused(str(error)) from None

    def _choose(self, command: Mapping[str, Any]) -> None:
        number, games = command.get("number"), self._file.games if self._file else ()
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(games):
            raise Refused("the file that was opened has no such game")
        self._show_opened(games, number - 1)

    def _show_opened(self, games: Opened, number: int) -> None:
        file = self._file
        known = {**file.known} if file else {}
        changed = not self._as_in_file()
        if file and not changed:
            known[file.chosen] = self._opinions, self._heard
        elif file and self._played.left and self._played.left["moves"] == self._played.opened:
            known[file.chosen] = self._left[:2]
        same = file is not None and games is file.games
        # What was only looked through can be opened again, but for what was found out.
        found = bool(self._opinions) or any(opinions for opinions, _ in known.values())
        keep = changed or (not same and found)
        try:
            self._replace(games[number](), _File(games, number, known=known if same else {}), keep)
        except (ValueError, PlayerError) as error:
            raise Refused(str(error)) from None

    def _as_in_file(self) -> bool:
        """Whether the game comes from a file, and nobody has played on it."""
        return self._played.opened == self._played.moves

    def _take_earlier(self, command: Mapping[str, Any]) -> None:
        """Take up the game that was replaced last. The one shown is met after all others then."""
        if not self._earlier:
            raise Refused("there is no earlier game")
        shown, wanted = self._shown(), self._earlier.pop()  # one that is not sound is not met again
        try:
            self._take(wanted.played)
        except (ValueError, LookupError, TypeError, PlayerError) as error:
            raise Refused(str(error)) from None
        _, self._opinions, self._heard, self._left, self._file, self._spent_before = wanted
        self._earlier = [*shown, *self._earlier]
        self._changed()

    def _move(self, command: Mapping[str, Any]) -> None:
        move = _text(command, "move")
        if move not in self._legal():
            raise Refused(f"{move} is not a legal move now"[:80])
        self._play(move)

    def _undo(self, command: Mapping[str, Any]) -> None:
        """Back to where a person was last to move."""
        played = self._played
        if not played.at:
            raise Refused("there is no move to take back")
        back = 1
        first = self._first()
        while back < played.at and played.sides[(first + played.at - back) % 2] and not all(played.sides):
            back += 1
        self._cut(played.at - back)
        self._changed()

    def _come_back(self, command: Mapping[str, Any]) -> None:
        """To the game that was left to try other moves."""
        if self._played.left is None:
            raise Refused("no game was left")
        self._stop_judging()
        self._set_aside()
        self._played.come_back()
        self._begin_turn()
        self._opinions, self._heard, self._spent_before = self._left
        self._changed()

    def _resign(self, command: Mapping[str, Any]) -> None:
        if not self._may_end():
            raise Refused("it is not your turn")
        self._end("resignation", 1 - self._position.turn)

    def _declare(self, command: Mapping[str, Any]) -> None:
        if not (self._may_end() and self._offered.may_declare(self._position)):
            raise Refused("there is no win to declare")
        self._end("declaration", self._position.turn)

    def _go_to(self, command: Mapping[str, Any]) -> None:
        ply = command.get("ply")
        if not isinstance(ply, int) or isinstance(ply, bool) or not 0 <= ply <= len(self._played.moves):
            raise Refused("there is no such move")
        self._played.at = ply
        self._changed()

    def _watch(self, command: Mapping[str, Any]) -> None:
        lines = command.get("lines", LINES)
        if not isinstance(lines, int) or not 1 <= lines <= MOST_LINES:
            raise Refused(f"1 to {MOST_LINES} candidates can be shown")
        self._watching, self._lines = bool(command.get("on")), lines
        if self._watching:  # what is judged would wait as long as that lasts
            self._stop_judging()
        self._changed()

    def _hint(self, command: Mapping[str, Any]) -> None:
        if not self._persons_turn():
            raise Refused("it is not your turn")
        if not self._watching:
            self._ask(self._question(time=HINT_TIME, lines=3), self._show)

    def _policy(self, command: Mapping[str, Any]) -> None:
        if not self._persons_turn():
            raise Refused("it is not your turn")
        if not self._offered.has_policy:
            raise Refused("the engine of this game has no policy")
        # By naming the moves: what is known of a mate must not be the whole answer.
        moves = tuple(self._legal())
        self._ask(self._question(visits=1, lines=ALL_MOVES, searchmoves=moves), self._show_policy)

    def _judge(self, command: Mapping[str, Any]) -> None:
        self._stop_judging()
        if command.get("on"):
            self._opinions = {}
            self._watching = False
            played, offered = self._played, self._offered
            last = self._set_up(len(played.moves))
            searched = len(played.moves) + 1
            if repeated := repetition(offered, last):
                searched -= 1
                self._opinions[searched] = opinion("", repeated)
                self._heard[searched] = Answer(last.turn, (repeated,))
            for ply in range(searched):
                moves = tuple(played.moves[:ply])
                question = Question(
                    played.game,
                    played.start,
                    moves,
                    visits=offered.judged_visits,
                    lines=offered.judged_lines,
                    priority=_JUDGED,
                )
                tasks = self._judging  # what is told of other tasks comes too late
                tasks.append(self.pool.ask(question, self._judge_of(ply, tasks)))
        self._changed()

    # How the game goes on

    @property
    def _offered(self) -> OfferedGame:
        return GAMES[self._played.game]

    def _set_up(self, plies: int = 0) -> PlayedPosition:
        """The position after so many moves. Raises PlayerError."""
        question = Question(self._played.game, self._played.start, tuple(self._played.moves[:plies]))
        return set_up(question, self.pool.engine_for(question))

    def _take(self, played: TableGame) -> None:
        """Make another game the present one, if it is sound. Raises ValueError or PlayerError."""
        before, self._played = self._played, played
        try:
            self._checked_sides(played.game, {"sides": played.sides})
            played.check()
            self._set_up(len(played.moves))
            self._set_up(played.at)
        except (ValueError, LookupError, TypeError, PlayerError):
            self._played = before
            raise
        position, usual = self._set_up(), Question(played.game)
        if position.sfen() == set_up(usual, self.pool.engine_for(usual)).sfen():
            played.start = None
        for ply, written in enumerate(played.moves):
            move = position.move_from_usi(written)
            played.moves[ply] = position.usi(move)  # as the engines write it, with whose moves it is compared
            position.push(move)
        self._stop_judging()
        self._opinions, self._heard, self._left = {}, {}, ({}, {}, 0.0)
        self._begin_turn()
        # So that the engine is loaded by the time it is wanted.
        self.pool.ask(Question(played.game, visits=1), lambda _: None)

    def _replace(self, played: TableGame, file: _File | None = None, keep: bool = True) -> None:
        """Show another game; `keep`: the one before can be taken up again. Raises ValueError or PlayerError."""
        shown = self._shown() if keep else []
        self._take(played)
        self._file = file
        if file is not None:
            played.opened = [*played.moves]
            self._opinions, self._heard = file.known.get(file.chosen, ({}, {}))
        self._add_earlier(*shown)
        self._changed()

    def _shown(self) -> list[_Earlier]:
        """The game as it can be taken up again; nothing where no move was made from a start that the game offers."""
        played = self._played
        if not (played.moves or played.left) and played.start in self._offered.starts.values():
            return []
        return [_Earlier(played, self._opinions, self._heard, self._left, self._file, self._spent())]

    def _set_aside(self) -> None:
        """What was played with an engine since a game was left is a game, too, that can be taken up again."""
        played = self._played
        if any(played.sides) and played.left and played.moves != played.left["moves"][: len(played.moves)]:
            self._add_earlier(_Earlier(played.line(), self._opinions, self._heard, ({}, {}, 0.0), None, self._spent()))

    def _add_earlier(self, *games: _Earlier) -> None:
        """Where there are too many then, the oldest goes, of those first that were played beside others."""
        self._earlier += games
        while len(self._earlier) > MOST_EARLIER:
            beside = (place for place, each in enumerate(self._earlier) if each.played.beside)
            del self._earlier[next(beside, 0)]

    def _stop_thinking(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            self.pool.cancel(task)

    def _stop_judging(self) -> None:
        tasks, self._judging = self._judging, []
        for task in tasks:
            self.pool.cancel(task)

    def _cut(self, plies: int) -> None:
        """Only so many moves remain. Who looked back can come back to the game as it was."""
        played = self._played
        if plies < len(played.moves):
            self._stop_judging()
        if played.at < len(played.moves) or self._ending is not None or self._as_in_file():
            if played.left is None:
                self._left = self._opinions, self._heard, self._spent()
            else:
                self._set_aside()
            played.leave()
        played.cut(plies)
        if self._file and self._as_in_file():  # that was played on, as a game that was broken off can be
            played.broken_off = self._file.games[self._file.chosen]().broken_off
        self._begin_turn()
        self._opinions = {ply: known for ply, known in self._opinions.items() if ply <= plies}
        self._heard = {ply: known for ply, known in self._heard.items() if ply <= plies}

    def _play(self, move: str) -> None:
        played = self._played
        if played.moves[played.at : played.at + 1] == [move]:
            played.at += 1
        else:
            if played.at < len(played.moves):
                self._cut(played.at)
            played.play(move, self._spent() if played.clock else None)
            self._begin_turn()
        self._changed()

    def _end(self, reason: str, winner: int | None) -> None:
        """The game is over, and its moves do not say so."""
        self._played.ended = (reason, winner)
        self._changed()

    def _changed(self) -> None:
        """The game is another one now: keep it, say it, and let the engines think about it."""
        self.generation += 1
        self._stop_thinking()
        self._position = self._set_up(self._played.at)
        self._ending = self._judged_ending(self._position) if self._played.at == len(self._played.moves) else None
        self._error = ""
        self._keep()
        self._set_clock()
        self._think()
        self._say_state()

    def _think(self) -> None:
        """Let an engine think about the position shown, if it is to move or is watched."""
        if self._ending is not None:
            return
        if self._engines_turn():
            opponent = self._played.sides[self._position.turn]
            question = self._question(opponent=opponent, clock=self._limits(), priority=_URGENT)
            self._ask(question, self._answer_by_move)
        elif self._watching:
            self._ask(self._question(lines=self._lines), self._show)

    def _judged_ending(self, position: PlayedPosition) -> GameEnd | None:
        """How the game has ended with all its moves, which lead to `position`."""
        ended = self._played.ended
        return GameEnd(*ended) if ended is not None else self._offered.ending(position)

    def _persons_turn(self) -> bool:
        return self._ending is None and not self._engines_turn()

    def _may_end(self) -> bool:
        """Whether a person is to move where the game stands: who looks back ends nothing."""
        return self._persons_turn() and self._played.at == len(self._played.moves)

    def _engines_turn(self) -> bool:
        return bool(self._played.sides[self._position.turn]) and self._played.at == len(self._played.moves)

    def _legal(self) -> list[str]:
        """What a person may play now."""
        if not self._persons_turn():
            return []
        return [self._position.usi(move) for move in self._position.legal_moves().tolist()]

    def _checked_sides(self, game: str, command: Mapping[str, Any]) -> list[str]:
        sides = command.get("sides")
        if (
            not isinstance(sides, list)
            or len(sides) != 2
            or any(not isinstance(side, str) or (side and side not in GAMES[game].opponents) for side in sides)
        ):
            raise Refused("the two sides are people or opponents of the game")
        return sides

    # The clock

    def _first(self) -> int:
        """Who made the first move."""
        return self._set_up().turn

    def _begin_turn(self) -> None:
        """Another side is to move, or in another game."""
        self._spent_before, self._runs_since = 0.0, None

    def _spent(self) -> float:
        """Seconds that the side to move has taken for its move so far."""
        return self._spent_before + (0.0 if self._runs_since is None else time.monotonic() - self._runs_since)

    def _set_clock(self) -> None:
        """A person's clock runs once a page has come. An engine's stands until it begins to think: it has ended what it
        thought before, and must load perhaps, or wait for another search; while somebody looks back it does not think
        at all."""
        running = self._running()
        if running is not None and (self._played.sides[running] or not self._seen):
            self._spent_before, self._runs_since = self._spent(), None
        elif self._runs_since is None:
            self._runs_since = time.monotonic()
        self._set_alarm()

    def _running(self) -> int | None:
        """Whose turn the clock measures."""
        played = self._played
        if played.clock is None or self._judged_ending(self._set_up(len(played.moves))) is not None:
            return None
        return (self._first() + len(played.moves)) % 2

    def _clock_state(self) -> Message | None:
        played = self._played
        if played.clock is None:
            return None
        left, running = played.main_left(self._first()), self._running()
        spent = 0.0 if running is None else self._spent()
        stands = self._runs_since is None
        byoyomi = TimeControl(*played.clock).byoyomi
        return {"left": left, "byoyomi": byoyomi, "running": running, "spent": spent, "stands": stands}

    def _limits(self) -> Limits | None:
        """What the clock still allows the side to move."""
        played = self._played
        if played.clock is None:
            return None
        left, turn = played.main_left(self._first()), self._position.turn
        main = left[turn] - self._spent()
        left[turn] = max(0.0, main)
        byoyomi = max(0.0, TimeControl(*played.clock).byoyomi + min(0.0, main))
        black, white = (round(1000 * seconds) for seconds in left)
        return Limits(btime=black, wtime=white, byoyomi=round(1000 * byoyomi))

    def _set_alarm(self) -> None:
        """For when the side to move has used up its time."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        played, running = self._played, self._running()
        if played.clock is None or running is None or self._runs_since is None:
            return
        left = played.main_left(self._first())[running] + TimeControl(*played.clock).byoyomi - self._spent()
        alarm = self._alarm = threading.Timer(max(0.0, left), lambda: self._time_is_up(alarm, running))
        alarm.daemon = True
        alarm.start()

    def _time_is_up(self, alarm: threading.Timer, loser: int) -> None:
        with self._lock:
            if alarm is self._alarm:
                self._played.at = len(self._played.moves)
                self._end("time", 1 - loser)

    # What the engines say

    def _question(self, **wanted: Any) -> Question:
        played = self._played
        wanted = {"report_every": NEWS_EVERY, "priority": _WATCHED, **wanted}
        return Question(played.game, played.start, tuple(played.moves[: played.at]), **wanted)

    def _ask(self, question: Question, heard: Callable[[Answer], None]) -> None:
        """Ask about the present position; `heard` is called with the lock, and only until something else is asked."""
        self._stop_thinking()

        def tell(answer: Answer) -> None:
            with self._lock:
                if task is self._task:
                    if answer.error:
                        self._task, self._watching = None, False
                        self._error = answer.error
                        self._set_clock()
                        self._say_state()
                    else:
                        heard(answer)

        task = self._task = self.pool.ask(question, tell)

    def _show(self, answer: Answer) -> None:
        """News of a search of the position shown."""
        if answer.lines or answer.move == "win":
            self._note(self._played.at, answer)
            self._tell("info", self._info(answer))

    def _info(self, answer: Answer) -> Message:
        """What was said of the position shown."""
        ply = self._played.at
        said = result(answer) | {"generation": self.generation, "final": answer.final}
        return said | {"ply": ply, "winRate": self._win_rate(ply)}

    def _show_policy(self, answer: Answer) -> None:
        if answer.final:
            priors = {info.pv[0]: info.prior for info in answer.lines}
            self._tell("policy", {"generation": self.generation, "priors": priors})
            if not priors:  # a win can be declared
                self._show(answer)
            self._think()

    def _answer_by_move(self, answer: Answer) -> None:
        """The move of the engine, at last."""
        if not answer.final and not answer.lines:
            self._runs_since = time.monotonic()
            self._set_alarm()
            self._say_state()
        if self._watching:
            self._show(answer)
        if not answer.final or not answer.move:
            return
        if answer.lines:
            self._note(self._played.at, answer)
        turn, move = self._position.turn, answer.move
        if move == "resign" and answer.lines and self._played.start is not None:
            move = answer.lines[0].pv[0]  # a handicap, or a position to be practised, is played to its end
        if move == "resign":
            self._end("resignation", 1 - turn)
        elif move == "win":
            self._end("declaration", turn)
        else:
            self._play(move)

    def _judge_of(self, ply: int, tasks: list[Task]) -> Callable[[Answer], None]:
        """What hears the answer about the position after so many moves."""

        def tell(answer: Answer) -> None:
            with self._lock:
                if tasks is not self._judging or not answer.final:
                    return
                tasks.pop(0)  # they are answered in order
                if answer.error:
                    self._error = answer.error
                elif answer.move:
                    self._opinions[ply] = opinion(answer.move, answer.lines[0] if answer.lines else None)
                    self._heard[ply] = answer
                self._say_state()

        return tell

    def _note(self, ply: int, answer: Answer) -> None:
        """Remember what was said of a position, unless a longer search has spoken."""
        known = self._heard.get(ply, answer).lines
        if not (known and answer.lines) or (answer.lines[0].nodes or 0) >= (known[0].nodes or 0):
            self._heard[ply] = answer

    def _win_rate(self, ply: int) -> float | None:
        """Black's, after so many moves, if it is known."""
        if ply not in self._heard:
            return None
        answer = self._heard[ply]
        win_rate: float = result(answer)["rootInfo"]["winrate"]
        return 1 - win_rate if answer.turn else win_rate

    def _judgements(self) -> list[Judgement]:
        """Of the moves before and after which an engine has an opinion."""
        played = self._played
        if not self._opinions:
            return []
        first = self._first()
        return [
            Judgement(after, (first + before) % 2, played.moves[before], self._opinions[before], self._opinions[after])
            for before, after in pairwise(range(len(played.moves) + 1))
            if before in self._opinions and after in self._opinions
        ]

    def _say_state(self) -> None:
        self._tell("state", self.state())
        if (known := self._known()) is not None:
            self._tell("info", known)

    # The disk

    def _keep(self) -> None:
        if self._kept is None:
            return
        try:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._kept) as file:
                earlier = [vars(game.played) for game in self._earlier]
                file.write(json.dumps(vars(self._played) | {"earlier": earlier}).encode())
        except OSError as error:
            self._error = f"the game is not kept: {error}"

    def _remember(self) -> None:
        """Take the games that were kept; a new one where there is none that can be read, whose file is put aside."""
        if self._kept is not None and self._kept.exists():
            try:
                kept = dict(json.loads(self._kept.read_bytes()))
                earlier = [TableGame(**game) for game in kept.pop("earlier", [])]
                self._earlier = [_Earlier(played, {}, {}, ({}, {}, 0.0), None) for played in earlier]
                self._take(TableGame(**kept))
                return
            except (OSError, ValueError, TypeError, LookupError, PlayerError) as error:
                aside = self._kept.rename(f"{self._kept}.{time.strftime('%Y%m%d-%H%M%S')}")
                log.warning("%s, as it is named now, holds no game that can be gone on with: %s", aside, error)
        self._take(TableGame())


def _candidates(answer: Answer) -> list[AnalysedMove]:
    """What a record is to say of a position."""
    sign = -1 if answer.turn else 1
    known = ((opinion(info.pv[0], info), info) for info in answer.lines if info.pv)
    return [AnalysedMove(sign * each.evaluation, info.pv, info.visits) for each, info in known]


def _clock_of(command: Mapping[str, Any]) -> TimeControl | None:
    """Main time and byoyomi of a new game, in seconds; no clock where both are 0 or nothing is said."""
    given = command.get("clock", [0, 0])
    if (
        not isinstance(given, list)
        or len(given) != 2
        or any(not isinstance(seconds, int | float) or not 0 <= seconds <= LONGEST_CLOCK for seconds in given)
    ):
        raise Refused("a clock is two numbers of seconds")
    return TimeControl(*map(float, given)) if any(given) else None


def _text(command: Mapping[str, Any], name: str) -> str:
    value = command.get(name)
    if not isinstance(value, str):
        raise Refused(f"{name} is missing")
    return value
