"""Saver and meta graphs."""

import os
import threading

from weir import _weir, logging, protos
from weir.core.defaults import EXTENSION as _OWN, from_extension
from weir.core.graph import GraphKeys, add_to_collection, get_collection
from weir.core.stack import get_default_graph
from weir.core.variables import PartitionedVariable, Variable
from weir.inner import ops as inner_ops
from weir.train import collection_objects, saveable
from weir.train.checkpoints import _text
from weir.train.meta_graph import export_meta_graph, read_meta_graph_file
from weir.train.saveable import SaveableObject


def _items(var_list):
    """[(name, variable)]; an empty name is the variable's own."""
    if var_list is None:
        return None
    if isinstance(var_list, dict):
        var_list = {name: list(value) if isinstance(value, PartitionedVariable) else value
                    for name, value in var_list.items()}
        if _has_parts(var_list):
            return [(name, _saveable(part)) for name, parts in sorted(var_list.items())
                    for part in (parts if isinstance(parts, (list, tuple)) else [parts])]
        names = {}
        for name, value in sorted(var_list.items()):
            first = names.setdefault(id(value), name)
            if first != name:
                raise ValueError(f"The same saveable will be restored with two names: {first} and {name}")
        return [(name, _saveable(value)) for name, value in sorted(var_list.items())]
    return [("", _saveable(part)) for value in var_list
            for part in (value if isinstance(value, PartitionedVariable) else [value])]


def _has_parts(var_list):
    """Whether a name stands for the parts of a variable: {name: [variable, ...]}."""
    return isinstance(var_list, dict) and any(isinstance(value, (list, tuple)) for value in var_list.values())


def _saveable(value):
    if not isinstance(value, (Variable, SaveableObject)):
        raise TypeError(f"Variable to save is not a Variable: {value}")
    return value


class Saver:
    """Saves and restores variables in TensorFlow's checkpoints.

    ``save(sess, path, global_step)`` writes a checkpoint that appears whole or not at all, records it in the file
    ``checkpoint`` of the directory and deletes those beyond ``max_to_keep``; ``restore(sess, path)`` reads one.
    Several threads may save with one saver.
    """

    @from_extension(_weir.saver_defaults)
    def __init__(self, var_list=None, reshape=_OWN, sharded=_OWN, max_to_keep=_OWN, keep_checkpoint_every_n_hours=_OWN,
                 name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False,
                 allow_empty=_OWN, write_version=_OWN, pad_step_number=_OWN, save_relative_paths=_OWN, filename=None):
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        self._options = {
            "var_list": _items(var_list), "reshape": reshape, "sharded": sharded, "max_to_keep": max_to_keep,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours, "name": name, "allow_empty": allow_empty,
            "write_version": int(write_version), "pad_step_number": pad_step_number,
            "save_relative_paths": save_relative_paths, "filename": filename}
        self._saver_def, self._impl, self._saving = saver_def, None, threading.Lock()
        self._var_list = var_list
        if not defer_build:
            self.build()

    def build(self):
        if self._impl is not None:
            return
        graph = get_default_graph()
        items = self._options["var_list"]
        owner = next((item for _, item in items or () if isinstance(item, Variable)), None)
        if owner is not None:
            graph = owner.graph
        self._graph = graph  # the nodes are the graph's; it must outlive them
        if self._saver_def is not None:
            definition = protos.SaverDef.FromString(self._saver_def.SerializeToString())
            if self._options["name"]:  # the scope that the nodes were imported into
                for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                    setattr(definition, field, f"{self._options['name']}/{getattr(definition, field)}")
            self._impl = _weir.saver_from_def(graph, definition.SerializeToString(), self._options)
            return
        if items is None and not self._options["allow_empty"]:
            if not graph.get_collection("variables") and not graph.get_collection(GraphKeys.SAVEABLE_OBJECTS):
                raise ValueError("No variables to save")
        elif items is not None and not items and not self._options["allow_empty"]:
            raise ValueError("No variables to save")
        others = [] if items is not None else graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
        if items is None:
            self._var_list = graph.get_collection("variables") + others  # programs list what is saved
        if others or _has_parts(self._var_list) or any(isinstance(item, SaveableObject) for _, item in items or ()):
            self._build_with_saveables(graph, items, others)
        else:
            self._impl = _weir.make_saver(graph, **self._options)

    def _build_with_saveables(self, graph, items, others):
        """A saver of variables and of other objects."""
        if items is None:
            items = [("", item) for item in graph.get_collection("variables") + others]
        named = {}
        for name, item in items:
            if name:
                named.setdefault(name, []).append(item)
        named = named or saveable.op_list_to_dict([item for _, item in items])
        options = {key: value for key, value in self._options.items() if key != "var_list"}
        with graph.as_default():
            filename, saved, restored = saveable._build(named, options["name"], options["reshape"])
        definition = protos.SaverDef(
            filename_tensor_name=filename, save_tensor_name=saved, restore_op_name=restored,
            max_to_keep=options["max_to_keep"] or 0, version=protos.SaverDef.V2,
            keep_checkpoint_every_n_hours=options["keep_checkpoint_every_n_hours"])
        self._impl = _weir.saver_from_def(graph, definition.SerializeToString(), {**self._options, "var_list": None})

    @classmethod
    def _from_impl(cls, impl, graph):
        saver = cls.__new__(cls)
        saver._options, saver._saver_def, saver._impl, saver._graph = {}, None, impl, graph
        saver._saving = threading.Lock()
        return saver

    def _built(self):
        if self._impl is None:
            raise RuntimeError("Saver is not built: call build() or leave out defer_build.")
        return self._impl

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Writes a checkpoint and gives its path, with the step if one is given."""
        saver = self._built()
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        save_path = _text(save_path)
        # A checkpoint with a step in its name, or in shards, does not meet the file that names it.
        alone = global_step is None and not self._options.get("sharded")
        if alone and os.path.basename(save_path) == latest_filename:
            raise ValueError(f"'latest_filename' collides with 'save_path': {latest_filename!r} and {save_path!r}")
        # The last folder of the path is made when it is missing, as TensorFlow 1 does; a mistyped path is not.
        directory = os.path.dirname(save_path)
        if directory and not os.path.isdir(directory) and not os.path.isdir(os.path.dirname(directory) or "."):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        # The step is read in the same turn: of two threads that save, the one with the later step is recorded last.
        with self._saving:
            if global_step is not None and not isinstance(global_step, int):
                global_step = int(sess.run(global_step)) if hasattr(global_step, "graph") else int(global_step)
            path = saver.save(sess, save_path, global_step, latest_filename, meta_graph_suffix, bool(write_meta_graph),
                              bool(write_state), bool(strip_default_attrs))
            return None if saver.empty else path

    def restore(self, sess, save_path):
        saver = self._built()
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = _text(save_path)
        if not saver.empty and not _weir.checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        logging.info("Restoring parameters from %s", save_path)
        inside = getattr(sess, "_tf_sess", None)  # of a monitored session: restoring needs no hooks
        session = inside() if inside else sess
        if self._options and getattr(session, "graph", self._graph) is not self._graph:
            # The graph of the session has nodes of these names.
            saver = _weir.saver_from_def(session.graph, saver.saver_def(), {**self._options, "var_list": None})
        saver.restore(session, save_path)

    @property
    def saver_def(self):
        return self.as_saver_def()

    def as_saver_def(self):
        return protos.SaverDef.FromString(self._built().saver_def())

    def to_proto(self, export_scope=None):
        return self.as_saver_def()

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        return Saver(saver_def=saver_def, name=import_scope)

    @property
    def last_checkpoints(self):
        """The paths of those that are kept, oldest first; none is recorded where all are."""
        return list(self._built().last_checkpoints) if self.as_saver_def().max_to_keep else []

    @property
    def _write_version(self):
        return self.as_saver_def().version

    @staticmethod
    def _MetaGraphFilename(checkpoint_filename, meta_graph_suffix="meta"):  # noqa: N802
        """model.ckpt-?????-of-00003, sharded or not, has one meta graph: model.ckpt.meta."""
        import re

        return f"{re.sub(r'-[0-9?]+-of-[0-9?]+$', '', checkpoint_filename)}.{meta_graph_suffix}"

    def set_last_checkpoints(self, last_checkpoints):
        self._built().set_last_checkpoints(list(last_checkpoints))

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        self._built().set_last_checkpoints_with_time([tuple(pair) for pair in last_checkpoints_with_time])

    def recover_last_checkpoints(self, checkpoint_paths):
        self._built().recover_last_checkpoints(list(checkpoint_paths))

    def export_meta_graph(self, filename=None, collection_list=None, as_text=False, export_scope=None,
                          clear_devices=False, clear_extraneous_savers=False, strip_default_attrs=False,
                          save_debug_info=False):
        return export_meta_graph(filename, graph=self._graph, saver_def=self.as_saver_def(),
                                 collection_list=collection_list, as_text=as_text, export_scope=export_scope,
                                 clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
                                 strip_default_attrs=strip_default_attrs)


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds a meta graph to the default graph and gives its Saver, or None when it has none and no variables."""
    graph = get_default_graph()
    data = (meta_graph_or_file.SerializeToString() if hasattr(meta_graph_or_file, "SerializeToString")
            else read_meta_graph_file(meta_graph_or_file).SerializeToString())
    data, objects = collection_objects._taken_out(data)
    impl = _weir.import_meta_graph(graph, data, import_scope, bool(clear_devices), dict(kwargs.get("input_map") or {}))
    collection_objects._restore(graph, objects, import_scope)
    if impl is not None:
        return Saver._from_impl(impl, graph)
    return Saver() if graph.get_collection("variables") else None


inner_ops.register_proto_function(GraphKeys.SAVERS, protos.SaverDef, Saver.to_proto, Saver.from_proto)


def _get_saver_or_default():
    """The saver of the graph's collection; one for all variables, which goes there, when it has none."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by "
                           "passing it to the constructor.")
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver
