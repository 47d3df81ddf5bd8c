"""The protocol as GUIs speak it: `serve`, lines in and lines out, with every engine that is listed in ENGINES.

What needs a real process (start-up, pipes, signals) is in test_usi_process.py, the reading of lines in
test_notation.py.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import cshogi
import pytest
from scripted_player import ScriptedPlayer
from thinker import options_of
from usi_driver import PATIENCE, InProcess

from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.game import GAME as shogi
from pydlshogi.player.base_player import BestMove, Checkmate, Engine, Info, Loaded, PlayerError, Report
from pydlshogi.player.clock import Clock, milliseconds
from pydlshogi.player.options import EngineOptions


def mcts_engine() -> Engine:
    return shogi.mcts(options_of(Backend="uniform", USI_Hash=1))


ENGINES: dict[str, Callable[[], Engine]] = {"scripted": lambda: ScriptedPlayer().engine(), "mcts": mcts_engine}
"""Every engine here must pass every test that asks for the fixture `engine`."""

START = cshogi.STARTING_SFEN
MATED = "4k4/9/9/9/9/9/4p4/4g4/4K4 b - 1"
ONE_MOVE = "4k4/9/9/9/9/9/9/4g4/4K4 b - 1"
DECLARABLE = "+R+R+B+BK4/GGGGSSSS1/9/9/9/9/9/9/4k4 b - 1"
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"

Talk = Callable[..., InProcess]
TOKENS = {"depth", "seldepth", "multipv", "score", "cp", "mate", "nodes", "nps", "hashfull", "time", "pv"}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[InProcess]:
    """An engine that said readyok."""
    with closing(InProcess(ENGINES[request.param]())) as conversation:
        yield conversation.start()


@pytest.fixture
def talk_to() -> Iterator[Talk]:
    """Starts a conversation with a player made for one test; it is not ready yet."""
    with ExitStack() as begun:
        yield lambda player, keep_alive=PATIENCE: begun.enter_context(closing(InProcess(player.engine(), keep_alive)))


def answers(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(("bestmove", "checkmate"))]


def errors(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("info string Error!")]


def best(lines: list[str]) -> str:
    """The move of the only answer."""
    (answer,) = answers(lines)
    return answer.split()[1]


def parsed(line: str) -> dict[str, str]:
    """An `info` line, which may hold nothing but what is documented."""
    tokens = line.split(" ")
    assert tokens.pop(0) == "info"
    info: dict[str, str] = {}
    while tokens:
        token = tokens.pop(0)
        assert token in TOKENS, line
        if token == "pv":
            info[token], tokens = " ".join(tokens), []
        elif token == "score":
            unit = tokens.pop(0)
            info[unit] = tokens.pop(0)
        else:
            info[token] = tokens.pop(0)
    for name in info.keys() - {"pv"}:
        int(info[name])
    assert info.get("mate") != "0"
    return info


def check(lines: list[str], sfen: str = START, moves: tuple[str, ...] = ()) -> str:
    """What a search said about a position keeps every promise; its move."""
    board = cshogi.Board(sfen)
    for move in moves:
        board.push_usi(move)
    infos = [parsed(line) for line in lines if line.startswith("info ") and not line.startswith("info string")]
    for info in infos:
        moves_of_line = info.get("pv", "").split()
        for move in moves_of_line:
            assert cshogi.move_to_usi(board.move_from_usi(move)) == move
            assert board.move_from_usi(move) in list(board.legal_moves), (move, info)
            board.push_usi(move)
        for _ in moves_of_line:
            board.pop()
    move = best(lines)
    assert lines[-1].startswith(f"bestmove {move}")
    if move == "resign":
        return move
    last = parsed(lines[-2])
    assert last.get("multipv", "1") == "1"
    assert "cp" in last or "mate" in last
    if move == "win":
        assert board.is_nyugyoku()
        assert "pv" not in last  # some GUIs know nothing but moves there
        return move
    assert last["pv"].split()[0] == move
    assert board.move_from_usi(move) in list(board.legal_moves)
    if " ponder " in lines[-1]:
        board.push_usi(move)
        assert board.move_from_usi(lines[-1].split()[3]) in list(board.legal_moves)
    return move


def test_usi_answers_again(engine: InProcess) -> None:
    first = engine.ask("usi", "usiok")
    assert (first[0][:8], first[1][:10]) == ("id name ", "id author ")
    assert first == engine.ask("  usi  ", "usiok")
    for line in first[2:-1]:
        assert re.fullmatch(r"option name \S+ type (check|spin|combo|button|string|filename)( \S+ \S+)*", line)


class Gated(ScriptedPlayer):
    """Its loading waits for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def loading(self, options: EngineOptions) -> Callable[[], Loaded]:
        load = super().loading(options)

        def wait_and_load() -> Loaded:
            assert self.gate.wait(PATIENCE)
            return load()

        return wait_and_load


@pytest.mark.parametrize("lines", [("isready", "go byoyomi 1000"), ("go byoyomi 1000",)])
def test_the_clock_of_a_go_begins_when_the_engine_is_ready(talk_to: Talk, lines: tuple[str, ...]) -> None:
    """It was sent before `readyok`."""

    class Timed(Gated):
        ready_at = born_at = 0.0

        def install(self, loaded: Loaded) -> None:
            self.ready_at = milliseconds()

        def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
            self.born_at = milliseconds() - clock.elapsed()
            return super().think(position, clock, report)

    player = Timed()
    engine = talk_to(player)
    engine.send("position startpos", *lines)
    player.gate.set()
    engine.until("bestmove")
    assert player.born_at >= player.ready_at > 0


@pytest.mark.parametrize("go", ["go byoyomi 1", "go movetime 1"])
def test_a_go_on_the_clock_after_readyok_does_not_wait_for_loading(go: str, talk_to: Talk) -> None:
    player = Gated()
    player.gate.set()
    engine = talk_to(player).start()
    player.gate.clear()
    engine.send("position startpos", "setoption name playout value 3", go)
    lines = engine.until("bestmove")
    assert lines[0] == "info string what the new options need is loaded at the next isready"
    assert cshogi.Board().move_from_usi(best(lines))
    assert player.loads == 1
    player.gate.set()
    engine.ask("isready", "readyok")
    assert player.loads == 2
    assert "info string what" not in "\n".join(engine.go("go byoyomi 1"))


def test_blank_lines_while_loading_and_none_after(talk_to: Talk) -> None:
    player = Gated()
    engine = talk_to(player, keep_alive=0.001)
    engine.send("isready")
    assert [engine.hear() for _ in range(3)] == ["", "", ""]
    player.gate.set()
    assert set(engine.until("readyok")[:-1]) <= {""}
    for thread in threading.enumerate():
        if thread.name == "keep-alive":
            thread.join(PATIENCE)
            assert not thread.is_alive()


def test_a_search_asked_for_and_stopped_while_loading(talk_to: Talk) -> None:
    player = Gated()
    engine = talk_to(player)
    engine.send("isready", "position startpos", "go infinite", "stop", "stop")
    assert cshogi.Board().move_from_usi(best(engine.until("bestmove")))
    engine.send("go infinite searchmoves 9g9f 1g1f", "stop")
    assert best(engine.until("bestmove")) in {"9g9f", "1g1f"}
    assert "readyok" not in engine.said
    player.gate.set()
    engine.until("readyok")
    assert engine.settle() == []


def test_all_that_was_sent_while_loading_is_answered_before_quit(talk_to: Talk) -> None:
    engine = talk_to(Gated())
    engine.send("isready", "go infinite", "quit")
    assert len(answers(engine.rest())) == 1
    player = Gated()
    engine = talk_to(player)
    engine.send("isready", "position startpos moves 7g7f", "go nodes 3", "eval", "quit")
    player.gate.set()
    first, *lines, last = engine.rest()
    assert (first, last) == ("readyok", "value 0.5")
    assert check(lines, START, ("7g7f",))


def test_every_isready_while_loading_gets_its_readyok(talk_to: Talk) -> None:
    """And before the endless search that was sent behind it."""
    player = Gated()
    engine = talk_to(player)
    engine.send("isready", "isready", "go infinite", "isready")
    engine.ask("usi", "usiok")
    player.gate.set()
    for _ in range(3):
        engine.until("readyok")
    engine.send("stop")
    assert check(engine.until("bestmove"))


def test_options_set_while_loading_hold_before_readyok(talk_to: Talk) -> None:
    player = Gated()
    engine = talk_to(player)
    engine.send("isready", "setoption name Load value refused", "isready")
    engine.ask("usi", "usiok")
    player.gate.set()
    assert "readyok" not in engine.until("info string Error!")
    assert engine.settle() == []
    player = Gated()
    engine = talk_to(player)
    engine.send("setoption name Load value refused", "isready", "setoption name Load value quick", "isready")
    engine.settle()
    player.gate.set()
    assert engine.until("readyok") + engine.until("readyok") == ["readyok", "readyok"]


def test_a_go_loads_what_is_not_loaded(talk_to: Talk) -> None:
    player = ScriptedPlayer()
    engine = talk_to(player)
    assert check(engine.go("go nodes 1"))
    engine.go("go nodes 1")
    assert player.loads == 1
    engine.send("setoption name Words value x")
    engine.go("go nodes 1")
    assert player.loads == 2


@pytest.mark.parametrize("load", ["refused", "defect"])
def test_a_refused_isready_is_one_line_and_can_be_mended(talk_to: Talk, load: str) -> None:
    engine = talk_to(ScriptedPlayer())
    engine.send(f"setoption name Load value {load}", "isready")
    assert len(engine.until("info string Error!")) == 1
    engine.send("setoption name Load value quick", "isready")
    assert engine.until("readyok") == ["readyok"]
    assert check(engine.go("go nodes 1"))


def test_go_when_nothing_could_be_loaded_says_so_and_plays_a_legal_move(talk_to: Talk) -> None:
    engine = talk_to(ScriptedPlayer())
    engine.send("setoption name Load value refused", "isready")
    assert errors(engine.until("info string Error!")) == ["info string Error! modelfile: no such file"]
    lines = engine.go("go btime 1000 wtime 1000")
    assert errors(lines) == ["info string Error! modelfile: no such file"]
    assert cshogi.Board().move_from_usi(best(lines))


def test_a_game_that_goes_on_is_the_game_set_up_anew(engine: InProcess) -> None:
    """Only the new moves are played; another game, fewer moves, other rules and what is refused begin anew."""
    moves = "7g7f 3c3d 8h2b+ 3a2b B*4e"
    board = cshogi.Board()
    for count in (0, 2, 3, 5, 1, 4):
        engine.send(f"position startpos moves {' '.join(moves.split()[:count])}")
        board.reset()
        for move in moves.split()[:count]:
            board.push_usi(move)
        assert engine.ask("sfen", board.sfen()) == [board.sfen()]
    for move in ("B*4e", "1a1b", "7f7e"):
        board.push_usi(move)
    engine.send(f"position startpos moves {moves} 1a1b 7g7f")
    error = "info string Error! position: move 7: 7g7f is not a legal move"
    assert errors(engine.until("info string Error!")) == [error]
    engine.send(f"position startpos moves {moves} 1a1b 7f7e")
    assert engine.ask("sfen", board.sfen()) == [board.sfen()]


def test_options_as_guis_send_them(talk_to: Talk) -> None:
    player = ScriptedPlayer()
    engine = talk_to(player).start()
    paths = r"setoption name Words value C:\a b\c  d"
    engine.send("setoption name usi_hash value 32", "setoption name USI_Ponder value TRUE", paths)
    engine.send("setoption name USI_Variant value shogi", "setoption name NoSuchThing", "setoption")
    engine.send("setoption name Press", "setoption name USI_MultiPV value 3")
    assert engine.settle() == ["info string unknown option NoSuchThing"]
    given = player.options
    assert (given.hash_mb, given.ponder, given.press, given.multi_pv) == (32, True, 1, 3)
    assert given.words == r"C:\a b\c  d"
    engine.send("setoption name Words value <empty>")
    assert engine.settle() == []
    assert player.options.words == ""


def test_what_no_option_takes_is_said_in_one_line(engine: InProcess) -> None:
    engine.send("setoption name MultiPV value 99999999999")
    (remark,) = engine.settle()
    assert remark.startswith("info string option MultiPV: 99999999999 becomes ")
    engine.send("setoption name MultiPV value many")
    (remark,) = engine.settle()
    assert remark.startswith("info string option MultiPV: many is refused")
    engine.send("setoption name MultiPV value 1")
    assert engine.settle() == []
    engine.send("nonsense", "setoption name Nonsense value 1", "", "   ", "\t")
    assert engine.settle() == ["info string unknown option Nonsense"]
    engine.send("setoption name DebugMessage value true", "nonsense")
    assert engine.settle() == ["info string unknown command nonsense"]
    engine.send("setoption name DebugMessage value false")


@pytest.mark.parametrize(
    ("text", "sfen", "moves"),
    [("startpos", START, ()), ("  startpos   moves  7g7f  3c3d ", START, ("7g7f", "3c3d")),
     (f"sfen {START} moves 2g2f", START, ("2g2f",)), (f"sfen {MATE_IN_ONE[:-2]}", MATE_IN_ONE, ())],
)  # fmt: skip
def test_positions_as_guis_send_them(engine: InProcess, text: str, sfen: str, moves: tuple[str, ...]) -> None:
    engine.send(f"position {text}")
    lines = engine.go("go nodes 3")
    assert errors(lines) == []
    assert check(lines, sfen, moves)


def test_games_of_any_length(engine: InProcess) -> None:
    # Both kings wander; the fourfold repetition is the GUI's business.
    moves = ("5i5h", "5a5b", "5h5i", "5b5a") * 125
    engine.send(f"position startpos moves {' '.join(moves)}")
    assert check(engine.go("go nodes 3"), START, moves)
    assert check(engine.go("go nodes 5 searchmoves 9g9f")) == "9g9f"
    engine.send("setoption name Draw_Ply value 2", "position startpos moves 7g7f 3c3d 2g2f")
    assert check(engine.go("go nodes 5"), START, ("7g7f", "3c3d", "2g2f"))
    assert check(engine.go("go btime 1000 wtime 1000 byoyomi 10"), START, ("7g7f", "3c3d", "2g2f"))
    engine.send("setoption name Draw_Ply value 0")


BOARD = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL"
BAD_MOVES = ("7g7f 7g7f", "7g7e", "7g7f 3c3d nonsense 2g2f", "resign", "P*5e", "7g7f+")
BAD_SFENS = ("", " 9/9/9 b - 1", " KKKKKKKKK/9/9/9/9/9/9/9/kkkkkkkkk b - 1")
BAD_SFENS += (f" {BOARD} x - 1", f" {BOARD} b 99P 1", f" {BOARD} b - one")


@pytest.mark.parametrize(
    "text", ["", "将棋", *(f"startpos moves {moves}" for moves in BAD_MOVES), *(f"sfen{sfen}" for sfen in BAD_SFENS)]
)
def test_a_bad_position_is_one_error_and_the_next_good_one_mends_it(engine: InProcess, text: str) -> None:
    engine.send(f"position {text}")
    lines = engine.go("go nodes 3")
    assert len(errors(lines)) == 1
    assert "info string the last position was refused: what follows is about the one before it" in lines
    assert best(lines) != "resign"
    engine.send("position startpos moves 7g7f")
    assert check(engine.go("go nodes 3"), START, ("7g7f",))


def test_the_last_good_position_is_kept(engine: InProcess) -> None:
    engine.send("position startpos moves" + 30_000 * " 7g7f")
    assert errors(engine.settle()) == ["info string Error! position: a game of more than 30,000 plies"]
    engine.send("position startpos moves 7g7f 3c3d", "position sfen 9/9 b - 1")
    assert len(errors(engine.settle())) == 1
    engine.send("sfen")
    assert engine.settle() == ["lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3"]
    engine.send("position startpos moves 2g2f 2g2f")
    (error,) = engine.settle()
    assert "2g2f" in error
    engine.send("sfen")
    assert engine.settle() == ["lnsgkgsnl/1r5b1/ppppppppp/9/9/7P1/PPPPPPP1P/1B5R1/LNSGKGSNL w - 2"]


@pytest.mark.parametrize(
    "go",
    ["go", "go btime 0 wtime 0 byoyomi 1000", "go btime -300 wtime 1000 binc 2000 winc 2000", "go movetime 50.0",
     "go nodes 5 depth 3", "go btime 4999.5 wtime 1.0 nodes 3", "go nodes 3 frobnicate 17",
     "go searchmoves 2g2f 7g7f"],
)  # fmt: skip
def test_every_go_gets_one_good_answer(engine: InProcess, go: str) -> None:
    engine.send("setoption name Network_Delay value 800")
    lines = engine.go(go)
    assert check(lines)
    assert answers(engine.settle()) == []


def test_stops_and_hits_at_any_time(engine: InProcess) -> None:
    engine.send("stop", "stop", "ponderhit", "gameover win")
    assert engine.settle() == []
    engine.go("go nodes 1")
    engine.send("stop", "ponderhit")
    assert engine.settle() == []
    for _ in range(20):
        engine.send("go infinite", "stop")
        assert check(engine.until("bestmove"))
    assert engine.settle() == []


@pytest.mark.parametrize("end", ["go nodes 3", "stop"])
def test_a_go_or_a_stop_ends_a_search_and_a_position_holds_from_the_next_go_on(engine: InProcess, end: str) -> None:
    engine.send("position startpos", "go infinite")
    lines = engine.until("info")
    engine.send("position startpos moves 7g7f", end)
    assert check(lines + engine.until("bestmove"))
    engine.send(*["go nodes 3"] * (end == "stop"))
    assert check(engine.until("bestmove"), START, ("7g7f",))
    assert engine.settle() == []


@pytest.mark.parametrize(
    ("sfen", "limit"),
    [(MATED, ""), (ONE_MOVE, ""), (DECLARABLE, ""), (MATE_IN_ONE, " nodes 5"), (START, " nodes 5")],
    ids=["mated", "one move", "declarable", "mate in one", "playouts used up"],
)
@pytest.mark.parametrize("go", ["infinite", "ponder"])
@pytest.mark.parametrize("release", ["stop", "gameover draw", "go nodes 1"])
def test_no_answer_before_it_is_asked_for(engine: InProcess, sfen: str, limit: str, go: str, release: str) -> None:
    engine.send(f"position sfen {sfen}", f"go {go}{limit}")
    if sfen in (MATED, DECLARABLE) or limit:
        engine.wait_for_thought()
    before: list[str] = []
    for _ in range(10):
        before += engine.ask("isready", "readyok")[:-1]
    assert answers(before) == []
    engine.send(release)
    assert check(before + engine.until("bestmove"), sfen)
    if release.startswith("go"):
        engine.until("bestmove")
    assert engine.settle() == []


@pytest.mark.parametrize("times", ["", " btime 1000 wtime 1000 byoyomi 100"])
@pytest.mark.parametrize("hit", ["ponderhit", "ponderhit btime 900 wtime 900 byoyomi 100"])
def test_ponder_and_hit(engine: InProcess, times: str, hit: str) -> None:
    engine.send("position startpos moves 7g7f 3c3d", f"go ponder{times}")
    lines = engine.until("info")
    assert answers(engine.ask("isready", "readyok")) == []
    engine.send(hit)
    assert check(lines + engine.until("bestmove"), START, ("7g7f", "3c3d"))
    assert engine.settle() == []


def test_a_hit_without_times_anywhere_uses_what_is_known_of_the_clock(talk_to: Talk) -> None:
    class Keeps(ScriptedPlayer):
        clock: Clock

        def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
            self.clock = clock
            clock.wait(5)
            return super().think(position, clock, report)

    player = Keeps()
    engine = talk_to(player).start()
    engine.go("go btime 60000 wtime 50000 byoyomi 1000 nodes 1")
    engine.send("go ponder nodes 1", "ponderhit")
    engine.until("bestmove")
    limits = player.clock.limits
    assert limits.byoyomi == 1000
    assert 50_000 <= (limits.btime or 0) < 60_000
    engine.send("usinewgame", "go ponder", "ponderhit")
    engine.until("bestmove")
    assert not player.clock.limits.timed


@pytest.mark.parametrize(
    "end", [["stop"], ["gameover draw"], ["stop", "gameover win"], ["gameover"], ["stop", "gameover lose", "stop"]]
)
def test_the_ends_of_pondering(engine: InProcess, end: list[str]) -> None:
    engine.send("go ponder btime 1000 wtime 1000 byoyomi 1000", *end)
    # the burst of ShogiHome at the end of a game
    assert len(answers(engine.until("bestmove") + engine.settle())) == 1
    engine.send("usinewgame", "position startpos")
    assert check(engine.go("go nodes 3"))


def legal(moves: tuple[str, ...]) -> list[str]:
    board = cshogi.Board()
    for move in moves:
        board.push_usi(move)
    return [cshogi.move_to_usi(move) for move in board.legal_moves]


@pytest.mark.parametrize(("hit", "answer"), [("ponderhit", "bestmove resign"), ("stop", "bestmove 5i")])
def test_a_search_that_ended_before_the_hit_plays_as_one_that_did_not(hit: str, answer: str) -> None:
    """While pondering nobody resigns, since the move may never be asked for; all moves here lose to a gold."""
    with closing(InProcess(mcts_engine())) as engine:
        engine.start()
        engine.send("position sfen 4k4/9/9/9/9/9/4g4/9/4K4 b g 1", "go ponder btime 60000 wtime 60000")
        engine.wait_for_thought()
        assert engine.go(hit)[-1].startswith(answer)


@pytest.mark.parametrize(("sfen", "move"), [(MATED, "resign"), (DECLARABLE, "win"), (ONE_MOVE, "5i5h")])
def test_what_needs_no_thought_is_answered_at_once(engine: InProcess, sfen: str, move: str) -> None:
    engine.send(f"position sfen {sfen}")
    # An hour for the move, and a minute's patience of the test.
    assert check(engine.go("go byoyomi 3600000"), sfen) == move


@pytest.mark.parametrize(
    ("sfen", "cycle", "score"),
    [(START, "2h3h 8b7b 3h2h 7b8b", "0"), ("4k4/9/9/9/9/9/9/4R4/8K w - 1", "5a6a 5h6h 6a5a 6h5h", "29999"),
     ("4k4/9/9/9/9/9/9/3R5/8K b - 1", "6h5h 5a6a 5h6h 6a5a", "-29999"),
     ("4k4/9/9/9/9/9/4g4/9/4K4 b g 1", "5i6i 5a6a 6i5i 6a5a", "0")],
    ids=["no check", "perpetually checked", "has checked perpetually", "lost but for the repetition"],
)  # fmt: skip
def test_after_a_fourth_repetition_the_score_is_what_the_rules_say(engine, sfen, cycle, score) -> None:
    moves = " ".join([cycle] * 3)
    engine.send(f"position sfen {sfen} moves {moves}")
    for go in ("go nodes 20", "go infinite nodes 20"):
        engine.send(go, *["stop"] * ("infinite" in go))
        lines = engine.until("bestmove")
        scores = {parsed(line)["cp"] for line in lines if line.startswith("info ") and " string " not in line}
        assert check(lines, sfen, tuple(moves.split())) != "resign" or score == "-29999"
        assert scores == {score}


@pytest.mark.parametrize("limit", ["1000", "infinite", "", "nodes 100"])
def test_go_mate_finds_a_mate_and_says_nothing_but_checkmate(engine: InProcess, limit: str) -> None:
    engine.send(f"position sfen {MATE_IN_ONE}")
    lines = engine.go(f"go mate {limit}")
    board = cshogi.Board(MATE_IN_ONE)
    (answer,) = answers(lines)
    assert answer.startswith("checkmate ")
    for move in answer.split()[1:]:
        board.push_usi(move)
    assert board.is_check()
    assert not list(board.legal_moves)
    assert engine.settle() == []


@pytest.mark.parametrize(
    "go",
    [["go mate 20", "stop"], ["go mate infinite", "stop"], ["go mate", "stop"], ["go nodes 100 mate infinite", "stop"],
     ["go mate 20"], ["go mate nodes 5"]],
)  # fmt: skip
def test_go_mate_where_there_is_none(engine: InProcess, go: list[str]) -> None:
    engine.send("position startpos", *go)
    (answer,) = answers(engine.until("bestmove", "checkmate") + engine.settle())
    assert answer in {"checkmate nomate", "checkmate timeout"}


@pytest.mark.parametrize(("sfen", "count"), [(START, 5), (ONE_MOVE, 1)])
def test_multipv(engine: InProcess, sfen: str, count: int) -> None:
    engine.send("setoption name MultiPV value 5", f"position sfen {sfen}")
    lines = engine.go("go nodes 200")
    assert check(lines, sfen)
    infos = [parsed(line) for line in lines if line.startswith("info ") and " pv " in line]
    last = infos[-count:]
    assert sorted(int(info.get("multipv", "1")) for info in last) == list(range(1, count + 1))
    assert len({info["pv"].split()[0] for info in last}) == count
    engine.send("setoption name MultiPV value 1")
    lines = engine.go("go nodes 5")
    assert check(lines, sfen)
    assert not [line for line in lines if "multipv 2" in line]


class Talkative(ScriptedPlayer):
    """Its last words are not the ones that must come last."""

    later: Report

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove:
        self.later = report
        report(Info(depth=1, score_cp=10, multipv=1, pv=("7g7f",)))
        report(Info(depth=1, score_cp=5, multipv=2, pv=("2g2f",)))
        report(Info(depth=2, string="two\nlines, 将棋"))
        return BestMove("7g7f", "3c3d")


def test_the_line_of_the_move_comes_last_and_nothing_after_the_answer(talk_to: Talk) -> None:
    player = Talkative()
    engine = talk_to(player).start()
    assert engine.go() == [
        "info depth 1 multipv 1 score cp 10 pv 7g7f",
        "info depth 1 multipv 2 score cp 5 pv 2g2f",
        r"info string two lines, \u5c06\u68cb",
        "info depth 2",
        "info depth 1 multipv 1 score cp 10 pv 7g7f",
        "bestmove 7g7f ponder 3c3d",
    ]
    player.later(Info(depth=9, string="late"))
    assert engine.settle() == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("no memory\nfor this"), "info string Error! RuntimeError: no memory for this"),
        (PlayerError("the network is gone"), "info string Error! the network is gone"),
    ],
)
@pytest.mark.parametrize("go", ["go", "go infinite", "go mate"])
def test_a_failure_costs_one_line_and_never_the_answer(talk_to: Talk, error: Exception, said: str, go: str) -> None:
    class Fails(ScriptedPlayer):
        def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove:
            position.push(position.move_from_usi("3c3d"))
            raise error

    engine = talk_to(Fails()).start()
    engine.send("position startpos moves 7g7f", go)
    engine.wait_for_thought()
    engine.send("stop")
    lines = engine.until("bestmove", "checkmate")
    (line,) = errors(lines)
    assert line.startswith(said)
    assert lines[-1] == "checkmate timeout" if go == "go mate" else best(lines) in legal(("7g7f",))
    assert engine.settle() == []
    assert " w " in engine.ask("d", "sfen")[-1], "no move stays on the board"


def test_what_people_ask_for(engine: InProcess) -> None:
    engine.send("position startpos moves 7g7f", "d")
    board = engine.settle()
    assert board[0].split() == [str(file) for file in range(9, 0, -1)]
    assert board[-1] == "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
    engine.send("moves")
    assert sorted(engine.settle()[0].split()) == sorted(legal(("7g7f",)))
    engine.send("key")
    (key,) = engine.settle()
    engine.send("position startpos moves 7g7f 3c3d 7f7e", "key")
    assert engine.settle() != [key]
    engine.send("getoption MULTIPV")
    assert engine.settle() == ["MultiPV 1"]
    engine.send("getoption")
    assert "MultiPV 1" in engine.settle()
    engine.send("help")
    assert any("USI_Ponder" in line for line in engine.settle())
    engine.send("license")
    assert "General Public License" in " ".join(engine.settle())
    engine.send("moves", "go nodes 1")  # questions before a search are answered before it
    assert engine.until("bestmove")[0].split()[0] in legal(("7g7f", "3c3d", "7f7e"))
    engine.send("eval")
    assert engine.settle()


def test_a_question_that_has_no_answer_is_one_error(engine: InProcess) -> None:
    engine.send("getoption Nonsense")
    assert len(errors(engine.settle())) == 1
