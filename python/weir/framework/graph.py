"""Graph, Operation and Tensor."""

import sys

from weir import _weir
from weir.framework import dtypes, stack
from weir.framework.tensor_shape import TensorShape


class _Entered:
    """A context manager over a scope of the C++ graph; ``enter()`` opens it, ``value`` is what ``as`` gets."""

    def __init__(self, enter, value=None):
        self._enter, self._value, self._scope = enter, value, None

    def __enter__(self):
        self._scope = self._enter()
        return self._value(self._scope) if self._value else None

    def __exit__(self, *exc):
        scope, self._scope = self._scope, None
        scope.exit()
        return False


class Tensor(_weir.Tensor):
    """A value that a run of the graph computes: one output of an operation."""

    __array_priority__ = 100  # numpy leaves `array * tensor` to us
    __hash__ = object.__hash__
    OVERLOADABLE_OPERATORS = frozenset()

    @property
    def shape(self):
        return TensorShape(self._shape_tuple())

    def get_shape(self):
        return TensorShape(self._shape_tuple())

    def set_shape(self, shape):
        """Adds knowledge of the shape; raises ValueError when it contradicts what is known."""
        self._set_shape(TensorShape(shape)._dims)

    @property
    def dtype(self):
        dtype = _weir.Tensor.dtype.__get__(self)
        return dtype._as_ref if self._is_ref else dtype

    def eval(self, feed_dict=None, session=None):
        return _session_for(self.graph, session, "evaluate tensor", "eval(session=sess)").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def _shape_as_list(self):
        dims = self._shape_tuple()
        return None if dims is None else list(dims)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __iter__(self):
        raise TypeError("'Tensor' object is not iterable.")

    def __len__(self):
        raise TypeError("object of type 'Tensor' has no len()")

    def __bool__(self):
        raise TypeError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not None:` instead of `if t:` to test "
            "if a tensor is defined, and use TensorFlow ops such as tf.cond to execute subgraphs conditioned on the "
            "value of a tensor.")

    def __array__(self, *args, **kwargs):
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    def __str__(self):
        shape = "" if self._shape_tuple() is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self):
        dims = self._shape_tuple()
        return f"<tf.Tensor '{self.name}' shape={TensorShape(dims)} dtype={self.dtype.name}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Operation(_weir.Operation):
    """A node of a graph."""

    __hash__ = object.__hash__

    def run(self, feed_dict=None, session=None):
        _session_for(self.graph, session, "execute operation", "run(session=sess)").run(self, feed_dict)

    def values(self):
        return tuple(self.outputs)

    def get_attr(self, name):
        """An attribute as Python sees it: numbers, bytes, DType, lists; shapes and tensors as messages."""
        value = self._attr(name)
        if isinstance(value, tuple) or value is None:
            return TensorShape(value).as_proto()
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return self.node_def.attr[name].tensor
        return value

    @property
    def node_def(self):
        from weir import protos

        return protos.NodeDef.FromString(self._node_def())

    @property
    def op_def(self):
        from weir import protos

        inputs, _, outputs = _weir.op_spec(self.type)
        definition = protos.OpDef(name=self.type)
        for name in inputs:
            definition.input_arg.add().name = name
        for name in outputs:
            definition.output_arg.add().name = name
        return definition

    @property
    def traceback(self):
        file, line = self._line
        return [(file, line, "<module>", "")]

    def _as_graph_element(self):
        return None

    def __str__(self):
        return str(self.node_def)

    def __repr__(self):
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Graph(_weir.Graph):
    """Operations under construction, and what belongs to them."""

    def __init__(self):
        super().__init__()
        self._finalized = False
        self._seed = None
        self._variable_scopes = []  # see variable_scope.py

    # Construction.

    def as_default(self):
        return stack.Pushed("graphs", self)

    def name_scope(self, name):
        return _Entered(lambda: self._name_scope("" if name is None else name), lambda scope: scope.name)

    def device(self, device_name_or_function):
        return _Device(self, device_name_or_function)

    def control_dependencies(self, control_inputs):
        if control_inputs is not None:
            control_inputs = [_control_input(self, item) for item in control_inputs]
        return _Entered(lambda: self._control_dependencies(control_inputs))

    def colocate_with(self, op, ignore_existing=False):
        if op is None:
            return _Entered(lambda: self._name_scope(self._current_name_scope() + "/" if self._current_name_scope() else ""))
        return _Entered(lambda: self._colocate_with(getattr(op, "_handle", op)))

    def container(self, container_name):
        return _Entered(lambda: self._name_scope(self._current_name_scope() + "/" if self._current_name_scope() else ""))

    def get_name_scope(self):
        return self._current_name_scope()

    def create_op(self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
                  compute_shapes=True, compute_device=True):
        from weir.framework.op_functions import node

        return node(self, op_type, tuple(inputs), {}, name)

    # Looking things up.

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The Tensor or Operation that ``obj`` is or names; KeyError when the graph has none of that name."""
        if hasattr(obj, "_as_graph_element") and not isinstance(obj, (Tensor, Operation)):
            obj = obj._as_graph_element()
        kinds = " or ".join(k for k, allowed in (("Tensor", allow_tensor), ("Operation", allow_operation)) if allowed)
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                name, _, index = obj.rpartition(":")
                operation = self._find(name)
                if not index.isdigit():
                    raise ValueError(f"The name {obj!r} looks a like a Tensor name, but is not a valid one. Tensor names "
                                     'must be of the form "<op_name>:<output_index>".')
                if operation is None:
                    raise KeyError(f"The name {obj!r} refers to a Tensor which does not exist. The operation, {name!r}, "
                                   "does not exist in the graph.")
                outputs = operation.outputs
                if int(index) >= len(outputs):
                    raise KeyError(f"The name {obj!r} refers to a Tensor which does not exist. The operation, {name!r}, "
                                   f"exists but only has {len(outputs)} outputs.")
                return outputs[int(index)]
            if ":" in obj:
                raise ValueError(f"Name {obj!r} appears to refer to a Tensor, not a Operation.")
            if not allow_operation:
                if self._find(obj) is not None:
                    raise ValueError(f"The name {obj!r} refers to an Operation, not a Tensor. Tensor names must be of "
                                     f"the form \"<op_name>:<output_index>\".")
                raise ValueError(f"The name {obj!r} looks like an (invalid) Operation name, not a Tensor. Tensor names "
                                 f"must be of the form \"<op_name>:<output_index>\".")
            operation = self._find(obj)
            if operation is None:
                raise KeyError(f"The name {obj!r} refers to an Operation not in the graph.")
            return operation
        if isinstance(obj, Tensor) and allow_tensor or isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"{'Tensor' if isinstance(obj, Tensor) else 'Operation'} {obj!r} is not an element of "
                                 "this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")

    def get_operation_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def is_feedable(self, tensor):
        return True

    def is_fetchable(self, tensor_or_op):
        return True

    def prevent_feeding(self, tensor):
        pass

    def prevent_fetching(self, op):
        pass

    # Collections.

    def add_to_collection(self, name, value):
        self._check_not_finalized()
        self._add_to_collection(str(name), value)

    def add_to_collections(self, names, value):
        for name in (names,) if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection(self, name, scope=None):
        items = self._collection(str(name))
        if scope is None:
            return items
        import re

        matches = re.compile(scope).match
        return [item for item in items if hasattr(item, "name") and matches(item.name)]

    def get_collection_ref(self, name):
        """The collection as a list whose changes are the graph's."""
        return _Collection(self, str(name))

    def get_all_collection_keys(self):
        return [name for name in self._collection_names()]

    collections = property(lambda self: self.get_all_collection_keys())

    def clear_collection(self, name):
        self._check_not_finalized()
        self._clear_collection(str(name))

    # The rest.

    @property
    def seed(self):
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed
        self._set_seed(int(seed))

    @property
    def finalized(self):
        return self._finalized

    def finalize(self):
        self._finalized = True

    def _unsafe_unfinalize(self):
        self._finalized = False

    def _check_not_finalized(self):
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def building_function(self):
        return False

    @property
    def graph_def_versions(self):
        return self.as_graph_def().versions

    def as_graph_def(self, from_version=None, add_shapes=False):
        from weir import protos

        graph_def = protos.GraphDef()
        graph_def.ParseFromString(self._to_graph_def(add_shapes))
        if from_version:
            del graph_def.node[: from_version]
        return graph_def

    def switch_to_thread_local(self):
        pass

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


stack._graph_class = Graph


class _Collection(list):
    """A list that writes its changes back to a graph's collection."""

    def __init__(self, graph, name):
        super().__init__(graph._collection(name))
        self._graph, self._name = graph, name

    def _write(self):
        self._graph._clear_collection(self._name)
        for item in self:
            self._graph._add_to_collection(self._name, item)


def _writing(method):
    def write(self, *args):
        result = getattr(list, method)(self, *args)
        self._write()
        return result

    return write


for _method in ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "__setitem__", "__delitem__",
                "__iadd__"):
    setattr(_Collection, _method, _writing(_method))


class _Device:
    """``graph.device(name)``, a function of the node, a DeviceSpec, or None to forget the enclosing ones."""

    def __init__(self, graph, device):
        self._graph, self._device, self._scope = graph, device, None

    def __enter__(self):
        device = self._device
        if isinstance(device, _weir.DeviceSpec):
            device = device.to_string()
        elif isinstance(device, bytes):
            device = device.decode()
        if callable(device):
            self._scope = self._graph._device_function(device)
        elif device != "":  # which says nothing, unlike None
            self._scope = self._graph._device("" if device is None else device)

    def __exit__(self, *exc):
        if self._scope is not None:
            self._scope.exit()
        return False


def _control_input(graph, item):
    if isinstance(item, IndexedSlices):
        return item.op
    if hasattr(item, "_handle"):  # a Variable
        return item.op
    return graph.as_graph_element(item) if isinstance(item, str) else item


def _session_for(graph, session, what, how):
    if session is None:
        session = stack.get_default_session()
        if session is None:
            raise ValueError(f"Cannot {what} using `{how.split('(')[0]}()`: No default session is registered. Use `with "
                             f"sess.as_default()` or pass an explicit session to `{how}`")
        if session.graph is not graph:
            raise ValueError(f"Cannot use the default session to {what}: the tensor's graph is different from the "
                             f"session's graph. Pass an explicit session to `{how}`.")
    elif session.graph is not graph:
        raise ValueError(f"Cannot use the given session to {what}: the tensor's graph is different from the session's "
                         "graph.")
    return session


class IndexedSlices:
    """Rows ``indices`` of a larger tensor: what the gradient of a gather is."""

    def __init__(self, values, indices, dense_shape=None):
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    values = property(lambda self: self._values)
    indices = property(lambda self: self._indices)
    dense_shape = property(lambda self: self._dense_shape)
    name = property(lambda self: self._values.name)
    device = property(lambda self: self._values.device)
    op = property(lambda self: self._values.op)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._values.graph)

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self):
        shape = f", dense_shape={self._dense_shape}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


class GraphKeys:
    """The names of the standard collections."""

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


class name_scope:
    """``with name_scope(name) as scope``, also in the forms of TensorFlow 0.x and 1.x: ``(name, default_name, values)``
    and ``op_scope(values, name, default_name)``."""

    def __init__(self, name, default_name=None, values=None):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name_scope: `name` must be a string, got {name!r}")
        self._name = default_name if name is None else name
        self._values = values
        if self._name is None and values is not None:
            raise ValueError("At least one of name (None) and default_name (None) must be provided.")

    @property
    def name(self):
        return self._name

    def __enter__(self):
        graph = stack.get_default_graph()
        for value in self._values or ():
            if isinstance(getattr(value, "graph", None), Graph):
                graph = value.graph
                break
        self._pushed = stack.Pushed("graphs", graph) if graph is not stack.get_default_graph() else None
        if self._pushed:
            self._pushed.__enter__()
        self._scope = graph._name_scope(self._name or "")
        return self._scope.name

    def __exit__(self, *exc):
        self._scope.exit()
        if self._pushed:
            self._pushed.__exit__()
        return False


def op_scope(values, name, default_name=None):
    return name_scope(name, default_name, values)


def device(device_name_or_function):
    return stack.get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs):
    return stack.get_default_graph().control_dependencies(control_inputs)


def colocate_with(op, ignore_existing=False):
    return op.graph.colocate_with(op, ignore_existing)


def container(container_name):
    return stack.get_default_graph().container(container_name)


def add_to_collection(name, value):
    stack.get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    stack.get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    return stack.get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    return stack.get_default_graph().get_collection_ref(key)


def set_random_seed(seed):
    stack.get_default_graph().seed = seed


def get_seed(op_seed):
    graph = stack.get_default_graph()
    if graph.seed is None and op_seed is None:
        return None, None
    return graph._next_seeds(op_seed)


_conversions = []  # (priority, type, function)


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda row: row[0])


def _convert(value, dtype, name):
    """A Tensor for an object that the extension does not know, or None."""
    if isinstance(value, IndexedSlices):
        from weir.ops import array_ops

        return array_ops.densify(value, name or None)
    for _, base_type, function in _conversions:
        if isinstance(value, base_type):
            result = function(value, dtype=dtype, name=name, as_ref=False)
            if result is not NotImplemented:
                return result
    if hasattr(value, "_as_graph_element"):
        return value._as_graph_element()
    return None


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None, as_ref=False):
    """A Tensor of ``value``: itself, or a constant. Raises ValueError when it is one of another type."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    elif (preferred_dtype or dtype_hint) is not None and not isinstance(value, (Tensor, _weir.Variable)):
        try:
            return _weir.convert_to_tensor(stack.get_default_graph(), value,
                                           dtypes.as_dtype(preferred_dtype or dtype_hint).base_dtype, name)
        except (TypeError, ValueError):
            pass  # only preferred
    tensor = _weir.convert_to_tensor(stack.get_default_graph(), value, dtype, name)
    if dtype is not None and tensor.dtype.base_dtype != dtype:
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {tensor.dtype.name}: "
                         f"{str(tensor)!r}")
    return tensor


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    return value if isinstance(value, IndexedSlices) else convert_to_tensor(value, dtype, name)


def convert_n_to_tensor(values, dtype=None, name=None):
    return [convert_to_tensor(value, dtype, None if name is None else f"{name}_{i}") for i, value in enumerate(values)]


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef below ``name`` ("import"); gives those asked for by name."""
    graph = stack.get_default_graph()
    if not hasattr(graph_def, "SerializeToString"):
        raise TypeError(f"graph_def must be a GraphDef proto. Got type {type(graph_def)}")
    for key in input_map or {}:
        if not isinstance(key, str):
            raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    prefix = "import" if name is None else name
    try:
        result = graph._import_graph_def(graph_def.SerializeToString(), prefix, dict(input_map or {}),
                                         list(return_elements or []))
    except TypeError as error:  # a tensor of the input map has another type than the graph's
        raise ValueError(str(error)) from None
    return None if return_elements is None else result


def user_file(path):
    """Whether a frame of this file belongs to the user's program."""
    return not path.startswith(_weir_directory)


_weir_directory = sys.modules["weir"].__path__[0] + "/"
