"""Graph, its scopes and its collections."""

import contextlib

from weir import _weir, names as public_names, protos
from weir.core import declared_ops, stack
from weir.core.collection import _Collection
from weir.core.control_flow_context import context_of
from weir.core.conversion import (_convert, convert_n_to_tensor, convert_to_tensor,  # noqa: F401: asked for here
                                  convert_to_tensor_or_indexed_slices, register_tensor_conversion_function)
from weir.core.tensor import IndexedSlices, Operation, Tensor, _session_for  # noqa: F401


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


class Graph(_weir.Graph):
    """Operations under construction, and what belongs to them."""

    _building_function = False  # bodies of functions are parts of the graph around them
    # Whether the program was written for TensorFlow 0.x: its text has shown that (old_tensorflow.py), or a call.
    _of_0_x = False

    def __init__(self):
        super().__init__()
        self._seed = None
        # See variable_scope.py.
        self._variable_scopes, self._shared_variables, self._partitioned_variables = [], {}, {}
        self._variable_creators = []  # of variable_creator_scope
        self._device_names = []  # of the scopes around
        self._layer_counts = {}  # see layers/base.py
        self._cells_apart = None  # what rnn/cells.py has made of _of_0_x
        self._unfeedable, self._unfetchable = set(), set()
        self._collection_refs = {}

    @property
    def _c_graph(self):
        return self  # what functions of TensorFlow's C API take for a graph

    # What libraries that copy graphs do with a node that they have made: here it is in the graph already.

    _colocation_stack, _registered_ops = (), {}

    def _add_op(self, op):
        pass

    _record_op_seen_by_control_dependencies = _apply_device_functions = _add_op

    @property
    def _collections(self):
        return {name: self.get_collection_ref(name) for name in self.get_all_collection_keys()}

    @property
    def _nodes_by_name(self):
        return {op.name: op for op in self.get_operations()}

    # Construction.

    def as_default(self):
        return stack.Pushed("graphs", self)

    def name_scope(self, name):
        return _Entered(lambda: self._name_scope("" if name is None else name), lambda scope: scope.name)

    def device(self, device_name_or_function):
        return _Device(self, device_name_or_function)

    def _apply_device_functions(self, op):
        """Tells ``op`` the device of the scopes around: how Keras asks for it."""
        names = self._device_names[self._device_names.index(None) + 1:] if None in self._device_names \
            else self._device_names
        spec_class = public_names.at("weir.core.device:DeviceSpec")
        spec = spec_class()
        for name in names:
            spec.merge_from(spec_class.from_string(name(op) if callable(name) else name))
        if names and hasattr(op, "_set_device_from_string"):
            op._set_device_from_string(spec.to_string())
        elif names:
            op._set_device(spec)

    def control_dependencies(self, control_inputs):
        if control_inputs is not None:
            control_inputs = [_control_input(self, item) for item in control_inputs]
        return _Entered(lambda: self._control_dependencies(control_inputs))

    def colocate_with(self, op, ignore_existing=False):
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        op = op.op if isinstance(op, IndexedSlices) else getattr(op, "_handle", op)
        return _Entered(lambda: self._colocate_with(op, bool(ignore_existing)))

    def container(self, container_name):
        """``with`` it, new operations that keep state (variables, queues) keep it in this container."""
        return _Entered(lambda: self._container(container_name), lambda _: container_name)

    def gradient_override_map(self, op_type_map):
        """``with`` it, new nodes of the types are differentiated as {type: name given to RegisterGradient} says."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        return _Entered(lambda: _weir.GradientOverride(self, op_type_map))

    @contextlib.contextmanager
    def _original_op(self, op):
        """``with`` it, new operations say that they were made for another."""
        known = set(self.get_operations())
        yield
        for made in self.get_operations():
            if made not in known:
                made._original_op = op

    @contextlib.contextmanager
    def _attr_scope(self, attr_map):
        """``with`` it, new nodes get attributes, AttrValue messages by name; None, or a function of the node's definition
        that gives None, is none."""
        if not isinstance(attr_map, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to Callables that return AttrValue protocol "
                            "buffers")
        for name, value in attr_map.items():
            if not isinstance(name, str) or not (value is None or callable(value) or isinstance(value, protos.AttrValue)):
                raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers or "
                                "callables that emit AttrValue protocol buffers")
        known = set(self.get_operations()) if attr_map else ()
        try:
            yield
        finally:
            for op in (op for op in self.get_operations() if op not in known) if attr_map else ():
                for name, value in attr_map.items():
                    value = value(op.node_def) if callable(value) else value
                    if value is not None and name not in op._attr_names():
                        op._set_attr(name, value)

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map):
        """``with`` it, new nodes of the types ask for the kernels of these labels; Weir has one for each operation."""
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")
        for op_type, label in op_to_kernel_label_map.items():
            if not (isinstance(op_type, str) and isinstance(label, str)):
                raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")
        yield

    def get_name_scope(self):
        return self._current_name_scope()

    _name_stack = property(get_name_scope)

    def create_op(self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
                  compute_shapes=True, compute_device=True):
        """The new Operation. ``inputs`` are tensors, lists among them flattened; ``attrs`` are AttrValue messages, or
        what they hold. The types of inputs and outputs follow from these, unless Weir has no such operation."""
        if not declared_ops._is_known(op_type):
            return declared_ops._create(self, op_type, inputs, dtypes, input_types, name, attrs)
        return _weir.create_op(self, op_type, list(inputs), dict(attrs or {}), name)

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
        """Whether a run may give the tensor a value: not inside branches and loops."""
        return not tensor.op._in_body and tensor not in self._unfeedable

    def is_fetchable(self, tensor_or_op):
        """Whether a run may ask for it: not inside loops."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return not op._in_loop and op not in self._unfetchable

    def prevent_feeding(self, tensor):
        self._unfeedable.add(tensor)

    def prevent_fetching(self, op):
        self._unfetchable.add(op)

    # Collections.

    def add_to_collection(self, name, value):
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
        """The collection itself: a list whose changes are the graph's, and the graph's its own."""
        if hasattr(name, "_collection_of"):  # something of the graph that TensorFlow once kept in a collection
            return name._collection_of(self)
        name = str(name)
        if name not in self._collection_refs:
            self._collection_refs[name] = _Collection(self, name)
        return self._collection_refs[name]

    def get_all_collection_keys(self):
        return [name for name in self._collection_names()]

    collections = property(lambda self: self.get_all_collection_keys())

    def clear_collection(self, name):
        self._clear_collection(str(name))

    # The rest.

    @property
    def seed(self):
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed
        self._set_seed(seed)

    @property
    def building_function(self):
        return False

    def _get_control_flow_context(self):
        return context_of(self._bodies_around)

    @property
    def graph_def_versions(self):
        return self.as_graph_def().versions

    def as_graph_def(self, from_version=None, add_shapes=False):
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
        self._graph._device_names.append(device)
        if callable(device):
            self._scope = self._graph._device_function(device)
        elif device != "":  # which says nothing, unlike None
            self._scope = self._graph._device("" if device is None else device)

    def __exit__(self, *exc):
        self._graph._device_names.pop()
        if self._scope is not None:
            self._scope.exit()
        return False


def _control_input(graph, item):
    if isinstance(item, IndexedSlices):
        return item.op
    if hasattr(item, "_handle"):  # a Variable
        return item.op
    if isinstance(item, (Tensor, Operation)):
        return item
    return graph.as_graph_element(item) if isinstance(item, str) or hasattr(item, "_as_graph_element") else item


class GraphKeys:
    """The names of the standard collections."""

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
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
        graph, first = stack.get_default_graph(), None
        for value in self._values or ():
            if not isinstance(getattr(value, "graph", None), Graph):
                continue
            if first is None:
                graph, first = value.graph, value
            elif value.graph is not graph:
                raise ValueError(f"{value} must be from the same graph as {first}.")
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
    return (stack.get_default_graph() if op is None else op.graph).colocate_with(op, ignore_existing)


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


def prepend_name_scope(name, import_scope):
    """The name that something of a graph has after that graph was imported into a scope."""
    if not import_scope:
        return name
    scope = import_scope.rstrip("/")
    if name[:1] == "^":
        return f"^{scope}/{name[1:]}"
    if name.startswith("loc:@"):
        return f"loc:@{scope}/{name[5:]}"
    return f"{scope}/{name}"


def strip_name_scope(name, export_scope):
    """The name without the scope that it stands in."""
    if not export_scope:
        return name
    scope = export_scope.rstrip("/") + "/"
    for mark in ("^", "loc:@"):
        if name.startswith(mark):
            return mark + name[len(mark):].removeprefix(scope)
    return name.removeprefix(scope)


DEFAULT_GRAPH_SEED = 87654321  # of an operation that is given a seed in a graph that is not


def set_random_seed(seed):
    stack.get_default_graph().seed = seed


def _truncated(seed):
    """A seed of any size as TensorFlow uses it."""
    return seed if seed is None else int(seed) % (2**31 - 1)


def get_seed(op_seed):
    graph = stack.get_default_graph()
    op_seed = _truncated(op_seed)
    if graph.seed is None and op_seed is None:
        return None, None
    return graph._next_seeds(op_seed)


def _text(name):
    return name.decode() if isinstance(name, bytes) else name


def _with_free_names(graph, graph_def, input_map, elements):
    """What is imported, with names of the form x_1 for nodes whose names the graph has taken."""
    names = {node.name for node in graph_def.node}
    renamed = {}
    for name in sorted(names):
        if graph._find(name) is not None:
            number = 1
            while f"{name}_{number}" in names or graph._find(f"{name}_{number}") is not None:
                number += 1
            renamed[name] = f"{name}_{number}"
            names.add(renamed[name])
    if not renamed:
        return graph_def, input_map, elements

    def now(text):
        before = "^" if text.startswith("^") else ""
        name, colon, port = text[len(before):].partition(":")
        return before + renamed.get(name, name) + colon + port

    copy = protos.GraphDef()
    copy.CopyFrom(graph_def)
    for node in copy.node:
        node.name = renamed.get(node.name, node.name)
        node.input[:] = [now(text) for text in node.input]
        if "_class" in node.attr:
            groups = node.attr["_class"].list.s
            groups[:] = [f"loc:@{now(group[5:].decode())}".encode() if group.startswith(b"loc:@") else group
                         for group in groups]
    return copy, {now(key): value for key, value in input_map.items()}, [now(element) for element in elements]


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef below ``name`` ("import"); gives those asked for by name."""
    graph = stack.get_default_graph()
    if not hasattr(graph_def, "SerializeToString"):
        raise TypeError("graph_def must be a GraphDef proto.")
    if not isinstance(input_map, (dict, type(None))) or not all(isinstance(key, (str, bytes)) for key in input_map or ()):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    if not all(isinstance(element, (str, bytes)) for element in return_elements or ()):
        raise TypeError("return_elements must be a list of strings.")
    input_map = {_text(key): value for key, value in (input_map or {}).items()}
    prefix = "import" if name is None else name
    elements = [_text(element) for element in return_elements or []]
    if not prefix:
        graph_def, input_map, elements = _with_free_names(graph, graph_def, input_map, elements)
    try:
        result = graph._import_graph_def(graph_def.SerializeToString(), prefix, input_map, elements)
    except TypeError as error:  # a tensor of the input map has another type than the graph's
        raise ValueError(str(error)) from None
    return None if return_elements is None else result
