"""Ragged tensors as dense ones and back, of either kind: what tensorflow.python.ops.ragged has as functions."""

from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.tensor_util import constant_value_as_shape
from weir.ops import array_ops, index_ops, math_ops
from weir.ragged.tensor import RaggedTensor, is_ragged


def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=dtypes.int64, name=None):
    """RaggedTensor.from_tensor of what is not ragged already."""
    if is_ragged(tensor):
        return tensor
    return RaggedTensor.from_tensor(tensor, lengths=lengths, padding=padding, ragged_rank=ragged_rank,
                                    row_splits_dtype=row_splits_dtype, name=name)


def to_tensor(rt_input, default_value=None, name=None):
    """The dense tensor of what is ragged, and of what is not."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def to_sparse(rt_input, name=None):
    return rt_input.to_sparse(name)


def from_sparse(st_input, name=None):
    return RaggedTensor.from_sparse(st_input, name)


def ragged_to_dense(rt_input, default_value=None, shape=None):
    """A dense tensor of the shape, cut or filled up; what the shape leaves open the longest row decides."""
    with name_scope(None, "RaggedToDense", []):
        if default_value is None:
            default_value = "" if rt_input.dtype == dtypes.string else array_ops.zeros([], rt_input.dtype)
        default_value = convert_to_tensor(default_value, dtype=rt_input.dtype, name="default_value")
        dtype, static = rt_input.row_splits.dtype, rt_input.shape
        if isinstance(shape, Tensor):
            wanted, static = math_ops.cast(shape, dtype), constant_value_as_shape(shape)
        elif shape is None:
            wanted = array_ops.constant(-1, dtype=dtype)
        else:
            static = TensorShape(shape)
            wanted = array_ops.constant(-1 if static.ndims is None else
                                        [-1 if size is None else size for size in static.as_list()], dtype=dtype)
        splits = list(rt_input.nested_row_splits)
        result = apply("RaggedTensorToTensor", (wanted, rt_input.flat_values, default_value, splits),
                       {"row_partition_types": ["ROW_SPLITS"] * len(splits)}, None)
        result.set_shape(static)
        return result


def repeat(data, repeats, axis, name=None):
    """tf.repeat along an axis that must be said."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    return index_ops.repeat(data, repeats, axis, name)
