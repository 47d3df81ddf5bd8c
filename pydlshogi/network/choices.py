"""The words by which a user chooses what runs a network, and where; `loading.load_backend` says what they mean.

Light, for options are made of them: nothing heavy is imported.
"""

from typing import Final

BACKENDS: Final = ("auto", "winograd", "onnx", "openvino", "chainer", "torch", "sparse")
DEVICES: Final = ("auto", "cpu", "gpu", "tensorrt")
PRECISIONS: Final = ("auto", "float32", "half")
