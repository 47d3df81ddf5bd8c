"""What an ONNX graph must take and give to be a network of this engine, checked alike for whoever runs it.

One input [N, 104, 9, 9] of float32 or uint8, N free; two outputs, raw logits float32 [N, 2187] and [N, 1]. Whether the
value of a foreign graph has already been through a sigmoid cannot be seen; such a file makes the engine judge every
position as nearly even.
"""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.common import NUM_LABELS, NUM_PLANES
from pydlshogi.network.weights import ModelError

_DTYPES: Final[dict[str, type[np.generic]]] = {"float": np.float32, "uint8": np.uint8}


class End(NamedTuple):
    """An input or output: its type as ONNX spells it, and its shape with words for what is free."""

    name: str
    type: str
    shape: list[int | str]

    def __str__(self) -> str:
        return f"{self.name} ({self.type}) {self.shape}"


def check_input(path: Path, inputs: list[End]) -> tuple[str, type[np.generic]]:
    """Name and type of the planes."""
    if len(inputs) == 1 and inputs[0].type in _DTYPES and inputs[0].shape[1:] == [NUM_PLANES, 9, 9]:
        if isinstance(inputs[0].shape[0], int):
            raise ModelError(
                f"{path}: made for batches of exactly {inputs[0].shape[0]}; export it with a free batch size"
            )
        return inputs[0].name, _DTYPES[inputs[0].type]
    raise ModelError(f"{path}: takes {_listed(inputs)}; a network of this engine takes [N, {NUM_PLANES}, 9, 9]")


def check_outputs(path: Path, outputs: list[End]) -> list[str]:
    """Names of policy and value."""
    policy = [output.name for output in outputs if output.shape[1:] == [NUM_LABELS]]
    value = [output.name for output in outputs if output.shape[1:] in ([1], [])]
    floats = all(output.type == "float" for output in outputs)
    if len(outputs) == 2 and len(policy) == len(value) == 1 and floats:
        return policy + value
    raise ModelError(f"{path}: gives {_listed(outputs)}; a network of this engine gives [N, {NUM_LABELS}] and [N, 1]")


def _listed(ends: list[End]) -> str:
    return " and ".join(map(str, ends))
