"""tensorflow.python.data.util: arguments of data sets as tensors, and sparse elements as the tensors that carry them."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.tensor import Tensor
from weir.core.tensor_shape import TensorShape
from weir.data import nest
from weir.data.arguments import seeds as get_seed  # noqa: F401 - data.util.random_seed.get_seed
from weir.ops import array_ops, sparse_functions
from weir.ops.sparse_ops import SparseTensor


def optional_param_to_tensor(argument_name, argument_value, argument_default=0, argument_dtype=dtypes.int64):
    """An argument that the program may leave out."""
    if argument_value is None:
        return array_ops.constant(argument_default, dtype=argument_dtype, name=argument_name)
    return convert_to_tensor(argument_value, dtype=argument_dtype, name=argument_name)


def partial_shape_to_tensor(shape_like):
    """A shape as a vector of int64, -1 for what is unknown."""
    if not isinstance(shape_like, Tensor):
        sizes = shape_like.as_list() if isinstance(shape_like, TensorShape) else list(shape_like)
        sizes = [-1 if size is None else int(size) for size in sizes]
        return array_ops.constant(sizes, dtype=dtypes.int64, shape=[len(sizes)])
    what = f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the"
    if shape_like.shape.ndims not in (None, 1):
        raise ValueError(f"{what} shape was {shape_like.shape}.")
    if shape_like.dtype != dtypes.int64:
        raise TypeError(f"{what} element type was {shape_like.dtype.name}.")
    return shape_like


def any_sparse(classes):
    return any(kind is SparseTensor for kind in nest.flatten(classes))


def as_dense_shapes(shapes, classes):
    """The shapes, unknown for what is sparse."""
    return _where_sparse(classes, shapes, TensorShape(None))


def as_dense_types(types, classes):
    """The types, variants for what is sparse."""
    return _where_sparse(classes, types, dtypes.variant)


def _where_sparse(classes, structure, replacement):
    return nest.pack_sequence_as(structure, [replacement if kind is SparseTensor else part for part, kind in zip(
        nest.flatten(structure), nest.flatten(classes))])


def get_classes(tensors):
    """tf.SparseTensor and tf.Tensor, in the structure of the tensors."""
    return nest.map_structure(lambda part: SparseTensor if isinstance(part, SparseTensor) else Tensor, tensors)


def serialize_sparse_tensors(tensors):
    """The structure with variants for its sparse tensors."""
    return _each_sparse(tensors, sparse_functions.serialize_sparse)


def serialize_many_sparse_tensors(tensors):
    """The structure with vectors of variants for its batches of sparse tensors."""
    return _each_sparse(tensors, sparse_functions.serialize_many_sparse)


def _each_sparse(tensors, serialize):
    return nest.map_structure(lambda part: serialize(part, out_type=dtypes.variant)
                              if isinstance(part, SparseTensor) else part, tensors)


def deserialize_sparse_tensors(tensors, types, shapes, classes):
    """The sparse tensors of variants."""
    return nest.pack_sequence_as(types, [
        sparse_functions.deserialize_sparse(part, dtype=kind, rank=shape.ndims) if cls is SparseTensor else part
        for part, kind, shape, cls in zip(*map(nest.flatten, (tensors, types, shapes, classes)))])
