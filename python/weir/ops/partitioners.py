"""How large variables are cut into parts, and the variables that are made so."""

import math

from weir.core import dtypes
from weir.core.tensor_shape import TensorShape
from weir.core.variable_scope import _get_partitioned_variable, variable_scope


def fixed_size_partitioner(num_shards, axis=0):
    """``num_shards`` parts along ``axis``."""

    def partitioner(shape, **unused):
        parts = [1] * len(shape)
        parts[axis] = min(num_shards, TensorShape(shape).as_list()[axis])
        return parts

    return partitioner


def _parts(shape, axis, wanted):
    parts = [1] * len(shape)
    parts[axis] = max(1, min(wanted, shape[axis]))
    return parts


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """Parts of at most ``max_shard_bytes``."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape, dtype):
        shape, dtype = TensorShape(shape).as_list(), dtypes.as_dtype(dtype)
        element = bytes_per_string_element if dtype == dtypes.as_dtype("string") else dtype.size
        slice_bytes = element * math.prod(size for i, size in enumerate(shape) if i != axis)
        each = max(1, max_shard_bytes // slice_bytes)
        count = math.ceil(shape[axis] / each)
        return _parts(shape, axis, min(count, max_shards) if max_shards else count)

    return partitioner


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """As many parts as there can be of at least ``min_slice_size`` bytes, at most ``max_partitions``."""
    if max_partitions < 1 or min_slice_size < 1:
        raise ValueError("max_partitions and min_slice_size must be positive.")

    def partitioner(shape, dtype):
        shape, dtype = TensorShape(shape).as_list(), dtypes.as_dtype(dtype)
        element = bytes_per_string_element if dtype == dtypes.as_dtype("string") else dtype.size
        wanted = max(1, math.ceil(element * math.prod(shape) / min_slice_size))
        return _parts(shape, axis, min(wanted, max_partitions))

    return partitioner


def create_partitioned_variables(shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None,
                                 name=None, reuse=None):
    """A list of variables, the parts of one of ``shape`` cut as ``slicing`` says."""
    if len(shape) != len(slicing):
        raise ValueError(f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, "
                         f"slicing: {slicing}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        return list(_get_partitioned_variable("", shape=shape, dtype=dtype, initializer=initializer,
                                              trainable=trainable, collections=collections,
                                              partitioner=lambda **unused: list(slicing)))
