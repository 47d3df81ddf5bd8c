"""Engines that play from a script, and what is left of their matches."""

import json
import sys
from pathlib import Path
from typing import Any

from utils.arena.engines import command_line


def scripted(script: str, *words: str, **options: object) -> str:
    """Command line of fake_usi_engine or fake_gtp_engine, which say more of words and options."""
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    path = Path(__file__).with_name(f"{script}.py")
    return command_line([sys.executable, "-I", "-S", str(path), *words, *filter(None, flags)])


def games(out: Path) -> list[dict[str, Any]]:
    """The finished games of a match, by number."""
    lines = (out / "games.jsonl").read_text().splitlines()
    return sorted((json.loads(line) for line in lines), key=lambda game: int(game["game"]))


def heard(log: Path, command: str) -> list[str]:
    """Lines of this command that an engine was sent."""
    return [line for line in log.read_text().splitlines() if line.split()[0] == command]
