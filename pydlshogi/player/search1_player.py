"""Search1Player: it looks one move ahead and plays the move after which the network likes its position best."""

from pydlshogi.player.options import Spin
from pydlshogi.player.reflex_player import Judgement, ReflexOptions, ReflexPlayer, logit


class Search1Options(ReflexOptions):
    """As much as a reflex player, and room for the successors of most positions in one batch."""

    batch_size = Spin(
        "DNN_Batch_Size", 128, 1, 1024, aliases=("batchsize",), help="positions evaluated at once, at most"
    )


class Search1Player(ReflexPlayer):
    """Judges a move by the value of the position after it, seen from this side."""

    name = "pydlshogi search1_player"
    options: Search1Options

    def __init__(self, options: Search1Options | None = None) -> None:
        super().__init__(options or Search1Options())

    def judge(self) -> list[Judgement]:
        from cshogi import move_to_usi

        moves = self.game.legal_moves().tolist()
        win_rates: list[float] = []
        for first in range(0, len(moves), self.options.batch_size):
            win_rates += self._win_rates_after(moves[first : first + self.options.batch_size])
        return [
            Judgement(move_to_usi(move), win_rate, logit(win_rate), win_rate)
            for move, win_rate in zip(moves, win_rates, strict=True)
        ]

    def _win_rates_after(self, moves: list[int]) -> list[float]:
        """This side's win rate after each move: by the rules where they decide, else by the network, in one batch."""
        import numpy as np

        game, requests = self.game, self.requests
        decided: dict[int, float] = {}
        replies = []
        requests.clear()
        for move in moves:
            game.push(move)
            legal = game.legal_moves()
            outcome = game.outcome()
            if not len(legal):
                decided[move] = 1.0
            elif outcome is not None:
                decided[move] = 1.0 - outcome.value
            else:
                requests.note(game)
                replies.append(legal)
            game.pop()
        requests.counts = np.array([len(legal) for legal in replies], np.int32)
        requests.moves = np.concatenate([np.empty(0, np.int32), *replies])
        values = iter(self.evaluator.evaluate(requests).values.tolist() if replies else ())
        return [decided[move] if move in decided else 1.0 - next(values) for move in moves]
