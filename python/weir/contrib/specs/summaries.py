"""Texts that show how a network is built: its operations in postfix order, as a tree, its parameters by layer."""

from weir.contrib.specs.specs import create_net
from weir.core import dtypes
from weir.core.tensor import Tensor
from weir.ops import array_ops

_SHORT = {"BiasAdd": "biasadd", "Const": "_", "Conv2D": "conv", "MatMul": "dot", "Placeholder": "_", "Sigmoid": "sig",
          "Variable": "var"}


def _parts(x, no_shape):
    """(operation, shape) of a tensor or an operation, which has no shape."""
    return (x.op, x.get_shape().as_list()) if isinstance(x, Tensor) else (x, no_shape)


def _is_cut(op):
    return "/HorizontalLstm/" in op.name  # an unrolled network, which would fill pages


def tf_structure(x, include_shapes=False, finished=None):
    """The operations that lead to a tensor in postfix order, one that came before as <>."""
    finished = set() if finished is None else finished
    op, shape = _parts(x, [])
    if op in finished:
        return " <>"
    finished.add(op)
    before = "" if _is_cut(op) else "".join(tf_structure(y, include_shapes, finished) for y in op.inputs)
    return (before + (f" {shape}" if include_shapes else "") +
            ("" if op.type == "Identity" else " " + _SHORT.get(op.type, op.type.lower())))


def tf_print(x, depth=0, finished=None, printer=print):
    """Prints the operations that lead to a tensor as a tree."""
    finished = set() if finished is None else finished
    op, shape = _parts(x, "")
    if op.type == "Identity":
        op = op.inputs[0].op
    again = op in finished
    printer("  " * depth + (f"<{op.name}>" if again else op.name) + f" {op.type} {shape}")
    if again:
        return
    finished.add(op)
    if not _is_cut(op):
        for y in op.inputs:
            tf_print(y, depth + 1, finished, printer=printer)


def tf_num_params(x):
    """How many elements the variables that lead to a tensor have."""
    op, shape = _parts(x, None)
    if op.type in ("Variable", "VariableV2"):
        shape = op.outputs[0].get_shape()
        return shape.num_elements()
    return sum(tf_num_params(y) for y in op.inputs)


def tf_left_split(op):
    """(the input that a chain of layers comes through, the others)."""
    inputs = list(op.inputs)
    first = 1 if op.type == "Concat" else 0
    return (inputs[first], inputs[first + 1:]) if inputs else (None, [])


def tf_parameter_iter(x):
    """(name, parameters, shape) of each operation along the chain of layers, the last first."""
    while x is not None:
        op, shape = _parts(x, "")
        x, others = tf_left_split(op)
        yield op.name, sum(tf_num_params(y) for y in others), shape


def _combined(rows):
    """One row for rows of the same outermost scope that follow each other."""
    last = None
    for name, total, shape in rows:
        scope = name.partition("/")[0]
        if last is not None and last[0] == scope:
            last[1] += total
            continue
        if last is not None:
            yield tuple(last)
        last = [scope, total, shape]
    if last is not None:
        yield tuple(last)


def tf_parameter_summary(x, printer=print, combine=True):
    """Prints how many parameters each layer has."""
    rows = tf_parameter_iter(x)
    for name, total, shape in reversed(list(_combined(rows) if combine else rows)):
        printer(f"{total:10d} {name:<20} {shape}")


def _net(spec, inputs, input_shape, input_type):
    return create_net(spec, array_ops.placeholder(input_type, input_shape) if inputs is None else inputs)


def tf_spec_structure(spec, inputs=None, input_shape=None, input_type=dtypes.float32):
    """The structure of a specification's network."""
    return tf_structure(_net(spec, inputs, input_shape, input_type)).strip()


def tf_spec_summary(spec, inputs=None, input_shape=None, input_type=dtypes.float32):
    """Prints the parameters of a specification's network by layer."""
    tf_parameter_summary(_net(spec, inputs, input_shape, input_type))


def tf_spec_print(spec, inputs=None, input_shape=None, input_type=dtypes.float32):
    """Prints a specification's network as a tree."""
    tf_print(_net(spec, inputs, input_shape, input_type))
