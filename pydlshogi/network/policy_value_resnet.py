"""The residual policy-value network as a Chainer chain: one convolution, residual blocks, then two heads.

Names and shapes of the parameters are those of the python-dlshogi book, so its `.npz` files load with
`chainer.serializers.load_npz`. The network knows neither devices nor files.
"""

from typing import Any

from pydlshogi.common import LABEL_PLANES, NUM_LABELS, NUM_PLANES
from pydlshogi.network.chainer_compat import import_chainer
from pydlshogi.network.weights import HIDDEN

chainer = import_chainer()
Chain: Any = chainer.Chain
F = chainer.functions
L = chainer.links


class Block(Chain):
    """Residual block: two convolutions with batch normalisation, the input added before the last ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(channels, channels, ksize=3, pad=1, nobias=True)
            self.bn1 = L.BatchNormalization(channels)
            self.conv2 = L.Convolution2D(channels, channels, ksize=3, pad=1, nobias=True)
            self.bn2 = L.BatchNormalization(channels)

    def forward(self, x: Any) -> Any:
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(h)))


class PolicyValueResnet(Chain):
    """`blocks` residual blocks of `channels` (the book's `blocks=5` builds four, the default here).

    Called with planes float32 [B, 104, 9, 9] it gives the raw logits: policy [B, 2187] and value [B, 1].
    """

    def __init__(self, blocks: int = 4, channels: int = 192) -> None:
        super().__init__()
        self.blocks = blocks
        with self.init_scope():
            self.l1 = L.Convolution2D(NUM_PLANES, channels, ksize=3, pad=1)
            for block in range(1, blocks + 1):
                setattr(self, f"b{block}", Block(channels))
            self.policy = L.Convolution2D(channels, LABEL_PLANES, ksize=1, nobias=True)
            self.policy_bias = L.Bias(shape=(NUM_LABELS,))
            self.value1 = L.Convolution2D(channels, LABEL_PLANES, ksize=1)
            self.value1_bn = L.BatchNormalization(LABEL_PLANES)
            self.value2 = L.Linear(NUM_LABELS, HIDDEN)
            self.value3 = L.Linear(HIDDEN, 1)

    def forward(self, planes: Any) -> tuple[Any, Any]:
        h = F.relu(self.l1(planes))
        for block in range(1, self.blocks + 1):
            h = self[f"b{block}"](h)
        policy = self.policy_bias(F.reshape(self.policy(h), (-1, NUM_LABELS)))
        value = self.value3(F.relu(self.value2(F.relu(self.value1_bn(self.value1(h))))))
        return policy, value
