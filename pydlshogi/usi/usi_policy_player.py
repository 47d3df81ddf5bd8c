"""PolicyPlayer over USI, for GUIs, which give an engine no arguments."""

import sys

from pydlshogi.usi.__main__ import main as usi


def main() -> None:
    usi(["shogi", "policy", *sys.argv[1:]])


if __name__ == "__main__":
    main()
