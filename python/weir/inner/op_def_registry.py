"""tensorflow.python.framework.op_def_registry: operations that a program describes by OpDef messages."""

from weir import _weir, protos

_registered = {}


def register_op_list(op_list):
    """Makes the operations of an OpList known to graphs and to import_graph_def. Weir's own stay what they are."""
    if not isinstance(op_list, protos.OpList):
        raise TypeError(f"{op_list} is {type(op_list)}, not an op_def_pb2.OpList")
    for op_def in op_list.op:
        if op_def.name in _registered and _registered[op_def.name] != op_def:
            raise AssertionError(f"Registered op_def for {op_def.name} ({_registered[op_def.name]}) not equal to op_def "
                                 f"{op_def}.")
        _weir.register_op_def(op_def.SerializeToString())
        _registered[op_def.name] = op_def


def get_registered_ops():
    """The OpDefs of all operations, Weir's and those that the program has registered, by name."""
    return {**{name: protos.OpDef.FromString(_weir.op_def(name)) for name in _weir.op_names()}, **_registered}
