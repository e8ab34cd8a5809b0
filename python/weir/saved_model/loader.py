"""SavedModels, read."""

import os

from weir import _weir, errors, protos
from weir.core.graph import GraphKeys
from weir.core.stack import get_default_graph
from weir.saved_model import constants, signatures
from weir.train.saver import Saver, import_meta_graph


def maybe_saved_model_directory(export_dir):
    """Whether a folder holds a SavedModel."""
    return _weir.is_saved_model(os.fsdecode(export_dir))


contains_saved_model = maybe_saved_model_directory


def parse_saved_model(export_dir):
    """The SavedModel message of a folder. OSError when there is none or it does not parse."""
    try:
        return protos.SavedModel.FromString(_weir.read_saved_model(os.fsdecode(export_dir)))
    except (errors.NotFoundError, errors.DataLossError) as error:
        raise OSError(error.message) from None


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Adds the graph with these tags to the session's, restores its variables, and gives its MetaGraphDef."""
    export_dir = os.fsdecode(export_dir)
    if not maybe_saved_model_directory(export_dir):
        raise OSError(f"SavedModel file does not exist at: {export_dir}/{{saved_model.pbtxt|saved_model.pb}}")
    try:
        return protos.MetaGraphDef.FromString(
            _weir.load_saved_model(sess, sess.graph, list(tags), export_dir, import_scope))
    except errors.DataLossError as error:
        raise OSError(error.message) from None
    except errors.NotFoundError as error:
        if "MetaGraphDef associated with tags" in error.message:
            raise RuntimeError(error.message) from None
        raise


class SavedModelLoader:
    """Loads graphs of one model."""

    def __init__(self, export_dir):
        self._export_dir = os.fsdecode(export_dir)
        self._saved_model = parse_saved_model(export_dir)

    export_dir = property(lambda self: self._export_dir)
    saved_model = property(lambda self: self._saved_model)

    def get_meta_graph_def_from_tags(self, tags):
        for meta_graph in self._saved_model.meta_graphs:
            if set(meta_graph.meta_info_def.tags) == set(tags):
                return meta_graph
        raise RuntimeError(f"MetaGraphDef associated with tags {sorted(tags)} could not be found in SavedModel.")

    def load(self, sess, tags, import_scope=None, **saver_kwargs):
        return load(sess, tags, self._export_dir, import_scope, **saver_kwargs)

    # The three steps of load().

    def load_graph(self, graph, tags, import_scope=None, **saver_kwargs):
        """Adds the graph with these tags to ``graph``: (its Saver, what ``return_elements`` name)."""
        wanted = saver_kwargs.pop("return_elements", None) or []
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        present = {node.name for node in meta_graph.graph_def.node} if wanted else ()
        for name in wanted:
            if name.partition(":")[0] not in present:
                raise ValueError(f"Requested return_element {name!r} not found in graph_def.")
        with graph.as_default():
            saver = import_meta_graph(meta_graph, import_scope=import_scope, **saver_kwargs)
        prefix = f"{import_scope}/" if import_scope else ""
        return saver, [graph.as_graph_element(prefix + name) for name in wanted] or None

    def restore_variables(self, sess, saver, import_scope=None):
        """Gives variables the values of the model."""
        if isinstance(saver, Saver):
            saver.restore(sess, os.path.join(self._export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME))
        elif any(sess.graph.get_collection(key, scope=import_scope)
                 for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)):
            raise ValueError("No tf.train.Saver object was passed to the function `SavedModelLoader.restore_variables`. Since "
                             "there are variables in the graph, a saver is required.")

    def run_init_ops(self, sess, tags, import_scope=None):
        """Runs what the model wants run after its variables are restored."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            op = get_init_op(meta_graph, import_scope)
            if op is not None:
                sess.run(op, _assets(meta_graph, self._export_dir, import_scope))


def _assets(meta_graph, export_dir, import_scope):
    """What feeds the names of a model's asset files."""
    prefix = f"{import_scope}/" if import_scope else ""
    return {prefix + asset.tensor_info.name: os.path.join(export_dir, constants.ASSETS_DIRECTORY, asset.filename)
            for asset in meta_graph.asset_file_def}


def _op_of(meta_graph_def, signature, collections, import_scope):
    """The operation that a signature or a collection of a model names, in the default graph; None when none does."""
    if signature in meta_graph_def.signature_def:
        return signatures.load_op_from_signature_def(meta_graph_def.signature_def[signature], signature, import_scope)
    for key in collections:
        names = meta_graph_def.collection_def[key].node_list.value if key in meta_graph_def.collection_def else ()
        if len(names) > 1:
            raise RuntimeError(f"Expected zero or one singleton ops in {key}, not {len(names)}")
        if names:
            name = f"{import_scope}/{names[0]}" if import_scope else names[0]
            try:
                return get_default_graph().as_graph_element(name)
            except KeyError as error:
                raise errors.NotFoundError(None, None, str(error)) from None
    return None


def get_init_op(meta_graph_def, import_scope=None):
    """What a model wants run after its variables are restored, or None."""
    return _op_of(meta_graph_def, constants.INIT_OP_SIGNATURE_KEY, (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY),
                  import_scope)


def get_train_op(meta_graph_def, import_scope=None):
    """What trains a model, or None."""
    return _op_of(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, (constants.TRAIN_OP_KEY,), import_scope)
