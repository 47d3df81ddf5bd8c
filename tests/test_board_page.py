"""The board in a real browser: what a person does with it, and that nothing leaves the machine."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from test_book import BOOK
from usi_driver import PATIENCE
from web_board import FIXTURES, MATE_IN_ONE, ROOT, SETTINGS, Board, served, serving, unbegun

from pydlshogi.analysis_server.pool import Pool
from pydlshogi.games.dobutsu import solution_file
from pydlshogi.web.server import BoardServer
from pydlshogi.web.table import Table

pytestmark = pytest.mark.usefixtures("short_reviews")

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
CHROMIUM = ("chromium", "chromium-headless-shell", "google-chrome", "chrome")
expect = playwright.expect
expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip("needs chromium: apt install chromium-headless-shell")
    with playwright.sync_playwright() as started:
        # As root chromium needs --no-sandbox, with a small /dev/shm the second; the others keep it from phoning home.
        quiet = ["--disable-background-networking", "--disable-component-update"]
        made = started.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage", *quiet])
        yield made
        made.close()


@pytest.fixture(scope="module")
def tabs(browser: Any) -> Any:
    """Where most pages are opened: a context of their own, and pieces that slide, take longer than they do."""
    return browser.new_context(reduced_motion="reduce")


@pytest.fixture(scope="module")
def board() -> Iterator[Board]:
    pool = Pool(1, SETTINGS)
    with served(pool) as made:
        yield made
    pool.close(cancel=True)


class Person:
    """Somebody before a page."""

    def __init__(self, page: Any, board: Board) -> None:
        self.page = page
        self.board = board
        self.wrong: list[str] = []
        """What should not happen: errors, and requests to elsewhere."""
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", self._read)
        page.on("request", self._watch)
        page.add_init_script("""localStorage.settings ??= '{"sound":"off"}'""")
        page.goto(board.server.address)
        page.wait_for_selector("body[data-generation]")

    def _read(self, message: Any) -> None:
        if message.type == "error" and "status of 409" not in message.text:  # an answer to what cannot be done
            self.wrong.append(message.text)

    def _watch(self, request: Any) -> None:
        if not request.url.startswith((f"http://{self.board.host}/", f"blob:http://{self.board.host}/")):
            self.wrong.append(request.url)

    def leave(self) -> None:
        """Nothing went wrong, and the next test finds no settings."""
        self.page.evaluate("localStorage.clear()")
        self.page.close()
        assert self.wrong == []

    def at(self, name: str) -> Any:
        return self.page.locator(f'[data-at="{name}"]')

    def click(self, *names: str) -> None:
        for name in names:
            self.at(name).click()

    def play(self, *moves: str) -> list[str]:
        """By clicks, as in "7g 7f". The moves of the game after them."""
        for move in moves:
            at = int(self.page.locator("body").get_attribute("data-at"))
            self.click(*move.split())
            played = self.moves(at + 1)
        return played

    def button(self, name: str, **more: Any) -> Any:
        return self.page.get_by_role("button", name=name, **more)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def moves(self, count: int) -> list[str]:
        """The moves of the game once the page shows that many."""
        self.page.wait_for_selector(f'body[data-at="{count}"]')
        moves: str = self.page.locator("body").get_attribute("data-moves")
        return moves.split()

    def choose(self, game: str = "", opponent: str | None = None, **chosen: str) -> None:
        """In the dialog of a new game."""
        self.button("New game").click()
        if game:
            self.page.locator(f".card[data-game={game}]").click()
        if opponent is not None:
            self.page.select_option("#opponent", opponent)
        for field, value in chosen.items():
            self.page.select_option(f"#{field}", value)

    def begin(self, text: str = "", **chosen: Any) -> None:
        """A new game, after a text perhaps."""
        self.choose(**chosen)
        self.page.locator("#startText").evaluate("(field, text) => { field.value = text }", text)  # it is folded away
        self.start()

    def start(self) -> None:
        """The game that the dialog says; no click after that meets the one before."""
        before = self.page.locator("body").get_attribute("data-generation")
        self.button("Start").click()
        self.page.wait_for_selector(f'body:not([data-generation="{before}"])')

    def open_record(self, text: str) -> None:
        self.page.locator("#open").click()
        self.page.fill("#recordText", text)
        self.page.locator("#openDialog .start").click()

    def resign(self) -> None:
        """And mean it."""
        self.button("Resign").click()
        self.button("Resign").last.click()

    def review(self, button: str = "#judge") -> None:
        """The whole game, and wait until it is done."""
        self.page.locator(button).click()
        self.page.wait_for_selector("#summary tbody tr:nth-child(2)")
        self.page.wait_for_selector("#progress[hidden]", state="attached")

    def show_thinking(self) -> None:
        """Without waiting for navigations: there are none, and the page is too busy to say so."""
        self.button("Thinking").click(no_wait_after=True)

    def stop_thinking(self) -> None:
        """And wait until it has: the board serves the next test too."""
        self.button("Stop thinking").click(no_wait_after=True)
        expect(self.button("Thinking")).to_be_visible()

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).inner_text())

    def drawn(self) -> str:
        """What stands where, as it is read out."""
        return "|".join(self.page.locator("[role=gridcell]").evaluate_all("cells => cells.map(c => c.ariaLabel)"))


@pytest.fixture
def person(tabs: Any, board: Board) -> Iterator[Person]:
    board.new()
    board.do("watch", on=False)
    made = Person(tabs.new_page(), board)
    yield made
    made.leave()


def test_from_the_first_start_to_the_end_of_a_reviewed_game(browser: Any, tmp_path: Path) -> None:
    pool = Pool(1, SETTINGS)
    with unbegun(pool) as board:
        person = Person(browser.new_page(), board)
        page = person.page
        page.get_by_role("dialog", name="New game").wait_for()  # nobody has to look for it
        page.locator(".card[data-game=dobutsu]").click()
        page.select_option("#opponent", "")
        person.start()
        person.play("2c 2b")
        assert page.locator(".danger").get_attribute("data-at") == "2a"
        person.button("New game").click()
        board.do("watch", on=False)
        page.wait_for_selector(f'body[data-generation="{board.state()["generation"]}"]')
        expect(page.locator("#newDialog")).to_be_visible()  # whatever else goes on
        person.press("Escape")
        person.play("1a 2b")
        assert page.locator(".primary").count() == 0
        person.resign()
        expect(page.locator(".primary")).to_have_text("Review")
        person.review("#endReview")
        assert page.locator("#summary thead").inner_text().split()[:4] == ["accuracy", "opening", "middle", "end"]
        person.button("Back", exact=True).click()
        person.moves(1)
        page.locator(".movable").first.click()
        page.locator(".target").first.click()
        other = person.moves(2)[1]
        expect(page.locator(".primary")).to_have_text("Back to the game")
        page.set_viewport_size({"width": 844, "height": 390})  # no word of all that can be done now is cut off
        assert page.locator("#next button").evaluate_all(
            "all => all.every(each => each.scrollWidth <= each.clientWidth)"
        )
        page.locator(".primary").click()
        page.wait_for_selector('body[data-moves="2c2b 1a2b"]')
        page.locator("#moves .variations button").first.click()
        page.wait_for_selector(f'body[data-moves="2c2b {other}"]')
        person.button("Back to the game").click()
        page.wait_for_selector('body[data-moves="2c2b 1a2b"]')
        person.button("Delete").click()
        expect(page.locator("#moves .variations button")).to_have_count(0)
        person.button("Last").click()
        person.moves(2)
        person.button("Rematch").click()
        assert person.moves(0) == []
        page.reload()
        person.button("New game").click()
        assert page.locator(".card[data-game=dobutsu] input").is_checked()  # as last time
        assert page.locator("#opponent").input_value() == ""
        person.button("Go on with the earlier game").click()
        assert len(person.moves(2)) == 2
        person.leave()
    pool.close(cancel=True)


def test_two_engines_are_watched(person: Person) -> None:
    person.begin(game="dobutsu", opponent="beginner", side="watch", other="easy")
    assert [person.page.text_content(f"#{field}Label") for field in ("opponent", "other")] == ["First", "Second"]
    page = person.page
    page.wait_for_function("() => document.body.dataset.at >= 1")
    page.set_viewport_size({"width": 360, "height": 640})
    page.wait_for_function("() => pace.getBoundingClientRect().y + 34 <= nav.getBoundingClientRect().y")
    person.button("Pause").click()
    person.button("One move").wait_for()
    at = person.board.state()["at"]
    person.button("One move").click()
    person.moves(at + 1)
    assert "the game waits" in person.text("#status")
    page.select_option("#pace", "0")
    person.button("Go on").click()
    page.wait_for_function(f"() => document.body.dataset.at > {at + 1}")


def test_mouse_and_dialogs(person: Person) -> None:
    person.play("7g 7f", "3c 3d")
    person.click("8h", "2b")
    person.button("promote", exact=True).click()
    assert person.moves(3)[2] == "8h2b+"
    person.play("3a 2b")
    person.click("B*", "5i")  # onto the king: nothing happens
    person.click("B*", "5e")
    assert person.moves(5)[4] == "B*5e"
    assert person.page.locator(".cell.last").evaluate_all("cells => cells.map(c => c.dataset.at)") == ["5e"]
    person.button("Take back").click()
    assert len(person.moves(4)) == 4
    person.resign()
    person.page.wait_for_selector('body[data-ending="resignation"]')
    assert person.text("#status") == "White wins by resignation"
    person.page.set_viewport_size({"width": 360, "height": 640})  # where the bar at the bottom covers the rest
    bar = person.page.locator("nav").bounding_box()
    assert person.page.locator("#rematch").bounding_box()["y"] + 34 <= bar["y"]


HEARD_AND_SEEN = """() => {
    window.heard = []
    window.slid = []
    const { animate } = Element.prototype
    AudioBufferSourceNode.prototype.start = function () { window.heard.push(this.buffer.duration) }
    Element.prototype.animate = function (frames, options) {
        window.slid.push(frames.transform)
        return animate.call(this, frames, options)
    }
}"""


@pytest.mark.parametrize(("motion", "slides"), [("no-preference", 1), ("reduce", 0)])
def test_a_move_is_heard_and_a_disc_of_othello_turns(browser: Any, board: Board, motion: str, slides: int) -> None:
    board.new()
    person = Person(browser.new_page(reduced_motion=motion), board)
    page = person.page
    page.evaluate(HEARD_AND_SEEN)
    page.locator("#settings").click()
    page.select_option("#sound", "on")
    page.select_option("#pieces", "two")
    person.press("Escape")
    person.play("7g 7f")
    assert page.evaluate("[heard.length, slid.length]") == [1, slides]
    assert page.locator("#pieceP path").count() == 3  # the wood, and two characters
    page.reload()
    page.wait_for_selector("body[data-generation]")
    assert page.locator("#sound").input_value() == "on"
    board.new("othello", "f5")
    page.wait_for_selector(".board.othello")
    page.evaluate(HEARD_AND_SEEN)
    person.play("d6")
    assert page.evaluate("[heard.length, slid.length]") == [1, slides]  # one disc turns
    person.leave()


def test_pieces_are_dragged(person: Person) -> None:
    def drag(start: str, end: str) -> None:
        person.at(start).hover()
        person.page.mouse.down()
        person.at(end).hover()
        assert person.page.locator(".ghost use").count() == 1
        person.page.mouse.up()

    drag("7g", "7f")
    assert person.moves(1) == ["7g7f"]
    drag("3c", "3e")  # that is too far: it goes back
    assert person.page.locator(".from, .ghost use").count() == 0
    person.play("3c 3d")
    drag("8h", "2b")
    person.button("do not promote").click()
    person.moves(3)
    drag("3a", "2b")
    person.moves(4)
    drag("B*", "5e")
    assert person.moves(5)[2:] == ["8h2b", "3a2b", "B*5e"]


def test_arrows_of_ones_own(person: Person) -> None:
    def point(start: str, end: str) -> None:
        person.at(start).hover()
        person.page.mouse.down(button="right")
        person.at(end).hover()
        person.page.mouse.up(button="right")

    own = person.page.locator(".own")
    point("8h", "2b")
    point("5e", "5e")
    assert own.count() == 2
    point("5e", "5e")
    assert own.count() == 1
    person.play("7g 7f")
    assert own.count() == 0
    person.press("ArrowLeft")  # who has the mouse means the game, and no square is framed
    assert (
        float(person.page.evaluate("getComputedStyle(document.activeElement.firstChild).strokeWidth.slice(0, -2)")) < 2
    )
    person.moves(0)
    assert own.count() == 1  # it belongs to its position


def test_a_game_with_a_clock_is_lost_on_time(person: Person) -> None:
    page = person.page
    person.begin(opponent="", mainTime="10", byoyomi="30")
    page.wait_for_selector("#nearClock.running")
    assert person.text("#farClock") == "10:00"
    person.click("7g", "7f")
    page.wait_for_selector("#farClock.running")
    person.board.new(clock=[0.1, 0])
    page.wait_for_selector('body[data-ending="time"]')
    assert person.text("#status") == "White wins on time"
    assert person.text("#nearClock") == "0:00"


def test_a_move_of_othello_is_tried_and_the_game_taken_up_again(person: Person) -> None:
    page = person.page
    person.begin("f5d6c3d3c4", game="othello", opponent="")
    moves = person.moves(5)
    person.button("Back", exact=True).click()
    person.moves(4)
    page.locator(".target").first.click()
    assert person.moves(5) != moves
    person.button("Back to the game").click()
    page.wait_for_selector(f'body[data-moves="{" ".join(moves)}"]')
    person.moves(4)
    person.open_record("f5d6c3\nf5f6e6f4\n")
    page.wait_for_selector('body[data-moves="f5 d6 c3"]')
    page.fill("#fileNumber", "2")
    page.press("#fileNumber", "Enter")
    page.wait_for_selector('body[data-moves="f5 f6 e6 f4"]')
    page.fill("#fileNumber", "3")
    page.press("#fileNumber", "Enter")
    expect(page.locator("#fileNumber")).to_have_value("2")  # which is shown still
    with page.expect_download() as saved:
        person.button("Save").click()
    assert re.fullmatch(r"\d{8}-\d{6}\.txt", saved.value.suggested_filename)
    assert Path(saved.value.path()).read_text() == "f5f6e6f4\n"
    person.open_record("開始日時：2020/01/02\n先手：甲\n後手：乙/丙\n   1 ７六歩(77)\n")
    page.wait_for_selector('body[data-moves="7g7f"]')
    with page.expect_download() as saved:
        person.button("Save").click()
    assert saved.value.suggested_filename == "20200102 甲 - 乙 丙.kif"


CONTRASTS = """() => {
    const linear = c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
    const light = ([r, g, b]) => [r, g, b].map(c => linear(c / 255))
        .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0)
    const parts = colour => colour.match(/[\\d.]+/g).map(Number)
    const behind = element => {
        for (let each = element; each; each = each.parentElement) {
            const colour = parts(getComputedStyle(each).backgroundColor)
            if (colour.length === 3 || colour[3] > 0.9) return colour
        }
        return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255]
    }
    const own = element => [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
    const seen = [...document.querySelectorAll('main *')].filter(each =>
        own(each) && !each.ownerSVGElement && !each.disabled && each.checkVisibility())
    return seen.flatMap(each => {
        const [high, low] = [light(parts(getComputedStyle(each).color)), light(behind(each))].sort((a, b) => b - a)
        const ratio = (high + 0.05) / (low + 0.05)
        return ratio >= 4.5 ? [] : [`${each.outerHTML.slice(0, 60)} ${ratio}`]
    })
}"""
UNNAMED = """() => [...document.querySelectorAll('button, select, input, textarea, [role=img], [role=gridcell]')]
    .filter(each => each.checkVisibility() && !each.ariaLabel && !each.textContent.trim() && !each.labels?.length &&
        !document.getElementById(each.getAttribute('aria-labelledby'))?.textContent)
    .map(each => each.outerHTML.slice(0, 60))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_has_a_name_and_contrast(browser: Any, board: Board, scheme: str) -> None:
    """Where AXE is the path of axe.min.js (npm pack axe-core), that finds nothing serious besides."""
    board.new("shogi", "startpos moves 7g7f 3c3d 8h2b+ 3a2b")
    board.review()
    axe = os.environ.get("AXE")
    person = Person(browser.new_page(color_scheme=scheme, bypass_csp=axe is not None), board)
    page = person.page
    page.wait_for_selector("#summary tbody tr:nth-child(2)")
    assert page.evaluate(CONTRASTS) == []
    assert page.get_by_role("list", name="Moves").get_by_role("button").count() == 4
    if axe:
        page.evaluate(Path(axe).read_text(encoding="utf-8"))
    for opened in ("", "new", "open", "copy", "edit", "settings"):
        if opened:
            page.locator(f"#{opened}").click()
            assert page.get_by_role("dialog").get_attribute("aria-labelledby")
        assert page.evaluate(UNNAMED) == []
        found = page.evaluate("axe.run()")["violations"] if axe else []
        assert [each for each in found if each["impact"] in ("serious", "critical")] == []
        person.press("Escape")
    person.leave()


def test_the_keyboard_suffices_for_shogi_and_othello(person: Person) -> None:
    person.page.locator('[role=gridcell][tabindex="0"]').focus()
    person.press(*["ArrowDown"] * 6, "Enter", "ArrowUp", "Enter")
    assert person.moves(1) == ["9g9f"]
    person.press("u")
    person.moves(0)
    person.press(*["Tab"] * 30)  # wherever that leads, the page stays usable
    person.press("f")
    assert person.at("1i").bounding_box()["y"] < person.at("1a").bounding_box()["y"]
    sent: list[str] = []
    person.board.new("othello")
    person.page.wait_for_selector(".board.othello")
    person.page.on("request", lambda request: sent.append(request.method))
    person.press("P", "p", "u", "b", "r")  # nobody has to pass, nor is there a policy, a move or another game
    person.play("f5")
    assert sent.count("POST") == 1


def test_drops_and_a_new_game_of_othello_by_keyboard(person: Person) -> None:
    page = person.page
    person.board.new("shogi", "4k4/9/9/9/9/9/9/9/4K4 b G 1")
    page.wait_for_selector('[data-at="G*"]')
    page.locator('[data-at="G*"]').focus()
    person.press("Enter", "ArrowRight", "Enter")  # from a hand the arrows lead to the squares
    assert person.moves(1) == ["G*9a"]
    person.press("ArrowRight")  # on the board still
    assert len(person.moves(1)) == 1
    person.press("u")
    person.moves(0)
    page.locator('[data-at="G*"]').focus()
    person.press("Enter")
    assert page.locator(".target").count() == 79
    page.locator('[role=gridcell][tabindex="0"]').focus()
    person.press("ArrowRight", "Enter")
    assert person.moves(1)[0].startswith("G*")
    person.button("New game").focus()
    person.press("Enter", *["Shift+Tab"] * 7, "ArrowRight", "ArrowRight", "Tab", "End", *["Tab"] * 3, "Enter", "Tab")
    page.keyboard.type("f5d6")
    person.press("Enter")
    assert person.moves(2) == ["f5", "d6"]
    expect(page.locator("#board [data-at]:focus")).to_have_count(1)


def test_othello_with_a_pass_to_its_end(person: Person) -> None:
    page = person.page
    person.begin("Dd6/8/8/8/8/8/8/7d w - 1", game="othello", opponent="")
    page.wait_for_selector(".board.othello")
    assert person.text("#status") == "White cannot move and has to pass (1-2)"
    person.button("Pass").click()
    person.moves(1)
    person.click("c1")
    page.wait_for_selector('body[data-ending="more discs, both pass"]')
    assert person.text("#status") == "Black wins by discs: neither can move, empty squares included (63-1)"
    person.board.new("othello")
    page.wait_for_selector('body[data-ending=""]')
    assert person.play("f5") == ["f5"]
    person.show_thinking()
    page.wait_for_selector(".arrows .ring")
    before = person.drawn()
    page.locator("#lines tr").first.hover()
    assert person.drawn() != before
    person.stop_thinking()


def test_thinking_is_seen_and_never_in_the_way(person: Person) -> None:
    page = person.page
    person.show_thinking()
    page.wait_for_selector(".arrows polygon")
    assert page.locator("#lines tr").count() == 5
    assert page.locator("#hint").is_disabled()  # there is nothing to add
    assert page.evaluate(CONTRASTS) == []
    news = page.locator("#speed").inner_text()
    person.at("7g").hover()
    page.mouse.down()
    expect(page.locator("#speed")).not_to_have_text(news)  # between press and release
    page.mouse.up()
    assert person.play("7f") == ["7g7f"]
    page.wait_for_selector("#lines tr td:text-matches('%')")
    before = person.drawn()
    page.locator("#lines tr").first.hover()  # its line is played out
    ended = person.drawn()
    assert ended != before
    plies = len(page.locator("#lines tr").first.locator("td").last.inner_text().split())
    for _ in range(plies + 30):
        page.mouse.wheel(0, -10)
    expect(page.locator("[role=gridcell].last")).to_have_count(2)
    person.button("Stop thinking").hover()
    assert person.drawn() == before
    person.stop_thinking()
    person.button("Intuition").click()
    page.wait_for_selector(".heat circle")
    person.board.new("dobutsu", "3/1K1/2k/3 b 2R2B2P 1")  # the lion is caught, and other moves are not looked at
    page.wait_for_selector(".board.dobutsu")
    person.press("h")
    expect(page.locator("#lines tr")).to_have_count(3 if solution_file().exists() else 1)


def test_a_record_is_analysed_and_the_graph_jumps(person: Person) -> None:
    page = person.page
    person.open_record((FIXTURES / "floodgate.csa").read_text())
    page.wait_for_selector("#moves li:nth-child(12)")
    assert person.text("#farPlayer") + person.text("#nearPlayer") == "White: second_engineBlack: first_engine"
    person.review()
    box = page.locator("#graph").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    person.moves(6)
    person.press("ArrowRight", "ArrowRight")
    person.moves(8)
    person.press("End")
    person.moves(12)
    assert (person.text("#status"), page.locator("#rematch").is_hidden()) == ("White wins by resignation", True)
    page.wait_for_selector("#lines tr")
    box = page.locator("#moves").bounding_box()
    person.button("Charts").click()
    page.wait_for_selector("#losses rect")
    assert page.locator("#moves").bounding_box() == box
    person.press("Escape")
    marked = [judged["number"] for judged in person.board.state()["judged"] if judged["mark"]]
    assert marked
    person.press("m")  # after the last of them comes the first
    person.moves(marked[0])
    page.wait_for_selector(".arrows .ring")  # what the analysis knows
    sentence = page.locator("#sentence")
    expect(sentence).to_contain_text(", better ")
    person.button("Try again").click()
    person.moves(marked[0] - 1)
    person.button("Back to the game").click()
    person.moves(marked[0])
    person.press("r")
    person.moves(marked[0] - 1)
    assert page.locator(".arrows .ring").count() == 0  # it is to be found
    expect(sentence).to_contain_text("Find a better move than ")
    person.press("h")
    page.wait_for_selector(".arrows .ring")
    game = person.board.state()["moves"]
    page.locator(".movable").first.click()
    page.locator(".target").first.click()
    assert person.moves(marked[0]) != game  # and what it is worth is said at once
    verdict = re.compile(r": right!$| −[0-9.]+ %: there is a better move$")
    expect(sentence).to_have_text(verdict)
    assert person.board.state()["judged"][-1]["number"] == marked[0]


def test_no_practice_is_offered_where_no_person_was_mistaken(person: Person) -> None:
    page = person.page
    person.play("7g 7f")  # a game that could be practised after the one that is opened
    person.open_record((FIXTURES / "floodgate.csa").read_text())
    page.wait_for_selector("#moves li:nth-child(12)")
    moves = " ".join(person.board.state()["moves"][:7])
    person.open_record(f"position startpos moves {moves}\n# Black: pydlshogi (easy)\n")
    expect(page.locator("#nearPlayer")).to_have_text("Black: level 3 (easy)")
    person.review()
    person.press("m")
    person.button("Try again").click()
    expect(person.button("Answer")).to_be_visible()  # the position before the mistake is shown
    page.locator(".movable").first.click()
    page.locator(".target").first.click()
    expect(page.locator("#sentence")).to_have_text(re.compile(r": right!$|: there is a better move$"))
    page.wait_for_selector("#progress[hidden]", state="attached")
    assert person.board.state()["earlier"]
    assert page.locator("#practise").is_hidden()


def test_a_mate_that_was_missed_is_practised(browser: Any, board: Board) -> None:
    board.new(start="4k4/9/9/9/9/9/4p4/9/4K4 w g 1", moves="G*9a")
    person = Person(browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True, locale="en-US"), board)
    page = person.page
    sentence = page.locator("#sentence")
    page.locator("#judge").tap()
    person.button("Practise (1)").tap()
    person.moves(0)
    page.evaluate("document.documentElement.dataset.letters = 'large'")  # the wide summary alone scrolls
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    expect(sentence).to_have_text("There is a mate in 1: find it.")
    assert page.locator(".arrows .ring").count() == 0
    assert person.text("#nearPlayer") == "White: a person"  # the side that mates
    person.at("G*").tap()
    person.at("1a").tap()
    expect(sentence).to_contain_text("there is a better move")
    person.button("Try again").tap()
    person.moves(0)
    person.button("Answer").tap()
    page.wait_for_selector("body:has(.arrows .ring) #lines :text('wins in 1')")
    person.at("G*").tap()
    person.at("5h").tap()
    expect(sentence).to_have_text("G*5h: right!")
    assert page.locator(".danger").get_attribute("data-at") == "5i"
    person.button("Back to the game").tap()
    page.wait_for_selector('body[data-moves="G*9a"]')
    expect(page.locator("#nearPlayer")).to_have_text("Black: a person")
    person.leave()


def test_who_wins_is_offered_the_next_level(person: Person) -> None:
    person.begin("4k4/9/4P4/9/9/9/4r4/9/4K4 b G 1", opponent="beginner", side="0")
    expect(person.page.locator("#status")).to_have_text("Black to move: your turn, in check")
    person.click("5c", "5b")
    expect(person.page.locator("#error")).to_have_text("the king is in check")
    person.begin(MATE_IN_ONE, opponent="beginner")
    person.click("G*", "5b")
    person.button("→ level 2 (novice)").click()
    expect(person.page.locator("#farPlayer")).to_have_text("White: level 2 (novice)")
    person.choose(game="othello", opponent="beginner")
    assert person.text("#strength").endswith("Against level 2 (novice) it wins 2 of 10.")
    person.press("Escape")


def test_a_record_of_shogi_or_othello_is_pasted_or_dropped(person: Person) -> None:
    page = person.page
    person.open_record((FIXTURES / "floodgate.csa").read_text())
    page.wait_for_selector("#moves li:nth-child(12)")
    page.evaluate("""() => {
        const data = new DataTransfer()
        data.setData('text', 'f5d6c3d3c4f4')
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
        for (let times = 0; times < 6; times++) {  // before the page can answer
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))
        }
    }""")
    page.wait_for_selector('body[data-moves="f5 d6 c3 d3 c4 f4"][data-at="6"]')
    page.evaluate("""() => {
        const data = new DataTransfer()
        data.items.add(new File(['no record'], 'x.csa'))
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
    }""")
    expect(page.locator("#error")).to_contain_text("cannot be read as a record")
    person.open_record("1 ７六歩(77)\n**対局 評価値 19\n2 ３四歩(33)\n**対局 評価値 20\n3 ２六歩(27)\n4 ８四歩(83)\n")
    page.wait_for_selector('body[data-moves="7g7f 3c3d 2g2f 8c8d"]')
    assert len(person.board.state()["judged"]) == 1
    assert page.locator("#noMistakes").is_hidden()  # the others may be some


def test_a_phone_in_japanese(browser: Any, board: Board) -> None:
    board.new()
    person = Person(browser.new_page(viewport={"width": 360, "height": 740}, locale="ja-JP", has_touch=True), board)
    assert person.page.evaluate("document.documentElement.scrollWidth") == 360
    person.button("設定").tap()
    expect(person.page.locator("#choices")).to_be_visible()
    expect(person.page.locator("#settingsDialog :is(h2, [data-word=keys], #keys):visible")).to_have_count(0)
    person.button("閉じる").tap()
    person.at("7g").tap()
    person.at("7f").tap()
    person.moves(1)
    assert person.text("#moves").strip() == "▲７六歩(77)"
    assert "先手 歩" in person.drawn()
    board.play("3c3d 8h2b+ 3a2b")
    person.moves(4)
    assert person.text("#moves").splitlines()[-1].strip() == "△同銀(31)"
    person.page.locator("#hint").tap()
    expect(person.page.locator("#lines td:nth-child(2)").first).to_have_text(re.compile("^[+−]?[0-9]+$"))
    assert "評価値" in person.text("#candidates")
    person.leave()


def test_a_page_from_elsewhere_gets_nothing(browser: Any, board: Board, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html>")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    board.new()  # nothing is thought about that would change what is said of it
    board.do("watch", on=False)
    before = board.state()
    ask = f"fetch('http://{board.host}/do', {{method: 'POST', body: '{{}}', headers: {{'X-Token': '{board.token}'}}}})"
    assert page.evaluate(f"{ask}.then(() => 'read', () => 'refused')") == "refused"
    framed = f"""new Promise(done => {{
        const frame = document.createElement('iframe')
        frame.onload = done
        frame.src = '{board.server.address}'
        document.body.append(frame)
    }})"""
    page.evaluate(framed)
    assert page.frames[-1].locator("#board").count() == 0
    assert board.state() == before
    page.close()


def test_the_whole_board_is_in_view(person: Person) -> None:
    box = "const box = document.querySelector('.board')?.getBoundingClientRect()"  # it is drawn anew at each size
    aside = "document.querySelector('aside').getBoundingClientRect().left"
    for width, height in ((1366, 650), (1280, 720), (900, 680), (740, 360)):
        person.page.set_viewport_size({"width": width, "height": height})
        in_view = f"() => {{ {box}; return box?.width && box.bottom <= {height} && box.right <= {aside} }}"
        person.page.wait_for_function(in_view)
    person.button("New game").click()
    assert person.page.locator("#newDialog").evaluate("dialog => dialog.scrollTop") == 0
    expect(person.button("Start")).to_be_in_viewport(ratio=1)
    person.page.set_viewport_size({"width": 730, "height": 700})
    person.page.wait_for_function(f"() => {{ {box}; return box?.width > 400 }}")  # what stands beside it leaves it room


def test_a_phone_shows_what_is_wrong_and_long_names(person: Person) -> None:
    page, error = person.page, person.page.locator("#error")
    page.set_viewport_size({"width": 360, "height": 600})
    person.open_record("no record")
    expect(error).to_contain_text("cannot be read as a record")
    expect(error).to_be_in_viewport()
    assert page.locator("#recordText").input_value() == "no record"  # to be mended
    person.board.ask("POST", "/record", f"N+{'W' * 300}\nPI\n+\n+7776FU\n".encode())
    page.wait_for_selector("#moves li", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_page_goes_on_where_its_server_was_killed_and_started_again(browser: Any, tmp_path: Path) -> None:
    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "pydlshogi.web", "--no-browser", "--option", "Backend=uniform"]
        environment = {"XDG_STATE_HOME": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)

    program = start()
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(program.stdout.readline())
    page.wait_for_selector("body[data-generation]")
    page.keyboard.press("Escape")  # it is a game already
    page.locator('[data-at="7g"]').click()
    page.locator('[data-at="7f"]').click()
    page.wait_for_function("() => document.body.dataset.at >= 1")  # the engine may have answered
    program.kill()
    program.communicate()
    status = page.locator("#status")
    expect(status).to_contain_text("does not answer")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#error")).to_contain_text("does not answer")
    program = start()
    try:
        expect(status).to_contain_text("Black to move")  # the engine has answered
        expect(page.locator("#error")).to_have_text("")
        page.get_by_role("button", name="Take back").click()
        page.wait_for_selector('body[data-at="0"]')
    finally:
        program.kill()
        program.communicate()
        page.close()


def test_a_phone_finds_the_board(browser: Any) -> None:
    segno = pytest.importorskip("segno", reason="needs segno (the extra `lan`)")
    pool = Pool(1, SETTINGS)
    with BoardServer(lambda tell: Table(pool, tell), network="127.0.0.2") as server, serving(server) as board:
        person = Person(browser.new_page(), board)
        person.press("Escape")
        person.page.locator("#phone").click()
        address = person.text("#phoneAddress")
        assert address == f"http://127.0.0.2:{board.port}/#{board.token}"
        drawn = f'd="{person.page.locator("#code path").get_attribute("d")}"'
        assert drawn in segno.make_qr(address).svg_inline()
        person.leave()
    pool.close(cancel=True)


def test_a_position_is_set_up_and_played_from(person: Person) -> None:
    page = person.page
    person.board.new("shogi", MATE_IN_ONE)
    page.wait_for_selector('[data-at="G*"]')
    page.locator("#edit").click()
    for piece, square in (("pawn", "5c"), ("rook", "5b")):  # where the pawn stands already: it goes
        page.get_by_role("radio", name=f"Black {piece}").check()
        page.locator(f'#editBoard [data-at="{square}"]').click()
    person.button("to White's hand").click()
    page.locator("#sideToMove").click()
    person.button("Play from here").click()
    expect(page.locator("#startText")).to_have_value("4k4/4R4/9/9/9/9/9/9/4K4 w Gr 1")
    page.select_option("#opponent", "")
    person.start()
    assert person.play("5a 5b") == ["5a5b"]


def test_texts_and_pictures_are_taken_elsewhere(browser: Any, board: Board) -> None:
    board.new("shogi", "startpos moves 7g7f")
    person = Person(browser.new_page(permissions=["clipboard-read", "clipboard-write"]), board)
    page = person.page
    texts: dict[str, str] = {}
    page.locator("#copy").click()
    for what in ("record", "position", "line"):
        before = page.locator("#copyText").input_value() if texts else ""
        page.select_option("#copyWhat", what)
        page.wait_for_function("before => document.getElementById('copyText').value !== before", arg=before)
        person.button("Copy", exact=True).last.click()
        expect(person.button("Copied")).to_be_visible()
        texts[what] = page.evaluate("navigator.clipboard.readText()")
    assert "７六歩(77)" in texts["record"]
    assert texts["position"] == "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
    assert texts["line"] == "position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f"
    files: dict[str, bytes] = {}
    for name in ("SVG", "PNG"):
        with page.expect_download() as saved:
            person.button(name).click()
        files[saved.value.suggested_filename] = Path(saved.value.path()).read_bytes()
    assert files["board.png"].startswith(b"\x89PNG")
    alone = browser.new_page()  # with no style sheet of ours
    alone.set_content(files["board.svg"].decode())
    colours = "e => getComputedStyle(e).fill"
    for part in ('[data-at="7f"] rect', "#pieceP path", ".nothing, svg > rect:nth-of-type(2)"):
        assert alone.locator(part).first.evaluate(colours) != "rgb(0, 0, 0)"
    alone.close()
    person.leave()


def test_othello_in_japanese_is_black_and_white(browser: Any, board: Board) -> None:
    board.new("othello")
    person = Person(browser.new_page(locale="ja-JP"), board)
    assert person.text("#status") == "黒の手番 (2-2)"
    assert "d4 白 石" in person.drawn()
    assert person.text("#graphLabel") == "黒の勝率"
    board.play("f5 d6 c3 d3 c4")
    expect(person.page.locator("#opening")).to_have_text("虎")
    board.new("shogi")
    expect(person.page.locator("#status")).to_have_text("先手の手番")
    assert person.text("#graphLabel") == "先手の勝率"
    person.button("新規対局").click()
    person.page.locator(".card[data-game=othello]").click()
    side = person.page.locator("#newDialog").get_by_label("あなたの手番")
    assert side.locator("option").all_inner_texts()[:2] == ["黒", "白"]
    person.button("キャンセル").click()
    person.open_record("f5f5")
    expect(person.page.locator("#error")).to_have_text("棋譜を読めません: 1行目: 2手目の f5 は指せません")
    person.leave()


def test_a_book_is_looked_at_and_played_from(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.db"
    path.write_text(BOOK)
    with closing(Pool(1, SETTINGS | {"Book_File": str(path)})) as pool, served(pool) as board:
        person = Person(browser.new_page(locale="en-US"), board)
        moves = person.page.locator("#book button")
        expect(moves).to_have_text(["P7g-7f +40 ×9", "P2g-2f +40 ×7", "P1g-1f -10 ×1"])
        moves.nth(0).click()
        assert person.moves(1) == ["7g7f"]
        expect(moves).to_have_text(["P3c-3d -35 ×5"])
        person.page.locator("#settings").click()
        person.button("日本語").click()
        person.press("Escape")
        expect(moves).to_have_text(["△３四歩(33) -35 ×5"])
        moves.nth(0).click()
        assert person.moves(2) == ["7g7f", "3c3d"]
        expect(moves).to_have_count(0)
        person.leave()


def test_reasons_are_japanese(browser: Any, board: Board) -> None:
    board.new("shogi")
    person = Person(browser.new_page(locale="ja-JP"), board)
    in_japanese = "reason => import('./words.js').then(words => words.reasonIn('ja', reason))"
    rows = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/"
    positions = {
        "abc": "sfen には盤面、手番 (b か w)、持ち駒、手数を書きます",
        f"{rows}LNSGKGSNL c - 1": "手番は b か w です (c とあります)",
        f"{rows}LNSGKGSNL b - x": "x は手数ではありません",
        f"{rows}9/LNSGKGSNL b - 1": "盤面が10段あります",
        f"{rows}LNSGKGSN b - 1": "盤面の i 段に8マスあります",
        f"{rows}LNSGKXSNL b - 1": "X という駒はありません",
        f"{rows}LNSGKGSNL b x 1": "x という持ち駒はありません",
        "p3k4/p8/9/9/9/9/9/9/4K4 b - 1": "二歩になっています",
        "P3k4/9/9/9/9/9/9/9/4K4 b - 1": "a 段に行き所のない P があります",
        "4k4/9/9/9/9/9/9/4R4/4K4 b - 1": "手番でない側に王手がかかっています",
        "9/9/9/9/9/9/9/9/9 b - 1": "玉がありません",
        "startpos moves 7g7f 3c3e": "2手目の 3c3e は指せません",
    }
    records = {
        "hello": "棋譜ではありません",
        "手合割：百枚落ち\n   1 ７六歩(77)": "手合割「百枚落ち」は分かりません",
        "手合割：平手\n   1 ７六歩(77)\n   2 ９九玉(51)\n   3 ２六歩(27)": "2手目の 9九玉(51) は指せません",
        "PI\n+\n+7776FU\n-7776FU\n+2726FU": "2手目の -7776FU は指せません",
        "P-51OU\nP+53FU00KI\n-\n-5161OU": "詰まされる側の玉がありません",
        "PI\n+\n+XX": "「+XX」は指し手ではありません",
    }
    for text, reason in positions.items():
        assert person.page.evaluate(in_japanese, board.begin(start=text)) == reason
    for text, reason in records.items():
        said = json.loads(board.ask("POST", "/record", text.encode())[1])["error"]
        assert person.page.evaluate(in_japanese, said) == f"棋譜を読めません: {reason}"
    person.open_record("手合割：平手\n   1 ７六歩(77)\n   2 ９九玉(51)\n   3 投了")
    expect(person.page.locator("#error")).to_have_text("2手目の 9九玉(51) は反則です。その前までの手順を残しました")
    person.leave()


def test_a_handicap_game_in_japanese_is_of_uwate_and_shitate(browser: Any, board: Board) -> None:
    board.new("othello")
    person = Person(browser.new_page(locale="ja-JP"), board)
    page, dialog = person.page, person.page.locator("#newDialog")
    person.button("新規対局").click()
    page.locator(".card[data-game=othello]").click()
    assert dialog.get_by_label("開始局面").locator("option").all_inner_texts() == ["初期局面", "表示中の局面"]
    page.locator(".card[data-game=shogi]").click()
    side = dialog.get_by_label("あなたの手番")
    assert side.locator("option").all_inner_texts()[:2] == ["先手", "後手"]
    page.select_option("#startName", "two pieces")
    assert side.locator("option").all_inner_texts()[:2] == ["下手", "上手"]
    dialog.get_by_label("対局相手").select_option("beginner")
    person.button("開始").click()
    person.moves(1)
    assert person.text("#nearPlayer") == "下手: あなた"
    assert person.text("#farPlayer") == "上手: レベル1 (入門)"
    assert person.text("#status") == "下手の手番 (あなたの番です)"
    assert "下手 歩" in person.drawn()
    assert "落ち" not in person.drawn()  # a bishop is no bishop handicap
    assert page.locator("[aria-label=上手の持ち駒]").count() == 1
    assert person.text("#played").startswith("上手 ")
    assert person.text("#graphLabel") == "下手の勝率"
    with page.expect_download() as saved:
        person.button("保存").click()
    record = Path(saved.value.path()).read_text(encoding="cp932")
    begun = re.search(r"開始日時：(\d{4})/(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d)\n", record)
    assert saved.value.suggested_filename == "{}{}{}-{}{}{} あなた - pydlshogi (入門).kif".format(*begun.groups())
    person.open_record(record)
    expect(page.locator("#status")).to_have_text("0/1: 上手の手番")
    expect(page.locator("#farPlayer")).to_have_text("上手: レベル1 (入門)")
    board.new("shogi", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1")
    expect(page.locator("#status")).to_have_text("先手の手番")
    person.leave()


WIDTH, HEIGHT = 900, 680
LARGEST = 100_000
"""Bytes of a picture."""
POSITIONS = {"dobutsu": "startpos moves 1d1c 3a3b", "othello": "f5d6c3d3c4f4c5b3c2e6c6"}


def take_pictures(browser: Any, folder: Path) -> None:
    """One of each game that is not filmed, with the engine that ships thinking about it."""
    pool = Pool(1)
    try:
        with served(pool) as board:
            for game, start in POSITIONS.items():
                board.new(game, start, sides=("", "medium"))
                board.do("watch", on=True)
                board.news.until(
                    lambda info: (
                        info["generation"] == board.state()["generation"]
                        and (info["rootInfo"]["visits"] > 500 or info["final"])
                    ),
                    "info",
                )
                person = Person(browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, locale="en-US"), board)
                person.page.wait_for_selector(".arrows .ring")
                person.page.screenshot(path=folder / f"{game}.png")
                person.leave()
    finally:
        pool.close(cancel=True)


@pytest.mark.long
def test_pictures_of_all_games(browser: Any, tmp_path: Path) -> None:
    """With BOARD_PICTURES=docs/board it takes those of the README anew."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow (the extra `train`)")
    taken = Path(os.environ.get("BOARD_PICTURES", tmp_path))
    take_pictures(browser, taken)
    for game in POSITIONS:
        path = taken / f"{game}.png"
        image.open(path).quantize(128).save(path, optimize=True)
        assert path.stat().st_size < LARGEST


def test_the_readme_shows_the_pictures() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for game in POSITIONS:
        assert f"docs/board/{game}.png" in readme
        data = (ROOT / "docs" / "board" / f"{game}.png").read_bytes()
        assert struct.unpack(">II", data[16:24]) == (WIDTH, HEIGHT)
        assert len(data) < LARGEST
