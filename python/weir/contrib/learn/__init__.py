"""tf.contrib.learn: estimators of before tf.estimator, with what belongs to them."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
