"""tensorflow.python.ops.gradient_checker_v2: gradients of a function of arrays, in theory and by differences."""

import numpy as np

from weir import test
from weir.core import stack
from weir.core.session import Session
from weir.core.tensor import Tensor
from weir.core.values import IndexedSlicesValue
from weir.ops.array_ops import placeholder, shape as shape_of


def _to_numpy(value):
    """A fetched value as an array: the rows of IndexedSlices in their places."""
    if not isinstance(value, IndexedSlicesValue):
        return value
    dense = np.zeros(value.dense_shape, value.values.dtype)
    np.add.at(dense, value.indices, value.values)
    return dense


def compute_gradient(f, x, delta=None):
    """The Jacobians of ``f(*x)`` by each of the arrays ``x``: a list from its gradients, and one from differences."""
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list of Tensors (arrays, Python numbers, etc.)")
    session = stack.get_default_session()
    if session is None:
        with Session() as session:
            return compute_gradient(f, x, delta)
    values = [session.run(value) if isinstance(value, Tensor) else np.asarray(value) for value in x]
    inputs = [placeholder(value.dtype, value.shape) for value in values]
    result = f(*inputs)
    shape = session.run(shape_of(result), dict(zip(inputs, values)))
    if delta is None:
        delta = 1.0 / 1024
    pairs = test.compute_gradient(inputs, [value.shape for value in values], result, list(shape), values, delta,
                                  extra_feed_dict=dict(zip(inputs, values)))
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def max_error(grad1, grad2):
    """The greatest difference between two lists of Jacobians."""
    return max((float(np.abs(a - b).max()) for a, b in zip(grad1, grad2) if a.size), default=0.0)
