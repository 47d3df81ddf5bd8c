"""What players that look at every legal move once let the user decide."""

from pydlshogi.player.mcts_options import NetworkOptions
from pydlshogi.player.options import Spin


class ReflexOptions(NetworkOptions):
    """What all of them do."""

    temperature = Spin("temperature", 0, 0, 10000, help="0: the best move; else, in percent, how freely it is sampled")
    seed = Spin("Random_Seed", 0, 0, 2**31 - 1, help="of the sampled moves; 0: another one in every game")


class Search1Options(ReflexOptions):
    """Room for the successors of most positions in one batch."""

    batch_size = Spin(
        "DNN_Batch_Size", 128, 1, 1024, aliases=("batchsize",), help="positions evaluated at once, at most"
    )
