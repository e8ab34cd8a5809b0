"""Writes to variables."""

from weir import _weir
from weir.core.graph import control_dependencies, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.ops import array_ops


def _assigns_itself(ref):
    """Whether it is no reference but knows how it is written to: a slice of a variable, or a program's own class."""
    return hasattr(ref, "assign") and not getattr(getattr(ref, "dtype", None), "_is_ref_dtype", False)


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    if isinstance(ref, _weir.Variable):
        return _weir.assign(ref, value, validate_shape is not False, use_locking is not False, name)
    if _assigns_itself(ref):
        return ref.assign(value, name=name)
    return apply("Assign", (ref, value), {"validate_shape": validate_shape, "use_locking": use_locking}, name)


def assign_add(ref, value, use_locking=None, name=None):
    if isinstance(ref, _weir.Variable):
        return _weir.assign_add(ref, value, use_locking, name)
    return apply("AssignAdd", (ref, value), {"use_locking": use_locking}, name)


def assign_sub(ref, value, use_locking=None, name=None):
    if isinstance(ref, _weir.Variable):
        return _weir.assign_sub(ref, value, use_locking, name)
    return apply("AssignSub", (ref, value), {"use_locking": use_locking}, name)


def scatter_update(ref, indices, updates, use_locking=True, name=None):
    return _weir.scatter_update(ref, indices, updates, use_locking, name)


def scatter_add(ref, indices, updates, use_locking=False, name=None):
    return _weir.scatter_add(ref, indices, updates, use_locking, name)


def scatter_sub(ref, indices, updates, use_locking=False, name=None):
    return _weir.scatter_sub(ref, indices, updates, use_locking, name)


def _scatter(op, ref, indices, updates, use_locking, name):
    if not isinstance(ref, _weir.Variable) or not ref._is_resource:
        return apply(op, (ref, indices, updates), {"use_locking": use_locking}, name)
    write = apply(f"Resource{op}", (ref.handle, indices, convert_to_tensor(updates, dtype=ref.dtype)), {}, name)
    with control_dependencies([write]):
        return _weir.read_variable(ref, None)


def scatter_mul(ref, indices, updates, use_locking=False, name=None):
    return _scatter("ScatterMul", ref, indices, updates, use_locking, name)


def scatter_div(ref, indices, updates, use_locking=False, name=None):
    return _scatter("ScatterDiv", ref, indices, updates, use_locking, name)


def scatter_min(ref, indices, updates, use_locking=False, name=None):
    return _scatter("ScatterMin", ref, indices, updates, use_locking, name)


def scatter_max(ref, indices, updates, use_locking=False, name=None):
    return _scatter("ScatterMax", ref, indices, updates, use_locking, name)


def count_up_to(ref, limit, name=None):
    return _weir.count_up_to(ref, limit, name)


def scatter_nd_update(ref, indices, updates, use_locking=True, name=None):
    return _scatter("ScatterNdUpdate", ref, indices, updates, use_locking, name)


def scatter_nd_add(ref, indices, updates, use_locking=False, name=None):
    return _scatter("ScatterNdAdd", ref, indices, updates, use_locking, name)


def scatter_nd_sub(ref, indices, updates, use_locking=False, name=None):
    return _scatter("ScatterNdSub", ref, indices, updates, use_locking, name)


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """scatter_update for each example: all dimensions but the last of ``indices`` are shared with the variable."""
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        places = array_ops._with_batch_places(array_ops.expand_dims(indices, -1), indices.shape.ndims - 1)
        return scatter_nd_update(ref, places, updates, use_locking=use_locking)
