"""A USI engine. It knows no games."""

import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydlshogi.analysis import MATE_EVAL
from utils.arena.engine_process import START_SECONDS, EngineAnswer, EngineDied, EngineError, EngineProcess, EngineSilent

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

    def prepare(self, options: Mapping[str, str]) -> None:
        """`usi`, then `configure`. Raises EngineError if the engine does not play along or lacks an option."""
        try:
            lines = self.ask("usi", "usiok", START_SECONDS)
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
            self._set(_DEBUG, "true")
        for name, value in options.items():
            self._set(name, value)
        if undeclared:
            self._set(_NO_OPTION, "1")
        lines = self.ask("isready", "readyok", START_SECONDS)
        if asked:
            self._set(_DEBUG, "false")
        complaint = next((line for line in lines if _NO_OPTION in line), None)
        for name in undeclared:
            if complaint is None or complaint.replace(_NO_OPTION, name) in lines:
                raise self._lacks(name)

    def set_option(self, name: str, value: str) -> None:
        if not self.declares(name):
            raise self._lacks(name)
        self._set(name, value)

    def _set(self, name: str, value: str) -> None:
        self.say(f"setoption name {self._declared.get(name.lower(), name)} value {value}")

    def _lacks(self, option: str) -> EngineError:
        return EngineError(f"has no option {option}; it has {', '.join(sorted(self._declared.values())) or 'none'}")

    def new_game(self) -> None:
        """`isready`, `usinewgame`."""
        self.ask("isready", "readyok", START_SECONDS)
        self.say("usinewgame")

    def go(self, start: str, moves: Sequence[str], limits: Mapping[str, int], seconds: float) -> EngineAnswer:
        self.say(" ".join(["position", start, *(["moves", *moves] if moves else [])]))
        began = time.perf_counter()
        go = " ".join(["go", *(f"{name} {value}" for name, value in limits.items())])
        lines = self.ask(go, "bestmove", seconds)
        bestmove = lines[-1].removeprefix("bestmove").strip().partition(" ")[0]
        candidates = _candidates(lines)
        cp = candidates.get(bestmove, next(iter(candidates.values()), None))
        return EngineAnswer(bestmove, cp, candidates, (self.arrived - began) * 1000, tuple(lines))

    def go_mate(self, start: str, milliseconds: int, seconds: float) -> tuple[str, float]:
        """What follows `checkmate` in the answer to `go mate`, and the milliseconds that it took.

        Raises EngineSilent when none comes within `seconds`.
        """
        self.say(f"position {start}")
        began = time.perf_counter()
        *_, answer = self.ask(f"go mate {milliseconds}", "checkmate", seconds)
        return answer.removeprefix("checkmate").strip(), (self.arrived - began) * 1000

    def game_over(self, result: str) -> None:
        with contextlib.suppress(EngineDied):
            self.say(f"gameover {result}")


def _candidates(lines: Sequence[str]) -> dict[str, int]:
    """As `EngineAnswer` has them; a line without `multipv` is of rank 1."""
    ranks: dict[int, tuple[str, int]] = {}
    for line in lines:
        score, move = _SCORE.search(line), _PV.search(line)
        if not line.startswith("info") or " string " in line or score is None or move is None:
            continue
        multipv = _MULTIPV.search(line)
        if score[1] is not None:
            # GPSShogi's scores of a mate are beyond every scale.
            cp = max(-MATE_EVAL, min(MATE_EVAL, int(score[1])))
        elif score[2].startswith("-"):
            cp = -MATE_EVAL + int(score[2][1:] or 0)
        else:
            cp = MATE_EVAL - int(score[2].removeprefix("+") or 0)
        ranks[int(multipv[1]) if multipv else 1] = move[1], cp
    candidates: dict[str, int] = {}
    for rank in sorted(ranks):
        candidates.setdefault(*ranks[rank])
    return candidates
