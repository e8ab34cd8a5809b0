"""tf.graph_util: GraphDefs cut down to what an output needs, with variables as constants."""

from weir import file_io as _file_io, names as _names
from weir.core import tensor_util as _tensor_util

_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable")


def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether a node has no kernel but the CPU's: strings, and constants and casts of them."""
    string = 7
    definition = getattr(node, "node_def", node)
    if pin_variables_on_cpu and definition.op in _VARIABLES:
        return True
    if definition.op == "Const":
        return definition.attr["dtype"].type == string
    if definition.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return definition.attr["T"].type == 3
    if definition.op == "Cast":
        return string in (definition.attr["SrcT"].type, definition.attr["DstT"].type)
    return False


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a GraphDef, as text or binary, to the file ``name`` in a folder; gives the path."""
    import os

    graph_def = graph_or_graph_def.as_graph_def() if hasattr(graph_or_graph_def, "as_graph_def") else graph_or_graph_def
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    if as_text:
        from google.protobuf import text_format

        data = text_format.MessageToString(graph_def)
    else:
        data = graph_def.SerializeToString()
    _file_io.atomic_write_string_to_file(path, data)
    return path


def _source(name):
    """The node that an input's name refers to."""
    name = name[1:] if name.startswith("^") else name
    return name.split(":")[0]


def extract_sub_graph(graph_def, dest_nodes):
    """The nodes on which ``dest_nodes``, a list of names, depend, in their order."""
    if not hasattr(graph_def, "node"):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    kept, pending = set(), list(dest_nodes)
    while pending:
        name = pending.pop()
        if name not in kept and name in nodes:
            kept.add(name)
            pending += [_source(each) for each in nodes[name].input]
    result = type(graph_def)()
    result.node.extend(node for node in graph_def.node if node.name in kept)
    _copy_rest(graph_def, result)
    return result


def convert_variables_to_constants(sess, input_graph_def, output_node_names, variable_names_whitelist=None,
                                   variable_names_blacklist=None):
    """The GraphDef of ``output_node_names`` with the session's values in place of its variables."""
    graph = extract_sub_graph(input_graph_def, list(output_node_names))
    wanted = {}
    for node in graph.node:
        if node.op in _VARIABLES or node.op == "VarHandleOp":
            name = node.name
            if variable_names_whitelist is not None and name not in variable_names_whitelist:
                continue
            if variable_names_blacklist is not None and name in variable_names_blacklist:
                continue
            wanted[name] = _readable(sess, node)
    values = dict(zip(wanted, sess.run(list(wanted.values())))) if wanted else {}
    result = type(graph)()
    for node in graph.node:
        copy = result.node.add()
        if node.name in values:
            dtype = node.attr["dtype"].type
            copy.op, copy.name = "Const", node.name
            copy.attr["dtype"].type = dtype
            copy.attr["value"].tensor.CopyFrom(
                _tensor_util.make_tensor_proto(values[node.name], dtype, values[node.name].shape))
        elif node.op == "ReadVariableOp" and _source(node.input[0]) in values:
            copy.op, copy.name = "Identity", node.name
            copy.attr["T"].type = node.attr["dtype"].type
            copy.input.append(node.input[0])
        else:
            copy.CopyFrom(node)
            # Places beside a variable that is no more.
            groups = copy.attr["_class"].list.s if "_class" in copy.attr else ()
            if any(group.decode()[len("loc:@"):] in values for group in groups):
                del copy.attr["_class"]
    _copy_rest(graph, result)
    return result


def _readable(sess, node):
    """The tensor to fetch for a variable's value."""
    if node.op != "VarHandleOp":
        return f"{node.name}:0"
    for operation in sess.graph.get_operation_by_name(node.name).outputs[0].consumers():
        if operation.type == "ReadVariableOp":
            return operation.outputs[0]
    raise ValueError(f"nothing reads the variable {node.name!r}")


def _copy_rest(graph, result):
    """What a GraphDef says beside its nodes, if it says it."""
    for part in ("library", "versions"):
        if graph.HasField(part):
            getattr(result, part).CopyFrom(getattr(graph, part))


def remove_training_nodes(input_graph, protected_nodes=None):
    """The GraphDef without Identity and CheckNumerics nodes, which matter to training only."""
    protected = set(protected_nodes or ())
    types = {node.name: node.op for node in input_graph.node}
    checks = {name for name, op in types.items() if op == "CheckNumerics" and name not in protected}

    def inputs(node):  # nobody waits for a check that is gone
        return [name for name in node.input if not (name.startswith("^") and name[1:] in checks)]

    controls = {_source(name) for node in input_graph.node for name in inputs(node) if name.startswith("^")}
    skipped = {node.name: node.input[0] for node in input_graph.node if node.name in checks}
    for node in input_graph.node:
        removable = node.op == "Identity" and node.name not in protected and node.name not in controls
        if removable and len(inputs(node)) == 1 and types.get(_source(node.input[0])) not in ("Switch", "Enter"):
            skipped[node.name] = node.input[0]

    def through(name):
        while _source(name) in skipped and not name.startswith("^"):
            name = skipped[_source(name)]
        return name

    result = type(input_graph)()
    for node in input_graph.node:
        if node.name not in skipped:
            copy = result.node.add()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(through(name) for name in inputs(node))
    _copy_rest(input_graph, result)
    return result


def tensor_shape_from_node_def_name(graph, input_name):
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()


__getattr__, __dir__ = _names.namespace(__name__)
