"""What people and engines do with the game on the board. It joins the game, its clock, its review and the shelf.

There is one game for all pages; those that it replaced can be taken up again. Each change gives it a new
generation, and ends what was thought about the one before; a move must name the generation that its maker saw.
It knows no HTTP.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

from pydlshogi.analysis import DISC_LOSSES, LOSSES
from pydlshogi.analysis_server.pool import Answer, Pool, Question
from pydlshogi.analysis_server.server import result
from pydlshogi.catalogue import GAMES
from pydlshogi.entry import File
from pydlshogi.game import GameEnd
from pydlshogi.player.base_player import PlayerError
from pydlshogi.web.clock import ANSWER, PACES, Pace, TurnClock
from pydlshogi.web.played import SetUp, TableGame, TimeControl
from pydlshogi.web.records import begin, open_record, saved, suffixes
from pydlshogi.web.review import DEPTHS, Review
from pydlshogi.web.search import LINES, Engines, Preparing, ShownSearch
from pydlshogi.web.shelf import Shelf
from pydlshogi.web.tree import written

NEWS_EVERY: Final = 100.0
"""Milliseconds between two news of a search."""
MOST_LINES: Final = 20
LONGEST_LINE: Final = 12
"""Moves of a candidate's line that are shown."""
ALL_MOVES: Final = 600
LONGEST_CLOCK: Final = 100_000.0
"""Seconds."""
HINT_TIME: Final = 1000.0
"""Milliseconds."""
_OF_ONE_POSITION: Final = ("move", "undo", "resign", "declare", "earlier", "variation", "delete")
"""Commands that mean the position that was seen. The others mean what there is, however quickly they follow."""
_URGENT, _WATCHED = 2, 1
"""What the analysis of a whole game asks is less urgent than both."""

Message: TypeAlias = dict[str, Any]
Put: TypeAlias = Callable[[str, Message], None]
"""Takes the kind of a message, as state or info, and the message."""
Command: TypeAlias = Mapping[str, Any]


class Refused(ValueError):
    """Something that cannot be done now; the message is one line for people."""


class Table:
    """The game, its engines, and those who look.

    Public methods take the lock. All others are called with it held, also those that clocks and engines call.
    """

    def __init__(self, pool: Pool, tell: Put, kept: Path | None = None) -> None:
        """`kept`: where games are kept."""
        self._lock = threading.RLock()
        self._tell = tell
        self.generation = 0
        self._error = ""
        self._book: Sequence[Sequence[Any]] = ()
        """What books know of the position shown: the `KnownMove`s, each with its move as people write it."""
        engines = Engines(pool, self._lock)
        self._search = ShownSearch(engines)
        self._preparing = Preparing(engines, self._say_engine)
        self._clock = TurnClock(self._lock, self._time_is_up)
        self._pace = Pace(self._lock)
        with self._lock:
            self._shelf = Shelf(engines.set_up, lambda game: Review(game, engines, self._reviewed), kept)
            self._shown()

    @property
    def _game(self) -> TableGame:
        return self._shelf.shown.game

    @property
    def _review(self) -> Review:
        return self._shelf.shown.review

    # What people see

    def state(self) -> Message:
        """The game as it stands."""
        with self._lock:
            game, file, search = self._game, self._shelf.shown.file, self._search
            return {
                "generation": self.generation,
                "fresh": self.generation == 1 and not self._shelf.shown.begun,
                "thinks": bool(game.engine_to_move) and search.thinks,
                "watching": search.watched,
                "lines": search.lines,
                "file": file and {"number": file.chosen + 1, "games": len(file.games)},
                "earlier": self._shelf.earlier,
                "clock": self._clock.state(game),
                "pace": self._pace.state() if all(game.sides) and not game.tip.ending else None,
                "book": self._book,
                "error": self._error,
                **game.state(),
                **self._review.state(game.line),
            }

    def attend(self) -> None:
        """A page has come: its clock goes on from what is said now."""
        with self._lock:
            if not self._clock.attended:
                self._clock.attended = True
                self._clock.follow(self._game)
            self._say_state()

    def networks(self) -> dict[str, str]:
        """By game, the file of the network that it is played with."""
        return {name: self._search.engines.network(name) for name in GAMES}

    # What people do

    def do(self, command: Command) -> None:
        """Raises Refused, and changes nothing then."""
        doing: Mapping[str, Callable[[Command], None]] = {
            "move": self._move,
            "why": self._why,
            "new": self._new,
            "choose": self._choose,
            "earlier": lambda _: self._replace(self._shelf.take_earlier),
            "watch": self._watch,
            "hint": self._hint,
            "policy": self._policy,
            "judge": self._judge,
            "practise": lambda _: self._replace(self._next_task),
            "pace": self._set_pace,
            "pause": self._pause,
            "step": self._step,
        }
        with self._lock:
            do = command.get("do")
            if not isinstance(do, str) or not (do in doing or do in _IN_GAME):
                raise Refused(f"there is no command {do}"[:80])
            if do in _OF_ONE_POSITION and command.get("generation") != self.generation:
                raise Refused("the game has gone on meanwhile")
            try:
                if do in doing:
                    doing[do](command)
                else:
                    _IN_GAME[do](self._game, command)
                    self._changed()
            except (ValueError, PlayerError) as error:
                raise Refused(str(error)) from None

    def nobody_looks(self) -> None:
        """What is thought for people who watch is in vain."""
        with self._lock:
            if self._search.watched:
                self._watch({"on": False})

    def open_record(self, data: bytes) -> None:
        """Show the first game of a file. Raises Refused."""
        try:
            opened = open_record(data, self._game.game)  # of a large file that takes seconds
            with self._lock:
                self._replace(lambda: self._shelf.open(opened))
        except (ValueError, PlayerError) as error:
            raise Refused(str(error)) from None

    def record(self, black: str = "", white: str = "") -> File:
        """The game as a file, with what engines thought of it, and the names of sides that have none of their own."""
        with self._lock:
            game = self._game
            line, at, asked, names = game.line, game.at, game.asked, game.names
            try:
                if game.left and any(node.tried for node in game.line):  # who practises saves the game
                    game.show(game.left.line)
                game.names = [names[0] or black, names[1] or white]
                file = saved(game, self._review.judgements(game.line), self._review.candidates)
            finally:
                game.show(line, at)
                game.asked, game.names = asked, names
            if not file.whole and game.variations:
                self._error = "the file holds the line that is shown alone: its format has no variations"
                self._say_state()
            return file

    def _new(self, command: Command) -> None:
        made = _made(command, self._game, self._search.engines.set_up)
        self._replace(lambda: self._shelf.show(made))

    def _choose(self, command: Command) -> None:
        self._replace(lambda: self._shelf.choose(_whole(command, "number") - 1))

    def _move(self, command: Command) -> None:
        move = _text(command, "move")
        if move not in self._game.legal:
            raise Refused(f"{move} is not a legal move now"[:80])
        self._play(move)

    def _why(self, command: Command) -> None:
        if reason := self._game.why_not(_text(command, "move")):
            raise Refused(reason)

    def _watch(self, command: Command) -> None:
        lines = _whole(command, "lines", LINES)
        if not 1 <= lines <= MOST_LINES:
            raise Refused(f"1 to {MOST_LINES} candidates can be shown")
        self._search.watched, self._search.lines = bool(command.get("on")), lines
        if self._search.watched:  # what is reviewed would wait as long as that lasts
            self._review.stop()
        self._changed()

    def _hint(self, command: Command) -> None:
        if not self._game.person_to_move:
            raise Refused("it is not your turn")
        if not self._search.watched:
            self._ask(self._question(time=HINT_TIME, lines=3), self._show)

    def _policy(self, command: Command) -> None:
        if not self._game.person_to_move:
            raise Refused("it is not your turn")
        if not self._game.entry.has_policy:
            raise Refused("the engine of this game has no policy")
        # By naming the moves: what is known of a mate must not be the whole answer.
        moves = tuple(self._game.legal)
        self._ask(self._question(visits=1, lines=ALL_MOVES, searchmoves=moves), self._show_policy)

    def _judge(self, command: Command) -> None:
        depth = _whole(command, "depth", DEPTHS[0])
        if depth not in DEPTHS:
            raise Refused("there is no such depth")
        self._review.stop()
        if command.get("on"):
            self._search.watched = False
            self._review.start(depth)
        self._changed()

    def _next_task(self) -> None:
        """Ask for the next mistake or mate of the game, else for the first one of an earlier game, round them all."""
        asked, left = self._game.asked, self._game.left
        before = -1 if not asked else left.at if left else self._game.line.index(asked)
        for more in reversed(range(self._shelf.earlier + 2)):
            game = self._game
            if game.left:
                game.come_back()
            for task in self._review.tasks(game.line):
                if task > before:
                    game.ask(task)
                    return
            before = -1
            if more and self._shelf.earlier:
                self._shelf.take_earlier()
        raise Refused("there is nothing to practise")

    def _set_pace(self, command: Command) -> None:
        if command.get("seconds") not in PACES:
            raise Refused("there is no such pace")
        self._pace.seconds = float(command["seconds"])
        self._say_state()

    def _pause(self, command: Command) -> None:
        """Let two engines wait, or go on."""
        if not all(self._game.sides):
            raise Refused("only two engines can be made to wait")
        self._pace.paused = bool(command.get("on"))
        self._changed()

    def _step(self, _: Command) -> None:
        """Let the engine make one move that waits."""
        if not (self._pace.paused and self._game.engine_to_move):
            raise Refused("no engine waits")
        self._changed(step=True)

    # How the game goes on

    def _replace(self, show: Callable[[], None]) -> None:
        """Show another game: `show` says which, and raises ValueError or PlayerError where the shown one stays."""
        before, shown = self._review, self._game.shown
        self._clock.stand()
        try:
            show()
        except (ValueError, PlayerError):
            self._clock.follow(self._game)
            if self._game.shown is not shown:  # what is thought about is not shown any more
                self._shown()
            raise
        if self._review is not before:
            before.stop()
        self._shown()

    def _shown(self) -> None:
        """Another game is shown."""
        self._pace.paused = False
        self._preparing.begin(self._game.game, self._game.sides)
        remark, self._game.remark = self._game.remark, ""
        self._changed(remark=remark)

    def _play(self, move: str) -> None:
        game, known = self._game, len(self._game.nodes)
        before = game.shown
        seconds = self._clock.spent(before)
        game.play(move)
        self._pace.moved()
        if len(game.nodes) > known and game.clock:
            self._clock.stand()
            game.tip.seconds, before.spent = seconds, 0.0
        self._review.defend()
        self._changed()

    def _end(self, reason: str, winner: int | None) -> None:
        """The game is over, and its moves do not say so."""
        self._game.end(GameEnd(reason, winner))
        self._changed()

    def _time_is_up(self) -> None:
        game = self._game
        game.go_to(len(game.moves))
        self._end("time", 1 - game.tip.turn)

    def _changed(self, step: bool = False, remark: str = "") -> None:
        """The game has changed: keep it, say it with a `remark`, let engines think, by `step` one that waits too."""
        self.generation += 1
        self._search.stop()
        self._pace.drop()
        game = self._game
        known, error = self._search.engines.known_moves(game.game, game.position)
        self._error = error or remark
        look, shown = game.entry.look, game.shown
        self._book = [(*each, written(look, shown.sfen, each[0], shown.move)) for each in known]
        self._clock.follow(self._game)
        self._keep()
        self._think(step)
        self._say_state()

    def _keep(self) -> None:
        try:
            self._shelf.keep()
        except OSError as error:
            self._error = f"the game is not kept: {error}"

    # What the engines say

    def _think(self, step: bool = False) -> None:
        """Let an engine think about the position shown, if it is to move or is watched."""
        game = self._game
        opponent = game.engine_to_move
        if opponent and (step or not self._pace.paused):
            question = self._question(opponent=opponent, clock=self._clock.limits(game), priority=_URGENT)
            self._ask(question, self._answer_by_move)
        elif self._search.watched and game.ending is None:
            self._ask(self._question(lines=self._search.lines), self._show)
        elif not self._search.watched and game.at_tip:
            self._review.judge_tried()

    def _question(self, **wanted: Any) -> Question:
        game = self._game
        wanted = {"report_every": NEWS_EVERY, "priority": _WATCHED, **wanted}
        return Question(game.game, game.start, tuple(game.moves[: game.at]), **wanted)

    def _ask(self, question: Question, hear: Callable[[Answer], None]) -> None:
        """Ask about the position shown, unless it fails."""

        def heard(answer: Answer) -> None:
            self._preparing.end()  # what is more urgent may have been asked before that
            if answer.error:
                self._search.stop()
                self._search.watched = False
                self._clock.follow(self._game)
                self._error = answer.error
                self._say_state()
            else:
                hear(answer)

        self._search.ask(question, heard)

    def _show(self, answer: Answer) -> None:
        """News of a search of the position shown."""
        if answer.lines or answer.move == "win":
            self._review.note(self._game.shown, answer)
            self._tell("info", self._info(answer))

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
            self._clock.run(self._game)
            self._say_state()
        if self._search.watched:
            self._show(answer)
        if not answer.final or not answer.move:
            return
        if answer.lines and not self._search.watched:
            # What the position is worth, but no analysis: a weak opponent likes its own move.
            self._review.note(self._game.shown, replace(answer, lines=(replace(answer.lines[0], pv=()),)))
        self._clock.stand()
        seconds = self._pace.seconds if all(self._game.sides) else ANSWER
        self._pace.hold(seconds, lambda: self._carry_out(answer))

    def _carry_out(self, answer: Answer) -> None:
        """Do on the board what the engine has answered."""
        turn, move = self._game.position.turn, answer.move
        if move == "resign" and answer.lines and self._game.start is not None:
            move = answer.lines[0].pv[0]  # a handicap, or a position to be practised, is played to its end
        if move == "resign":
            self._end("resignation", 1 - turn)
        elif move == "win":
            self._end("declaration", turn)
        else:
            self._play(move)

    def _reviewed(self, error: str, look_ends: bool) -> None:
        """News of the analysis of the game."""
        self._error = error or self._error
        if look_ends:
            self._keep()
        self._say_state()

    def _info(self, answer: Answer) -> Message:
        """What was said of the position shown."""
        game = self._game
        said = result(answer)
        for info in said["moveInfos"]:
            info["line"] = game.walk(info["pv"][:LONGEST_LINE])
        about = {"generation": self.generation, "final": answer.final, "ply": game.at}
        return said | about | {"winRate": self._review.win_rate(game.shown)}

    def _say_engine(self) -> None:
        """Whether one has to wait for it."""
        self._tell("engine", {"prepares": self._preparing.lasts})

    def _say_state(self) -> None:
        """With what was said of the position shown, if that is to be shown again."""
        self._tell("state", self.state())
        if (known := self._review.said(self._game.shown, self._search.watched)) is not None:
            self._tell("info", self._info(known))


_IN_GAME: Final[Mapping[str, Callable[[TableGame, Command], None]]] = {
    "undo": lambda game, _: game.undo(),
    "resign": lambda game, _: game.resign(),
    "declare": lambda game, _: game.declare(),
    "back": lambda game, _: game.come_back(),
    "retry": lambda game, command: game.ask(_whole(command, "ply")),
    "goto": lambda game, command: game.go_to(_whole(command, "ply")),
    "variation": lambda game, command: game.take_variation(_whole(command, "number")),
    "delete": lambda game, command: game.delete_variation(_whole(command, "number")),
}
"""Commands that the game alone obeys."""


def setup() -> Message:
    """What does not change: the games, who plays them, and what can be chosen."""
    return {
        "games": {
            name: {
                "opponents": [name for name, opponent in game.opponents.items() if opponent.is_there()],
                "starts": [*game.starts],
                "near": _near(game.elo),
                "network": Path(game.network).name,
                "hasPolicy": game.has_policy,
                "look": game.look._asdict(),
                "inDiscs": game.in_discs,
            }
            for name, game in GAMES.items()
        },
        "suffixes": suffixes(),
        "losses": LOSSES,
        "discLosses": DISC_LOSSES,
    }


def _near(elo: Mapping[str, int]) -> dict[str, list[tuple[str, int, str, int]]]:
    """Of each level, whether it is above or below its neighbours, by how much Elo, and how many of 10 games it wins."""
    levels = [("randomMoves", 0), *elo.items()]
    near: dict[str, list[tuple[str, int, str, int]]] = {name: [] for name in elo}
    for (weaker, low), (stronger, high) in pairwise(levels):
        won = round(10 / (1 + 10 ** ((low - high) / 400)))
        near[stronger].append(("above", high - low, weaker, won))
        near.get(weaker, []).append(("below", high - low, stronger, 10 - won))
    return near


def _made(command: Command, shown: TableGame, set_up: SetUp) -> TableGame:
    """The new game that is wanted, perhaps from the position shown on. Raises Refused, ValueError, PlayerError."""
    name, start = _text(command, "game"), _text(command, "start").strip()
    if name not in GAMES:
        raise Refused(f"there is no game {name}"[:80])
    from_here = start == "position shown" and name == shown.game
    made = shown.so_far(set_up) if from_here else TableGame.of(begin(name, start), set_up)
    if made.tip.ending and not made.moves:
        raise Refused("the game is over in that position")
    made.go_to(len(made.moves))
    made.take_sides(command.get("sides"))
    made.clock = _clock_of(command)
    return made


def _clock_of(command: Command) -> TimeControl | None:
    """Main time and byoyomi of a new game, in seconds; no clock where both are 0 or nothing is said."""
    given = command.get("clock", [0, 0])
    numbers = isinstance(given, list) and len(given) == 2 and all(type(each) in {int, float} for each in given)
    if not numbers or not all(0 <= seconds <= LONGEST_CLOCK for seconds in given):
        raise Refused("a clock is two numbers of seconds")
    return TimeControl(*map(float, given)) if any(given) else None


def _text(command: Mapping[str, Any], name: str) -> str:
    value = command.get(name)
    if not isinstance(value, str):
        raise Refused(f"{name} is missing")
    return value


def _whole(command: Command, name: str, default: int = -1) -> int:
    """A whole number; -1 for what is none."""
    value = command.get(name, default)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
