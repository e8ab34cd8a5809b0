"""What functions of TensorFlow do with ragged tensors: element by element, along rows, and with rows themselves."""

import builtins
import functools

import numpy as np

from weir import _weir
from weir.core import dispatch, dtypes
from weir.core.graph import Tensor, control_dependencies, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_util import constant_value
from weir.ops import array_ops, check_ops, math_ops
from weir.ragged.tensor import (RaggedTensor, RaggedTensorValue, _cumulated, convert_to_tensor_or_ragged_tensor, is_ragged, repeat)


def _ragged_parts(value):
    """The ragged tensors in an argument, which may be a list of them."""
    if is_ragged(value):
        return [convert_to_tensor_or_ragged_tensor(value)]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in _ragged_parts(item)]
    return []


def map_flat_values(op, *args, **kwargs):
    """The function of the flat values of all ragged arguments, which must have equal rows."""
    first = _ragged_parts(args) + _ragged_parts(list(kwargs.values()))
    if not first:
        return op(*args, **kwargs)

    checks = [check for other in first[1:] for check in _same_splits(first[0], other)]

    def flat(value):
        if is_ragged(value):
            values = convert_to_tensor_or_ragged_tensor(value).flat_values
            with control_dependencies(checks):
                return array_ops.identity(values) if checks else values
        return type(value)(flat(part) for part in value) if isinstance(value, (list, tuple)) else value

    result = op(*[flat(arg) for arg in args], **{key: flat(value) for key, value in kwargs.items()})
    return first[0].with_flat_values(result)


def _same_splits(one, other):
    """What fails in the run unless both have the same rows; ValueError where the graph shows it."""
    if one.ragged_rank != other.ragged_rank:
        raise ValueError("Inputs must have identical ragged splits")
    pairs = [(a, b) for a, b in zip(one.nested_row_splits, other.nested_row_splits) if a is not b]
    if not all(a.shape.is_compatible_with(b.shape) for a, b in pairs):
        raise ValueError("Inputs must have identical ragged splits")
    return [check_ops.assert_equal(a, math_ops.cast(b, a.dtype), message="Inputs must have identical ragged splits")
            for a, b in pairs]


def _matched(x, y):
    """Two operands as ragged tensors of the same rows, or with one that broadcasts against flat values."""
    x, y = (convert_to_tensor_or_ragged_tensor(v) if is_ragged(v) else v for v in (x, y))
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        return x, y
    ragged, other = (x, y) if isinstance(x, RaggedTensor) else (y, x)
    dense = convert_to_tensor(other, dtype=None if hasattr(other, "dtype") else ragged.dtype.base_dtype)
    rank, full = dense.shape.ndims, ragged.shape.ndims
    if rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if rank > 0 and rank > (0 if full is None else full - ragged.ragged_rank - 1):
        # A value for each row stands beside every element of it.
        if rank == full and all(size == 1 for size in dense.shape.as_list()[1:]):
            dense = _beside_rows(ragged, array_ops.reshape(dense, [-1]))
        else:
            raise ValueError(f"Unable to broadcast: shapes {dense.shape} and {ragged.shape}")
    return (ragged, dense) if ragged is x else (dense, ragged)


def _beside_rows(ragged, values):
    for splits in ragged.nested_row_splits:
        values = repeat(values, splits[1:] - splits[:-1])
    extra = (ragged.flat_values.shape.ndims or 1) - 1
    return array_ops.reshape(values, [-1] + [1] * extra)


_OPERANDS = frozenset(("pow", "truediv", "div", "divide", "div_no_nan", "floordiv", "complex"))


def _elementwise(function, *args, **kwargs):
    op = getattr(function, "_op", None)
    binary = len(_weir.op_spec(op)[0]) == 2 if op else function.__name__ in _OPERANDS
    if binary and len(args) == 2 and any(is_ragged(arg) for arg in args):
        args = _matched(*args)
    return map_flat_values(function, *args, **kwargs)


# Along rows.

def _reduced(segments, ragged, axis, keepdims=False, whole=None):
    """``segments(values, ids, count)`` reduces values with equal ids; ``whole(values)`` all of them."""
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    ragged = convert_to_tensor_or_ragged_tensor(ragged)
    if axis is None:
        return whole(ragged.flat_values)
    if isinstance(axis, (list, tuple)):
        if not axis:
            return ragged
        axes = sorted({ragged._positive_axis(a) for a in axis}, reverse=True)
        result = ragged
        for one in axes:
            result = _reduced(segments, result, one, whole=whole) if isinstance(result, RaggedTensor) else whole(result, one)
        return result
    axis = ragged._positive_axis(axis)
    values = ragged.values
    if axis == 0:
        lengths = ragged.row_lengths()
        places = math_ops.range(array_ops.shape(ragged.value_rowids(), out_type=lengths.dtype)[0]) - array_ops.gather(ragged.row_starts(), ragged.value_rowids())
        longest = math_ops.maximum(math_ops.reduce_max(array_ops.concat([lengths, array_ops.zeros([1], lengths.dtype)], 0)), math_ops.cast(0, lengths.dtype))
        return _segmented(segments, values, places, longest)
    if axis == 1:
        return _segmented(segments, values, ragged.value_rowids(), ragged.nrows())
    inner = _reduced(segments, values, axis - 1, whole=whole) if isinstance(values, RaggedTensor) else whole(values, axis - 1)
    return ragged.with_values(inner)


def _segmented(segments, values, ids, count):
    """Reduces rows of values, which may be ragged themselves: then element by element of the rows."""
    if not isinstance(values, RaggedTensor):
        return segments(values, ids, count)
    lengths = values.row_lengths()
    widths = math_ops.maximum(math_ops.unsorted_segment_max(lengths, ids, count), math_ops.cast(0, lengths.dtype))
    splits = _cumulated(widths)
    rowids = values.value_rowids()
    places = math_ops.range(array_ops.shape(rowids, out_type=lengths.dtype)[0]) - array_ops.gather(values.row_starts(), rowids)
    inner_ids = array_ops.gather(array_ops.gather(splits, ids), rowids) + places
    return RaggedTensor(_segmented(segments, values.values, inner_ids, splits[-1]), splits, internal=True)


def _mean(values, ids, count):
    ones = array_ops.ones_like(values)
    return math_ops.unsorted_segment_sum(values, ids, count) / math_ops.unsorted_segment_sum(ones, ids, count)


def _sqrt_n(values, ids, count):
    ones = array_ops.ones_like(values)
    return math_ops.unsorted_segment_sum(values, ids, count) / math_ops.sqrt(
        math_ops.unsorted_segment_sum(ones, ids, count))


def _all(values, ids, count):
    return math_ops.greater(math_ops.unsorted_segment_min(values, ids, count), 0)


def _any(values, ids, count):
    return math_ops.greater(math_ops.unsorted_segment_max(values, ids, count), 0)


_SEGMENTS = {"reduce_sum": math_ops.unsorted_segment_sum, "reduce_prod": math_ops.unsorted_segment_prod,
             "reduce_min": math_ops.unsorted_segment_min, "reduce_max": math_ops.unsorted_segment_max, "reduce_mean": _mean,
             "reduce_all": lambda v, i, n: _all(math_ops.cast(v, dtypes.int32), i, n),
             "reduce_any": lambda v, i, n: _any(math_ops.cast(v, dtypes.int32), i, n)}


def _reduction(name):
    plain = getattr(math_ops, name)

    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = reduction_indices if axis is None else axis
        return _reduced(_SEGMENTS[plain.__name__], input_tensor, axis, keepdims or keep_dims, plain)

    return reduce


def _unsorted(segments):
    """A function unsorted_segment_... of rows, or of elements when the numbers of the segments are ragged as well."""

    def reduce(data, segment_ids, num_segments, name=None):
        data, ids = convert_to_tensor_or_ragged_tensor(data), convert_to_tensor_or_ragged_tensor(segment_ids)
        if isinstance(ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError("segment_ids are ragged and data is not")
            if data.shape.ndims is not None and data.ragged_rank < ids.ragged_rank:
                raise ValueError("segment_ids.shape must be a prefix of data.shape")
            checks = [check_ops.assert_equal(a, math_ops.cast(b, a.dtype), message="segment_ids.shape must be a prefix of "
                                             "data.shape")
                      for a, b in zip(data.nested_row_splits, ids.nested_row_splits) if a is not b]
            for _ in builtins.range(ids.ragged_rank):
                data = data.values
            with control_dependencies(checks):
                ids = array_ops.identity(ids.flat_values)
        return _segmented(segments, data, ids, num_segments)

    return reduce


_UNSORTED = {f"segment_{name}": _unsorted(function) for name, function in (
    ("sum", math_ops.unsorted_segment_sum), ("prod", math_ops.unsorted_segment_prod),
    ("min", math_ops.unsorted_segment_min), ("max", math_ops.unsorted_segment_max), ("mean", _mean), ("sqrt_n", _sqrt_n))}
segment_sum, segment_prod, segment_min, segment_max, segment_mean, segment_sqrt_n = _UNSORTED.values()


# Rows themselves.

def _as_ragged(value):
    value = convert_to_tensor_or_ragged_tensor(value)
    return value if isinstance(value, RaggedTensor) else RaggedTensor.from_tensor(value)


def _joined(values):
    """Rows of several, one after the other."""
    inner = [v.values for v in values]
    flat = _joined([_as_ragged(v) for v in inner]) if any(isinstance(v, RaggedTensor) for v in inner) else array_ops.concat(inner, 0)
    lengths = array_ops.concat([v.row_lengths() for v in values], 0)
    return RaggedTensor(flat, _cumulated(lengths), internal=True)


def _interleaved(values):
    """Row 0 of each, row 1 of each, ..., and how many there are."""
    rows, count = values[0].nrows(), len(values)
    by_value = array_ops.reshape(math_ops.range(rows * count), array_ops.stack([array_ops.constant(count, rows.dtype), rows]))
    order = array_ops.reshape(array_ops.transpose(by_value), [-1])
    return gather(_joined(values), order), rows


def concat(values, axis, name=None):
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {axis!r}")
    with name_scope(name, "RaggedConcat", []):
        values = [convert_to_tensor_or_ragged_tensor(value) for value in values]
        ndims = next((value.shape.ndims for value in values if value.shape.ndims is not None), None)
        if ndims is not None and not -ndims <= axis < ndims:
            raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
        if ndims in (0, 1, None) and not any(isinstance(value, RaggedTensor) for value in values):
            return array_ops.concat(values, axis)
        if any(value.shape.ndims == 1 for value in values):
            raise ValueError("Ranks of all input tensors should match")
        values = [_as_ragged(value) for value in values]
        axis = values[0]._positive_axis(axis)
        if len(values) == 1:
            return values[0]
        if axis == 0:
            return _joined(values)
        if axis == 1:
            mixed, rows = _interleaved(values)
            places = math_ops.range(rows + 1) * len(values)
            return RaggedTensor(mixed.values, array_ops.gather(mixed.row_splits, places), internal=True)
        inner = [v.values for v in values]
        if not any(isinstance(v, RaggedTensor) for v in inner):
            return values[0].with_values(array_ops.concat(inner, axis - 1))
        return values[0].with_values(concat(inner, axis - 1))


def stack(values, axis=0, name=None):
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {axis!r}")
    with name_scope(name, "RaggedStack", []):
        converted = [convert_to_tensor_or_ragged_tensor(value) for value in values]
        ndims = converted[0].shape.ndims
        if ndims is not None and not -(ndims + 1) <= axis < ndims + 1:
            raise ValueError(f"axis={axis} out of bounds: expected {-(ndims + 1)}<=axis<{ndims + 1}")
        if all(not isinstance(v, RaggedTensor) and v.shape.ndims in (0, None) for v in converted):
            return array_ops.stack(converted, axis)
        if all(not isinstance(v, RaggedTensor) and v.shape.ndims == 1 for v in converted):
            if axis in (0, -2):
                lengths = array_ops.stack([array_ops.shape(v, out_type=dtypes.int64)[0] for v in converted])
                return RaggedTensor.from_row_lengths(array_ops.concat(converted, 0), lengths, validate=False)
            return RaggedTensor.from_tensor(array_ops.stack(converted, axis))
        converted = [_as_ragged(v) for v in converted]
        rank = converted[0].shape.ndims
        axis = axis if axis >= 0 else axis + rank + 1
        if axis == 0:
            counts = array_ops.stack([v.nrows() for v in converted])
            return RaggedTensor(_joined(converted), _cumulated(counts), internal=True)
        if axis == 1:
            mixed, rows = _interleaved(converted)
            return RaggedTensor(mixed, math_ops.range(rows + 1) * len(converted), internal=True)
        return converted[0].with_values(stack([v.values for v in converted], axis - 1))


def gather(params, indices, validate_indices=None, axis=0, batch_dims=0, name=None):
    if axis not in (0, None) or batch_dims:
        if axis == batch_dims == 1 or axis is None and batch_dims == 1:
            return dispatch.handle(array_ops.batch_gather, (params, indices), {})
        raise ValueError("axis != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGather", []):
        params = convert_to_tensor_or_ragged_tensor(params)
        indices = convert_to_tensor_or_ragged_tensor(indices)
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array_ops.gather(params, indices)
        if indices.shape.ndims is None:
            raise ValueError("indices.shape.ndims must be known statically")
        if indices.shape.ndims > 1:
            rest = array_ops.reshape(indices, array_ops.concat([[-1], array_ops.shape(indices)[2:]], 0))
            return RaggedTensor.from_tensor(indices).with_values(gather(params, rest))
        if indices.shape.ndims == 0:
            return _row(params, indices)
        splits, values = apply("RaggedGather", (list(params.nested_row_splits), params.flat_values, indices),
                               {"OUTPUT_RAGGED_RANK": params.ragged_rank}, None)
        result = values
        for part in reversed(splits if isinstance(splits, (list, tuple)) else [splits]):
            result = RaggedTensor(result, part, internal=True)
        return result


def boolean_mask(data, mask, name=None):
    with name_scope(name, "RaggedMask", []):
        data, mask = convert_to_tensor_or_ragged_tensor(data), convert_to_tensor_or_ragged_tensor(mask, dtypes.bool)
        if isinstance(mask, RaggedTensor):
            data = _as_ragged(data)
            if isinstance(mask.values, RaggedTensor):
                return data.with_values(boolean_mask(data.values, mask.values))
            kept = math_ops.cast(mask.values, data.row_splits.dtype)
            lengths = math_ops.unsorted_segment_sum(kept, mask.value_rowids(), mask.nrows())
            return RaggedTensor(boolean_mask(data.values, mask.values), _cumulated(math_ops.cast(lengths, data.row_splits.dtype)), internal=True)
        if mask.shape.ndims is None or mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar." if mask.shape.ndims == 0 else "mask.shape.ndims must be known statically.")
        if mask.shape.ndims > 1:
            return boolean_mask(_as_ragged(data), RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.ndims - 1))
        places = array_ops.reshape(array_ops.where(mask), [-1])
        return gather(data, places)


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]):
        tensors = [convert_to_tensor(v, dtype=dtype) for v in (starts, limits, deltas)]
        wider = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
        common = dtypes.as_dtype(dtype) if dtype is not None else max((t.dtype for t in tensors), key=wider.index)
        parts = apply("RaggedRange", tuple(math_ops.cast(t, common) for t in tensors), {"Tsplits": dtypes.as_dtype(row_splits_dtype)}, None)
        return RaggedTensor(parts[1], parts[0], internal=True)


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    with name_scope(name, "SegmentStack", []):
        data, partitions = convert_to_tensor_or_ragged_tensor(data), convert_to_tensor_or_ragged_tensor(partitions)
        rank = partitions.shape.ndims
        if rank is None:
            raise ValueError("partitions must have known rank.")
        if not isinstance(partitions, RaggedTensor) and not isinstance(data, RaggedTensor):
            partitions.shape.assert_is_compatible_with(data.shape[:rank])
        while rank > 1:
            if not isinstance(partitions, RaggedTensor):
                partitions = RaggedTensor.from_tensor(partitions)
            data = _as_ragged(data)
            message = "data and partitions have incompatible ragged shapes"
            with control_dependencies([check_ops.assert_equal(
                    math_ops.cast(data.row_splits, dtypes.int64), math_ops.cast(partitions.row_splits, dtypes.int64),
                    message=message)]):
                partitions = array_ops.identity(partitions.values) if not isinstance(
                    partitions.values, RaggedTensor) else partitions.values
            data, rank = data.values, rank - 1
        if rank == 0:
            data = expand_dims(data, 0) if isinstance(data, RaggedTensor) else array_ops.expand_dims(data, 0)
            partitions = array_ops.expand_dims(partitions, 0)
        numbers, count = math_ops.cast(partitions, dtypes.int64), math_ops.cast(num_partitions, dtypes.int64)
        with control_dependencies([
                check_ops.assert_non_negative(numbers, message="partitions must be non-negative"),
                check_ops.assert_less(numbers, count, message="partitions must be less than num_partitions")]):
            numbers = array_ops.identity(numbers)
        order = math_ops.cast(apply("TopKV2", (-numbers, array_ops.size(numbers)), {}, None)[1], dtypes.int64)
        return RaggedTensor.from_value_rowids(gather(data, order), array_ops.gather(numbers, order), count, validate=False)


def expand_dims(input, axis=None, name=None, dim=None):
    axis = dim if axis is None else axis
    input = convert_to_tensor_or_ragged_tensor(input)
    if not isinstance(input, RaggedTensor):
        return array_ops.expand_dims(input, axis)
    rank = input.shape.ndims
    axis = axis if axis >= 0 else axis + rank + 1
    if axis == 0:
        return RaggedTensor(input, array_ops.stack([math_ops.cast(0, input.row_splits.dtype), input.nrows()]), internal=True)
    if axis == 1:
        return RaggedTensor(input, math_ops.range(input.nrows() + 1), internal=True)
    return input.with_values(expand_dims(input.values, axis - 1))


def tile(input, multiples, name=None):
    input = convert_to_tensor_or_ragged_tensor(input)
    multiples = convert_to_tensor(multiples, dtype=None if hasattr(multiples, "dtype") else dtypes.int32)
    if not isinstance(input, RaggedTensor):
        return array_ops.tile(input, multiples)
    dtype = input.row_splits.dtype
    rows_times, columns_times = math_ops.cast(multiples[0], dtype), math_ops.cast(multiples[1], dtype)
    if isinstance(input.values, RaggedTensor) or (input.values.shape.ndims or 1) > 1:
        one = array_ops.concat([[1], multiples[2:]], 0)
        input = input.with_values(tile(input.values, one))
    rows = input.nrows()
    order = array_ops.tile(math_ops.range(rows), array_ops.stack([rows_times]))
    order = repeat(order, array_ops.fill(array_ops.stack([rows * rows_times]), columns_times))
    repeated = gather(input, order)
    return RaggedTensor(repeated.values, array_ops.gather(repeated.row_splits, math_ops.range(rows * rows_times + 1) * columns_times), internal=True)


def where(condition, x=None, y=None, name=None):
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    condition = convert_to_tensor_or_ragged_tensor(condition)
    if x is None:
        if not isinstance(condition, RaggedTensor):
            return array_ops.where(condition)
        return array_ops.boolean_mask(_coordinates(condition), condition.flat_values)
    x, y = convert_to_tensor_or_ragged_tensor(x), convert_to_tensor_or_ragged_tensor(y)
    ragged = [isinstance(value, RaggedTensor) for value in (condition, x, y)]
    if not any(ragged):
        return array_ops.where(condition, x, y)
    if condition.shape.ndims == 1 and not ragged[0]:  # a whole row for each
        with name_scope(name, "RaggedWhere", []):
            rows = [value.nrows() if isinstance(value, RaggedTensor) else
                    array_ops.shape(value, out_type=dtypes.int64)[0] for value in (x, y)]
            first, second = math_ops.range(rows[0]), math_ops.range(rows[0], rows[0] + rows[1])
            return gather(concat([x, y], 0), array_ops.where(condition, first, second))
    if not all(ragged) or len({value.ragged_rank for value in (condition, x, y)}) > 1:
        raise ValueError("Input shapes do not match.")
    return map_flat_values(array_ops.where, condition, x, y)


def _coordinates(ragged):
    """The coordinates of each element, dimensions inside of the rows included."""
    flat = ragged.flat_values
    if (flat.shape.ndims or 1) == 1:
        return ragged.to_sparse().indices
    sizes = array_ops.shape(flat, out_type=dtypes.int64)
    rows = ragged.with_flat_values(math_ops.range(sizes[0])).to_sparse().indices
    inside = array_ops.where(array_ops.ones(sizes, dtype=dtypes.bool))
    whole = array_ops.concat([array_ops.gather(rows, inside[:, 0]), inside[:, 1:]], 1)
    return array_ops.reshape(whole, array_ops.concat([sizes, [-1]], 0))


def size(input, name=None, out_type=dtypes.int32):
    input = convert_to_tensor_or_ragged_tensor(input)
    return array_ops.size(input.flat_values if isinstance(input, RaggedTensor) else input, out_type=out_type)


def rank(input, name=None):
    input = convert_to_tensor_or_ragged_tensor(input)
    if not isinstance(input, RaggedTensor):
        return array_ops.rank(input)
    return input.ragged_rank + array_ops.rank(input.flat_values)


# Subscripts.

def _row(ragged, index):
    begin, end = array_ops.gather(ragged.row_splits, index), array_ops.gather(ragged.row_splits, index + 1)
    return _rows_between(ragged.values, begin, end)


def _rows_between(values, begin, end):
    if not isinstance(values, RaggedTensor):
        return values[begin:end]
    splits = values.row_splits[begin:end + 1]
    return RaggedTensor(_rows_between(values.values, splits[0], splits[-1]), splits - splits[0], internal=True)


def _is_whole(key):
    return isinstance(key, slice) and key.start is None and key.stop is None and key.step is None


def _sliced_rows(ragged, key):
    """Whole rows, as a slice picks them."""
    if _is_whole(key):
        return ragged
    return gather(ragged, math_ops.range(ragged.nrows())[key])


def _sliced_columns(ragged, key):
    """From each row the elements that a slice picks."""
    lengths = ragged.row_lengths()
    step = 1 if key.step is None else key.step
    if not all(part is None or isinstance(part, int) or _is_index(part) for part in (key.start, key.stop)):
        raise TypeError("slice offsets must be integers or None")
    if isinstance(step, Tensor):
        step = constant_value(step)
    if not isinstance(step, (int, np.integer)):
        raise TypeError("slice strides must be integers or None")
    if step == 0:
        raise ValueError("slice strides of ragged dimensions are numbers other than 0")

    def end(value, missing, low, high):
        if value is None:
            return missing
        value = math_ops.cast(value, lengths.dtype)
        value = array_ops.where(array_ops.fill(array_ops.shape(lengths), value < 0), lengths + value, array_ops.zeros_like(lengths) + value)
        return math_ops.minimum(math_ops.maximum(value, low), high)

    zero = array_ops.zeros_like(lengths)
    if step > 0:
        first, last = end(key.start, zero, zero, lengths), end(key.stop, lengths, zero, lengths)
    else:
        first, last = end(key.start, lengths - 1, zero - 1, lengths - 1), end(key.stop, zero - 1, zero - 1, lengths - 1)
    starts = ragged.row_starts()
    places = range(starts + first, starts + last, math_ops.cast(step, lengths.dtype), row_splits_dtype=lengths.dtype)
    return places.with_values(gather(ragged.values, places.values))


def _is_index(value):
    """Whether a scalar tensor, or an array that is as good as one, can be an index."""
    return getattr(value, "shape", None) is not None and hasattr(value, "dtype") and dtypes.as_dtype(
        value.dtype).base_dtype in (dtypes.int32, dtypes.int64) and len(value.shape) == 0


def _subscript(ragged, keys):
    keys = list(keys) if isinstance(keys, (tuple, list)) else [keys]
    if any(isinstance(key, type(Ellipsis)) for key in keys):
        rank = ragged.shape.ndims
        if rank is None:
            raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
        at = [isinstance(key, type(Ellipsis)) for key in keys].index(True)
        used = sum(key is not None for key in keys) - 1
        keys[at:at + 1] = [slice(None)] * (rank - used)
    if not keys:
        return ragged
    rank, used = ragged.shape.ndims, sum(key is not None for key in keys)
    if rank is not None and used > rank:
        raise IndexError(f"Too many indices for RaggedTensor: {used} of {rank} dimensions")
    key, rest = keys[0], tuple(keys[1:])
    if key is None:
        return expand_dims(_subscript(ragged, rest), 0)
    if isinstance(key, slice):
        return _inner_subscript(_sliced_rows(ragged, key), rest)
    if not (isinstance(key, (int, np.integer)) or _is_index(key)):
        raise TypeError(f"{array_ops._SLICE_TYPE_ERROR}, got {key!r}")
    index = math_ops.cast(key, ragged.row_splits.dtype)
    if isinstance(key, int):
        rows = ragged.shape[0].value
        if rows is not None and not -rows <= key < rows:
            raise IndexError(f"slice index {key} of dimension 0 out of bounds.")
        index = ragged.nrows() + key if key < 0 else index
    else:  # only the run knows whether it counts from the end
        index = array_ops.where(math_ops.less(index, 0), index + ragged.nrows(index.dtype), index)
    row = _row(ragged, index)
    return row if not rest else _subscript(row, rest) if isinstance(row, RaggedTensor) else row[rest]


def _inner_subscript(ragged, keys):
    if not keys:
        return ragged
    key, rest = keys[0], keys[1:]
    if key is None:
        return RaggedTensor(_inner_subscript(ragged, rest) if not rest else _subscript(ragged, (slice(None),) + rest),
                            math_ops.range(ragged.nrows() + 1), internal=True)
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not _is_whole(key):
        ragged = _sliced_columns(ragged, key)
    if not rest:
        return ragged
    values = ragged.values
    return ragged.with_values(_inner_subscript(values, rest) if isinstance(values, RaggedTensor) else values[(slice(None),) + rest])


# What other functions find.

_HANDLERS = {"concat": concat, "stack": stack, "gather": gather, "boolean_mask": boolean_mask,
             "expand_dims": expand_dims, "tile": tile, "where": where, "size": size, "rank": rank}
_HANDLERS.update((name, _reduction(name)) for name in _SEGMENTS)
_HANDLERS.update((f"unsorted_{name}", function) for name, function in _UNSORTED.items())
# Their second argument is no operand.
_HANDLERS.update((name, functools.partial(map_flat_values, getattr(array_ops, name))) for name in ("zeros_like", "ones_like"))
_HANDLERS["cast"] = functools.partial(map_flat_values, math_ops.cast)


def _operators():
    def binary(function):
        return lambda x, y: _elementwise(function, x, y)

    def reflected(function):
        return lambda x, y: _elementwise(function, y, x)

    pairs = {"add": math_ops.add, "sub": math_ops.subtract, "mul": math_ops.multiply, "truediv": math_ops.truediv, "div": math_ops.div,
             "floordiv": math_ops.floordiv, "mod": math_ops.floormod, "pow": math_ops.pow, "and": math_ops.logical_and,
             "or": math_ops.logical_or, "xor": math_ops.logical_xor}
    for name, function in pairs.items():
        setattr(RaggedTensor, f"__{name}__", binary(function))
        setattr(RaggedTensor, f"__r{name}__", reflected(function))
    for name, function in {"lt": math_ops.less, "le": math_ops.less_equal, "gt": math_ops.greater, "ge": math_ops.greater_equal}.items():
        setattr(RaggedTensor, f"__{name}__", binary(function))
    for name, function in {"neg": math_ops.negative, "abs": math_ops.abs, "invert": math_ops.logical_not}.items():
        setattr(RaggedTensor, f"__{name}__", lambda x, _f=function: map_flat_values(_f, x))
    RaggedTensor.__getitem__ = _subscript


_operators()
dispatch.register((RaggedTensor, RaggedTensorValue), _HANDLERS, _elementwise)
