"""Shapes, slices, joining and splitting."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import IndexedSlices, Tensor, convert_to_tensor, name_scope
from weir.core.dispatch import dispatches
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import Dimension, TensorShape, as_shape
from weir.ops import simple

simple.install(globals(), simple.ARRAY)
newaxis = None
_TENSORS = (Tensor, _weir.Variable)  # core/variables.py builds on this module
_py_range, _py_slice = range, slice  # Python's, before tf.slice


_SLICE_TYPE_ERROR = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
                     "are valid indices")


def _is_number(value):
    return isinstance(value, int) or (hasattr(value, "__index__") and not hasattr(value, "__len__"))


def placeholder(dtype, shape=None, name=None):
    shape = TensorShape(shape)
    return apply("Placeholder", (), {"dtype": dtypes.as_dtype(dtype), "shape": shape}, name)


placeholder_v2 = placeholder


def placeholder_with_default(input, shape, name=None):
    return apply("PlaceholderWithDefault", (input,), {"shape": TensorShape(shape)}, name)


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    graph = _graph()
    if isinstance(value, _TENSORS) or isinstance(value, (list, tuple)) and any(
            isinstance(item, _TENSORS) for item in value):
        raise TypeError("List of Tensors when single Tensor expected")
    if getattr(value, "nbytes", 0) >= 2**31:  # which no GraphDef could hold
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    shape = None if shape is None else TensorShape(shape)
    if verify_shape and shape is not None:
        given = tuple(dtypes._numpy().shape(value))
        if given != tuple(shape.as_list()):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape.as_list())}, got {given}.")
    return _weir.constant(graph, value, dtype, None if shape is None else shape._dims, name)


def _whole_sizes(shape):
    """A shape in which sizes may be whole numbers of any kind: [n, m / 2]."""
    if isinstance(shape, (list, tuple)) and any(isinstance(size, float) for size in shape):
        return TensorShape(shape).as_list()
    return shape


def zeros(shape, dtype=dtypes.float32, name=None):
    return _weir.zeros(_graph(), _whole_sizes(shape), dtypes.as_dtype(dtype), name)


def ones(shape, dtype=dtypes.float32, name=None):
    return _weir.ones(_graph(), _whole_sizes(shape), dtypes.as_dtype(dtype), name)


@dispatches
def zeros_like(tensor, dtype=None, name=None, optimize=True):
    return _weir.zeros_like(_graph(), tensor, None if dtype is None else dtypes.as_dtype(dtype), name)


@dispatches
def ones_like(tensor, dtype=None, name=None, optimize=True):
    return _weir.ones_like(_graph(), tensor, None if dtype is None else dtypes.as_dtype(dtype), name)


def _dense_shape(input, out_type, name):
    """The tensor of a sparse tensor's sizes in a type, or None for what is dense."""
    sizes = getattr(input, "dense_shape", None)
    if sizes is None or not hasattr(input, "indices") or isinstance(input, IndexedSlices):
        return None
    sizes = convert_to_tensor(sizes, dtype=None if isinstance(sizes, Tensor) else dtypes.int64)
    return _weir.cast(_graph(), sizes, dtypes.as_dtype(out_type), name)


def shape(input, name=None, out_type=dtypes.int32):
    sizes = _dense_shape(input, out_type, name)
    if sizes is not None:
        return sizes
    return _weir.shape(_graph(), input, dtypes.as_dtype(out_type), name)


def shape_n(input, out_type=dtypes.int32, name=None):
    return apply("ShapeN", (list(input),), {"out_type": dtypes.as_dtype(out_type)}, name)


@dispatches
def size(input, name=None, out_type=dtypes.int32):
    sizes = _dense_shape(input, out_type, None)
    if sizes is not None:
        return apply("Prod", (sizes, 0), {}, name)
    return _weir.size(_graph(), input, dtypes.as_dtype(out_type), name)


@dispatches
def rank(input, name=None):
    sizes = _dense_shape(input, dtypes.int32, None)
    if sizes is not None:
        return size(sizes, name)
    return _weir.rank(_graph(), input, name)


def rank_internal(input, name=None, optimize=True):
    return rank(input, name) if optimize else apply("Rank", (input,), {}, name)


def shape_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    return shape(input, name, out_type) if optimize else apply("Shape", (input,), {"out_type": out_type}, name)


def size_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    return size(input, name, out_type) if optimize else apply("Size", (input,), {"out_type": out_type}, name)


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Blocks of pixels as channels."""
    return apply("SpaceToDepth", (input,), {"block_size": block_size, "data_format": data_format}, name)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Channels as blocks of pixels."""
    return apply("DepthToSpace", (input,), {"block_size": block_size, "data_format": data_format}, name)


@dispatches
def identity(input, name=None):
    return apply("Identity", (input,), {}, name)


def identity_n(input, name=None):
    return apply("IdentityN", (list(input),), {}, name)


@dispatches
def expand_dims(input, axis=None, name=None, dim=None):
    axis = simple.either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return apply("ExpandDims", (input, axis), {}, name)


@dispatches
def squeeze(input, axis=None, name=None, squeeze_dims=None):
    axis = simple.either("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is not None and _is_number(axis):
        axis = [axis]
    return apply("Squeeze", (input,), {"squeeze_dims": axis}, name)


def squeeze_v2(input, axis=None, name=None):
    return squeeze(input, axis, name)


def transpose(a, perm=None, name="transpose", conjugate=False):
    if conjugate:
        a = apply("Conj", (a,), {}, None)
    if perm is None:
        with name_scope(name, "transpose", [a]) as scope:
            a = convert_to_tensor(a, name="a")
            if a.shape.ndims:
                perm = list(reversed(_py_range(a.shape.ndims)))
            else:
                count = rank(a)
                perm = (count - 1) - apply("Range", (0, count, 1), {}, None)
            return apply("Transpose", (a, perm), {}, scope)
    return _weir.transpose(_graph(), a, perm, name)


@dispatches
def concat(values, axis=None, name="concat", concat_dim=None):
    """``concat(values, axis)``, or TensorFlow 0.x's ``concat(concat_dim, values)``: a number first tells."""
    if concat_dim is not None:
        axis = concat_dim
    elif isinstance(axis, (list, tuple)) or _is_number(values) or (
            isinstance(values, Tensor) and values._shape_tuple() == () and not _is_number(axis)):
        values, axis = axis, values
        _graph()._of_0_x = True
    if not isinstance(values, (list, tuple)):
        values = [values]
    return _weir.concat(_graph(), list(values), axis, name)


@dispatches
def stack(values, axis=0, name="stack"):
    if isinstance(values, Tensor):
        values = unstack(values)
    values = list(values)
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)  # values alone are one constant
        except (TypeError, ValueError):
            pass
    return _weir.stack(_graph(), values, axis, name)


def pack(values, axis=0, name="pack"):
    _graph()._of_0_x = True
    return _weir.stack(_graph(), list(values), axis, name)


def parallel_stack(values, name="parallel_stack"):
    return _weir.stack(_graph(), list(values), 0, name)


def unstack(value, num=None, axis=0, name="unstack"):
    return _weir.unstack(_graph(), value, num, axis, name)


def unpack(value, num=None, axis=0, name="unpack"):
    _graph()._of_0_x = True
    return _weir.unstack(_graph(), value, num, axis, name)


def split(value=None, num_or_size_splits=None, axis=0, num=None, name="split", split_dim=None, num_split=None):
    """``split(value, num_or_size_splits, axis)``, or TensorFlow 0.x's ``split(split_dim, num_split, value)``."""
    if split_dim is not None or num_split is not None:
        if split_dim is None:
            split_dim = value if _is_number(value) else 0
        tensor = value if isinstance(value, _TENSORS) else axis
        value, num_or_size_splits, axis = tensor, num_split if num_split is not None else num_or_size_splits, split_dim
    elif isinstance(axis, _TENSORS) and not isinstance(value, _TENSORS) or _is_number(value):
        value, axis = axis, value
        _graph()._of_0_x = True
    if num_or_size_splits is None:
        raise TypeError("split() needs num_or_size_splits")
    return _weir.split(_graph(), value, num_or_size_splits, axis, num, name)


def slice(input_, begin, size, name=None):
    return apply("Slice", (input_, begin, size), {}, name)


def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                  shrink_axis_mask=0, var=None, name=None):
    if strides is None:
        strides = ones_like(begin)
    return apply("StridedSlice", (input_, begin, end, strides),
                 {"begin_mask": begin_mask, "end_mask": end_mask, "ellipsis_mask": ellipsis_mask,
                  "new_axis_mask": new_axis_mask, "shrink_axis_mask": shrink_axis_mask}, name)


def _subscript(tensor, key):
    """``tensor[key]``: numbers, ranges, ``...``, ``newaxis``, and tensors of numbers, in any mix."""
    if isinstance(key, Tensor) and key.dtype.base_dtype == dtypes.as_dtype("bool") or (
            getattr(key, "ndim", 0) and getattr(key, "dtype", None) == bool):
        return boolean_mask(tensor, key)
    keys = tuple(key) if isinstance(key, (tuple, list)) else (key,)
    for k in keys:
        for part in (k.start, k.stop, k.step) if isinstance(k, _py_slice) else (k,):
            if isinstance(part, (str, bytes, float, list, dict, bool)):
                raise TypeError(f"{_SLICE_TYPE_ERROR}, got {part!r}"
                                + (" (DataType float32 for attr 'Index')" if isinstance(part, float) else ""))
    return _weir.subscript(_graph(), tensor, keys, None)


@dispatches
def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    if batch_dims:
        return batch_gather(params, indices, name, batch_dims, axis)
    return _weir.gather(_graph(), params, indices, 0 if axis is None else axis, name)


def _batch_gather_along(params, indices, batch_dims, axis):
    """batch_gather along an axis behind the batch: it is brought to the front of what is left, and back."""
    if axis < batch_dims:
        raise ValueError(f"batch_dims = {batch_dims} must be less than or equal to axis = {axis}")
    ndims, b, picked = params.shape.ndims, batch_dims, indices.shape.ndims - batch_dims
    if ndims is None:
        raise ValueError("gather along another axis than the batch needs params of a known rank.")
    order = [*_py_range(b), axis, *_py_range(b, axis), *_py_range(axis + 1, ndims)]
    result = batch_gather(transpose(params, order), indices, None, b)
    between = axis - b
    back = [*_py_range(b), *_py_range(b + picked, b + picked + between), *_py_range(b, b + picked),
            *_py_range(b + picked + between, b + picked + between + ndims - axis - 1)]
    return transpose(result, back)


@dispatches
def batch_gather(params, indices, name=None, batch_dims=None, axis=None):
    """gather for each example: the first ``batch_dims`` dimensions (all but the last of ``indices``) are shared."""
    with name_scope(name, "BatchGather", [params, indices]):
        params, indices = convert_to_tensor(params, name="params"), convert_to_tensor(indices, name="indices")
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch_dims = rank - 1 if batch_dims is None else batch_dims % rank
        if axis is not None and axis < 0:
            if params.shape.ndims is None:
                raise ValueError("a negative axis needs params of a known rank.")
            axis += params.shape.ndims
        if axis is not None and axis != batch_dims:
            return _batch_gather_along(params, indices, batch_dims, axis)
        # Rows of the flattened leading dimensions: each index moves by the number of rows before its example.
        sizes, index_type = shape(params, out_type=indices.dtype.base_dtype), indices.dtype.base_dtype
        width, places, stride = sizes[batch_dims], indices, sizes[batch_dims]
        for i in reversed(_py_range(batch_dims)):
            zero, one = constant(0, index_type), constant(1, index_type)
            steps = _weir.range(_graph(), zero, sizes[i], one, None, "range") * stride
            places = places + reshape(steps, [-1 if j == i else 1 for j in _py_range(rank)])  # noqa: F821
            stride = stride * sizes[i]
        flat = reshape(params, concat([[stride], sizes[batch_dims + 1:]], 0))  # noqa: F821
        result = gather(flat, places)
        result.set_shape(params.shape[:batch_dims].concatenate(indices.shape[batch_dims:]).concatenate(
            params.shape[batch_dims + 1:]))
        return result


def concat_v2(values, axis, name="concat_v2"):
    return concat(values, axis, name)


def _with_batch_places(indices, batch_dims):
    """Indices [batch, ..., coordinates] with their own places in the first dimensions before the coordinates."""
    sizes, kind, ndims = shape(indices, out_type=indices.dtype.base_dtype), indices.dtype.base_dtype, indices.shape.ndims
    if ndims is None:
        raise ValueError("batch_dims needs indices of a known rank.")
    like = ones_like(indices[..., :1])
    places = []
    for i in _py_range(batch_dims):
        steps = _weir.range(_graph(), constant(0, kind), sizes[i], constant(1, kind), None, "range")
        places.append(like * reshape(steps, [-1 if j == i else 1 for j in _py_range(ndims)]))  # noqa: F821
    return concat(places + [indices], -1)


@dispatches
def gather_nd(params, indices, name=None, batch_dims=0):
    if isinstance(batch_dims, int) and batch_dims == 0:
        return apply("GatherNd", (params, indices), {}, name)
    return batch_gather_nd(params, indices, batch_dims, name)


def batch_gather_nd(params, indices, batch_dims, name=None):
    """gather_nd for each example: the first ``batch_dims`` dimensions are shared."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        params, indices = convert_to_tensor(params, name="params"), convert_to_tensor(indices, name="indices")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        for what, ndims in (("indices", indices.shape.ndims), ("params", params.shape.ndims)):
            if ndims is not None and batch_dims >= ndims:
                raise ValueError(f"batch_dims = {batch_dims} must be less than rank({what}) = {ndims}")
        return apply("GatherNd", (params, _with_batch_places(indices, batch_dims) if batch_dims else indices), {}, None)


def _diagonals(v1, v2, inputs, k, others, name):
    """The node of the first release for the main diagonal, of the second for any other, or a band of them."""
    if _is_number(k) and k == 0 and all(value == default for value, default in others):
        return apply(v1, inputs, {}, name)
    first = convert_to_tensor(inputs[0])
    kind = first.dtype.base_dtype
    last = [constant(bool(value) if kind == dtypes.bool else value, kind) for value, _ in others[-1:]]
    return apply(v2, (first, *inputs[1:], k, *(value for value, _ in others[:-1]), *last), {}, name)


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0):
    return _diagonals("MatrixDiag", "MatrixDiagV2", (diagonal,), k, [(num_rows, -1), (num_cols, -1), (padding_value, 0)],
                      name)


def matrix_diag_part(input, name="diag_part", k=0, padding_value=0):
    return _diagonals("MatrixDiagPart", "MatrixDiagPartV2", (input,), k, [(padding_value, 0)], name)


def matrix_set_diag(input, diagonal, name="set_diag", k=0):
    return _diagonals("MatrixSetDiag", "MatrixSetDiagV2", (input, diagonal), k, [], name)


def split_v(value, size_splits, split_dim=0, name="split_v"):
    return split(value, size_splits, split_dim, name=name)


def where_v2(condition, x=None, y=None, name=None):
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    return where(condition) if x is None else apply("SelectV2", (condition, x, y), {}, name)


def _square_block(size):
    """The blocks of the two-dimensional forms. ValueError for a size that is known to be too small."""
    if not isinstance(size, Tensor) and not hasattr(size, "__len__") and int(size) < 2:
        raise ValueError(f"block_size must be greater than one, got {size}")
    return [size, size] if not hasattr(size, "__len__") else size


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """Square blocks of pictures, moved into the dimension of the batch."""
    block = _square_block(block_shape if block_size is None else block_size)
    result = space_to_batch_nd(input, block, paddings, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(input, crops, block_size=None, name=None, block_shape=None):
    """What space_to_batch moved, moved back."""
    block = _square_block(block_shape if block_size is None else block_size)
    result = batch_to_space_nd(input, block, crops, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings, crops) that make the sizes multiples of the blocks."""
    numpy = dtypes._numpy()
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        given = [convert_to_tensor(input_shape, "int32", name="input_shape"),
                 convert_to_tensor(block_shape, "int32", name="block_shape")]
        if base_paddings is None:
            given.append(zeros([given[1].shape.as_list()[0], 2], "int32"))
        else:
            given.append(convert_to_tensor(base_paddings, "int32", name="base_paddings"))
        known = [_weir.constant_value(tensor) for tensor in given]
        if any(value is None for value in known):
            sizes, blocks, base = given
            extra = (blocks - (sizes + base[:, 0] + base[:, 1]) % blocks) % blocks
            return (stack([base[:, 0], base[:, 1] + extra], 1, name="paddings"),
                    stack([extra * 0, extra], 1, name="crops"))
        sizes, blocks, base = known
        extra = (-(sizes + base.sum(axis=1))) % blocks
        zeros_ = numpy.zeros_like(extra)
        return (constant(numpy.stack([base[:, 0], base[:, 1] + extra], 1).astype(numpy.int32), name="paddings"),
                constant(numpy.stack([zeros_, extra], 1).astype(numpy.int32), name="crops"))


def dimension_at_index(shape, index):
    return Dimension(None) if shape.rank is None else shape.dims[index]


def sort(values, axis=-1, direction="ASCENDING", name=None):
    return _sorted(values, axis, direction, 0, name, "sort")


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    return _sorted(values, axis, direction, 1, name, "argsort")


def _sorted(values, axis, direction, output, name, default):
    """Through top_k, which sorts the last dimension downwards."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Unrecognized direction: {direction}. direction should be one of ASCENDING, DESCENDING.")
    with name_scope(name, default, [values]):
        values = convert_to_tensor(values, name="values")
        rank = values.shape.ndims
        if rank is None:
            raise ValueError("values must have a known rank")
        constant(axis, name="axis")  # node by node as TensorFlow's
        axis = axis % rank
        ascending = direction == "ASCENDING"
        # Integers have one more number below zero than above: -1 - x turns the order without overflow.
        integer = values.dtype.base_dtype.is_integer

        def turned(x):
            return (-1 - x if integer else -x) if ascending else x

        moved, count = turned(values), shape(values)[axis]
        _weir.rank(_graph(), values, None)
        order = None
        if axis != rank - 1:
            order = list(_py_range(rank))
            order[axis], order[-1] = order[-1], order[axis]
            order = constant(order, name="transposition")
            moved = transpose(moved, order)
        results = apply("TopKV2", (moved, count), {}, None)
        result = turned(results[0]) if output == 0 else results[1]
        return result if order is None else transpose(result, order)


@dispatches
def where(condition, x=None, y=None, name=None):
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    return _weir.where(_graph(), condition, x, y, name)


def select(condition, t, e, name=None):
    return _weir.where(_graph(), condition, t, e, name)


@dispatches
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        on_dtype, off_dtype = (None if value is None else convert_to_tensor(value).dtype.base_dtype
                               for value in (on_value, off_value))
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        for which, have in (("on_value", on_dtype), ("off_value", off_dtype)):
            if wanted is not None and have is not None and have != wanted:
                raise TypeError(f"dtype {have} of {which} does not match dtype parameter {wanted}")
        wanted = wanted or on_dtype or off_dtype or dtypes.float32
        if on_value is None:
            on_value, on_dtype = convert_to_tensor(1, wanted, name="on_value"), wanted
        if off_value is None:
            off_value, off_dtype = convert_to_tensor(0, wanted, name="off_value"), wanted
        if on_dtype != off_dtype:
            raise TypeError(f"dtype {on_dtype} of on_value does not match dtype {off_dtype} of off_value")
        return apply("OneHot", (indices, depth, on_value, off_value), {"axis": axis}, scope)


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    mode = mode.upper()
    if mode == "CONSTANT":
        if isinstance(constant_values, (int, float)) and constant_values == 0:
            return apply("Pad", (tensor, paddings), {}, name)
        return _weir.pad(_graph(), tensor, paddings, constant_values, name)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Unknown padding mode: {mode}")
    return apply("MirrorPad", (tensor, paddings), {"mode": mode}, name)


def reverse(tensor, axis=None, name=None, dims=None):
    """``reverse(tensor, axis)``, or TensorFlow 0.x's ``reverse(tensor, dims)`` with a bool for each dimension."""
    axis = dims if axis is None else axis
    if isinstance(axis, (list, tuple)) and axis and all(isinstance(a, bool) for a in axis):
        axis = [i for i, reversed_ in enumerate(axis) if reversed_]
    elif getattr(axis, "dtype", None) is not None and dtypes.as_dtype(axis.dtype).base_dtype == dtypes.bool:
        return apply("Reverse", (tensor, axis), {}, name)
    return apply("ReverseV2", (tensor, axis), {}, name)


reverse_v2 = reverse


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    seq_axis = seq_dim if seq_axis is None else seq_axis
    batch_axis = batch_dim if batch_axis is None else batch_axis
    return apply("ReverseSequence", (input, seq_lengths), {"seq_dim": seq_axis, "batch_dim": batch_axis or 0}, name)


@dispatches
def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The entries of ``tensor`` where ``mask``, whose shape is that of the first dimensions, is true."""
    return _weir.boolean_mask(_graph(), tensor, mask, axis or 0, name)


def sequence_mask(lengths, maxlen=None, dtype=dtypes.as_dtype("bool"), name=None):
    """``mask[i, ..., j] = j < lengths[i, ...]``."""
    if maxlen is not None and not _is_number(maxlen):
        maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.ndims not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
    return _weir.sequence_mask(_graph(), lengths, maxlen, dtypes.as_dtype(dtype), name)


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    return apply("ListDiff", (x, y), {"out_idx": dtypes.as_dtype(index_dtype)}, name)


listdiff = setdiff1d


def meshgrid(*args, indexing="xy", name="meshgrid"):
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    return _weir.meshgrid(_graph(), list(args), indexing == "xy", name)


@dispatches
def string_join(inputs, separator="", name=None):
    return apply("StringJoin", (list(inputs),), {"separator": separator}, name)


def guarantee_const(input, name=None):
    return identity(input, name)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that tensors of two shapes, which are tensors, broadcast to."""
    return apply("BroadcastArgs", (shape_x, shape_y), {}, None)


def broadcast_static_shape(shape_x, shape_y):
    shape_x, shape_y = as_shape(shape_x), as_shape(shape_y)
    if shape_x.ndims is None or shape_y.ndims is None:
        return TensorShape(None)
    x, y = shape_x.as_list(), shape_y.as_list()
    length = max(len(x), len(y))
    x, y = [1] * (length - len(x)) + x, [1] * (length - len(y)) + y
    result = []
    for a, b in zip(x, y):
        if a == 1 or b == 1:
            result.append(b if a == 1 else a)
        elif a is None or b is None:
            result.append(b if a is None else a)
        elif a != b:
            raise ValueError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}")
        else:
            result.append(a)
    return TensorShape(result)
