"""Heads of classifiers: two classes, many, or several of many at once."""

import weir as tf
from weir.estimator import export_output
from weir.estimator.head import checks
from weir.estimator.head.base_head import Head
from weir.estimator.head.keys import MetricKeys, PredictionKeys

_SERVING = "serving_default"


def _checked_vocabulary(vocabulary):
    if vocabulary is not None and not isinstance(vocabulary, (list, tuple)):
        raise ValueError(f"label_vocabulary must be a list or tuple. Given type: {type(vocabulary)}; it should be a list or a tuple")
    return vocabulary


def _class_names(n_classes, vocabulary):
    return vocabulary if vocabulary else tf.as_string(tf.range(n_classes))


def _for_each_example(values, logits):
    return tf.tile(tf.expand_dims(values, axis=0), multiples=[tf.shape(logits)[0], 1])


def _named(class_ids, vocabulary):
    """The names of classes: those of a vocabulary, or numbers as texts."""
    if not vocabulary:
        return tf.as_string(class_ids, name="str_classes")
    return tf.contrib.lookup.index_to_string_table_from_tensor(list(vocabulary),
                                                               name="class_string_lookup").lookup(class_ids)


def _classification(scores, n_classes, vocabulary):
    return export_output.ClassificationOutput(scores=scores, classes=_for_each_example(
        _class_names(n_classes, vocabulary), scores))


def _label_ids(labels, vocabulary, n_classes, binary=False):
    """Labels as class numbers."""
    if vocabulary is None:
        if binary:
            return checks.checked_range(tf.to_float(labels), n_classes)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return checks.checked_range(labels, n_classes)
    if labels.dtype != tf.string:
        raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}")
    ids = tf.contrib.lookup.index_table_from_tensor(tuple(vocabulary), name="class_id_lookup").lookup(labels)
    return checks.checked_range(tf.to_float(ids) if binary else ids, n_classes)


class MultiClassHead(Head):
    """One of more than two classes."""

    def __init__(self, n_classes, weight_column=None, label_vocabulary=None,
                 loss_reduction="weighted_sum_over_batch_size", loss_fn=None, name=None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if isinstance(n_classes, int) and n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._n_classes, self._label_vocabulary = n_classes, _checked_vocabulary(label_vocabulary)

    logits_dimension = property(lambda self: self._n_classes)

    def _read(self, logits):
        with tf.name_scope(None, "predictions", (logits,)):
            all_ids = _for_each_example(tf.range(self._n_classes), logits)
            all_classes = _for_each_example(_class_names(self._n_classes, self._label_vocabulary), logits)
            class_ids = tf.expand_dims(tf.argmax(logits, axis=-1, name=PredictionKeys.CLASS_IDS), axis=-1)
            classes = _named(class_ids, self._label_vocabulary)
            probabilities = tf.nn.softmax(logits, name=PredictionKeys.PROBABILITIES)
            predictions = {PredictionKeys.LOGITS: logits, PredictionKeys.PROBABILITIES: probabilities,
                           PredictionKeys.CLASS_IDS: class_ids, PredictionKeys.CLASSES: classes,
                           PredictionKeys.ALL_CLASS_IDS: all_ids, PredictionKeys.ALL_CLASSES: all_classes}
        output = _classification(probabilities, self._n_classes, self._label_vocabulary)
        return predictions, {_SERVING: output, "classification": output}, class_ids

    def _losses(self, features, logits, labels):
        ids = _label_ids(checks.checked_labels(labels, logits, 1), self._label_vocabulary, self._n_classes)
        if self._loss_fn:
            return checks.called_loss_fn(self._loss_fn, ids, logits, features), ids
        losses = tf.losses.sparse_softmax_cross_entropy(ids, logits, reduction=tf.losses.Reduction.NONE)
        return tf.expand_dims(losses, axis=-1), ids

    def _metrics(self, read, labels, weights, losses, regularization_loss):
        with tf.name_scope(None, "metrics", (labels, read, weights, losses)):
            return self._with_regularization({
                self._key(MetricKeys.LOSS_MEAN): tf.metrics.mean(losses, weights=weights, name=MetricKeys.LOSS_MEAN),
                self._key(MetricKeys.ACCURACY): tf.metrics.accuracy(labels, read, weights=weights,
                                                                    name=MetricKeys.ACCURACY)}, regularization_loss)


def _mean(values, weights, name):
    with tf.name_scope(name, "mean", (values, weights)) as scope:
        values = tf.to_float(values)
        return tf.metrics.mean(values, weights=_spread(weights, values), name=scope)


def _spread(weights, values):
    """Weights of the same shape as values."""
    return tf.to_float(weights) * tf.ones_like(values)


def _auc(labels, predictions, weights, curve, name, summation="trapezoidal"):
    with tf.name_scope(name, "auc", (predictions, labels, weights)) as scope:
        predictions = tf.to_float(predictions)
        return tf.metrics.auc(labels, predictions, weights=_spread(weights, predictions), curve=curve, name=scope,
                              summation_method=summation)


def _squeezed(metric):
    value, update = metric
    return tf.squeeze(value), tf.squeeze(update)


def _threshold_metrics(head, metrics, labels, predictions, weights, thresholds):
    for threshold in thresholds:
        above = tf.to_float(tf.greater_equal(predictions, threshold))
        metrics[head._key(MetricKeys.ACCURACY_AT_THRESHOLD % threshold)] = tf.metrics.accuracy(
            labels, above, weights=weights, name=f"accuracy_at_{threshold}")
        metrics[head._key(MetricKeys.PRECISION_AT_THRESHOLD % threshold)] = _squeezed(
            tf.metrics.precision_at_thresholds(labels, predictions, thresholds=(threshold,), weights=weights,
                                               name=f"precision_at_{threshold}"))
        metrics[head._key(MetricKeys.RECALL_AT_THRESHOLD % threshold)] = _squeezed(
            tf.metrics.recall_at_thresholds(labels, predictions, thresholds=(threshold,), weights=weights,
                                            name=f"recall_at_{threshold}"))
    return metrics


def _checked_thresholds(thresholds):
    thresholds = tuple(thresholds or ())
    for threshold in thresholds:
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}; thresholds not in (0, 1): {thresholds}.")
    return thresholds


class BinaryClassHead(Head):
    """One of two classes, by one logit."""

    _pr_summation = "careful_interpolation"  # "trapezoidal" in the heads that functions make

    def __init__(self, weight_column=None, thresholds=None, label_vocabulary=None,
                 loss_reduction="weighted_sum_over_batch_size", loss_fn=None, name=None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds, self._label_vocabulary = _checked_thresholds(thresholds), _checked_vocabulary(label_vocabulary)

    logits_dimension = property(lambda self: 1)

    def _read(self, logits):
        with tf.name_scope(None, "predictions", (logits,)):
            logistic = tf.sigmoid(logits, name=PredictionKeys.LOGISTIC)
            two = tf.concat((tf.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            probabilities = tf.nn.softmax(two, name=PredictionKeys.PROBABILITIES)
            class_ids = tf.expand_dims(tf.argmax(two, axis=-1, name=PredictionKeys.CLASS_IDS), axis=-1)
            all_ids = _for_each_example(tf.range(2), logits)
            all_classes = _for_each_example(_class_names(2, self._label_vocabulary), logits)
            predictions = {PredictionKeys.LOGITS: logits, PredictionKeys.LOGISTIC: logistic,
                           PredictionKeys.PROBABILITIES: probabilities, PredictionKeys.CLASS_IDS: class_ids,
                           PredictionKeys.CLASSES: _named(class_ids, self._label_vocabulary),
                           PredictionKeys.ALL_CLASS_IDS: all_ids, PredictionKeys.ALL_CLASSES: all_classes}
        output = _classification(probabilities, 2, self._label_vocabulary)
        outputs = {_SERVING: output, "classification": output,
                   "regression": export_output.RegressionOutput(value=logistic)}
        return predictions, outputs, (logistic, class_ids)

    def _losses(self, features, logits, labels):
        labels = _label_ids(checks.checked_labels(labels, logits, 1), self._label_vocabulary, 2, binary=True)
        if self._loss_fn:
            return checks.called_loss_fn(self._loss_fn, labels, logits, features), labels
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), labels

    def _metrics(self, read, labels, weights, losses, regularization_loss):
        logistic, class_ids = read
        with tf.name_scope(None, "metrics", (labels, logistic, class_ids, weights, losses)):
            labels_mean = _mean(labels, weights, MetricKeys.LABEL_MEAN)
            baseline = tuple(tf.maximum(part, 1 - part) for part in labels_mean)
            metrics = {
                MetricKeys.LOSS_MEAN: tf.metrics.mean(losses, weights=weights, name=MetricKeys.LOSS_MEAN),
                MetricKeys.ACCURACY: tf.metrics.accuracy(labels, class_ids, weights=weights, name=MetricKeys.ACCURACY),
                MetricKeys.PRECISION: tf.metrics.precision(labels, class_ids, weights=weights,
                                                           name=MetricKeys.PRECISION),
                MetricKeys.RECALL: tf.metrics.recall(labels, class_ids, weights=weights, name=MetricKeys.RECALL),
                MetricKeys.PREDICTION_MEAN: _mean(logistic, weights, MetricKeys.PREDICTION_MEAN),
                MetricKeys.LABEL_MEAN: labels_mean, MetricKeys.ACCURACY_BASELINE: baseline,
                MetricKeys.AUC: _auc(labels, logistic, weights, "ROC", MetricKeys.AUC),
                MetricKeys.AUC_PR: _auc(labels, logistic, weights, "PR", MetricKeys.AUC_PR, self._pr_summation)}
            metrics = {self._key(key): value for key, value in metrics.items()}
            self._with_regularization(metrics, regularization_loss)
            return _threshold_metrics(self, metrics, labels, logistic, weights, self._thresholds)


class MultiLabelHead(Head):
    """Any number of the classes at once."""

    _pr_summation = "careful_interpolation"

    def __init__(self, n_classes, weight_column=None, thresholds=None, label_vocabulary=None,
                 loss_reduction="weighted_sum_over_batch_size", loss_fn=None, classes_for_class_based_metrics=None,
                 name=None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        if label_vocabulary and len(_checked_vocabulary(label_vocabulary)) != n_classes:
            raise ValueError(f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(label_vocabulary)}")
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary
        self._thresholds = _checked_thresholds(thresholds)
        self._classes_of_metrics = tuple(classes_for_class_based_metrics or ())
        for of in self._classes_of_metrics:
            if isinstance(of, int) and not 0 <= of < n_classes:
                raise ValueError(f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. Given: {of}")
            if not isinstance(of, int) and of not in (label_vocabulary or ()):
                raise ValueError(f"{of!r} is not in list")

    logits_dimension = property(lambda self: self._n_classes)

    def _read(self, logits):
        with tf.name_scope(None, "predictions", (logits,)):
            probabilities = tf.sigmoid(logits, name=PredictionKeys.PROBABILITIES)
            predictions = {PredictionKeys.LOGITS: logits, PredictionKeys.PROBABILITIES: probabilities}
        output = _classification(probabilities, self._n_classes, self._label_vocabulary)
        return predictions, {_SERVING: output, "classification": output}, probabilities

    def _indicators(self, logits, labels):
        """1 for each class that an example has."""
        if labels is None:
            checks.checked_labels(labels, logits, self._n_classes)
        if isinstance(labels, tf.SparseTensor):
            ids = labels
            if labels.dtype == tf.string:
                ids = tf.contrib.lookup.index_table_from_tensor(tuple(self._label_vocabulary),
                                                                name="class_id_lookup").lookup(labels)
            return tf.cast(tf.sparse_to_indicator(ids, self._n_classes), tf.int64)
        return checks.checked_labels(labels, logits, self._n_classes)

    def _losses(self, features, logits, labels):
        labels = checks.checked_range(self._indicators(logits, labels), 2,
                                      message="labels must be an integer indicator Tensor with values in [0, 1]")
        if self._loss_fn:
            return checks.called_loss_fn(self._loss_fn, labels, logits, features), labels
        losses = tf.losses.sigmoid_cross_entropy(labels, logits, reduction=tf.losses.Reduction.NONE)
        return tf.reduce_mean(losses, axis=-1, keepdims=True), labels

    def _metrics(self, read, labels, weights, losses, regularization_loss):
        with tf.name_scope(None, "metrics", (labels, read, weights, losses)):
            metrics = {
                self._key(MetricKeys.LOSS_MEAN): tf.metrics.mean(losses, weights=weights, name=MetricKeys.LOSS_MEAN),
                self._key(MetricKeys.AUC): _auc(labels, read, weights, "ROC", MetricKeys.AUC),
                self._key(MetricKeys.AUC_PR): _auc(labels, read, weights, "PR", MetricKeys.AUC_PR, self._pr_summation)}
            self._with_regularization(metrics, regularization_loss)
            _threshold_metrics(self, metrics, labels, read, weights, self._thresholds)
            for of in self._classes_of_metrics:
                index, suffix = (of, "class%d" % of) if isinstance(of, int) else (self._label_vocabulary.index(of), of)
                part, part_labels = read[:, index:index + 1], labels[:, index:index + 1]
                metrics[self._key(f"probability_mean/{suffix}")] = _mean(part, weights, f"probability_mean/{suffix}")
                metrics[self._key(f"auc/{suffix}")] = _auc(part_labels, part, weights, "ROC", f"auc/{suffix}")
                metrics[self._key(f"auc_precision_recall/{suffix}")] = _auc(
                    part_labels, part, weights, "PR", f"auc_precision_recall/{suffix}", self._pr_summation)
            return metrics


def _class_head(n_classes, weight_column, label_vocabulary, loss_reduction):
    """The head of a classifier."""
    if n_classes == 2:
        head = BinaryClassHead(weight_column=weight_column, label_vocabulary=label_vocabulary,
                               loss_reduction=loss_reduction)
        head._pr_summation = "trapezoidal"  # as that of TensorFlow 1's classifiers
        return head
    return MultiClassHead(n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary,
                          loss_reduction=loss_reduction)
