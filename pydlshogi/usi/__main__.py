"""The engine of any game over USI: `python -m pydlshogi.usi GAME`."""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from typing import Final

from pydlshogi.catalogue import engine_named
from pydlshogi.usi.usi import run

_ABOUT: Final = "The engine of a game: speaks USI, to a GUI or to people, who may type `help`."


def main(arguments: Sequence[str] | None = None) -> None:
    """Speak USI on stdin and stdout. Does not return."""
    parser = ArgumentParser(prog="python -m pydlshogi.usi", description=_ABOUT)
    parser.add_argument("game", help="its name, or MODULE:NAME of its entry")
    parser.add_argument("engine", nargs="?", default="", help="of the game (default: the one that analyses)")
    given = parser.parse_args(arguments)
    try:
        engine = engine_named(given.game, given.engine)
    except ValueError as error:
        parser.error(str(error))
    run(engine)


def program(*engine: str) -> Callable[[], None]:
    """That of one engine: what GUIs start, which give it no arguments."""

    def start() -> None:
        ArgumentParser(description=_ABOUT).parse_args()
        run(engine_named(*engine))

    return start


if __name__ == "__main__":
    main()
