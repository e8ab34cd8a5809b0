"""Names of tensorflow.python.ops.variables and resource_variable_ops that are not public: the two kinds of variables."""

from weir.core import dtypes
from weir.core.graph import GraphKeys, colocate_with, convert_to_tensor, get_collection, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.variables import Variable

VariableV1 = Variable


class RefVariable(Variable):
    """A variable that operations reach by reference."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{**kwargs, "use_resource": False})


class ResourceVariable(Variable):
    """A variable that operations reach by a handle."""

    def __init__(self, initial_value=None, trainable=True, collections=None, validate_shape=True, caching_device=None,
                 name=None, dtype=None, variable_def=None, import_scope=None, constraint=None, **options):
        options = {key: value for key, value in options.items() if key in ("synchronization", "aggregation", "shape")}
        super().__init__(initial_value, trainable, collections, validate_shape, caching_device, name, variable_def, dtype,
                         import_scope=import_scope, constraint=constraint, use_resource=True, **options)


def is_resource_variable(var):
    return isinstance(var, Variable) and var._is_resource


def variable_op(shape, dtype, name="Variable", set_shape=True, container="", shared_name=""):
    """The reference of a variable that nothing initialises."""
    return apply("VariableV2", (), {"shape": TensorShape(shape if set_shape else None), "dtype": dtypes.as_dtype(dtype),
                                    "container": container, "shared_name": shared_name}, name)


variable_op_v2 = variable_op


def create_variable_op(resource, value, name=None):
    """Gives a handle its first value, as TensorFlow 0.12 spelt it."""
    return apply("AssignVariableOp", (resource, value), {}, name)


def _all_saveable_objects(scope=None):
    """What a Saver of everything saves."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + get_collection(GraphKeys.SAVEABLE_OBJECTS, scope)


def init_variable(v, init, name="init"):
    """The operation that gives a variable a value, or what a function of its shape and type makes."""
    with name_scope(None, v.op.name + "/", [v, init]), name_scope(name) as scope, colocate_with(v.op):
        if callable(init):
            if not v.get_shape().is_fully_defined():
                raise ValueError(f"Variable shape must be fully known to initialize it: {v.get_shape()}")
            value = init(v.get_shape().as_list(), v.dtype.base_dtype)
        else:
            value = convert_to_tensor(init, name="init")
        return v.assign(value).op if v._is_resource else apply("Assign", (v._ref(), value), {}, scope)
