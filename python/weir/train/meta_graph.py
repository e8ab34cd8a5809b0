"""Meta graphs, of a graph or of a part of one: what is below a scope, written and read as a graph of its own.

What a part reads from outside becomes an input that is not bound, "$unbound_inputs_<name>", and is named in a collection;
whoever imports it says by ``input_map`` what stands there."""

import os
import re

from weir import _weir, errors, protos
from weir.core.stack import get_default_graph
from weir.core.variables import Variable
from weir.core.version import GIT_VERSION
from weir.inner.ops import strip_name_scope
from weir.train import collection_objects
from weir.train.checkpoints import _text

_UNBOUND = "$unbound_inputs_"
_MESSAGES = {"queue_runners": protos.QueueRunnerDef}  # of other collections: VariableDef


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None,
                      as_text=False, graph=None, export_scope=None, clear_devices=False, clear_extraneous_savers=False,
                      strip_default_attrs=False, save_debug_info=False, **kwargs):
    """The MetaGraphDef of a graph; written to ``filename`` when one is given."""
    if export_scope:
        return export_scoped_meta_graph(
            filename, graph_def, graph, export_scope, as_text, clear_devices=clear_devices, meta_info_def=meta_info_def,
            saver_def=saver_def, collection_list=collection_list, clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs, **kwargs)[0]
    graph = get_default_graph() if graph is None else graph
    data = _weir.export_meta_graph(graph, None if saver_def is None else saver_def.SerializeToString(), collection_list,
                                   collection_objects._foreign_collections(graph, collection_list), bool(clear_devices),
                                   bool(clear_extraneous_savers), bool(strip_default_attrs))
    meta_graph = protos.MetaGraphDef.FromString(data)
    meta_graph.meta_info_def.tensorflow_git_version = GIT_VERSION
    if meta_info_def is not None:
        if meta_info_def.HasField("stripped_op_list"):
            meta_graph.meta_info_def.ClearField("stripped_op_list")
        meta_graph.meta_info_def.MergeFrom(meta_info_def)
    if graph_def is not None:
        meta_graph.graph_def.CopyFrom(graph_def)
        for node in meta_graph.graph_def.node if clear_devices else ():
            node.device = ""
        if meta_info_def is None or not meta_info_def.HasField("stripped_op_list"):
            meta_graph.meta_info_def.ClearField("stripped_op_list")
        meta_graph = _completed(meta_graph, strip_default_attrs, clear_extraneous_savers)
    if filename:
        _weir.write_meta_graph(_text(filename), meta_graph.SerializeToString(), bool(as_text))
    return meta_graph


def _completed(meta_graph, strip_default_attrs=False, clear_extraneous_savers=False):
    """A MetaGraphDef with what follows from its graph."""
    return protos.MetaGraphDef.FromString(_weir.complete_meta_graph(
        meta_graph.SerializeToString(), bool(strip_default_attrs), bool(clear_extraneous_savers)))


def ops_used_by_graph_def(graph_def):
    """The names of the operations that a graph and the functions that it calls use."""
    return _weir.op_names_used_by(graph_def.SerializeToString())


def stripped_op_list_for_graph(graph_def):
    """The signatures of the operations of a graph, as an OpList. ValueError for one that nobody has described."""
    operations = protos.OpList()
    for name in ops_used_by_graph_def(graph_def):
        if _weir.op_spec(name) is not None:
            operations.op.add().ParseFromString(_weir.op_def(name))
        elif name not in ("_Arg", "_Retval", "_ListToArray", "_ArrayToList"):  # only functions have these
            raise ValueError(f"Op {name} is used by the graph, but is not registered")
    return operations


def create_meta_graph_def(meta_info_def=None, graph_def=None, saver_def=None, collection_list=None, graph=None,
                          export_scope=None, strip_default_attrs=False, **kwargs):
    """The MetaGraphDef of a graph, with the shapes of its tensors."""
    if graph_def is None and not export_scope:
        graph_def = (graph or get_default_graph()).as_graph_def(add_shapes=True)
    return export_meta_graph(None, meta_info_def, graph_def, saver_def, collection_list, graph=graph,
                             export_scope=export_scope, strip_default_attrs=strip_default_attrs)


def read_meta_graph_file(filename):
    """The MetaGraphDef in a file, binary or text; IOError when there is none."""
    path = _text(filename)
    if not os.path.exists(path):
        raise IOError(f"File {path} does not exist.")
    try:
        return protos.MetaGraphDef.FromString(_weir.read_meta_graph(path))
    except errors.DataLossError:
        from google.protobuf import text_format

        with open(path, encoding="utf-8", errors="replace") as file:
            try:
                return text_format.Parse(file.read(), protos.MetaGraphDef())
            except text_format.ParseError as error:
                raise IOError(f"Cannot parse file {path}: {error}.") from None


def _inside(name, scope):
    return re.sub(r"^(\^|loc:@)", "", name).startswith(scope + "/")


def _part(graph_def, scope, clear_devices):
    """(the nodes below a scope under their names there, the names of what they read from outside)"""
    part, unbound = protos.GraphDef(versions=graph_def.versions, library=graph_def.library), set()
    for node in graph_def.node:
        if not _inside(node.name, scope):
            continue
        copy = part.node.add()
        copy.CopyFrom(node)
        copy.name = strip_name_scope(node.name, scope)
        for i, name in enumerate(node.input):
            if _inside(name, scope):
                copy.input[i] = strip_name_scope(name, scope)
            else:
                copy.input[i] = re.sub(r"^(\^?)", lambda found: found.group() + _UNBOUND, name)
                unbound.add(copy.input[i])
        groups = [name for name in node.attr["_class"].list.s if _inside(name.decode(), scope)]
        copy.attr.pop("_class")
        if groups:
            copy.attr["_class"].list.s.extend(strip_name_scope(name, scope).encode() for name in groups)
        if clear_devices:
            copy.device = ""
    return part, sorted(unbound)


def _part_of_message(message, scope):
    """A VariableDef or QueueRunnerDef with the names of the part; None when it belongs to something outside."""
    for field, value in message.ListFields():
        if not field.name.endswith("_name"):
            continue
        values = [value] if isinstance(value, str) else list(value)
        if not all(_inside(name, scope) for name in values if name):
            return None
        stripped = [strip_name_scope(name, scope) for name in values]
        if isinstance(value, str):
            setattr(message, field.name, stripped[0])
        else:
            del value[:]
            value.extend(stripped)
    return message


def _part_of_collection(name, collection, scope):
    part = protos.CollectionDef()
    if collection.WhichOneof("kind") == "node_list":
        part.node_list.value.extend(strip_name_scope(node, scope) for node in collection.node_list.value
                                    if _inside(node, scope))
    elif collection.WhichOneof("kind") == "bytes_list":
        kind = _MESSAGES.get(name, protos.VariableDef)
        for data in collection.bytes_list.value:
            try:
                message = _part_of_message(kind.FromString(data), scope)
            except Exception:  # no such message: the program's own
                continue
            if message is not None and message.ListFields():
                part.bytes_list.value.append(message.SerializeToString())
    else:
        part.CopyFrom(collection)
    return part if part.WhichOneof("kind") and getattr(part, part.WhichOneof("kind")).value else None


def export_scoped_meta_graph(filename=None, graph_def=None, graph=None, export_scope=None, as_text=False,
                             unbound_inputs_col_name="unbound_inputs", clear_devices=False, saver_def=None,
                             clear_extraneous_savers=False, strip_default_attrs=False, save_debug_info=False, **kwargs):
    """(the MetaGraphDef of what is below a scope, {name there: variable})"""
    graph = get_default_graph() if graph is None else graph
    meta_graph = export_meta_graph(graph_def=graph_def, graph=graph, clear_devices=clear_devices,
                                          saver_def=saver_def, clear_extraneous_savers=clear_extraneous_savers,
                                          strip_default_attrs=strip_default_attrs, **kwargs)
    scope = (export_scope or "").rstrip("/")
    variables = {strip_name_scope(variable.name, scope): variable
                 for variable in graph.get_collection("variables") + graph.get_collection("local_variables")
                 if isinstance(variable, Variable) and (not scope or _inside(variable.name, scope))}
    if scope:
        part, unbound = _part(meta_graph.graph_def, scope, clear_devices)
        meta_graph.graph_def.CopyFrom(part)
        for name, collection in list(meta_graph.collection_def.items()):
            found = _part_of_collection(name, collection, scope)
            del meta_graph.collection_def[name]
            if found is not None:
                meta_graph.collection_def[name].CopyFrom(found)
        if unbound_inputs_col_name:
            meta_graph.collection_def[unbound_inputs_col_name].bytes_list.value.extend(name.encode() for name in unbound)
        meta_graph.meta_info_def.ClearField("stripped_op_list")
        meta_graph = _completed(meta_graph, strip_default_attrs)
    if filename:
        _weir.write_meta_graph(_text(filename), meta_graph.SerializeToString(), bool(as_text))
    return meta_graph, variables


def _check_bound(meta_graph, collection_name, input_map):
    if collection_name not in meta_graph.collection_def:
        return
    unbound = [name.decode() for name in meta_graph.collection_def[collection_name].bytes_list.value]
    missing = [name for name in unbound if name not in (input_map or {})]
    if missing:
        raise ValueError(f"Graph contains unbound inputs: {', '.join(missing)}. Must provide these inputs through input_map.")


def import_scoped_meta_graph(meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
                             unbound_inputs_col_name="unbound_inputs", restore_collections_predicate=lambda key: True):
    """Adds a meta graph below a scope; {name in the meta graph: variable}"""
    meta_graph = meta_graph_or_file
    if not isinstance(meta_graph, protos.MetaGraphDef):
        meta_graph = read_meta_graph_file(meta_graph_or_file)
    else:
        meta_graph = protos.MetaGraphDef.FromString(meta_graph.SerializeToString())
    if unbound_inputs_col_name:
        _check_bound(meta_graph, unbound_inputs_col_name, input_map)
    for name in list(meta_graph.collection_def):
        if name == unbound_inputs_col_name or not restore_collections_predicate(name):
            del meta_graph.collection_def[name]
    graph = get_default_graph() if graph is None else graph
    with graph.as_default():
        known = set(graph.get_collection("variables"))
        data, objects = collection_objects._taken_out(meta_graph.SerializeToString())
        _weir.import_meta_graph(graph, data, import_scope, bool(clear_devices), dict(input_map or {}))
        collection_objects._restore(graph, objects, import_scope)
        return {strip_name_scope(variable.name, import_scope): variable
                for variable in graph.get_collection("variables") if variable not in known}


def copy_scoped_meta_graph(from_scope, to_scope, from_graph=None, to_graph=None):
    """Copies what is below a scope to another one, of the same graph or of another; {name there: variable}"""
    from_graph, to_graph = from_graph or get_default_graph(), to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError("'from_scope' and 'to_scope' need to be different when performing copy in the same graph.")
    meta_graph, _ = export_scoped_meta_graph(graph=from_graph, export_scope=from_scope)
    return import_scoped_meta_graph(meta_graph, graph=to_graph, import_scope=to_scope)
