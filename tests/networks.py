"""Small networks and real positions for the tests of networks, and a slow, plain way to compute a network."""

import random

import cshogi
import numpy as np
import numpy.typing as npt

from pydlshogi.features import PlaneBatch
from pydlshogi.network.weights import Architecture, Weights, random_weights

Array = npt.NDArray[np.float32]

PLAIN = Architecture("policy_value", 12, 12)
RESNET = Architecture("policy_value_resnet", 3, 12)


def network(architecture: Architecture) -> Weights:
    """A random network whose batch normalisation meets variances small enough for its epsilon to matter."""
    weights = random_weights(architecture, seed=20)
    for name, array in weights.items():
        if name.endswith("/avg_var"):
            array[::4] = 1e-4
            weights[name.replace("avg_var", "gamma")][::4] *= 0.01
    return weights


def planes_of_positions(count: int, seed: int = 20) -> Array:
    """Planes [count, 104, 9, 9] of positions met in random games; both sides to move, pieces in hand."""
    generator = random.Random(seed)
    batch = PlaneBatch(count)
    while len(batch) < count:
        board = cshogi.Board()
        for _ in range(generator.randrange(120)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        batch.add(board)
    return batch.planes().copy()


def convolution(x: Array, kernel: Array) -> Array:
    """Every output square is a sum over the squares around it."""
    size = kernel.shape[2]
    around = np.pad(x, ((0, 0), (0, 0), (size // 2,) * 2, (size // 2,) * 2))
    y = np.zeros((len(x), len(kernel), 9, 9))
    for i in range(size):
        for j in range(size):
            y += np.einsum("oc,bcyx->boyx", kernel[:, :, i, j], around[:, :, i : i + 9, j : j + 9])
    return y


def logits(weights: Weights, planes: Array) -> tuple[Array, Array]:
    """Policy [B, 2187] and value [B] as the book defines the two networks, in float64."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}

    def normalised(x: Array, name: str) -> Array:
        mean, variance, gamma, beta = (
            w[f"{name}/{part}"][:, None, None] for part in ("avg_mean", "avg_var", "gamma", "beta")
        )
        return gamma * (x - mean) / np.sqrt(variance + 2e-5) + beta

    def convolved(x: Array, name: str) -> Array:
        return convolution(x, w[f"{name}/W"]) + w[f"{name}/b"][:, None, None]

    def relu(x: Array) -> Array:
        return np.maximum(x, 0.0)

    h = relu(convolved(planes, "l1"))
    if "policy/W" in w:
        block = 1
        while f"b{block}/conv1/W" in w:
            inner = relu(normalised(convolution(h, w[f"b{block}/conv1/W"]), f"b{block}/bn1"))
            h = relu(h + normalised(convolution(inner, w[f"b{block}/conv2/W"]), f"b{block}/bn2"))
            block += 1
        policy, bias, value = w["policy/W"], w["policy_bias/b"], ("value1", "value2", "value3")
    else:
        for layer in range(2, 13):
            h = relu(convolved(h, f"l{layer}"))
        policy, bias, value = w["l13/W"], w["l13_bias/b"], ("l13_v", "l14_v", "l15_v")
    policy_logits = convolution(h, policy).reshape(len(h), -1) + bias
    v = convolved(h, value[0])
    if "value1_bn/gamma" in w:
        v = normalised(v, "value1_bn")
    v = relu(v).reshape(len(h), -1)
    v = relu(v @ w[f"{value[1]}/W"].T + w[f"{value[1]}/b"])
    return policy_logits, (v @ w[f"{value[2]}/W"].T + w[f"{value[2]}/b"])[:, 0]
