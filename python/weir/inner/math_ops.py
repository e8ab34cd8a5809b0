"""What libraries and tests reach for in tensorflow.python.ops.math_ops beside its public functions."""

import weir
from weir.core import dtypes
from weir.core.graph import IndexedSlices, Tensor


def _as_indexed_slices(x, optimize=True):
    """A tensor as IndexedSlices of all its rows."""
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    shape = weir.shape(x)
    return IndexedSlices(x, weir.range(0, shape[0]), shape)


def _as_indexed_slices_list(inputs, optimize=True):
    """The same of a list, with indices of one type: int64 if any has it."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected a list or tuple, not a {type(inputs)}")
    slices = [_as_indexed_slices(x, optimize) for x in inputs]
    if all(part.indices.dtype == dtypes.int32 for part in slices):
        return slices
    return [IndexedSlices(part.values, weir.cast(part.indices, dtypes.int64), part.dense_shape) for part in slices]


def reduced_shape(input_shape, axes):
    """The shape of a reduction with keep_dims: 1 for the axes that are reduced."""
    input_shape = weir.to_int32(input_shape)
    axes = weir.to_int32(axes)
    rank = weir.size(input_shape)
    axes = weir.reshape((axes + rank) % rank, [-1])
    return weir.dynamic_stitch([weir.range(rank), axes], [input_shape, weir.ones_like(axes)])
