"""What elements of data sets are: a specification for each leaf of the nest, and the tensors that it travels as."""

from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.tensor_shape import TensorShape
from weir.core.values import SparseTensorValue, TensorSpec
from weir.data import nest
from weir.ops.sparse_ops import SparseTensor, SparseTensorSpec


class _Leaf:
    """A specification by its parts."""

    def _key(self):
        raise NotImplementedError

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash((type(self), str(self._key())))


class DatasetSpec(_Leaf):
    """Of a data set whose elements are data sets: what these have as elements."""

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec, self._dataset_shape = element_spec, TensorShape(dataset_shape)

    value_type = property(lambda self: _dataset_class[0])

    def _key(self):
        return self._element_spec, self._dataset_shape.as_list()

    def __repr__(self):
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape})"

    def is_compatible_with(self, other):
        return self == other or (hasattr(other, "element_spec") and other.element_spec == self._element_spec)

    def _flat(self):
        return dtypes.variant, self._dataset_shape

    def _to_tensor(self, value):
        return value._variant_tensor

    _to_batched_tensor = _to_tensor

    def _from_tensor(self, tensor):
        return _dataset_class[0]._of_variant(tensor, self._element_spec)

    def _batch(self, size):
        return DatasetSpec(self._element_spec, TensorShape([size]).concatenate(self._dataset_shape))

    def _unbatch(self):
        return DatasetSpec(self._element_spec, _without_first(self._dataset_shape))

    def _legacy(self):
        return self, self, self

    def _relaxed(self, other):
        return self


_dataset_class = []  # weir.data.dataset appends it: it stands above this module


def _without_first(shape):
    if shape.ndims is None:
        return TensorShape(None)
    if shape.ndims == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return shape[1:]


def most_specific_shape(first, second):
    """What two shapes have in common."""
    if first.ndims is None or second.ndims is None or first.ndims != second.ndims:
        return TensorShape(None)
    return TensorShape([a if a == b else None for a, b in zip(first.as_list(), second.as_list())])


# ---- One leaf.

def _flat(leaf):
    return (leaf.dtype, leaf.shape) if isinstance(leaf, TensorSpec) else leaf._flat()


def _from_tensor(leaf, tensor):
    return tensor if isinstance(leaf, TensorSpec) else leaf._from_tensor(tensor)


def _legacy(leaf):
    return (leaf.dtype, leaf.shape, Tensor) if isinstance(leaf, TensorSpec) else leaf._legacy()


def spec_of_leaf(value):
    """The specification of one value."""
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        value = SparseTensor.from_value(value)
        return SparseTensorSpec(value.shape, value.dtype)
    spec = getattr(value, "_value_spec", None)  # data sets and optional values
    if spec is not None:
        return spec()
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")


# ---- Whole elements.

def normalize_element(element, name="normalize_element"):
    """The element with everything in it as a tensor, a SparseTensor or a data set."""
    flat = nest.flatten(element)
    normal = []
    with name_scope(name, values=[]):
        for i, value in enumerate(flat):
            if isinstance(value, (SparseTensor, SparseTensorValue)):
                normal.append(SparseTensor.from_value(value))
            elif hasattr(value, "_value_spec"):
                normal.append(value)
            else:
                normal.append(convert_to_tensor(value, name=f"component_{i}"))
    return nest.pack_sequence_as(element, normal)


def spec_of(element):
    return nest.map_structure(spec_of_leaf, element)


def flat_types(spec):
    return [_flat(leaf)[0] for leaf in nest.flatten(spec)]


def flat_shapes(spec):
    return [_flat(leaf)[1] for leaf in nest.flatten(spec)]


def to_tensors(spec, element):
    return [value if isinstance(leaf, TensorSpec) else leaf._to_tensor(value)
            for leaf, value in zip(nest.flatten(spec), nest.flatten(element))]


def to_batched_tensors(spec, element):
    return [value if isinstance(leaf, TensorSpec) else leaf._to_batched_tensor(value)
            for leaf, value in zip(nest.flatten(spec), nest.flatten(element))]


def from_tensors(spec, tensors):
    return nest.pack_sequence_as(spec, [_from_tensor(leaf, tensor) for leaf, tensor in zip(nest.flatten(spec), tensors)])


def batched(spec, size):
    return nest.map_structure(
        lambda leaf: TensorSpec(TensorShape([size]).concatenate(leaf.shape), leaf.dtype)
        if isinstance(leaf, TensorSpec) else leaf._batch(size), spec)


def unbatched(spec):
    return nest.map_structure(
        lambda leaf: TensorSpec(_without_first(leaf.shape), leaf.dtype) if isinstance(leaf, TensorSpec)
        else leaf._unbatch(), spec)


def common(first, second):
    """What holds of elements of either kind."""
    return nest.map_structure(
        lambda a, b: TensorSpec(most_specific_shape(a.shape, b.shape), a.dtype) if isinstance(a, TensorSpec)
        else a._relaxed(b), first, second)


def types(spec):
    return nest.map_structure(lambda leaf: _legacy(leaf)[0], spec)


def shapes(spec):
    return nest.map_structure(lambda leaf: _legacy(leaf)[1], spec)


def classes(spec):
    return nest.map_structure(lambda leaf: _legacy(leaf)[2], spec)


def from_legacy(output_types, output_shapes, output_classes):
    """The specification that types, shapes and classes of one nest together are."""
    flat = nest.flatten(output_types)
    all_shapes = nest.flatten_up_to(output_types, output_shapes)
    all_classes = nest.flatten_up_to(output_types, output_classes)
    leaves = []
    for dtype, shape, kind in zip(flat, all_shapes, all_classes):
        if isinstance(kind, _Leaf):
            leaves.append(kind)
        elif isinstance(kind, type) and issubclass(kind, SparseTensor):
            leaves.append(SparseTensorSpec(shape, dtype))
        elif isinstance(kind, type) and issubclass(kind, Tensor):
            leaves.append(TensorSpec(shape, dtype))
        else:
            raise TypeError("Could not build a structure for output class %s" % kind)
    return nest.pack_sequence_as(output_types, leaves)


def are_compatible(first, second):
    try:
        nest.assert_same_structure(first, second, check_types=False)
    except (ValueError, TypeError):
        return False
    return all(a.is_compatible_with(b) for a, b in zip(nest.flatten(first), nest.flatten(second)))


class Structures:
    """The functions of TensorFlow 1.14's and 1.15's ``tf.data.experimental.TensorStructure`` and its like."""

    @staticmethod
    def tensor(dtype, shape):
        return TensorSpec(shape, dtype)

    @staticmethod
    def sparse_tensor(dtype, shape):
        return SparseTensorSpec(shape, dtype)
