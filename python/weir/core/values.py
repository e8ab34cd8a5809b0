"""What sessions give for fetched objects of several tensors, and what describes a tensor without being one."""

from collections import namedtuple

from weir.core import dtypes
from weir.core.tensor_shape import TensorShape

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class SparseTensorValue(namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])):
    """The parts of a sparse tensor as arrays. TensorFlow 0.x called the last one ``shape``."""

    __slots__ = ()

    def __new__(cls, indices, values, dense_shape=None, shape=None):
        return super().__new__(cls, indices, values, shape if dense_shape is None else dense_shape)

    shape = property(lambda self: self.dense_shape)


class TensorSpec:
    """A shape, a type and a name."""

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

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and (self._shape, self._dtype) == (other._shape, other._dtype)

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec whose elements lie between two bounds, numbers or arrays that broadcast to the shape."""

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        self._minimum, self._maximum = self._bound(minimum, "minimum"), self._bound(maximum, "maximum")

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
