"""Head: predictions, loss, metrics and the training operation of a model, made of its logits."""

import abc
import collections

import weir as tf
from weir.estimator import export_output
from weir.estimator.head import checks
from weir.estimator.head.keys import MetricKeys
from weir.estimator.model_fn import EstimatorSpec, ModeKeys

_LossSpec = collections.namedtuple("LossSpec", ["training_loss", "unreduced_loss", "weights", "processed_labels"])


class Head(metaclass=abc.ABCMeta):
    """What of a model comes after the logits. Subclasses say how logits are read and compared with labels."""

    def __init__(self, weight_column=None, loss_reduction="weighted_sum", loss_fn=None, name=None):
        self._weight_column, self._name = weight_column, name
        self._loss_reduction = checks.checked_reduction(loss_reduction)
        self._loss_fn = checks.checked_loss_fn(loss_fn)

    name = property(lambda self: self._name)
    loss_reduction = property(lambda self: self._loss_reduction)

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """The size of the last dimension of logits."""

    @abc.abstractmethod
    def _read(self, logits):
        """(predictions by name, outputs that are exported, what metrics need of them)"""

    @abc.abstractmethod
    def _losses(self, features, logits, labels):
        """(the loss of each example, labels as they are compared)"""

    @abc.abstractmethod
    def _metrics(self, read, labels, weights, losses, regularization_loss):
        """The metrics by name."""

    _weights_of_each_logit = False

    def create_loss(self, features, mode, logits, labels):
        """(training_loss, unreduced_loss, weights, processed_labels)"""
        logits = tf.convert_to_tensor(logits)
        losses, labels = self._losses(features, logits, labels)
        weights = checks.weights_of(features, self._weight_column, logits, self._weights_of_each_logit)
        total = tf.losses.compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)
        return _LossSpec(total, losses, weights, labels)

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        total = self.create_loss(features or {}, mode, logits, labels).training_loss
        return tf.add_n([total, tf.add_n(regularization_losses)]) if regularization_losses else total

    def predictions(self, logits, keys=None):
        read = self._read(checks.checked_logits(logits, self.logits_dimension))[0]
        return read if keys is None else {key: read[key] for key in keys}

    def _key(self, key):
        return f"{key}/{self._name}" if self._name else key

    def create_estimator_spec(self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None,
                              regularization_losses=None, trainable_variables=None, update_ops=None):
        """The EstimatorSpec of a model in a mode."""
        with tf.name_scope(self._name, "head"):
            logits = checks.checked_logits(logits, self.logits_dimension)
            predictions, outputs, read = self._read(logits)
            if mode == ModeKeys.PREDICT:
                exported = {**outputs, "predict": export_output.PredictOutput(predictions)}
                return EstimatorSpec(mode=mode, predictions=predictions, export_outputs=exported)
            spec = self.create_loss(features=features, mode=mode, logits=logits, labels=labels)
            loss, regularization_loss = spec.training_loss, None
            if regularization_losses:
                regularization_loss = tf.add_n(regularization_losses)
                loss = tf.add_n([loss, regularization_loss])
            if mode == ModeKeys.EVAL:
                return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=self._metrics(
                    read, spec.processed_labels, spec.weights, spec.unreduced_loss, regularization_loss))
            train_op = _train_op(loss, optimizer, train_op_fn, trainable_variables, update_ops)
            mean_loss = None
            if self._loss_reduction == tf.losses.Reduction.SUM:
                mean_loss = spec.training_loss / tf.reduce_sum(spec.weights * tf.ones_like(spec.unreduced_loss))
        with tf.name_scope(""):
            tf.summary.scalar(self._key(MetricKeys.LOSS), loss)
            if mean_loss is not None:
                tf.summary.scalar(self._key(MetricKeys.LOSS_MEAN), mean_loss)
            if regularization_loss is not None:
                tf.summary.scalar(self._key(MetricKeys.LOSS_REGULARIZATION), regularization_loss)
        return EstimatorSpec(mode=ModeKeys.TRAIN, predictions=predictions, loss=loss, train_op=train_op)

    def _with_regularization(self, metrics, regularization_loss):
        if regularization_loss is not None:
            metrics[self._key(MetricKeys.LOSS_REGULARIZATION)] = tf.metrics.mean(
                regularization_loss, name=MetricKeys.LOSS_REGULARIZATION)
        return metrics


def _train_op(loss, optimizer, train_op_fn, trainable_variables=None, update_ops=None):
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        given = {} if trainable_variables is None else {"var_list": trainable_variables}
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step(), **given)
    elif train_op_fn is not None:
        train_op = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
    return tf.group(train_op, *updates) if updates else train_op
