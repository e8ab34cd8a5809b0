"""What a model function is asked for (ModeKeys) and what it gives (EstimatorSpec)."""

import collections

import weir as tf
from weir import logging, nest
from weir.estimator import export_output
from weir.estimator.functions import fn_args, wanted

_LOSS_METRIC_KEY = "loss"


class ModeKeys:
    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


_FIELDS = ("mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs", "training_chief_hooks",
           "training_hooks", "scaffold", "evaluation_hooks", "prediction_hooks")


class EstimatorSpec(collections.namedtuple("EstimatorSpec", _FIELDS)):
    """The operations and tensors of a model in one mode."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None, evaluation_hooks=None,
                prediction_hooks=None):
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = export_output._export_outputs(export_outputs, predictions)
        return super().__new__(
            cls, mode=mode, predictions=predictions, loss=loss, train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops), export_outputs=export_outputs,
            training_chief_hooks=_checked_hooks(training_chief_hooks), training_hooks=_checked_hooks(training_hooks),
            scaffold=_checked_scaffold(scaffold), evaluation_hooks=_checked_hooks(evaluation_hooks),
            prediction_hooks=_checked_hooks(prediction_hooks))

    def _replace(self, **kwds):
        if "mode" in kwds and self.mode != kwds["mode"]:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**dict(zip(self._fields, self)), **kwds})


def _is_tensor(value):
    return isinstance(value, (tf.Tensor, tf.Variable))


def _in_default_graph(kind, name, graph):
    if graph is not tf.get_default_graph():
        raise ValueError(f'{kind} with "{name}" must be from the default graph. Possible causes of this error include: '
                         f"\n\n1) {kind} was created outside the context of the default graph.\n\n2) The object passed "
                         'through to EstimatorSpec was not created in the most recent call to "model_fn".')


def _checked_tensor(value, name):
    if not _is_tensor(value):
        raise TypeError(f"{name} must be Tensor, given: {value}")
    return value


def _checked_train_op(train_op, mode):
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not (isinstance(train_op, tf.Operation) or _is_tensor(train_op)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, tf.Variable):
        train_op = train_op.op
    _in_default_graph("train_op", train_op.name, train_op.graph)
    return train_op


def _checked_loss(loss, mode):
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = _checked_tensor(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with(tf.TensorShape([])):
        loss = tf.reshape(loss, [])
    _in_default_graph("loss", loss.name, loss.graph)
    return loss


def _checked_predictions(predictions, mode):
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        predictions = _checked_tensor(predictions, "predictions")
        _in_default_graph("prediction values", predictions.name, predictions.graph)
        return predictions
    for key, value in predictions.items():
        _checked_tensor(value, f"predictions[{key}]")
        _in_default_graph("prediction values", f"{key}: {value.name}", value.graph)
    return dict(predictions)


def _checked_hooks(hooks):
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


def _checked_metrics(metrics):
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, value in list(metrics.items()):
        if hasattr(value, "update_state") and hasattr(value, "result"):  # a metric of Keras
            metrics[key] = value = _metric_ops(value)
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError("Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                            f"{value} for key: {key}")
        for part in nest.flatten(value):
            _in_default_graph("eval_metric_ops", f"{key}: {part.name}", part.graph)
    return metrics


def _metric_ops(metric):
    if not metric.updates:
        raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
    for collection in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES):
        known = tf.get_collection(collection)
        for variable in metric.variables:
            if not any(variable is other for other in known):
                tf.add_to_collection(collection, variable)
    return metric.result(), metric.updates[0]


def _checked_scaffold(scaffold):
    scaffold = scaffold or tf.train.Scaffold()
    if not isinstance(scaffold, tf.train.Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def call_logit_fn(logit_fn, features, mode, params, config):
    """Calls a function that gives logits, with those arguments that it has."""
    logits = logit_fn(features=features, **wanted(logit_fn, {"mode": mode, "params": params, "config": config}))
    by_name = isinstance(logits, dict) and all(isinstance(key, str) and isinstance(value, tf.Tensor)
                                               for key, value in logits.items())
    if not by_name and not isinstance(logits, tf.Tensor):
        raise ValueError("logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn "
                         f"returned: {logits}")
    return logits


_MODEL_FN_ARGS = {"features", "labels", "mode", "params", "self", "config"}


def verify_model_fn_args(model_fn, params):
    """Raises for a model function that cannot be called."""
    arguments = set(fn_args(model_fn))
    if "features" not in arguments:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in arguments:
        raise ValueError(f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to "
                         "Estimator.")
    if params is None and "params" in arguments:
        logging.warning("Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.",
                        model_fn)
    unknown = list(arguments - _MODEL_FN_ARGS)
    if unknown:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")
