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

    def is_compatible_with(self, spec_or_value):
        return (self._dtype.is_compatible_with(spec_or_value.dtype)
                and self._shape.is_compatible_with(spec_or_value.shape))

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and (self._shape, self._dtype) == (other._shape, other._dtype)

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"
