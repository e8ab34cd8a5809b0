"""tensorflow.python.ops.resources: what is initialised beside variables; Weir's resources initialise themselves."""

import collections

from weir.core import dtypes
from weir.core.graph import GraphKeys, add_to_collection, get_collection, name_scope
from weir.core.variables import Variable
from weir.ops import array_ops, math_ops
from weir.ops.control_flow_ops import group, no_op

_Resource = collections.namedtuple("_Resource", ["handle", "create", "is_initialized"])


def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Notes a resource of the program's own, of all tasks or of its session alone, with those of the graph."""
    add_to_collection(GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES,
                      _Resource(handle, create_op, is_initialized_op))


def shared_resources():
    """[(handle, initializer, whether it is initialised)] of the graph."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources():
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(resource_list=None, name="report_uninitialized_resources"):
    """The names of the handles of resources that are not initialised, a vector of strings."""
    resource_list = shared_resources() + local_resources() if resource_list is None else resource_list
    with name_scope(name):
        if not resource_list:
            return array_ops.constant([], dtype=dtypes.string)
        missing = math_ops.logical_not(array_ops.stack([resource.is_initialized for resource in resource_list]))
        return array_ops.boolean_mask(array_ops.constant([resource.handle.name for resource in resource_list]), missing)


def initialize_resources(resource_list, name="init"):
    """An operation that initialises resources."""
    operations = [resource.initializer if isinstance(resource, Variable) else
                  resource.create if hasattr(resource, "create") else resource[1] for resource in resource_list]
    return group(*operations, name=name) if operations else no_op(name=name)
