"""tensorflow.python.ops.weights_broadcast_ops: weights of the shape of values, or with sizes of one."""

from weir import _weir
from weir.core.graph import convert_to_tensor
from weir.core.stack import get_default_graph as _graph


def assert_broadcastable(weights, values):
    """An operation that fails when ``weights`` cannot be stretched to ``values``; ValueError when that is known now."""
    return _weir.assert_broadcastable(_graph(), weights, values)


def broadcast_weights(weights, values):
    """The weights in the shape of the values, and of their type."""
    values = convert_to_tensor(values, name="values")
    weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
    return _weir.broadcast_weights(_graph(), weights, values)
