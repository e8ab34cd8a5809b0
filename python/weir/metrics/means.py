"""Means over many batches: of values, of errors, of how often something holds."""

from weir.core import dtypes as _dtypes
from weir.core.graph import control_dependencies as _control_dependencies
from weir.core.variable_scope import variable_scope as _variable_scope
from weir.inner.weights_broadcast_ops import broadcast_weights as _broadcast_weights
from weir.metrics.state import collect, metric_variable, ratio_of, shaped_alike
from weir.ops import array_ops as _array, math_ops as _math, state_ops as _state

_FLOAT = _dtypes.float32


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    with _variable_scope(name, "mean", [values, weights]):
        values = _math.cast(values, _FLOAT)
        total, count = metric_variable([], _FLOAT, "total"), metric_variable([], _FLOAT, "count")
        if weights is None:
            number = _math.cast(_array.size(values), _FLOAT)
        else:
            values, _, weights = shaped_alike(values, None, weights)
            weights = _broadcast_weights(_math.cast(weights, _FLOAT), values)
            values = _math.multiply(values, weights)
            number = _math.reduce_sum(weights)
        update_total = _state.assign_add(total, _math.reduce_sum(values))
        with _control_dependencies([values]):
            update_count = _state.assign_add(count, number)
        return collect(ratio_of(total, count, "value"), ratio_of(update_total, update_count, "update_op"),
                       metrics_collections, updates_collections)


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of each element over the batches."""
    with _variable_scope(name, "mean", [values, weights]):
        values = _math.cast(values, _FLOAT)
        total = metric_variable(values.shape, _FLOAT, "total_tensor")
        count = metric_variable(values.shape, _FLOAT, "count_tensor")
        number = _array.ones_like(values)
        if weights is not None:
            values, _, weights = shaped_alike(values, None, weights)
            weights = _broadcast_weights(_math.cast(weights, _FLOAT), values)
            values, number = _math.multiply(values, weights), _math.multiply(number, weights)
        update_total = _state.assign_add(total, values)
        with _control_dependencies([values]):
            update_count = _state.assign_add(count, number)
        return collect(ratio_of(total, count, "value"), ratio_of(update_total, update_count, "update_op"),
                       metrics_collections, updates_collections)


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    predictions, labels, weights = shaped_alike(predictions, labels, weights)
    if labels.dtype.base_dtype != predictions.dtype.base_dtype:
        predictions = _math.cast(predictions, labels.dtype.base_dtype)
    correct = _math.cast(_math.equal(predictions, labels), _FLOAT)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def _error(function, default):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        predictions, labels, weights = shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _FLOAT), weights)
        return mean(function(predictions, labels), weights, metrics_collections, updates_collections, name or default)

    metric.__name__ = metric.__qualname__ = default
    return metric


mean_squared_error = _error(lambda p, l: _math.squared_difference(p, l), "mean_squared_error")
mean_absolute_error = _error(lambda p, l: _math.abs(p - l), "mean_absolute_error")


def root_mean_squared_error(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
                            name=None):
    squared, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return collect(_math.sqrt(squared), _math.sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None,
                        updates_collections=None, name=None):
    """The mean of absolute errors divided by ``normalizer``; where that is zero, of zero."""
    predictions, labels, weights = shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _FLOAT), weights)
    predictions, normalizer = shaped_alike(predictions, normalizer, None)[:2]
    normalizer = _math.cast(normalizer, _FLOAT)
    relative = _array.where(_math.equal(normalizer, 0.0), _array.zeros_like(labels),
                            _math.divide(_math.abs(labels - predictions), normalizer))
    return mean(relative, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """One minus the mean cosine of the angles between unit vectors along ``dim``."""
    predictions, labels, weights = shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _FLOAT), weights)
    cosine = _math.reduce_sum(_math.multiply(predictions, labels), axis=[dim], keepdims=True)
    average, update = mean(cosine, weights, None, None, name or "mean_cosine_distance")
    return collect(_math.subtract(1.0, average), _math.subtract(1.0, update), metrics_collections, updates_collections)


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    below = _math.cast(_math.less(values, threshold), _FLOAT)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")
