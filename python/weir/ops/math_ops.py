"""Arithmetic, comparisons, reductions, matrices."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import IndexedSlices, Tensor, convert_to_tensor, name_scope
from weir.core.dispatch import dispatches
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, simple

simple.install(globals(), simple.MATH)


@dispatches
def abs(x, name=None):
    if hasattr(x, "_map_values"):  # a sparse tensor
        return x._map_values(abs, name=name)
    return _weir.abs(_graph(), x, name)


@dispatches
def round(x, name=None):
    return _weir.round(_graph(), x, name)


@dispatches
def angle(input, name=None):
    """The argument of complex numbers; of real ones 0, and pi for those below 0."""
    input = convert_to_tensor(input, name="input")
    dtype = input.dtype.base_dtype
    if dtype.is_complex:
        return apply("Angle", (input,), {"Tout": dtype.real_dtype}, name or "angle")
    return cast(input < 0, dtype) * 3.141592653589793


def nextafter(x1, x2, name=None):
    return apply("NextAfter", (x1, x2), {}, name)


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    return apply("CumulativeLogsumexp", (x, axis), {"exclusive": exclusive, "reverse": reverse},
                 name or "CumulativeLogsumexp")


@dispatches
def pow(x, y, name=None):
    return apply("Pow", (x, y), {}, name)


@dispatches
def cast(x, dtype, name=None):
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, dtype), x.indices, x.dense_shape)
    if hasattr(x, "_map_values"):  # a sparse tensor
        return x._map_values(cast, dtype, name=name)
    dtype = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, (Tensor, _weir.Variable)):
        return _weir.cast(_graph(), x, dtype, name)
    with name_scope(name, "Cast", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return x if x.dtype.base_dtype == dtype else apply("Cast", (x,), {"DstT": dtype}, scope)


@dispatches
def saturate_cast(value, dtype, name=None):
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if value.dtype.min < dtype.min:
            value = maximum(value, convert_to_tensor(dtype.min, dtype=value.dtype.base_dtype, name="min"))  # noqa: F821
        if value.dtype.max > dtype.max:
            value = minimum(value, convert_to_tensor(dtype.max, dtype=value.dtype.base_dtype, name="max"))  # noqa: F821
        return cast(value, dtype, name=scope)


def _to(dtype, default):
    def convert(x, name=default):
        return cast(x, dtype, name)

    convert.__name__ = default
    return convert


to_float, to_double = _to(dtypes.float32, "ToFloat"), _to(dtypes.float64, "ToDouble")
to_int32, to_int64 = _to(dtypes.int32, "ToInt32"), _to(dtypes.int64, "ToInt64")
to_bfloat16 = _to(dtypes.as_dtype("bfloat16"), "ToBFloat16")
to_complex64, to_complex128 = _to(dtypes.as_dtype("complex64"), "ToComplex64"), _to(dtypes.as_dtype("complex128"), "ToComplex128")


def _division(function, x, y, name, default):
    """A first argument that is a value becomes a constant of the second one's type, inside the operation's scope."""
    if isinstance(x, (Tensor, _weir.Variable)) or not isinstance(y, (Tensor, _weir.Variable)):
        return function(_graph(), x, y, name)
    with name_scope(name, default, [y]) as scope:
        return function(_graph(), convert_to_tensor(x, y.dtype.base_dtype, name="x"), y, scope)


@dispatches
def truediv(x, y, name=None):
    return _division(_weir.truediv, x, y, name, "truediv")


@dispatches
def div(x, y, name=None):
    return _division(_weir.div, x, y, name, "div")


@dispatches
def divide(x, y, name=None):
    return _division(_weir.divide, x, y, name, "truediv")


@dispatches
def floordiv(x, y, name=None):
    return _division(_weir.floordiv, x, y, name, "floordiv")


def floor_div(x, y, name=None):
    return apply("FloorDiv", (x, y), {}, name)


def logical_xor(x, y, name="LogicalXor"):
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)  # noqa: F821


@dispatches
def div_no_nan(x, y, name=None):
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        return apply("DivNoNan", (x, convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)), {}, scope)


@dispatches
def conj(x, name=None):
    """The complex conjugate; real numbers are their own."""
    x = convert_to_tensor(x, name="x")
    dtype = x.dtype.base_dtype
    if dtype.is_complex or dtype == dtypes.as_dtype("variant"):
        return apply("Conj", (x,), {}, name)
    if dtype.is_floating or dtype.is_integer:
        return x
    raise TypeError(f"Expected numeric or variant tensor, got dtype {dtype!r}")


@dispatches
def complex(real, imag, name=None):
    """Complex numbers of their parts: complex64 of float32, complex128 of float64."""
    with name_scope(name, "Complex", [real, imag]) as scope:
        real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
        types = real.dtype.base_dtype, imag.dtype.base_dtype
        made = {dtypes.float32: "complex64", dtypes.float64: "complex128"}.get(types[0])
        if made is None or types[0] != types[1]:
            raise TypeError(f"real and imag have incorrect types: {types[0].name} {types[1].name}")
        return apply("Complex", (real, imag), {"Tout": dtypes.as_dtype(made)}, scope)


@dispatches
def real(input, name=None):
    input = convert_to_tensor(input, name="input")
    return apply("Real", (input,), {"Tout": input.dtype.real_dtype}, name) if input.dtype.is_complex else input


@dispatches
def imag(input, name=None):
    input = convert_to_tensor(input, name="input")
    if not input.dtype.is_complex:
        return apply("ZerosLike", (input,), {}, name)
    return apply("Imag", (input,), {"Tout": input.dtype.real_dtype}, name)


@dispatches
def add_n(inputs, name=None):
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    if len(inputs) == 1:
        value = convert_to_tensor(inputs[0])
        return apply("Identity", (value,), {}, name) if name else value
    return apply("AddN", (list(inputs),), {}, name)


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of tensors of one shape, added up one by one."""
    wrong = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(wrong)
    inputs = [convert_to_tensor(value) for value in inputs]
    dtype = inputs[0].dtype.base_dtype
    if any(value.dtype.base_dtype != dtype for value in inputs):
        raise ValueError(wrong)
    whole = TensorShape(shape)
    for value in inputs:
        whole = whole.merge_with(value.shape)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) != dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {dtype}")
    if len(inputs) == 1 and name is None:
        return inputs[0]
    return apply("AccumulateNV2", (inputs,), {"shape": whole}, name)


def _reduction(op, public, dtype=None):
    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = simple.either("axis", axis, "reduction_indices", reduction_indices)
        keep = simple.either("keepdims", keepdims, "keep_dims", keep_dims)
        if dtype is not None and isinstance(input_tensor, (list, tuple)):  # an empty list is of that type, too
            input_tensor = convert_to_tensor(input_tensor, dtype=dtype, name="input_tensor")
        return _weir.reduce(_graph(), op, input_tensor, axis, bool(keep), name)

    reduce.__name__ = reduce.__qualname__ = public
    reduce.__doc__ = f"{op} over the dimensions ``axis`` (all when None); with ``keepdims`` they stay, with size 1."
    return dispatches(reduce)


reduce_sum, reduce_mean = _reduction("Sum", "reduce_sum"), _reduction("Mean", "reduce_mean")
reduce_max, reduce_min = _reduction("Max", "reduce_max"), _reduction("Min", "reduce_min")
reduce_prod = _reduction("Prod", "reduce_prod")
reduce_all, reduce_any = (_reduction(op, f"reduce_{op.lower()}", dtypes.as_dtype("bool")) for op in ("All", "Any"))


def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    axis = reduction_indices if axis is None else axis
    keep = keep_dims if keepdims is None else keepdims
    return _weir.reduce_logsumexp(_graph(), input_tensor, axis, bool(keep), name)


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    with name_scope(name or "reduce_variance"):
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        return reduce_mean(square(input_tensor - means), axis=axis, keepdims=keepdims)  # noqa: F821


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    with name_scope(name or "reduce_std"):
        return sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))  # noqa: F821


def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=dtypes.int64, name=None, reduction_indices=None,
                  keep_dims=None, input=None):
    value = input if input_tensor is None else input_tensor
    axis = reduction_indices if axis is None else axis
    keep = keep_dims if keepdims is None else keepdims
    with name_scope(name, "count_nonzero", [value]):
        value = convert_to_tensor(value)
        zero = array_ops.zeros([], dtype=value.dtype.base_dtype)
        return cast(reduce_sum(cast(not_equal(value, zero), dtypes.int64), axis=axis, keepdims=keep), dtype)  # noqa: F821


def _arg(op):
    def arg(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
        axis = simple.either("axis", axis, "dimension", dimension)
        return apply(op, (input, 0 if axis is None else axis), {"output_type": dtypes.as_dtype(output_type)}, name)

    return arg


argmax, argmin = _arg("ArgMax"), _arg("ArgMin")
arg_max = lambda input, dimension, output_type=dtypes.int64, name=None: argmax(input, dimension, name, None, output_type)  # noqa: E731
arg_min = lambda input, dimension, output_type=dtypes.int64, name=None: argmin(input, dimension, name, None, output_type)  # noqa: E731


def range(start, limit=None, delta=1, dtype=None, name="range"):
    if limit is None:
        start, limit = 0, start
    return _weir.range(_graph(), start, limit, delta, None if dtype is None else dtypes.as_dtype(dtype), name)


def linspace(start, stop, num, name=None):
    return apply("LinSpace", (start, stop, num), {}, name)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    return apply("Cumsum", (x, axis), {"exclusive": exclusive, "reverse": reverse}, name)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    return apply("Cumprod", (x, axis), {"exclusive": exclusive, "reverse": reverse}, name)


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, name=None):
    if a_is_sparse or b_is_sparse:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if {a.dtype.base_dtype, b.dtype.base_dtype} <= {dtypes.float32, dtypes.bfloat16}:
            return sparse_matmul(a, b, bool(transpose_a or adjoint_a), bool(transpose_b or adjoint_b), bool(a_is_sparse),
                                 bool(b_is_sparse), name=name)
    return _weir.matmul(_graph(), a, b, bool(transpose_a), bool(transpose_b), bool(adjoint_a), bool(adjoint_b), name)


def sparse_matmul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of matrices of which one has many zeros, in float32 or bfloat16."""
    return apply("SparseMatMul", (a, b), {"transpose_a": transpose_a, "transpose_b": transpose_b,
                                          "a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}, name)


def batch_matmul(x, y, adj_x=None, adj_y=None, name=None):
    return apply("BatchMatMul", (x, y), {"adj_x": bool(adj_x), "adj_y": bool(adj_y)}, name)


def tensordot(a, b, axes, name=None):
    """Contracts the given axes of two tensors, as numpy's tensordot does."""
    return _weir.tensordot(_graph(), a, b, axes, name)


def _axis_list(axis):
    return axis if axis is None or isinstance(axis, (list, tuple)) else [axis]


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    keep = bool(keep_dims if keepdims is None else keepdims)
    wrong_axis = "'axis' must be None, an integer, or a tuple of 2 unique integers"
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        if not all(isinstance(i, int) for i in axis) or axis[0] == axis[1]:
            raise ValueError(wrong_axis)
        if ord not in ("euclidean", "fro", 1, 2, float("inf")):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}")
        if not isinstance(ord, str):
            return _weir.matrix_norm(_graph(), tensor, ord, *axis, keep, name)
    else:
        if not (axis is None or isinstance(axis, int)):
            raise ValueError(wrong_axis)
        if ord != "euclidean" and (isinstance(ord, str) or not ord > 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return _weir.norm(_graph(), tensor, 2.0 if isinstance(ord, str) else ord, _axis_list(axis), keep, name)


def trace(x, name=None):
    return _weir.trace(_graph(), x, name)


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """Ones on the diagonal; with ``batch_shape`` a matrix for each of its elements."""
    dtype, batch_shape = dtypes.as_dtype(dtype), [] if batch_shape is None else batch_shape
    if not any(isinstance(size, (Tensor, _weir.Variable)) for size in (num_rows, num_columns, batch_shape)):
        return _weir.eye(_graph(), num_rows, -1 if num_columns in (None, num_rows) else num_columns, batch_shape, dtype, name)
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        columns = num_rows if num_columns is None else num_columns
        size = minimum(num_rows, columns)  # noqa: F821
        batch_shape = convert_to_tensor(batch_shape, dtypes.int32, name="shape")
        diagonal = array_ops.ones(array_ops.concat([batch_shape, [size]], 0), dtype)
        if num_columns is None:
            return apply("MatrixDiag", (diagonal,), {}, "diag")
        zeros = array_ops.zeros(array_ops.concat([batch_shape, [num_rows, columns]], 0), dtype)
        return apply("MatrixSetDiag", (zeros, diagonal), {}, "set_diag")


def einsum(equation, *inputs, **kwargs):
    """Sums of products over the indices that ``equation`` names, such as "bij,bjk->bik"."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    return _weir.einsum(_graph(), equation, list(inputs), name)


def lbeta(x, name=None):
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        return reduce_sum(lgamma(x), [-1]) - lgamma(reduce_sum(x, [-1]))  # noqa: F821


def _sparse_segments(op, data, indices, segment_ids, num_segments, name):
    if num_segments is None:
        return apply(op, (data, indices, segment_ids), {}, name)
    return apply(op + "WithNumSegments", (data, indices, segment_ids, num_segments), {}, name)


def sparse_segment_sum(data, indices, segment_ids, name=None, num_segments=None):
    return _sparse_segments("SparseSegmentSum", data, indices, segment_ids, num_segments, name)


def sparse_segment_mean(data, indices, segment_ids, name=None, num_segments=None):
    return _sparse_segments("SparseSegmentMean", data, indices, segment_ids, num_segments, name)


def sparse_segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None):
    return _sparse_segments("SparseSegmentSqrtN", data, indices, segment_ids, num_segments, name)


@dispatches
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    with name_scope(name, "UnsortedSegmentMean", [data, segment_ids]):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        count = _unsorted_count(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / count  # noqa: F821


@dispatches
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    with name_scope(name, "UnsortedSegmentSqrtN", [data, segment_ids]):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        count = _unsorted_count(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / sqrt(count)  # noqa: F821


def _unsorted_count(data, segment_ids, num_segments):
    """How many rows each segment has, one for an empty one, shaped to divide the sums by."""
    ones = array_ops.ones(array_ops.shape(segment_ids), dtype=data.dtype.base_dtype)
    count = unsorted_segment_sum(ones, segment_ids, num_segments)  # noqa: F821
    return maximum(array_ops.reshape(count, [-1] + [1] * (data.shape.ndims - segment_ids.shape.ndims)), 1)  # noqa: F821


def reciprocal_no_nan(x, name=None):
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return div_no_nan(convert_to_tensor(1, dtype=x.dtype.base_dtype), x, name=scope)  # noqa: F821


def multiply_no_nan(x, y, name=None):
    return apply("MulNoNan", (x, y), {}, name)


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    x = convert_to_tensor(input_tensor)
    if not (x.dtype.is_complex or x.dtype.is_integer):
        with name_scope(name, "EuclideanNorm", [x]):
            return sqrt(reduce_sum(square(x), axis, keepdims=keepdims))  # noqa: F821
    axis = range(array_ops.rank(x)) if axis is None else axis
    return apply("EuclideanNorm", (x, axis), {"keep_dims": bool(keepdims)}, name)


def polyval(coeffs, x, name=None):
    """coeffs[0] x^(n-1) + ... + coeffs[n-1], by Horner's rule."""
    with name_scope(name, "polyval", list(coeffs) + [x]):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return apply("ZerosLike", (x,), {}, None)
        result = convert_to_tensor(coeffs[0], name="coeffs_0")
        for coefficient in coeffs[1:]:
            result = coefficient + result * x
        return result


def scalar_mul(scalar, x):
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(scalar * x.values, x.indices, x.dense_shape)
    return scalar * x


@dispatches
def log_sigmoid(x, name=None):
    with name_scope(name, "LogSigmoid", [x]) as scope:
        return negative(apply("Softplus", (-convert_to_tensor(x, name="x"),), {}, None), name=scope)  # noqa: F821


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each number occurs, or the sum of its weights; numbers from ``maxlength`` on do not count."""
    with name_scope("bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        size = cast(array_ops.size(arr) > 0, dtypes.int32) * (reduce_max(arr) + 1)
        if minlength is not None:
            size = maximum(convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32), size)  # noqa: F821
        if maxlength is not None:
            size = minimum(convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32), size)  # noqa: F821
        if weights is not None:
            return unsorted_segment_sum(convert_to_tensor(weights, name="weights"), arr, size)  # noqa: F821
        return apply("Bincount", (arr, size, array_ops.constant([], dtype)), {}, None)


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    return _weir.confusion_matrix(_graph(), labels, predictions, num_classes, dtypes.as_dtype(dtype), weights, name)


# Old names.
mul, sub, neg, inv = multiply, subtract, negative, reciprocal  # noqa: F821
complex_abs = abs


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    return _weir.matrix_transpose(_graph(), conj(a) if conjugate else a, name)  # noqa: F821


def bessel_i0(x, name=None):
    with name_scope(name, "bessel_i0", [x]):
        return exp(abs(x)) * bessel_i0e(x)  # noqa: F821


def bessel_i1(x, name=None):
    with name_scope(name, "bessel_i1", [x]):
        return exp(abs(x)) * bessel_i1e(x)  # noqa: F821


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values fall into each of ``nbins`` bins of equal width; those outside count in the outermost ones."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        values = convert_to_tensor(values, name="values")
        return apply("HistogramFixedWidth", (values, convert_to_tensor(value_range, dtype=values.dtype), nbins),
                     {"dtype": dtype}, scope)


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of ``histogram_fixed_width`` that each value falls into."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        low, high = array_ops.unstack(convert_to_tensor(value_range, name="value_range"), num=2)
        share = truediv(values - low, high - low)  # noqa: F821
        bins = cast(floor(cast(nbins, values.dtype) * share), dtypes.int32)  # noqa: F821
        return cast(minimum(maximum(bins, 0), nbins - 1), dtype)  # noqa: F821


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where values would be put into sorted rows, before (left) or behind equals."""
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    sorted_sequence, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    rows = array_ops.reshape(sorted_sequence, [-1, array_ops.shape(sorted_sequence)[-1]])
    wanted = array_ops.reshape(values, [-1, array_ops.shape(values)[-1]])
    found = apply("UpperBound" if side == "right" else "LowerBound", (rows, wanted), {"out_type": out_type}, name)
    return array_ops.reshape(found, array_ops.shape(values))
