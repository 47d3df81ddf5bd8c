"""MCTSPlayer: it drives the search with a network until the clock says stop, then chooses a move.

It decides what to search, when the answer is certain enough, and how to say what was found. It knows nothing of the
protocol; kernels, networks and rules are other people's work.
"""

import math
import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydlshogi.player.base_player import HIGHEST_CP, BestMove, Checkmate, Clock, Info, Limits, PlayerError, Report
from pydlshogi.player.book import BookError, BookOptions, OwnBook
from pydlshogi.player.checkmate import CheckmateSolver
from pydlshogi.player.clock import ClockSettings, Worst, milliseconds
from pydlshogi.player.mate_scout import MateScout
from pydlshogi.player.network_player import NetworkOptions, NetworkPlayer, centipawns
from pydlshogi.player.options import Button, Check, Combo, SearchOptions, Spin

if TYPE_CHECKING:
    from pydlshogi.games.mate import Line
    from pydlshogi.games.shogi import ShogiPosition
    from pydlshogi.player.pipeline import Pipeline
    from pydlshogi.uct.search import MoveStats, Puct, Search


FULL_SKILL: Final = 20
_UNNOTICED: Final = 20.0
"""Milliseconds. With nothing left to lose on time, a move is worth a look of the network that takes no longer."""
_FIRST_BATCH: Final = 8
"""Playouts of a fresh tree. Beginning with one at a time takes longer, and won 186 of 400 games against this."""
_FULL_BATCH: Final = 16
"""A batch of so many playouts is worth all of Mate_Search_Nodes, a smaller one its share: on a CPU one may be all."""


class MCTSOptions(NetworkOptions, SearchOptions, BookOptions):
    """What MCTSPlayer lets the user decide. Names and units are dlshogi's where it has the option."""

    overlap = Combo(
        "Overlap",
        "auto",
        ("auto", "true", "false"),
        help="gather the next batch while one is evaluated; auto: when the network runs on a GPU",
    )
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
        174,
        1,
        10000,
        aliases=("Softmax_Temperature",),
        help="of the policy, in percent: more is flatter",
    )
    c_init = Spin("C_init", 144, 0, 10000, help="exploration in percent")
    c_base = Spin("C_base", 28288, 1, 10**9, help="visits after which exploration grows")
    fpu_reduction = Spin("C_fpu_reduction", 27, 0, 100, help="percent that unvisited moves are judged below their node")
    c_init_root = Spin("C_init_root", 116, 0, 10000, help="C_init at the root")
    c_base_root = Spin("C_base_root", 25617, 1, 10**9, help="C_base at the root")
    fpu_reduction_root = Spin("C_fpu_reduction_root", 0, 0, 100, help="C_fpu_reduction at the root")
    unvisited = Spin(
        "Unvisited_Value", -1, -1, 100, help="percent that unvisited moves are worth; -1: by C_fpu_reduction"
    )
    draw_value_black = Spin(
        "Draw_Value_Black",
        500,
        0,
        1000,
        aliases=("DrawValueBlack",),
        help="permille a draw is worth when playing Black",
    )
    draw_value_white = Spin(
        "Draw_Value_White",
        500,
        0,
        1000,
        aliases=("DrawValueWhite",),
        help="permille a draw is worth when playing White",
    )
    entering_king_rule = Combo(
        "EnteringKingRule",
        "CSARule27",
        ("CSARule27", "CSARule24", "CSARule27H", "CSARule24H"),
        help="points that win by declaration; H: White, giving odds, also counts the pieces missing from the start",
    )
    resign_threshold = Spin(
        "Resign_Threshold", 10, 0, 1000, help="permille of winning below which it resigns; 0: never"
    )
    random_ply = Spin("Random_Ply", 9, 0, 1000, help="moves of the game that are drawn by visits instead of the best")
    random_cutoff = Spin(
        "Random_Cutoff", 15, 0, 1000, help="permille of winning that a drawn move may be worse than the best"
    )
    mate_root_search = Spin(
        "Mate_Root_Search",
        33,
        0,
        199,
        help="plies of the longest mate looked for at the root and along the best line; 0: off",
    )
    mate_leaf_search = Combo(
        "Mate_Leaf_Search", "3", ("1", "3", "5"), help="plies of the longest mate looked for at every new position"
    )
    mate_search_nodes = Spin(
        "Mate_Search_Nodes",
        100,
        0,
        1_000_000,
        help="nodes spent after each batch on the mates of Mate_Root_Search, fewer where it has fewer than 16 "
        "playouts; 0: only first looks at the root",
    )
    skill_level = Spin(
        "Skill_Level",
        FULL_SKILL,
        0,
        FULL_SKILL,
        aliases=("SkillLevel", "USI_SkillLevel"),
        help="20 is full strength; a lower level makes fewer playouts, unless `go` names nodes or movetime, and takes "
        "moves up to (20 - level) % worse",
    )
    clear_hash = Button("Clear_Hash", aliases=("ClearHash",), help="forget the search tree")
    stochastic_ponder = Check(
        "Stochastic_Ponder", False, help="ponder on all replies of the opponent instead of the expected one"
    )
    consideration_mode = Check(
        "ConsiderationMode", False, help="for analysis: always the best move, never resign, never stop early"
    )
    seed = Spin("Random_Seed", 0, 0, 2**31 - 1, help="of the drawn moves; 0: another one in every game")


class MCTSPlayer(NetworkPlayer):
    """Monte Carlo tree search with a policy-value network."""

    options: MCTSOptions

    def __init__(self, options: MCTSOptions | None = None) -> None:
        super().__init__(options or MCTSOptions())
        self._search: Search | None = None
        self._pipeline: Pipeline | None = None
        self._rules: dict[str, Any] = {}
        """Those of the current game, from the options."""
        self._searched_with: tuple[object, ...] = ()
        """What decides whether the next search may go on in the tree, as of the last one."""
        self._book = OwnBook()
        self._checkmate = CheckmateSolver()
        self._scout = MateScout()
        self._choosing = Worst(10.0)
        """Milliseconds that it takes to choose and report the answer when the search has ended."""
        self._random = random.Random()
        self._seed = 0
        """What it was seeded with; 0: by chance."""
        self._full_said = False
        """Whether the user was told that the tree is full."""

    # Loading

    def prepare(self) -> list[str]:
        from pydlshogi.evaluator import NetworkEvaluator

        self._book.prepare(self.options)
        if self._rules != self._rules_chosen():
            self.position(self.sfen, self.moves)
        remarks = super().prepare()
        if self._seed != self.options.seed:
            self._seed_anew()
        if isinstance(self.evaluator, NetworkEvaluator):
            self.evaluator.temperature = self.options.temperature / 100
        self._make_pipeline()
        self._make_table()
        return remarks

    def _ahead(self) -> int:
        """How many batches to gather ahead of the one that is paid."""
        if self.options.overlap == "auto":
            return int(getattr(self.evaluator, "on_gpu", False))
        return int(self.options.overlap == "true")

    def _make_pipeline(self) -> None:
        """A pipeline to the present evaluator, unless there is one."""
        from pydlshogi.player.pipeline import Pipeline

        if self._pipeline is not None:
            if self._pipeline.evaluator is self.evaluator and self._pipeline.ahead == self._ahead():
                return
            self._pipeline.close()
        self._pipeline = Pipeline(self.evaluator, self.batch_size, self._ahead())

    def _make_table(self) -> None:
        """A search with a tree of the size asked for, unless there is one."""
        from pydlshogi.uct.search import Search
        from pydlshogi.uct.uct_node import UctNodeTable

        if self._search is None or self._search.table.megabytes != self.options.hash_mb:
            self._search = None  # the old table goes before the new one comes
            try:
                self._search = Search(UctNodeTable(self.options.hash_mb))
            except MemoryError:
                raise PlayerError(f"USI_Hash {self.options.hash_mb}: the system does not lend so much memory") from None

    def close(self) -> None:
        self._checkmate.close()

    # The game

    def new_game(self) -> None:
        if self._search:
            self._search.table.clear()
        self._scout.forget()
        self._seed_anew()
        self._full_said = False

    def _seed_anew(self) -> None:
        self._seed = self.options.seed
        self._random.seed(self._seed or None)

    def set_up(self, sfen: str) -> "ShogiPosition":
        from pydlshogi.games.shogi import ShogiPosition

        rules = self._rules_chosen()
        position = ShogiPosition(sfen, **rules)
        self._rules = rules
        return position

    def _rules_chosen(self) -> dict[str, Any]:
        """What the options say of the rules, and of what a position sees at once, as arguments of ShogiPosition."""
        from cshogi import LAW_24, LAW_27

        rule = self.options.entering_king_rule
        return {
            "draw_ply": self.options.draw_ply,
            "declaration": LAW_24 if rule.startswith("CSARule24") else LAW_27,
            "odds_count": rule.endswith("H"),
            "mate_plies": max(1, self._overlooking(int(self.options.mate_leaf_search))),
        }

    def clock_settings(self) -> ClockSettings:
        options = self.options
        most = 0
        if options.skill_level < FULL_SKILL:
            # From 2 playouts at level 0, hardly more than the policy, to some 1000 at level 19: 1.39 times as many a
            # level.
            most = round(2 ** (1 + 0.47 * options.skill_level))
        return options.clock_settings(options.playout, 0 if most else options.const_playout, most)

    def _puct(self) -> "Puct":
        """The constants of selection for the current position, from the options."""
        from pydlshogi.uct.search import Puct

        options = self.options
        draw_value = options.draw_value_white if self.game.board.turn else options.draw_value_black
        return Puct(
            options.c_init / 100,
            options.c_base,
            options.fpu_reduction / 100,
            options.c_init_root / 100,
            options.c_base_root,
            options.fpu_reduction_root / 100,
            math.nan if options.unvisited < 0 else options.unvisited / 100,
            draw_value / 1000,
        )

    # Thinking

    def think(self, limits: Limits, clock: Clock, report: Report) -> BestMove | Checkmate:
        if limits.mate:
            return self._checkmate.solve(self.game.board, clock, report)
        self.prepare()
        assert self._search is not None
        assert self._pipeline is not None
        position = self.game
        if not len(position.board.legal_moves):
            return BestMove("resign")
        if position.declares():
            report(
                Info(depth=1, time=round(clock.elapsed()), nodes=0, score_cp=HIGHEST_CP, string="win by declaration")
            )
            return BestMove("win")
        if answer := self._from_book(limits, clock, report):
            return answer
        search = self._search
        puct = self._puct()
        searched_with = (self.evaluator, puct, self.options.temperature, self._rules, self.options.clear_hash)
        if searched_with != self._searched_with:
            search.table.clear()
            self._scout.forget()
            self._searched_with = searched_with
        search.puct = puct
        try:
            if self.options.stochastic_ponder and clock.pondering and position.board.history:
                answer = self._ponder(search, self._pipeline, clock, report)
                if clock.pondering:
                    return answer
            only = [position.move_from_usi(move) for move in self._legal_searchmoves(limits)]
            search.set_root(position, only, position.past_keys())
            self._run(search, self._pipeline, clock, report)
        except BaseException:
            # The table holds playouts that were never paid, and a batch may still be out: `prepare` makes both anew.
            self._search = None
            self._pipeline.close()
            self._pipeline = None
            raise
        began = milliseconds()
        answer = self._choose(search, clock, report)
        self._choosing.note(milliseconds() - began)
        return answer

    def _from_book(self, limits: Limits, clock: Clock, report: Report) -> BestMove | None:
        """The book's move, reported; None if the book has none or is not to be used."""
        if self.options.consideration_mode:
            return None
        try:
            choice = self._book.consult(self.game, limits, self.options, self._random)
        except BookError as error:
            report(Info(string=f"Error! {error}"))
            return None
        if choice is None:
            return None
        entry, line = choice
        report(
            Info(
                depth=entry.depth or len(line),
                time=round(clock.elapsed()),
                nodes=0,
                multipv=self._shown_rank(1),
                score_cp=entry.value,
                pv=line,
                string="from the book",
            )
        )
        return _answer(line)

    def _legal_searchmoves(self, limits: Limits) -> list[str]:
        """`searchmoves` without those that are not legal. Empty: all moves are searched."""
        legal = set(self.legal_moves())
        return [move for move in limits.searchmoves if move in legal]

    def _ponder(self, search: "Search", pipeline: "Pipeline", clock: Clock, report: Report) -> BestMove:
        """Stochastic_Ponder: search all the opponent's moves, not only the expected one, until it has moved.

        The answer is for the expected move, and for when another one was played: GUIs ignore it then, and the tree
        keeps what it knows of the move that was.
        """
        from cshogi import move_to_usi

        position, puct = self.game, search.puct
        expected = position.board.peek()
        position.pop()
        search.puct = puct._replace(draw_value=1.0 - puct.draw_value)  # the opponent is at the root
        try:
            search.set_root(position, past=position.past_keys())
            self._run(search, pipeline, clock, report, ponder=True)
            line = search.line(expected)[1:] if search.expanded else []
            scores = (self._centipawns(search, move) for move in search.root_moves() if move.move == expected)
            score = -next(scores, 0)
        finally:
            position.push(expected)
            search.puct = puct
        clock.wait_until_released()
        answer = _answer(tuple(map(move_to_usi, line))) if line else self.any_move()
        if clock.pondering:
            report(Info(time=round(clock.elapsed()), nodes=search.playouts, score_cp=score, pv=(answer.move,)))
        return answer

    def _run(
        self, search: "Search", pipeline: "Pipeline", clock: Clock, report: Report, *, ponder: bool = False
    ) -> None:
        """Make playouts until the answer is certain or time is up, with looks for mates between the batches. All
        playouts are paid at the end.

        `ponder`: end also when the opponent has moved.
        """

        def time_left() -> float:
            """Milliseconds until the optimum, as many as they would be on an idle machine."""
            budget = clock.budget
            end = min(budget.optimum, budget.maximum - self._choosing.value)
            return (end - clock.spent()) / max(1.0, self.latency.slowdown)

        reported = -math.inf
        scout = self._scout
        scout.begin(self.game, self._overlooking(self.options.mate_root_search))
        if not clock.limits.searchmoves:
            scout.look_at_root(time_left)
        while (clock.pondering or not ponder) and not self._certain(search, clock):
            batch = self._next_batch(search, clock)
            if self._time_is_up(search, clock, batch):
                if not search.expanded:
                    self.latency.relent()
                    break
                if clock.stopped or not clock.may_extend or not self._in_doubt(search):
                    break
                clock.extend()
                continue
            if self._out_of_reach(search, clock):
                break
            now = milliseconds()
            if search.expanded and now - reported >= self.options.pv_interval:
                self._report(search, clock, report)
                reported = now
            began, before = milliseconds(), search.playouts
            pipeline.step(search, batch)
            self.latency.record(batch, milliseconds() - began)
            share = min(1.0, (search.playouts - before) / _FULL_BATCH)
            if search.expanded and self.options.mate_search_nodes:
                scout.look_after(search, search.leader(), time_left)
            scout.look_along(search, self.options.mate_search_nodes * share, time_left)
        pipeline.drain(search)
        clock.settle()

    def _next_batch(self, search: "Search", clock: Clock) -> int:
        """How many playouts to begin at once: a small share of the tree, as those of one batch learn nothing from each
        other, no more than were asked for, and fewer where there is no room for so many."""
        if not search.expanded:
            return 1
        # A ponderhit may just have set a limit that pondering has passed.
        left = max(1.0, clock.budget.nodes - search.playouts)
        most = int(min(self.batch_size, _FIRST_BATCH + search.root_visits // 8, left))
        return self.latency.fitting(clock.room(self._choosing.value), most)

    def _overlooking(self, plies: int) -> int:
        """Plies of the longest mate looked for: below full skill no more than the level, so that it overlooks some."""
        level = self.options.skill_level
        return plies if level == FULL_SKILL else min(level, plies)

    def _certain(self, search: "Search", clock: Clock) -> bool:
        """Whether more playouts would not change the answer: a mate is known, the result is proven, or there is only
        one move."""
        if self._root_mate(clock):
            return True
        if not search.expanded:
            return False
        return search.root_plies is not None or (search.lead() is None and not self._analysing(clock))

    def _time_is_up(self, search: "Search", clock: Clock, batch: int) -> bool:
        """Whether to stop instead of evaluating one more batch, of so many playouts."""
        latency = self.latency.of(batch)
        if search.expanded:
            return clock.expired(search.playouts, latency, self._choosing.value)
        # A move without any opinion is the worst way to save time: this batch heeds neither the optimum nor a `stop`.
        return not clock.stopped and clock.spent() + latency > (clock.budget.maximum or _UNNOTICED)

    def _out_of_reach(self, search: "Search", clock: Clock) -> bool:
        """Whether no other move can catch up with the most visited one any more."""
        if not search.expanded or not clock.may_stop_early or self._analysing(clock):
            return False
        lead = search.lead()
        return lead is not None and lead > clock.playouts_left(search.playouts)

    def _root_mate(self, clock: Clock) -> "Line":
        """The moves of a mate at the root, if one is known. With `searchmoves` none is: it may not be among them."""
        return () if clock.limits.searchmoves else self._scout.mate_at(self.game)

    def _analysing(self, clock: Clock) -> bool:
        """Somebody wants to know the best move rather than play a game: no early stop, drawn move or resignation."""
        limits = clock.limits
        return limits.infinite or clock.pondering or bool(limits.searchmoves) or self.options.consideration_mode

    @staticmethod
    def _in_doubt(search: "Search") -> bool:
        """dlshogi's rule: the best move has less than 1.5 times the visits of the second, or a lower value."""
        best, *others = search.root_moves()
        return bool(others) and (best.visits < 1.5 * others[0].visits or best.value < others[0].value)

    def _choose(self, search: "Search", clock: Clock, report: Report) -> BestMove:
        """The answer to the search that has ended, its line reported last."""
        if mate := self._root_mate(clock):
            return self._play_mate(mate, search, clock, report)
        moves = search.root_moves()
        if not moves:
            answer = self.any_move()
            report(Info(time=round(clock.elapsed()), nodes=0, score_cp=0, pv=(answer.move,)))
            return answer
        analysing = self._analysing(clock)
        best = moves[0] if analysing else self._draw(moves)
        if self.options.debug_message:
            for candidate in self._candidates(moves):
                report(Info(string=candidate))
        self._report(search, clock, report, best)
        if not analysing and self._hopeless(best):
            return BestMove("resign")
        return _answer(self._line(search, best))

    def _hopeless(self, best: "MoveStats") -> bool:
        """Whether to resign although `best` could be played."""
        if best.plies is not None:
            return best.plies < 0 and self.options.resign_threshold > 0
        return best.visits > 0 and best.value < self.options.resign_threshold / 1000

    def _play_mate(self, mate: "Line", search: "Search", clock: Clock, report: Report) -> BestMove:
        """The first move of `mate`, which is reported."""
        from cshogi import move_to_usi

        line = tuple(map(move_to_usi, mate))
        report(
            Info(
                depth=len(line),
                seldepth=len(line),
                time=round(clock.elapsed()),
                nodes=search.playouts,
                multipv=self._shown_rank(1),
                score_mate=len(line),
                pv=line,
            )
        )
        return _answer(line)

    def _draw(self, moves: list["MoveStats"]) -> "MoveStats":
        """The best move. Early in the game, and below full skill, one of those nearly as good, drawn by visits."""
        best = moves[0]
        weakness = FULL_SKILL - self.options.skill_level
        if not weakness and self.game.board.move_number > self.options.random_ply:
            return best
        if best.plies is not None or not best.visits:
            return best
        least = best.value - (weakness / 100 or self.options.random_cutoff / 1000)
        near = [move for move in moves if move.plies is None and move.visits and move.value >= least]
        return self._random.choices(near, [move.visits for move in near])[0]

    # Saying what was found

    def _report(self, search: "Search", clock: Clock, report: Report, chosen: "MoveStats | None" = None) -> None:
        """Report the best lines, `chosen` (or the best) last: some clients take the last for the engine's opinion."""
        moves = search.root_moves()
        if chosen is not None:
            moves.remove(chosen)
            moves.insert(0, chosen)
        elapsed = clock.elapsed()
        if search.table.full and not self._full_said:
            report(Info(string="USI_Hash is full: the search goes on among the positions it knows"))
            self._full_said = True
        for rank in range(min(self.options.multi_pv, len(moves)), 0, -1):
            move = moves[rank - 1]
            line = self._line(search, move)
            mate = move.plies if move.plies and not self._declared_after(line, abs(move.plies)) else None
            report(
                Info(
                    depth=len(line),
                    seldepth=max(len(line), search.deepest),
                    time=round(elapsed),
                    nodes=search.playouts,
                    nps=round(1000 * search.playouts / elapsed) if elapsed >= 1 else None,
                    hashfull=round(1000 * search.table.fullness),
                    multipv=self._shown_rank(rank),
                    score_cp=None if mate else self._centipawns(search, move),
                    score_mate=mate,
                    pv=line,
                )
            )

    def _shown_rank(self, rank: int) -> int | None:
        """The rank of a line as it is reported: none where only one line is shown."""
        return rank if self.options.multi_pv > 1 else None

    def _line(self, search: "Search", move: "MoveStats") -> tuple[str, ...]:
        """The expected line in USI. Where a mate is proven, it goes on to the mate beyond the nodes of the search."""
        from cshogi import move_to_usi

        line = search.line(move.move)
        if move.plies:
            line = self._to_the_mate(line, abs(move.plies))
        return tuple(map(move_to_usi, line))

    def _to_the_mate(self, line: list[int], plies: int) -> list[int]:
        """`line`, to be mated in `plies`, completed with the moves that have no nodes.

        They are a mate that the scout found, or that was a verdict on the position where the nodes end.
        """
        from pydlshogi.games.mate import find_mate
        from pydlshogi.games.shogi import PROOF_NODES

        position = self.game
        mate: Line = ()
        for played, move in enumerate(line, 1):
            position.push(move)
            left = plies - played
            mate = self._scout.mate_at(position)
            if not mate and played == len(line):
                mate = find_mate(position.board, left, PROOF_NODES).line
            if mate and len(mate) <= left:
                break
            mate = ()
        for _ in range(played):
            position.pop()
        return [*line[:played], *mate]

    def _declared_after(self, line: Sequence[str], plies: int) -> bool:
        """Whether the win proven within `plies` is no mate, but a declaration where `line` ends."""
        if len(line) >= plies:
            return False
        position = self.game
        for move in line:
            position.push_usi(move)
        declared = position.declares()
        for _ in line:
            position.pop()
        return declared

    def _centipawns(self, search: "Search", move: "MoveStats") -> int:
        """Centipawns by the win rate of the move, or of the root while the move has no visits."""
        if move.plies:
            return HIGHEST_CP if move.plies > 0 else -HIGHEST_CP
        return centipawns(move.value if move.visits else search.root_value, self.eval_coef)

    @staticmethod
    def _candidates(moves: list["MoveStats"]) -> Iterator[str]:
        """The table of candidates as the python-dlshogi book prints it, a line for each."""
        from cshogi import move_to_usi

        for number, move in enumerate(moves):
            yield (
                f"{number:3}:{move_to_usi(move.move):5} move_count:{move.visits:4} "
                f"nn_rate:{move.prior:.5f} win_rate:{move.value if move.visits else 0.0:.5f}"
            )

    def evaluate(self) -> Iterator[str]:
        """The network's own opinion, without a search: the win rate, and the ten moves of the highest priors."""
        from cshogi import move_to_usi

        from pydlshogi.uct.search import Search
        from pydlshogi.uct.uct_node import UctNodeTable

        yield from self.prepare()
        if not self.legal_moves():
            yield "no legal move"
            return
        search = Search(UctNodeTable(1))
        search.set_root(self.game)
        search.backup(search.gather(self.requests, 1), self.evaluator.evaluate(self.requests))
        yield f"win rate {search.root_value:.4f}"
        for move in sorted(search.root_moves(), key=lambda move: -move.prior)[:10]:
            yield f"{move_to_usi(move.move):5} {move.prior:.4f}"

    def bench(self, arguments: Sequence[str], clock: Clock) -> Iterator[str]:
        """What runs the network, and the playouts per second from the current position: `bench [SECONDS]`, else 5."""
        from pydlshogi.player.pipeline import Pipeline
        from pydlshogi.uct.search import Search
        from pydlshogi.uct.uct_node import UctNodeTable

        try:
            longest = 1000 * float(*arguments[:1] or ["5"])
            if math.isnan(longest):
                raise ValueError
        except ValueError:
            raise PlayerError("bench wants a number of seconds") from None
        yield from self.prepare()
        if not self.legal_moves():
            yield "no legal move"
            return
        search = Search(UctNodeTable(self.options.hash_mb))
        search.set_root(self.game)
        pipeline = Pipeline(self.evaluator, self.batch_size, self._ahead())
        try:
            began = milliseconds()
            while not search.playouts or not (clock.stopped or milliseconds() - began > longest):
                pipeline.step(search, self.batch_size)
            pipeline.drain(search)
            seconds = (milliseconds() - began) / 1000
        finally:
            pipeline.close()
        if self._modelfile is None:
            yield f"no network: Backend {self.options.backend}"
        else:
            yield f"{self._modelfile.name}: {self.evaluator.backend.description}"
        yield (
            f"{search.playouts} playouts in {seconds:.1f} s: {search.playouts / seconds:.0f} a second, "
            f"in batches of up to {self.batch_size}"
        )


def _answer(line: Sequence[str]) -> BestMove:
    """The first move of `line`, with the second as the expected reply."""
    return BestMove(line[0], line[1] if len(line) > 1 else None)
