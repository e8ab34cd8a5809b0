"""tensorflow.python.framework.function: functions that a program defines once and calls as operations.

A call adds the nodes of the function, below the call's name, and one node of that name that gives the results; the
plan is the same as if TensorFlow had inlined the function, which it does by default.
"""

import copy
import inspect
import itertools
import weakref

from weir import _weir, names, nest, protos
from weir.core import dtypes
from weir.core.graph import Graph, Operation, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph
from weir.core.tensor_shape import TensorShape
from weir.core.text import as_bytes
from weir.core.variable_scope import get_variable_scope, variable_scope
from weir.ops import array_ops

_numbers = itertools.count()
_by_name = weakref.WeakValueDictionary()  # what the program has defined


class Defun:
    """``@Defun(tf.float32, ...)`` above a function of tensors of these types."""

    def __init__(self, *input_types, **kwargs):
        self._input_types = [dtypes.as_dtype(t) for t in input_types]
        self._func_name = kwargs.pop("func_name", None)
        self._grad_func = kwargs.pop("grad_func", None)
        self._python_grad_func = kwargs.pop("python_grad_func", None)
        if self._grad_func is not None and self._python_grad_func is not None:
            raise ValueError("Gradient defined twice for function: grad_func and python_grad_func")
        self._out_names = kwargs.pop("out_names", None)
        self._attrs = kwargs

    def __call__(self, func):
        if not callable(func):
            raise ValueError("function {} must be callable".format(func))
        parameters = list(inspect.signature(func).parameters.values())
        takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        if any(p.kind in (p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters) or any(
                p.default is not p.empty for p in parameters):
            raise ValueError("Functions with argument defaults or keyword arguments are not supported.")
        count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        if self._input_types and (len(self._input_types) < count or (
                len(self._input_types) > count and not takes_any)):
            raise ValueError(f"The function has {'fewer' if count < len(self._input_types) else 'more'} arguments than the "
                             f"number of specified input types: {count}, not {len(self._input_types)}.")
        return _DefinedFunction(func, self._input_types or None, count, takes_any, self)


class _DefinedFunction:
    """A function that can be called with tensors."""

    def __init__(self, func, input_types, count, takes_any, defun):
        self._func, self._input_types, self._count, self._takes_any = func, input_types, count, takes_any
        self._grad_func, self._python_grad_func = defun._grad_func, defun._python_grad_func
        self._extra_kwargs = defun._attrs
        name = getattr(func, "__name__", "function")
        self._name = defun._func_name or (name if name.isidentifier() else f"function_{next(_numbers)}")
        self._called_in = set()  # graphs, by identity: variables that the function makes are made once
        self.__doc__, self.__name__ = func.__doc__, name
        _by_name[self._name] = self

    name = property(lambda self: self._name)
    grad_func_name = property(lambda self: self._grad_func.name if self._grad_func is not None else None)
    python_grad_func = property(lambda self: self._python_grad_func)

    @property
    def declared_input_types(self):
        return self._input_types

    def set_grad_func(self, grad_func):
        if self._grad_func is not None and self._grad_func is not grad_func:
            raise ValueError("Gradient defined more than once for function %r" % self._name)
        self._grad_func = grad_func

    def add_to_graph(self, graph):
        """Makes it a function of the graph, for nodes that name it. Calls need none: they add what they need."""
        self._name_in(graph)

    def _name_in(self, graph):
        """The name of the function in a graph."""
        return self._traced(graph)[0]

    def _traced(self, graph):
        """(name, what it reads from around it, types of its results) as a function of a graph."""
        known = graph.__dict__.setdefault("_defined_functions", {})
        if self._name not in known:
            types = self._input_types or [dtypes.float32] * self._count
            with graph.as_default():
                name, captured, results, _ = _weir.function(
                    graph, self._name, lambda args: _results(self._func(*args)), types,
                    [TensorShape(None) for _ in types])
            known[self._name] = (name, captured, [result.dtype for result in results])
        return known[self._name]

    @property
    def definition(self):
        """The FunctionDef, as a graph that calls the function would hold it."""
        types = self._input_types or [dtypes.float32] * self._count
        graph = Graph()
        with graph.as_default():
            name, captured, kinds = self._traced(graph)
            arguments = [array_ops.placeholder(t) for t in types] + list(captured)
            apply("StatefulPartitionedCall", (arguments,), {"Tout": kinds, "f": name}, None)
        found = next(f for f in graph.as_graph_def().library.function if f.signature.name == name)
        if self.__doc__:
            found.signature.description = self.__doc__
        for key, value in self._extra_kwargs.items():
            if isinstance(value, bool):
                found.attr[f"_{key}" if key == "noinline" else key].b = value
            elif isinstance(value, (str, bytes)):
                found.attr[key].s = as_bytes(value)
        return found

    @property
    def captured_inputs(self):
        """What the function reads from around it in the default graph: its last arguments."""
        return list(self._traced(get_default_graph())[1])

    @property
    def stateful_ops(self):
        """(name, type) of the operations with state or effects in it."""
        return [(node.name, node.op) for node in self.definition.node_def
                if _weir.op_spec(node.op) is not None and protos.OpDef.FromString(_weir.op_def(node.op)).is_stateful]

    def instantiate(self, types):
        """The function for arguments of these types."""
        types = [dtypes.as_dtype(t).base_dtype for t in types]
        if self._input_types == types:
            return self
        made = copy.copy(self)
        made._input_types, made._called_in = types, set()
        made._name = "_".join([self._name, *[t.name for t in types]])
        _by_name[made._name] = made
        return made

    def __call__(self, *args, **kwargs):
        call_name = kwargs.pop("name", None)
        kwargs.pop("noinline", None)  # every call is
        if kwargs:
            raise ValueError(f"Unknown keyword arguments: {kwargs.keys()}")
        if self._input_types is not None and len(args) != len(self._input_types) or (
                self._input_types is None and not self._takes_any and len(args) != self._count):
            wanted = self._count if self._input_types is None else len(self._input_types)
            raise ValueError(f"Expected number of arguments: {wanted}, received: {len(args)}")
        types = self._input_types or [None] * len(args)
        graph = get_default_graph()
        with name_scope(call_name, self._name, list(args)) as scope:
            inputs = [convert_to_tensor(arg, dtype=t) for arg, t in zip(args, types)]
            again = id(graph) in self._called_in
            self._called_in.add(id(graph))
            with variable_scope(get_variable_scope(), reuse=True if again else None), name_scope(scope):
                result = self._func(*inputs)
            results = _results(result)
            if not results:
                return result
            outputs = self._with_gradient(graph, inputs, results, scope)
        return outputs[0] if len(outputs) == 1 else outputs

    def _with_gradient(self, graph, inputs, results, scope):
        """The results under the name of the call, with the gradient that the program gives if it does."""
        if self._grad_func is None and self._python_grad_func is None:
            if len(results) == 1:
                return [array_ops.identity(results[0], name=scope)]
            return list(array_ops.identity_n(results, name=scope))
        kind = f"{self._name}-{next(_numbers)}"
        count = len(results)

        def gradient(op, *grads):
            grads = [array_ops.zeros_like(op.outputs[i]) if grad is None else grad
                     for i, grad in enumerate(grads[:count])]
            if self._python_grad_func is not None:
                given = self._python_grad_func(_Call(op, self._name, inputs, op.outputs[:count]), *grads)
            else:
                given = self._grad_func(*inputs, *grads)
            given = list(given) if isinstance(given, (list, tuple)) else [given]
            if len(given) != len(inputs):
                raise ValueError(f"SymGrad expects to return {len(inputs)} (the gradients of the inputs), but get "
                                 f"{len(given)} results instead.")
            return [None] * count + given

        graph.__dict__.setdefault("_gradient_functions", {})[kind] = gradient
        # The arguments pass through the node as well, so that it has an input for each gradient.
        with graph.gradient_override_map({"IdentityN": kind}):
            outputs = array_ops.identity_n([*results, *inputs], name=scope)
        return list(outputs[:count])


class _Call:
    """What a gradient function sees of a call: an operation of the function's type."""

    def __init__(self, op, kind, inputs, outputs):
        self._op, self.type, self.inputs, self.outputs = op, kind, inputs, outputs

    def __getattr__(self, name):
        return getattr(self._op, name)


class Declare:
    """A function that is only named: what is called must have been defined elsewhere."""

    def __init__(self, func_name, inputs, outputs):
        self._name, self._inputs, self._outputs = func_name, inputs, outputs

    name = property(lambda self: self._name)

    def __call__(self, *inputs, **kwargs):
        function = _by_name.get(self._name)
        if function is None:
            raise ValueError(f"the function {self._name} is declared and not defined here")
        if len(inputs) != len(self._inputs):
            raise ValueError(f"Expected number of arguments: {len(self._inputs)}, received: {len(inputs)}")
        return function(*inputs, **kwargs)


def _symbolic_gradient(input, Tout, f, name=None):
    """The gradients of a function at its arguments, of the types ``Tout``, given those of its results.

    ``input`` is the arguments, and then the gradients of the results; ``f`` the function or its name.
    """
    function = f if callable(f) else _by_name.get(getattr(f, "name", f))
    if function is None:
        raise ValueError(f"Function {f} is not defined.")
    arguments, grads = list(input[:len(Tout)]), list(input[len(Tout):])
    with name_scope(name, "SymbolicGradient", list(input)):
        arguments = [array_ops.identity(convert_to_tensor(argument)) for argument in arguments]
        results = function(*arguments)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        found = names.at("weir.ops.gradients:gradients")(results, arguments, grads, name="gradients")
        found = [array_ops.zeros_like(x) if grad is None else grad for x, grad in zip(arguments, found)]
    return found if len(found) != 1 else found[0]


def _results(result):
    """What a function gave, as tensors."""
    if isinstance(result, Operation):
        return []
    flat = nest.flatten(list(result) if isinstance(result, (list, tuple)) else [result])
    if any(value is None for value in flat):
        raise ValueError("Function can not return None.")
    return [convert_to_tensor(value) for value in flat]


def get_extra_vars():
    return []


def get_extra_inputs():
    return []


def get_extra_args():
    return []


def function_def_from_tf_function(function):
    return function.definition
