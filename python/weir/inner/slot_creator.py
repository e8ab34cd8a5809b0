"""tensorflow.python.training.slot_creator: variables beside a variable, named "<variable>/<slot>"."""

from weir.core import dtypes
from weir.core.graph import colocate_with, convert_to_tensor
from weir.core.variable_scope import variable_scope
from weir.core.variables import Variable
from weir.ops import array_ops


def _make(primary, initial_value, name, colocate_with_primary, validate_shape=True, use_resource=False):
    with variable_scope(None, f"{primary.op.name}/{name}") as scope:
        def make():
            return Variable(initial_value, trainable=False, name=scope.name + "/", validate_shape=validate_shape,
                            use_resource=use_resource)

        if not colocate_with_primary:
            return make()
        with colocate_with(primary.op):
            return make()


def _is_resource(primary):
    return isinstance(primary, Variable) and primary._is_resource


def create_slot(primary, val, name, colocate_with_primary=True):
    """A slot that begins as ``val``."""
    val = convert_to_tensor(val)
    return _make(primary, val, name, colocate_with_primary, val.shape.is_fully_defined(), _is_resource(primary))


def create_slot_with_initializer(primary, initializer, shape, dtype, name, colocate_with_primary=True):
    dtype = dtypes.as_dtype(dtype).base_dtype
    sizes = shape.as_list() if hasattr(shape, "as_list") else shape
    return _make(primary, lambda: initializer(sizes, dtype=dtype), name, colocate_with_primary,
                 use_resource=_is_resource(primary))


def create_zeros_slot(primary, name, dtype=None, colocate_with_primary=True):
    dtype = dtypes.as_dtype(primary.dtype if dtype is None else dtype).base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return _make(primary, lambda: array_ops.zeros(shape, dtype), name, colocate_with_primary,
                     use_resource=_is_resource(primary))
    # The size is known when the variable has its value.
    like = primary.initialized_value() if isinstance(primary, Variable) else primary
    return _make(primary, array_ops.zeros_like(like, dtype), name, colocate_with_primary, validate_shape=False,
                 use_resource=_is_resource(primary))
