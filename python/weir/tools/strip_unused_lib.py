"""A graph between some inputs and outputs: everything before the inputs becomes placeholders."""

from weir import file_io, graph_util, protos
from weir.tools.freeze_graph import _list, _message


def strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum):
    """The GraphDef of the outputs with placeholders of these types (one, or one for each) for the inputs."""
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not an Operation.")
    present = {node.name for node in input_graph_def.node}
    missing = [name for name in input_node_names if name not in present]
    if missing:
        raise KeyError("The following input nodes were not found: " + str(set(missing)))
    types = placeholder_type_enum if isinstance(placeholder_type_enum, list) else \
        [placeholder_type_enum] * len(input_node_names)
    replaced = protos.GraphDef()
    for node in input_graph_def.node:
        if node.name not in input_node_names:
            replaced.node.add().CopyFrom(node)
            continue
        placeholder = replaced.node.add()
        placeholder.op, placeholder.name = "Placeholder", node.name
        placeholder.attr["dtype"].type = int(types[list(input_node_names).index(node.name)])
        if "_output_shapes" in node.attr:
            placeholder.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
        if "shape" in node.attr:
            placeholder.attr["shape"].CopyFrom(node.attr["shape"])
    result = graph_util.extract_sub_graph(replaced, list(output_node_names))
    graph_util._copy_rest(input_graph_def, result)
    return result


def strip_unused_from_files(input_graph, input_binary, output_graph, output_binary, input_node_names, output_node_names,
                            placeholder_type_enum):
    """The same from a file to another one."""
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = _message(protos.GraphDef, input_graph, input_binary, "Input graph file")
    stripped = strip_unused(graph_def, _list(input_node_names), _list(output_node_names), placeholder_type_enum)
    if output_binary:
        data = stripped.SerializeToString()
    else:
        from google.protobuf import text_format

        data = text_format.MessageToString(stripped)
    file_io.atomic_write_string_to_file(output_graph, data)
