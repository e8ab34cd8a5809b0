"""tf.contrib.layers.regression_target and its like: losses, predictions and metrics of models, which heads took over."""

import weir as tf
from weir.contrib.learn.estimators.head import _column, _log_loss, _softmax_loss, _squared, _two_class_metrics
from weir.contrib.learn.estimators.model_fn import MetricKey, ProblemType


def regression_target(label_name=None, weight_column_name=None, label_dimension=1):
    """Targets that are numbers; the loss is the mean of squared differences."""
    return _RegressionTarget(_squared, label_dimension, label_name, weight_column_name, ProblemType.LINEAR_REGRESSION)


def multi_class_target(n_classes, label_name=None, weight_column_name=None):
    """Targets that are classes; the loss is the mean of cross entropies."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return _ClassTarget(_log_loss if n_classes == 2 else _softmax_loss, 1 if n_classes == 2 else n_classes, label_name,
                        weight_column_name, ProblemType.CLASSIFICATION)


def binary_svm_target(label_name=None, weight_column_name=None):
    """Targets that are one of two classes; the loss is the hinge loss."""
    return _SvmTarget(_hinge, 1, label_name, weight_column_name, ProblemType.CLASSIFICATION)


def _hinge(labels, logits):
    check = tf.Assert(tf.less_equal(tf.rank(labels), 2), ["target's shape should be either [batch_size, 1] or [batch_size]"])
    with tf.control_dependencies([check]):
        sign = 2.0 * tf.to_float(tf.reshape(labels, [tf.shape(labels)[0], 1])) - 1.0
    return tf.nn.relu(1.0 - sign * logits)


class _Target:
    def __init__(self, loss_fn, num_label_columns, label_name, weight_column_name, problem_type):
        self._loss_fn, self._num_label_columns, self._label_name = loss_fn, num_label_columns, label_name
        self._weight_column_name, self._problem_type = weight_column_name, problem_type

    label_name = property(lambda self: self._label_name)
    weight_column_name = property(lambda self: self._weight_column_name)
    num_label_columns = property(lambda self: self._num_label_columns)
    problem_type = property(lambda self: self._problem_type)

    def get_weight_tensor(self, features):
        """The weights of examples, or None."""
        if not self._weight_column_name:
            return None
        return tf.reshape(tf.to_float(features[self._weight_column_name]), [-1])

    def _losses(self, logits, target, features):
        """(the losses, by their weights; the weights)"""
        target = target[self._label_name] if isinstance(target, dict) else target
        losses, weights = self._loss_fn(target, logits), self.get_weight_tensor(features)
        return losses if weights is None else tf.reshape(losses, [-1]) * weights, weights

    def training_loss(self, logits, target, features, name="training_loss"):
        """The mean of losses times weights."""
        return tf.reduce_mean(self._losses(logits, target, features)[0], name=name)

    def loss(self, logits, target, features):
        """The mean of losses by their weights."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return tf.reduce_mean(losses, name="loss")
        return tf.div(tf.reduce_sum(losses), tf.reduce_sum(weights), name="loss")

    def _measured(self, predictions, labels, metrics, features):
        weights = self.get_weight_tensor(features)
        more = {} if weights is None else {"weights": weights}
        labels = tf.cast(labels, predictions.dtype)
        return {name: metric(predictions, labels, **more) for name, metric in (metrics or {}).items()}


class _RegressionTarget(_Target):
    def logits_to_predictions(self, logits, proba=False):
        return tf.squeeze(logits, axis=[1]) if self._num_label_columns == 1 else logits

    def get_eval_ops(self, features, logits, labels, metrics=None):
        return {MetricKey.LOSS: tf.metrics.mean(self.loss(logits, labels, features)),
                **self._measured(self.logits_to_predictions(logits), labels, metrics, features)}


class _ClassTarget(_Target):
    def logits_to_predictions(self, logits, proba=False):
        if self._num_label_columns == 1:
            logits = tf.concat([tf.zeros_like(logits), logits], 1)
        return tf.nn.softmax(logits) if proba else tf.argmax(logits, 1)

    def get_eval_ops(self, features, logits, labels, metrics=None):
        """Metrics by name; a name may say what it is of: ("accuracy", "classes"), ("auc", "probabilities")."""
        result = {MetricKey.LOSS: tf.metrics.mean(self.loss(logits, labels, features))}
        if self._num_label_columns == 1:
            result.update(_two_class_metrics(tf.sigmoid(logits), labels, None, [0.5]))
        kinds = {"classes": {}, "probabilities": {}}
        if metrics is None:
            metrics = {("accuracy", "classes"): tf.contrib.metrics.streaming_accuracy}
        for name, metric in metrics.items():
            name, kind = name if isinstance(name, tuple) and len(name) == 2 else (name, "classes")
            if not isinstance(name, str) or kind not in kinds:
                raise ValueError(f"Ignoring metric {name}. Its name is not in the correct form; the 2nd element should be "
                                 "either 'classes' or 'probabilities'.")
            kinds[kind][name] = metric
        for kind, chosen in kinds.items():
            if chosen:
                predictions = self.logits_to_predictions(logits, proba=kind == "probabilities")
                flat = tf.reshape(labels, [-1]) if kind == "classes" else labels
                result.update(self._measured(predictions, flat, chosen, features))
        return result


class _SvmTarget(_ClassTarget):
    def logits_to_predictions(self, logits, proba=False):
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)
