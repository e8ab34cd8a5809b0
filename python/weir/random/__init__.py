"""tf.random: its names are rows of the table."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
