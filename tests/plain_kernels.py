"""With NUMBA_DISABLE_JIT=1 kernels are plain Python: what numba gives them, and Python does not, is given here.

Imported before whatever is to be run so.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

if os.environ.get("NUMBA_DISABLE_JIT") == "1":  # numba reads the fields of records as attributes, and calls C

    def with_fields(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            array = make(*arguments, **named)
            return array.view(np.recarray) if array.dtype.names else array

        return made

    for name in ("zeros", "empty", "array"):
        setattr(np, name, with_fields(getattr(np, name)))
    from pydlshogi.games.othello import squares
    from pydlshogi.support.kernels import mutex

    vars(mutex).update(_acquire=lambda *_: 1, _release=lambda *_: None)
    vars(squares).update(
        count=lambda discs: int(discs).bit_count(),
        lowest=lambda discs: np.uint64((int(discs) & -int(discs)).bit_length() - 1 if discs else 64),
        zeros_above=lambda discs: np.uint64(64 - int(discs).bit_length()),
    )
