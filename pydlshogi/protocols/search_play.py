"""A game against the searching engine at a terminal: `python -m pydlshogi.protocols.search_play`"""

import sys

from pydlshogi.engines.othello.options import SEARCH
from pydlshogi.protocols.play import main

if __name__ == "__main__":
    sys.exit(main(choice=SEARCH))
