"""The residual policy-value network as a Chainer chain: one convolution, residual blocks, then two heads.

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
    """Residual blocks, in the book four (its `blocks=5` builds them) of 192 channels.

    Called with planes float32 [B, planes, height, width] it gives the raw logits: policy [B, labels], value [B, 1].
    """

    def __init__(self, size: Architecture) -> None:
        super().__init__()
        self.size = size
        with self.init_scope():
            self.l1 = L.Convolution2D(size.planes, size.channels, ksize=3, pad=1)
            for block in range(1, size.depth + 1):
                setattr(self, f"b{block}", Block(size.channels))
            self.policy = L.Convolution2D(size.channels, size.label_planes, ksize=1, nobias=True)
            self.policy_bias = L.Bias(shape=bias_shape(size))
            self.value1 = L.Convolution2D(size.channels, size.label_planes, ksize=1)
            self.value1_bn = L.BatchNormalization(size.label_planes)
            self.value2 = L.Linear(size.labels, HIDDEN)
            self.value3 = L.Linear(HIDDEN, 1)

    def forward(self, planes: Any) -> tuple[Any, Any]:
        h = F.relu(self.l1(planes))
        for block in range(1, self.size.depth + 1):
            h = self[f"b{block}"](h)
        policy = self.policy_bias(F.reshape(self.policy(h), (-1, *bias_shape(self.size))))
        value = self.value3(F.relu(self.value2(F.relu(self.value1_bn(self.value1(h))))))
        return F.reshape(policy, (-1, self.size.labels)), value
