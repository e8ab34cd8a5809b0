"""Tensors whose rows have different lengths: the values of all rows one behind the other, and where each row begins."""

from weir.core import dtypes
from weir.core.graph import Tensor, _session_for, control_dependencies, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.type_spec import CompositeTensor, TypeSpec
from weir.core.values import TensorSpec
from weir.ops import array_ops, check_ops, math_ops, sparse_ops

_MOST_DIMENSIONS = 254


class RaggedTensorValue:
    """The values and row splits of a ragged tensor as arrays."""

    def __init__(self, values, row_splits):
        self._values, self._row_splits = values, row_splits

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    dtype = property(lambda self: self._values.dtype)
    flat_values = property(lambda self: getattr(self._values, "flat_values", self._values))

    @property
    def nested_row_splits(self):
        return (self._row_splits,) + getattr(self._values, "nested_row_splits", ())

    ragged_rank = property(lambda self: 1 + getattr(self._values, "ragged_rank", 0))

    @property
    def shape(self):
        return (self._row_splits.shape[0] - 1, None) + tuple(self._values.shape[1:])

    def to_list(self):
        values = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [values[begin:end] for begin, end in zip(self._row_splits[:-1], self._row_splits[1:])]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def is_ragged(value):
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def convert_to_tensor_or_ragged_tensor(value, dtype=None, preferred_dtype=None, name=None):
    if isinstance(value, RaggedTensor):
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            return RaggedTensor.from_nested_row_splits(
                convert_to_tensor(value.flat_values, dtype=dtype), value.nested_row_splits, validate=False)
    return convert_to_tensor(value, dtype=dtype, name=name)


def _splits_tensor(splits, name, dtype=None):
    splits = convert_to_tensor(splits, name=name, dtype=dtype or (None if hasattr(splits, "dtype") else dtypes.int64))
    if splits.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64, not {splits.dtype.name}")
    splits.shape.assert_has_rank(1)
    return splits


def _length(values, dtype):
    return values.nrows(dtype) if isinstance(values, RaggedTensor) else array_ops.shape(values, out_type=dtype)[0]


def _checked(splits, values):
    """The row splits, which fail in a run unless they begin at 0, never go back and end with the values."""
    checks = [check_ops.assert_equal(splits[0], math_ops.cast(0, splits.dtype), message="Arguments to from_row_splits do not form a valid RaggedTensor: zero"),
              check_ops.assert_non_negative(splits[1:] - splits[:-1], message="Arguments to from_row_splits do not form a valid RaggedTensor: monotonic"),
              check_ops.assert_equal(splits[-1], _length(values, splits.dtype), message="Arguments to from_row_splits do not form a valid RaggedTensor")]
    with control_dependencies(checks):
        return array_ops.identity(splits)


def _cumulated(lengths):
    return array_ops.concat([array_ops.zeros([1], lengths.dtype), math_ops.cumsum(lengths)], 0)


@CompositeTensor.register
class RaggedTensor:
    """``values``, whose first dimension holds all rows, and ``row_splits``: row i is values[row_splits[i]:row_splits[i + 1]]."""

    def __init__(self, values, row_splits, internal=False):
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead (e.g., RaggedTensor.from_row_lengths())")
        self._values, self._row_splits = values, row_splits
        self._rowids = self._lengths = None  # where it was made of them
        if isinstance(values, RaggedTensor) and values._row_splits.dtype != row_splits.dtype:
            wide = dtypes.int64
            self._values, self._row_splits = values.with_row_splits_dtype(wide), math_ops.cast(row_splits, wide)

    # Made of parts.

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        with name_scope(name, "RaggedFromRowSplits", [row_splits]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            row_splits = _splits_tensor(row_splits, "row_splits")
            if row_splits.shape.with_rank(1).dims[0].value == 0:
                raise ValueError("row_splits tensor may not be empty.")
            return cls(values, _checked(row_splits, values) if validate else row_splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        with name_scope(name, "RaggedFromRowLengths", [row_lengths]):
            lengths = _splits_tensor(row_lengths, "row_lengths")
            result = cls.from_row_splits(values, _cumulated(lengths), validate=validate)
            result._lengths = lengths
            return result

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        with name_scope(name, "RaggedFromValueRowIds", [value_rowids]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            rowids = _splits_tensor(value_rowids, "value_rowids")
            if nrows is None:
                rows = array_ops.concat([rowids[-1:], math_ops.cast([-1], rowids.dtype)], 0)[0] + 1
            else:
                if isinstance(nrows, int) and nrows < 0:
                    raise ValueError(f"Expected nrows >= 0; got {nrows}")
                rows = convert_to_tensor(nrows, dtype=None if hasattr(nrows, "dtype") else rowids.dtype)
                rows = math_ops.cast(rows, rowids.dtype)
                rows.shape.assert_has_rank(0)
            if validate:
                checks = [check_ops.assert_non_negative(rowids[1:] - rowids[:-1], message="Arguments to from_value_rowids do not form a valid RaggedTensor: monotonic"),
                          check_ops.assert_non_negative(rowids, message="Arguments to from_value_rowids do not form a valid RaggedTensor: negative"),
                          check_ops.assert_less(rowids, rows, message="Arguments to from_value_rowids do not form a valid RaggedTensor: nrows"),
                          check_ops.assert_equal(_length(values, rowids.dtype), array_ops.shape(rowids, out_type=rowids.dtype)[0],
                                                 message="Arguments to from_value_rowids do not form a valid RaggedTensor")]
                with control_dependencies(checks):
                    rowids = array_ops.identity(rowids)
            lengths = math_ops.unsorted_segment_sum(array_ops.ones_like(rowids), rowids, rows)
            result = cls(values, _cumulated(lengths), internal=True)
            result._rowids = rowids
            return result

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        with name_scope(name, "RaggedFromRowStarts", [row_starts]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            starts = _splits_tensor(row_starts, "row_starts")
            end = array_ops.expand_dims(_length(values, starts.dtype), 0)
            return cls.from_row_splits(values, array_ops.concat([starts, end], 0), validate=validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        with name_scope(name, "RaggedFromRowLimits", [row_limits]):
            limits = _splits_tensor(row_limits, "row_limits")
            return cls.from_row_splits(values, array_ops.concat([array_ops.zeros([1], limits.dtype), limits], 0), validate=validate)

    @classmethod
    def _nested(cls, make, flat_values, parts, name, validate, what):
        if isinstance(parts, Tensor):
            raise TypeError(f"{what} must be a list of Tensors")
        with name_scope(name, "RaggedFromNested", list(parts)):
            result = flat_values
            for part in reversed(list(parts)):
                result = make(result, *(part if isinstance(part, tuple) else (part,)), validate=validate)
            return result

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        return cls._nested(cls.from_row_splits, flat_values, nested_row_splits, name, validate, "nested_row_splits")

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        return cls._nested(cls.from_row_lengths, flat_values, nested_row_lengths, name, validate, "nested_row_lengths")

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
        if isinstance(nested_value_rowids, Tensor) or isinstance(nested_nrows, Tensor):
            raise TypeError("nested_value_rowids must be a list of Tensors")
        rows = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(rows) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        return cls._nested(cls.from_value_rowids, flat_values, list(zip(nested_value_rowids, rows)), name, validate, "nested_value_rowids")

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a dense tensor, without what lies behind their lengths or with their padding taken off the ends."""
        if lengths is not None and padding is not None:
            raise ValueError("Specify lengths or padding, but not both")
        if not isinstance(ragged_rank, int):
            raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
        if not 0 < ragged_rank <= _MOST_DIMENSIONS:
            raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
        dtype = dtypes.as_dtype(row_splits_dtype)
        with name_scope(name, "RaggedFromTensor", [tensor]):
            tensor = convert_to_tensor(tensor, name="tensor")
            tensor.shape.with_rank_at_least(ragged_rank + 1)
            if padding is not None:
                padding = convert_to_tensor(padding, dtype=tensor.dtype, name="padding")
                padding.shape.assert_is_compatible_with(tensor.shape[ragged_rank + 1:])
            if isinstance(lengths, (list, tuple)) and any(
                    isinstance(part, Tensor) or hasattr(part, "__len__") for part in lengths):
                return cls._from_tensor_by_lengths(tensor, [_splits_tensor(part, "lengths", dtype) for part in lengths])
            if isinstance(lengths, (RaggedTensor, RaggedTensorValue, set)):
                raise TypeError("lengths must be a vector, or a list or tuple of them")
            sizes = array_ops.shape(tensor, out_type=dtype)
            if ragged_rank > 1:  # all dimensions but the last are even
                rows = array_ops.expand_dims(math_ops.reduce_prod(sizes[:ragged_rank]), 0)
                flat = array_ops.reshape(tensor, array_ops.concat([rows, sizes[ragged_rank:]], 0))
                inner = cls.from_tensor(flat, None if lengths is None else array_ops.reshape(lengths, [-1]), padding, 1, row_splits_dtype=dtype)
                for d in reversed(range(ragged_rank - 1)):
                    rows = math_ops.reduce_prod(sizes[:d + 1])
                    inner = cls(inner, math_ops.range(rows + 1) * sizes[d + 1], internal=True)
                return inner
            rows, columns = sizes[0], sizes[1]
            flat = array_ops.reshape(tensor, array_ops.concat([array_ops.expand_dims(rows * columns, 0), sizes[2:]], 0))
            if padding is not None:
                differs = math_ops.not_equal(tensor, padding)
                inner_axes = math_ops.range(2, array_ops.rank(tensor))
                differs = math_ops.reduce_any(differs, inner_axes)
                lengths = math_ops.reduce_max(math_ops.cast(differs, dtype) * (math_ops.range(columns) + 1), 1)
                lengths = math_ops.maximum(lengths, math_ops.cast(0, dtype))
            if lengths is None:
                return cls(flat, math_ops.range(rows + 1) * columns, internal=True)
            lengths = math_ops.cast(convert_to_tensor(lengths), dtype)
            lengths.shape.assert_has_rank(1)
            lengths = math_ops.minimum(math_ops.maximum(lengths, math_ops.cast(0, dtype)), columns)
            inside = array_ops.reshape(array_ops.sequence_mask(lengths, columns), [-1])
            return cls(array_ops.boolean_mask(flat, inside), _cumulated(lengths), internal=True)

    @classmethod
    def _from_tensor_by_lengths(cls, tensor, nested_lengths):
        """The first of the rows in each dimension, as many as the lengths of that dimension say."""
        tensor.shape.with_rank_at_least(len(nested_lengths) + 1)
        first = cls.from_tensor(tensor, lengths=nested_lengths[0], row_splits_dtype=nested_lengths[0].dtype)
        if len(nested_lengths) == 1:
            return first
        return first.with_values(cls._from_tensor_by_lengths(first.values, nested_lengths[1:]))

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        if not isinstance(st_input, sparse_ops.SparseTensor):
            raise TypeError("Expected SparseTensor, got %s" % type(st_input).__name__)
        with name_scope(name, "RaggedFromSparse", [st_input.values]):
            if st_input.get_shape().ndims not in (2, None):
                raise ValueError("rank(st_input) must be 2")
            dtype = dtypes.as_dtype(row_splits_dtype)
            rows, columns = st_input.indices[:, 0], st_input.indices[:, 1]
            first = array_ops.concat([[True], rows[1:] > rows[:-1]], 0)
            expected = array_ops.concat([[-1], columns[:-1]], 0) + 1
            right = math_ops.logical_or(math_ops.logical_and(first, math_ops.equal(columns, 0)),
                                        math_ops.logical_and(math_ops.logical_not(first), math_ops.equal(columns, expected)))
            right = math_ops.logical_or(right, math_ops.equal(array_ops.size(rows), 0))
            check = check_ops.assert_equal(right, array_ops.ones_like(right), message="SparseTensor is not right-ragged")
            with control_dependencies([check]):
                values = array_ops.identity(st_input.values)
            return cls.from_value_rowids(values, math_ops.cast(rows, dtype), math_ops.cast(st_input.dense_shape[0], dtype), validate=False)

    # What it is.

    dtype = property(lambda self: self._values.dtype)
    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    graph = property(lambda self: self._row_splits.graph)
    op = property(lambda self: self._values.op)
    ragged_rank = property(lambda self: 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0))
    flat_values = property(lambda self: self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values)

    @property
    def nested_row_splits(self):
        return (self._row_splits,) + (self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ())

    @property
    def shape(self):
        splits = self._row_splits.shape.with_rank(1).dims[0].value
        inner = self._values.shape
        return TensorShape([None if splits is None else splits - 1, None]).concatenate(inner[1:] if inner.ndims is not None else inner)

    def get_shape(self):
        return self.shape

    def consumers(self):
        return list(dict.fromkeys(op for part in (self.flat_values,) + self.nested_row_splits for op in part.consumers()))

    def value_rowids(self, name=None):
        with name_scope(name, "RaggedValueRowIds", [self._row_splits]):
            return row_splits_to_segment_ids(self._row_splits) if self._rowids is None else self._rowids

    def nested_value_rowids(self, name=None):
        return tuple(row_splits_to_segment_ids(splits) for splits in self.nested_row_splits)

    def nrows(self, out_type=None, name=None):
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedNRows", [self._row_splits]):
            return array_ops.shape(self._row_splits, out_type=out_type)[0] - 1

    def row_starts(self, name=None):
        return self._row_splits[:-1]

    def row_limits(self, name=None):
        return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        with name_scope(name, "RaggedRowLengths", [self._row_splits]):
            axis = self._positive_axis(axis)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1] if self._lengths is None else self._lengths
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            sizes = array_ops.shape(self._values, out_type=self._row_splits.dtype)
            return self.with_values(array_ops.fill([sizes[0]], sizes[axis - 1]))

    def _positive_axis(self, axis):
        if axis >= 0:
            return axis
        rank = self.shape.ndims
        if rank is None:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis + rank

    def nested_row_lengths(self, name=None):
        return tuple(splits[1:] - splits[:-1] for splits in self.nested_row_splits)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self._row_splits]):
            longest = [math_ops.maximum(math_ops.reduce_max(array_ops.concat([lengths, array_ops.zeros([1], lengths.dtype)], 0)), math_ops.cast(0, lengths.dtype))
                       for lengths in self.nested_row_lengths()]
            inner = array_ops.shape(self.flat_values, out_type=self._row_splits.dtype)[1:]
            box = math_ops.cast(array_ops.concat([array_ops.stack([self.nrows()] + longest), inner], 0), out_type)
            return box if axis is None else box[axis] if isinstance(axis, int) else array_ops.gather(box, axis)

    # The same rows with something else in them.

    def with_values(self, new_values):
        new_values = convert_to_tensor_or_ragged_tensor(new_values)
        return RaggedTensor(new_values, self._row_splits, internal=True)

    def with_flat_values(self, new_values):
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        splits = self._row_splits if self._row_splits.dtype == dtype else math_ops.cast(self._row_splits, dtype)
        return RaggedTensor(values, splits, internal=True)

    # As other kinds of tensors.

    def to_tensor(self, default_value=None, name=None):
        with name_scope(name, "RaggedToTensor", [self.flat_values]):
            if default_value is None:
                default_value = "" if self.dtype == dtypes.string else array_ops.zeros([], self.dtype)
            default_value = convert_to_tensor(default_value, dtype=self.dtype, name="default_value")
            splits = self.nested_row_splits
            kinds = ["ROW_SPLITS"] * len(splits)
            shape = array_ops.constant(-1, dtype=self._row_splits.dtype)
            result = apply("RaggedTensorToTensor", (shape, self.flat_values, default_value, list(splits)), {"row_partition_types": kinds}, None)
            result.set_shape(self.shape)
            return result

    def to_sparse(self, name=None):
        with name_scope(name, "RaggedToSparse", [self.flat_values]):
            wide = self.with_row_splits_dtype(dtypes.int64)
            parts = apply("RaggedTensorToSparse", (list(wide.nested_row_splits), wide.flat_values), {}, None)
            return sparse_ops.SparseTensor(*parts)

    def _to_variant(self, batched_input=False, name=None):
        """A variant for the whole, or a vector of variants, one for each of its rows."""
        with name_scope(name, "RaggedToVariant", []):
            return apply("RaggedTensorToVariant", (list(self.nested_row_splits), self.flat_values),
                         {"batched_input": batched_input}, None)

    @classmethod
    def _from_variant(cls, variant, dtype, output_ragged_rank, input_ragged_rank=None, name=None):
        """What ``_to_variant`` made a variant of; variants of any rank are stacked."""
        variant = convert_to_tensor(variant, name="variant", dtype=dtypes.variant)
        ndims, inner = variant.shape.ndims, input_ragged_rank
        if None not in (ndims, inner) and output_ragged_rank != inner + ndims:
            raise ValueError("output_ragged_rank must be equal to input_ragged_rank +variant.shape.ndims, found "
                             f"variant.shape.ndims: {ndims}, input_ragged_rank: {inner}, output_ragged_rank: "
                             f"{output_ragged_rank}")
        with name_scope(name, "RaggedFromVariant", []):
            splits, values = apply("RaggedTensorFromVariant", (variant,), {
                "input_ragged_rank": -1 if inner is None else inner, "output_ragged_rank": output_ragged_rank,
                "Tvalues": dtype, "Tsplits": dtypes.int64}, None)
            return cls.from_nested_row_splits(values, splits if isinstance(splits, (list, tuple)) else [splits],
                                              validate=False)

    def to_list(self):
        raise ValueError("RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first and then use RaggedTensorValue.to_list().")

    def eval(self, feed_dict=None, session=None):
        return _session_for(self.graph, session, "evaluate tensor", "eval(session=sess)").run(self, feed_dict)

    # What Session.run does with one: see core/session.py.

    def _fetch_parts(self):
        def together(values):
            result = values[0]
            for splits in reversed(values[1:]):
                result = RaggedTensorValue(result, splits)
            return result

        return [self.flat_values, *self.nested_row_splits], together

    def _feed_parts(self, value):
        if not isinstance(value, RaggedTensorValue):  # only the tensors are asked for
            return [(part, None) for part in (self.flat_values, *self.nested_row_splits)]
        if value.ragged_rank != self.ragged_rank:
            raise ValueError(f"a value of ragged rank {value.ragged_rank} is fed for one of {self.ragged_rank}")
        return [(self.flat_values, value.flat_values), *zip(self.nested_row_splits, value.nested_row_splits)]

    @property
    def _type_spec(self):
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    def __repr__(self):
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def __len__(self):
        raise TypeError("the number of rows is a tensor: nrows()")

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __iter__(self):
        raise TypeError("RaggedTensor objects are only iterable when eager execution is enabled.")


class RaggedTensorSpec(TypeSpec):
    """What is known of a ragged tensor."""

    def __init__(self, shape=None, dtype=dtypes.float32, ragged_rank=None, row_splits_dtype=dtypes.int64):
        self._shape = TensorShape(shape)
        if ragged_rank is not None and not isinstance(ragged_rank, int):
            raise TypeError(f"ragged_rank must be an int, not {ragged_rank!r}")
        if ragged_rank is None:
            if self._shape.ndims is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self._shape.ndims - 1
        elif self._shape.ndims is not None and ragged_rank >= self._shape.ndims:
            raise ValueError("ragged_rank must be less than rank.")
        self._dtype, self._row_splits_dtype = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        self._ragged_rank = ragged_rank

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    ragged_rank = property(lambda self: self._ragged_rank)
    row_splits_dtype = property(lambda self: self._row_splits_dtype)

    @property
    def value_type(self):
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _serialize(self):
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self):
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        flat = TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1:])
        outer = None if self._shape.ndims is None or self._shape[0].value is None else self._shape[0].value + 1
        return [TensorSpec(flat, self._dtype), TensorSpec([outer], self._row_splits_dtype),
                *[TensorSpec([None], self._row_splits_dtype) for _ in range(self._ragged_rank - 1)]]

    def _to_components(self, value):
        if isinstance(value, (RaggedTensor, RaggedTensorValue)):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    # As parts of a larger one, and as one of its rows.

    def _batch(self, batch_size):
        return RaggedTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype, self._ragged_rank + 1,
                                self._row_splits_dtype)

    def _unbatch(self):
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    def _from_components(self, components):
        result, *splits = components
        arrays = all(isinstance(part, dtypes._numpy().ndarray) for part in components)
        for part in reversed(splits):
            result = RaggedTensorValue(result, part) if arrays else RaggedTensor.from_row_splits(result, part, validate=False)
        return result


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = _splits_tensor(splits, "splits")
        if splits.shape.with_rank(1).dims[0].value == 0:
            raise ValueError("Invalid row_splits: []")
        lengths = splits[1:] - splits[:-1]
        rows = array_ops.shape(lengths, out_type=splits.dtype)[0]
        ids = repeat(math_ops.range(rows), lengths)
        return ids if out_type is None else math_ops.cast(ids, out_type)


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = convert_to_tensor(segment_ids, dtype=None if hasattr(segment_ids, "dtype") else dtypes.int64)
        if ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("segment_ids must be an integer tensor")
        ids.shape.assert_has_rank(1)
        if num_segments is None:
            num_segments = array_ops.concat([ids[-1:], math_ops.cast([-1], ids.dtype)], 0)[0] + 1
        lengths = math_ops.unsorted_segment_sum(array_ops.ones_like(ids), ids, num_segments)
        return math_ops.cast(_cumulated(lengths), out_type or ids.dtype)


def repeat(values, counts):
    """Each of the values as often as the counts say, along the first dimension."""
    longest = math_ops.maximum(math_ops.reduce_max(array_ops.concat([counts, array_ops.zeros([1], counts.dtype)], 0)), math_ops.cast(0, counts.dtype))
    inside = array_ops.sequence_mask(counts, longest)
    places = array_ops.boolean_mask(_rows_by_columns(counts, longest), inside)
    return array_ops.gather(values, places)


def _rows_by_columns(counts, columns):
    rows = array_ops.shape(counts, out_type=counts.dtype)[0]
    return array_ops.tile(array_ops.expand_dims(math_ops.range(rows), 1), array_ops.stack([array_ops.constant(1, counts.dtype), columns]))
