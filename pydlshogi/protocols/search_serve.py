"""The searching engine of Othello, in GTP or NBoard's protocol: `python -m pydlshogi.protocols.search_serve`"""

import sys

from pydlshogi.engines.othello.options import SEARCH
from pydlshogi.protocols.serve import main

if __name__ == "__main__":
    sys.exit(main(choice=SEARCH))
