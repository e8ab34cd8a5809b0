"""Heads of regressors, and several heads as one."""

import weir as tf
from weir.estimator import export_output
from weir.estimator.head import checks
from weir.estimator.head.base_head import Head, _LossSpec, _train_op
from weir.estimator.head.class_heads import _mean
from weir.estimator.head.keys import MetricKeys, PredictionKeys
from weir.estimator.model_fn import EstimatorSpec, ModeKeys


class RegressionHead(Head):
    """Numbers, by their squared distance or the program's loss."""

    _weights_of_each_logit = True

    def __init__(self, label_dimension=1, weight_column=None, loss_reduction="weighted_sum_over_batch_size",
                 loss_fn=None, inverse_link_fn=None, name=None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._dimension, self._inverse_link_fn = label_dimension, inverse_link_fn

    logits_dimension = property(lambda self: self._dimension)

    def _read(self, logits):
        value, predictions = logits, {PredictionKeys.PREDICTIONS: logits}
        if self._inverse_link_fn:
            value = self._inverse_link_fn(logits)
            predictions = {PredictionKeys.PREDICTIONS: value, PredictionKeys.LOGITS: logits}
        output = export_output.RegressionOutput(value=value)
        return predictions, {"serving_default": output, "regression": output}, value

    def _losses(self, features, logits, labels):
        labels = tf.to_float(checks.checked_labels(labels, logits, self._dimension))
        if self._loss_fn:
            return checks.called_loss_fn(self._loss_fn, labels, logits, features, self._dimension), labels
        return tf.losses.mean_squared_error(labels, logits, reduction=tf.losses.Reduction.NONE), labels

    def _metrics(self, read, labels, weights, losses, regularization_loss):
        return self._with_regularization({
            self._key(MetricKeys.LOSS_MEAN): tf.metrics.mean(losses, weights=weights),
            self._key(MetricKeys.PREDICTION_MEAN): _mean(read, weights, MetricKeys.PREDICTION_MEAN),
            self._key(MetricKeys.LABEL_MEAN): tf.metrics.mean(labels, weights=weights)}, regularization_loss)


class LogisticRegressionHead(RegressionHead):
    """Numbers between 0 and 1."""

    def __init__(self, weight_column=None, loss_reduction="weighted_sum_over_batch_size", name=None):
        def loss(labels, logits):
            with tf.control_dependencies([tf.assert_less_equal(labels, 1.0), tf.assert_greater_equal(labels, 0.0)]):
                return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        super().__init__(1, weight_column, loss_reduction, loss, tf.sigmoid, name)


class PoissonRegressionHead(RegressionHead):
    """Counts."""

    def __init__(self, label_dimension=1, weight_column=None, loss_reduction="weighted_sum_over_batch_size",
                 compute_full_loss=True, name=None):
        def loss(labels, logits):
            return tf.nn.log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, loss, tf.exp, name)


class MultiHead(Head):
    """Several heads on one model: labels are a dictionary by the names of heads, losses are added."""

    def __init__(self, heads, head_weights=None):
        super().__init__()
        if not heads:
            raise ValueError("Must specify heads. Given: {}".format(heads))
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                             f"len(head_weights): {len(head_weights)}.")
        found = [head.name for head in heads]
        if not all(found):
            raise ValueError("All given heads must have name specified. Given: {}".format(heads))
        if len(set(found)) != len(found):
            raise ValueError(f"All heads must have unique names. Given: {found}")
        self._heads, self._head_weights = tuple(heads), tuple(head_weights or [1.0] * len(heads))

    name = property(lambda self: "_".join(head.name for head in self._heads))
    logits_dimension = property(lambda self: sum(head.logits_dimension for head in self._heads))

    def _read(self, logits):
        raise NotImplementedError("MultiHead reads logits head by head")

    _losses = _metrics = _read

    def _parts(self, logits):
        if isinstance(logits, dict):
            return {head.name: logits[head.name] for head in self._heads}
        sizes = [head.logits_dimension for head in self._heads]
        return {head.name: part for head, part in zip(self._heads, tf.split(logits, sizes, axis=-1))}

    def create_loss(self, features, mode, logits, labels):
        if not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        parts = self._parts(logits)
        specs = [head.create_loss(features, mode, parts[head.name], labels[head.name]) for head in self._heads]
        total = tf.add_n([spec.training_loss * weight for spec, weight in zip(specs, self._head_weights)])
        by_name = {head.name: spec for head, spec in zip(self._heads, specs)}
        return _LossSpec(total, {name: spec.unreduced_loss for name, spec in by_name.items()},
                        {name: spec.weights for name, spec in by_name.items()},
                        {name: spec.processed_labels for name, spec in by_name.items()})

    def create_estimator_spec(self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None,
                              regularization_losses=None, trainable_variables=None, update_ops=None):
        parts = self._parts(logits)
        specs = [head.create_estimator_spec(
            features=features, mode=mode, logits=parts[head.name], labels=labels[head.name] if labels else None,
            train_op_fn=lambda loss: tf.no_op()) for head in self._heads]
        predictions = {(head.name, key): value for head, spec in zip(self._heads, specs)
                       for key, value in spec.predictions.items()}
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode=mode, predictions=predictions, export_outputs=self._outputs(specs, predictions))
        loss = tf.add_n([spec.loss * weight for spec, weight in zip(specs, self._head_weights)])
        if regularization_losses:
            loss = loss + tf.add_n(regularization_losses)
        if mode == ModeKeys.EVAL:
            metrics = {key: value for spec in specs for key, value in spec.eval_metric_ops.items()}
            for head, spec in zip(self._heads, specs):
                metrics[f"{MetricKeys.LOSS}/{head.name}"] = tf.metrics.mean(spec.loss)
            return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        train_op = _train_op(loss, optimizer, train_op_fn, trainable_variables, update_ops)
        with tf.name_scope(""):
            tf.summary.scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)

    def _outputs(self, specs, predictions):
        outputs = {}
        for i, (head, spec) in enumerate(zip(self._heads, specs)):
            for key, output in spec.export_outputs.items():
                if key == "serving_default":
                    if i == 0:
                        outputs[key] = output
                    outputs[head.name] = output
                else:
                    outputs[f"{head.name}/{key}"] = output
        outputs["predict"] = export_output.PredictOutput({f"{name}/{key}": value
                                                          for (name, key), value in predictions.items()})
        return outputs
