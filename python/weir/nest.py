"""tf.nest: nested lists, tuples, named tuples and dictionaries as flat lists, and back."""

from collections.abc import Mapping as _Mapping, MappingView as _MappingView


from weir.core.type_spec import CompositeTensor as _CompositeTensor, TypeSpec as _TypeSpec


_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = ("If shallow structure is a sequence, input must also be a sequence. Input has type: "
                                        "{}.")
_STRUCTURES_HAVE_MISMATCHING_TYPES = ("The two structures don't have the same sequence type. Input structure has type "
                                      "{input_type}, while shallow structure has type {shallow_type}.")
_STRUCTURES_HAVE_MISMATCHING_LENGTHS = ("The two structures don't have the same sequence length. Input structure has length "
                                        "{input_length}, while shallow structure has length {shallow_length}.")
_SHALLOW_TREE_HAS_INVALID_KEYS = ("The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the "
                                  "following keys that are not in the input_tree: {}.")


def is_sequence(value):
    return isinstance(value, (list, tuple, _Mapping, _MappingView))


is_nested = is_sequence


def _is_namedtuple(instance, strict=False):
    """Whether it is a named tuple; with ``strict``, of a class that is derived from nothing but tuple."""
    fields = getattr(type(instance), "_fields", None) if isinstance(instance, tuple) else None
    if fields is None or not all(isinstance(field, str) for field in fields):
        return False
    return not strict or type(instance).__bases__ == (tuple,)


# With ``expand_composites`` what is made of tensors (a SparseTensor, a RaggedTensor, IndexedSlices) is nested too: it stands
# as a list of one, its components.


class _Parts(list):
    def __init__(self, components, spec):
        super().__init__([components])
        self.spec = spec


def is_sequence_or_composite(value):
    return is_sequence(value) or _is_composite(value)


def _is_composite(value):
    return isinstance(value, _CompositeTensor) or isinstance(value, _TypeSpec) and value._component_specs is not value


def _expanded(structure, expand_composites=True):
    """The structure with composites as their parts."""
    if not expand_composites or isinstance(structure, _Parts):
        return structure
    if is_sequence(structure):
        return _like(structure, [_expanded(child) for child in _children(structure)])
    if isinstance(structure, _TypeSpec) and _is_composite(structure):
        return _Parts(_expanded(structure._component_specs), structure)
    if isinstance(structure, _CompositeTensor):
        spec = structure._type_spec
        return _Parts(_expanded(spec._to_components(structure)), spec)
    return structure


def _collapsed(structure):
    """The structure with parts as what they are of."""
    if not is_sequence(structure):
        return structure
    return _like(structure, [_collapsed(child) for child in _children(structure)])


def _children(structure):
    """Dictionaries are walked in the order of their sorted keys, as TensorFlow does."""
    if isinstance(structure, _Mapping):
        try:
            return [structure[key] for key in sorted(structure)]
        except TypeError:
            raise TypeError("nest only supports dicts with sortable keys.") from None
    return structure


def flatten(structure, expand_composites=False):
    structure = _expanded(structure, expand_composites)
    if not is_sequence(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises ValueError when the two nest differently, TypeError when their sequences are of other types."""
    try:
        _compare(_expanded(nest1, expand_composites), _expanded(nest2, expand_composites), check_types)
    except (TypeError, ValueError) as error:
        raise type(error)("The two structures don't have the same nested structure.\n\n"
                          f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
                          f"More specifically: {error}\nEntire first structure:\n{_dotted(nest1)}\n"
                          f"Entire second structure:\n{_dotted(nest2)}") from None


def _dotted(structure):
    """The form of a structure, a dot for each leaf."""
    dots = map_structure(lambda _: _DOT, structure)
    return str(dots)


class _Dot:
    def __repr__(self):
        return "."


_DOT = _Dot()


def _described(structure):
    return f"type={type(structure).__name__} str={structure}"


def _compare(nest1, nest2, check_types):
    if is_sequence(nest1) != is_sequence(nest2):
        inner, leaf = (nest1, nest2) if is_sequence(nest1) else (nest2, nest1)
        raise ValueError(f'Substructure "{_described(inner)}" is a sequence, while substructure "{_described(leaf)}" is '
                         "not")
    if not is_sequence(nest1):
        return
    if isinstance(nest1, _Parts) or isinstance(nest2, _Parts):
        _compare_parts(nest1, nest2)
    elif check_types and type(nest1) is not type(nest2) and not (
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


def _compare_parts(one, other):
    kinds = [type(part.spec) if isinstance(part, _Parts) else type(part) for part in (one, other)]
    if kinds[0] is not kinds[1]:
        raise TypeError(f"The two structures don't have the same nested type: {kinds[0]} and {kinds[1]}.")
    if not one.spec.is_compatible_with(other.spec):
        raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {one.spec} vs. {other.spec}")


def _like(structure, children):
    if isinstance(structure, _Parts):
        return structure.spec._from_components(children[0])
    if isinstance(structure, _Mapping):
        values = dict(zip(sorted(structure), children))
        pairs = ((key, values[key]) for key in structure)
        return type(structure)(structure.default_factory, pairs) if hasattr(structure, "default_factory") \
            else type(structure)(pairs)
    if isinstance(structure, _MappingView):
        return list(children)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*children)
    return type(structure)(children)


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """``flat_sequence`` in the nested form of ``structure``."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    structure = _expanded(structure, expand_composites)
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
    structure = [_expanded(part, kwargs.get("expand_composites", False)) for part in structure]
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True))
    results = [func(*leaves) for leaves in zip(*[flatten(part) for part in structure])]
    return pack_sequence_as(structure[0], results)


def flatten_dict_items(dictionary):
    if not isinstance(dictionary, _Mapping):
        raise TypeError("input must be a dictionary")
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


# Structures whose leaves may be structures of another: the form of the first ends where that of the second goes on.


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Raises TypeError or ValueError unless ``input_tree`` nests as ``shallow_tree`` does, down to its leaves."""
    shallow_tree, input_tree = _expanded(shallow_tree, expand_composites), _expanded(input_tree, expand_composites)
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise TypeError(_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(input_tree)))
    if isinstance(shallow_tree, _Parts) or isinstance(input_tree, _Parts):
        _compare_parts(shallow_tree, input_tree)
    mappings = isinstance(shallow_tree, _Mapping) and isinstance(input_tree, _Mapping)
    if check_types and not mappings and not isinstance(input_tree, type(shallow_tree)):
        raise TypeError(_STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(input_tree),
                                                                  shallow_type=type(shallow_tree)))
    if len(input_tree) != len(shallow_tree):
        raise ValueError(_STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=len(input_tree),
                                                                     shallow_length=len(shallow_tree)))
    if mappings and set(input_tree) != set(shallow_tree):
        raise ValueError(_SHALLOW_TREE_HAS_INVALID_KEYS.format(sorted(set(shallow_tree) - set(input_tree))))
    for shallow, given in zip(_children(shallow_tree), _children(input_tree)):
        assert_shallow_structure(shallow, given, check_types)


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """The parts of ``input_tree`` that stand where ``shallow_tree`` has its leaves."""
    shallow_tree, input_tree = _expanded(shallow_tree, expand_composites), _expanded(input_tree, expand_composites)
    assert_shallow_structure(shallow_tree, input_tree, check_types)

    def walk(shallow, given):
        if not is_sequence(shallow):
            return [_collapsed(given) if expand_composites else given]
        return [part for pair in zip(_children(shallow), _children(given)) for part in walk(*pair)]

    return walk(shallow_tree, input_tree)


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """The function of those parts of all inputs, in the form of ``shallow_tree``."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    composites = kwargs.get("expand_composites", False)
    shallow_tree = _expanded(shallow_tree, composites)
    flat = [flatten_up_to(shallow_tree, tree, kwargs.get("check_types", True), composites) for tree in inputs]
    return pack_sequence_as(shallow_tree, [func(*parts) for parts in zip(*flat)])


def yield_flat_paths(structure, expand_composites=False):
    """The keys and indices on the way to each leaf, as tuples."""
    structure = _expanded(structure, expand_composites)
    if not is_sequence(structure):
        yield ()
        return
    if isinstance(structure, _Parts):
        keys = [structure.spec.value_type.__name__]
    elif isinstance(structure, _Mapping):
        keys = sorted(structure)
    else:
        keys = getattr(structure, "_fields", None) or range(len(structure))
    for key, child in zip(keys, _children(structure)):
        for path in yield_flat_paths(child):
            yield (key, *path)


def flatten_with_tuple_paths(structure, expand_composites=False):
    structure = _expanded(structure, expand_composites)
    return list(zip(yield_flat_paths(structure), flatten(structure)))


def flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False,
                                   check_subtrees_length=True):
    """[(path, part)] of the parts of ``input_tree`` that stand where ``shallow_tree`` has its leaves."""
    shallow_tree = _expanded(shallow_tree, expand_composites)
    return list(zip(yield_flat_paths(shallow_tree),
                    flatten_up_to(shallow_tree, input_tree, check_types, expand_composites)))


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """[(path, leaf)]: the keys and indices on the way to a leaf, joined."""
    return [(separator.join(str(key) for key in path), leaf)
            for path, leaf in flatten_with_tuple_paths(structure, expand_composites)]


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    """func(path, *parts) of the parts that stand where ``shallow_tree`` has its leaves."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    composites = kwargs.get("expand_composites", False)
    shallow_tree = _expanded(shallow_tree, composites)
    flat = [flatten_up_to(shallow_tree, tree, kwargs.get("check_types", True), composites) for tree in inputs]
    return pack_sequence_as(shallow_tree, [func(path, *parts) for path, parts in
                                           zip(yield_flat_paths(shallow_tree), zip(*flat))])


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """func(path, *leaves) of every leaf, the path as a tuple."""
    structure = [_expanded(part, kwargs.get("expand_composites", False)) for part in structure]
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True))
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, check_types=False)


def map_structure_with_paths(func, *structure, **kwargs):
    """func(path, *leaves) of every leaf."""
    return map_structure_with_tuple_paths(lambda path, *leaves: func("/".join(map(str, path)), *leaves), *structure, **kwargs)


def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """The form of a structure down to where ``traverse_fn`` of a part is False: True and False for its leaves. The
    function may also give a structure of these for the children of a part."""
    to_traverse = traverse_fn(structure)
    if not (is_sequence_or_composite if expand_composites else is_sequence)(structure):
        if not isinstance(to_traverse, bool):
            raise TypeError(f"traverse_fn returned structure: {to_traverse} for non-structure: {structure}")
        return to_traverse
    parts = _one_level(structure)
    if isinstance(to_traverse, bool):
        if not to_traverse:
            return False
        return _like(parts, [get_traverse_shallow_structure(traverse_fn, child, expand_composites)
                             for child in _children(parts)])
    if not is_sequence_or_composite(to_traverse):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {to_traverse} for input: {structure}")
    assert_shallow_structure(to_traverse, structure, expand_composites=expand_composites)
    chosen = []
    for choice, child in zip(_children(_one_level(to_traverse)), _children(parts)):
        if not isinstance(choice, bool):
            raise TypeError(f"traverse_fn didn't return a depth=1 structure of bools.  saw: {to_traverse}  for structure: "
                            f"{structure}")
        chosen.append(get_traverse_shallow_structure(traverse_fn, child, expand_composites) if choice else False)
    return _like(parts, chosen)


def _one_level(structure):
    """A composite as its components, which are not taken apart."""
    if isinstance(structure, _CompositeTensor):
        return _Parts(structure._type_spec._to_components(structure), structure._type_spec)
    return structure
