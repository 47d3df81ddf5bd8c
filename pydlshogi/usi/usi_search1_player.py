"""The engine a GUI registers to play with Search1Player over USI."""

from pydlshogi.player.search1_player import Search1Player
from pydlshogi.usi.usi import run


def main() -> None:
    """Speak USI on stdin and stdout."""
    run(Search1Player)


if __name__ == "__main__":
    main()
