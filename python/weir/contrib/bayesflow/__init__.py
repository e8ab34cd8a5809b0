"""tf.contrib.bayesflow of TensorFlow 0.12 to 1.x: values that distributions draw, losses that learn through them, and
Monte Carlo estimates of what distributions have no formula for."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
