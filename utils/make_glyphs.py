"""The letters on shogi pieces as outlines, so that no machine needs a font for them: `python -m utils.make_glyphs FONT`

Prints a module in JavaScript: for each letter a path within -50 to 50. `pydlshogi/web/page/glyphs.js` is made of Kaisei
Tokumin ExtraBold (kaisei-tokumin-japanese-800-normal.woff in the npm package @fontsource/kaisei-tokumin), whose licence
lies beside it. Needs fontTools, which comes with matplotlib.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from pydlshogi.support.command_line import exit_status, remedy

try:
    from fontTools.pens.boundsPen import BoundsPen
    from fontTools.pens.svgPathPen import SVGPathPen
    from fontTools.pens.transformPen import TransformPen
    from fontTools.ttLib import TTFont, TTLibError
except ImportError as error:
    sys.exit(f"make_glyphs: fontTools is not installed here: {remedy('train', 'fonttools')} ({error})")

LETTERS: Final = "王玉飛龍角馬金銀全桂圭香杏歩と"
_LEAST: Final = 0.8
"""Of the em: no letter is blown up from less."""


def outlines(font: Any) -> dict[str, str]:
    """The path of each letter, its y growing downwards, its middle at the origin."""
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    paths = {}
    for letter in LETTERS:
        glyph = glyphs[names[ord(letter)]]
        bounds = BoundsPen(glyphs)
        glyph.draw(bounds)
        left, bottom, right, top = bounds.bounds
        scale = 100 / max(right - left, top - bottom, _LEAST * font["head"].unitsPerEm)
        pen = SVGPathPen(glyphs, ntos=lambda value: str(round(value)))
        shift = (-scale * (left + right) / 2, scale * (bottom + top) / 2)
        glyph.draw(TransformPen(pen, (scale, 0, 0, -scale, *shift)))
        paths[letter] = pen.getCommands()
    return paths


def main() -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m utils.make_glyphs", description="Outlines of a font for the board."
    )
    parser.add_argument("font", type=Path)
    font: Path = parser.parse_args().font

    def show() -> None:
        lines = [f"  {letter}: {json.dumps(path)}," for letter, path in outlines(TTFont(font)).items()]
        print("// Made by utils/make_glyphs.py of Kaisei Tokumin, whose licence is in glyphs.LICENSE.")
        print("export const GLYPHS = {", *lines, "}", sep="\n")

    return exit_status("make_glyphs", show, TTLibError)


if __name__ == "__main__":
    sys.exit(main())
