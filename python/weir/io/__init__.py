"""tf.io: reading and writing. A package, because modules below it have type stubs of their own."""

from weir import names

__getattr__, __dir__ = names.namespace(__name__)
