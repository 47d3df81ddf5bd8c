"""A hash in compiled code."""

from typing import Any, Final

import numpy as np

from pydlshogi.support.kernels.compiled import rule

_SHIFTS: Final[Any] = tuple(np.uint64(shift) for shift in (30, 27, 31))
_FACTORS: Final[Any] = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@rule
def splitmix(bits: Any) -> Any:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014): uint64 to uint64, one to one."""
    bits = (bits ^ (bits >> _SHIFTS[0])) * _FACTORS[0]
    bits = (bits ^ (bits >> _SHIFTS[1])) * _FACTORS[1]
    return bits ^ (bits >> _SHIFTS[2])
