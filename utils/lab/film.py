"""The board while the engine thinks, as a moving picture: the first one of README.md.

    python -m utils.lab.film docs/board/thinking.webp

Needs what the tests of the board need: playwright, a chromium, and Pillow.
"""

import argparse
import io
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, Final

from pydlshogi.analysis_server.pool import Pool
from pydlshogi.support.command_line import exit_status, parser_for, remedy
from pydlshogi.support.files import write_whole
from pydlshogi.web.server import BoardServer
from pydlshogi.web.table import Table

try:
    from PIL import Image
    from playwright.sync_api import Error, sync_playwright
except ImportError as error:
    sys.exit(f"film: {error}; {remedy('test', 'playwright')}")

_SIZE: Final[Any] = {"width": 900, "height": 680}
_FRAMES: Final = 20
_EVERY: Final = 0.3
"""Seconds."""
_LONGEST_START: Final = 600_000
"""Milliseconds; the engine may have to be compiled."""
_LAST: Final = 2500
"""Milliseconds that the last frame stays."""
_POSITION: Final = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"


def frames(address: str) -> Iterator[bytes]:
    """Pictures of the page at `address`, as PNG, from the start of thinking."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome"))), None)
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-dev-shm-usage"])
        page: Any = chromium.new_page(viewport=_SIZE, locale="en")
        page.add_init_script("""localStorage.settings ??= '{"sound":"off"}'""")
        page.set_default_timeout(_LONGEST_START)
        page.goto(address)
        page.wait_for_selector("body[data-generation]")
        page.select_option("#opponent", "")
        page.locator("#startText").evaluate("(field, text) => { field.value = text }", _POSITION)
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_selector("#newDialog", state="hidden")
        yield page.screenshot()
        page.get_by_role("button", name="Thinking").click(no_wait_after=True)
        page.wait_for_selector(".arrows polygon")
        began = time.monotonic()
        for frame in range(1, _FRAMES):
            yield page.screenshot()
            time.sleep(max(0.0, began + frame * _EVERY - time.monotonic()))
        chromium.close()


def film(options: argparse.Namespace) -> None:
    """Write the picture, and how large it is."""
    pool = Pool(1, {})
    with BoardServer(lambda tell: Table(pool, tell), 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        first, *others = [Image.open(io.BytesIO(frame)).convert("RGB") for frame in frames(server.address)]
        server.shutdown()
    pool.close(cancel=True)
    moving, times = io.BytesIO(), [round(1000 * _EVERY)] * len(others) + [_LAST]
    first.save(moving, "WEBP", save_all=True, append_images=others, duration=times, loop=0, lossless=True, method=4)
    write_whole(options.out, moving.getvalue())
    print(f"{options.out}: {len(times)} frames, {len(moving.getvalue()) / 1000:.0f} kB")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.film", __doc__)
    parser.add_argument("out", type=Path, metavar="WEBP")
    return exit_status("film", partial(film, parser.parse_args(arguments)), Error)


if __name__ == "__main__":
    sys.exit(main())
