"""Positions judged for other programs: `python -m pydlshogi.analysis_server`, JSON lines on stdin and stdout.

A query is one line, such as {"id": "a", "moves": ["7g7f", "3c3d"], "analyzeTurns": [0, 1, 2], "maxVisits": 200}. Its
fields, all but the id optional:

    game                     shogi (the default), dobutsu or othello
    start, moves             an sfen, else the start of the game; the moves since, such as 7g7f (Othello: f5, pass)
    analyzeTurns             after how many of the moves to look; by default after all of them
    maxVisits, maxTime       playouts, and seconds, for each of those positions; by default 500 playouts
    multiPV, searchMoves     how many moves to tell of; which moves alone to look at
    reportDuringSearchEvery  seconds between answers on the way
    priority, priorities     the higher, the sooner: for all of the turns, or one for each
    includePolicy            what the network expects of every move, before any search, as `policy`
    includePVVisits          how often each move of a line was visited, as `pvVisits`
    opponent                 such as easy: not an analysis, but the move of that opponent

Other lines: {"id": "b", "action": "terminate", "terminateId": "a"}, with "turnNumbers" only for those; the actions
terminate_all, query_version and clear_cache. Answers to them repeat the line. What is terminated is answered by what is
known by then, or by noResults. Each position is answered by one line with its id and turnNumber that is not
isDuringSearch; errors are lines too, and so are warnings of fields that mean nothing here. Win rates and scores are for
the side to move; `repetitions` says how often the position was there before. At the end of the input everything that is
due is answered.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from functools import partial

from pydlshogi.analysis_server.pool import Pool
from pydlshogi.analysis_server.server import Server
from pydlshogi.player.options import add_option_setting, option_settings
from pydlshogi.support.command_line import exit_status, parser_for, positive
from pydlshogi.support.pool import available_cores, end_when_nobody_listens


def _run(arguments: argparse.Namespace) -> None:
    pool = Pool(arguments.searches or available_cores(), option_settings(arguments.option))
    end_when_nobody_listens(sys.stdout.fileno())
    try:
        Server(pool, partial(print, flush=True)).hear(sys.stdin.buffer)
        pool.close()
    finally:
        pool.close(cancel=True)  # Ctrl-C may have ended the other one


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("pydlshogi.analysis_server", __doc__)
    parser.add_argument("--searches", type=positive, metavar="N", help="at once (default: one for each core)")
    add_option_setting(parser)
    options = parser.parse_args(arguments)
    logging.basicConfig(format="analysis_server: %(message)s")
    return exit_status("analysis_server", partial(_run, options))


if __name__ == "__main__":
    sys.exit(main())
