"""SavedModels, read."""

import os

from weir import _weir, errors, protos


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
