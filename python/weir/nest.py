"""tf.nest: nested lists, tuples, named tuples and dictionaries as flat lists, and back."""

from collections.abc import Mapping as _Mapping


def is_sequence(value):
    return isinstance(value, (list, tuple, _Mapping))


is_nested = is_sequence


def _children(structure):
    """Dictionaries are walked in the order of their sorted keys, as TensorFlow does."""
    if isinstance(structure, _Mapping):
        try:
            return [structure[key] for key in sorted(structure)]
        except TypeError:
            raise TypeError("nest only supports dicts with sortable keys.") from None
    return structure


def flatten(structure, expand_composites=False):
    if not is_sequence(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises ValueError when the two nest differently, TypeError when their sequences are of other types."""
    try:
        _compare(nest1, nest2, check_types)
    except (TypeError, ValueError) as error:
        raise type(error)("The two structures don't have the same nested structure.\n\n"
                          f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
                          f"More specifically: {error}") from None


def _described(structure):
    return f"type={type(structure).__name__} str={structure}"


def _compare(nest1, nest2, check_types):
    if is_sequence(nest1) != is_sequence(nest2):
        inner, leaf = (nest1, nest2) if is_sequence(nest1) else (nest2, nest1)
        raise ValueError(f'Substructure "{_described(inner)}" is a sequence, while substructure "{_described(leaf)}" is '
                         "not")
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2) and not (
            isinstance(nest1, _Mapping) and isinstance(nest2, _Mapping)):
        raise TypeError(f"The two structures don't have the same sequence type. Input structure has type {type(nest1)}, "
                        f"while shallow structure has type {type(nest2)}.")
    if isinstance(nest1, _Mapping) and isinstance(nest2, _Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two dictionaries don't have the same set of keys. First structure has keys {list(nest1)}, "
                         f"while second structure has keys {list(nest2)}")
    if len(nest1) != len(nest2):
        raise ValueError("The two structures don't have the same number of elements.\n\nFirst structure "
                         f"({len(nest1)} elements): {nest1}\n\nSecond structure ({len(nest2)} elements): {nest2}")
    for a, b in zip(_children(nest1), _children(nest2)):
        _compare(a, b, check_types)


def _like(structure, children):
    if isinstance(structure, _Mapping):
        values = dict(zip(sorted(structure), children))
        return type(structure)((key, values[key]) for key in structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*children)
    return type(structure)(children)


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """``flat_sequence`` in the nested form of ``structure``."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    if not is_sequence(structure):
        if len(flat_sequence) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        return flat_sequence[0]
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
                         f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    leaves = iter(flat_sequence)

    def pack(part):
        return _like(part, [pack(child) for child in _children(part)]) if is_sequence(part) else next(leaves)

    return pack(structure)


def map_structure(func, *structure, **kwargs):
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True))
    results = [func(*leaves) for leaves in zip(*[flatten(part) for part in structure])]
    return pack_sequence_as(structure[0], results)


def flatten_dict_items(dictionary):
    flat = {}
    for keys, values in dictionary.items():
        if not is_sequence(keys):
            flat[keys] = values
            continue
        flat_keys, flat_values = flatten(keys), flatten(values)
        if len(flat_keys) != len(flat_values):
            raise ValueError(f"Could not flatten dictionary. Key had {len(flat_keys)} elements, but value had "
                             f"{len(flat_values)} elements. Key: {flat_keys}, value: {flat_values}.")
        for key, value in zip(flat_keys, flat_values):
            if key in flat:
                raise ValueError(f"Could not flatten dictionary: key {key} is not unique.")
            flat[key] = value
    return flat
