"""The plain policy-value network as a Chainer chain: convolutions one after the other, then two heads.

Names and shapes of the parameters are those of the python-dlshogi book, so its `.npz` files load with
`chainer.serializers.load_npz`. The network knows neither devices nor files.
"""

from typing import Any

from pydlshogi.network.architecture import HIDDEN, Architecture, bias_shape
from pydlshogi.network.chainer_compat import import_chainer

chainer = import_chainer()
Chain: Any = chainer.Chain
F = chainer.functions
L = chainer.links


class PolicyValueNetwork(Chain):
    """Twelve convolutions, in the book of 192 channels each.

    Called with planes float32 [B, planes, height, width] it gives the raw logits: policy [B, labels], value [B, 1].
    """

    def __init__(self, size: Architecture) -> None:
        super().__init__()
        self.size = size
        with self.init_scope():
            self.l1 = L.Convolution2D(size.planes, size.channels, ksize=3, pad=1)
            for layer in range(2, size.depth + 1):
                setattr(self, f"l{layer}", L.Convolution2D(size.channels, size.channels, ksize=3, pad=1))
            self.l13 = L.Convolution2D(size.channels, size.label_planes, ksize=1, nobias=True)
            self.l13_bias = L.Bias(shape=bias_shape(size))
            self.l13_v = L.Convolution2D(size.channels, size.label_planes, ksize=1)
            self.l14_v = L.Linear(size.labels, HIDDEN)
            self.l15_v = L.Linear(HIDDEN, 1)

    def forward(self, planes: Any) -> tuple[Any, Any]:
        h = planes
        for layer in range(1, self.size.depth + 1):
            h = F.relu(self[f"l{layer}"](h))
        policy = self.l13_bias(F.reshape(self.l13(h), (-1, *bias_shape(self.size))))
        value = self.l15_v(F.relu(self.l14_v(F.relu(self.l13_v(h)))))
        return F.reshape(policy, (-1, self.size.labels)), value
