"""tf.data.experimental and tf.contrib.data: transformations for ``Dataset.apply``, and what is built of them."""

from weir import names

__getattr__, __dir__ = names.namespace(__name__)
