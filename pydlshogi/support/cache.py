"""What a program makes at its first start, and finds in the cache folder at the others."""

import hmac
import logging
import pickle
from collections.abc import Callable
from typing import Final, TypeVar, cast

from pydlshogi.support.files import cache_folder, write_whole

Made = TypeVar("Made")

_SIGNATURE: Final = 32
"""Bytes in front of what is kept."""


def cached(name: str, key: str, make: Callable[[], Made]) -> Made:
    """What `make` gave for this key, kept in the file `name` of the cache folder.

    It is made where that file is missing, damaged or for another key. Raises what `make` raises.
    """
    try:
        content = (cache_folder() / name).read_bytes()
    except OSError:
        content = b""
    held = memoryview(content)[_SIGNATURE:]
    if content[:_SIGNATURE] == hmac.digest(key.encode(), held, "sha256"):
        return cast(Made, pickle.loads(held))
    made = make()
    try:
        file = cache_folder() / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pickled = pickle.dumps(made)
        write_whole(file, hmac.digest(key.encode(), pickled, "sha256") + pickled)
    except OSError as error:
        logging.getLogger(__name__).warning("%s: %s; made again next time", name, error)
    return made
