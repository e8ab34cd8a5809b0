"""tf.contrib.tensorboard: what programs write for TensorBoard's plugins."""

from weir.contrib.tensorboard import plugins  # noqa: F401
