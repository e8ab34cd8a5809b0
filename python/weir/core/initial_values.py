"""First values of variables that are made from other variables.

All initializers may run in one step, in any order. So where the first value of a variable is computed from another
variable, it is computed from that one's value if it has one, else from its first value.
"""

from weir.core.graph import GraphKeys, Tensor

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
# What asks for itself whether a variable has a value.
_GUARDS = ("IsVariableInitialized", "VarIsInitializedOp", "If", "StatelessIf", "Merge")


def _guarded(value, name):
    """``value``, or the same of first values where it reads variables that may have none. ``name`` is the new variable's."""
    if not isinstance(value, Tensor):
        value = value.value()
    order, needs = _walk(value.op)
    if not needs:
        return value
    graph, made = value.graph, {}
    known = {v.op.name: v for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
             for v in graph.get_collection(key) if hasattr(v, "initialized_value")}

    def replaced(tensor):
        new = made.get(tensor.op.name)
        return tensor if new is None else new[tensor.value_index]

    for op in order:
        if op.type in _VARIABLES or op.type == "ReadVariableOp" and op.inputs[0].op.type == "VarHandleOp":
            variable = known.get((op if op.type in _VARIABLES else op.inputs[0].op).name)
            if variable is not None and variable.initial_value is not None and op.type != "VarHandleOp":
                made[op.name] = [variable.initialized_value()]
        elif any(tensor.op.name in made for tensor in op.inputs):
            attrs = {key: attr for key, attr in op.node_def.attr.items() if not key.startswith("_")}
            kind = "Switch" if op.type == "RefSwitch" else op.type
            new = graph.create_op(kind, [replaced(tensor) for tensor in op.inputs], [out.dtype for out in op.outputs],
                                  name=f"{op.name}_{name}".replace(":", "_"), attrs=attrs)
            made[op.name] = list(new.outputs)
    return replaced(value)


def _walk(last):
    """(the operations that one needs, each behind what it needs; whether variables are among them)."""
    order, seen, reads = [], set(), False
    open_ops = [(last, False)]
    while open_ops:
        op, behind = open_ops.pop()
        if behind:
            order.append(op)
            continue
        if op.name in seen:
            continue
        seen.add(op.name)
        if op.type in _GUARDS:
            continue
        reads = reads or op.type in _VARIABLES
        open_ops.append((op, True))
        open_ops.extend((tensor.op, False) for tensor in op.inputs)
    return order, reads
