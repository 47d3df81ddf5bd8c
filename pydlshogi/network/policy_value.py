"""The plain policy-value network as a Chainer chain: convolutions one after the other, then two heads.

Names and shapes of the parameters are those of the python-dlshogi book, so its `.npz` files load with
`chainer.serializers.load_npz`. The network knows neither devices nor files.
"""

from typing import Any

from pydlshogi.common import LABEL_PLANES, NUM_LABELS, NUM_PLANES
from pydlshogi.network.chainer_compat import import_chainer
from pydlshogi.network.weights import HIDDEN, PLAIN_LAYERS

chainer = import_chainer()
Chain: Any = chainer.Chain
F = chainer.functions
L = chainer.links


class PolicyValueNetwork(Chain):
    """Twelve convolutions of `channels` each.

    Called with planes float32 [B, 104, 9, 9] it gives the raw logits: policy [B, 2187] and value [B, 1].
    """

    def __init__(self, channels: int = 192) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Convolution2D(NUM_PLANES, channels, ksize=3, pad=1)
            for layer in range(2, PLAIN_LAYERS + 1):
                setattr(self, f"l{layer}", L.Convolution2D(channels, channels, ksize=3, pad=1))
            self.l13 = L.Convolution2D(channels, LABEL_PLANES, ksize=1, nobias=True)
            self.l13_bias = L.Bias(shape=(NUM_LABELS,))
            self.l13_v = L.Convolution2D(channels, LABEL_PLANES, ksize=1)
            self.l14_v = L.Linear(NUM_LABELS, HIDDEN)
            self.l15_v = L.Linear(HIDDEN, 1)

    def forward(self, planes: Any) -> tuple[Any, Any]:
        h = planes
        for layer in range(1, PLAIN_LAYERS + 1):
            h = F.relu(self[f"l{layer}"](h))
        policy = self.l13_bias(F.reshape(self.l13(h), (-1, NUM_LABELS)))
        value = self.l15_v(F.relu(self.l14_v(F.relu(self.l13_v(h)))))
        return policy, value
