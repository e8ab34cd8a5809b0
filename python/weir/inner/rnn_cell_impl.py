"""tensorflow.python.ops.rnn_cell_impl: what libraries with loops of their own reach for."""

from weir.core import dtypes, tensor_util
from weir.core.graph import Tensor
from weir.core.tensor_shape import as_shape
from weir.ops import array_ops


def _like_rnncell(cell):
    """Whether loops can call it."""
    return (callable(cell) and callable(getattr(cell, "zero_state", None))
            and all(hasattr(cell, name) for name in ("output_size", "state_size")))


def _known(part):
    """What is known of a number, a shape or a tensor of sizes, as a shape."""
    if not isinstance(part, Tensor):
        return as_shape(part)
    value = tensor_util.constant_value(part)
    return as_shape(None if value is None else value.reshape(-1).tolist())


def _sizes(part):
    if isinstance(part, Tensor):
        return array_ops.reshape(part, [-1])
    if not as_shape(part).is_fully_defined():
        raise ValueError(f"Provided a prefix or suffix of None: {part}")
    return array_ops.constant(as_shape(part).as_list(), dtypes.int32)


def _concat(prefix, suffix, static=False):
    """One shape after another: a tensor, or a list with None for what is not known (None for an unknown rank)."""
    if not static:
        return array_ops.concat([_sizes(prefix), _sizes(suffix)], 0)
    shape = _known(prefix).concatenate(_known(suffix))
    return None if shape.ndims is None else shape.as_list()
