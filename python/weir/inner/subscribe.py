"""tensorflow.python.framework.subscribe: functions that see a tensor whenever it is computed."""

from weir import nest
from weir.contrib.graph_editor import select, util
from weir.core.graph import control_dependencies, name_scope
from weir.core.tensor import Tensor
from weir.ops import array_ops

_SCOPE = "/subscription/"


def subscribe(tensors, side_effects):
    """Gives identities of the tensors that run after the operations (lists of tensors) which the functions make of them.
    Who read a tensor, or waited for it, reads and waits for its identity from then on."""
    functions = [side_effects] if callable(side_effects) else list(side_effects)
    return nest.map_structure(lambda tensor: _subscribed(tensor, functions), tensors)


def _subscribed(tensor, functions):
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(tensor)}")
    if tensor.op.type == "Identity" and tensor.op.name.startswith(tensor.op.inputs[0].op.name + _SCOPE):
        with control_dependencies(None):  # one identity serves all functions
            for op in _made(tensor.op.inputs[0], functions):
                tensor.op._add_control_input(op)
        return tensor
    readers = [(op, i) for op in dict.fromkeys(tensor.consumers()) for i, t in enumerate(op.inputs) if t is tensor]
    waiting = list(select.ControlOutputs(tensor.graph).get(tensor.op))
    with tensor.graph.as_default(), tensor.graph.device(tensor.op.device or None), control_dependencies(None):
        effects = _made(tensor, functions)
        with name_scope(tensor.op.name + _SCOPE), control_dependencies(effects):
            seen = array_ops.identity(tensor)
    for op, index in readers:
        op._update_input(index, seen)
    for op in waiting:
        util.remove_control_inputs(op, tensor.op)
        util.add_control_inputs(op, seen.op)
    return seen


def _made(tensor, functions):
    with name_scope(tensor.op.name + _SCOPE):
        return [made.op if isinstance(made, Tensor) else made for function in functions
                for made in nest.flatten(function(tensor))]
