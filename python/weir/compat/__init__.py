"""tf.compat: text and bytes of Python 2 and 3, and the names of other releases."""

import collections.abc as collections_abc  # noqa: F401
import numbers as _numbers

import numpy as _np

from weir import names as _names
from weir.core.tensor_shape import Dimension as _Dimension
from weir.core.text import as_bytes, as_str, as_str_any, as_text  # noqa: F401

integral_types = (_numbers.Integral, _np.integer)
real_types = (_numbers.Real, _np.integer, _np.floating)
complex_types = (_numbers.Complex, _np.number)
bytes_or_text_types = (bytes, str)


def path_to_str(path):
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


def dimension_value(dimension):
    """The size of a dimension, which is one of TensorFlow 1's objects or a number of TensorFlow 2's shapes already."""
    return dimension.value if isinstance(dimension, _Dimension) else dimension


def dimension_at_index(shape, index):
    """A dimension of a shape, unknown where the rank is."""
    return _Dimension(None) if shape.ndims is None else _Dimension(dimension_value(shape[index]))


__getattr__, __dir__ = _names.namespace(__name__)
