"""tf.saved_model: models to give to others."""

from weir import names

__getattr__, __dir__ = names.namespace(__name__)
