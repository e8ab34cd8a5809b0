"""tensorflow.python.framework.ops: what libraries reach for beside its public names."""

import contextlib
import re

from weir import protos
from weir.core import declared_ops, dtypes, stack, tensor_util
from weir.core.conversion import convert_n_to_tensor  # noqa: F401
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.tensor import IndexedSlices
from weir.inner.registry import Registry
from weir.profiler import flops
from weir.ops.sparse_ops import SparseTensor


class _AnyTensor(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (Tensor, SparseTensor, IndexedSlices))


class _TensorLike(metaclass=_AnyTensor):
    """The kinds of tensors, for isinstance."""


class EagerTensor(Tensor):
    """Tensors that have a value at once: there are none, for isinstance to say so."""

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError("Weir runs graphs: there are no eager tensors.")


def _as_graph_element(obj):
    """What an object is in a graph, if it says so of itself."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if convert else None


_dense_kinds = [Tensor]


def register_dense_tensor_like_type(tensor_type):
    """Makes ``is_dense_tensor_like`` true for objects of a class, which must have the properties name and dtype."""
    for attribute in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, attribute, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{attribute}` property")
    if tensor_type not in _dense_kinds:
        _dense_kinds.append(tensor_type)


def register_symbolic_tensor_type(cls):
    """Lets Keras take objects of a class for tensors."""
    if cls not in _dense_kinds:
        _dense_kinds.append(cls)


def is_dense_tensor_like(t):
    return isinstance(t, tuple(_dense_kinds)) or hasattr(t, "_handle") or hasattr(t, "_as_graph_element")


def RegisterShape(op_type):  # noqa: N802
    """Registers the shape function of an operation that Weir does not have. Weir's own have theirs."""

    def decorator(function):
        if not declared_ops._is_known(op_type):
            declared_ops._register_shape(op_type, function)
        return function

    return decorator


class OpStats:
    """A statistic of an operation: a number, or None when nothing is known."""

    def __init__(self, statistic_type, value=None):
        self.statistic_type = statistic_type
        self.value = value

    @property
    def statistic_type(self):
        return self._statistic_type

    @statistic_type.setter
    def statistic_type(self, statistic_type):
        self._statistic_type = statistic_type

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        self._value = value

    def __iadd__(self, other):
        if other.statistic_type != self.statistic_type:
            raise ValueError(f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}.")
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self._value += other.value
        return self


_stats_registry = Registry("statistical functions")


class RegisterStatistics:  # noqa: N801
    """Registers a function (graph, node) -> OpStats for an operation and a statistic such as "flops"."""

    def __init__(self, op_type, statistic_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        self._op_type = op_type
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._statistic_type = statistic_type

    def __call__(self, f):
        _stats_registry.register(f, self._op_type + "," + self._statistic_type)
        return f


def get_stats_for_node_def(graph, node, statistic_type):
    """What a function that a program registered says of a node, or TensorFlow's own rule; nothing where there is none."""
    try:
        function = _stats_registry.lookup(node.op + "," + statistic_type)
    except LookupError:
        known = statistic_type == "flops"
        return OpStats(statistic_type, flops._of_rule(graph.get_operation_by_name(node.name)) if known else None)
    return function(graph, node)


def strip_name_scope(name, export_scope):
    """``name`` without the scope that is exported, wherever it stands in it (``loc:@scope/x``, ``^scope/x``)."""
    if not export_scope:
        return name
    if export_scope[-1] == "/":
        export_scope = export_scope[:-1]
    try:
        return re.sub(rf"([\^]|loc:@|^){re.escape(export_scope)}[\/]+(.*)", r"\1\2",
                      name.decode() if isinstance(name, bytes) else name, count=1)
    except TypeError:
        return name


def prepend_name_scope(name, import_scope):
    """``name`` inside the scope that it is imported into."""
    if not import_scope:
        return name
    if import_scope[-1] == "/":
        import_scope = import_scope[:-1]
    try:
        return re.sub(r"([\^]|loc:@|^)(.*)", rf"\1{import_scope}/\2",
                      name.decode() if isinstance(name, bytes) else name, count=1)
    except TypeError:
        return name


_proto_functions = Registry("proto functions")


def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None):
    """How the items of a collection become messages in a MetaGraphDef, and come back."""
    if to_proto and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    _proto_functions.register((proto_type, to_proto, from_proto), collection_name)


def _proto_function(collection_name, index):
    try:
        return _proto_functions.lookup(collection_name)[index]
    except LookupError:
        return None


def get_collection_proto_type(collection_name):
    return _proto_function(collection_name, 0)


def get_to_proto_function(collection_name):
    return _proto_function(collection_name, 1)


def get_from_proto_function(collection_name):
    return _proto_function(collection_name, 2)


def internal_convert_to_tensor(value, dtype=None, name=None, as_ref=False, preferred_dtype=None, ctx=None, **_):
    return convert_to_tensor(value, dtype=dtype, name=name, preferred_dtype=preferred_dtype)


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a list.")
    return [value if value is None or isinstance(value, IndexedSlices) else
            convert_to_tensor(value, dtype=dtype, name=None if name is None else f"{name}_{i}")
            for i, value in enumerate(values)]


def _NodeDef(op_type, name, device=None, attrs=None):  # noqa: N802
    """A NodeDef; ``attrs`` are AttrValue messages by name."""
    node_def = protos.NodeDef(op=op_type, name=name, device="" if device is None or callable(device) else
                              device.to_string() if hasattr(device, "to_string") else str(device))
    for key, value in (attrs or {}).items():
        node_def.attr[key].CopyFrom(value)
    return node_def


def _get_graph_from_inputs(op_input_list, graph=None):
    """The graph that all inputs belong to. ValueError when they belong to several."""
    found = graph
    for item in op_input_list:
        owner = getattr(item, "graph", None)
        if owner is None:
            continue
        if found is None:
            found = owner
        elif found is not owner:
            raise ValueError(f"{item} must be from the same graph as the other inputs.")
    return found if found is not None else stack.get_default_graph()


@contextlib.contextmanager
def NullContextmanager(*args, **kwargs):  # noqa: N802
    yield


null_contextmanager = NullContextmanager


def executing_eagerly_outside_functions():
    return False


def inside_function():
    return False


def has_default_session():
    return stack.get_default_session() is not None


def set_shapes_for_outputs(op):
    """Shapes are inferred when an operation is made."""


set_shape_and_handle_data_for_outputs = set_shapes_for_outputs


def _set_call_cpp_shape_fn(call_cpp_shape_fn):
    """Shape functions are C++ here, whatever a program says."""


def TF_TryEvaluateConstant_wrapper(graph, tensor):  # noqa: N802
    """The value of a tensor that constants decide, else None."""
    return tensor_util.constant_value(tensor)


def _tensor_shape_tensor_conversion_function(s, dtype=None, name=None, as_ref=False):
    """A shape whose sizes are all known, as a tensor."""
    if not s.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {s}")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype {dtype}")
    return convert_to_tensor(s.as_list(), dtype or dtypes.int32, name or "shape_as_tensor")
