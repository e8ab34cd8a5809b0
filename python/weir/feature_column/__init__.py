"""tf.feature_column: what the columns of a table are, and the input of a model made of them."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
