"""A graph with the values of a checkpoint in place of its variables, in one file."""

import argparse
import os

from weir import file_io, graph_util, protos
from weir.core.graph import Graph, import_graph_def
from weir.core.op_functions import apply
from weir.core.session import Session
from weir.saved_model import loader
from weir.train import checkpoints, saver as saver_lib


def _list(names):
    """The names in a list with commas; None when there are none."""
    if isinstance(names, str):
        return [name for name in names.replace(" ", "").split(",") if name] or None
    return list(names) if names else None


def _message(message_type, path, binary, what):
    if not os.path.exists(path):
        raise IOError(f"{what} '{path}' does not exist!")
    data = file_io.read_file_to_string(path, binary_mode=True)
    if binary:
        return message_type.FromString(data)
    from google.protobuf import text_format

    return text_format.Parse(data.decode(), message_type())


def _restore(sess, checkpoint, saver_def):
    """Sets the variables of the graph that the checkpoint has."""
    if saver_def is not None:
        saver_lib.Saver(saver_def=saver_def).restore(sess, checkpoint)
        return
    reader = checkpoints.load_checkpoint(checkpoint)
    variables, partitioned = {}, {}
    for operation in sess.graph.get_operations():
        if operation.type not in ("Variable", "VariableV2", "VarHandleOp", "AutoReloadVariable"):
            continue
        if reader.has_tensor(operation.name):
            variables[operation.name] = operation.outputs[0]
        elif "/part_" in operation.name:
            partitioned[operation.name] = operation.outputs[0]
    if partitioned and not variables:
        raise ValueError("Models containing partition variables cannot be converted from checkpoint files. Please pass in "
                         "a SavedModel using the flag --input_saved_model_dir.")
    with sess.graph.as_default():
        for name, handle in variables.items():
            op = "AssignVariableOp" if handle.dtype.base_dtype.name == "resource" else "Assign"
            sess.run(apply(op, (handle, reader.get_tensor(name)), {}, None))


def freeze_graph_with_def_protos(input_graph_def, input_saver_def, input_checkpoint, output_node_names, restore_op_name,
                                 filename_tensor_name, output_graph, clear_devices, initializer_nodes,
                                 variable_names_whitelist="", variable_names_blacklist="", input_meta_graph_def=None,
                                 input_saved_model_dir=None, saved_model_tags=None, checkpoint_version=2):
    """The frozen GraphDef, which is also written to ``output_graph`` unless that is empty."""
    names = _list(output_node_names)
    if not names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    if not input_saved_model_dir and not checkpoints.checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    if clear_devices and graph_def is not None:
        for node in graph_def.node:
            node.device = ""
    with Graph().as_default(), Session() as sess:
        if input_meta_graph_def:
            restorer = saver_lib.import_meta_graph(input_meta_graph_def, clear_devices=True)
            restorer.restore(sess, input_checkpoint)
            if initializer_nodes:
                sess.run(_list(initializer_nodes))
        elif input_saved_model_dir:
            tags = _list(saved_model_tags) or []
            graph_def = loader.load(sess, tags, input_saved_model_dir).graph_def
        else:
            import_graph_def(graph_def, name="")
            _restore(sess, input_checkpoint, input_saver_def)
            if initializer_nodes:
                sess.run(_list(initializer_nodes))
        frozen = graph_util.convert_variables_to_constants(sess, graph_def, names, _list(variable_names_whitelist),
                                                           _list(variable_names_blacklist))
    if output_graph:
        os.makedirs(os.path.dirname(os.path.abspath(output_graph)), exist_ok=True)
        file_io.atomic_write_string_to_file(output_graph, frozen.SerializeToString())
    return frozen


def freeze_graph(input_graph, input_saver, input_binary, input_checkpoint, output_node_names, restore_op_name,
                 filename_tensor_name, output_graph, clear_devices, initializer_nodes, variable_names_whitelist="",
                 variable_names_blacklist="", input_meta_graph=None, input_saved_model_dir=None,
                 saved_model_tags="serve", checkpoint_version=2):
    """The same from files: a GraphDef, a MetaGraphDef or a SavedModel, and a checkpoint."""
    graph_def = meta_graph = saver_def = None
    if input_saved_model_dir:
        pass
    elif input_graph:
        graph_def = _message(protos.GraphDef, input_graph, input_binary, "Input graph file")
    elif input_meta_graph:
        meta_graph = _message(protos.MetaGraphDef, input_meta_graph, input_binary, "Input meta graph file")
    if input_saver:
        saver_def = _message(protos.SaverDef, input_saver, input_binary, "Input saver file")
    return freeze_graph_with_def_protos(graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name,
                                        filename_tensor_name, output_graph, clear_devices, initializer_nodes,
                                        variable_names_whitelist, variable_names_blacklist, meta_graph,
                                        input_saved_model_dir, saved_model_tags, checkpoint_version)


def _flag(text):
    return text.lower() == "true"


def _main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("input_graph", ""), ("input_saver", ""), ("input_checkpoint", ""), ("output_graph", ""),
                          ("output_node_names", ""), ("restore_op_name", "save/restore_all"),
                          ("filename_tensor_name", "save/Const:0"), ("initializer_nodes", ""),
                          ("variable_names_whitelist", ""), ("variable_names_blacklist", ""), ("input_meta_graph", ""),
                          ("input_saved_model_dir", ""), ("saved_model_tags", "serve")):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--input_binary", type=_flag, nargs="?", const=True, default=False)
    parser.add_argument("--clear_devices", type=_flag, nargs="?", const=True, default=True)
    freeze_graph(**vars(parser.parse_args()))


if __name__ == "__main__":
    _main()
