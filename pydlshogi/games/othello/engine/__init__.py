"""The engines of Othello: alpha-beta over patterns, and what is special to its search with PUCT."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydlshogi.player.base_player import PlayerError


@contextmanager
def files_of_engine() -> Iterator[None]:
    """Errors of the files that are read inside become PlayerErrors."""
    try:
        yield
    except OSError as error:
        raise PlayerError(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise PlayerError(str(error)) from None
