"""What the engines have said of the positions of a game, and the analysis of all its moves. It knows no lock.

The analysis looks at all positions quickly; then ten times as long at those around moves that lost much; then longer
again at those of moves that are mistakes or blunders still; both first where people moved who play an engine. A mark is
sure when no later look can change it.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from statistics import fmean
from time import monotonic
from typing import Any, Final, NamedTuple

from pydlshogi.analysis import (
    MARKS,
    MATE_EVAL,
    AnalysedMove,
    Assessment,
    Judgement,
    accounts,
    as_json,
    assessment,
    mates,
)
from pydlshogi.analysis_server.pool import Answer, Question, Task
from pydlshogi.player.base_player import Info
from pydlshogi.web.played import TableGame
from pydlshogi.web.search import Engines, win_rate_of
from pydlshogi.web.tree import Node, written

LOOKS: Final = (1, 10, 40)
"""How much longer than the first look each look at a position takes."""
LONGER: Final = 3.0
"""How many times the time of the one before a look takes, while none has been measured: all look for mates alike."""
DEPTHS: Final = (1, 3, 10)
"""How much longer people may ask for."""
MOST_DEEP: Final = 50
"""Positions of a game that the last look is for, those of the gravest mistakes: so a review comes to its end."""
SHORTEST_MATE: Final = 3
"""Plies of a mate that is a problem although nobody has missed it."""
MOST_TRIED: Final = 6
"""Positions that were tried since the analysis, and are judged without being asked for."""
WHOLE_DISCS: Final = 32
"""Discs that count as all of winning."""
_OF_LINE: Final = ("score_cp", "score_mate", "nodes", "nps", "visits", "win_rate", "prior", "pv")
"""What is kept of an `Info`."""
_GRAVE: Final = tuple(mark for _, mark in MARKS[:2])
"""The marks of moves that are worth another try."""
_DOUBTFUL: Final = ((), tuple(mark for _, mark in MARKS), _GRAVE)
"""The marks that the first look needs none of, and those that call for the second and the third."""


class _Look(NamedTuple):
    """What is under way."""

    number: int
    """Of LOOKS."""
    positions: int
    asked: dict[Node, Task]
    """What has not been answered."""
    since: float
    """When its first position was answered, for which an engine may have been loaded; in seconds, monotonic."""
    own: bool = False
    """Moves of the reader alone are looked at again."""


class Review:
    """Of one game, all its variations included."""

    def __init__(self, game: TableGame, engines: Engines, news: Callable[[str, bool], None]) -> None:
        """`news` is called after each answer of the analysis, with what went wrong or "", and whether a look ends."""
        self.heard: dict[Node, Answer] = {}
        """What was said of a position last by the analysis, or by a longer search."""
        self._game = game
        self._engines = engines
        self._news = news
        self._analysed: dict[Node, Answer] = {}
        """What the analysis said."""
        self._looks: dict[Node, int] = {}
        """Which look at a position was the last."""
        self._line: list[Node] = []
        """Positions that are analysed."""
        self._depth = 1
        self._look = _Look(0, 0, {}, 0.0)
        self._costs: dict[int, float] = {}
        """Seconds that a position takes, by the number of the look."""
        self._tries = False
        """What is analysed are moves that were tried afterwards."""
        self.found = False
        """Something is known that the file of the game does not say."""
        self._take_recorded()

    def _take_recorded(self) -> None:
        """Go on with the analysis that a record holds: moves for two positions in a row, which hints alone are not."""
        nodes = self._game.nodes
        known = {node for node in nodes if any(each.line for each in node.candidates)}
        for node in nodes if any(node.parent in known for node in known) else ():
            thought = node.candidates or [AnalysedMove(each, ()) for each in (node.evaluation,) if each is not None]
            if thought:
                self.heard[node] = self._analysed[node] = _recorded(thought, node.turn)
                self._looks[node] = len(LOOKS)

    @property
    def begun(self) -> bool:
        """Whether there is an analysis that could be lost."""
        return bool(self._analysed)

    def kept(self) -> str:
        """What is known of each position, to be kept with the game."""
        known = []
        for node in self._game.nodes:
            said, last = self._analysed.get(node), self.heard.get(node)
            answers = (each and _kept(each) for each in (said, None if last is said else last))
            known.append([self._looks.get(node, 0), *answers])
        return json.dumps(known)

    def take(self, kept: str) -> None:
        """What was kept."""
        for node, (look, *answers) in zip(self._game.nodes, json.loads(kept), strict=True):
            self._looks[node], self.found = look, True
            said, last = (each and _answer(each, node.turn) for each in answers)
            if said:
                self.heard[node] = self._analysed[node] = said
            if last:
                self.heard[node] = last

    def start(self, depth: int) -> None:
        """Analyse the line that is shown, anew."""
        self.stop()
        self._analysed, self._looks, self._costs, self._depth, self._tries = {}, {}, {}, depth, False
        self._analyse(0, self._game.line)

    def judge_tried(self) -> None:
        """Say what moves are worth that were played after the analysis, where the game is shown at its end."""
        line = self._game.line
        tried = [node for node in line if node not in self._analysed]
        if self.begun and 0 < len(tried) <= MOST_TRIED and (self._tries or not self._look.asked):
            self.stop()
            self._tries = True
            self._analyse(1, tried)

    def _analyse(self, number: int, positions: Sequence[Node]) -> None:
        """Look at some positions of the line that is shown."""
        self._line = [*self._game.line]
        self._begin(number, positions)

    def stop(self) -> None:
        for task in self._look.asked.values():
            self._engines.withdraw(task)
        self._look.asked.clear()

    def note(self, node: Node, answer: Answer) -> None:
        """Remember what was said of a position, unless a longer search has spoken."""
        known = self.heard.get(node, answer).lines
        if not (known and answer.lines) or (answer.lines[0].nodes or 0) >= (known[0].nodes or 0):
            self.heard[node] = answer

    def said(self, node: Node, watched: bool) -> Answer | None:
        """What to show of a position again: the analysis, or what was `watched`."""
        return self.heard.get(node) if watched or node in self._analysed else None

    def win_rate(self, node: Node) -> float | None:
        """Black's, if it is known: as the rules say, else as an engine does, else as a record does."""
        if node.verdict:
            return 0.5 if node.verdict.winner is None else 1.0 - node.verdict.winner
        if node not in self.heard:
            return None if node.evaluation is None else win_rate_of(node.evaluation)
        win_rate = _assessed(self.heard[node]).win_rate
        return 1 - win_rate if self.heard[node].turn else win_rate

    def judgements(self, line: Sequence[Node]) -> list[Judgement]:
        """Of the moves before and after which the analysis has an assessment."""
        return self._judged(line, {node: _assessed(answer) for node, answer in self._analysed.items()})

    def _judged(self, line: Sequence[Node], said: Mapping[Node, Assessment]) -> list[Judgement]:
        in_discs = self._game.entry.in_discs
        return [
            Judgement(number, before.turn, after.move, said[before], said[after], in_discs)
            for number, (before, after) in enumerate(pairwise(line), 1)
            if before in said and after in said
        ]

    def state(self, line: Sequence[Node]) -> dict[str, Any]:
        """What a page shows of it."""
        judged, left = self.judgements(line), self._game.left
        # Where a game was left to try other moves, it is the game that is summed up.
        summed = left.line if left and all(node in self._analysed for node in left.line) else line
        counted = judged if summed is line else self.judgements(summed)
        return {
            "judging": self._progress() if self._look.asked else None,
            "winRates": [self.win_rate(node) for node in line],
            "judged": [self._said_of(each, line) for each in judged] or self._recorded(line),
            "practice": self.tasks(line),
            "asked": self._asked(judged),
            "summary": [
                account._asdict()
                | _accuracies([each for each in counted if "bw"[each.turn] == account.side], len(summed) - 1)
                for account in accounts(counted)
            ],
        }

    def _said_of(self, judged: Judgement, line: Sequence[Node]) -> dict[str, Any]:
        """A judgement as a page shows it."""
        before, best = line[judged.number - 1], judged.best
        better = [*written(self._game.entry.look, before.sfen, best, before.move)] if best else None
        return as_json(judged) | {"sure": self._is_sure(judged, line), "better": better}

    def tasks(self, shown: Sequence[Node]) -> list[int]:
        """After how many moves of the game a person could have done much better, or any side could begin a mate."""
        game = self._game
        line = game.left.line if game.left else shown
        known = [self._mate(node) for node in line[:-1]] if game.entry.poses_mates else []
        begun = {ply for ply, mate in enumerate(known) if mate >= SHORTEST_MATE and not (ply > 1 and known[ply - 2])}
        return sorted(
            begun.union(
                each.number - 1
                for each in self.judgements(line)
                if each.turn in game.people and (each.mark in _GRAVE or each.missed_mate) and self._is_sure(each, line)
            )
        )

    def _mate(self, node: Node) -> int:
        """In how many plies the side to move mates, as the analysis says; 0: it says no such thing."""
        said = _assessed(self._analysed[node]) if node in self._analysed else None
        return MATE_EVAL - said.evaluation if said and mates(said) else 0

    def defend(self) -> None:
        """Where a mate is asked for, and the move that was tried keeps it, play the longest defence."""
        game = self._game
        tried = game.asked is not None and game.shown is not game.asked and not game.ending
        line = game.entry.defence(game.position) if tried and game.asked and self._mate(game.asked) else ()
        if line:
            self._prove(line)
            game.defend(line[0])
            self._prove(line[1:])

    def _prove(self, line: Sequence[str]) -> None:
        """The position shown ends in mate by a line."""
        mate = len(line) if len(line) % 2 else -len(line)
        info = Info(score_mate=mate, win_rate=float(mate > 0), pv=(*line,))
        self._remember(self._game.shown, Answer(self._game.shown.turn, (info,), line[0]), len(LOOKS))

    def _asked(self, judged: Sequence[Judgement]) -> dict[str, Any] | None:
        """Where a better move is to be found, whether it mates, and whether it was found, as far as that is known."""
        game = self._game
        if game.asked is None:
            return None
        answered = game.shown is not game.asked
        answer = next((each for each in judged if answered and each.number == game.at), None)
        return {
            "ply": game.at - answered,
            "mate": self._mate(game.asked),
            "goesOn": game.asked.tried,
            "found": not (answer.mark or answer.missed_mate or self._is_slow(answer, game.asked)) if answer else None,
        }

    def _is_slow(self, tried: Judgement, asked: Node) -> bool:
        """Where a mate is asked for: the move only threatens one that takes as long, or longer."""
        checks = self._game.entry.in_danger(self._game.position)
        return not checks and tried.move != tried.best and 0 < self._mate(asked) <= MATE_EVAL + tried.after.evaluation

    def _recorded(self, line: Sequence[Node]) -> list[dict[str, Any]]:
        """What a record lets judge; of the better moves it says nothing that is understood."""
        known = ((node, node.evaluation) for node in line if node.evaluation is not None)
        said = {
            node: Assessment(-each if node.turn else each, win_rate_of(-each if node.turn else each))
            for node, each in known
        }
        return [as_json(each) | {"sure": True, "best": None} for each in self._judged(line, said)]

    def candidates(self, node: Node) -> Sequence[AnalysedMove]:
        """What a record is to say of a position: the moves the engine thought of, or its evaluation alone."""
        answer = self._analysed.get(node) or self.heard.get(node)
        if answer is None:
            return node.candidates
        sign = -1 if answer.turn else 1
        known = [(_assessed(Answer(lines=(info,))), info) for info in answer.lines if info.pv]
        thought = [AnalysedMove(sign * each.evaluation, info.pv, info.visits) for each, info in known]
        return thought or [AnalysedMove(sign * _assessed(answer).evaluation, ["win"] if answer.move == "win" else [])]

    def _is_sure(self, judged: Judgement, line: Sequence[Node]) -> bool:
        least = max(number for number, marks in enumerate(_DOUBTFUL) if number == 0 or judged.mark in marks)
        return all(self._looks.get(node, 0) >= least for node in line[judged.number - 1 : judged.number + 1])

    def _progress(self) -> dict[str, Any]:
        """What a page shows of the look under way, and about how many seconds the analysis takes still."""
        look, costs, left = self._look, self._costs, len(self._look.asked)
        done = look.positions - left
        share = look.positions / done if done and look.number == 0 else 1.0
        if done > 1:
            costs[look.number] = (monotonic() - look.since) / (done - 1)
        seconds, known = 0.0, max(costs, default=0)
        for number in range(len(LOOKS)):
            count = len({*self._wanted(number, (0, 1)), *(look.asked if number == look.number else ())})
            cost = costs.get(number, costs.get(known, 0.0) * LONGER ** (number - known))
            seconds += cost * min(count * (share if number else 1.0), self._room if number == 2 else math.inf)
        about = seconds if costs else None
        return {"look": look.number + 1, "left": left, "of": look.positions, "own": look.own, "seconds": about}

    @property
    def _room(self) -> int:
        """Positions that the last look may still be for."""
        return max(0, MOST_DEEP - sum(look == 2 for look in self._looks.values()))

    def _begin(self, number: int, positions: Sequence[Node], own: bool = False) -> None:
        """Look at some positions of the line."""
        self._look = _Look(number, len(positions), {}, 0.0, own)
        entry, wanted, moves = self._game.entry, {*positions}, tuple(node.move for node in self._line[1:])
        for ply, node in enumerate(self._line):
            if node in wanted:
                question = Question(
                    self._game.game,
                    self._game.start,
                    moves[:ply],
                    visits=entry.judged_visits * LOOKS[number] * self._depth,
                    lines=entry.judged_lines,
                )
                self._look.asked[node] = self._engines.ask(question, partial(self._answered, node))

    def _answered(self, node: Node, answer: Answer) -> None:
        if not answer.final:
            return
        if len(self._look.asked) == self._look.positions:
            self._look = self._look._replace(since=monotonic())
        del self._look.asked[node]
        self._looks[node] = self._look.number
        if answer.move or answer.lines:
            self._remember(node, answer, self._look.number)
        ends = not self._look.asked
        if ends:
            self._look_again()
        self._news(answer.error, ends)

    def _remember(self, node: Node, answer: Answer, look: int) -> None:
        self.heard[node], self._analysed[node], self._looks[node], self.found = answer, answer, look, True

    def _look_again(self) -> None:
        """Begin the next look, if any position needs one. What it changes may call for another one of the same kind."""
        people = self._game.people
        for sides, number in product((people, (0, 1)), (1, 2)):
            nodes = self._wanted(number, sides)
            room = self._room if number == 2 else len(nodes)
            for node in nodes[room:]:  # nobody looks there any more: its mark is sure
                self._looks[node] = number
            if nodes[:room]:
                self._begin(number, nodes[:room], sides is people and len(people) == 1)
                return

    def _wanted(self, number: int, sides: Sequence[int]) -> list[Node]:
        """Positions that a look is for, of moves of these sides, those of the gravest mistakes first."""
        around = number == 1  # the second look takes the neighbours along
        judged = sorted(self.judgements(self._line), key=lambda each: (each.discs or 0, each.loss), reverse=True)
        nodes = dict.fromkeys(
            node
            for each in judged
            if each.turn in sides and each.mark in _DOUBTFUL[number]
            for node in self._line[max(0, each.number - 1 - around) : each.number + 1 + around]
        )
        return [node for node in nodes if self._looks.get(node, 0) < number]


def _kept(answer: Answer) -> list[Any]:
    """Its move and its lines."""
    return [answer.move, *({name: getattr(line, name) for name in _OF_LINE} for line in answer.lines)]


def _answer(value: Any, turn: int) -> Answer:
    """What was kept of one about a position in which 0 Black or 1 White moves."""
    move, *lines = value
    return Answer(turn, tuple(Info(**{**line, "pv": (*line["pv"],)}) for line in lines), move)


def _assessed(answer: Answer) -> Assessment:
    return assessment(answer.move, answer.lines[0] if answer.lines else None)


def _recorded(candidates: Sequence[AnalysedMove], turn: int) -> Answer:
    """What an analysis thought of a position, as a record has it."""
    lines = []
    for evaluation, line, nodes in candidates:
        own = -evaluation if turn else evaluation
        plies = MATE_EVAL - abs(own)
        mate = (plies if own > 0 else -plies) if 0 < plies < MATE_EVAL // 2 else None
        moves = () if [*line] == ["win"] else tuple(line)
        lines.append(Info(score_cp=own, score_mate=mate, win_rate=win_rate_of(own), visits=nodes, pv=moves))
    move = "win" if [*candidates[0].line] == ["win"] else "".join(lines[0].pv[:1])
    return Answer(turn, () if move == "win" else tuple(lines), move)


def _accuracies(own: Sequence[Judgement], moves: int) -> dict[str, Any]:
    """Of one side in a game of `moves` moves, as a whole, and in each third of it where the side moved there: 100 for
    nothing lost, as lichess counts."""

    def of(judged: Sequence[Judgement]) -> float | None:
        losses = [each.loss if each.discs is None else each.discs / WHOLE_DISCS for each in judged]
        return fmean(max(0.0, 103.1668 * math.exp(-4.354 * loss) - 3.1669) for loss in losses) if judged else None

    thirds = [[each for each in own if 3 * (each.number - 1) // moves == third] for third in range(3)]
    return {"accuracy": of(own), "phases": [of(third) for third in thirds]}
