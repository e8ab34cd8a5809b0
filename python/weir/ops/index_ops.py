"""Which element goes where, worked out by arithmetic."""

from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.ops import array_ops, math_ops


def repeat(input, repeats, axis=None, name=None):
    """Each element ``repeats`` times: a number for all."""
    with name_scope(name, "Repeat", [input, repeats]):
        input = convert_to_tensor(input, name="data")
        if axis is None:
            input, axis = array_ops.reshape(input, [-1]), 0
        counts = convert_to_tensor(repeats, dtypes.int32 if not isinstance(repeats, Tensor) else None, name="repeats")
        size = array_ops.shape(input)[axis]
        if counts.shape.ndims == 0:
            counts = array_ops.fill([size], counts)
        mask = array_ops.sequence_mask(counts, math_ops.reduce_max(counts))
        owners = array_ops.boolean_mask(array_ops.tile(array_ops.expand_dims(math_ops.range(size), 1), array_ops.stack([1, array_ops.shape(mask)[1]])), mask)
        return array_ops.gather(input, owners, axis=axis)


def unravel_index(indices, dims, name=None):
    """Coordinates in a tensor of sizes ``dims`` of places in its flattened form."""
    with name_scope(name, "unravel_index", [indices, dims]):
        indices = convert_to_tensor(indices, name="indices")
        dims = convert_to_tensor(dims, indices.dtype.base_dtype if not isinstance(dims, Tensor) else None, name="dims")
        strides = math_ops.cumprod(dims, exclusive=True, reverse=True)
        column = [-1] + [1] * indices.shape.ndims
        return math_ops.floormod(math_ops.floordiv(array_ops.expand_dims(indices, 0), array_ops.reshape(strides, column)),
                                 array_ops.reshape(dims, column))
