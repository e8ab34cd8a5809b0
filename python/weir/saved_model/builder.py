"""SavedModels, written."""

import os

from weir import _weir, errors, logging
from weir.core.graph import GraphKeys, Operation, Tensor, get_collection
from weir.core.stack import get_default_graph
from weir.core.variables import Variable
from weir.saved_model import constants, signatures
from weir.train.collection_objects import _foreign_collections
from weir.train.saver import Saver


class SavedModelBuilder:
    """Writes a model: ``add_meta_graph_and_variables`` for the first graph, ``add_meta_graph`` for others with the same
    variables, and ``save``."""

    def __init__(self, export_dir):
        self._export_dir = os.fsdecode(export_dir)
        self._has_saved_variables = False
        try:
            self._impl = _weir.SavedModelBuilder(self._export_dir)
        except errors.AlreadyExistsError as error:
            raise AssertionError(error.message) from None

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_collection=None,
                                     legacy_init_op=None, clear_devices=False, main_op=None, strip_default_attrs=False,
                                     saver=None, assets_list=None, init_op=None, train_op=None):
        if self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke "
                                 "`add_meta_graph()` instead.")
        signature_def_map = _with_train_op(signature_def_map, train_op)
        options = self._options(sess.graph, tags, signature_def_map, assets_collection or assets_list,
                                main_op or legacy_init_op or init_op, clear_devices, saver, strip_default_attrs)
        self._impl.add_meta_graph_and_variables(sess, sess.graph, options)
        self._has_saved_variables = True

    def add_meta_graph(self, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None,
                       clear_devices=False, main_op=None, strip_default_attrs=False, saver=None, assets_list=None,
                       init_op=None, train_op=None):
        if not self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke "
                                 "`add_meta_graph_and_variables()` first.")
        graph = get_default_graph()
        signature_def_map = _with_train_op(signature_def_map, train_op)
        options = self._options(graph, tags, signature_def_map, assets_collection or assets_list,
                                main_op or legacy_init_op or init_op, clear_devices, saver, strip_default_attrs)
        self._impl.add_meta_graph(graph, options)

    @staticmethod
    def _options(graph, tags, signature_def_map, assets, main_op, clear_devices, saver, strip_default_attrs):
        for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
            if main_op is not None and graph.get_collection(key):
                raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
        for signature in (signature_def_map or {}).values():
            for info in (*signature.inputs.values(), *signature.outputs.values()):
                if info.WhichOneof("encoding") is None:
                    raise AssertionError("All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' "
                                         f"fields (e.g., name or coo_sparse) set:\n{info}")
                if not info.dtype:
                    raise AssertionError(f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}")
        if saver is None and graph.get_collection(GraphKeys.SAVEABLE_OBJECTS):
            with graph.as_default():
                saver = Saver(sharded=True, allow_empty=True)
        return {"tags": list(tags), "main_op": None if main_op is None else main_op.name, "assets": list(assets or ()),
                "signatures": {name: signature.SerializeToString() for name, signature in (signature_def_map or {}).items()},
                "clear_devices": bool(clear_devices), "strip_default_attrs": bool(strip_default_attrs), "collections": _foreign_collections(graph, None),
                "saver": None if saver is None else saver._built()}

    def save(self, as_text=False):
        path = self._impl.save(bool(as_text))
        logging.info("SavedModel written to: %s", path)
        return path.encode()


def _with_train_op(signature_def_map, train_op):
    """The signatures and one that names what trains the model."""
    if train_op is None:
        return signature_def_map
    if not isinstance(train_op, (Tensor, Operation, Variable)):
        raise TypeError(f"train_op needs to be a Tensor or Op: {train_op!r}")
    key = constants.TRAIN_OP_SIGNATURE_KEY
    return {**(signature_def_map or {}), key: signatures.op_signature_def(train_op, key)}


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """A model with one signature for serving."""
    signature = signatures.predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, tags=[constants.SERVING],
        signature_def_map={constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_collection("asset_filepaths"), main_op=legacy_init_op, clear_devices=True)
    builder.save()
