"""tf.contrib.learn's heads: predictions, loss and metrics of logits."""

import abc

import weir as tf
from weir.contrib.layers.layers import linear as _linear_layer
from weir.contrib.learn.estimators.model_fn import MetricKey, ModeKeys, ModelFnOps, PredictionKey, ProblemType


class Head(metaclass=abc.ABCMeta):
    """What of a model comes after the logits."""

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """The size of the last dimension of logits."""

    @abc.abstractmethod
    def create_model_fn_ops(self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None,
                            scope=None):
        """The ModelFnOps of a model in a mode."""


def no_op_train_fn(loss):
    return tf.no_op()


def _weighted(losses, weights):
    """(the loss that is trained, the mean of losses by their weights)"""
    if weights is None:
        loss = tf.reduce_mean(losses, name="loss")
        return loss, loss
    spread = tf.to_float(weights) * tf.ones_like(losses)
    weighted = tf.multiply(losses, spread, name="weighted_loss")
    return (tf.reduce_mean(weighted, name="loss"),
            tf.div(tf.reduce_sum(weighted), tf.reduce_sum(spread), name="weighted_average_loss"))


def _column(tensor):
    return tf.expand_dims(tensor, axis=1) if tensor.get_shape().ndims == 1 else tensor


def _squared(labels, logits):
    return tf.squared_difference(_column(logits), tf.to_float(_column(labels)))


def _log_loss(labels, logits):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=_column(tf.to_float(labels)), logits=logits)


def _softmax_loss(labels, logits):
    if not labels.dtype.is_integer:
        raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
    two = labels.get_shape().ndims == 2
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.squeeze(labels, axis=(1,)) if two else labels,
                                                          logits=logits)
    return tf.expand_dims(loss, axis=1) if two else loss


class _SingleHead(Head):
    _default_name = _problem_type = None

    def __init__(self, logits_dimension, label_name=None, weight_column_name=None, enable_centered_bias=False,
                 head_name=None, loss_fn=None):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._dimension, self._label_name, self._weight_column_name = logits_dimension, label_name, weight_column_name
        self._centered, self._head_name, self._loss_fn = enable_centered_bias, head_name, loss_fn

    logits_dimension = property(lambda self: self._dimension)
    label_name = property(lambda self: self._label_name)
    weight_column_name = property(lambda self: self._weight_column_name)
    head_name = property(lambda self: self._head_name)

    def _key(self, key):
        return f"{key}/{self._head_name}" if self._head_name else key

    def _transform_labels(self, labels):
        labels = labels[self._label_name] if isinstance(labels, dict) else labels
        labels = tf.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, tf.SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _outputs(self, predictions):
        return {self._head_name: (self._problem_type, predictions)}

    def _weights(self, features):
        if not self._weight_column_name:
            return None
        weights = tf.to_float(features[self._weight_column_name])
        return tf.reshape(weights, shape=(-1, 1)) if weights.get_shape().ndims in (None, 1) else weights

    def _logits(self, logits, logits_input):
        if logits is None:
            if logits_input is None:
                raise ValueError("Neither logits nor logits_input supplied.")
            return _linear_layer(logits_input, self._dimension, scope="logits")
        if logits_input is not None:
            raise ValueError("Both logits and logits_input supplied.")
        return tf.convert_to_tensor(logits, name="logits")

    def _bias(self):
        """A bias that is trained by itself, so that the others begin at the mean."""
        return tf.get_variable(self._key("centered_bias_weight"), shape=(self._dimension,),
                               initializer=tf.zeros_initializer(), trainable=True)

    def create_model_fn_ops(self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None,
                            scope=None):
        ModeKeys.validate(mode)
        with tf.variable_scope(scope, default_name=self._head_name or self._default_name,
                               values=[*features.values(), logits] if isinstance(features, dict) else [logits]):
            labels = None if mode == ModeKeys.INFER or labels is None else self._transform_labels(labels)
            logits = self._logits(logits, logits_input)
            bias = self._bias() if self._centered else None
            if bias is not None:
                logits = tf.nn.bias_add(logits, bias)
            with tf.name_scope(None, "predictions", (logits,)):
                predictions = self._predictions(logits)
            loss = train_op = metrics = None
            if labels is not None:
                weights = self._weights(features)
                loss, average = self._loss(labels, logits, weights)
                with tf.name_scope(""):
                    tf.summary.scalar(self._key(MetricKey.LOSS), tf.identity(average))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    train_op = train_op_fn(loss)
                    if bias is not None:
                        train_op = tf.group(train_op, self._bias_step(bias, labels, logits, weights))
                with tf.name_scope("metrics"):
                    metrics = {self._key(key): value
                               for key, value in self._metrics(average, predictions, labels, weights).items()}
            return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics,
                              output_alternatives=self._outputs(predictions))

    def _loss(self, labels, logits, weights):
        losses = self._loss_fn(labels, logits)
        return losses if isinstance(losses, tuple) else _weighted(losses, weights)

    def _bias_step(self, bias, labels, logits, weights):
        size = tf.shape(logits)[0]
        tiled = tf.reshape(tf.tile(bias, (size,)), (size, self._dimension))
        with tf.name_scope(None, "centered_bias_loss"):
            loss = self._loss(labels, tiled, weights)[0]
        return tf.train.AdagradOptimizer(learning_rate=0.1).minimize(loss, var_list=(bias,), name="centered_bias_step")


class _RegressionHead(_SingleHead):
    _default_name, _problem_type = "regression_head", ProblemType.LINEAR_REGRESSION

    def __init__(self, link_fn=tf.identity, **options):
        super().__init__(**options)
        self._link_fn = link_fn

    def _predictions(self, logits):
        if self._dimension == 1:
            logits = tf.squeeze(logits, axis=(1,), name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}

    def _metrics(self, loss, predictions, labels, weights):
        return {MetricKey.LOSS: tf.metrics.mean(loss)}


def _two_class_metrics(probabilities, labels, weights, thresholds):
    labels = tf.to_float(_column(labels))
    values = tf.to_float(probabilities)
    spread = None if weights is None else tf.to_float(weights) * tf.ones_like(values)
    metrics = {MetricKey.PREDICTION_MEAN: tf.metrics.mean(values, weights=spread),
               MetricKey.LABEL_MEAN: tf.metrics.mean(labels, weights=spread),
               MetricKey.ACCURACY_BASELINE: tf.metrics.mean(labels, weights=spread),
               MetricKey.AUC: tf.metrics.auc(labels, values, weights=spread),
               MetricKey.AUC_PR: tf.metrics.auc(labels, values, weights=spread, curve="PR")}
    for threshold in thresholds:
        above = tf.to_float(tf.greater_equal(values, threshold))
        metrics[MetricKey.ACCURACY_MEAN % threshold] = tf.metrics.accuracy(labels, above, weights=spread)
        for key, metric in ((MetricKey.PRECISION_MEAN, tf.metrics.precision_at_thresholds),
                            (MetricKey.RECALL_MEAN, tf.metrics.recall_at_thresholds)):
            value, update = metric(labels, values, (threshold,), weights=spread)
            metrics[key % threshold] = tf.squeeze(value), tf.squeeze(update)
    return metrics


def _accuracy(labels, classes, weights):
    labels = tf.squeeze(labels, axis=(1,)) if labels.get_shape().ndims == 2 and classes.get_shape().ndims == 1 else labels
    if weights is not None:
        weights = tf.squeeze(weights, axis=(1,))
    return tf.metrics.accuracy(labels, classes, weights)


class _BinaryLogisticHead(_SingleHead):
    _default_name, _problem_type = "binary_logistic_head", ProblemType.LOGISTIC_REGRESSION

    def __init__(self, thresholds=None, **options):
        super().__init__(logits_dimension=1, **options)
        self._thresholds = thresholds or (0.5,)

    def _predictions(self, logits):
        two = tf.concat((tf.zeros_like(logits), logits), 1)
        return {PredictionKey.LOGITS: logits,
                PredictionKey.LOGISTIC: tf.sigmoid(logits, name=PredictionKey.LOGISTIC),
                PredictionKey.PROBABILITIES: tf.nn.softmax(two, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: tf.argmax(two, 1, name=PredictionKey.CLASSES)}

    def _outputs(self, predictions):
        return _class_outputs(self, predictions)

    def _metrics(self, loss, predictions, labels, weights):
        return {MetricKey.LOSS: tf.metrics.mean(loss),
                MetricKey.ACCURACY: _accuracy(labels, predictions[PredictionKey.CLASSES], weights),
                **_two_class_metrics(predictions[PredictionKey.LOGISTIC], labels, weights, self._thresholds)}


def _class_outputs(head, predictions):
    """Probabilities with the names of classes as texts, for servers."""
    probabilities = predictions[PredictionKey.PROBABILITIES]
    keys = getattr(head, "_label_keys", None)
    names = keys if keys else tf.as_string(tf.range(probabilities.get_shape()[1].value))
    classes = tf.tile(tf.expand_dims(names, axis=0), [tf.shape(probabilities)[0], 1])
    return {head.head_name: (head._problem_type, {PredictionKey.PROBABILITIES: probabilities,
                                                  PredictionKey.CLASSES: classes})}


class _MultiClassHead(_SingleHead):
    _default_name, _problem_type = "multi_class_head", ProblemType.CLASSIFICATION

    def __init__(self, n_classes, label_keys=None, **options):
        super().__init__(logits_dimension=n_classes, **options)
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys

    def _ids(self, labels):
        if not self._label_keys:
            return labels
        return tf.contrib.lookup.index_table_from_tensor(self._label_keys, name="label_id_lookup").lookup(labels)

    def _loss(self, labels, logits, weights):
        return super()._loss(self._ids(labels), logits, weights)

    def _predictions(self, logits):
        classes = tf.argmax(logits, 1, name=PredictionKey.CLASSES)
        if self._label_keys:
            classes = tf.contrib.lookup.index_to_string_table_from_tensor(
                self._label_keys, name="class_string_lookup").lookup(classes)
        return {PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: tf.nn.softmax(logits, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: classes}

    def _outputs(self, predictions):
        return _class_outputs(self, predictions)

    def _metrics(self, loss, predictions, labels, weights):
        return {MetricKey.LOSS: tf.metrics.mean(loss),
                MetricKey.ACCURACY: _accuracy(labels, predictions[PredictionKey.CLASSES], weights)}


class _MultiLabelHead(_SingleHead):
    _default_name, _problem_type = "multi_label_head", ProblemType.CLASSIFICATION

    def _transform_labels(self, labels):
        labels = labels[self._label_name] if isinstance(labels, dict) else labels
        if isinstance(labels, tf.SparseTensor):
            return tf.cast(tf.sparse_to_indicator(labels, self._dimension), tf.int64)
        return tf.convert_to_tensor(labels)

    def _predictions(self, logits):
        return {PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: tf.sigmoid(logits, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: tf.to_int64(tf.greater(logits, 0), name=PredictionKey.CLASSES)}

    def _outputs(self, predictions):
        return _class_outputs(self, predictions)

    def _metrics(self, loss, predictions, labels, weights):
        return {MetricKey.LOSS: tf.metrics.mean(loss),
                MetricKey.ACCURACY: tf.metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights),
                MetricKey.AUC: tf.metrics.auc(labels, predictions[PredictionKey.PROBABILITIES]),
                MetricKey.AUC_PR: tf.metrics.auc(labels, predictions[PredictionKey.PROBABILITIES], curve="PR")}


class _BinarySvmHead(_SingleHead):
    _default_name, _problem_type = "binary_svm_head", ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits):
        two = tf.concat((tf.zeros_like(logits), logits), 1)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: tf.argmax(two, 1, name=PredictionKey.CLASSES)}

    def _metrics(self, loss, predictions, labels, weights):
        return {MetricKey.LOSS: tf.metrics.mean(loss),
                MetricKey.ACCURACY: _accuracy(labels, predictions[PredictionKey.CLASSES], weights)}


def regression_head(label_name=None, weight_column_name=None, label_dimension=1, enable_centered_bias=False,
                    head_name=None, link_fn=None):
    return _RegressionHead(logits_dimension=label_dimension, label_name=label_name, loss_fn=_squared,
                           weight_column_name=weight_column_name, enable_centered_bias=enable_centered_bias,
                           head_name=head_name, link_fn=link_fn or tf.identity)


def poisson_regression_head(label_name=None, weight_column_name=None, label_dimension=1, enable_centered_bias=False,
                            head_name=None):
    def loss(labels, logits):
        return tf.nn.log_poisson_loss(tf.to_float(_column(labels)), _column(logits), compute_full_loss=True)

    return _RegressionHead(logits_dimension=label_dimension, label_name=label_name, loss_fn=loss,
                           weight_column_name=weight_column_name, enable_centered_bias=enable_centered_bias,
                           head_name=head_name, link_fn=tf.exp)


def multi_class_head(n_classes, label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None,
                     thresholds=None, metric_class_ids=None, loss_fn=None, label_keys=None):
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    options = {"label_name": label_name, "weight_column_name": weight_column_name, "head_name": head_name,
               "enable_centered_bias": enable_centered_bias}
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError("metric_class_ids invalid for n_classes==2.")
        if label_keys:
            raise ValueError("label_keys is not supported for n_classes=2.")
        return _BinaryLogisticHead(thresholds=thresholds, loss_fn=loss_fn or _log_loss, **options)
    return _MultiClassHead(n_classes, label_keys=label_keys, loss_fn=loss_fn or _softmax_loss, **options)


def multi_label_head(n_classes, label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None,
                     thresholds=None, metric_class_ids=None, loss_fn=None):
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return _MultiLabelHead(logits_dimension=n_classes, label_name=label_name, weight_column_name=weight_column_name,
                           enable_centered_bias=enable_centered_bias, head_name=head_name, loss_fn=loss_fn or (
                               lambda labels, logits: tf.nn.sigmoid_cross_entropy_with_logits(
                                   labels=tf.to_float(labels), logits=logits)))


def binary_svm_head(label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None,
                    thresholds=None):
    def loss(labels, logits):
        return tf.losses.hinge_loss(labels=tf.reshape(labels, (-1, 1)), logits=logits,
                                    reduction=tf.losses.Reduction.NONE)

    return _BinarySvmHead(logits_dimension=1, label_name=label_name, weight_column_name=weight_column_name,
                          enable_centered_bias=enable_centered_bias, head_name=head_name, loss_fn=loss)
