"""What goes into a graph and comes out of it, as SignatureDef messages."""

from weir import errors, protos
from weir.core import dtypes
from weir.core.graph import Tensor
from weir.core.stack import get_default_graph
from weir.ops.sparse_ops import SparseTensor
from weir.saved_model import constants


def build_tensor_info(tensor):
    """The TensorInfo of a tensor or a sparse tensor."""
    info = protos.TensorInfo(dtype=dtypes.as_dtype(tensor.dtype).base_dtype.as_datatype_enum,
                             tensor_shape=tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor that a TensorInfo describes, in a graph that it was imported into."""
    graph = graph or get_default_graph()

    def get(name):
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return get(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(get(parts.indices_tensor_name), get(parts.values_tensor_name),
                            get(parts.dense_shape_tensor_name))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def build_signature_def(inputs=None, outputs=None, method_name=None):
    """A SignatureDef of TensorInfos by name."""
    signature = protos.SignatureDef()
    for given, messages in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for name, info in (given or {}).items():
            messages[name].CopyFrom(info)
    if method_name is not None:
        signature.method_name = method_name
    return signature


def _infos(tensors):
    return {name: build_tensor_info(tensor) for name, tensor in tensors.items()}


def predict_signature_def(inputs, outputs):
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), constants.PREDICT_METHOD_NAME)


def regression_signature_def(examples, predictions):
    if examples is None:
        raise ValueError("Regression examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Regression examples must be a string Tensor.")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    if examples.dtype.base_dtype != dtypes.as_dtype("string"):
        raise ValueError(f"Regression input tensors must be of type string. Found tensors with type {examples.dtype}.")
    return build_signature_def(_infos({constants.REGRESS_INPUTS: examples}),
                               _infos({constants.REGRESS_OUTPUTS: predictions}), constants.REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Classification examples must be a string Tensor.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        outputs[constants.CLASSIFY_OUTPUT_CLASSES] = classes
    if scores is not None:
        outputs[constants.CLASSIFY_OUTPUT_SCORES] = scores
    return build_signature_def(_infos({constants.CLASSIFY_INPUTS: examples}), _infos(outputs),
                               constants.CLASSIFY_METHOD_NAME)


_NO_TENSOR = 20  # DT_RESOURCE, which stands for an operation


def op_signature_def(op, key):
    """A signature of one output, the name of an operation."""
    info = build_tensor_info(op) if hasattr(op, "dtype") else protos.TensorInfo(name=op.name, dtype=_NO_TENSOR)
    return build_signature_def(outputs={key: info})


def load_op_from_signature_def(signature_def, key, import_scope=None):
    """The operation that such a signature names, in the default graph."""
    name = signature_def.outputs[key].name
    try:
        return get_default_graph().as_graph_element(f"{import_scope}/{name}" if import_scope else name)
    except KeyError as error:
        raise errors.NotFoundError(None, None, f'The {key} could not be found in the graph. Please make sure the SavedModel '
                                   f"was created by the internal _SavedModelBuilder: {error}") from None


def _supervised_signature_def(method_name, inputs, loss, predictions, metrics):
    if inputs is None or not inputs:
        raise ValueError(f"{method_name} inputs cannot be None or empty.")
    outputs = {}
    for values in (loss, predictions, metrics):
        outputs.update(_infos(values or {}))
    return build_signature_def(_infos(inputs), outputs, method_name)


def supervised_train_signature_def(inputs, loss, predictions=None, metrics=None):
    return _supervised_signature_def(constants.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(inputs, loss, predictions=None, metrics=None):
    return _supervised_signature_def(constants.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _has_types(infos, allowed):
    """Whether all are there under names that are allowed, with the types that belong to these."""
    return all(name in allowed and info.dtype == dtypes.as_dtype(allowed[name]).as_datatype_enum
               for name, info in infos.items())


def is_valid_signature(signature_def):
    """Whether a signature is one that TensorFlow's servers know."""
    if signature_def is None or not signature_def.outputs or not signature_def.inputs:
        return False
    method, inputs, outputs = signature_def.method_name, signature_def.inputs, signature_def.outputs
    if method == constants.CLASSIFY_METHOD_NAME:
        return _has_types(inputs, {constants.CLASSIFY_INPUTS: "string"}) and _has_types(
            outputs, {constants.CLASSIFY_OUTPUT_CLASSES: "string", constants.CLASSIFY_OUTPUT_SCORES: "float32"})
    if method == constants.REGRESS_METHOD_NAME:
        return _has_types(inputs, {constants.REGRESS_INPUTS: "string"}) and _has_types(
            outputs, {constants.REGRESS_OUTPUTS: "float32"})
    return method == constants.PREDICT_METHOD_NAME
