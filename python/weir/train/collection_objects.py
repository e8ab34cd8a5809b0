"""Python's objects in the collections of a graph, on their way through a MetaGraphDef."""

from weir import _weir, logging, protos
from weir.core.variables import Variable
from weir.inner import ops as inner_ops
from weir.train.queue_runner import QueueRunner


def _foreign_collections(graph, collection_list):
    """Collections of Python objects that become messages, by ``to_proto`` (queue runners and the like) or as
    ``register_proto_function`` says, as (name, CollectionDef)."""
    rows = []
    for name in graph.get_all_collection_keys():
        if collection_list is not None and name not in collection_list:
            continue
        known = (_weir.Tensor, _weir.Operation, *([] if inner_ops.get_to_proto_function(name) else [Variable]))
        items = [item for item in graph.get_collection(name) if not isinstance(item, known)]
        if not items:
            continue
        collection, to_proto = protos.CollectionDef(), inner_ops.get_to_proto_function(name)
        for item in items:
            if to_proto is not None:
                message = to_proto(item, export_scope=None)
                if message is not None:
                    collection.bytes_list.value.append(message.SerializeToString())
            elif hasattr(item, "to_proto"):
                try:
                    collection.bytes_list.value.append(item.to_proto().SerializeToString())
                except NotImplementedError as error:  # runners that feed arrays of the program
                    logging.warning("An item of the collection %s is left out of the meta graph: %s", name, error)
            elif isinstance(item, str):
                collection.bytes_list.value.append(item.encode())
            elif isinstance(item, bytes):
                collection.bytes_list.value.append(item)
            elif isinstance(item, bool) or isinstance(item, int):
                collection.int64_list.value.append(int(item))
            elif isinstance(item, float):
                collection.float_list.value.append(item)
        if collection.WhichOneof("kind"):
            rows.append((name, collection.SerializeToString()))
    return rows


def _reader(name):
    """(the class of messages that a collection holds, what makes an object of one), or None."""
    if name == "queue_runners":
        return protos.QueueRunnerDef, QueueRunner.from_proto
    kind, read = inner_ops.get_collection_proto_type(name), inner_ops.get_from_proto_function(name)
    return (kind, read) if kind is not None and read is not None else None


def _taken_out(data):
    """(the bytes of a MetaGraphDef without what only Python can read, {collection: messages})"""
    meta_graph, objects = protos.MetaGraphDef.FromString(data), {}
    for name, collection in list(meta_graph.collection_def.items()):
        reader = _reader(name)
        if reader is None or collection.WhichOneof("kind") != "bytes_list":
            continue
        objects[name] = [reader[0].FromString(item) for item in collection.bytes_list.value]
        del meta_graph.collection_def[name]
    return meta_graph.SerializeToString() if objects else data, objects


def _restore(graph, objects, import_scope):
    """Makes the objects, once their nodes are there."""
    with graph.as_default():
        for name, messages in objects.items():
            for message in messages:
                graph.add_to_collection(name, _reader(name)[1](message, import_scope=import_scope))
