"""The engine of Dobutsu shogi, as protocols take it. Light: what it thinks with is imported when it is loaded."""

from functools import partial

from pydlshogi.games.dobutsu import solution_file
from pydlshogi.player.base_player import BasePlayer, Engine, PlayedPosition
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import Check


class DobutsuOptions(MCTSOptions):
    """What the engine lets the user decide."""

    perfect_play = Check("Perfect_Play", False, help="play by the solution of the game, once that has been made")


def mcts(options: DobutsuOptions | None = None) -> Engine:
    """The engine that searches."""
    options = options or DobutsuOptions()
    return Engine("pydlshogi dobutsu", options, partial(set_up, options=options), partial(_load, options))


def _load(options: DobutsuOptions) -> BasePlayer:
    from pydlshogi.engines.dobutsu.players import DobutsuMCTSPlayer

    return DobutsuMCTSPlayer(options)


def set_up(sfen: str | None, options: DobutsuOptions) -> PlayedPosition:
    """The position of an sfen, None for the start of the game, under the rules that `options` choose. ValueError."""
    from pydlshogi.games.dobutsu.position import DobutsuPosition
    from pydlshogi.games.dobutsu.sfen import START_SFEN

    return DobutsuPosition(START_SFEN if sfen is None else sfen, draw_ply=options.draw_ply)


def is_solved() -> bool:
    """Somebody has made the solution of the game."""
    return solution_file().is_file()
