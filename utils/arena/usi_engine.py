"""A USI engine, spoken to by cshogi's client.

cshogi.usi.Engine speaks the protocol well, but starts only commands without arguments, waits for ever for an engine
that is silent, spins on one that has died, and leaves stderr unread until the engine blocks. So it is given, in place
of a process, the `Pipes` of engine_process.py. It knows no games.
"""

import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import cshogi.usi

from pydlshogi.kifu.game import MATE_EVAL
from utils.arena.engine_process import (
    START_SECONDS,
    Candidate,
    EngineAnswer,
    EngineDied,
    EngineError,
    EngineProcess,
    EngineSilent,
)

_SCORE = re.compile(r"\bscore (?:cp (-?\d+)|mate ([+-]?\d*))")
_MULTIPV = re.compile(r"\bmultipv (\d+)")
_PV = re.compile(r"\bpv (\S+)")
# Fairy-Stockfish's names contain blanks.
_OPTION = re.compile(r"option name (.+?) type ")
_NO_OPTION = "No_Such_Option"
_DEBUG = "DebugMessage"


class UsiEngine(EngineProcess):
    """One running engine."""

    def __init__(self, command: str, stderr: Path) -> None:
        super().__init__(command, stderr)
        self._declared: dict[str, str] = {}
        self._client = cshogi.usi.Engine(command, connect=False)
        self._client.proc = self._pipes

    def prepare(self, options: Mapping[str, str]) -> None:
        """`usi`, then `configure`. Raises EngineError if the engine does not play along or lacks an option."""
        try:
            lines: list[str] = self._within(START_SECONDS, self._client.usi)
            names = [line.removeprefix("id name ").strip() for line in lines if line.startswith("id name ")]
            self.name = next(filter(None, names), self.name)
            declared = [match[1] for line in lines if (match := _OPTION.match(line))]
            self._declared = {name.lower(): name for name in declared}
            self.configure(options)
        except (EngineDied, EngineSilent) as error:
            raise self._not_started(error) from error

    def declares(self, name: str) -> bool:
        return name.lower() in self._declared

    def configure(self, options: Mapping[str, str]) -> None:
        """`setoption`, `isready`. Raises EngineError if the engine lacks an option.

        An option that is not declared may be there all the same, for those who tune. It is taken to be there if the
        engine does not complain of it, as it does of a name that no engine has; some complain with DebugMessage only.
        """
        undeclared = [name for name in options if not self.declares(name)]
        asked = bool(undeclared) and self.declares(_DEBUG)
        if asked:
            self._client.setoption(_DEBUG, "true")
        for name, value in options.items():
            self._client.setoption(self._declared.get(name.lower(), name), value)
        if undeclared:
            self._client.setoption(_NO_OPTION, "1")
        lines: list[str] = []
        self._within(START_SECONDS, lambda: self._client.isready(listener=lines.append))
        if asked:
            self._client.setoption(_DEBUG, "false")
        complaint = next((line for line in lines if _NO_OPTION in line), None)
        for name in undeclared:
            if complaint is None or complaint.replace(_NO_OPTION, name) in lines:
                raise self._lacks(name)

    def set_option(self, name: str, value: str) -> None:
        if not self.declares(name):
            raise self._lacks(name)
        self._client.setoption(self._declared[name.lower()], value)

    def _lacks(self, option: str) -> EngineError:
        return EngineError(f"has no option {option}; it has {', '.join(sorted(self._declared.values())) or 'none'}")

    def new_game(self) -> None:
        """`isready`, `usinewgame`."""
        self._within(START_SECONDS, self._client.isready)
        self._client.usinewgame()

    def go(self, start: str, moves: Sequence[str], limits: Mapping[str, int], seconds: float) -> EngineAnswer:
        lines: list[str] = []
        self._client.position(list(moves), sfen=start)
        began = time.perf_counter()
        bestmove, _ = self._within(seconds, lambda: self._client.go(**limits, listener=lines.append))
        candidates = _candidates(lines)
        cp = next((candidate.cp for candidate in candidates if candidate.move == bestmove), None)
        if cp is None and candidates:
            cp = candidates[0].cp
        return EngineAnswer(bestmove, cp, candidates, (self._pipes.arrived - began) * 1000, tuple(lines))

    def go_mate(self, start: str, milliseconds: int, seconds: float) -> tuple[str, float]:
        """What follows `checkmate` in the answer to `go mate`, and the milliseconds that it took.

        Raises EngineSilent when none comes within `seconds`.
        """
        self._client.position(sfen=start)
        began = time.perf_counter()
        answer = self._within(seconds, lambda: self._client.go_mate(byoyomi=milliseconds))
        return answer, (self._pipes.arrived - began) * 1000

    def game_over(self, result: str) -> None:
        with contextlib.suppress(EngineDied):
            self._client.gameover(result)


def _candidates(lines: Sequence[str]) -> tuple[Candidate, ...]:
    """The last scored line of each MultiPV rank; a line without `multipv` is of rank 1."""
    ranks: dict[int, Candidate] = {}
    for line in lines:
        score, move = _SCORE.search(line), _PV.search(line)
        if not line.startswith("info") or " string " in line or score is None or move is None:
            continue
        rank = _MULTIPV.search(line)
        if score[1] is not None:
            # GPSShogi's scores of a mate are beyond every scale.
            cp = max(-MATE_EVAL, min(MATE_EVAL, int(score[1])))
        elif score[2].startswith("-"):
            cp = -MATE_EVAL + int(score[2][1:] or 0)
        else:
            cp = MATE_EVAL - int(score[2].removeprefix("+") or 0)
        ranks[int(rank[1]) if rank else 1] = Candidate(move[1], cp)
    return tuple(ranks[rank] for rank in sorted(ranks))
