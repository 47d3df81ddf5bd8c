"""A game record judged move by move: `python -m pydlshogi.analyze game.kif --time 1000`

Prints a table, and writes beside game.kif game.analysed.kif, the record with evaluations, expected moves and what was
wrong as comments that GUIs show, and game.analysed.png, the win rate move by move; --json adds game.analysed.json, the
same numbers for programs. Ctrl-C ends it early; what has been judged by then is kept.
"""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Final

from pydlshogi.analysis import MARKS, MATE_EVAL, Judgement, accounts, as_json, summary
from pydlshogi.games.shogi.analysis import annotated, judge
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.games.shogi.game import GAME
from pydlshogi.games.shogi.kifu import formats
from pydlshogi.games.shogi.kifu.game import Game
from pydlshogi.games.shogi.kifu.kif_writer import kif_bytes
from pydlshogi.games.shogi.read_kifu import read
from pydlshogi.player.base_player import BasePlayer, PlayerError
from pydlshogi.player.options import add_option_setting, set_given
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive, remedy
from pydlshogi.support.decoding import is_utf8
from pydlshogi.support.files import check_writable, write_whole

MILLISECONDS: Final = 1000.0
"""Thought about a position when nothing else is asked for."""

HEADING: Final = "   ply  move       eval  black wins  best     lost"

_FONT: Final = "DejaVu Sans"


def row(judged: Judgement) -> str:
    """The line of the table for one move."""
    share = f"{judged.win_rate:.1%}"
    lost = "" if judged.move == judged.best else f"{judged.loss:.1%}"
    line = (
        f"{judged.number:6}  {'+-'[judged.turn]}{judged.move:6} {score(judged.evaluation):>7}  {share:>10}  "
        f"{judged.best:6} {lost:>6} {judged.mark}"
    )
    return line.rstrip()


def score(evaluation: int) -> str:
    """An evaluation for people: centipawns, or a mate and its plies."""
    plies = MATE_EVAL - abs(evaluation)
    if plies > MATE_EVAL // 2:
        return f"{evaluation:+}"
    return f"{'+' if evaluation > 0 else '-'}mate{plies or ''}"


def title(names: Sequence[str]) -> tuple[str, str]:
    """Who played, and a font that has all its letters; the colours alone where a name is missing, or no font on this
    machine can write both."""
    from matplotlib.font_manager import fontManager, get_font

    letters = {ord(letter) for letter in "".join(names) if not letter.isspace()}
    # The default, which comes with matplotlib, before all others. The last resort draws boxes.
    fonts = sorted(fontManager.ttflist, key=lambda font: font.name != _FONT)
    for font in fonts if all(names) else ():
        # A font that is gone may still be listed in what matplotlib keeps.
        if "LastResort" in font.fname or not Path(font.fname).exists():
            continue
        if letters <= get_font(font.fname).get_charmap().keys():
            return " - ".join(names), font.name
    return "Black - White", _FONT


def graph(judgements: Sequence[Judgement], names: Sequence[str]) -> bytes:
    """Black's win rate move by move, as a PNG."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # before its import, which warns of caches and fonts
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    first = judgements[0]
    start = 1 - first.before.win_rate if first.turn else first.before.win_rate
    plies = [first.number - 1, *(judged.number for judged in judgements)]
    shares = [100 * share for share in (start, *(judged.win_rate for judged in judgements))]
    axes.plot(plies, shares, color="tab:blue", linewidth=1.2)
    axes.fill_between(plies, 50, shares, color="tab:blue", alpha=0.15)
    axes.axhline(50, color="grey", linewidth=0.8)
    for (least, mark), colour in zip(MARKS, ("tab:red", "tab:orange", "gold"), strict=True):
        marked = [judged for judged in judgements if judged.mark == mark]
        axes.scatter(
            [judged.number for judged in marked],
            [100 * judged.win_rate for judged in marked],
            color=colour,
            zorder=3,
            s=24,
            label=f"{mark} {least:.0%} of winning lost, or more",
        )
    axes.set(xlim=(plies[0], max(plies[-1], plies[0] + 1)), ylim=(0, 100))
    heading, font = title(names)
    axes.set_title(heading, family=font, parse_math=False)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="move", ylabel="Black wins, %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="best")
    file = BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()


def _game(path: Path, number: int) -> Game:
    games = read(path)
    if number > len(games):
        raise OneLineError(f"{path}: there is no game {number}, it holds {len(games)}")
    if len(games) > 1:
        print(f"analyze: game {number} of {len(games)} (--game chooses)", file=sys.stderr)
    game = games[number - 1]
    if game.remark:
        print(f"analyze: {game.remark}", file=sys.stderr)
    if not game.moves:
        raise OneLineError(f"{path}: there are no moves to judge")
    return game


def _judge_all(player: BasePlayer, game: Game, options: argparse.Namespace, judgements: list[Judgement]) -> None:
    """Add what is judged to `judgements`, and show it."""
    from tqdm import tqdm

    for remark in player.prepare():
        print(f"analyze: {remark}", file=sys.stderr)
    time = options.time or (None if options.nodes else MILLISECONDS)
    with tqdm(total=len(game.moves), unit="move", disable=None, dynamic_ncols=True) as bar:
        tqdm.write(HEADING)
        for judged in judge(player, game, options.nodes, time):
            judgements.append(judged)
            tqdm.write(row(judged))
            bar.update()


def _run(arguments: argparse.Namespace) -> int:
    path: Path = arguments.record
    with_graph = not arguments.no_graph
    if with_graph and not find_spec("matplotlib"):
        print(f"analyze: no graph without Matplotlib: {remedy('train', 'matplotlib')}", file=sys.stderr)
        with_graph = False
    game = _game(path, arguments.game)
    kif = path.suffix.lower() != ".csa" or bool(game.variations)
    record, picture, numbers = (
        path.with_name(f"{path.stem}.analysed{suffix}") for suffix in (".kif" if kif else ".csa", ".png", ".json")
    )
    for output, wanted in ((record, not arguments.no_record), (picture, with_graph), (numbers, arguments.json)):
        if wanted and output.exists() and not arguments.overwrite:
            raise OneLineError(f"{output} exists (--overwrite replaces it)")
        if wanted:
            check_writable(output)
    options = MCTSPlayerOptions()
    set_given(options, arguments.option)
    player = GAME.mcts(options).load()
    judgements: list[Judgement] = []
    status = 0
    try:
        _judge_all(player, game, arguments, judgements)
    except (KeyboardInterrupt, PlayerError) as error:
        status = 1 if isinstance(error, PlayerError) else 130
        reason = str(error) or "stopped"
        print(f"analyze: {reason}; {len(judgements)} of {len(game.moves)} moves are judged", file=sys.stderr)
    if judgements:
        for line in summary(judgements, game.names):
            print(line)
        if not arguments.no_record:
            unjudged = replace(game, evals=(None,) * len(game.moves), analysis=())
            text = annotated(unjudged, judgements, kif)
            _write(record, kif_bytes(text, is_utf8(path.read_bytes())) if kif else text.encode())
        if arguments.json:
            judged = {
                "start": game.start_sfen,
                "names": game.names,
                "moves": [as_json(move) for move in judgements],
                "summary": [account._asdict() for account in accounts(judgements)],
            }
            _write(numbers, json.dumps(judged, ensure_ascii=False, indent=1).encode())
        if with_graph:
            _write(picture, graph(judgements, game.names))
    return status


def _write(path: Path, content: bytes) -> None:
    write_whole(path, content)
    print(path)


def main(arguments: Sequence[str] | None = None) -> int:
    blunder, mistake, inaccuracy = (f"{least * 100:.0f}" for least, _ in MARKS)
    parser = parser_for(
        "pydlshogi.analyze",
        "Judge every move of a game record.",
        f"Marks, by the win rate that a move cost its maker: ?? {blunder} % or more, ? {mistake} %, "
        f"?! {inaccuracy} %. Evaluations and win rates are Black's.",
    )
    parser.add_argument("record", type=Path, help=f"a file of a game: {formats.NAMES}")
    allowance = parser.add_mutually_exclusive_group()
    allowance.add_argument("--time", type=bounded(0.001, kind=float), metavar="MS", help="per position (default: 1000)")
    allowance.add_argument("--nodes", type=positive, metavar="N", help="playouts per position, instead of --time")
    parser.add_argument("--game", type=positive, default=1, metavar="N", help="which, of a file with several")
    add_option_setting(parser)
    parser.add_argument("--no-record", action="store_true", help="write no annotated record")
    parser.add_argument("--no-graph", action="store_true", help="draw no graph")
    parser.add_argument("--json", action="store_true", help="write the numbers for programs too")
    parser.add_argument("--overwrite", action="store_true", help="replace what an earlier analysis wrote")
    options = parser.parse_args(arguments)
    return exit_status("analyze", partial(_run, options))


if __name__ == "__main__":
    sys.exit(main())
