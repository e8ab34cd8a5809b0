"""Elements of ragged tensors by their places in more than one dimension, and ragged tensors with dimensions left out."""

from weir.core import dispatch, dtypes
from weir.core.graph import Tensor, control_dependencies, convert_to_tensor, name_scope
from weir.ops import array_ops, check_ops, control_flow_ops, math_ops
from weir.ragged.functions import concat, expand_dims, gather, tile, where
from weir.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, repeat as _repeat


def _together(*values):
    """The values as tensors whose rows are counted in one type."""
    values = [convert_to_tensor_or_ragged_tensor(value) for value in values]
    kinds = {value.row_splits.dtype for value in values if isinstance(value, RaggedTensor)}
    if len(kinds) < 2:
        return values
    return [value.with_row_splits_dtype(dtypes.int64) if isinstance(value, RaggedTensor) else value for value in values]


def _assert_same_splits(a, b):
    """The first, which fails in the run unless both have the same rows; ValueError where the graph shows it."""
    if a.row_splits is b.row_splits:
        return a
    sizes = [value.row_splits.shape[0].value for value in (a, b)]
    if None not in sizes and sizes[0] != sizes[1]:
        raise ValueError(f"Dimensions {sizes[1] - 1} and {sizes[0] - 1} are not compatible: "
                         "batch shape from indices does not match params shape")
    check = check_ops.assert_equal(a.row_splits, b.row_splits,
                                   message="batch shape from indices does not match params shape")
    with control_dependencies([check]):
        return RaggedTensor(a.values, array_ops.identity(a.row_splits), internal=True)


def _as_rows(dense, ragged_rank, like):
    dtype = like.row_splits.dtype if isinstance(like, RaggedTensor) else dtypes.int64
    return RaggedTensor.from_tensor(dense, ragged_rank=ragged_rank, row_splits_dtype=dtype)


def batch_gather(params, indices, name=None):
    """gather for each example: all dimensions of ``indices`` but the last are shared with ``params``."""
    with name_scope(name, "RaggedBatchGather", []):
        params, indices = _together(params, indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
            return array_ops.batch_gather(params, indices)
        if params.shape.ndims is not None and params.shape.ndims < rank:
            raise ValueError("batch shape from indices does not match params shape")
        if rank == 1:
            return gather(params, indices)
        if isinstance(indices, RaggedTensor):
            return _batch_gather_ragged(params, indices, rank)
        result = _batch_gather_ragged(params, _as_rows(indices, rank - 1, params), rank)
        if result.ragged_rank == rank - 1:  # rows as even as those of the indices
            sizes = array_ops.concat([array_ops.shape(indices), array_ops.shape(result.flat_values)[1:]], 0)
            result = array_ops.reshape(result.flat_values, sizes)
        return result


def _batch_gather_ragged(params, indices, rank):
    if not isinstance(params, RaggedTensor):
        params = _as_rows(params, 1, indices)
    indices = _assert_same_splits(indices, params) if rank > 2 else _same_rows(indices, params)
    if rank > 2:
        return indices.with_values(batch_gather(params.values, indices.values))
    starts = math_ops.cast(params.row_starts(), indices.dtype)
    return indices.with_values(gather(params.values, indices.values + _repeat(starts, indices.row_lengths())))


def _same_rows(indices, params):
    sizes = [value.row_splits.shape[0].value for value in (params, indices)]
    if None not in sizes and sizes[0] != sizes[1]:
        raise ValueError(f"Dimensions {sizes[0] - 1} and {sizes[1] - 1} are not compatible")
    return indices


def batch_gather_with_default(params, indices, default_value="", name=None):
    """batch_gather with ``default_value``, a scalar or a vector, where an index is outside."""
    with name_scope(name, "RaggedBatchGatherWithDefault", []):
        params, indices = _together(params, indices)
        default_value = convert_to_tensor(default_value)
        if default_value.shape.ndims not in (0, 1):
            raise ValueError('"default_value" must be a scalar or vector')
        if indices.shape.ndims is None:
            raise ValueError("Indices must have a known rank.")
        if params.shape.ndims is None:
            raise ValueError("Params must have a known rank.")
        if params.shape.ndims < indices.shape.ndims:
            raise ValueError("the rank of params must not be below that of indices")
        batch = indices.shape.ndims - 1
        if isinstance(params, RaggedTensor):
            lengths = expand_dims(params.row_lengths(axis=batch), -1) if batch else params.nrows()
            limits = math_ops.cast(lengths, indices.dtype)
            padded = _with_default_in_front(params, math_ops.cast(default_value, params.dtype), batch)
        else:
            sizes = array_ops.shape(params)
            front = array_ops.concat([sizes[:batch], [1], sizes[batch + 1:]], 0)
            limits = math_ops.cast(sizes[batch], indices.dtype)
            padded = array_ops.concat([array_ops.broadcast_to(math_ops.cast(default_value, params.dtype), front), params],
                                      batch)
        outside = math_ops.logical_or(indices < 0, indices >= limits)
        return batch_gather(padded, where(outside, array_ops.zeros_like(indices), indices + 1))


def _with_default_in_front(params, default, batch):
    """The ragged tensor with one more element before those of each row of the dimension ``batch``."""
    if batch > 1:
        return params.with_values(_with_default_in_front(params.values, default, batch - 1)
                                  if isinstance(params.values, RaggedTensor) else params.values)
    one = array_ops.reshape(default, array_ops.concat([[1] * (params.ragged_rank - default.shape.ndims + _inner(params)),
                                                       array_ops.shape(default)], 0)[-(_inner(params) + 1):])
    rest = params.values if batch else params
    front = one
    for _ in range(rest.ragged_rank if isinstance(rest, RaggedTensor) else 0):
        front = RaggedTensor(front, array_ops.constant([0, 1], dtype=params.row_splits.dtype), internal=True)
    if not batch:
        return concat([front, params], 0)
    count = params.nrows()
    fronts = gather(front, array_ops.zeros([count], dtype=dtypes.int32))
    return concat([RaggedTensor(fronts, math_ops.range(count + 1), internal=True), params], 1)


def _inner(ragged):
    return (ragged.flat_values.shape.ndims or 1) - 1


def gather_nd(params, indices, batch_dims=0, name=None):
    """The parts of ``params`` that the tuples in the last dimension of ``indices`` say."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGatherNd", []):
        params, indices = _together(params, indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("indices.rank be statically known.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if isinstance(indices, RaggedTensor) and rank == indices.ragged_rank + 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
            return array_ops.gather_nd(params, indices)
        size = indices.shape[-1].value
        if size is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if rank > 2:
            return _gather_nd_deep(params, indices, rank)
        if size == 0:
            return _repeated(params, indices, rank)
        if size == 1:
            return gather(params, array_ops.reshape(indices, array_ops.shape(indices)[:-1]))
        return _gather_nd_flat(params, math_ops.cast(indices, params.row_splits.dtype), size)


def _gather_nd_deep(params, indices, rank):
    rows = indices if isinstance(indices, RaggedTensor) else _as_rows(indices, rank - 2, params)
    result = rows.with_flat_values(gather_nd(params, rows.flat_values))
    if rows is not indices and result.ragged_rank == rank - 2:
        result = result.to_tensor()
    return result


def _repeated(params, indices, rank):
    """Tuples of nothing: the whole for each."""
    whole = params
    for _ in range(rank - 1):
        whole = expand_dims(whole, 0)
    inner = array_ops.ones(array_ops.expand_dims(params.ragged_rank + array_ops.rank(params.flat_values), 0), dtypes.int32)
    return tile(whole, array_ops.concat([array_ops.shape(indices)[:-1], inner], 0))


def _gather_nd_flat(params, indices, size):
    places, values = array_ops.gather(params.row_splits, indices[..., 0]) + indices[..., 1], params.values
    for d in range(2, size):
        if not isinstance(values, RaggedTensor):
            rest = array_ops.concat([array_ops.expand_dims(places, -1), indices[..., d:]], -1)
            return array_ops.gather_nd(values, rest)
        places, values = array_ops.gather(values.row_starts(), places) + indices[..., d], values.values
    return gather(values, places)


def squeeze(input, axis=None, name=None):
    """A ragged tensor without dimensions that have size 1 in every row; which ones must be said."""
    with name_scope(name, "RaggedSqueeze", []):
        input = convert_to_tensor_or_ragged_tensor(input)
        if isinstance(input, Tensor):
            return array_ops.squeeze(input, axis)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        axes = [axis] if isinstance(axis, int) else axis
        if not isinstance(axes, (list, tuple)) or not all(isinstance(d, int) for d in axes):
            raise TypeError("Axis must be a list or tuple of integers.")
        axes = {input._positive_axis(d) for d in axes}
        ragged = input.ragged_rank
        checks = [_one_each(lengths, d + 1) for d, lengths in enumerate(input.nested_row_lengths()) if d + 1 in axes]
        if 0 in axes:
            checks.append(_one_each(array_ops.expand_dims(input.nrows(), 0), 0))
        with control_dependencies(checks):
            flat = array_ops.identity(input.flat_values)
        dense = [d - ragged for d in sorted(axes) if d > ragged]
        if dense:
            flat = array_ops.squeeze(flat, dense)
        kept = [splits for d, splits in enumerate(input.nested_row_splits) if d + 1 not in axes]
        if kept and 0 in axes:
            kept = kept[1:]
        result = RaggedTensor.from_nested_row_splits(flat, kept, validate=False) if kept else flat
        return array_ops.squeeze(result, [0]) if axes.issuperset(range(ragged + 1)) else result


def _one_each(lengths, axis):
    return control_flow_ops.Assert(math_ops.reduce_all(math_ops.equal(lengths, 1)),
                                   [f"the given axis (axis = {axis}) is not squeezable!"])


def _squeeze(input, axis=None, name=None, squeeze_dims=None):
    return squeeze(input, squeeze_dims if axis is None else axis, name)


def _gather_nd(params, indices, name=None, batch_dims=0):
    return gather_nd(params, indices, batch_dims, name)


def _batch_gather(params, indices, name=None, batch_dims=None, axis=None):
    return batch_gather(params, indices, name)


dispatch.register((), {"batch_gather": _batch_gather, "gather_nd": _gather_nd, "squeeze": _squeeze})
