"""variable_scope and get_variable: variables that the parts of a model share by name."""

import enum

from weir import _weir
from weir.core import dtypes, stack
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.initial_values import _guarded
from weir.core.tensor_shape import TensorShape
from weir.core.variables import PartitionedVariable, Variable, _create


class _ReuseMode:
    AUTO_REUSE = 2

    def __int__(self):
        return 2

    def __repr__(self):
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = _ReuseMode()


def _reuse_number(reuse):
    if reuse is None:
        return None
    if reuse is AUTO_REUSE:
        return 2
    if not isinstance(reuse, (bool, int)):
        raise ValueError(f"The reuse parameter must be True or False or None, got {reuse!r}")
    return int(bool(reuse))


class _PartitionInfo:
    """Which part of a variable cut into parts an initializer is asked for."""

    def __init__(self, full_shape, var_offset):
        for name, value in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(value, (list, tuple)):
                raise TypeError(f"`{name}` must be a sequence (like tuple or list) instead of {type(value).__name__}")
        if len(full_shape) != len(var_offset):
            raise ValueError(f"Expected equal length, but `var_offset` is of length {len(var_offset)} while full_shape "
                             f"is of length {len(full_shape)}.")
        for size, offset in zip(full_shape, var_offset):
            if offset < 0 or offset >= size:
                raise ValueError(f"Expected 0 <= offset < shape but found offset={var_offset}, shape={full_shape} for "
                                 f"var_offset={var_offset}, full_shape={full_shape}")
        self._full_shape, self._var_offset = list(full_shape), list(var_offset)

    full_shape = property(lambda self: self._full_shape)
    var_offset = property(lambda self: self._var_offset)

    def single_offset(self, shape):
        axis = self.single_slice_dim(shape)
        return self._var_offset[0 if axis is None else axis]

    def single_slice_dim(self, shape):
        if not isinstance(shape, (list, tuple)):
            raise TypeError(f"`shape` must be a sequence (like tuple or list) instead of {type(shape).__name__}")
        if len(shape) != len(self._full_shape):
            raise ValueError(f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                             f"self.full_shape={self._full_shape} is of length {len(self._full_shape)}.")
        for offset, size, full in zip(self._var_offset, shape, self._full_shape):
            if offset + size > full:
                raise ValueError(f"With self.var_offset={self._var_offset}, a partition of shape={shape} would exceed "
                                 f"self.full_shape={self._full_shape}")
        axes = [axis for axis, (size, full) in enumerate(zip(shape, self._full_shape)) if size != full]
        if len(axes) > 1:
            raise ValueError(f"Cannot use single_slice_dim() with shape {shape} and full shape {self._full_shape} since "
                             f"slice dim could be either dimension {axes[0]} or {axes[1]}.")
        return axes[0] if axes else None


def _is_value(initializer):
    return initializer is not None and (not callable(initializer) or isinstance(initializer, (Tensor, Variable)))


def _parameters(function):
    """(names of the parameters, whether there is **kwargs) of a function."""
    code = getattr(function, "__code__", None)
    if code is not None:
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return names[hasattr(function, "__self__"):], bool(code.co_flags & 0x08)
    import inspect  # slow to import, and few programs come here: partial functions, objects that can be called

    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return (), True
    return tuple(parameters), any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _initializer_function(initializer):
    """What the extension takes: None, a value, or a function of (shape, dtype, part)."""
    if initializer is None or _is_value(initializer):
        return initializer
    if isinstance(initializer, type):
        initializer = initializer()
    if not hasattr(initializer, "__code__"):  # an initializer of the package, most often

        def call(shape, dtype, part):
            if part is None:
                return initializer(list(shape), dtype=dtype)
            return initializer(list(shape), dtype=dtype, partition_info=_PartitionInfo(*part))

        return call
    accepted, any_keyword = _parameters(initializer)
    if not accepted and not any_keyword:
        return lambda shape, dtype, part: initializer()

    def call_function(shape, dtype, part):
        arguments = {"dtype": dtype} if any_keyword or "dtype" in accepted else {}
        if "partition_info" in accepted or (part is not None and any_keyword):
            arguments["partition_info"] = None if part is None else _PartitionInfo(*part)
        return initializer(list(shape), **arguments)

    return call_function


def _kept_function(initializer):
    """The same for a scope, which keeps functions only."""
    if _is_value(initializer):
        return lambda shape, dtype, part: initializer
    return _initializer_function(initializer)


class VariableScope:
    """One scope: the prefix of its variables' names and what get_variable takes when the call does not say."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None, caching_device=None, partitioner=None,
                 custom_getter=None, name_scope="", dtype=dtypes.float32, use_resource=None, constraint=None):
        """A scope of that name from the top, to be entered by ``with variable_scope(...)``."""
        get_variable_scope()  # makes that of the whole graph, if it is the first
        options = {"reuse": reuse, "initializer": initializer, "regularizer": regularizer, "dtype": dtype,
                   "caching_device": caching_device, "partitioner": partitioner, "custom_getter": custom_getter,
                   "use_resource": use_resource, "constraint": constraint, "auxiliary_name_scope": False}
        with variable_scope(stack.get_default_graph()._variable_scopes[0], auxiliary_name_scope=False) as made:
            if name:
                with variable_scope(name, **options) as made:
                    pass
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of(cls, scope, initializer=None, regularizer=None, custom_getter=None, caching_device=None, partitioner=None,
            constraint=None):
        """That of a scope of the extension's."""
        made = cls.__new__(cls)
        made._scope = scope
        made._initializer, made._regularizer = initializer, regularizer
        made._custom_getter, made._caching_device = custom_getter, caching_device
        made._partitioner, made._constraint = partitioner, constraint
        return made

    name = property(lambda self: self._scope.name)
    original_name_scope = property(lambda self: self._scope.original_name_scope)
    dtype = property(lambda self: self._scope.dtype)
    use_resource = property(lambda self: self._scope.use_resource)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    custom_getter = property(lambda self: self._custom_getter)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    constraint = property(lambda self: self._constraint)

    @property
    def reuse(self):
        return (False, True, AUTO_REUSE)[self._scope.reuse]

    def reuse_variables(self):
        self._scope.reuse_variables()

    def set_initializer(self, initializer):
        self._initializer = initializer
        self._scope.set_initializer(_kept_function(initializer))

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer
        self._scope.set_regularizer(regularizer)

    def set_dtype(self, dtype):
        self._scope.set_dtype(dtypes.as_dtype(dtype))

    def set_use_resource(self, use_resource):
        self._scope.set_use_resource(bool(use_resource))

    def set_custom_getter(self, custom_getter):
        self._custom_getter = custom_getter

    def set_caching_device(self, caching_device):
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        self._partitioner = partitioner

    def get_variable(self, var_store, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None, partitioner=None, validate_shape=True,
                     use_resource=None, custom_getter=None, constraint=None, synchronization=None, aggregation=None):
        """The variable of that name in this scope: made, or shared where the scope says so."""
        full_name = f"{self.name}/{name}" if self.name else name
        if dtype is not None and _is_value(initializer):
            with name_scope(None):
                given = convert_to_tensor(initializer).dtype.base_dtype
            if given != dtypes.as_dtype(dtype).base_dtype:
                raise ValueError(f"Initializer type '{given!r}' and explicit dtype '{dtypes.as_dtype(dtype)!r}' don't "
                                 "match.")
        wanted = dict(
            shape=shape, dtype=self._dtype_of(dtype, initializer),
            initializer=self._initializer if initializer is None else initializer,
            regularizer=self._regularizer if regularizer is None else regularizer,
            reuse=self.reuse if reuse is None else reuse, trainable=trainable, collections=collections,
            caching_device=self._caching_device if caching_device is None else caching_device,
            partitioner=self._partitioner if partitioner is None else partitioner, validate_shape=validate_shape,
            use_resource=self.use_resource if use_resource is None else use_resource,
            constraint=self._constraint if constraint is None else constraint, synchronization=synchronization,
            aggregation=aggregation)
        getter = self._custom_getter if custom_getter is None else custom_getter
        if getter is None:
            return _true_getter(full_name, **wanted)
        if not callable(getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {getter}")
        accepted, any_keyword = _parameters(getter)
        if not any_keyword and "constraint" not in accepted:
            del wanted["constraint"]  # getters of before there were any
        wanted["trainable"] = True if trainable is None else trainable
        with name_scope(None):  # names of variables do not depend on scopes of names
            return getter(_true_getter, name=full_name, **wanted)

    def _dtype_of(self, dtype, initializer):
        if dtype is not None:
            return dtypes.as_dtype(dtype).base_dtype
        if isinstance(initializer, (Tensor, Variable)):
            return initializer.dtype.base_dtype
        if _is_value(initializer):
            graph = stack.get_default_graph()
            with stack.Pushed("graphs", type(graph)()):  # to look at it, without leaving a node
                return convert_to_tensor(initializer).dtype.base_dtype
        return self.dtype

    def get_collection(self, name):
        return stack.get_default_graph().get_collection(name, f"{self.name}/" if self.name else None)

    def global_variables(self):
        return self.get_collection("variables")

    def local_variables(self):
        return self.get_collection("local_variables")

    def trainable_variables(self):
        return self.get_collection("trainable_variables")


def get_variable_scope():
    """The current scope."""
    graph = stack.get_default_graph()
    if not graph._variable_scopes:
        graph._variable_scopes.append(VariableScope._of(_weir.current_variable_scope(graph)))
    return graph._variable_scopes[-1]


class variable_scope:
    """Opens a scope of variables, and of names with it.

    ``variable_scope(name_or_scope, default_name=None, values=None, initializer=None, ..., reuse=None)``. With
    ``name_or_scope=None`` the default name is made unique. A scope object is entered again, wherever the program is.
    """

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None,
                 constraint=None, auxiliary_name_scope=True):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        self._name_or_scope, self._default_name, self._values = name_or_scope, default_name, values
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._reuse, self._dtype = custom_getter, reuse, dtype
        self._use_resource, self._constraint = use_resource, constraint
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._auxiliary_name_scope = auxiliary_name_scope

    def __enter__(self):
        graph = stack.get_default_graph()
        self._pushed = None
        for value in self._values or ():
            if isinstance(value, (Tensor, Variable)) and value.graph is not graph:
                graph = value.graph
                self._pushed = stack.Pushed("graphs", graph)
                self._pushed.__enter__()
                break
        self._graph = graph
        outer = get_variable_scope()
        given = self._name_or_scope
        if given is None and self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        base = given if isinstance(given, VariableScope) else outer
        own_getter = self._custom_getter
        if own_getter is not None and base._custom_getter is not None:
            inner, outer_getter = own_getter, base._custom_getter
            own_getter = lambda getter, *args, **kwargs: inner(  # noqa: E731
                lambda *a, **k: outer_getter(getter, *a, **k), *args, **kwargs)
        scope = _weir.enter_variable_scope(
            graph, given._scope if isinstance(given, VariableScope) else (given if given is not None else self._default_name),
            given is None, _reuse_number(self._reuse), _kept_function(self._initializer), self._regularizer,
            None if self._dtype is None else dtypes.as_dtype(self._dtype), self._use_resource,
            self._auxiliary_name_scope)
        entered = VariableScope._of(
            scope,
            initializer=base._initializer if self._initializer is None else self._initializer,
            regularizer=base._regularizer if self._regularizer is None else self._regularizer,
            custom_getter=own_getter or base._custom_getter,
            caching_device=base._caching_device if self._caching_device is None else self._caching_device,
            partitioner=self._partitioner or base._partitioner,
            # A scope that is entered again forgets its constraint, as in TensorFlow.
            constraint=self._constraint or (outer._constraint if base is outer else None))
        graph._variable_scopes.append(entered)
        self._entered = entered
        return entered

    def __exit__(self, *exc):
        self._graph._variable_scopes.remove(self._entered)
        self._entered._scope.exit()
        if self._pushed:
            self._pushed.__exit__()
        return False


class _CurrentScopes:
    """The list of one, the current scope, that TensorFlow kept in a collection until 1.3. Libraries write scopes into it, and
    later the one that stood there before."""

    def __init__(self, graph):
        self._graph = graph
        self._entered = []  # scopes that were written

    def __len__(self):
        return 1

    def __getitem__(self, index):
        with self._graph.as_default():
            return [get_variable_scope()][index]

    def __setitem__(self, index, scope):
        if index != 0:
            raise IndexError("there is one current scope")
        with self._graph.as_default():
            scopes = self._graph._variable_scopes
            if self._entered and scopes[-1] is self._entered[-1]._entered and scopes[-2] is scope:
                self._entered.pop().__exit__()
            elif get_variable_scope() is not scope:
                self._entered.append(variable_scope(scope, auxiliary_name_scope=False))
                self._entered[-1].__enter__()


class _ScopesKey(tuple):
    """The key of that collection."""

    def _collection_of(self, graph):
        if self not in graph._collection_refs:
            graph._collection_refs[self] = _CurrentScopes(graph)
        return graph._collection_refs[self]


_VARSCOPE_KEY = _ScopesKey(("__varscope",))


def _pure_variable_scope(name_or_scope, reuse=None, initializer=None, regularizer=None, caching_device=None,
                         partitioner=None, custom_getter=None, old_name_scope=None, dtype=None, use_resource=None,
                         constraint=None):
    """A scope of variables that leaves the scope of names alone."""
    return variable_scope(name_or_scope, initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                          partitioner=partitioner, custom_getter=custom_getter, reuse=reuse, dtype=dtype,
                          use_resource=use_resource, constraint=constraint, auxiliary_name_scope=False)


def variable_op_scope(values, name_or_scope, default_name=None, initializer=None, regularizer=None,
                      caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None,
                      use_resource=None):
    return variable_scope(name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
                          custom_getter, reuse, dtype, use_resource)


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=None, aggregation=None):
    """The variable of that name in the current scope: made, or shared where the scope says so."""
    return get_variable_scope().get_variable(
        None, name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
        collections=collections, caching_device=caching_device, partitioner=partitioner, validate_shape=validate_shape,
        use_resource=use_resource, custom_getter=custom_getter, constraint=constraint, synchronization=synchronization,
        aggregation=aggregation)


class _Read:
    """The read of a variable as a function that chooses its device sees it."""

    type, name, device = "Identity", "read", ""


def _true_getter(name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None, trainable=None,
                 collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None,
                 constraint=None, synchronization=None, aggregation=None):
    """get_variable by full name, past scopes: what a custom getter gets. Who says nothing about ``reuse`` gets what is
    there or something new."""
    reuse = AUTO_REUSE if reuse is None else reuse
    graph = stack.get_default_graph()
    dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    options = [regularizer or None, True if trainable is None else bool(trainable), collections, use_resource, validate_shape,
               caching_device(_Read()) if callable(caching_device) else caching_device, _reuse_number(reuse) or 0]
    known = graph._partitioned_variables.get(name)
    if partitioner is not None and not (isinstance(shape, (list, tuple)) and not shape):
        made = _get_partitioned(graph, name, shape, dtype, initializer, partitioner, options)
    elif known is not None and reuse is True:
        made = _get_partitioned(graph, name, known.shape if shape is None else shape, dtype, initializer,
                                lambda shape, dtype: known._get_partitions(), options)
    elif known is not None:
        raise ValueError("No partitioner was provided, but a partitioned version of the variable was found: "
                         f"{name}/part_0. Perhaps a variable of the same name was already created with partitioning?")
    else:
        made = _get_single(graph, name, shape, dtype, initializer, options)
    if constraint is not None:
        for variable in made if isinstance(made, PartitionedVariable) else (made,):
            variable._constraint = constraint
    return made


def _get_single(graph, name, shape, dtype, initializer, options):
    if _is_value(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        if isinstance(initializer, (Tensor, Variable)):
            shape = initializer.get_shape()
        else:
            shape = dtypes._numpy().asarray(initializer).shape
    elif shape is None and _takes_nothing(initializer):
        # The value tells the shape: made once to look at it, elsewhere.
        with stack.Pushed("graphs", type(graph)()):
            value = convert_to_tensor(initializer())
            shape, dtype = value.shape, value.dtype.base_dtype
    dims = None if shape is None else TensorShape(shape)._dims

    def initial():  # what creators may call
        return initializer(list(dims), dtype=dtype)

    def make(initial_value, **changed):
        now = initializer if initial_value is initial else initial_value
        if isinstance(now, (Tensor, Variable)) and name not in graph._shared_variables:
            now = _guarded(now, name)
        values = [options[0]] + [changed.get(key, old) for key, old in zip(_CREATOR_OPTIONS, options[1:6])] + options[6:]
        return _weir.get_variable(graph, changed.get("name", name), dims, changed.get("dtype", dtype),
                                  _initializer_function(now), *values)

    if graph._variable_creators and name not in graph._shared_variables:
        wanted = dict(zip(_CREATOR_OPTIONS, options[1:6]))
        made = _create(graph, dict(wanted, initial_value=initial if callable(initializer) else initializer, name=name, dtype=dtype, constraint=None,
                                   synchronization=None, aggregation=None), make)
    else:
        made = make(initializer)
    graph._shared_variables[name] = made
    return made


_CREATOR_OPTIONS = ("trainable", "collections", "use_resource", "validate_shape", "caching_device")


class _VariableStore:
    """The variables of get_variable, by full name, in the default graph."""

    _vars = property(lambda self: stack.get_default_graph()._shared_variables)

    def get_variable(self, name, *args, **kwargs):
        return _true_getter(name, *args, **kwargs)


def _get_default_variable_store():
    return _VariableStore()


def _takes_nothing(function):
    """Whether a function that is given as an initializer makes its value without being told a shape."""
    code = getattr(function, "__code__", None)
    defaults = getattr(function, "__defaults__", None) or ()
    return code is not None and code.co_argcount == len(defaults) and not code.co_flags & 0x0C


def _get_partitioned(graph, name, shape, dtype, initializer, partitioner, options):
    """Variables name/part_0, name/part_1, ... of the sizes that ``partitioner`` says."""
    if not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    shape = TensorShape(shape)
    if isinstance(initializer, (Tensor, Variable)):
        shape, dtype = shape.merge_with(initializer.get_shape()), initializer.dtype.base_dtype
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.")
    if shape.ndims < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    partitions = partitioner(shape=shape, dtype=dtype)
    if isinstance(partitions, (list, tuple)) and any(p > size for p, size in zip(partitions, shape.as_list())):
        raise ValueError(f"cannot cut a variable of shape {shape} into {partitions} parts")
    if not isinstance(partitions, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    parts, partitions = _weir.get_partitioned_variable(graph, name, shape._dims, dtype,
                                                       _initializer_function(initializer), *options, partitions)
    known = graph._partitioned_variables.get(name)
    if known is None:
        axis, begin = next((axis for axis, count in enumerate(partitions) if count > 1), 0), 0
        for part in parts:
            sizes, offset = part.shape.as_list(), [0] * shape.ndims
            offset[axis] = begin
            begin += sizes[axis]
            part._set_save_slice_info(Variable.SaveSliceInfo(name, shape.as_list(), offset, sizes))
        known = graph._partitioned_variables[name] = PartitionedVariable(name, shape, dtype, parts, list(partitions))
    return known


def _get_partitioned_variable(name, shape=None, dtype=None, initializer=None, trainable=None, collections=None,
                              partitioner=None):
    """create_partitioned_variables in the current scope, whose name alone may be the variable's."""
    scope = get_variable_scope()
    if scope._custom_getter is not None:
        raise ValueError("Private access to _get_partitioned_variable is not allowed when a custom getter is set.  "
                         f"Current custom getter: {scope._custom_getter}.  It is likely that you're using "
                         "create_partitioned_variables.  If so, consider instead using get_variable with a non-empty "
                         "partitioner parameter instead.")
    full_name = "/".join(part for part in (scope.name, name) if part)
    return _true_getter(full_name, shape=shape, dtype=scope._dtype_of(dtype, initializer),
                        initializer=scope._initializer if initializer is None else initializer,
                        regularizer=scope._regularizer, reuse=scope.reuse, trainable=trainable,
                        collections=collections, caching_device=scope._caching_device, partitioner=partitioner,
                        use_resource=scope.use_resource, constraint=scope._constraint)


def get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False,
                       collections=None, **kwargs):
    collections = list(collections or ()) + ["local_variables"]
    return get_variable(name, shape, dtype, initializer, regularizer, False, collections, **kwargs)


def no_regularizer(_):
    return None


def enable_resource_variables():
    get_variable_scope().set_use_resource(True)


def disable_resource_variables():
    get_variable_scope().set_use_resource(False)


def resource_variables_enabled():
    return bool(get_variable_scope().use_resource)


class VariableSynchronization(enum.Enum):
    """When copies of a distributed variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How updates of a distributed variable by several replicas become one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3
