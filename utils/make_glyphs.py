"""The letters on shogi pieces as outlines, so that no machine needs a font for them: `python -m utils.make_glyphs FONT`

Prints a module in JavaScript: for each letter a path within -50 to 50. `pydlshogi/web/page/glyphs.js` is made of Kaisei
Tokumin ExtraBold (kaisei-tokumin-japanese-800-normal.woff in the npm package @fontsource/kaisei-tokumin), whose licence
lies beside it. Needs fontTools, which comes with matplotlib.
"""

import argparse
import json
from pathlib import Path
from typing import Any, Final

from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

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


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m utils.make_glyphs", description="Outlines of a font for the board."
    )
    parser.add_argument("font", type=Path)
    lines = [f"  {letter}: {json.dumps(path)}," for letter, path in outlines(TTFont(parser.parse_args().font)).items()]
    print("// Made by utils/make_glyphs.py of Kaisei Tokumin, whose licence is in glyphs.LICENSE.")
    print("export const GLYPHS = {", *lines, "}", sep="\n")


if __name__ == "__main__":
    main()
