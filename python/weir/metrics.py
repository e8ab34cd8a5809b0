"""tf.metrics: figures over many batches, kept in local variables. Each gives (value, update operation)."""

from weir import _lazy
from weir.framework import dtypes as _dtypes
from weir.framework.graph import (GraphKeys as _GraphKeys, add_to_collections as _add_to_collections,
                                  control_dependencies as _control_dependencies, convert_to_tensor as _tensor)
from weir.framework.variable_scope import variable_scope as _variable_scope
from weir.framework.variables import Variable as _Variable
from weir.ops import array_ops as _array, math_ops as _math, state_ops as _state


def _local(shape, dtype, name):
    """A variable that begins as zero in each session and is no part of the model."""
    return _Variable(lambda: _array.zeros(shape, dtype), trainable=False, name=name,
                     collections=[_GraphKeys.LOCAL_VARIABLES, _GraphKeys.METRIC_VARIABLES])


def _collect(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        _add_to_collections(metrics_collections, value)
    if updates_collections:
        _add_to_collections(updates_collections, update)
    return value, update


def _without_last(a, b):
    """The two with equal ranks: a last dimension of size one is dropped from the larger."""
    ranks = a.shape.ndims, b.shape.ndims
    if None in ranks or ranks[0] == ranks[1]:
        return a, b
    return (_array.squeeze(a, [-1]), b) if ranks[0] > ranks[1] else (a, _array.squeeze(b, [-1]))


def _weighted(values, weights):
    """(sum of the weighted values, sum of the weights)."""
    values = _math.cast(values, _dtypes.float32)
    if weights is None:
        return _math.reduce_sum(values), _math.cast(_array.size(values), _dtypes.float32)
    weights = _math.cast(weights, _dtypes.float32)
    _, weights = _without_last(values, _tensor(weights)) if weights.shape.ndims else (None, weights)
    weights = weights * _array.ones_like(values)
    return _math.reduce_sum(values * weights), _math.reduce_sum(weights)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    with _variable_scope(name, "mean", [values, weights]):
        total, count = _local([], _dtypes.float32, "total"), _local([], _dtypes.float32, "count")
        batch_total, batch_count = _weighted(values, weights)
        update_total = _state.assign_add(total, batch_total)
        with _control_dependencies([batch_total]):
            update_count = _state.assign_add(count, batch_count)
        value = _math.div_no_nan(total, count, name="value")
        update = _math.div_no_nan(update_total, update_count, name="update_op")
        return _collect(value, update, metrics_collections, updates_collections)


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    labels, predictions = _without_last(_tensor(labels), _tensor(predictions))
    predictions.shape.assert_is_compatible_with(labels.shape)
    if labels.dtype.base_dtype != predictions.dtype.base_dtype:
        predictions = _math.cast(predictions, labels.dtype.base_dtype)
    correct = _math.cast(_math.equal(predictions, labels), _dtypes.float32)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def _error(function, default):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        predictions = _math.cast(predictions, _dtypes.float32)
        labels, predictions = _without_last(_math.cast(labels, _dtypes.float32), predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        return mean(function(predictions, labels), weights, metrics_collections, updates_collections, name or default)

    metric.__name__ = metric.__qualname__ = default
    return metric


mean_squared_error = _error(lambda p, l: _math.squared_difference(p, l), "mean_squared_error")
mean_absolute_error = _error(lambda p, l: _math.abs(p - l), "mean_absolute_error")


def root_mean_squared_error(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
                            name=None):
    squared, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return _collect(_math.sqrt(squared), _math.sqrt(update), metrics_collections, updates_collections)


def _counter(default, holds):
    """A count of the examples for which ``holds(label, prediction)``, both as truth values."""

    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with _variable_scope(name, default, [labels, predictions, weights]):
            labels, predictions = _math.cast(labels, _dtypes.as_dtype("bool")), _math.cast(predictions, _dtypes.as_dtype("bool"))
            labels, predictions = _without_last(labels, predictions)
            count = _local([], _dtypes.float32, "count")
            hits = _math.cast(holds(labels, predictions), _dtypes.float32)
            batch = _math.reduce_sum(hits if weights is None else hits * _math.cast(weights, _dtypes.float32))
            return _collect(_array.identity(count), _state.assign_add(count, batch), metrics_collections,
                            updates_collections)

    metric.__name__ = metric.__qualname__ = default
    return metric


true_positives = _counter("true_positives", lambda l, p: _math.logical_and(l, p))
false_positives = _counter("false_positives", lambda l, p: _math.logical_and(_math.logical_not(l), p))
true_negatives = _counter("true_negatives", lambda l, p: _math.logical_not(_math.logical_or(l, p)))
false_negatives = _counter("false_negatives", lambda l, p: _math.logical_and(l, _math.logical_not(p)))


def _ratio(default, wrong):
    """true positives / (true positives + what ``wrong`` counts)."""

    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with _variable_scope(name, default, [labels, predictions, weights]):
            hits, update_hits = true_positives(labels, predictions, weights)
            misses, update_misses = wrong(labels, predictions, weights)
            value = _math.div_no_nan(hits, hits + misses, name="value")
            update = _math.div_no_nan(update_hits, update_hits + update_misses, name="update_op")
            return _collect(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = default
    return metric


precision, recall = _ratio("precision", false_positives), _ratio("recall", false_negatives)

__getattr__ = _lazy.resolver(__name__, {})
