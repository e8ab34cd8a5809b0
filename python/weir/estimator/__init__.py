"""tf.estimator: models that train, evaluate, predict and export themselves."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
