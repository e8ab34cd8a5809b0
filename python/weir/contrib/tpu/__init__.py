"""tf.contrib.tpu, as programs use it on other processors: TPUEstimator with use_tpu=False and what it takes."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
