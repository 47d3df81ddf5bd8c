"""The engine of Dobutsu shogi that a GUI registers: MCTSPlayer over USI."""

from pydlshogi.engines.dobutsu import mcts
from pydlshogi.usi.usi import run


def main() -> None:
    """Speak USI on stdin and stdout."""
    run(mcts())


if __name__ == "__main__":
    main()
