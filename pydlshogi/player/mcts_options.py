"""What engines with a network let the user decide, whatever the game. Light: nothing heavy is imported."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydlshogi.game import PlayedPosition
from pydlshogi.network import BACKENDS, DEVICES, PRECISIONS
from pydlshogi.player.allot import ClockSettings
from pydlshogi.player.clock import Clock
from pydlshogi.player.options import Button, Check, Combo, EngineOptions, Filename, SearchOptions, Spin
from pydlshogi.support.files import stamp_of
from pydlshogi.uct.puct import Puct

if TYPE_CHECKING:
    from pydlshogi.support.arrays import Records

FULL_SKILL: Final = 20
GENERAL_EVAL_COEF: Final = 756
"""`Eval_Coef` of networks that come without a fitted one: dlshogi's."""
GENERAL_TEMPERATURE: Final = 174
"""Their policy temperature in percent: dlshogi's too."""


class NetworkOptions(EngineOptions):
    """What a player lets the user decide about its network."""

    modelfile = Filename(
        "modelfile",
        "",
        aliases=("DNN_Model", "DNN_Model1", "Model_File", "WeightPath"),
        help="the network, .npz or .onnx; empty: the one that comes with the package",
    )
    backend = Combo(
        "Backend",
        "auto",
        (*BACKENDS, "uniform", "hash"),
        help="what runs the network; auto: sparse for a sparse one, else torch or onnx where they see a GPU, winograd "
        "on the CPU, and onnx for an .onnx file that is no residual tower; uniform and hash play without a network",
    )
    device = Combo("Device", "auto", DEVICES, help="where the network runs")
    precision = Combo(
        "Precision",
        "auto",
        PRECISIONS,
        help="what the network computes in; half: float16 on a GPU, bfloat16 on a CPU; auto: what is fast there",
    )
    threads = Spin(
        "Threads",
        0,
        0,
        512,
        aliases=("UCT_Threads", "UCT_Threads1"),
        help="threads that search, each with a batch of its own, and cores of the network; 0: all cores",
    )
    batch_size = Spin(
        "DNN_Batch_Size",
        0,
        0,
        1024,
        aliases=("batchsize", "DNN_Batch_Size1"),
        help="positions evaluated at once, at most; 0: what suits the backend, which is measured once on a GPU",
    )
    eval_coef = Spin(
        "Eval_Coef",
        0,
        0,
        10000,
        help="centipawns = Eval_Coef x ln(p / (1 - p)); 0: what was fitted for the network, else "
        f"{GENERAL_EVAL_COEF}; 600 in the book and in ShogiHome's graph of win rates",
    )

    def loaded_by(self) -> tuple[object, ...]:
        """What decides which evaluator is loaded, and how."""
        stamp = stamp_of(Path(self.modelfile)) if self.modelfile else ()
        return self.backend, self.modelfile, stamp, self.device, self.precision, self.threads, self.batch_size

    def policy_temperature(self, fitted: int) -> int:
        """What divides the policy's logits, in percent; above 100 the priors are flatter. `fitted`: the network's."""
        return 100


class ReflexOptions(NetworkOptions):
    """The options of players without a tree."""

    temperature = Spin("temperature", 0, 0, 10000, help="0: the best move; else, in percent, how freely it is sampled")
    seed = Spin("Random_Seed", 0, 0, 2**31 - 1, help="of the sampled moves; 0: another one in every game")


class Search1Options(ReflexOptions):
    """Of the player that looks one move ahead: a batch holds what most positions lead to."""

    batch_size = Spin(
        "DNN_Batch_Size", 128, 1, 1024, aliases=("batchsize",), help="positions evaluated at once, at most"
    )


class MCTSOptions(NetworkOptions, SearchOptions):
    """What MCTSPlayer lets the user decide. Names and units are dlshogi's where it has the option."""

    playout = Spin("playout", 300, 100, 10000, help="playouts for a `go` that names no limit")
    const_playout = Spin(
        "Const_Playout",
        0,
        0,
        2**31 - 1,
        help="playouts for every move, unless `go` names nodes or movetime or Skill_Level is below 20; 0: off",
    )
    temperature = Spin(
        "temperature",
        0,
        0,
        10000,
        aliases=("Softmax_Temperature",),
        shown=False,
        help="of the policy, in percent: more is flatter; 0: what stands beside a network of another program, else "
        f"{GENERAL_TEMPERATURE}",
    )
    c_init = Spin("C_init", 144, 0, 10000, shown=False, help="exploration in percent")
    c_base = Spin("C_base", 28288, 1, 10**9, shown=False, help="visits after which exploration grows")
    fpu_reduction = Spin(
        "C_fpu_reduction", 27, 0, 100, shown=False, help="percent that unvisited moves are judged below their node"
    )
    c_init_root = Spin("C_init_root", 116, 0, 10000, shown=False, help="C_init at the root")
    c_base_root = Spin("C_base_root", 25617, 1, 10**9, shown=False, help="C_base at the root")
    fpu_reduction_root = Spin("C_fpu_reduction_root", 0, 0, 100, shown=False, help="C_fpu_reduction at the root")
    draw_value_black = Spin(
        "Draw_Value_Black",
        500,
        0,
        1000,
        aliases=("DrawValueBlack",),
        help="what a draw is worth when playing Black, in 0.1 % of a win",
    )
    draw_value_white = Spin(
        "Draw_Value_White",
        500,
        0,
        1000,
        aliases=("DrawValueWhite",),
        help="what a draw is worth when playing White, in 0.1 % of a win",
    )
    resign_threshold = Spin(
        "Resign_Threshold", 10, 0, 1000, help="it resigns when its win rate is below this, in 0.1 %; 0: never"
    )
    random_ply = Spin(
        "Random_Ply", 9, 0, 1000, help="first moves of the game that are sampled by visits; after them the best"
    )
    random_cutoff = Spin(
        "Random_Cutoff",
        15,
        0,
        1000,
        shown=False,
        help="win rate, in 0.1 %, that a sampled move may be worse than the best",
    )
    skill_level = Spin(
        "Skill_Level",
        FULL_SKILL,
        0,
        FULL_SKILL,
        aliases=("SkillLevel", "USI_SkillLevel"),
        help="20 is full strength; a lower level makes fewer playouts, unless `go` names nodes or movetime, and takes "
        "moves up to (20 - level) % worse; below 8 it plays plausible moves without a search",
    )
    clear_hash = Button("Clear_Hash", aliases=("ClearHash",), help="forget the search tree")
    consideration_mode = Check(
        "ConsiderationMode", False, help="for analysis: always the best move, never resign, never stop early"
    )
    seed = Spin("Random_Seed", 0, 0, 2**31 - 1, shown=False, help="of the sampled moves; 0: another one in every game")

    def puct(self, turn: int) -> Puct:
        """The constants of selection when the side `turn` moves at the root."""
        return Puct(
            c_init=self.c_init / 100,
            c_base=self.c_base,
            fpu_reduction=self.fpu_reduction / 100,
            c_init_root=self.c_init_root / 100,
            c_base_root=self.c_base_root,
            fpu_reduction_root=self.fpu_reduction_root / 100,
            draw_value=(self.draw_value_white if turn else self.draw_value_black) / 1000,
        )

    def policy_temperature(self, fitted: int) -> int:
        return self.temperature or fitted

    def clock_settings(self) -> ClockSettings:
        most = 0
        if self.skill_level < FULL_SKILL:
            # From 2 playouts at level 0, hardly more than the policy, to some 1000 at level 19: 1.39 times as many a
            # level.
            most = round(2 ** (1 + 0.47 * self.skill_level))
        const = 0 if most else self.const_playout
        return super().clock_settings()._replace(default_nodes=self.playout, const_nodes=const, most_nodes=most)

    def analysing(self, clock: Clock) -> bool:
        """Whether the user asks for the best move and plays no game."""
        return clock.analysing or self.consideration_mode

    def longest_win_seen(self, plies: int) -> int:
        """Of wins within `plies`, the longest to look for: below full skill no longer than the level, to miss some."""
        return plies if self.skill_level == FULL_SKILL else min(self.skill_level, plies)

    def rule_settings(self, position: PlayedPosition) -> "Records":
        """What the search is to know of the rules of a position: one record of `Rules.settings`."""
        return position.settings
