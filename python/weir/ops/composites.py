"""Values that are not one tensor, as loops and branches carry them: the parts of each, and back."""

from weir import _weir
from weir.core import dtypes
from weir.core.tensor import IndexedSlices, Tensor
from weir.core.tensor_shape import TensorShape
from weir.core.values import TensorSpec
from weir.ops.sparse_ops import SparseTensor
from weir.ops.tensor_array_ops import TensorArray


def parts(value):
    """The tensors that a value consists of: the flow of an array, what IndexedSlices and SparseTensor hold, or itself."""
    if isinstance(value, TensorArray):
        return [value.flow]
    if isinstance(value, IndexedSlices):
        return [value.values, value.indices] + ([] if value.dense_shape is None else [value.dense_shape])
    if isinstance(value, SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [value]


def like(original, tensors):
    """A value of the same kind as ``original`` that consists of ``tensors``."""
    if isinstance(original, TensorArray):
        return original._with_flow(tensors[0])
    if isinstance(original, (IndexedSlices, SparseTensor)):
        return type(original)(*tensors)
    return tensors[0]


def kind(value):
    """Values of one kind have the same parts."""
    for kind in (TensorArray, IndexedSlices, SparseTensor):
        if isinstance(value, kind):
            return kind, len(parts(value))
    return Tensor, 1


def map_parts(function, value):
    """The value with each of its parts replaced by what ``function`` makes of it."""
    return like(value, [function(part) for part in parts(value)])


def invariants(variable, shape):
    """For each part of a loop variable, the sizes that stay the same in all iterations.

    ``shape`` is what the program says: of the tensor, of the values of IndexedSlices, of the ``dense_shape`` of a
    SparseTensor. None where it says nothing; then no size changes, except how many values a SparseTensor has.
    """
    if isinstance(shape, TensorSpec):
        if kind(variable)[0] is not Tensor or not shape.dtype.is_compatible_with(_dtype(variable)):
            raise TypeError(f"The shape invariant {shape} does not describe the loop variable {variable}.")
        shape = shape.shape
    if isinstance(variable, TensorArray):
        return [()]  # a flow is a scalar
    if isinstance(variable, SparseTensor):
        size = variable.dense_shape.shape if shape is None else TensorShape(shape)
        size = size.with_rank(1)
        rank = size.as_list()[0]
        return [(None, rank), (None,), (rank,)]
    if shape is None:
        return [_own_shape(part) for part in parts(variable)]
    shape = TensorShape(shape)
    if not isinstance(variable, IndexedSlices):
        return [shape._dims]
    return [shape._dims, shape[:1]._dims, (shape.ndims,)][:len(parts(variable))]


def _dtype(value):
    if isinstance(value, (Tensor, _weir.Variable)):
        return value.dtype.base_dtype
    import numpy as np

    return dtypes.as_dtype(np.asarray(value).dtype)


def _own_shape(value):
    if isinstance(value, (Tensor, _weir.Variable)):
        return value.shape._dims
    import numpy as np

    return np.shape(value)
