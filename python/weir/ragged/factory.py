"""Ragged tensors from nested lists, and placeholders for them."""

import numpy as np

from weir.core import dtypes
from weir.core.graph import name_scope
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops
from weir.ragged.tensor import _MOST_DIMENSIONS, RaggedTensor, RaggedTensorValue


def _depths(item):
    """How deep the numbers of a nested list lie (None: there are none), and how deep its lists go."""
    if not isinstance(item, (list, tuple, np.ndarray)) or isinstance(item, np.ndarray) and item.ndim == 0:
        return 0, 0
    scalar_depth, list_depth = None, 1
    for part in item:
        numbers, lists = _depths(part)
        if numbers is not None:
            if scalar_depth is not None and scalar_depth != numbers + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalar_depth = numbers + 1
        list_depth = max(list_depth, lists + 1)
    return scalar_depth, list_depth


def _even_shape(item):
    """The shape of a nested list if its parts were even, as far as the first of them tells."""
    shape = []
    while isinstance(item, (list, tuple, np.ndarray)):
        shape.append(len(item))
        if not len(item):
            break
        item = item[0]
    return tuple(shape)


def _default_inner_shape(pylist, ragged_rank):
    items = [pylist]
    for _ in range(ragged_rank):
        items = [part for item in items for part in item]
    inner = None
    for item in items:
        for part in item if isinstance(item, (list, tuple, np.ndarray)) else ():
            shape = _even_shape(part)
            if inner is not None and shape != inner:
                raise ValueError("inner values have inconsistent shape")
            inner = shape
    return inner or ()


def _array(values, dtype, inner_shape, of_numpy=False):
    """The values; without a type they have numpy's, or that of a tensor of them."""
    if dtype is None and not len(values):
        dtype = np.float64 if of_numpy else np.float32
    array = np.array(list(values), dtype=dtype)
    if dtype is None and not of_numpy:
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype)) if not isinstance(values, np.ndarray) else array
        if array.dtype.kind in "US":
            array = array.astype(object)
    return array.reshape((-1,) + tuple(inner_shape)) if array.size or not inner_shape else array.reshape((len(values),) + tuple(inner_shape))


def _value(pylist, dtype, ragged_rank, inner_shape, splits_type, of_numpy=False):
    """The flat values and the row splits of each ragged dimension, outermost first."""
    if isinstance(pylist, RaggedTensorValue):
        pylist = pylist.to_list()
    if not isinstance(pylist, (list, tuple, np.ndarray)):
        if ragged_rank not in (None, 0):
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape not in (None, ()):
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return np.array(pylist, dtype=dtype), []
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    if ragged_rank is not None and ragged_rank >= _MOST_DIMENSIONS:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: tensors have at most {_MOST_DIMENSIONS} dimensions")
    scalar_depth, list_depth = _depths(pylist)
    if scalar_depth is not None and list_depth > scalar_depth:
        raise ValueError("Invalid pylist=%s: empty list nesting is greater than scalar value nesting" % (pylist,))
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + 1 + len(inner_shape)
        if (scalar_depth is not None and expected != scalar_depth) or (scalar_depth is None and expected < list_depth):
            raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} and dim(inner_shape)={len(inner_shape)}")
    if ragged_rank is None:
        ragged_rank = list_depth - 1 if inner_shape is None else list_depth - 1 - len(inner_shape)
        ragged_rank = max(ragged_rank, 0)
    if inner_shape is None:
        if scalar_depth is not None and ragged_rank >= scalar_depth:
            raise ValueError(f"Invalid pylist={pylist}: pylist has scalar values depth {scalar_depth}, but "
                             f"ragged_rank={ragged_rank} requires scalar value depth greater than {ragged_rank}")
        inner_shape = _default_inner_shape(pylist, ragged_rank)
    nested, values = [], list(pylist)
    for _ in range(ragged_rank):
        splits = [0]
        for row in values:
            splits.append(splits[-1] + len(row))
        nested.append(np.array(splits, dtype=splits_type))
        values = [part for row in values for part in row]
    return _array(values, dtype, inner_shape, of_numpy), nested


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    splits_type = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    numpy_type = None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype
    with name_scope(name, "RaggedConstant", []):
        values, nested = _value(pylist, numpy_type, ragged_rank, inner_shape, splits_type)
        values = array_ops.constant(values, dtype=dtype)
        return RaggedTensor.from_nested_row_splits(values, nested, validate=False) if nested else values


def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    splits_type = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    values, nested = _value(pylist, dtype, ragged_rank, inner_shape, splits_type, of_numpy=True)
    for splits in reversed(nested):
        values = RaggedTensorValue(values, splits)
    return values


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    if not 0 <= ragged_rank < _MOST_DIMENSIONS:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}")
    with name_scope(name, "RaggedPlaceholder", []):
        result = array_ops.placeholder(dtype, TensorShape([None]).concatenate(TensorShape(value_shape)), "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = array_ops.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = RaggedTensor.from_row_splits(result, splits, validate=False)
        return result
