"""tensorflow.python.ops.functional_ops: operations that call functions of the program (Defun)."""

from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply, raw_ops
from weir.core.stack import get_default_graph
from weir.ops import control_flow_ops, math_ops


def partitioned_call(args, f, tout=None, executing_eagerly=None, config=None, executor_type=None):
    """What ``f`` gives for ``args``, by a node that calls it while the graph runs."""
    name, captured, types = f._traced(get_default_graph())
    inputs = [convert_to_tensor(arg) for arg in args] + list(captured)
    attrs = {"Tout": types if tout is None else list(tout), "f": name, "executor_type": executor_type or ""}
    outputs = apply("StatefulPartitionedCall", (inputs,), attrs, None)
    return outputs if attrs["Tout"] else [outputs]


def remote_call(target, args, Tout, f, name=None):
    """What ``f`` gives for ``args`` on the device ``target``."""
    return raw_ops.RemoteCall(target=target, args=args, Tout=Tout, f=f, name=name)


def If(cond, inputs, then_branch, else_branch, name=None):
    """``then_branch`` or ``else_branch`` of ``inputs``, as a list."""
    with name_scope(name, "If"):
        inputs = [convert_to_tensor(value) for value in inputs]
        return _as_list(control_flow_ops.cond(_as_predicate(cond), lambda: _as_list(then_branch(*inputs)),
                                              lambda: _as_list(else_branch(*inputs))))


def While(input_, cond, body, name=None, hostmem=None):
    """``body`` again and again while ``cond`` says so, as a list."""
    with name_scope(name, "While"):
        initial = [convert_to_tensor(value) for value in input_]
        return _as_list(control_flow_ops.while_loop(lambda *now: _as_predicate(cond(*now)),
                                                    lambda *now: _as_list(body(*now)), initial))


def For(start, limit, delta, inputs, body, name=None, hostmem=None, rewrite_with_while=None):
    """``body(i, ...)`` for i from ``start`` to ``limit`` by ``delta``, from ``inputs`` on; a list of what came last."""
    with name_scope(name, "For"):
        start, limit, delta = [convert_to_tensor(value) for value in (start, limit, delta)]
        steps = -((start - limit) // delta)

        def step(n, *now):
            return [n + 1] + _as_list(body(start + n * delta, *now))

        final = control_flow_ops.while_loop(lambda n, *now: n < steps, step,
                                            [steps * 0] + [convert_to_tensor(value) for value in inputs])
        return _as_list(final)[1:]


def Gradient(inputs, f, name=None):
    """The gradients of ``f`` with respect to its arguments: ``inputs`` are these, and then those of its results."""
    _, captured, types = f._traced(get_default_graph())
    inputs = [convert_to_tensor(value) for value in inputs]
    arguments, grads = inputs[:len(inputs) - len(types)], inputs[len(inputs) - len(types):]
    # What the function reads from around it are its last arguments; their gradients are nobody's.
    tensors = arguments + list(captured)
    gradients = raw_ops.SymbolicGradient(input=tensors + grads, Tout=[tensor.dtype for tensor in tensors], f=f, name=name)
    return gradients[:len(arguments)]


def _as_predicate(value):
    """TensorFlow's functional operations take numbers for truth: what is not zero, or not empty, is true."""
    value = convert_to_tensor(value)
    if value.dtype.base_dtype.name == "bool":
        return value
    if value.dtype.base_dtype.name == "string":
        return math_ops.not_equal(value, "")
    return math_ops.not_equal(value, convert_to_tensor(0, dtype=value.dtype.base_dtype))


def _as_list(values):
    return list(values) if isinstance(values, (list, tuple)) else [] if values is None else [values]
