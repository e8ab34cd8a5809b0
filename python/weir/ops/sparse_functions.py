"""Functions of sparse tensors: one operation each, or few."""

import numbers

from weir import _weir
from weir.core import dtypes
from weir.core.graph import Tensor, colocate_with, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_util import constant_value
from weir.core.values import SparseTensorValue
from weir.ops import array_ops, check_ops, control_flow_ops, math_ops
from weir.ops.simple import either
from weir.ops.sparse_ops import SparseTensor, sparse_tensor_to_dense

_SPARSE = (SparseTensor, SparseTensorValue)
_DEFAULT_HASH_KEY = 0xDECAFCAFFE



def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """How many elements must be put in, left out or changed to make each sequence of ``truth`` of its ``hypothesis``."""
    hypothesis, truth = _sparse(hypothesis), _sparse(truth)
    return apply("EditDistance", (hypothesis.indices, hypothesis.values, hypothesis.dense_shape, truth.indices, truth.values,
                                  truth.dense_shape), {"normalize": normalize}, name)


def _sparse(value):
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def _sparse_list(values):
    if not isinstance(values, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    return [_sparse(value) for value in values]


def _parts(sparse):
    return sparse.indices, sparse.values, sparse.dense_shape


def _int64(value, name=None):
    value = convert_to_tensor(value, name=name)
    return value if value.dtype == dtypes.int64 else math_ops.cast(value, dtypes.int64)


def _known_shape(sparse):
    """The sizes, when all are known, or a tensor of them."""
    shape = sparse.get_shape()
    return shape.as_list() if shape.is_fully_defined() else array_ops.identity(sparse.dense_shape)


def from_dense(tensor, name=None):
    """The elements that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = "" if tensor.dtype == dtypes.string else 0
        indices = array_ops.where(math_ops.not_equal(tensor, array_ops.constant(zero, tensor.dtype)))
        return SparseTensor(indices, array_ops.gather_nd(tensor, indices), array_ops.shape(tensor, out_type=dtypes.int64))


def sparse_expand_dims(sp_input, axis=None, name=None):
    rank = sp_input.dense_shape.get_shape()[0].value
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        axis = convert_to_tensor(axis, name="axis", dtype=dtypes.int32)
        axis = array_ops.where(axis >= 0, axis, axis + rank + 1)
        fresh = array_ops.zeros([array_ops.shape(sp_input.indices)[0], 1], dtype=dtypes.int64)
        indices = array_ops.concat([array_ops.slice(sp_input.indices, [0, 0], [-1, axis]), fresh,
                                    array_ops.slice(sp_input.indices, [0, axis], [-1, -1])], axis=1)
        one = convert_to_tensor([1], name="new_shape", dtype=dtypes.int64)
        shape = array_ops.concat([array_ops.slice(sp_input.dense_shape, [0], [axis]), one,
                                  array_ops.slice(sp_input.dense_shape, [axis], [-1])], axis=0)
        return SparseTensor(indices, sp_input.values, shape)


def sparse_eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        size = math_ops.minimum(rows, columns)
        places = math_ops.range(size, dtype=dtypes.int64)
        return SparseTensor(array_ops.stack([places, places], axis=1), array_ops.ones(array_ops.expand_dims(size, 0), dtype),
                            array_ops.stack([rows, columns]))


def sparse_concat(axis=None, sp_inputs=None, name=None, expand_nonconcat_dim=False, concat_dim=None,
                  expand_nonconcat_dims=None):
    axis = either("axis", axis, "concat_dim", concat_dim)
    inputs = _sparse_list(sp_inputs)
    if len(inputs) == 1:
        return inputs[0]
    shapes = [value.dense_shape for value in inputs]
    if expand_nonconcat_dim or expand_nonconcat_dims:
        largest = math_ops.reduce_max(array_ops.concat([array_ops.reshape(shape, [1, -1]) for shape in shapes], 0), 0)
        rest = [] if axis == -1 else [largest[axis + 1:]]
        shapes = [array_ops.concat([largest[:axis], shape[-1:] if axis == -1 else shape[axis:axis + 1]] + rest, 0)
                  for shape in shapes]
    indices, values, shape = apply(
        "SparseConcat", ([value.indices for value in inputs], [value.values for value in inputs], shapes),
        {"concat_dim": axis}, name)
    sizes = [constant_value(shape) for shape in shapes]
    if all(size is not None for size in sizes):
        joined = sizes[0].copy()
        joined[axis] = sum(size[axis] for size in sizes)
        shape = convert_to_tensor(joined)
    return SparseTensor(indices, values, shape)


def sparse_add(a, b, threshold=None, thresh=None):
    """The sum of two tensors of which one at least is sparse; of two sparse ones sums below the threshold are left out."""
    threshold = either("threshold", threshold, "thresh", thresh)
    if not isinstance(a, _SPARSE) and not isinstance(b, _SPARSE):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not isinstance(a, _SPARSE) or not isinstance(b, _SPARSE):
        sparse, dense = (a, b) if isinstance(a, _SPARSE) else (b, a)
        return apply("SparseTensorDenseAdd", (*_parts(_sparse(sparse)), dense), {}, None)
    a, b = _sparse(a), _sparse(b)
    threshold = convert_to_tensor(0 if threshold is None else threshold, dtype=a.values.dtype.real_dtype.base_dtype,
                                  name="thresh")
    a.get_shape().assert_is_compatible_with(b.get_shape())
    indices, values, shape = apply("SparseAdd", (*_parts(a), *_parts(b), threshold), {}, None)
    return SparseTensor(indices, values, a.get_shape().as_list() if a.get_shape().is_fully_defined() else shape)


def _cross(inputs, hashed, num_buckets, hash_key, name):
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(value, (SparseTensor, Tensor)) for value in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [value for value in inputs if isinstance(value, SparseTensor)]
    dense = [value for value in inputs if not isinstance(value, SparseTensor)]

    def column(values):
        return values if values.dtype == dtypes.string else _int64(values)

    values, dense = [column(value.values) for value in sparse], [column(value) for value in dense]
    texts = all(value.dtype == dtypes.string for value in values + dense)
    attrs = {"hashed_output": hashed, "num_buckets": num_buckets, "hash_key": hash_key or _DEFAULT_HASH_KEY,
             "out_type": dtypes.int64 if hashed else dtypes.string,
             "internal_type": dtypes.string if texts else dtypes.int64}
    return SparseTensor(*apply("SparseCross", ([value.indices for value in sparse], values,
                                               [value.dense_shape for value in sparse], dense), attrs, name))


def sparse_cross(inputs, name=None):
    return _cross(inputs, False, 0, None, name)


def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    return _cross(inputs, True, num_buckets, hash_key, name)


def sparse_dense_cwise_add(sp_t, dense_t):
    return SparseTensor(sp_t.indices, apply("SparseDenseCwiseAdd", (*_parts(sp_t), dense_t), {}, None), sp_t.dense_shape)


def sparse_reorder(sp_input, name=None):
    sp_input = _sparse(sp_input)
    return SparseTensor(*apply("SparseReorder", _parts(sp_input), {}, name), _known_shape(sp_input))


def sparse_reshape(sp_input, shape, name=None):
    sp_input = _sparse(sp_input)
    shape = _int64(shape)
    with name_scope(name, "SparseReshape", [sp_input]) as scope:
        indices, new_shape = apply("SparseReshape", (sp_input.indices, sp_input.dense_shape, shape), {}, scope)
        asked = constant_value(shape)
        if asked is not None and sp_input.get_shape().is_fully_defined():
            new_shape = array_ops.constant(_reshaped(sp_input.get_shape().as_list(), asked.tolist()), dtype=dtypes.int64)
        return SparseTensor(indices, array_ops.identity(sp_input.values), new_shape)


def _reshaped(sizes, asked):
    """The sizes that are asked for, -1 filled in."""
    if asked.count(-1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {asked}")
    whole = known = 1
    for size in sizes:
        whole *= size
    for size in asked:
        known *= 1 if size == -1 else size
    result = [whole // known if size == -1 and known else size for size in asked]
    product = 1
    for size in result:
        product *= size
    if product != whole:
        shown = [None if size == -1 else size for size in asked]
        raise ValueError(f"Cannot reshape a tensor with {whole} elements to shape {shown} ({product} elements).")
    return result


_REQUIRED = object()


def sparse_split(keyword_required=_REQUIRED, sp_input=None, num_split=None, axis=None, name=None, split_dim=None):
    """``num_split`` parts along a dimension. In the first releases the order was (split_dim, num_split, sp_input)."""
    if isinstance(num_split, _SPARSE) and keyword_required is not _REQUIRED:
        axis, num_split, sp_input, keyword_required = keyword_required, sp_input, num_split, _REQUIRED
    if keyword_required is not _REQUIRED:
        raise ValueError("Keyword arguments are required for this function.")
    axis = either("axis", axis, "split_dim", split_dim)
    for argument, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{argument} is required")
    indices, values, shapes = apply("SparseSplit", (_int64(axis), *_parts(_sparse(sp_input))), {"num_split": num_split}, name)
    return [SparseTensor(*part) for part in zip(indices, values, shapes)]


def sparse_slice(sp_input, start, size, name=None):
    sp_input = _sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    return SparseTensor(*apply("SparseSlice", (*_parts(sp_input), start, size), {}, name))


def _axes(sp_input, axis):
    if axis is None:
        rank = sp_input.dense_shape.get_shape()[0].value
        return list(range(rank)) if rank is not None else math_ops.range(array_ops.size(sp_input.dense_shape))
    return axis if not isinstance(axis, numbers.Integral) else [axis]


def _reduce(op, sp_input, axis, keepdims, reduction_axes, keep_dims):
    sp_input = _sparse(sp_input)
    axis = convert_to_tensor(_axes(sp_input, either("axis", axis, "reduction_axes", reduction_axes)), dtype=dtypes.int32)
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    return apply(op, (*_parts(sp_input), axis), {"keep_dims": keep}, None)


def sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduce("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduce("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return SparseTensor(*_reduce("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_reduce_max_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return SparseTensor(*_reduce("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """Values whose last coordinates are the ids."""
    if isinstance(sp_ids, _SPARSE):
        sp_ids = [sp_ids]
        if not isinstance(vocab_size, (Tensor, numbers.Integral)):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
        vocab_size = [vocab_size]
    else:
        if not hasattr(sp_ids, "__iter__"):
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
        for size in vocab_size if hasattr(vocab_size, "__iter__") and not isinstance(vocab_size, Tensor) else [None]:
            if not isinstance(size, (Tensor, numbers.Integral)):
                raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge", [sp_values]):
        sp_ids, sp_values = _sparse_list(list(sp_ids)), _sparse(sp_values)
        ids = [array_ops.expand_dims(_int64(value.values), axis=1) for value in sp_ids]
        indices = array_ops.concat([sp_ids[0].indices[:, :-1]] + ids, 1)
        sizes = array_ops.stack([_int64(size) for size in vocab_size])
        shape = array_ops.concat([sp_ids[0].dense_shape[:-1], sizes], 0)
        result = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, shape)


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """True at the last coordinates that are values of the input."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        count = array_ops.shape(sp_input.indices)[0]
        there = SparseTensor(sp_input.indices, array_ops.fill(array_ops.expand_dims(count, 0), True), sp_input.dense_shape)
        merged = sparse_merge(sp_input, there, vocab_size, scope)
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=scope)


def sparse_reset_shape(sp_input, new_shape=None):
    """The same values in a larger shape, or in the smallest one."""
    sp_input = _sparse(sp_input)
    indices, values = array_ops.identity(sp_input.indices), array_ops.identity(sp_input.values)
    if new_shape is None:
        top = math_ops.reduce_max(sp_input.indices, axis=0)
        smallest = math_ops.cast(0, dtypes.int64)
        shape = math_ops.maximum(smallest, math_ops.add(top, array_ops.ones_like(sp_input.dense_shape)))
        return SparseTensor(indices, values, shape)
    shape = _int64(new_shape)
    shape.get_shape().assert_has_rank(1)
    now, asked = constant_value(sp_input.dense_shape), constant_value(shape)
    if asked is not None and now is not None:
        if len(now) != len(asked):
            raise ValueError(f"Shapes ({len(now)},) and ({len(asked)},) must have the same rank")
        if (asked < now).any():
            raise ValueError("Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                             f"{list(asked)}, sp_input.shape {list(now)}.")
        return SparseTensor(indices, values, shape)
    same_rank = check_ops.assert_equal(array_ops.shape(sp_input.dense_shape), array_ops.shape(shape))
    shape = control_flow_ops.with_dependencies([same_rank], shape)
    fits = check_ops.assert_less_equal(sp_input.dense_shape, shape)
    return SparseTensor(indices, values, control_flow_ops.with_dependencies([fits], shape))


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """(the tensor in which each empty row has the default value in its first column, which rows these are)."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        indices, values, empty, _ = apply("SparseFillEmptyRows", (*_parts(sp_input), default_value), {}, None)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    return apply("SerializeSparse", _parts(_sparse(sp_input)), {"out_type": out_type}, name)


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    return apply("SerializeManySparse", _parts(_sparse(sp_input)), {"out_type": out_type}, name)


def _ranked(parts, rank):
    indices, values, shape = parts
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def deserialize_sparse(serialized_sparse, dtype, rank=None, name=None):
    return _ranked(apply("DeserializeSparse", (serialized_sparse,), {"dtype": dtype}, name), rank)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    return _ranked(apply("DeserializeManySparse", (serialized_sparse,), {"dtype": dtype}, name), rank)


def sparse_softmax(sp_input, name=None):
    with name_scope(name, "SparseSoftmax", [sp_input]):
        values = apply("SparseSoftmax", _parts(sp_input), {}, None)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _elementwise(op, sp_a, sp_b, name, scope):
    with name_scope(name, scope, [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]):
        indices, values = apply(op, (*_parts(sp_a), *_parts(sp_b)), {}, None)
        return SparseTensor(indices, values, sp_a.dense_shape)


def sparse_maximum(sp_a, sp_b, name=None):
    return _elementwise("SparseSparseMaximum", sp_a, sp_b, name, "SparseSparseMaximum")


def sparse_minimum(sp_a, sp_b, name=None):
    return _elementwise("SparseSparseMinimum", sp_a, sp_b, name, "SparseSparseMinimum")


def sparse_transpose(sp_input, perm=None, name=None):
    with name_scope(name, "SparseTranspose"):
        if perm is None:
            rank = array_ops.rank(sp_input) if sp_input.get_shape().ndims is None else sp_input.get_shape().ndims
            perm = (rank - 1) - math_ops.range(0, rank, 1)
        columns = array_ops.transpose(array_ops.gather(array_ops.transpose(sp_input.indices), perm))
        turned = SparseTensor(columns, sp_input.values, array_ops.gather(sp_input.dense_shape, perm))
        return sparse_reorder(turned)


def add_sparse_to_tensors_map(sp_input, container=None, shared_name=None, name=None):
    return apply("AddSparseToTensorsMap", _parts(_sparse(sp_input)),
                 {"container": container or "", "shared_name": shared_name or ""}, name)


def add_many_sparse_to_tensors_map(sp_input, container=None, shared_name=None, name=None):
    return apply("AddManySparseToTensorsMap", _parts(_sparse(sp_input)),
                 {"container": container or "", "shared_name": shared_name or ""}, name)


def take_many_sparse_from_tensors_map(sparse_map_op, sparse_handles, rank=None, name=None):
    """The tensors behind handles, as rows of one. ``sparse_map_op`` is the operation that gave a handle."""
    if not isinstance(sparse_map_op, _weir.Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError("sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead, found "
                        f"`{sparse_map_op.type}`.")
    shared_name = sparse_map_op.get_attr("shared_name") or sparse_map_op.name
    with colocate_with(sparse_map_op):
        parts = apply("TakeManySparseFromTensorsMap", (sparse_handles,), {
            "dtype": sparse_map_op.get_attr("T"), "container": sparse_map_op.get_attr("container"),
            "shared_name": shared_name}, name)
    return _ranked(parts, rank)
