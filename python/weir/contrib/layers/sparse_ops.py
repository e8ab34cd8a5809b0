"""tensorflow.contrib.layers.python.ops: sparse tensors of dense ones, and crosses of columns."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.ops import array_ops, math_ops, sparse_functions
from weir.ops.sparse_ops import SparseTensor


def dense_to_sparse_tensor(dense_tensor, ignore_value=None):
    """The elements that are not ``ignore_value``: by default not 0, not False, not ""."""
    with name_scope(None, "DenseToSparseTensor", [dense_tensor]):
        dense = convert_to_tensor(dense_tensor)
        dtype = dense.dtype.base_dtype
        if ignore_value is None:
            ignore_value = "" if dtype == dtypes.string else dtype.as_numpy_dtype(0)
        indices = array_ops.where(math_ops.not_equal(dense, convert_to_tensor(ignore_value, dtype=dtype)))
        return SparseTensor(indices, array_ops.gather_nd(dense, indices), array_ops.shape(dense, out_type=dtypes.int64))


def sparse_feature_cross(inputs, hashed_output=False, num_buckets=0, name=None, hash_key=None):
    """All combinations of the values of columns, joined by "_X_" or hashed."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(value, SparseTensor) or hasattr(value, "dtype") for value in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    return sparse_functions._cross(inputs, hashed_output, num_buckets, hash_key, name)
