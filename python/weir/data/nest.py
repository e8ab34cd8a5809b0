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
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    count = len(flatten(structure))
    if not is_sequence(structure) and len(flat_sequence) != 1:
        raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
    if count != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
                         f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    leaves = iter(flat_sequence)

    def pack(part):
        return like(part, [pack(child) for child in _children(part)]) if is_sequence(part) else next(leaves)

    return pack(structure)


def map_structure(function, *structures, check_types=True, **others):
    if not callable(function):
        raise TypeError(f"func must be callable, got: {function}")
    if not structures:
        raise ValueError("Must provide at least one structure")
    if others:
        raise ValueError("Only valid keyword argument is check_types")
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
    if check_types and isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        raise ValueError("The two dictionaries don't have the same set of keys. First structure has keys "
                         f"{list(first)}, while second structure has keys {list(second)}")
    for a, b in zip(_children(first), _children(second)):
        assert_same_structure(a, b, check_types)


def assert_shallow_structure(shallow, deep, check_types=True):
    """Raises ValueError or TypeError where ``deep`` does not nest as ``shallow`` does, down to the leaves of that."""
    if not is_sequence(shallow):
        return
    if not is_sequence(deep) and not isinstance(deep, list):
        raise TypeError(f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(deep)}.")
    if check_types and type(shallow) is not type(deep) and not isinstance(deep, list):
        raise TypeError("The two structures don't have the same sequence type. Input structure has type "
                        f"{type(deep)}, while shallow structure has type {type(shallow)}.")
    if len(deep) != len(shallow):
        raise ValueError(f"The two structures don't have the same sequence length. Input structure has length {len(deep)}, "
                         f"while shallow structure has length {len(shallow)}.")
    if isinstance(shallow, Mapping) and (check_types or isinstance(deep, Mapping)):
        if not isinstance(deep, Mapping) or set(shallow) != set(deep):
            raise ValueError(f"The two structures don't have the same keys. Input structure has keys {list(deep)}, "
                             f"while shallow structure has keys {list(shallow)}.")
    for a, b in zip(_children(shallow), _children(deep)):
        assert_shallow_structure(a, b, check_types)


def flatten_up_to(shallow, deep):
    """The parts of ``deep`` that stand where ``shallow`` has leaves."""
    assert_shallow_structure(shallow, deep, check_types=False)
    return _parts_up_to(shallow, deep)


def _parts_up_to(shallow, deep):
    if not is_sequence(shallow):
        return [deep]
    return [part for a, b in zip(_children(shallow), _children(deep)) for part in _parts_up_to(a, b)]


def map_structure_up_to(shallow, function, *structures):
    """What the function makes of the parts of the structures, in the form of ``shallow``."""
    if not structures:
        raise ValueError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow, structure) for structure in structures]
    return pack_sequence_as(shallow, [function(*leaves) for leaves in zip(*parts)])
