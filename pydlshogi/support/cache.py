"""What a program makes at its first start, and finds in the cache folder at the others."""

import hashlib
import logging
import pickle
from collections.abc import Callable
from typing import Final, TypeVar, cast

from pydlshogi.support.files import cache_folder, replacing

Made = TypeVar("Made")

_SIGNATURE: Final = 32
"""Bytes in front of what is kept."""


def cached(name: str, key: str, make: Callable[[], Made]) -> Made:
    """What `make` gave for this key, kept in the file `name` of the cache folder.

    It is made where that file is missing, damaged or for another key. Raises what `make` raises.
    """

    def signature(pickled: bytes | memoryview) -> bytes:
        digest = hashlib.sha256(key.encode())
        digest.update(pickled)
        return digest.digest()

    try:
        content = (cache_folder() / name).read_bytes()
    except OSError:
        content = b""
    held = memoryview(content)[_SIGNATURE:]
    if content[:_SIGNATURE] == signature(held):
        return cast(Made, pickle.loads(held))
    made = make()
    try:
        file = cache_folder() / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as whole:
            pickled = pickle.dumps(made)
            whole.write(signature(pickled) + pickled)
    except OSError as error:
        logging.getLogger(__name__).warning("%s: %s; made again next time", name, error)
    return made
