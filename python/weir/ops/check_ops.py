"""Claims about tensors: about values when the graph runs, about types and shapes when it is built, where that can be."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import IndexedSlices, Tensor, control_dependencies, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph
from weir.ops import array_ops, control_flow_ops, math_ops
from weir.ops.sparse_ops import SparseTensor


def _static(tensor):
    """The value if the graph alone decides it, else None."""
    return _weir.constant_value(tensor)


def _compare(claim, symbol, function):
    """assert_<claim>(x, y): fails unless ``function(x, y)`` holds everywhere."""
    public = f"assert_{claim}"

    def check(x, y, data=None, summarize=None, message=None, name=None):
        message = "" if message is None else message
        with name_scope(name, public, [x, y, data]):
            x = convert_to_tensor(x, name="x")
            typed = isinstance(y, (Tensor, _weir.Variable))
            y = convert_to_tensor(y, name="y", dtype=None if typed else x.dtype.base_dtype)
            if data is None:
                data = [message, f"Condition x {symbol} y did not hold element-wise:", f"x ({x.name}) = ", x,
                        f"y ({y.name}) = ", y]
            return control_flow_ops.Assert(math_ops.reduce_all(function(x, y)), data, summarize=summarize)

    check.__name__ = check.__qualname__ = public
    check.__doc__ = f"An operation that fails unless x {symbol} y holds for every element."
    return check


assert_equal = _compare("equal", "==", math_ops.equal)
assert_none_equal = _compare("none_equal", "!=", math_ops.not_equal)
assert_less = _compare("less", "<", math_ops.less)
assert_less_equal = _compare("less_equal", "<=", math_ops.less_equal)
assert_greater = _compare("greater", ">", math_ops.greater)
assert_greater_equal = _compare("greater_equal", ">=", math_ops.greater_equal)


def _sign(claim, text, check):
    public = f"assert_{claim}"

    def with_zero(x, data=None, summarize=None, message=None, name=None):
        message = "" if message is None else message
        with name_scope(name, public, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [message, f"Condition {text} did not hold element-wise:", f"x ({x.name}) = ", x]
            zero = convert_to_tensor(0, dtype=x.dtype.base_dtype)
            return check(x, zero, data=data, summarize=summarize)

    with_zero.__name__ = with_zero.__qualname__ = public
    with_zero.__doc__ = f"An operation that fails unless {text} holds for every element."
    return with_zero


assert_positive = _sign("positive", "x > 0", assert_greater)
assert_negative = _sign("negative", "x < 0", assert_less)
assert_non_negative = _sign("non_negative", "x >= 0", assert_greater_equal)
assert_non_positive = _sign("non_positive", "x <= 0", assert_less_equal)


def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    message = "" if message is None else message
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        eps = dtypes._numpy().finfo(x.dtype.base_dtype.as_numpy_dtype).eps
        rtol = convert_to_tensor(10 * float(eps) if rtol is None else rtol, dtype=x.dtype.base_dtype)
        atol = convert_to_tensor(10 * float(eps) if atol is None else atol, dtype=x.dtype.base_dtype)
        if data is None:
            data = [message, "x and y not equal to tolerance rtol = ", rtol, ", atol = ", atol, f"x ({x.name}) = ", x,
                    f"y ({y.name}) = ", y]
        condition = math_ops.reduce_all(math_ops.less_equal(math_ops.abs(x - y), atol + rtol * math_ops.abs(y)))
        return control_flow_ops.Assert(condition, data, summarize=summarize)


def _check_rank(x, ranks, holds_static, condition, words, data, summarize, message, name, scope):
    message = "" if message is None else message
    with name_scope(name, scope, [x, data]):
        x = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(rank, name="rank") for rank in ranks]
        for rank in ranks:
            if not rank.dtype.base_dtype.is_integer:
                raise TypeError(f"Rank {rank.name} must be of type {dtypes.int32}, not {rank.dtype.name}")
            if rank.shape.ndims not in (None, 0):
                raise ValueError("Rank must be a scalar")
        values = [_static(rank) for rank in ranks]
        if x.shape.ndims is not None and None not in values:
            numbers = [int(value) for value in values]
            if holds_static(x.shape.ndims, numbers):
                return control_flow_ops.no_op(name="static_checks_determined_all_ok")
            given = tuple(numbers) if words == "in " else numbers[0]
            raise ValueError(f"{message}.  Tensor {x.name} must have rank {words}{given}.  Received rank {x.shape.ndims}, "
                             f"shape {x.shape}")
        if data is None:
            data = [message, f"Tensor {x.name} must have rank {words}", *ranks, "Received shape: ", array_ops.shape(x)]
        scalars = [control_flow_ops.Assert(math_ops.equal(array_ops.rank(rank), 0), ["Rank must be a scalar"])
                   for rank in ranks if rank.shape.ndims is None]
        if scalars:
            with control_dependencies(scalars):
                ranks = [array_ops.reshape(rank, []) for rank in ranks]
        return control_flow_ops.Assert(condition(array_ops.rank(x), ranks), data, summarize=summarize)


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    return _check_rank(x, [rank], lambda have, want: have == want[0], lambda have, want: math_ops.equal(have, want[0]),
                       "", data, summarize, message, name, "assert_rank")


def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None):
    return _check_rank(x, [rank], lambda have, want: have >= want[0],
                       lambda have, want: math_ops.greater_equal(have, want[0]), "at least ", data, summarize, message,
                       name, "assert_rank_at_least")


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    return _check_rank(x, list(ranks), lambda have, want: have in want,
                       lambda have, want: math_ops.reduce_any(math_ops.equal(have, array_ops.stack(want))), "in ", data,
                       summarize, message, name, "assert_rank_in")


def assert_scalar(tensor, name=None, message=None):
    with name_scope(name, "assert_scalar", [tensor]):
        tensor = convert_to_tensor(tensor)
        if tensor.shape.ndims != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def assert_type(tensor, tf_type, message=None, name=None):
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype != dtypes.as_dtype(tf_type).base_dtype:
            raise TypeError(f"{message or ''}  {tensor.name} must be of type {tf_type!r}")
        return control_flow_ops.no_op("statically_determined_correct_type")


def assert_integer(x, message=None, name=None):
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.base_dtype.is_integer:
            raise TypeError(f"{message or ''}  Expected \"x\" to be integer type.  Found: {x.dtype!s} of {x.name}")
        return control_flow_ops.no_op("statically_determined_was_integer")


def assert_proper_iterable(values):
    if isinstance(values, (Tensor, SparseTensor, _weir.Variable, str, bytes)) or hasattr(values, "__array__"):
        raise TypeError("Expected argument \"values\" to be a \"proper\" iterable.  Found: %s" % type(values))
    if not hasattr(values, "__iter__"):
        raise TypeError("Expected argument \"values\" to be iterable.  Found: %s" % type(values))


def assert_same_float_dtype(tensors=None, dtype=None):
    """The type that all tensors share, which must be a floating one; float32 when nothing says."""
    expected = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    for tensor in tensors or ():
        if tensor is None:
            continue
        tensor = getattr(tensor, "values", tensor) if hasattr(tensor, "dense_shape") else tensor  # a sparse one
        have = convert_to_tensor(tensor).dtype.base_dtype
        if expected is not None and have != expected:
            raise ValueError(f"Tensor {tensor} type {have.name} does not match expected type {expected.name}.")
        expected = have
    if expected is None:
        return dtypes.float32
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected.name}.")
    return expected


def assert_all_finite(t=None, msg=None, name=None, x=None, message=None):
    x, message = t if x is None else x, msg if message is None else message
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="x")
        check = array_ops.check_numerics(x, message=message)
        with control_dependencies([check]):
            return array_ops.identity(x, name="control_dependency")


verify_tensor_all_finite = assert_all_finite


def is_numeric_tensor(tensor):
    return isinstance(tensor, Tensor) and (
        tensor.dtype.base_dtype.is_floating or tensor.dtype.base_dtype.is_integer or tensor.dtype.base_dtype.is_complex
        or tensor.dtype.base_dtype.is_quantized)


def _steps(x):
    """Differences of neighbours of the flattened tensor."""
    flat = array_ops.reshape(x, [-1])
    return flat[1:] - flat[:-1]


def is_non_decreasing(x, name=None):
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(convert_to_tensor(x, name="x"))
        return math_ops.reduce_all(math_ops.less_equal(convert_to_tensor(0, dtype=steps.dtype), steps))


def is_strictly_increasing(x, name=None):
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(convert_to_tensor(x, name="x"))
        return math_ops.reduce_all(math_ops.less(convert_to_tensor(0, dtype=steps.dtype), steps))


def is_tensor(x):
    return isinstance(x, (Tensor, _weir.Variable, IndexedSlices, SparseTensor))


def add_check_numerics_ops():
    """One operation that fails if any floating tensor of the graph has an infinite or undefined element."""
    checks = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype.base_dtype in (dtypes.half, dtypes.float32, dtypes.float64):
                with control_dependencies(checks):
                    checks = [array_ops.check_numerics(output, message=f"{op.name}:{output.value_index}")]
    return control_flow_ops.group(*checks)


def _shape_claim(tensor, shape, message):
    """Whether a claimed shape is about the last dimensions only, and its sizes: numbers, or names of sizes, or None."""
    if not hasattr(shape, "__iter__") and not hasattr(shape, "__getitem__"):
        raise ValueError(f"{message}.  Tensor {tensor.name}.  Specified shape must be an iterable.  An iterable has the "
                         f"attribute `__iter__` or `__getitem__`.  Received specified shape: {shape}")
    sizes = list(shape)
    for i, size in enumerate(sizes):
        if i > 0 and size in (Ellipsis, "*"):
            raise ValueError(f"{message}.  Tensor {tensor.name} specified shape index {i}.  Symbol `...` or `*` for a variable "
                             "number of unspecified dimensions is only allowed as the first entry")
    innermost = bool(sizes) and sizes[0] in (Ellipsis, "*")
    sizes = [_size_claim(size) for size in sizes[innermost:]]
    return innermost, sizes or [1]  # a scalar counts as one element


def _size_claim(size):
    if size is None or (isinstance(size, str) and size == "."):
        return None
    try:
        return int(size)
    except (TypeError, ValueError):
        return size


def _check_claimed_rank(tensor, innermost, rank, *how):
    if innermost:
        return [] if rank == 1 else [assert_rank_at_least(tensor, rank, *how)]
    return [assert_rank_in(tensor, [0, 1], *how) if rank == 1 else assert_rank(tensor, rank, *how)]


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Fails unless tensors have the shapes claimed: (tensor, shape) pairs in which a name stands for one size wherever it
    occurs, None or '.' for any, and a first ... or '*' for any further dimensions."""
    message = message or ""
    with name_scope(name, "assert_shapes"):
        pairs = [(convert_to_tensor(tensor), shape)
                 for tensor, shape in (shapes.items() if isinstance(shapes, dict) else shapes) if shape is not None]
        claims = [(tensor, *_shape_claim(tensor, shape, message)) for tensor, shape in pairs]
        checks = []
        for tensor, innermost, sizes in claims:
            checks += _check_claimed_rank(tensor, innermost, len(sizes), data, summarize, message, name)
        known = {}  # what a name stands for: the size, the tensor that said so, and where
        for tensor, innermost, sizes in claims:
            for i, claim in enumerate(sizes):
                at = i - len(sizes) if innermost else i
                if claim is None:
                    continue
                actual = _size_at(tensor, at)
                if isinstance(claim, int):
                    wanted, why = claim, "Specified explicitly"
                elif claim in known:
                    wanted, other, where = known[claim]
                    why = f"Specified by tensor {other.name} dimension {where}"
                else:
                    known[claim] = actual, tensor, at
                    continue
                if isinstance(actual, int) and isinstance(wanted, int):
                    if actual != wanted:
                        raise ValueError(f"{message}.  {why}.  Tensor {tensor.name} dimension {at} must have size {wanted}.  "
                                         f"Received size {actual}, shape {tensor.shape}")
                    continue
                shown = data if data is not None else [message, why, f"Tensor {tensor.name} dimension", at, "must have size",
                                                       wanted, "Received shape: ", array_ops.shape(tensor)]
                checks.append(control_flow_ops.Assert(math_ops.equal(actual, wanted), shown, summarize=summarize))
        return control_flow_ops.group(*checks)


def _size_at(tensor, at):
    """A size as a number where it is known; that of a scalar is 1."""
    if tensor.shape.ndims == 0:
        return 1
    if tensor.shape.ndims is not None and tensor.shape.dims[at].value is not None:
        return tensor.shape.dims[at].value
    sizes = array_ops.shape(tensor)
    if tensor.shape.ndims is None:
        sizes = control_flow_ops.cond(math_ops.equal(array_ops.rank(tensor), 0), lambda: array_ops.constant([1]),
                                      lambda: array_ops.identity(sizes))
    return sizes[at]
