"""Metrics of tf.contrib.metrics beside the counts: covariance, agreement, exact areas, and what holds them together."""

import collections
import math

from weir import _weir
from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph as _graph
from weir.core.variable_scope import variable_scope
from weir.inner.weights_broadcast_ops import broadcast_weights
from weir.metrics.state import collect, metric_variable, shaped_alike
from weir.ops import array_ops, math_ops, state_ops

_FLOAT = dtypes.float32


def accuracy(predictions, labels, weights=None, name=None):
    """The share of predictions that are right, of this batch alone."""
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(f"Dtypes of predictions and labels should match. Given: predictions ({predictions.dtype!r}) and "
                         f"labels ({labels.dtype!r})")
    with name_scope(name, "accuracy", values=[predictions, labels]):
        right = math_ops.cast(math_ops.equal(predictions, labels), _FLOAT)
        if weights is None:
            return math_ops.reduce_mean(right)
        right = math_ops.multiply(right, weights)
        return math_ops.divide(math_ops.reduce_sum(right),
                               math_ops.reduce_sum(math_ops.multiply(weights, array_ops.ones_like(right))))


def aggregate_metrics(*value_update_tuples):
    """A list of values and one of updates."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """Values and updates by name."""
    return ({name: each[0] for name, each in names_to_tuples.items()},
            {name: each[1] for name, each in names_to_tuples.items()})


def count(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How many values there were, by weight."""
    with variable_scope(name, "count", [values, weights]):
        values = convert_to_tensor(values)
        if weights is not None:
            values, _, weights = shaped_alike(math_ops.cast(values, _FLOAT), None, weights)
            weights = broadcast_weights(math_ops.cast(weights, _FLOAT), values)
        return collect(*_weir.count_part(_graph(), values, weights), metrics_collections, updates_collections)


def cohen_kappa(labels, predictions_idx, num_classes, weights=None, metrics_collections=None, updates_collections=None,
                name=None):
    """How much more often labels and predictions agree than by chance."""
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", [labels, predictions_idx, weights]):
        labels = convert_to_tensor(labels)
        labels.shape.with_rank_at_most(2)
        if labels.shape.ndims == 2:
            labels = array_ops.squeeze(labels, axis=[-1])
        predictions_idx, labels, weights = shaped_alike(predictions_idx, labels, weights)
        kappa = _weir.kappa_part(_graph(), labels, predictions_idx, num_classes, weights)
        return collect(*kappa, metrics_collections, updates_collections)


def streaming_covariance(predictions, labels, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """The unbiased covariance, batch by batch (Chan et al.)."""
    with variable_scope(name, "covariance", [predictions, labels, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        number, mean_prediction, mean_label, comoment = (
            metric_variable([], _FLOAT, each) for each in ("count", "mean_prediction", "mean_label", "comoment"))
        if weights is None:
            batch, weights = math_ops.cast(array_ops.size(labels), _FLOAT), 1.0
        else:
            weights = broadcast_weights(weights, labels)
            batch = math_ops.reduce_sum(weights)
        update_number = state_ops.assign_add(number, batch)
        before = update_number - batch

        def mean_of(values, variable):
            """The mean of the batch, and the mean before it."""
            own = math_ops.div_no_nan(math_ops.reduce_sum(values * weights), batch)
            step = math_ops.div_no_nan((own - variable) * batch, update_number)
            return own, state_ops.assign_add(variable, step) - step

        own_prediction, last_prediction = mean_of(predictions, mean_prediction)
        own_label, last_label = mean_of(labels, mean_label)
        within = math_ops.reduce_sum((predictions - own_prediction) * (labels - own_label) * weights)
        between = (last_prediction - own_prediction) * (last_label - own_label) * (before * batch / update_number)
        update_comoment = state_ops.assign_add(comoment, within + between)

        def covariance(comoment, number, node):
            known = math_ops.truediv(comoment, number - 1)
            return array_ops.where(math_ops.less_equal(number, 1.), convert_to_tensor(math.nan, dtype=_FLOAT), known,
                                   name=node)

        value = covariance(comoment, number, "covariance")
        with control_dependencies([update_comoment]):
            update = covariance(comoment.read_value(), number.read_value(), "update_op")
        return collect(value, update, metrics_collections, updates_collections)


def streaming_pearson_correlation(predictions, labels, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """The correlation: covariance by both deviations."""
    with variable_scope(name, "pearson_r", [predictions, labels, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        both, own, other = (streaming_covariance(x, y, weights=weights, name=scope) for x, y, scope in (
            (predictions, labels, "covariance"), (predictions, predictions, "variance_predictions"),
            (labels, labels, "variance_labels")))
        results = [math_ops.truediv(both[i], math_ops.multiply(math_ops.sqrt(own[i]), math_ops.sqrt(other[i])), name=node)
                   for i, node in enumerate(("pearson_r", "update_op"))]
        return collect(*results, metrics_collections, updates_collections)


def streaming_concat(values, axis=0, max_size=None, metrics_collections=None, updates_collections=None, name=None):
    """All values, one batch after the other, up to ``max_size``."""
    values = convert_to_tensor(values)
    return collect(*_weir.concat_part(_graph(), values, axis, max_size, name), metrics_collections, updates_collections)


def streaming_dynamic_auc(labels, predictions, curve="ROC", metrics_collections=(), updates_collections=(), name=None,
                          weights=None):
    """The exact area under a curve: all predictions are kept."""
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        labels.shape.assert_is_compatible_with(predictions.shape)
        area, update = _weir.exact_area_part(_graph(), labels, predictions, weights, curve == "ROC")
        return collect(area, update, metrics_collections, updates_collections)


_AucData = collections.namedtuple("AucData", ("auc", "lower", "upper"))


def auc_with_confidence_intervals(labels, predictions, weights=None, alpha=0.95, logit_transformation=True,
                                  metrics_collections=(), updates_collections=(), name=None):
    """The exact area under the receiver operating characteristic, and between which it lies with probability alpha."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with variable_scope(name, default_name="auc_with_confidence_intervals", values=[labels, predictions, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        area, update = _weir.bounded_area_part(_graph(), labels, predictions, weights, alpha, logit_transformation)
        return collect(_AucData(*area), update, metrics_collections, updates_collections)
