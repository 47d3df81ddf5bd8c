"""The file of the games of a table: a line of JSON each, so that the table goes on wherever it was broken off."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydlshogi.support.errors import OneLineError
from pydlshogi.support.files import append_whole


class FinishedGames:
    """A file of finished games, in the order of their ends."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        """Open a new file, or one to go on with, each of whose games has these names. Raises OneLineError, OSError."""
        self.games: list[dict[str, Any]] = []
        self._file = path.open("ab+", buffering=0)
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                game = json.loads(line)
                self.games.append({**game, **{name: game[name] for name in names}})
            except (ValueError, LookupError, TypeError) as error:
                self._file.close()
                raise OneLineError(f"{path}, line {number} is no game: {error!r}") from error
        self._file.truncate(whole)  # a line that was cut off was being written when the process was killed

    def add(self, game: dict[str, Any]) -> None:
        """Keep a game. Raises OSError."""
        append_whole(self._file, f"{json.dumps(game)}\n".encode())
        self.games.append(game)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
