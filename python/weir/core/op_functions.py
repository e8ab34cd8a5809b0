"""Python functions for operations, made from the operation tables when first asked for."""

from types import ModuleType

from weir import _weir
from weir.core import dispatch, stack
from weir.names.absent import Absent


def node(graph, op, inputs, attrs, name):
    """Adds a node: values become constants, types follow from the inputs."""
    return _weir.apply(graph, op, inputs, attrs, name)


def apply(op, inputs, attrs, name):
    return _weir.apply(stack.get_default_graph(), op, inputs, attrs, name)


def op_function(op, public_name=None, renamed=None):
    """The function ``f(inputs..., attributes..., name=None)`` of an operation.

    ``renamed`` maps parameter names to those of the public function; attributes that go to None keep their defaults.
    """
    spec = _weir.op_spec(op)
    if spec is None:
        raise NotImplementedError(f"Weir has no operation {op} yet.")
    input_names, attr_rows, output_names = spec
    renamed = renamed or {}
    parameters = [renamed.get(name, name) for name in input_names]
    # Attributes without a default stand before those with one, as in TensorFlow's own functions.
    rows = [row for row in attr_rows if not row[1]] + [row for row in attr_rows if row[1]]
    attr_of = {}
    default_of = {}
    for name, has_default, value, _ in rows:
        public = renamed.get(name, name)
        if public is None:
            continue
        parameters.append(public)
        attr_of[public] = name
        if has_default:
            default_of[public] = value
    functions = [name for name, _, _, kind in rows if "func" in kind]
    parameters.append("name")
    default_of["name"] = None
    inputs = parameters[: len(input_names)]
    result_type = None
    if len(output_names) > 1:
        from collections import namedtuple

        result_type = namedtuple(op, [n if n.isidentifier() else f"output_{i}" for i, n in enumerate(output_names)],
                                 rename=True)

    def function(*args, **kwargs):
        if dispatch.types and dispatch.concerns(args, kwargs):
            return dispatch.handle(function, args, kwargs)
        if len(args) > len(parameters):
            raise TypeError(f"{function.__name__}() takes {len(parameters)} arguments but {len(args)} were given")
        values = dict(zip(parameters, args))
        for key, value in kwargs.items():
            if key in values:
                raise TypeError(f"{function.__name__}() got multiple values for argument {key!r}")
            if key not in parameters:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {key!r}")
            values[key] = value
        for key in parameters:
            if key not in values:
                if key not in default_of:
                    raise TypeError(f"{function.__name__}() missing required argument: {key!r}")
                values[key] = default_of[key]
        attrs = {attr: values[public] for public, attr in attr_of.items()}
        for attr in functions:
            attrs[attr] = _named_functions(attrs[attr])
        result = apply(op, tuple(values[key] for key in inputs), attrs, values["name"])
        return result_type(*result) if result_type is not None else result

    function.__name__ = function.__qualname__ = public_name or op
    function.__doc__ = (f"{op}({', '.join(parameters)}) -> {', '.join(output_names) or 'the Operation'}\n\n"
                        f"The operation {op}, as in TensorFlow.")
    function._op, function._parameters, function._defaults = op, tuple(parameters), default_of
    return function


def _named_functions(value):
    """Functions that a program has defined (Defun) as functions of the graph, by their names there."""
    if isinstance(value, (list, tuple)):
        return [_named_functions(each) for each in value]
    name_in = getattr(value, "_name_in", None)
    return value if name_in is None else name_in(stack.get_default_graph())


def _snake_case(op):
    """The name of TensorFlow's generated function: "Conv2DBackpropInput" is conv2d_backprop_input."""
    letters = []
    for before, letter, after in zip(" " + op, op, op[1:] + " "):
        if letter.isupper() and letters and (before.islower() or after.islower()):
            letters.append("_")
        letters.append(letter.lower())
    return "".join(letters)


class RawOps(ModuleType):
    """``raw_ops.MatMul(a=..., b=...)``: every operation under its own name, and under that of the function that TensorFlow
    generates for it, ``mat_mul``, which releases before 1.5 hid behind an underscore in many cases."""

    _functions, _generated = {}, {}

    def __init__(self):
        super().__init__("weir.raw_ops")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"raw_ops has no operation {name!r}")
        op = name
        if not name[0].isupper():
            if not self._generated:
                self._generated.update((_snake_case(op), op) for op in _weir.op_names())
            op = self._generated.get(name.lstrip("_"))
            if op is None:
                raise AttributeError(f"raw_ops has no operation {name!r}")
        elif _weir.op_spec(op) is None:
            return Absent(f"tf.raw_ops.{op}")
        if op not in self._functions:
            self._functions[op] = op_function(op)
        return self._functions[op]

    def __dir__(self):
        return _weir.op_names()


raw_ops = RawOps()
