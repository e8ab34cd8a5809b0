"""tf.contrib.graph_editor.util: scopes, placeholders, and which graph things belong to."""

from weir.contrib.graph_editor.select import (  # noqa: F401  they have both names
    ControlOutputs, get_consuming_ops, get_generating_ops, get_tensors, make_list_of_op, make_list_of_t)
from weir.core.graph import Graph, GraphKeys
from weir.core.tensor import Operation, Tensor
from weir.ops.array_ops import placeholder


class ListView:
    """A list that cannot be changed through it."""

    def __init__(self, list_):
        if not isinstance(list_, list):
            raise TypeError(f"Expected a list, got: {type(list_)}.")
        self._list = list_

    def __iter__(self):
        return iter(self._list)

    def __len__(self):
        return len(self._list)

    def __getitem__(self, i):
        return self._list[i]

    def __add__(self, other):
        return self._list + list(other)

    def __repr__(self):
        return f"ListView({self._list})"


def is_iterable(obj):
    if isinstance(obj, Tensor):
        return False
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def check_graphs(*args):
    """ValueError when views, tensors or operations belong to several graphs."""
    if len({id(x.graph) for x in args if x.graph is not None}) > 1:
        raise ValueError("Argument: Wrong graph!")


def get_unique_graph(tops, check_types=None, none_if_empty=False):
    """The graph that all tensors and operations belong to."""
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    kinds = check_types or (Operation, Tensor)
    graph = None
    for top in tops:
        if not isinstance(top, kinds):
            raise TypeError(f"Expected a type in {kinds}, got: {type(top)}")
        if graph is not None and top.graph is not graph:
            raise ValueError(f"Operation {top} does not belong to given graph")
        graph = top.graph
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def scope_finalize(scope):
    """The scope with the slash that ends it."""
    return scope + "/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope):
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope):
    return scope[scope.rfind("/") + 1 :]


def placeholder_name(t=None, scope=None):
    """The name of a placeholder that stands for a tensor: "geph" and the name of the tensor, in its scope or another."""
    if scope is not None:
        scope = scope_finalize(scope)
    if t is None:
        return (scope or "") + "geph"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    base = scope_basename(t.op.name)
    if not base.startswith("geph__"):
        base = f"geph__{base}_{t.value_index}"
    return (scope_dirname(t.op.name) if scope is None else scope) + base


def make_placeholder_from_tensor(t, scope=None):
    return placeholder(dtype=t.dtype.base_dtype, shape=t.get_shape(), name=placeholder_name(t, scope=scope))


def make_placeholder_from_dtype_and_shape(dtype, shape=None, scope=None):
    return placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope))


ph = make_placeholder_from_dtype_and_shape


def get_predefined_collection_names():
    return [getattr(GraphKeys, key) for key in dir(GraphKeys) if not key.startswith("_") and isinstance(
        getattr(GraphKeys, key), str)]


def remove_control_inputs(op, cops):
    """Lets an operation no longer wait for others."""
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    cops = make_list_of_op(cops, allow_graph=False)
    for before in cops:
        if before not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {before.name}")
    for before in cops:
        op._remove_control_input(before)


def add_control_inputs(op, cops):
    """Makes an operation wait for others."""
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")
    for before in make_list_of_op(cops, allow_graph=False):
        if before in op.control_inputs:
            raise ValueError(f"{before.name} is already a control_input of {op.name}")
        op._add_control_input(before)
