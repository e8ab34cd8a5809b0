"""tf.distributions and tf.contrib.distributions: random variables with their densities, moments and samples."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)
