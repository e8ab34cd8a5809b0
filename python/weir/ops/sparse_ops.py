"""Tensors of which few elements are not zero: their places and values."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import IndexedSlices, Tensor, _session_for, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.type_spec import CompositeTensor, TypeSpec
from weir.core.values import SparseTensorValue, TensorSpec
from weir.ops import array_ops


class _SparseShape(TensorShape):
    """The sizes; and the tensor of them, which ``shape`` was before TensorFlow 1.0."""

    __slots__ = ("_tensor",)

    def __init__(self, sizes, tensor):
        super().__init__(sizes)
        self._tensor = tensor

    def get_shape(self):
        return self._tensor.get_shape()

    def eval(self, feed_dict=None, session=None):
        return self._tensor.eval(feed_dict, session)

    dtype = property(lambda self: self._tensor.dtype)
    op = property(lambda self: self._tensor.op)
    name = property(lambda self: self._tensor.name)
    graph = property(lambda self: self._tensor.graph)

    def _as_graph_element(self):
        return self._tensor

    def _feed_parts(self, value):
        return [(self._tensor, value)]


class SparseTensorSpec(TypeSpec):
    """Of a SparseTensor: the dense shape and the type of its values."""

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    value_type = property(lambda self: SparseTensor)

    def _serialize(self):
        return self._shape, self._dtype

    @property
    def _component_specs(self):
        rank = self._shape.ndims
        return [TensorSpec([None, rank], dtypes.int64), TensorSpec([None], self._dtype), TensorSpec([rank], dtypes.int64)]

    def _to_components(self, value):
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        if all(isinstance(part, dtypes._numpy().ndarray) for part in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    def is_compatible_with(self, other):
        other = other._type_spec if isinstance(other, SparseTensor) else other
        return isinstance(other, TypeSpec) and super().is_compatible_with(other)

    # As one tensor, which is what elements of data sets are made of.

    def _flat(self):
        return dtypes.variant, TensorShape(None)

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor(self, value):
        value = SparseTensor.from_value(value)
        return apply("SerializeSparse", (value.indices, value.values, value.dense_shape), {"out_type": dtypes.variant},
                     None)

    def _to_batched_tensor(self, value):
        value = SparseTensor.from_value(value)
        return apply("SerializeManySparse", (value.indices, value.values, value.dense_shape),
                     {"out_type": dtypes.variant}, None)

    def _to_tensor_list(self, value):
        return [self._to_tensor(value)]

    def _to_batched_tensor_list(self, value):
        rank = value.get_shape().ndims
        if rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [self._to_batched_tensor(value)]

    def _from_tensor(self, tensor):
        indices, values, dense_shape = apply("DeserializeSparse", (tensor,), {"dtype": self._dtype}, None)
        rank = self._shape.ndims
        indices.set_shape([None, rank])
        dense_shape.set_shape([rank])
        return SparseTensor(indices, values, dense_shape)

    def _from_compatible_tensor_list(self, tensor_list):
        tensor, = tensor_list
        return self._from_tensor(tensor)

    def _batch(self, size):
        return SparseTensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(TensorShape(None) if self._shape.ndims is None else self._shape[1:], self._dtype)

    def _legacy(self):
        return self._dtype, self._shape, SparseTensor

    def _relaxed(self, other):
        return self.most_specific_compatible_type(other)


@CompositeTensor.register
class SparseTensor:
    """``indices`` [N, rank] int64, ``values`` [N] and ``dense_shape`` [rank] int64 as one object."""

    def __init__(self, indices, values, dense_shape=None, shape=None):
        dense_shape = shape if dense_shape is None else dense_shape
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        indices_shape = self._indices.shape.with_rank(2)
        values_shape = self._values.shape.with_rank(1)
        shape_shape = self._dense_shape.shape.with_rank(1)
        indices_shape[0].assert_is_compatible_with(values_shape[0])
        indices_shape[1].assert_is_compatible_with(shape_shape[0])

    @classmethod
    def from_value(cls, sparse_tensor_value):
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(*sparse_tensor_value) if isinstance(sparse_tensor_value, tuple) else sparse_tensor_value

    _type_spec = property(lambda self: SparseTensorSpec(self.get_shape(), self.dtype))
    indices = property(lambda self: self._indices)
    values = property(lambda self: self._values)
    dense_shape = property(lambda self: self._dense_shape)
    op = property(lambda self: self._values.op)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._indices.graph)

    @property
    def shape(self):
        return _SparseShape(self.get_shape(), self._dense_shape)

    def get_shape(self):
        dims = _weir.constant_value_as_shape(self._dense_shape)
        return TensorShape(dims)

    def consumers(self):
        return list(dict.fromkeys(op for part in (self._indices, self._values, self._dense_shape)
                                  for op in part.consumers()))

    def eval(self, feed_dict=None, session=None):
        return _session_for(self.graph, session, "evaluate tensor", "eval(session=sess)").run(self, feed_dict)

    # What Session.run does with one: see core/session.py.

    def _fetch_parts(self):
        return [self._indices, self._values, self._dense_shape], lambda values: SparseTensorValue(*values)

    def _feed_parts(self, value):
        indices, values, *rest = value
        return [(self._indices, indices), (self._values, values)] + [(self._dense_shape, shape) for shape in rest]

    def _map_values(self, function, *args, **kwargs):
        """The function of the values, at the same places."""
        return SparseTensor(self._indices, function(self._values, *args, **kwargs), self._dense_shape)

    # With a dense tensor, which broadcasts.

    def _with_dense(self, op, dense):
        dense = convert_to_tensor(dense, dtype=self.dtype.base_dtype, name="y")
        values = apply(op, (self._indices, self._values, self._dense_shape, dense), {}, None)
        return SparseTensor(self._indices, values, self._dense_shape)

    def __mul__(self, dense):
        return self._with_dense("SparseDenseCwiseMul", dense)

    def __truediv__(self, dense):
        return self._with_dense("SparseDenseCwiseDiv", dense)

    __rmul__, __div__ = __mul__, __truediv__

    def __str__(self):
        return (f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})")

    __repr__ = __str__


def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor to feed, with a SparseTensorValue or a tuple (indices, values, dense_shape)."""
    prefix = "" if name is None else f"{name}/"
    rank = None
    if shape is None:
        dense_shape = array_ops.placeholder(dtypes.int64, [None], name=f"{prefix}shape" if prefix else None)
    elif isinstance(shape, (Tensor, _weir.Variable)):
        rank = shape.get_shape()[0].value
        dense_shape = shape
    else:
        dims = TensorShape(shape).as_list()
        rank = len(dims)
        sizes = convert_to_tensor([-1 if dim is None else dim for dim in dims], dtype=dtypes.int64)
        dense_shape = sizes if None not in dims else array_ops.placeholder_with_default(
            sizes, [rank], name=f"{prefix}shape" if prefix else None)
    return SparseTensor(
        values=array_ops.placeholder(dtype, [None], name=f"{prefix}values" if prefix else None),
        indices=array_ops.placeholder(dtypes.int64, [None, rank], name=f"{prefix}indices" if prefix else None),
        dense_shape=dense_shape)


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(f"Sparse dtype: requested = {dtypes.as_dtype(dtype).name}, actual = {value.dtype.name}")
        return value
    return convert_to_tensor(value, dtype=dtype, name=name)


def sparse_retain(sp_input, to_retain):
    sp_input = _sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.get_shape().assert_has_rank(1)
    sp_input.values.get_shape()[0].merge_with(to_retain.get_shape()[0])
    where_true = array_ops.reshape(array_ops.where(to_retain), [-1])
    return SparseTensor(array_ops.gather(sp_input.indices, where_true), array_ops.gather(sp_input.values, where_true),
                        array_ops.identity(sp_input.dense_shape))


def _sparse(value):
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    return apply("SparseToDense", (sparse_indices, output_shape, sparse_values, default_value),
                 {"validate_indices": validate_indices}, name)


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    sp_input = _sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], dtype=sp_input.dtype)
    return sparse_to_dense(sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices, name)


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    sp_a = _sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]) as scope:
        return apply("SparseTensorDenseMatMul",
                     (sp_a.indices, sp_a.values, sp_a.dense_shape, convert_to_tensor(b, name="b")),
                     {"adjoint_a": adjoint_a, "adjoint_b": adjoint_b}, scope)


def sparse_mask(a, mask_indices, name=None):
    """IndexedSlices without the rows ``mask_indices``."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        indices, kept = array_ops.setdiff1d(a.indices, mask_indices)
        return IndexedSlices(array_ops.gather(a.values, kept, name=scope), indices, a.dense_shape)


def is_sparse(x):
    """Whether it is a SparseTensor, or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))
