"""tf.contrib.learn: its data sets; the rest is not there yet."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
