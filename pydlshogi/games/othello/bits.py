"""Instructions of the processor, on sets of squares, that numba has no names for. For kernels only."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_FALSE = ir.Constant(ir.IntType(1), 0)


def _instruction(emit: Callable[[Any, Any], Any], result: Any = types.uint64) -> Any:
    """A function of kernels that becomes the one instruction `emit(builder, bits)`."""

    def typed(_context: Any, _bits: Any) -> Any:
        return result(types.uint64), lambda _, builder, __, arguments: emit(builder, *arguments)

    return intrinsic(typed)


count = cast(Callable[[np.uint64], int], _instruction(lambda builder, bits: builder.ctpop(bits), types.int64))
"""How many squares are in the set."""

lowest = cast(Callable[[np.uint64], np.uint64], _instruction(lambda builder, bits: builder.cttz(bits, _FALSE)))
"""The lowest square of the set; 64 for the empty one."""

zeros_above = cast(Callable[[np.uint64], np.uint64], _instruction(lambda builder, bits: builder.ctlz(bits, _FALSE)))
"""63 less the highest square of the set; 64 for the empty one."""
