"""Sparse networks in PyTorch: sums of table rows in, the value and the policy of the legal moves out.

Their two large operations, which PyTorch would do by copying every row that is used, are kernels here: positions add up
rows, and legal moves are products of their row and the position's hidden units.
"""

from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.sparse import sparse_shapes, write_sparse
from pydlshogi.network.weights import Weights
from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array
from pydlshogi.support.kernels.compiled import reassociating

LARGEST_ROW_WEIGHT: Final = 127 / 64
"""The smaller the sums, the more digits the backend has for them."""


class SparseNet(nn.Module):
    """A network for a sparse encoding. Its parameters are the arrays of its file: see network/sparse.py."""

    value_rows: Tensor
    value_bias: Tensor
    value_1_weight: Tensor
    value_1_bias: Tensor
    value_2_weight: Tensor
    value_2_bias: Tensor
    policy_rows: Tensor
    policy_bias: Tensor
    move_rows: Tensor
    move_bias: Tensor
    move_bias_1: Tensor
    move_bias_2: Tensor

    def __init__(self, encoding: Encoding, value_width: int, policy_width: int) -> None:
        super().__init__()
        self._encoding = encoding
        # Some 80 rows are added up: most sums begin within 0..1, where they have a gradient.
        deviations = {
            "value_rows": 0.04,
            "value_1_weight": 2 / (value_width // 2) ** 0.5,
            "value_2_weight": 0.2,
            "policy_rows": 0.04,
        }
        means = {"value_bias": 0.4, "value_1_bias": 0.3, "policy_bias": 0.3}
        for name, shape in sparse_shapes(encoding, value_width, policy_width).items():
            start = torch.randn(shape) * deviations.get(name, 0.0) + means.get(name, 0.0)
            self.register_parameter(name, nn.Parameter(start))

    def forward(self, packed: Tensor, firsts: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Logarithms of the probabilities of the legal moves, float32 [all], and value logits [B].

        packed: int32 [B, words]; firsts: int64 [B + 1]; labels: int64 [all], those of all legal moves.
        """
        first, second = (_sums(packed, self.value_rows) + self.value_bias).clamp(0, 1).chunk(2, dim=1)
        hidden = nn.functional.linear(first * second, self.value_1_weight, self.value_1_bias).clamp(0, 1).square()
        value = nn.functional.linear(hidden, self.value_2_weight, self.value_2_bias).squeeze(1)
        seen = (_sums(packed, self.policy_rows) + self.policy_bias).clamp(0, 1).square()
        moves = self.move_rows, self.move_bias, self.move_bias_1, self.move_bias_2
        policy: Tensor = _Policy.apply(seen, *moves, firsts, labels)  # type: ignore[no-untyped-call]
        return policy, value

    @torch.no_grad()
    def bound(self) -> None:
        """Keep the weights of all rows small: see LARGEST_ROW_WEIGHT."""
        for rows in (self.value_rows, self.policy_rows, self.move_rows):
            rows.clamp_(-LARGEST_ROW_WEIGHT, LARGEST_ROW_WEIGHT)

    def write(self, path: Path) -> None:
        """Write the `.npz` of the network. Raises OSError."""
        arrays = {name: tensor.numpy() for name, tensor in self.state_dict().items()}
        write_sparse(path, arrays, self._encoding)

    def having(self, weights: Weights, path: str) -> Self:
        """This network with the weights of a file of floats, of the same size. Raises ModelError."""
        try:
            self.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        except RuntimeError as error:
            raise ModelError(f"{path}: not floats of a network of this size") from error
        return self


class _Sums(torch.autograd.Function):
    """(packed, table) -> float32 [B, width]: for each position the sum of its rows of the table."""

    @staticmethod
    def forward(ctx: Any, packed: Tensor, table: Tensor) -> Tensor:
        ctx.save_for_backward(packed)
        ctx.rows = len(table)
        sums = torch.empty(len(packed), table.shape[1])
        _add_rows(packed.numpy(), table.detach().numpy(), sums.numpy())
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        (packed,) = ctx.saved_tensors
        of_table = torch.zeros(ctx.rows, gradient.shape[1])
        _spread(packed.numpy(), gradient.contiguous().numpy(), of_table.numpy())
        return None, of_table


class _Policy(torch.autograd.Function):
    """(hidden [B, width], rows [moves, width], the three biases, firsts, labels [all]) -> logarithms of probabilities
    [all]."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        chosen = torch.empty(len(tensors[-1]))
        kernel: Any = _log_softmax
        kernel(*(tensor.detach().numpy() for tensor in tensors), chosen.numpy())
        ctx.save_for_backward(*tensors, chosen)
        return chosen

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        *learned, firsts, labels, chosen = ctx.saved_tensors
        gradients = [torch.zeros_like(tensor) for tensor in learned]
        hidden, rows, *_ = learned
        kernel: Any = _log_softmax_gradients
        kernel(
            *(tensor.detach().numpy() for tensor in (hidden, rows, firsts, labels, chosen, gradient)),
            *(tensor.numpy() for tensor in gradients),
        )
        return *gradients, None, None


def _sums(packed: Tensor, table: Tensor) -> Tensor:
    sums: Tensor = _Sums.apply(packed, table)  # type: ignore[no-untyped-call]
    return sums


@reassociating
def _add_rows(packed: Int32Array, table: Float32Array, sums: Float32Array) -> None:
    """Fill `sums` [B, width]."""
    width = table.shape[1]
    for i in range(len(packed)):
        total = sums[i]
        total[:] = 0
        whole = packed[i, 0] // 4 * 4
        for entry in range(1, 1 + whole, 4):  # four at a time: the sums are read and written less often
            one, two = table[packed[i, entry]], table[packed[i, entry + 1]]
            three, four = table[packed[i, entry + 2]], table[packed[i, entry + 3]]
            for j in range(width):
                total[j] += (one[j] + two[j]) + (three[j] + four[j])
        for entry in range(1 + whole, 1 + packed[i, 0]):
            row = table[packed[i, entry]]
            for j in range(width):
                total[j] += row[j]


@reassociating
def _spread(packed: Int32Array, gradient: Float32Array, of_table: Float32Array) -> None:
    """Add the gradient of each position, [B, width], to those of its rows."""
    width = gradient.shape[1]
    for i in range(len(packed)):
        share = gradient[i]
        for entry in range(packed[i, 0]):
            row = of_table[packed[i, 1 + entry]]
            for j in range(width):
                row[j] += share[j]


@reassociating
def _log_softmax(
    hidden: Float32Array,
    rows: Float32Array,
    bias: Float32Array,
    bias_1: Float32Array,
    bias_2: Float32Array,
    firsts: Int64Array,
    labels: Int64Array,
    out: Float32Array,
) -> None:
    """Fill `out` [all] with the logarithms of the probabilities that each position gives its moves."""
    width = hidden.shape[1]
    for i in range(len(hidden)):
        first, end = firsts[i], firsts[i + 1]
        seen = hidden[i]
        top = np.float32(-np.inf)
        for m in range(first, end):
            pair, third = labels[m] // len(bias_2), labels[m] % len(bias_2)
            move, second = pair // len(bias_1), pair % len(bias_1)
            row = rows[move]
            logit = np.float32(0)
            for j in range(width):
                logit += seen[j] * row[j]
            logit += bias[move] + bias_1[second] + bias_2[third]
            out[m] = logit
            top = max(top, logit)
        total = np.float32(0)
        for m in range(first, end):
            total += np.exp(out[m] - top)
        shift = top + np.log(total)
        for m in range(first, end):
            out[m] -= shift


@reassociating
def _log_softmax_gradients(
    hidden: Float32Array,
    rows: Float32Array,
    firsts: Int64Array,
    labels: Int64Array,
    chosen: Float32Array,
    gradient: Float32Array,
    of_hidden: Float32Array,
    of_rows: Float32Array,
    of_bias: Float32Array,
    of_bias_1: Float32Array,
    of_bias_2: Float32Array,
) -> None:
    """Add to the gradients of what `_log_softmax` took, from the `gradient` of what it gave, `chosen`."""
    width = hidden.shape[1]
    for i in range(len(hidden)):
        first, end = firsts[i], firsts[i + 1]
        total = np.float32(0)
        for m in range(first, end):
            total += gradient[m]
        seen, of_seen = hidden[i], of_hidden[i]
        for m in range(first, end):
            share = gradient[m] - total * np.exp(chosen[m])
            pair, third = labels[m] // len(of_bias_2), labels[m] % len(of_bias_2)
            move, second = pair // len(of_bias_1), pair % len(of_bias_1)
            of_bias[move] += share
            of_bias_1[second] += share
            of_bias_2[third] += share
            row, of_row = rows[move], of_rows[move]
            for j in range(width):
                of_seen[j] += share * row[j]
                of_row[j] += share * seen[j]
