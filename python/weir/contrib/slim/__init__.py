"""tf.contrib.slim: layers, networks, data and loops in one namespace."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
