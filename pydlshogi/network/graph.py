"""A network as a graph: light, while what reads and makes graphs imports ONNX."""

from typing import NamedTuple

import numpy as np

from pydlshogi.encoding import Encoding


class Graph(NamedTuple):
    """A graph that is a network, and what there is to know of it without reading it."""

    name: str
    encoding: Encoding
    foreign: bool
    """It had the form of other programs' networks."""
    content: bytes
    """As ONNX serialises it, or as a framework has compiled it."""
    planes: str
    """Name of the input."""
    dtype: type[np.generic]
    """What the input holds."""
    policy: str
    value: str
    """Names of the outputs."""
    labels: int
    value_shape: tuple[int, ...]
    """Of one position: (1,) or ()."""
