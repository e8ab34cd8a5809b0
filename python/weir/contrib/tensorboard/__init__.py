"""tf.contrib.tensorboard: what programs write for TensorBoard's plugins."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
