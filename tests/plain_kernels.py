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
    from pydlshogi.games.othello import bits
    from pydlshogi.support import mutex

    vars(mutex).update(_acquire=lambda *_: 1, _release=lambda *_: None)
    vars(bits).update(
        count=lambda squares: int(squares).bit_count(),
        lowest=lambda squares: np.uint64((int(squares) & -int(squares)).bit_length() - 1 if squares else 64),
        zeros_above=lambda squares: np.uint64(64 - int(squares).bit_length()),
    )
