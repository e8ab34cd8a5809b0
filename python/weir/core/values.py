"""What sessions give for fetched objects of several tensors, and what describes a tensor without being one."""

from collections import namedtuple

from weir.core import dtypes
from weir.core.tensor_shape import TensorShape
from weir.core.type_spec import TypeSpec

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class SparseTensorValue(namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])):
    """The parts of a sparse tensor as arrays. TensorFlow 0.x called the last one ``shape``."""

    __slots__ = ()

    def __new__(cls, indices, values, dense_shape=None, shape=None):
        return super().__new__(cls, indices, values, shape if dense_shape is None else dense_shape)

    shape = property(lambda self: self.dense_shape)


class TensorSpec(TypeSpec):
    """A shape, a type and a name."""

    value_type = None  # weir.core.tensor, which stands above, says Tensor

    def __init__(self, shape, dtype=None, name=None):
        self._shape, self._dtype, self._name = TensorShape(shape), dtypes.as_dtype(dtype or "float32"), name

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @classmethod
    def from_spec(cls, spec, name=None):
        return cls(spec.shape, spec.dtype, name or spec.name)

    def is_compatible_with(self, spec_or_value):
        return (self._dtype.is_compatible_with(spec_or_value.dtype)
                and self._shape.is_compatible_with(spec_or_value.shape))

    _component_specs = property(lambda self: self)

    def _serialize(self):
        return self._shape, self._dtype, self._name

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components

    def _to_tensor_list(self, value):
        return [value]

    @property
    def _flat_tensor_specs(self):
        return [self]

    def _from_compatible_tensor_list(self, tensor_list):
        tensor, = tensor_list
        tensor.set_shape(self._shape)
        return tensor

    def most_specific_compatible_type(self, other):
        if not isinstance(other, TensorSpec) or self._dtype != other._dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        ours, theirs = self._shape, other._shape
        if ours.ndims is None or theirs.ndims is None or ours.ndims != theirs.ndims:
            shape = TensorShape(None)
        else:
            shape = TensorShape([a if a == b else None for a, b in zip(ours.as_list(), theirs.as_list())])
        return TensorSpec(shape, self._dtype, self._name if self._name == other._name else None)

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and self._known() == other._known()

    def __hash__(self):
        return hash(self._known())

    def _known(self):
        return None if self._shape.ndims is None else tuple(self._shape.as_list()), self._dtype, self._name

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec whose elements lie between two bounds, numbers or arrays that broadcast to the shape."""

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        self._minimum, self._maximum = self._bound(minimum, "minimum"), self._bound(maximum, "maximum")

    def _serialize(self):
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    minimum = property(lambda self: self._minimum)
    maximum = property(lambda self: self._maximum)

    def _bound(self, value, which):
        if value is None:
            raise ValueError(f"{which} must be provided; it can not be None")
        numpy = dtypes._numpy()
        bound = numpy.array(value, self._dtype.as_numpy_dtype)
        try:
            sizes = TensorShape(numpy.broadcast_shapes(bound.shape, tuple(size or 1 for size in self._shape.as_list())))
        except ValueError:
            sizes = None
        if sizes is None or not sizes.is_compatible_with(self._shape):
            raise ValueError(f"{which} is not compatible with shape {self._shape}: it has shape {bound.shape}")
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec, name=None):
        """The bounds of the type, where a spec has none."""
        return cls(spec.shape, spec.dtype, getattr(spec, "minimum", spec.dtype.min), getattr(spec, "maximum", spec.dtype.max),
                   name or spec.name)

    def __eq__(self, other):
        numpy = dtypes._numpy()
        return isinstance(other, BoundedTensorSpec) and super().__eq__(other) and bool(
            numpy.allclose(self._minimum, other._minimum) and numpy.allclose(self._maximum, other._maximum))

    __hash__ = TensorSpec.__hash__

    def __repr__(self):
        return (f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
                f"minimum={self._minimum!r}, maximum={self._maximum!r})")
