"""How well networks predict recorded games: `python -m utils.validate_network NETWORK... --games games.jsonl.xz`

Prints the tables of the laboratory book, one column a network; a framework and an arithmetic may follow its name:

    python -m utils.validate_network model/pydlshogi.npz other.onnx,onnx --games games.jsonl.xz

`--movetime 1000` or `--nodes 800` adds the moves and the win rates of the engine's search, one thread, no book:

    python -m utils.validate_network model/pydlshogi.npz --games floodgate_hcpe_1000.jsonl --movetime 1000
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np
from tqdm import tqdm

from pydlshogi.analysis import assessment
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.games.shogi.game import GAME
from pydlshogi.games.shogi.sfen import usi_of
from pydlshogi.games.shogi.sparse import ALL_ENCODINGS
from pydlshogi.games.shogi.training.dataset import PHASES, validate
from pydlshogi.games.shogi.training.formats import load
from pydlshogi.games.shogi.training.records import WIN, Positions
from pydlshogi.network.loading import load_backend
from pydlshogi.player.ask import ask
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import add_option_setting, set_given
from pydlshogi.support.command_line import exit_status, natural, parser_for, positive
from pydlshogi.support.files import cache_folder
from pydlshogi.training.validation import Report, asking, sample
from utils.lab.search_records import Item, item_of, reached

FIGURES = {
    "top1": "the move played is its first choice (top-1)",
    "top5": "the move played is among its first five",
    "value_accuracy": "the winner predicted (sign of the value)",
    "policy_loss": "policy loss (nats)",
    "value_loss": "value loss (nats)",
    "eval_error": "win rate, apart from that of the record's evaluation (root mean square)",
    "searched_top1": "the move played is the search's",
    "searched_value_accuracy": "the winner predicted by the search",
}


def parts_of(network: str) -> list[str]:
    """The file, the backend and the precision of a network named `FILE[,BACKEND[,PRECISION]]`."""
    splits = [network.rsplit(",", most) for most in range(3)]  # the name of a file may have commas too
    words = next((words for words in splits if Path(words[0]).exists()), splits[-1])
    return [*words, "auto", "auto"][:3]


def report_of(network: str, positions: Positions) -> tuple[str, Report]:
    """What ran the network, named as for `parts_of`, and what it made of the positions."""
    file, name, precision = parts_of(network)
    backend = load_backend(name, file, ALL_ENCODINGS, precision=precision, batch_size=512)
    return backend.description, validate(asking(backend), positions, backend.encoding)


def searched(network: str, item: Item, options: argparse.Namespace) -> Report:
    """How often the engine with that network plays what was played, and knows who won."""
    settings = MCTSPlayerOptions()
    named = map("=".join, zip(("modelfile", "Backend", "Precision"), parts_of(network), strict=True))
    set_given(settings, ["Threads=1", "OwnBook=false", *named, *options.option])
    player = GAME.mcts(settings).load()
    player.prepare()
    limits = Limits(infinite=True, movetime=options.movetime, nodes=options.nodes)
    same, right = [], []
    for recorded, position in zip(item.positions, tqdm(reached(item), disable=None), strict=True):
        player.new_game()
        thought = ask(player, position, Clock(limits))
        rate = assessment(thought.move, next(iter(thought.lines), None)).win_rate
        same.append(usi_of(int(recorded["move"])) == thought.move)
        if abs(recorded["result"]) == WIN:
            right.append((rate > 0.5) == bool(recorded["result"] == WIN))
    return {"searched_top1": mean(same), "searched_value_accuracy": mean(right) if right else None}


def tables(names: Sequence[str], reports: Sequence[Report]) -> str:
    """Markdown: the figures of all networks, then phases and reliability of the first."""
    lines = [_row("", *names), _row(*["---"] * (len(names) + 1))]
    for figure, meaning in FIGURES.items():
        if figure in reports[0]:
            lines.append(_row(meaning, *(_shown(figure, report[figure]) for report in reports)))
    first = reports[0]
    lines += ["", _row("phase", "positions", "top-1", "winner predicted"), _row(*["---"] * 4)]
    for name, *_ in PHASES:
        phase = first["phases"][name]
        shares = (_shown(figure, phase[figure]) for figure in ("top1", "value_accuracy"))
        lines.append(_row(name, f"{phase['positions']:,}", *shares))
    lines += ["", _row("positions", "mean win rate predicted", "share won"), _row(*["---"] * 3)]
    for tenth in first["reliability"]:
        rates = ("-" if tenth[key] is None else f"{tenth[key]:.3f}" for key in ("predicted", "won"))
        lines.append(_row(f"{tenth['positions']:,}", *rates))
    return "\n".join(lines)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(figure: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if figure.endswith(("loss", "error")) else f"{value:.1%}".replace("%", " %")


def _run(options: argparse.Namespace) -> None:
    positions = load(options.games, "val", options.cache or cache_folder())
    rows = sample(np.arange(len(positions)), options.positions)
    past = item_of(0, positions, rows)
    runs = [report_of(network, past.positions) for network in tqdm(options.networks, disable=None)]
    if options.movetime or options.nodes:
        for network, (_, report) in zip(options.networks, runs, strict=True):
            report.update(searched(network, past, options))
    for network, (description, _) in zip(options.networks, runs, strict=True):
        print(f"{network}: {description}")
    print(f"{len(rows):,} positions\n\n{tables(options.networks, [report for _, report in runs])}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.validate_network", "Print how well networks predict recorded games.")
    parser.add_argument("networks", nargs="+", metavar="FILE[,BACKEND[,PRECISION]]")
    source = "games.jsonl(.xz), a list of record files, or .psv, .hcpe, .hcpe3, .pack"
    parser.add_argument("--games", type=Path, required=True, help=source)
    parser.add_argument("--cache", type=Path, help="folder of packed positions (default: the user's cache folder)")
    parser.add_argument("--positions", type=natural, default=0, help="how many, at random (default: all)")
    parser.add_argument("--movetime", type=positive, metavar="MS", help="search each position for this time")
    parser.add_argument("--nodes", type=positive, metavar="N", help="search each position with N playouts")
    add_option_setting(parser)
    return exit_status("validate_network", partial(_run, parser.parse_args(arguments)), RuntimeError)


if __name__ == "__main__":
    sys.exit(main())
