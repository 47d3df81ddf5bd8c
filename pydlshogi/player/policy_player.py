"""PolicyPlayer: it plays what the policy of the network recommends, without looking ahead."""

import math

from pydlshogi.player.reflex_player import Judgement, ReflexPlayer


class PolicyPlayer(ReflexPlayer):
    """Judges a move by its probability in the policy."""

    name = "pydlshogi policy_player"

    def judge(self) -> list[Judgement]:
        import numpy as np
        from cshogi import move_to_usi

        moves = self.game.legal_moves()
        self.requests.clear()
        self.requests.note(self.game)
        self.requests.counts = np.array([len(moves)], np.int32)
        self.requests.moves = moves
        priors, values = self.evaluator.evaluate(self.requests)
        return [
            Judgement(move_to_usi(move), prior, math.log(max(prior, 1e-7)), float(values[0]))
            for move, prior in zip(moves.tolist(), priors.tolist(), strict=True)
        ]
