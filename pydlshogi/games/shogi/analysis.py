"""A recorded game of shogi judged by a player, and the record with what was thought of its moves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from pydlshogi.analysis import Assessment, Judgement, assessment
from pydlshogi.games.shogi.kifu.csa import line_to_csa, to_csa
from pydlshogi.games.shogi.kifu.game import Game
from pydlshogi.games.shogi.kifu.kif_writer import line_to_kif, to_kif
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.player.ask import ask
from pydlshogi.player.base_player import BasePlayer, game_over, play_moves
from pydlshogi.player.clock import Clock, Limits

_IN_CSA: Final = {"?!": "inaccuracy", "?": "mistake", "??": "blunder"}
_IN_KIF: Final = {"?!": "疑問手", "?": "悪手", "??": "大悪手"}
_OURS: Final = re.compile(rf"(?:{'|'.join(_IN_KIF.values())}) 勝率-|(?:{'|'.join(_IN_CSA.values())}): win rate -")
_COMMENTED_MOVES: Final = 6


def judge(player: BasePlayer, game: Game, nodes: int | None, time: float | None = None) -> Iterator[Judgement]:
    """The moves of `game`, as soon as each is judged; the player goes on with its tree from move to move.

    `nodes`, `time`: the playouts and milliseconds that a position may cost. Raises PlayerError.
    """
    turn = ShogiPosition(game.start_sfen).turn
    player.new_game()
    assessments = (think(player, game, plies, nodes, time) for plies in range(len(game.moves) + 1))
    for number, (move, (before, after)) in enumerate(zip(game.usi, pairwise(assessments), strict=True), 1):
        yield Judgement(number, (turn + number - 1) % 2, move, before, after)


def think(player: BasePlayer, game: Game, plies: int, nodes: int | None, time: float | None = None) -> Assessment:
    """What `player` thinks of the position after `plies` moves of `game`. Raises PlayerError."""
    position = ShogiPosition(game.start_sfen, **player.options.rules())
    play_moves(position, game.usi[:plies])
    if plies == len(game.moves) and (over := game_over(position)):
        return assessment("", over)
    thought = ask(player, position, Clock(Limits(infinite=True, nodes=nodes, movetime=time)))
    return assessment(thought.move, next(iter(thought.lines), None))


def without_ours(comment: str) -> str:
    """A comment without what an analysis has written."""
    return "\n".join(line for line in comment.splitlines() if not _OURS.match(line))


def annotated(game: Game, judgements: Sequence[Judgement], kif: bool) -> str:
    """`game` as a CSA or KIF text with its assessments as evaluations; moves not judged keep theirs."""
    known = {judged.number: judged for judged in judgements}
    position = ShogiPosition(game.start_sfen)
    comments = [*game.comments, *[""] * (len(game.moves) + 1 - len(game.comments))]
    evals = [*game.evals]
    lines: list[Sequence[str]] = [()] * len(game.moves)
    for number, move in enumerate(game.moves, 1):
        if judged := known.get(number):
            evals[number - 1], lines[number - 1] = judged.evaluation, judged.after.line
            comments[number] = "\n".join(
                [*without_ours(comments[number]).splitlines(), *_comment(position, judged, kif)]
            )
        position.push(move)
    game = replace(game, evals=tuple(evals), comments=tuple(comments))
    return to_kif(game, lines) if kif else to_csa(game, lines)


def _comment(position: ShogiPosition, judged: Judgement, kif: bool) -> list[str]:
    if not judged.mark:
        return []
    line = judged.before.line[:_COMMENTED_MOVES]
    if kif:
        better = " ".join(line_to_kif(position, line)) or "入玉宣言"
        return [f"{_IN_KIF[judged.mark]} 勝率-{judged.loss:.1%} 最善 {better}"]
    better = " ".join(line_to_csa(position, line)) or "%KACHI"
    return [f"{_IN_CSA[judged.mark]}: win rate -{judged.loss:.1%}; better {better}"]
