"""tf.ragged. What functions do with ragged tensors is known once this is loaded."""

from weir import names as _names
from weir.ragged import functions as _functions, gathering as _gathering  # noqa: F401

__getattr__, __dir__ = _names.namespace(__name__)
