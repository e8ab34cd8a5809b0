"""Aliases of tensors, collections, conditions that may be known, sizes."""

import collections

from weir import _weir
from weir.core import stack
from weir.core.graph import Tensor, get_collection
from weir.core.tensor_shape import TensorShape
from weir.core.variables import Variable
from weir.ops import control_flow_ops

NamedOutputs = collections.namedtuple("NamedOutputs", ["name", "outputs"])


def add_to_collections(names, value):
    """Adds to one collection or several."""
    graph = stack.get_default_graph()
    for name in [names] if isinstance(names, (str, bytes)) else list(dict.fromkeys(names or ())):
        graph.add_to_collection(name, value)


def collect_named_outputs(collections, alias, outputs):
    """Gives a tensor an alias and adds it to collections."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor, alias):
    alias = alias[:-1] if alias.endswith("/") else alias
    if hasattr(tensor, "aliases"):
        tensor.aliases.append(alias)
    else:
        tensor.aliases = [alias]
    tensor.alias = alias  # TensorFlow 0.x knew the last one only
    return tensor


def get_tensor_aliases(tensor):
    """The aliases of a tensor, or its name when it has none."""
    if hasattr(tensor, "aliases"):
        return tensor.aliases
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors):
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def gather_tensors_alias(tensors):
    """The last alias of each tensor, or its name."""
    return [get_tensor_aliases(tensor)[-1] for tensor in tensors]


def convert_collection_to_dict(collection, clear_collection=False):
    """The tensors of a collection by their aliases."""
    found = collections.OrderedDict((alias, tensor) for tensor in get_collection(collection)
                                    for alias in get_tensor_aliases(tensor))
    if clear_collection:
        stack.get_default_graph().clear_collection(collection)
    return found


def constant_value(value_or_tensor_or_var, dtype=None):
    """The value, where it is known when the graph is built, else None."""
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (Tensor, Variable)):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return None if isinstance(value, Variable) else _weir.constant_value(value)


def static_cond(pred, fn1, fn2):
    if not callable(fn1):
        raise TypeError("fn1 must be callable.")
    if not callable(fn2):
        raise TypeError("fn2 must be callable.")
    return fn1() if pred else fn2()


def smart_cond(pred, fn1, fn2, name=None):
    """``fn1()`` or ``fn2()``, chosen now where the condition is known."""
    known = constant_value(pred)
    if known is not None:
        return static_cond(known, fn1, fn2)
    return control_flow_ops.cond(pred, fn1, fn2, name)


def get_variable_collections(variables_collections, name):
    """The collections of one kind of variable: of a dictionary by kind, or a list for all."""
    return variables_collections.get(name) if isinstance(variables_collections, dict) else variables_collections


def _dimension(shape, axis, min_rank):
    if shape.dims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return size


def channel_dimension(shape, data_format, min_rank=1):
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape, min_rank=1):
    return _dimension(shape, -1, min_rank)


def two_element_tuple(int_or_tuple):
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, TensorShape) and int_or_tuple.ndims == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


def n_positive_integers(n, value):
    """A tuple of n positive integers, of one integer or n."""
    if int(n) != n or n < 1:
        raise ValueError("n must be a positive integer")
    try:
        numbers = (int(value),) * int(n)
    except (TypeError, ValueError):
        try:
            numbers = tuple(int(number) for number in value)
        except (TypeError, ValueError):
            numbers = ()
        if len(numbers) != n:
            raise ValueError(f"Expected sequence of {n} positive integers, but received {value!r}") from None
    for number in numbers:
        if number < 1:
            raise ValueError(f"expected positive integer, but received {number}")
    return numbers
