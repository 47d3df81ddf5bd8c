"""What a player is asked, and which of the lines that it reports count: players that speak from a script."""

from typing import Any

import pytest

from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.player.ask import Lines, Thought, ask
from pydlshogi.player.base_player import BestMove, Info, Report
from pydlshogi.player.clock import Clock, Limits
from tests.scripted_player import ScriptedPlayer

FIRST, SECOND = (
    tuple(Info(multipv=rank, nodes=nodes, win_rate=0.5, pv=(move,)) for rank, move in enumerate(moves.split(), 1))
    for nodes, moves in enumerate(("7g7f 2g2f 5g5f", "2g2f 7g7f 9g9f"))
)


def asked(script: Lines, move: str, lines: int = 3, **limits: Any) -> tuple[Thought, list[Lines]]:
    """The answer of a player that reports all of a script, and what was heard of it."""

    class Speaker(ScriptedPlayer):
        def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove:
            assert self.options.multi_pv == lines
            for info in script:
                report(info)
            return BestMove(move, "3c3d")

    heard = list[Lines]()
    return ask(Speaker(), ShogiPosition(), Clock(Limits(**limits)), lines, heard.append), heard


def test_whole_sets_are_heard_and_the_last_one_is_the_answer() -> None:
    words = Info(string="so far"), Info(time=7, nodes=3)
    thought, heard = asked((*FIRST, *words, *SECOND, *words), "2g2f")
    assert heard == [FIRST, SECOND]
    assert (thought.move, thought.ponder, thought.lines) == ("2g2f", "3c3d", SECOND)
    assert asked(FIRST[:2], "7g7f", searchmoves=("7g7f", "2g2f"))[1] == [FIRST[:2]]  # there are no more moves
    thought, heard = asked((*FIRST, SECOND[0]), "2g2f")  # nothing else was said where a mate was found
    assert (heard, thought.lines) == ([FIRST], SECOND[:1])


@pytest.mark.parametrize(("move", "count"), [("7g7f", 1), ("resign", 1), ("win", 1), ("2g2f", 0)])
def test_lines_of_another_move_are_none_of_the_answer(move: str, count: int) -> None:
    assert asked(FIRST[:1], move, 1)[0].lines == FIRST[:count]


def test_the_rules_may_judge_a_position_without_a_line() -> None:
    over = Info(win_rate=0.0)
    assert asked((over,), "resign")[0].lines == (over,)
