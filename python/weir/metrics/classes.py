"""Figures by class over many batches."""

from weir.core import dtypes as _dtypes
from weir.core.graph import convert_to_tensor as _tensor
from weir.core.variable_scope import variable_scope as _variable_scope
from weir.metrics.state import collect, metric_variable
from weir.ops import array_ops as _array, math_ops as _math, state_ops as _state

_FLOAT, _DOUBLE, _INT64 = _dtypes.float32, _dtypes.float64, _dtypes.int64


def _flat(values):
    values = _tensor(values)
    return _array.reshape(values, [-1]) if values.shape.ndims is None or values.shape.ndims > 1 else values


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None,
             name=None):
    """The mean, over the classes, of intersection over union; the update is the confusion matrix."""
    with _variable_scope(name, "mean_iou", [labels, predictions, weights]):
        predictions, labels = _tensor(predictions), _tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes, num_classes], _DOUBLE, "total_confusion_matrix")
        current = _math.confusion_matrix(_math.cast(_flat(labels), _INT64), _math.cast(_flat(predictions), _INT64),
                                         num_classes, _DOUBLE, weights=None if weights is None else _flat(weights))
        update = _state.assign_add(total, current)
        rows, columns = _math.cast(_math.reduce_sum(total, 0), _FLOAT), _math.cast(_math.reduce_sum(total, 1), _FLOAT)
        both = _math.cast(_array.diag_part(total), _FLOAT)
        union = rows + columns - both
        present = _math.reduce_sum(_math.cast(_math.not_equal(union, 0), _FLOAT))
        iou = both / _array.where(union > 0, union, _array.ones_like(union))
        value = _array.where(present > 0, _math.reduce_sum(iou, name="mean_iou") / present, 0.0)
        return collect(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(labels, predictions, num_classes, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):
    """The mean of the classes' accuracies; the update gives those of each."""
    with _variable_scope(name, "mean_accuracy", [labels, predictions, weights]):
        labels = _math.cast(labels, _INT64)
        labels, predictions = _flat(labels), _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total, count = metric_variable([num_classes], _FLOAT, "total"), metric_variable([num_classes], _FLOAT, "count")
        ones = _array.ones([_array.size(labels)], _FLOAT)
        if labels.dtype.base_dtype != predictions.dtype.base_dtype:
            predictions = _math.cast(predictions, labels.dtype.base_dtype)
        correct = _math.cast(_math.equal(predictions, labels), _FLOAT)
        if weights is not None:
            weights = _math.cast(_flat(weights), _FLOAT)
            correct, ones = correct * weights, ones * weights
        update_total = _state.scatter_add(total, labels, ones)
        update_count = _state.scatter_add(count, labels, correct)
        value = _math.reduce_mean(_math.div_no_nan(count, _math.maximum(total, 0)), name="mean_accuracy")
        update = _math.div_no_nan(update_count, _math.maximum(update_total, 0), name="update_op")
        return collect(value, update, metrics_collections, updates_collections)
