"""A game against the searching engine at a terminal: `python -m pydlshogi.engines.othello.play`"""

import sys

from pydlshogi.engines.othello.options import SEARCH
from pydlshogi.games.othello.play import main

if __name__ == "__main__":
    sys.exit(main(choice=SEARCH))
