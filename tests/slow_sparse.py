"""Sparse networks computed slowly and plainly in float64: what the compiled kernels are compared with."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pydlshogi.encoding import Encoding
from pydlshogi.network.weights import Weights

Array = npt.NDArray[Any]


def exact(weights: Weights) -> dict[str, Array]:
    """The arrays as the numbers that they stand for."""
    return {
        name: array / weights[f"{name}_scale"] if f"{name}_scale" in weights else array.astype(np.float64)
        for name, array in weights.items()
    }


def slow_predict(
    weights: Weights, encoding: Encoding, packed: Array, firsts: Array, labels: Array, temperature: float
) -> tuple[Array, Array]:
    """Priors of all moves and win rates, as `Backend.predict`."""
    w = exact(weights)
    priors, values = [], []
    for words, first, stop in zip(packed, firsts, firsts[1:], strict=False):
        rows = words[1 : 1 + words[0]]
        left, right = np.split(np.clip(w["value_bias"] + w["value_rows"][rows].sum(0), 0, 1), 2)
        x = np.clip(w["value_1_weight"] @ (left * right) + w["value_1_bias"], 0, 1)
        values.append(1 / (1 + np.exp(-(w["value_2_weight"] @ x**2 + w["value_2_bias"])[0])))
        h = np.clip(w["policy_bias"] + w["policy_rows"][rows].sum(0), 0, 1) ** 2
        i, j, k = np.unravel_index(labels[first:stop], encoding.label_parts)
        logits = w["move_rows"][i] @ h + w["move_bias"][i] + w["move_bias_1"][j] + w["move_bias_2"][k]
        exponentials = np.exp(logits / temperature)
        priors.append(exponentials / exponentials.sum())
    return np.concatenate(priors), np.array(values)
