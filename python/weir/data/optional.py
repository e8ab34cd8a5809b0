"""tf.data.experimental.Optional: an element that may be absent."""

from weir.core import dtypes
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.data import structure
from weir.data.arguments import flat
from weir.data.iterators import _as_list


class OptionalSpec(structure._Leaf):
    """Of an optional value: what it holds."""

    def __init__(self, value_structure):
        self._value_structure = value_structure

    value_type = property(lambda self: Optional)

    def _key(self):
        return (self._value_structure,)

    def is_compatible_with(self, other):
        return self == (other._value_spec() if isinstance(other, Optional) else other)

    def _flat(self):
        return dtypes.variant, TensorShape([])

    def _to_tensor(self, value):
        return value._variant_tensor

    _to_batched_tensor = _to_tensor

    def _from_tensor(self, tensor):
        return Optional(tensor, self._value_structure)

    def _legacy(self):
        return self, self, self

    def _relaxed(self, other):
        return self

    @staticmethod
    def from_value(value):
        return value._value_spec()


class Optional:
    """A value, or none."""

    def __init__(self, variant_tensor, value_structure):
        self._variant_tensor, self._value_structure = variant_tensor, value_structure

    value_structure = property(lambda self: self._value_structure)

    def _value_spec(self):
        return OptionalSpec(self._value_structure)

    def has_value(self, name=None):
        return apply("OptionalHasValue", (self._variant_tensor,), {}, name)

    def get_value(self, name=None):
        tensors = _as_list(apply("OptionalGetValue", (self._variant_tensor,), flat(self._value_structure), name))
        return structure.from_tensors(self._value_structure, tensors)

    @staticmethod
    def from_value(value):
        value = structure.normalize_element(value, "optional")
        spec = structure.spec_of(value)
        return Optional(apply("OptionalFromValue", (structure.to_tensors(spec, value),), {}, None), spec)

    @staticmethod
    def none_from_structure(value_structure):
        return Optional(apply("OptionalNone", (), {}, None), value_structure)


def get_next_as_optional(iterator):
    """The next element of an iterator, or nothing at its end."""
    return Optional(iterator._get_next_as_optional(), iterator.element_spec)
