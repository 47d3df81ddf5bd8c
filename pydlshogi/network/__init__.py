"""The policy-value networks and the frameworks that run them: packed positions in, priors and win rates out.

Here are the words by which a user chooses what runs a network, and where; `loading.load_backend` says what they mean.
Options are made of them, so nothing heavy is imported.
"""

from typing import Final

BACKENDS: Final = ("auto", "winograd", "onnx", "openvino", "chainer", "torch", "sparse")
DEVICES: Final = ("auto", "cpu", "gpu", "tensorrt")
PRECISIONS: Final = ("auto", "float32", "half")
