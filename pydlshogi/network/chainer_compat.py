"""Chainer 7.8.1 (2022, its last release) on the Python and numpy of today."""

import sys
from types import ModuleType
from typing import Any

import numpy as np


def import_chainer() -> Any:
    """The module `chainer`; raises ImportError if it is not installed.

    Two things that Chainer takes for granted are gone. `numpy.sctypes` (removed in numpy 2.0) is put back. The check of
    its surroundings, which needs `numpy.distutils` and `pkg_resources` only to print warnings, is left out; with it
    goes Chainer's refusal of newer CuPy releases, which work (those from 14 on without cuDNN).
    """
    if "chainer" not in sys.modules:
        kinds = {"int": [np.int8, np.int16, np.int32, np.int64], "float": [np.float16, np.float32, np.float64]}
        vars(np).setdefault("sctypes", kinds)
        unchecked = ModuleType("chainer._environment_check")
        vars(unchecked)["check"] = lambda: None
        sys.modules["chainer._environment_check"] = unchecked
    import chainer

    return chainer
