"""tensorflow.python.framework.type_spec: what values of a kind have in common, and what tells it of a value."""

import numpy as np

from weir.core.conversion import convert_to_tensor
from weir.core.graph import Graph
from weir.core.tensor import Tensor
from weir.core.type_spec import (TypeSpec, register_type_spec_from_value_converter,  # noqa: F401: asked for here
                                 type_spec_from_value as _told)
from weir.core.values import TensorSpec


def type_spec_from_value(value):
    """The TypeSpec of a value; TypeError when nothing tells it. Numbers and arrays are tensors."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    try:
        return _told(value)
    except TypeError:
        if not isinstance(value, (bool, int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic)):
            raise
    with Graph().as_default():
        tensor = convert_to_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype)
