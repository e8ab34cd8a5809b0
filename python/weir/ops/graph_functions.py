"""tf.function and defun: Python functions of tensors whose effects happen in the order of their lines.

A call adds the nodes of the function to the graph; the plan is the same as if TensorFlow had inlined the function, which it
does by default. Operations with effects wait for those before them that share a resource, and the results for all of them.
Variables that a call makes are made once: a later call with arguments of the same kinds gets them again. Statements of Python
are not converted: an ``if`` over a tensor is to be written as ``tf.cond``.
"""

import functools
import inspect
import weakref

import numpy as np

from weir import _weir, nest, protos
from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor
from weir.core.stack import get_default_graph
from weir.core.tensor import Operation, Tensor
from weir.core.tensor_shape import TensorShape
from weir.core.type_spec import TypeSpec
from weir.core.variable_scope import AUTO_REUSE, get_variable_scope, variable_scope
from weir.core.variables import Variable, variable_creator_scope
from weir.ops import array_ops
from weir.ops.control_flow_ops import group, init_scope, no_op

# What draws numbers has state that nobody sees; what makes resources is made when they are first used.
_NO_EFFECTS = frozenset(["RandomUniform", "RandomUniformInt", "RandomStandardNormal", "ParameterizedTruncatedNormal",
                         "TruncatedNormal", "RandomShuffle", "Multinomial", "RandomGamma", "RandomGammaGrad",
                         "RandomPoisson", "RandomPoissonV2", "VarHandleOp", "VariableV2", "Placeholder"])


@functools.lru_cache(maxsize=None)
def _has_state(kind):
    if kind in _NO_EFFECTS or _weir.op_spec(kind) is None:
        return False
    return protos.OpDef.FromString(_weir.op_def(kind)).is_stateful


class _Effects:
    """``with _Effects(graph) as effects``: the operations that are made inside happen in order; ``effects.seen`` afterwards
    holds those that results have to wait for. What is made between ``pause`` and ``resume`` is left alone.

    All of it comes after one node that does nothing: variables are read anew, as they always are where something waits.
    """

    def __init__(self, graph):
        self._graph, self._apart, self.seen = graph, [], []

    def __enter__(self):
        self._begin = self._count()
        start = no_op("start")
        self._around = self._context_of(start)
        self._scope = control_dependencies([start])
        self._scope.__enter__()
        return self

    def _count(self):
        return len(self._graph.get_operations())

    @staticmethod
    def _context_of(op):
        return op._get_control_flow_context()

    def pause(self):
        self._apart.append([self._count(), None])

    def resume(self):
        self._apart[-1][1] = self._count()

    def __exit__(self, kind, *exc):
        self._scope.__exit__(kind, *exc)
        if kind is not None:
            return
        last = {}  # the last operation that uses a resource, by the resource's name
        for number, op in enumerate(self._graph.get_operations()[self._begin + 1:], self._begin + 1):
            if any(first <= number < end for first, end in self._apart) or self._context_of(op) is not self._around:
                continue
            used = {tensor.name for tensor in op.inputs if tensor.dtype == dtypes.resource or tensor.dtype._is_ref_dtype}
            before = {last[name] for name in used if name in last}
            if before:
                op._add_control_inputs(sorted(before, key=lambda each: each._id))
            last.update(dict.fromkeys(used, op))
            if _has_state(op.type):
                self.seen.append(op)


class _Variables:
    """The variables of a function in each graph: made by the first call of a kind, found again by later ones."""

    def __init__(self, first_call_only):
        self._first_call_only, self._of_graph = first_call_only, weakref.WeakKeyDictionary()

    def of_calls(self, graph, kind):
        """(those of the calls of this kind, whether there was one before, whether new ones may be made)."""
        calls = self._of_graph.setdefault(graph, {})
        known = kind in calls
        may_make = known or not (self._first_call_only and calls)
        return calls.setdefault(kind, []), known, may_make


def _kind(args, kwargs):
    """What calls that TensorFlow traces once have in common."""
    def of_one(value):
        if isinstance(value, Tensor):
            shape = value.shape
            return "tensor", value.dtype.name, None if shape.ndims is None else tuple(shape.as_list())
        try:
            hash(value)
            return type(value), value
        except TypeError:
            return type(value), id(value)

    flat = nest.flatten([list(args), sorted(kwargs.items())], expand_composites=True)
    return tuple(of_one(value) for value in flat), len(args), tuple(sorted(kwargs))


def _tensors_for_arrays(structure):
    return nest.map_structure(lambda value: convert_to_tensor(value) if isinstance(value, np.ndarray) else value, structure)


class Function:
    """A function of the program as ``tf.function`` makes it. Its results keep the structure that it gave them."""

    def __init__(self, python_function, name, input_signature=None, variables_in_first_call_only=True, **attributes):
        if not callable(python_function):
            raise TypeError(f"the decorated object is not callable: {python_function!r}")
        if input_signature is not None and not isinstance(input_signature, (list, tuple)):
            raise TypeError("input_signature must be either a tuple or a list, received " + str(type(input_signature)))
        for spec in nest.flatten(input_signature or ()):
            if not isinstance(spec, TypeSpec):
                raise TypeError(f"Invalid input_signature {input_signature}; input_signature must be a possibly nested "
                                "sequence of TensorSpec objects.")
        self.python_function, self._name = python_function, name
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._first_call_only, self._attributes = variables_in_first_call_only, attributes
        self._variables, self._bound = _Variables(variables_in_first_call_only), weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())

    _python_function = property(lambda self: self.python_function)

    def __get__(self, instance, owner):
        """The function as a method: each object has variables of its own."""
        if instance is None:
            return self
        if instance not in self._bound:
            method = functools.partial(self.python_function, weakref.proxy(instance))
            functools.update_wrapper(method, self.python_function)
            self._bound[instance] = Function(method, self._name, self.input_signature, self._first_call_only,
                                             **self._attributes)
        return self._bound[instance]

    def __call__(self, *args, **kwargs):
        args, kwargs = self._canonical(args, kwargs)
        graph = get_default_graph()
        made, again, may_make = self._variables.of_calls(graph, _kind(args, kwargs))
        waiting = iter(list(made))
        with _Effects(graph) as effects:

            def variable(next_creator, **wanted):
                if again:
                    found = next(waiting, None)
                    if found is not None:
                        return found
                if not may_make:
                    raise ValueError("tf.function-decorated function tried to create variables on non-first call.")
                effects.pause()
                wanted["use_resource"] = True
                with init_scope():
                    new = next_creator(**wanted)
                effects.resume()
                made.append(new)
                return new

            scope = get_variable_scope()
            with variable_creator_scope(variable), variable_scope(
                    scope, reuse=AUTO_REUSE if again and not scope.reuse else None, auxiliary_name_scope=False):
                result = self.python_function(*args, **kwargs)
        return self._waiting_results(result, effects.seen)

    def _waiting_results(self, result, effects):
        """The results as tensors that wait for the effects; an operation that does when there are none."""
        if result is None or isinstance(result, Operation):
            return group(*effects, *([] if result is None else [result]))

        def tensor(value):
            if value is None:
                return None
            try:
                value = convert_to_tensor(value)
            except (TypeError, ValueError):
                raise TypeError(
                    "To be compatible with tf.contrib.eager.defun, Python functions must return zero or more Tensors; in "
                    f"compilation of {self.python_function}, found return value of type {type(value)}, which is not a "
                    "Tensor.") from None
            return array_ops.identity(value)

        with control_dependencies(effects):
            parts = [part if hasattr(part, "mark_used") else tensor(part)  # a TensorArray stays what it is
                     for part in nest.flatten(result, expand_composites=True)]
        return nest.pack_sequence_as(result, parts, expand_composites=True)

    def _canonical(self, args, kwargs):
        """The arguments, arrays as tensors; with a signature all in order, as tensors of its types."""
        if self.input_signature is None:
            return _tensors_for_arrays(tuple(args)), {key: _tensors_for_arrays(value) for key, value in kwargs.items()}
        if kwargs:
            bound = inspect.signature(self.python_function).bind(*args, **kwargs)
            if bound.kwargs:
                raise ValueError("Cannot define a TensorFlow function from a Python function with keyword arguments when "
                                 "input_signature is provided.")
            args = bound.args
        try:
            given = nest.flatten_up_to(self.input_signature, tuple(args))
        except (TypeError, ValueError):
            raise ValueError("Structure of Python function inputs does not match input_signature:\n  inputs: "
                             f"{args}\n  input_signature: {self.input_signature}") from None
        flat = [self._fitting(spec, value) for spec, value in zip(nest.flatten(self.input_signature), given)]
        return nest.pack_sequence_as(self.input_signature, flat), {}

    def _fitting(self, spec, value):
        if not isinstance(value, (Tensor, Variable)) and hasattr(spec, "dtype"):
            try:
                value = convert_to_tensor(value, dtype_hint=spec.dtype)
            except (TypeError, ValueError):
                raise ValueError("When input_signature is provided, all inputs to the Python function must be convertible "
                                 f"to tensors: {value!r}, input_signature: {self.input_signature}") from None
        if not spec.is_compatible_with(value):
            raise ValueError(f"Python inputs incompatible with input_signature:\n  inputs: {value}\n  input_signature: "
                             f"{self.input_signature}")
        return value

    def get_concrete_function(self, *args, **kwargs):
        """The function for arguments of the kinds of these, TensorSpecs among them."""
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        return ConcreteFunction(self, args, kwargs)

    def get_initialization_function(self, *args, **kwargs):
        """A function that sets the variables of a call with such arguments to their first values."""
        self.get_concrete_function(*args, **kwargs)
        graph = get_default_graph()
        made = [v for call in self._variables._of_graph.get(graph, {}).values() for v in call]
        return lambda: group(*[v.initializer for v in made])


class ConcreteFunction:
    """A function for arguments of fixed kinds: the tensors among them are given in order, or by name."""

    def __init__(self, function, args, kwargs):
        self._function, self._args, self._kwargs = function, tuple(args), dict(kwargs)
        self._flat = nest.flatten([list(self._args), self._kwargs])
        self._given = [value for value in self._flat if isinstance(value, (Tensor, TypeSpec, np.ndarray))]
        shapes = [TensorShape(getattr(value, "shape", None)) for value in self._given]
        self.name, self.captured_inputs, results = self._traced(shapes)
        self.output_dtypes, self.output_shapes = [r.dtype for r in results], [r.shape for r in results]

    structured_input_signature = property(lambda self: (self._args, self._kwargs))

    def _traced(self, shapes):
        graph = get_default_graph()

        def flat_results(arguments):
            result = self._called(arguments)
            if isinstance(result, Operation):
                return []
            return [part for part in nest.flatten(result, expand_composites=True) if part is not None]

        types = [dtypes.as_dtype(value.dtype).base_dtype for value in self._given]
        name = self._function._name
        return _weir.function(graph, name if name.isidentifier() else "function", flat_results, types, shapes)[:3]

    def _called(self, arguments):
        arguments = iter(arguments)
        flat = [next(arguments) if isinstance(value, (Tensor, TypeSpec, np.ndarray)) else value for value in self._flat]
        args, kwargs = nest.pack_sequence_as([list(self._args), self._kwargs], flat)
        return self._function(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        if kwargs:
            names = list(inspect.signature(self._function.python_function).parameters)
            args = list(args) + [kwargs[name] for name in names[len(args):] if name in kwargs]
        flat = [convert_to_tensor(value) for value in nest.flatten(list(args))]
        if len(flat) != len(self._given):
            raise TypeError(f"ConcreteFunction takes {len(self._given)} tensors; it was given {len(flat)}")
        return self._called(flat)


def _decorated(func, make):
    """``@function`` above a function, or ``@function(...)``."""
    return make if func is None else make(func)


def _named(func, **attributes):
    name = getattr(func, "__name__", None) or getattr(getattr(func, "func", None), "__name__", type(func).__name__)
    return Function(func, name, **attributes)


def function(func=None, input_signature=None, autograph=True, experimental_implements=None,
             experimental_autograph_options=None, experimental_relax_shapes=False, experimental_compile=None):
    """``@tf.function`` above a function of tensors, or ``@tf.function(input_signature=[...])``."""
    return _decorated(func, lambda f: _named(f, input_signature=input_signature))


def defun(func=None, input_signature=None, autograph=True, experimental_autograph_options=None,
          experimental_relax_shapes=False):
    """As ``function``; calls with arguments of new kinds may make variables as well."""
    return _decorated(func, lambda f: _named(f, input_signature=input_signature, variables_in_first_call_only=False))


def defun_with_attributes(func=None, input_signature=None, attributes=None, autograph=True,
                          experimental_autograph_options=None, experimental_relax_shapes=False):
    """As ``defun``; the attributes concern what TensorFlow does with functions that it does not inline."""
    return _decorated(func, lambda f: _named(f, input_signature=input_signature, variables_in_first_call_only=False,
                                             **(attributes or {})))


def wrap_function(fn, signature, name=None):
    """A function of the tensors that ``signature`` tells the kinds of; its variables belong to it."""
    wrapped = Function(fn, name or getattr(fn, "__name__", "wrapped_function"), variables_in_first_call_only=False)
    return wrapped.get_concrete_function(*nest.flatten(signature))
