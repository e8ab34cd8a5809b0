"""tf.contrib.util"""

from weir import _lazy
from weir.core.tensor_util import constant_value, make_ndarray, make_tensor_proto  # noqa: F401

__getattr__ = _lazy.resolver(__name__, {})
