"""How the arguments of queues and their relatives are read."""

from weir.core import dtypes as _dtypes
from weir.core.tensor_shape import TensorShape, as_shape


def type_list(types):
    return [_dtypes.as_dtype(t) for t in (types if isinstance(types, (list, tuple)) else [types])]


def shape_list(shapes, unknown_dims=False):
    """The shapes as a list of TensorShapes, or None. One shape alone stands for a list of one."""
    if unknown_dims and (not isinstance(shapes, (list, tuple)) or not shapes or
                         any(shape is None or isinstance(shape, int) for shape in shapes)):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (tuple, list)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]
    shapes = [as_shape(shape) for shape in shapes]
    if not unknown_dims and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if any(shape.dims is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return shapes


def name_list(names, types):
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != len(types):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return names


def scope_values(values):
    """The values as ``name_scope`` wants them."""
    if isinstance(values, dict):
        return list(values.values())
    return values if isinstance(values, (list, tuple)) else [values]
