"""tensorflow.python.ops.resources: what is initialised beside variables; Weir's resources initialise themselves."""

from weir.core.graph import GraphKeys, get_collection
from weir.core.variables import Variable
from weir.ops.control_flow_ops import group, no_op


def shared_resources():
    """[(handle, initializer, whether it is initialised)] of the graph."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources():
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list, name="init"):
    """An operation that initialises resources."""
    operations = [resource.initializer if isinstance(resource, Variable) else
                  resource.create if hasattr(resource, "create") else resource[1] for resource in resource_list]
    return group(*operations, name=name) if operations else no_op(name=name)
