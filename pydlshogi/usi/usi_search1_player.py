"""The engine a GUI registers to play with Search1Player over USI."""

from pydlshogi.engines.shogi import search1
from pydlshogi.usi.usi import run


def main() -> None:
    """Speak USI on stdin and stdout."""
    run(search1())


if __name__ == "__main__":
    main()
