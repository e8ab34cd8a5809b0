"""tf.metrics: values that are gathered over many batches."""

from weir import _lazy
from weir.metrics.streaming import *  # noqa: F401,F403

__getattr__ = _lazy.resolver(__name__, {})
