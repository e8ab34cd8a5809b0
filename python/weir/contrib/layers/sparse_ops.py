"""tensorflow.contrib.layers.python.ops: sparse tensors of dense ones, and crosses of columns."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.ops import array_ops, math_ops, sparse_functions
from weir.ops.sparse_ops import SparseTensor


def _ignored(tensor, value):
    """What does not count in a tensor."""
    dtype = tensor.dtype.base_dtype
    if value is None:
        value = "" if dtype == dtypes.string else dtype.as_numpy_dtype(0)
    return convert_to_tensor(value, dtype=dtype)


def dense_to_sparse_tensor(dense_tensor, ignore_value=None):
    """The elements that are not ``ignore_value``: by default not 0, not False, not ""."""
    with name_scope(None, "DenseToSparseTensor", [dense_tensor]):
        dense = convert_to_tensor(dense_tensor)
        indices = array_ops.where(math_ops.not_equal(dense, _ignored(dense, ignore_value)))
        return SparseTensor(indices, array_ops.gather_nd(dense, indices), array_ops.shape(dense, out_type=dtypes.int64))


def sparse_feature_cross(inputs, hashed_output=False, num_buckets=0, name=None, hash_key=None):
    """All combinations of the values of columns, joined by "_X_" or hashed."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(value, SparseTensor) or hasattr(value, "dtype") for value in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    return sparse_functions._cross(inputs, hashed_output, num_buckets, hash_key, name)


def indicators_to_sparse_ids(indicators, ignore_value=None, dtype=dtypes.int64):
    """For each row the places of the elements that count, moved to its front."""
    if not dtype.is_integer:
        raise ValueError(f"Invalid dtype {dtype} not integer.")
    with name_scope(None, "indicators_to_sparse_ids", (indicators, ignore_value)):
        indicators = convert_to_tensor(indicators, name="indicators")
        there = math_ops.cast(math_ops.not_equal(indicators, _ignored(indicators, ignore_value)), dtypes.int64)
        numbers = there * math_ops.cumsum(there, axis=-1)  # from 1
        found = dense_to_sparse_tensor(numbers, ignore_value=0)
        longest = array_ops.reshape(math_ops.reduce_max(numbers), [1])
        places = array_ops.concat([found.indices[:, :-1], array_ops.reshape(found.values - 1, [-1, 1])], 1)
        return SparseTensor(places, math_ops.cast(found.indices[:, -1], dtype),
                            array_ops.concat([found.dense_shape[:-1], longest], 0))


def sparse_row_envelope(sparse_input, row_axis=0, col_axis=1, name=None):
    """For each row one more than its last column."""
    if not (isinstance(row_axis, int) and isinstance(col_axis, int)):
        raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows = math_ops.cast(sparse_input.dense_shape[row_axis], dtypes.int32)
        ends = math_ops.unsorted_segment_max(sparse_input.indices[:, col_axis] + 1, sparse_input.indices[:, row_axis], rows)
        return math_ops.maximum(ends, array_ops.zeros_like(ends))
