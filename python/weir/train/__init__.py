"""tf.train: optimizers, schedules, checkpoints, and what keeps training going."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
