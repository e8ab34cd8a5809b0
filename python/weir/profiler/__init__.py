"""tf.profiler: how many numbers a graph computes and how many parameters it has."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
