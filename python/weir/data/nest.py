"""Nested elements: tuples, named tuples and dictionaries. Unlike in tf.nest, lists are values, and so are the parts of a
SparseTensorValue together."""

from collections.abc import Mapping

from weir.core.values import SparseTensorValue


def is_sequence(value):
    return isinstance(value, (tuple, Mapping)) and not isinstance(value, SparseTensorValue)


def _children(structure):
    """Dictionaries are walked in the order of their sorted keys, as TensorFlow does."""
    if isinstance(structure, Mapping):
        try:
            return [structure[key] for key in sorted(structure)]
        except TypeError:
            raise TypeError("nest only supports dicts with sortable keys.") from None
    return list(structure)


def flatten(structure):
    if not is_sequence(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def like(structure, children):
    """``children`` in a sequence of the same kind as ``structure``."""
    if isinstance(structure, Mapping):
        values = dict(zip(sorted(structure), children))
        return type(structure)((key, values[key]) for key in structure)
    if hasattr(structure, "_fields"):
        return type(structure)(*children)
    return type(structure)(children)


def pack_sequence_as(structure, flat_sequence):
    leaves = iter(flat_sequence)

    def pack(part):
        return like(part, [pack(child) for child in _children(part)]) if is_sequence(part) else next(leaves)

    return pack(structure)


def map_structure(function, *structures, check_types=True):
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types)
    results = [function(*leaves) for leaves in zip(*[flatten(structure) for structure in structures])]
    return pack_sequence_as(structures[0], results)


def assert_same_structure(first, second, check_types=True):
    """Raises ValueError when the two nest differently, TypeError when their sequences are of other types."""
    if is_sequence(first) != is_sequence(second) or (
            is_sequence(first) and len(first) != len(second)):
        raise ValueError("The two structures don't have the same nested structure. First structure: "
                         f"{first}, second structure: {second}.")
    if not is_sequence(first):
        return
    if check_types and type(first) is not type(second) and not (
            isinstance(first, Mapping) and isinstance(second, Mapping)):
        raise TypeError("The two structures don't have the same sequence type. First structure has type "
                        f"{type(first)}, while second structure has type {type(second)}.")
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        raise ValueError("The two dictionaries don't have the same set of keys. First structure has keys "
                         f"{list(first)}, while second structure has keys {list(second)}")
    for a, b in zip(_children(first), _children(second)):
        assert_same_structure(a, b, check_types)


def flatten_up_to(shallow, deep):
    """The parts of ``deep`` that stand where ``shallow`` has leaves."""
    if not is_sequence(shallow):
        return [deep]
    if not is_sequence(deep) and not isinstance(deep, (list, Mapping)):
        raise TypeError(f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(deep)}.")
    if len(deep) != len(shallow):
        raise ValueError(f"The two structures don't have the same sequence length. Input structure has length {len(deep)}, "
                         f"while shallow structure has length {len(shallow)}.")
    if isinstance(shallow, Mapping):
        if not isinstance(deep, Mapping) or set(shallow) != set(deep):
            raise ValueError("The two structures don't have the same keys. Input structure has keys "
                             f"{list(deep)}, while shallow structure has keys {list(shallow)}.")
    return [part for a, b in zip(_children(shallow), _children(deep)) for part in flatten_up_to(a, b)]
