"""TypeSpec: what values of a kind have in common. A kind is made of parts that are tensors, and of facts about them."""

import abc

from weir.core import dtypes
from weir.core.tensor_shape import TensorShape

_converters = []  # (class, function of a value that gives its TypeSpec)


def _flattened(structure):
    """The leaves of lists, tuples and dictionaries, these in the order of their keys."""
    if isinstance(structure, dict):
        structure = [structure[key] for key in sorted(structure)]
    elif not isinstance(structure, (list, tuple)) or isinstance(structure, TensorShape):
        return [structure]
    return [leaf for part in structure for leaf in _flattened(part)]


def _packed(structure, leaves):
    """The structure with the leaves of an iterator in place of its own."""
    if isinstance(structure, dict):
        return type(structure)((key, _packed(structure[key], leaves)) for key in sorted(structure))
    if isinstance(structure, (list, tuple)):
        parts = [_packed(part, leaves) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    return next(leaves)


def _key(value):
    """A fact as something that can be compared and hashed; shapes by their sizes, which may be unknown."""
    if isinstance(value, TensorShape):
        return "TensorShape", None if value.ndims is None else tuple(value.as_list())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(_key(part) for part in value)
    if isinstance(value, dict):
        return "dict", tuple(sorted((repr(name), _key(part)) for name, part in value.items()))
    numpy = dtypes._numpy()
    if isinstance(value, numpy.ndarray):
        return "ndarray", value.shape, tuple(_key(part) for part in value.tolist()) if value.ndim else value.item()
    return value


def _agree(first, second):
    """Whether two facts can be those of one value."""
    if type(first) is not type(second):
        return False
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(_agree, first, second))
    if isinstance(first, dict):
        return sorted(first) == sorted(second) and all(_agree(first[key], second[key]) for key in first)
    if isinstance(first, (TensorShape, TypeSpec)):
        return first.is_compatible_with(second)
    return _key(first) == _key(second)


def _common(first, second):
    """The fact that holds wherever either does; ValueError when there is none."""
    if type(first) is type(second):
        if isinstance(first, (list, tuple)) and len(first) == len(second):
            return type(first)(map(_common, first, second))
        if isinstance(first, dict) and sorted(first) == sorted(second):
            return {key: _common(first[key], second[key]) for key in first}
        if isinstance(first, TensorShape):
            if first.ndims is None or second.ndims is None or first.ndims != second.ndims:
                return TensorShape(None)
            return TensorShape([a if a == b else None for a, b in zip(first.as_list(), second.as_list())])
        if isinstance(first, TypeSpec):
            return first.most_specific_compatible_type(second)
        if _key(first) == _key(second):
            return first
    raise ValueError(f"Types are not compatible: {first!r} vs {second!r}")


class TypeSpec(metaclass=abc.ABCMeta):
    """Derived classes give ``value_type``, ``_serialize`` (what the class is made again with), ``_component_specs``,
    ``_to_components`` and ``_from_components``."""

    @property
    @abc.abstractmethod
    def value_type(self):
        """The class of the values."""

    @abc.abstractmethod
    def _serialize(self):
        """The arguments that make the same specification."""

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or every value of another specification, may be of this kind."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and _agree(tuple(self._serialize()), tuple(other._serialize()))

    def most_specific_compatible_type(self, other):
        """The specification that values of both are of; ValueError when there is none."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_common(tuple(self._serialize()), tuple(other._serialize())))

    # ---- The tensors that a value is made of.

    @property
    def _flat_tensor_specs(self):
        found = []
        for part in _flattened(self._component_specs):
            found += [part] if not hasattr(part, "_component_specs") or part._component_specs is part \
                else part._flat_tensor_specs
        return found

    def _to_tensor_list(self, value):
        tensors = []
        for part, component in zip(_flattened(self._component_specs), _flattened(self._to_components(value))):
            nested = getattr(part, "_component_specs", part)
            tensors += [component] if nested is part else part._to_tensor_list(component)
        return tensors

    def _from_tensor_list(self, tensor_list):
        specs = self._flat_tensor_specs
        if len(specs) != len(tensor_list) or not all(
                spec.is_compatible_with(tensor) for spec, tensor in zip(specs, tensor_list)):
            raise ValueError(f"Incompatible input: {self} vs {tensor_list}")
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list):
        rest, components = iter(tensor_list), []
        for part in _flattened(self._component_specs):
            nested = getattr(part, "_component_specs", part)
            components.append(next(rest) if nested is part else part._from_compatible_tensor_list(
                [next(rest) for _ in part._flat_tensor_specs]))
        return self._from_components(_packed(self._component_specs, iter(components)))

    # ---- As a value.

    def __eq__(self, other):
        return type(self) is type(other) and _key(self._serialize()) == _key(other._serialize())

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), _key(self._serialize())))

    def __reduce__(self):
        return type(self)._deserialize, (self._serialize(),)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self._serialize()))})"


def register_type_spec_from_value_converter(type_object, converter_fn, allow_subclass=False):
    """``converter_fn`` gives the TypeSpec of values of the class; of classes derived from it too, if allowed."""
    _converters.append((type_object, converter_fn, allow_subclass))


def type_spec_from_value(value):
    """The TypeSpec of a value; TypeError when nothing tells it."""
    own = getattr(value, "_type_spec", None)
    if own is not None:
        return own
    for kind, converter, derived in reversed(_converters):
        if type(value) is kind or derived and isinstance(value, kind):
            return converter(value)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")


class BatchableTypeSpec(TypeSpec):
    """One whose values can be put together to a value of the same kind, and taken apart again."""

    @abc.abstractmethod
    def _batch(self, batch_size):
        """The specification of that many of its values together."""

    @abc.abstractmethod
    def _unbatch(self):
        """The specification of one of the values that are together in one of its own."""

    def _to_batched_tensor_list(self, value):
        return self._to_tensor_list(value)


class CompositeTensor(metaclass=abc.ABCMeta):
    """A base for classes of values that are made of tensors: ``_type_spec`` says of which."""

    @property
    @abc.abstractmethod
    def _type_spec(self):
        """The TypeSpec of the value."""

    def _shape_invariant_to_type_spec(self, shape):
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def consumers(self):
        """The operations that read a part of the value."""
        found = []
        for part in self._type_spec._to_tensor_list(self):
            found += [op for op in part.consumers() if op not in found]
        return found
