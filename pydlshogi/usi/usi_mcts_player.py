"""The engine a GUI registers: MCTSPlayer over USI."""

from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.usi.usi import run


def main() -> None:
    """Speak USI on stdin and stdout."""
    run(MCTSPlayer)


if __name__ == "__main__":
    main()
