"""Variables and their collections."""

import contextlib
import re

from weir import _weir, names, protos
from weir.core import dtypes, stack
from weir.core.graph import GraphKeys, _session_for, control_dependencies, name_scope
from weir.core.op_functions import apply
from weir.core.initial_values import _guarded
from weir.core.tensor import Tensor, _Reference
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, math_ops, state_ops


_PARAMETERS = ("initial_value", "trainable", "collections", "validate_shape", "caching_device", "name", "variable_def",
               "dtype", "expected_shape", "import_scope", "constraint", "use_resource", "synchronization", "aggregation",
               "shape")


def _create(graph, wanted, base):
    """A variable by way of the creators of ``variable_creator_scope``, that of the innermost scope first."""

    def call(number):
        if number < 0:
            return base
        return lambda **kwargs: graph._variable_creators[number](call(number - 1), **kwargs)

    return call(len(graph._variable_creators) - 1)(**wanted)


def _construct(**wanted):
    variable = _weir.Variable.__new__(Variable)
    variable.__init__(**wanted)
    return variable


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """``with`` it, new variables are made by ``variable_creator(next_creator, **kwargs)``."""
    creators = stack.get_default_graph()._variable_creators
    creators.append(variable_creator)
    try:
        yield
    finally:
        creators.remove(variable_creator)


class Variable(_weir.Variable):
    """State that a session keeps between runs. Begins as ``initial_value``, a tensor, a value, or a function without
    arguments that gives one."""

    __array_priority__ = 100
    __hash__ = object.__hash__
    _is_made = False  # by the creators of variable_creator_scope: there is nothing left to do

    def __new__(cls, *args, **kwargs):
        graph = stack.get_default_graph()
        if cls is not Variable or not graph._variable_creators or kwargs.get("variable_def") is not None:
            return super().__new__(cls)
        wanted = dict.fromkeys(_PARAMETERS, None)
        wanted.update(trainable=True, validate_shape=True, **dict(zip(_PARAMETERS, args)))
        wanted.update(kwargs)
        made = _create(graph, wanted, _construct)
        if isinstance(made, Variable):
            made._is_made = True
        return made

    def __init__(self, initial_value=None, trainable=True, collections=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                 use_resource=None, synchronization=None, aggregation=None, shape=None):
        if self._is_made:
            return
        super().__init__()
        if variable_def is not None:
            self._init_from_proto(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is not None and not isinstance(collections, (list, tuple, set)):
            raise ValueError(f"collections argument to Variable constructor must be a list, tuple, or set. Got "
                             f"{collections} of type {type(collections)}")
        graph = stack.get_default_graph()
        if use_resource is None and graph._variable_scopes:
            use_resource = graph._variable_scopes[-1].use_resource
        self._constraint = constraint
        if isinstance(initial_value, (Tensor, Variable)):
            initial_value = _guarded(initial_value, name or "Variable")
        self._create(graph, initial_value, bool(trainable), collections, name,
                     None if dtype is None else dtypes.as_dtype(dtype).base_dtype, bool(validate_shape),
                     bool(use_resource))

    def _init_from_proto(self, variable_def, import_scope):
        graph = stack.get_default_graph()

        def element(name):
            return graph.as_graph_element(f"{import_scope}/{name}" if import_scope else name)

        initial = variable_def.initial_value_name
        self._from_parts(element(variable_def.variable_name), element(variable_def.snapshot_name),
                         element(variable_def.initializer_name), element(initial) if initial else None)

    def experimental_ref(self):
        """A key for dictionaries and sets, equal for the same variable; ``deref()`` gives it back."""
        return _Reference(self)

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        return Variable(variable_def=variable_def, import_scope=import_scope)

    def to_proto(self, export_scope=None):
        proto = protos.VariableDef()

        def strip(name):
            prefix = f"{export_scope}/" if export_scope else ""
            return name[len(prefix):] if name.startswith(prefix) else name

        proto.variable_name = strip(self.name)
        if self.initial_value is not None:
            proto.initial_value_name = strip(self.initial_value.name)
        proto.initializer_name = strip(self.initializer.name)
        proto.snapshot_name = strip(self._value.name)
        proto.is_resource = self._is_resource
        proto.trainable = self.trainable
        return proto

    class SaveSliceInfo:
        """Where a variable stands in a larger one that it is a part of."""

        def __init__(self, full_name=None, full_shape=None, var_offset=None, var_shape=None):
            self.full_name, self.full_shape = full_name, full_shape
            self.var_offset, self.var_shape = var_offset, var_shape

        @property
        def spec(self):
            slices = ":".join(f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape))
            return " ".join(str(size) for size in self.full_shape) + " " + slices

    _save_slice_info = None

    def _set_save_slice_info(self, save_slice_info):
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self):
        return self._save_slice_info

    # What it is.

    @property
    def _shared_name(self):
        """The name without the number of an output: what checkpoints and slots go by."""
        return self.name.partition(":")[0]

    @property
    def name(self):
        return self._handle.name if not self._is_resource else self._node_name + ":0"

    @property
    def op(self):
        return self._handle.op

    @property
    def handle(self):
        return self._handle

    @property
    def device(self):
        return self._handle.device

    @property
    def dtype(self):
        dtype = _weir.Variable.dtype.__get__(self)
        return dtype if self._is_resource else dtype._as_ref

    @property
    def shape(self):
        return TensorShape(self._shape_tuple())

    def get_shape(self):
        return TensorShape(self._shape_tuple())

    def set_shape(self, shape):
        self._handle.set_shape(shape)
        self._value.set_shape(shape)

    @property
    def trainable(self):
        return any(v is self or getattr(v, "_handle", None) is self._handle
                   for v in self.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES))

    @property
    def constraint(self):
        return getattr(self, "_constraint", None)

    def _as_graph_element(self):
        return self._value if self._is_resource else self._handle

    def _ref(self):
        return self._handle

    def ref(self):
        """The reference of the variable (before TensorFlow 1.0)."""
        return self._handle

    @property
    def initializer(self):
        replaced = self.__dict__.get("_initializer")
        return _weir.Variable.initializer.__get__(self) if replaced is None else replaced

    def _replace_initializer(self, operation):
        """Makes another operation give the first value (init_from_checkpoint)."""
        self._initializer = operation

    # Its value.

    def value(self):
        return self._value_here

    def read_value(self):
        return _weir.read_variable(self, None if self._is_resource else "read")

    def initialized_value(self):
        control_flow_ops = names.at("weir.ops.control_flow_ops")  # a large part of Weir that few programs need here
        with control_flow_ops.init_scope():
            return control_flow_ops.cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def sparse_read(self, indices, name=None):
        """The rows at ``indices``."""
        return array_ops.gather(self, indices, name=name)

    def gather_nd(self, indices, name=None):
        """What stands at ``indices``, whose last dimension counts along the first ones of the variable."""
        return array_ops.gather_nd(self, indices, name=name)

    def eval(self, session=None):
        return _session_for(self.graph, session, "evaluate variable", "eval(session=sess)").run(self)

    def load(self, value, session=None):
        """Sets the value in a session, through the initializer."""
        session = _session_for(self.graph, session, "load variable", "load(value, session)")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._updated(_weir.assign(self, value, True, use_locking, name), read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._updated(_weir.assign_add(self, delta, use_locking, name), read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._updated(_weir.assign_sub(self, delta, use_locking, name), read_value)

    def _updated(self, value, read_value):
        """What an update gives: the new value, or the operation that sets it."""
        if read_value:
            return value
        if not self._is_resource:
            return value.op
        return next(op for op in value.op.control_inputs if self._handle in op.inputs)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        return _weir.scatter_add(self, sparse_delta.indices, sparse_delta.values, use_locking, name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        return _weir.scatter_sub(self, sparse_delta.indices, sparse_delta.values, use_locking, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return _weir.scatter_update(self, sparse_delta.indices, sparse_delta.values, use_locking, name)

    def _scatter(self, how, sparse_delta, use_locking, name):
        return getattr(state_ops, how)(self, sparse_delta.indices, sparse_delta.values, use_locking, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        return self._scatter("scatter_mul", sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        return self._scatter("scatter_div", sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        return self._scatter("scatter_min", sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        return self._scatter("scatter_max", sparse_delta, use_locking, name)

    def count_up_to(self, limit):
        return _weir.count_up_to(self, limit, None)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    __str__ = __repr__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class PartitionedVariable:
    """The parts of one large variable. Where a tensor is expected it is their concatenation."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        if not all(partition >= 1 for partition in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        slices = [variable._get_save_slice_info() for variable in variable_list]
        if None in slices:
            raise ValueError(f"All variables must have a save_slice_info available: {variable_list[slices.index(None)]}")
        variable_list = sorted(variable_list, key=lambda variable: variable._get_save_slice_info().var_offset)
        self._name, self._shape, self._dtype = name, TensorShape(shape), dtype
        self._variable_list, self._partitions, self._joined = variable_list, partitions, None

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)
    graph = property(lambda self: self._variable_list[0].graph)

    def get_shape(self):
        return self._shape

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def _partition_axes(self):
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def as_tensor(self):
        """Made once, so that all uses share the node."""
        if self._joined is None:
            self._joined = self._concat()
        return self._joined

    def _concat(self):
        with control_dependencies(None):
            with self.graph.name_scope(f"{self._name}/ConcatPartitions/"):
                parts = [variable.value() for variable in self._variable_list]
                joined = parts[0] if len(parts) == 1 else array_ops.concat(parts, self._partition_axes()[0])
            with self.graph.name_scope(None):
                return array_ops.identity(joined, name=self._name)

    def _as_graph_element(self):
        return self.as_tensor()

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._each("assign", value, use_locking, name, read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        return self._each("assign_add", value, use_locking, name, read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        return self._each("assign_sub", value, use_locking, name, read_value)

    def _each(self, update, value, use_locking, name, read_value):
        """Updates each part: with its part of the value, or with its entry of a list."""
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"Cannot do assign action along more than one dimension: {axes}. Multi-axis partition "
                                      "assign action is not supported ")
        in_parts = isinstance(value, list) and not all(isinstance(part, (bool, int, float, complex)) for part in value)
        if not (in_parts or isinstance(value, PartitionedVariable)):
            sizes = [variable.shape.as_list()[axes[0]] for variable in self._variable_list]
            value = array_ops.split(value, sizes, axes[0])
        parts = list(value)
        if len(parts) != len(self._variable_list):
            raise ValueError(f"{len(parts)} values for {len(self._variable_list)} parts")
        return [getattr(variable, update)(part, use_locking=use_locking, name=name, read_value=read_value)
                for variable, part in zip(self._variable_list, parts)]

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        return len(self._variable_list)


def _collection(key, scope=None):
    return stack.get_default_graph().get_collection(key, scope)


def global_variables(scope=None):
    return _collection(GraphKeys.GLOBAL_VARIABLES, scope)


all_variables = global_variables


def local_variables(scope=None):
    return _collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    return _collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    return _collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    return _collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list, name="init"):
    graph = stack.get_default_graph()
    return graph._group([variable.initializer for variable in var_list or ()], name)


initialize_variables = variables_initializer


def global_variables_initializer():
    return variables_initializer(global_variables())


def local_variables_initializer():
    return variables_initializer(local_variables())


def initialize_all_variables():
    """global_variables_initializer() of 0.x. Until 0.7 the counters of epochs were among these, and programs of that time
    initialize nothing else; so they are here, too."""
    counters = [v for v in local_variables() if re.search(r"(^|/)limit_epochs(_\d+)?/epochs$", v.op.name)]
    return variables_initializer(global_variables() + counters)


initialize_local_variables = local_variables_initializer


def assert_variables_initialized(var_list=None):
    """An operation that fails when a variable has no value; None without variables."""
    variables = global_variables() + local_variables() if var_list is None else list(var_list)
    if not variables:
        return None
    with control_dependencies([variable.read_value() for variable in variables]):
        return array_ops.constant([len(variable.shape) for variable in variables])


def is_variable_initialized(variable):
    if not isinstance(variable, _weir.Variable):  # the reference itself
        return apply("IsVariableInitialized", (variable,), {}, None)
    return _weir.is_variable_initialized(variable, None)


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """A string vector with the names of the variables that have no value yet."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        if not var_list:
            return array_ops.constant([], dtypes.as_dtype("string"))
        missing = math_ops.logical_not(array_ops.stack([is_variable_initialized(v) for v in var_list]))
        names = array_ops.constant([v.op.name for v in var_list])
        return array_ops.boolean_mask(names, missing)
