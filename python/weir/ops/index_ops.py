"""Which element goes where, worked out by arithmetic."""

from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.ops import array_ops, math_ops


def repeat(input, repeats, axis=None, name=None):
    """Each element along the axis as often as ``repeats`` says, a number for all or one for each; without an axis each
    element of the flattened input."""
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [input, repeats]):
        input = convert_to_tensor(input, name="data")
        kinds = (dtypes.as_dtype("int32"), dtypes.as_dtype("int64"))
        counts = convert_to_tensor(repeats, dtypes.int32 if not isinstance(repeats, Tensor) else None, name="repeats")
        if counts.dtype.base_dtype not in kinds:
            counts = math_ops.cast(counts, dtypes.int32)
        counts.shape.with_rank_at_most(1)
        if axis is None:
            input, axis = array_ops.reshape(input, [-1]), 0
        input, counts = _at_least_a_vector(input), _at_least_a_vector(counts)
        rank = input.shape.ndims
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        if rank is None and axis < 0:
            raise ValueError(f"axis={axis} may only be negative if ndims is statically known.")
        axis = axis if axis >= 0 else axis + rank
        known, given = None if rank is None else input.shape[axis].value, counts.shape[0].value
        if None not in (known, given) and given not in (1, known):
            raise ValueError(f"Dimensions {known} and {given} are not compatible")
        size = math_ops.cast(array_ops.shape(input)[axis], counts.dtype)
        if given is None or given == 1:
            counts = array_ops.broadcast_to(counts, array_ops.stack([size]))
        longest = math_ops.reduce_max(array_ops.concat([counts, array_ops.zeros([1], dtype=counts.dtype)], 0))
        rows = array_ops.tile(array_ops.expand_dims(math_ops.range(size), 1),
                              array_ops.stack([array_ops.constant(1, dtype=counts.dtype), longest]))
        owners = array_ops.boolean_mask(rows, array_ops.sequence_mask(counts, longest))
        result = array_ops.gather(input, owners, axis=axis)
        if rank is not None:
            result.set_shape(input.shape[:axis].concatenate([None]).concatenate(input.shape[axis + 1:]))
        return result


def _at_least_a_vector(tensor):
    """A scalar as a vector of one element, anything else as it is."""
    if tensor.shape.ndims is None:
        sizes = array_ops.concat([[1], array_ops.shape(tensor)], 0)
        return array_ops.reshape(tensor, sizes[-math_ops.maximum(1, array_ops.rank(tensor)):])
    return array_ops.reshape(tensor, [1]) if tensor.shape.ndims == 0 else tensor


def unravel_index(indices, dims, name=None):
    """Coordinates in a tensor of sizes ``dims`` of places in its flattened form."""
    with name_scope(name, "unravel_index", [indices, dims]):
        indices = convert_to_tensor(indices, name="indices")
        dims = convert_to_tensor(dims, indices.dtype.base_dtype if not isinstance(dims, Tensor) else None, name="dims")
        strides = math_ops.cumprod(dims, exclusive=True, reverse=True)
        column = [-1] + [1] * indices.shape.ndims
        return math_ops.floormod(math_ops.floordiv(array_ops.expand_dims(indices, 0), array_ops.reshape(strides, column)),
                                 array_ops.reshape(dims, column))
