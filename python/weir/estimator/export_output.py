"""What of a model is exported: heads give outputs that turn into signatures."""

import weir as tf
from weir.saved_model import signatures

_SEPARATOR = "/"
_DEFAULT_SERVING = "serving_default"


def _checked_key(key, label):
    if isinstance(key, tuple):
        key = _SEPARATOR.join(key)
    if not isinstance(key, str):
        raise ValueError(f"{label} output key must be a string; got {key}.")
    return key


def _by_name(outputs, single_name, label=None):
    """``{name: tensor}`` of tensors by name or of one tensor."""
    label = label or single_name
    if not isinstance(outputs, dict):
        outputs = {single_name: outputs}
    found = {}
    for key, value in outputs.items():
        key = _checked_key(key, label)
        if not isinstance(value, tf.Tensor):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
        found[key] = value
    return found


class ExportOutput:
    """An output of a model that can be served."""

    def as_signature_def(self, receiver_tensors):
        raise NotImplementedError


def _examples(receiver_tensors, kind):
    examples = next(iter(receiver_tensors.values())) if len(receiver_tensors) == 1 else None
    if examples is None or examples.dtype.base_dtype != tf.string:
        raise ValueError(f"{kind} input must be a single string Tensor; got {receiver_tensors}")
    return examples


class ClassificationOutput(ExportOutput):
    """Scores and the names of classes."""

    def __init__(self, scores=None, classes=None):
        if scores is not None and not (isinstance(scores, tf.Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, tf.Tensor) and classes.dtype == tf.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores, self._classes = scores, classes

    scores = property(lambda self: self._scores)
    classes = property(lambda self: self._classes)

    def as_signature_def(self, receiver_tensors):
        return signatures.classification_signature_def(_examples(receiver_tensors, "Classification"), self.classes,
                                                       self.scores)


class RegressionOutput(ExportOutput):
    def __init__(self, value):
        if not (isinstance(value, tf.Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    value = property(lambda self: self._value)

    def as_signature_def(self, receiver_tensors):
        return signatures.regression_signature_def(_examples(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """Any tensors by name."""

    def __init__(self, outputs):
        self._outputs = _by_name(outputs, "output", "Prediction")

    outputs = property(lambda self: self._outputs)

    def as_signature_def(self, receiver_tensors):
        return signatures.predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a graph that trains or evaluates."""

    _method_name = None

    def __init__(self, loss=None, predictions=None, metrics=None):
        self._loss = None if loss is None else _prefixed(_by_name(loss, "loss"), "loss")
        self._predictions = None if predictions is None else _prefixed(_by_name(predictions, "predictions"),
                                                                       "predictions")
        self._metrics = None if metrics is None else _metric_outputs(metrics)

    loss = property(lambda self: self._loss)
    predictions = property(lambda self: self._predictions)
    metrics = property(lambda self: self._metrics)

    def as_signature_def(self, receiver_tensors):
        if not receiver_tensors:
            raise ValueError(f"{self._kind} inputs cannot be None or empty.")
        outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        return signatures.build_signature_def(
            {name: signatures.build_tensor_info(tensor) for name, tensor in receiver_tensors.items()},
            {name: signatures.build_tensor_info(tensor) for name, tensor in outputs.items()}, self._method_name)


class TrainOutput(_SupervisedOutput):
    _kind, _method_name = "Training", "tensorflow/supervised/training"


class EvalOutput(_SupervisedOutput):
    _kind, _method_name = "Evaluation", "tensorflow/supervised/eval"


def _prefix(key, name):
    return key if key.startswith(name) else name + _SEPARATOR + key


def _prefixed(outputs, name):
    return {_prefix(key, name): value for key, value in outputs.items()}


def _metric_outputs(metrics):
    if not isinstance(metrics, dict):
        metrics = {"metrics": metrics}
    outputs = {}
    for key, (value, update) in metrics.items():
        key = _prefix(_checked_key(key, "metrics"), "metrics")
        if not isinstance(value, tf.Tensor):
            raise ValueError(f"{key} output value must be a Tensor; got {value}.")
        if not isinstance(update, (tf.Tensor, tf.Operation)):
            raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
        if isinstance(update, tf.Operation):
            with tf.control_dependencies([update]):
                update = tf.constant([], name="metric_op_wrapper")
        outputs[key + "/value"], outputs[key + "/update_op"] = value, update
    return outputs


def _export_outputs(export_outputs, predictions):
    """The outputs of a model in prediction mode, one of which is the default of servers."""
    if export_outputs is None:
        export_outputs = {_DEFAULT_SERVING: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(value, ExportOutput) for value in export_outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}")
    if len(export_outputs) == 1:
        export_outputs.setdefault(_DEFAULT_SERVING, next(iter(export_outputs.values())))
    elif export_outputs and _DEFAULT_SERVING not in export_outputs:
        raise ValueError("Multiple export_outputs were provided, but none of them is specified as the default.  Do this "
                         "by naming one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY.")
    return export_outputs
