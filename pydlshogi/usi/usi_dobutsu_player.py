"""The engine of Dobutsu shogi that a GUI registers: MCTSPlayer over USI."""

from pydlshogi.engines.named import engine_named
from pydlshogi.usi.usi import run


def main() -> None:
    """Speak USI on stdin and stdout."""
    run(engine_named("dobutsu"))


if __name__ == "__main__":
    main()
