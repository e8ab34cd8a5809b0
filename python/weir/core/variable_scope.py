"""variable_scope and get_variable: variables that the parts of a model share by name."""

from weir import _weir
from weir.core import dtypes, stack
from weir.core.graph import Tensor, convert_to_tensor
from weir.core.tensor_shape import TensorShape
from weir.core.variables import PartitionedVariable, Variable
from weir.ops import array_ops


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


def _initializer_function(initializer, name):
    """A function of (shape, dtype) for the extension, of whatever TensorFlow takes as an initializer."""
    if initializer is None:
        return None
    if isinstance(initializer, type):
        initializer = initializer()
    if not callable(initializer) or isinstance(initializer, (Tensor, Variable)):
        return lambda shape, dtype: initializer

    def call(shape, dtype):
        code = getattr(initializer, "__code__", None)
        if code is not None and not code.co_flags & 0x08:  # a plain function without **kwargs
            accepted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if code.co_argcount == 0:
                return initializer()
            if "dtype" not in accepted:
                return initializer(list(shape))
        return initializer(list(shape), dtype=dtype)

    return call


class VariableScope:
    """One scope: the prefix of its variables' names and what get_variable takes when the call does not say."""

    def __init__(self, scope, initializer=None, regularizer=None, custom_getter=None, caching_device=None,
                 partitioner=None, constraint=None):
        self._scope = scope
        self._initializer, self._regularizer = initializer, regularizer
        self._custom_getter, self._caching_device = custom_getter, caching_device
        self._partitioner, self._constraint = partitioner, constraint

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
        self._scope.set_initializer(_initializer_function(initializer, self.name))

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

    def get_variable(self, var_store, name, **kwargs):
        return get_variable(name, **kwargs)

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
        graph._variable_scopes.append(VariableScope(_weir.current_variable_scope(graph)))
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
        base = given if isinstance(given, VariableScope) else outer
        own_getter = self._custom_getter
        if own_getter is not None and base._custom_getter is not None:
            inner, outer_getter = own_getter, base._custom_getter
            own_getter = lambda getter, *args, **kwargs: inner(  # noqa: E731
                lambda *a, **k: outer_getter(getter, *a, **k), *args, **kwargs)
        scope = _weir.enter_variable_scope(
            graph, given._scope if isinstance(given, VariableScope) else (given if given is not None else self._default_name),
            given is None, _reuse_number(self._reuse), _initializer_function(self._initializer, ""), self._regularizer,
            None if self._dtype is None else dtypes.as_dtype(self._dtype), self._use_resource)
        entered = VariableScope(
            scope,
            initializer=base._initializer if self._initializer is None else self._initializer,
            regularizer=base._regularizer if self._regularizer is None else self._regularizer,
            custom_getter=own_getter or base._custom_getter,
            caching_device=self._caching_device or base._caching_device,
            partitioner=self._partitioner or base._partitioner,
            constraint=self._constraint or base._constraint)
        graph._variable_scopes.append(entered)
        self._entered = entered
        return entered

    def __exit__(self, *exc):
        self._graph._variable_scopes.remove(self._entered)
        self._entered._scope.exit()
        if self._pushed:
            self._pushed.__exit__()
        return False


def variable_op_scope(values, name_or_scope, default_name=None, initializer=None, regularizer=None,
                      caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None,
                      use_resource=None):
    return variable_scope(name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
                          custom_getter, reuse, dtype, use_resource)


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=None, aggregation=None):
    """The variable of that name in the current scope: made, or shared where the scope says so."""
    scope = get_variable_scope()
    getter = custom_getter or scope._custom_getter
    arguments = dict(shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
                     collections=collections, caching_device=caching_device, partitioner=partitioner,
                     validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
                     synchronization=synchronization, aggregation=aggregation)
    if arguments["partitioner"] is None:
        arguments["partitioner"] = scope._partitioner
    if getter is None:
        return _get_variable(name, **arguments)

    # A custom getter gets the full name, and may ask for another; the true getter takes names as full ones.
    prefix = f"{scope.name}/" if scope.name else ""

    def true_getter(name, *args, **kwargs):
        kwargs = dict(zip(arguments, args), **kwargs)
        kwargs.pop("reuse", None)
        if prefix and name.startswith(prefix):
            return _get_variable(name[len(prefix):], **kwargs)
        with variable_scope(_root_scope()):
            return _get_variable(name, **kwargs)

    arguments["dtype"] = dtypes.as_dtype(dtype or scope.dtype)
    arguments["initializer"] = initializer if initializer is not None else scope._initializer
    arguments["regularizer"] = regularizer if regularizer is not None else scope._regularizer
    arguments["reuse"] = scope.reuse
    return getter(true_getter, prefix + name, **arguments)


def _root_scope():
    get_variable_scope()
    return stack.get_default_graph()._variable_scopes[0]


def _get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                  caching_device=None, partitioner=None, validate_shape=True, use_resource=None, constraint=None,
                  **unused):
    graph = stack.get_default_graph()
    if partitioner is not None and shape is None and isinstance(initializer, (Tensor, Variable)):
        shape, dtype = initializer.get_shape(), initializer.dtype.base_dtype if dtype is None else dtype
    if partitioner is not None and shape is not None:
        return _get_partitioned(name, TensorShape(shape), dtype, initializer, partitioner,
                                dict(regularizer=regularizer, trainable=trainable, collections=collections,
                                     use_resource=use_resource, validate_shape=validate_shape, constraint=constraint))
    value_given = initializer is not None and not isinstance(initializer, type) and (
        not callable(initializer) or isinstance(initializer, (Tensor, Variable)))
    if value_given:
        if shape is not None and TensorShape(shape).is_fully_defined():
            raise ValueError("If initializer is a constant, do not specify shape.")
        # The shape and type come from the value, which must not leave a node behind: it is converted inside the scope.
        if isinstance(initializer, (Tensor, Variable)):
            shape = initializer.get_shape()
            dtype = initializer.dtype.base_dtype if dtype is None else dtype
        else:
            value = dtypes._numpy().asarray(initializer)
            shape = value.shape if shape is None else shape
            if dtype is None:
                with stack.Pushed("graphs", type(graph)()):
                    dtype = convert_to_tensor(initializer).dtype.base_dtype
    elif shape is None and _takes_nothing(initializer):
        # The value tells the shape: made once to look at it, elsewhere.
        with stack.Pushed("graphs", type(graph)()):
            value = convert_to_tensor(initializer())
            shape, dtype = value.shape, value.dtype.base_dtype if dtype is None else dtype
    elif shape is None and graph._variable_scopes and graph._variable_scopes[-1]._scope.reuse == 0 and not callable(initializer):
        raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was <unknown>.")
    if initializer is None and dtype is not None and dtypes.as_dtype(dtype) == dtypes.as_dtype("string"):
        initializer = array_ops.zeros
    try:
        variable = _weir.get_variable(
            graph, name, None if shape is None else TensorShape(shape)._dims,
            None if dtype is None else dtypes.as_dtype(dtype).base_dtype, _initializer_function(initializer, name),
            regularizer, True if trainable is None else bool(trainable), collections, use_resource, validate_shape)
    except LookupError as error:
        raise ValueError(str(error)) from None
    if constraint is not None:
        variable._constraint = constraint
    return variable


def _takes_nothing(function):
    """Whether a function that is given as an initializer makes its value without being told a shape."""
    code = getattr(function, "__code__", None)
    defaults = getattr(function, "__defaults__", None) or ()
    return code is not None and code.co_argcount == len(defaults) and not code.co_flags & 0x0C


def _slices_of(shape, parts):
    """(offset, sizes) of each part; the first ones are larger where the division leaves a rest."""
    cut = [axis for axis, count in enumerate(parts) if count > 1]
    if len(cut) > 1:
        raise ValueError(f"partitioner returned {parts}: only one dimension may be cut")
    if not cut:
        return [([0] * len(shape), list(shape))]
    axis, count = cut[0], parts[cut[0]]
    if count > shape[axis]:
        raise ValueError(f"cannot cut dimension {axis} of size {shape[axis]} into {count} parts")
    each, rest = divmod(shape[axis], count)
    result, begin = [], 0
    for i in range(count):
        size = each + (i < rest)
        offset, sizes = [0] * len(shape), list(shape)
        offset[axis], sizes[axis] = begin, size
        result.append((offset, sizes))
        begin += size
    return result


def _get_partitioned(name, shape, dtype, initializer, partitioner, arguments):
    """Variables name/part_0, name/part_1, ... of the sizes that ``partitioner`` says."""
    scope = get_variable_scope()
    dtype = dtypes.as_dtype(dtype or scope.dtype)
    sizes = shape.as_list()
    partitions = [int(count) for count in partitioner(shape=shape, dtype=dtype)]
    if len(partitions) != len(sizes):
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {partitions} "
                         f"vs. {shape}")
    slices = _slices_of(sizes, partitions)
    value = initializer is not None and (not callable(initializer) or isinstance(initializer, (Tensor, Variable)))
    parts = []
    for i, (offset, part) in enumerate(slices):
        begin = initializer
        if value:
            # Bound now: the loop goes on.
            def begin(*unused, _offset=offset, _size=part, **unused_too):
                return array_ops.slice(convert_to_tensor(initializer, dtype), _offset, _size)
        parts.append(_get_variable(f"{name}/part_{i}" if name else f"part_{i}", shape=part, dtype=dtype, initializer=begin, **arguments))
    full = "/".join(part for part in (scope.name, name) if part)
    return PartitionedVariable(full, shape, dtype, parts, partitions)


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
