"""tf.distribute: one model on several devices, as towers of one graph."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
