"""The engine a GUI registers to play with PolicyPlayer over USI."""

from pydlshogi.engines.shogi import policy
from pydlshogi.usi.usi import run


def main() -> None:
    """Speak USI on stdin and stdout."""
    run(policy())


if __name__ == "__main__":
    main()
