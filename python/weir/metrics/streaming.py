"""tf.metrics: figures over many batches, kept in local variables. Each gives (value, update operation)."""

from weir.core import dtypes as _dtypes
from weir.core.graph import (GraphKeys as _GraphKeys, add_to_collections as _add_to_collections,
                             control_dependencies as _control_dependencies, convert_to_tensor as _tensor,
                             name_scope as _name_scope)
from weir.core.variable_scope import variable_scope as _variable_scope
from weir.core.variables import Variable as _Variable
from weir.inner.weights_broadcast_ops import broadcast_weights as _broadcast_weights
from weir.ops import (array_ops as _array, check_ops as _check, math_ops as _math, nn_ops, sparse_ops,
                      state_ops as _state)
from weir.ops.confusion_matrix import remove_squeezable_dimensions as _same_rank

_FLOAT, _DOUBLE, _INT64, _BOOL = _dtypes.float32, _dtypes.float64, _dtypes.int64, _dtypes.as_dtype("bool")


# What all metrics share.


def _local(shape, dtype, name):
    """A variable that begins as zero in each session and is no part of the model."""
    return _Variable(lambda: _array.zeros(shape, dtype), trainable=False, name=name,
                     collections=[_GraphKeys.LOCAL_VARIABLES, _GraphKeys.METRIC_VARIABLES])


metric_variable = _local


def _collect(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        _add_to_collections(metrics_collections, value)
    if updates_collections:
        _add_to_collections(updates_collections, update)
    return value, update


def _shaped_alike(predictions, labels, weights):
    """The three with equal ranks: last dimensions of one dropped, and added to weights that lack one."""
    predictions = _tensor(predictions)
    if labels is not None:
        labels, predictions = _same_rank(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = _tensor(weights)
    rank, weights_rank = predictions.shape.ndims, weights.shape.ndims
    if weights_rank == 0:
        return predictions, labels, weights
    if rank is not None and weights_rank is not None:
        if weights_rank - rank == 1:
            weights = _array.squeeze(weights, [-1])
        elif weights_rank - rank == -1:
            weights = _array.expand_dims(weights, -1)
        return predictions, labels, weights
    difference = _array.rank(weights) - _array.rank(predictions)
    sizes = _array.concat([_array.shape(weights), [1]], 0)
    kept = _array.rank(weights) - _math.cast(_math.equal(difference, 1), _dtypes.int32) \
        + _math.cast(_math.logical_and(_math.equal(difference, -1), _math.not_equal(_array.rank(weights), 0)),
                     _dtypes.int32)
    return predictions, labels, _array.reshape(weights, _array.slice(sizes, [0], [kept]))


def _counts(labels, predictions, weights):
    """Truth values of one shape, and weights stretched to it."""
    predictions, labels, weights = _shaped_alike(_math.cast(predictions, _BOOL), _math.cast(labels, _BOOL), weights)
    return labels, predictions, weights


def _ratio_of(numerator, denominator, name):
    return _math.div_no_nan(numerator, denominator, name=name)


# Means.


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    with _variable_scope(name, "mean", [values, weights]):
        values = _math.cast(values, _FLOAT)
        total, count = _local([], _FLOAT, "total"), _local([], _FLOAT, "count")
        if weights is None:
            number = _math.cast(_array.size(values), _FLOAT)
        else:
            values, _, weights = _shaped_alike(values, None, weights)
            weights = _broadcast_weights(_math.cast(weights, _FLOAT), values)
            values = _math.multiply(values, weights)
            number = _math.reduce_sum(weights)
        update_total = _state.assign_add(total, _math.reduce_sum(values))
        with _control_dependencies([values]):
            update_count = _state.assign_add(count, number)
        return _collect(_ratio_of(total, count, "value"), _ratio_of(update_total, update_count, "update_op"),
                        metrics_collections, updates_collections)


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of each element over the batches."""
    with _variable_scope(name, "mean", [values, weights]):
        values = _math.cast(values, _FLOAT)
        total = _local(values.shape, _FLOAT, "total_tensor")
        count = _local(values.shape, _FLOAT, "count_tensor")
        number = _array.ones_like(values)
        if weights is not None:
            values, _, weights = _shaped_alike(values, None, weights)
            weights = _broadcast_weights(_math.cast(weights, _FLOAT), values)
            values, number = _math.multiply(values, weights), _math.multiply(number, weights)
        update_total = _state.assign_add(total, values)
        with _control_dependencies([values]):
            update_count = _state.assign_add(count, number)
        return _collect(_ratio_of(total, count, "value"), _ratio_of(update_total, update_count, "update_op"),
                        metrics_collections, updates_collections)


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    predictions, labels, weights = _shaped_alike(predictions, labels, weights)
    if labels.dtype.base_dtype != predictions.dtype.base_dtype:
        predictions = _math.cast(predictions, labels.dtype.base_dtype)
    correct = _math.cast(_math.equal(predictions, labels), _FLOAT)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def _error(function, default):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        predictions, labels, weights = _shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _FLOAT), weights)
        return mean(function(predictions, labels), weights, metrics_collections, updates_collections, name or default)

    metric.__name__ = metric.__qualname__ = default
    return metric


mean_squared_error = _error(lambda p, l: _math.squared_difference(p, l), "mean_squared_error")
mean_absolute_error = _error(lambda p, l: _math.abs(p - l), "mean_absolute_error")


def root_mean_squared_error(labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
                            name=None):
    squared, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return _collect(_math.sqrt(squared), _math.sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None,
                        updates_collections=None, name=None):
    """The mean of absolute errors divided by ``normalizer``; where that is zero, of zero."""
    predictions, labels, weights = _shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _FLOAT), weights)
    predictions, normalizer = _shaped_alike(predictions, normalizer, None)[:2]
    normalizer = _math.cast(normalizer, _FLOAT)
    relative = _array.where(_math.equal(normalizer, 0.0), _array.zeros_like(labels),
                            _math.divide(_math.abs(labels - predictions), normalizer))
    return mean(relative, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """One minus the mean cosine of the angles between unit vectors along ``dim``."""
    predictions, labels, weights = _shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _FLOAT), weights)
    cosine = _math.reduce_sum(_math.multiply(predictions, labels), axis=[dim], keepdims=True)
    average, update = mean(cosine, weights, None, None, name or "mean_cosine_distance")
    return _collect(_math.subtract(1.0, average), _math.subtract(1.0, update), metrics_collections, updates_collections)


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    below = _math.cast(_math.less(values, threshold), _FLOAT)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


# Counts of truth values.


def _count(holds, weights, metrics_collections, updates_collections):
    """How often ``holds`` was true, by weight."""
    count = _local([], _FLOAT, "count")
    hits = _math.cast(holds, _FLOAT)
    if weights is not None:
        hits, _, weights = _shaped_alike(hits, None, weights)
        hits = _math.multiply(hits, _broadcast_weights(_math.cast(weights, _FLOAT), hits))
    return _collect(_array.identity(count), _state.assign_add(count, _math.reduce_sum(hits)), metrics_collections,
                    updates_collections)


def _counter(default, holds):
    """A count of the examples for which ``holds(label, prediction)``, both as truth values."""

    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with _variable_scope(name, default, [labels, predictions, weights]):
            labels, predictions, weights = _counts(labels, predictions, weights)
            return _count(holds(labels, predictions), weights, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = default
    return metric


_HOLDS = {"true_positives": lambda l, p: _math.logical_and(l, p),
          "false_positives": lambda l, p: _math.logical_and(_math.logical_not(l), p),
          "true_negatives": lambda l, p: _math.logical_not(_math.logical_or(l, p)),
          "false_negatives": lambda l, p: _math.logical_and(l, _math.logical_not(p))}
true_positives, false_positives, true_negatives, false_negatives = (
    _counter(name, _HOLDS[name]) for name in ("true_positives", "false_positives", "true_negatives", "false_negatives"))


def _ratio(default, wrong):
    """true positives / (true positives + what ``wrong`` counts)."""

    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with _variable_scope(name, default, [labels, predictions, weights]):
            labels, predictions, weights = _counts(labels, predictions, weights)
            hits, update_hits = true_positives(labels, predictions, weights)
            misses, update_misses = wrong(labels, predictions, weights)
            return _collect(_ratio_of(hits, hits + misses, "value"),
                            _ratio_of(update_hits, update_hits + update_misses, "update_op"), metrics_collections,
                            updates_collections)

    metric.__name__ = metric.__qualname__ = default
    return metric


precision, recall = _ratio("precision", false_positives), _ratio("recall", false_negatives)


# Counts at thresholds.


def _at_thresholds(labels, predictions, thresholds, weights, wanted):
    """Of each wanted count, for each threshold: ({name: variable}, {name: update})."""
    predictions = _tensor(predictions)
    in_range = [check(predictions, _math.cast(limit, predictions.dtype.base_dtype),
                      message="predictions must be in [0, 1]")
                for check, limit in ((_check.assert_greater_equal, 0.0), (_check.assert_less_equal, 1.0))]
    with _control_dependencies(in_range):
        predictions, labels, weights = _shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _BOOL), weights)
    if weights is not None:
        weights = _array.reshape(_broadcast_weights(_math.cast(weights, _FLOAT), predictions), [1, -1])
    label = _array.reshape(labels, [1, -1])
    limits = _array.expand_dims(_array.constant(thresholds, _FLOAT), 1)
    positive = _math.greater(_array.reshape(predictions, [1, -1]), limits)
    label = _math.logical_and(label, _array.ones_like(positive))
    values, updates = {}, {}
    for name in wanted:
        variable = _local([len(thresholds)], _FLOAT, name)
        hits = _math.cast(_HOLDS[name](label, positive), _FLOAT)
        if weights is not None:
            hits = _math.multiply(hits, weights)
        values[name], updates[name] = variable, _state.assign_add(variable, _math.reduce_sum(hits, 1))
    return values, updates


def _counter_at_thresholds(count):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with _variable_scope(name, count, [labels, predictions, weights]):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, [count])
            return _collect(_array.identity(values[count]), updates[count], metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = count + "_at_thresholds"
    return metric


(true_positives_at_thresholds, false_positives_at_thresholds, true_negatives_at_thresholds,
 false_negatives_at_thresholds) = (
    _counter_at_thresholds(name) for name in ("true_positives", "false_positives", "true_negatives", "false_negatives"))


def _ratio_at_thresholds(default, wrong):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with _variable_scope(name, default, [labels, predictions, weights]):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, ["true_positives", wrong])

            def ratio(counts, node):
                hits = counts["true_positives"]
                return _math.divide(hits, 1e-7 + hits + counts[wrong], name=f"{default.split('_')[0]}_{node}")

            return _collect(ratio(values, "value"), ratio(updates, "update_op"), metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = default
    return metric


precision_at_thresholds = _ratio_at_thresholds("precision_at_thresholds", "false_positives")
recall_at_thresholds = _ratio_at_thresholds("recall_at_thresholds", "false_negatives")

_ALL = ("true_positives", "false_negatives", "true_negatives", "false_positives")


def _spread(num_thresholds):
    """Thresholds from just below zero to just above one."""
    inner = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    return [-1e-7] + inner + [1.0 + 1e-7]


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
        curve="ROC", name=None, summation_method="trapezoidal", thresholds=None):
    """The area under a curve of operating points: receiver operating characteristic, or precision and recall."""
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with _variable_scope(name, "auc", [labels, predictions, weights]):
        thresholds = _spread(num_thresholds) if thresholds is None else [-1e-7] + list(thresholds) + [1.0 + 1e-7]
        values, updates = _at_thresholds(labels, predictions, thresholds, weights, _ALL)

        def interpolated(tp, fp, fn):
            # Davis and Goadrich, 2006: true positives grow in line with all positives, precision does not.
            lower, both = tp[1:], tp + fp
            steps = tp[:-1] - lower
            slope = _math.div_no_nan(steps, _math.maximum(both[:-1] - both[1:], 0))
            start = lower - _math.multiply(slope, both[1:])
            ratio = _array.where(_math.logical_and(both[:-1] > 0, both[1:] > 0),
                                 _math.div_no_nan(both[:-1], _math.maximum(both[1:], 0)), _array.ones_like(both[1:]))
            areas = slope * (steps + start * _math.log(ratio))
            return _math.reduce_sum(_math.div_no_nan(areas, _math.maximum(lower + fn[1:], 0)))

        def area(counts, node):
            tp, fn, tn, fp = (counts[name] for name in _ALL)
            if curve == "PR" and summation_method == "careful_interpolation":
                return _array.identity(interpolated(tp, fp, fn), name=node)
            hit_rate = (tp + 1e-6) / (tp + fn + 1e-6)
            if curve == "ROC":
                x, y = fp / (fp + tn + 1e-6), hit_rate
            else:
                x, y = hit_rate, (tp + 1e-6) / (tp + fp + 1e-6)
            left, right = y[:-1], y[1:]
            heights = {"trapezoidal": lambda: (left + right) / 2., "careful_interpolation": lambda: (left + right) / 2.,
                       "minoring": lambda: _math.minimum(left, right),
                       "majoring": lambda: _math.maximum(left, right)}
            if summation_method not in heights:
                raise ValueError(f"Invalid summation_method: {summation_method}")
            return _math.reduce_sum(_math.multiply(x[:-1] - x[1:], heights[summation_method]()), name=node)

        return _collect(area(values, "value"), area(updates, "update_op"), metrics_collections, updates_collections)


def sensitivity_at_specificity(labels, predictions, specificity, weights=None, num_thresholds=200,
                               metrics_collections=None, updates_collections=None, name=None):
    if not 0 <= specificity <= 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with _variable_scope(name, "sensitivity_at_specificity", [labels, predictions, weights]):
        values, updates = _at_thresholds(labels, predictions, _spread(num_thresholds), weights, _ALL)

        def sensitivity(counts, node):
            tp, fn, tn, fp = (counts[name] for name in _ALL)
            nearest = _math.cast(_math.argmin(_math.abs(tn / (tn + fp + 1e-7) - specificity), 0), _dtypes.int32)
            return _math.divide(tp[nearest], tp[nearest] + fn[nearest] + 1e-7, name=node)

        return _collect(sensitivity(values, "value"), sensitivity(updates, "update_op"), metrics_collections,
                        updates_collections)


def specificity_at_sensitivity(labels, predictions, sensitivity, weights=None, num_thresholds=200,
                               metrics_collections=None, updates_collections=None, name=None):
    if not 0 <= sensitivity <= 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with _variable_scope(name, "specificity_at_sensitivity", [labels, predictions, weights]):
        values, updates = _at_thresholds(labels, predictions, _spread(num_thresholds), weights, _ALL)

        def specificity(counts, node):
            tp, fn, tn, fp = (counts[name] for name in _ALL)
            distance = _math.abs(tp / (tp + fn + 1e-7) - sensitivity)
            # The last of the nearest thresholds.
            nearest = _math.cumsum(_math.cast(_math.equal(distance, _math.reduce_min(distance)), _INT64))
            nearest = _math.cast(_math.argmax(nearest, 0), _dtypes.int32)
            return _math.divide(tn[nearest], tn[nearest] + fp[nearest] + 1e-7, name=node)

        return _collect(specificity(values, "value"), specificity(updates, "update_op"), metrics_collections,
                        updates_collections)


# Classes.


def _flat(values):
    values = _tensor(values)
    return _array.reshape(values, [-1]) if values.shape.ndims is None or values.shape.ndims > 1 else values


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None,
             name=None):
    """The mean, over the classes, of intersection over union; the update is the confusion matrix."""
    with _variable_scope(name, "mean_iou", [labels, predictions, weights]):
        predictions, labels = _tensor(predictions), _tensor(labels)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = _local([num_classes, num_classes], _DOUBLE, "total_confusion_matrix")
        current = _math.confusion_matrix(_math.cast(_flat(labels), _INT64), _math.cast(_flat(predictions), _INT64),
                                         num_classes, _DOUBLE, weights=None if weights is None else _flat(weights))
        update = _state.assign_add(total, current)
        rows, columns = _math.cast(_math.reduce_sum(total, 0), _FLOAT), _math.cast(_math.reduce_sum(total, 1), _FLOAT)
        both = _math.cast(_array.diag_part(total), _FLOAT)
        union = rows + columns - both
        present = _math.reduce_sum(_math.cast(_math.not_equal(union, 0), _FLOAT))
        iou = both / _array.where(union > 0, union, _array.ones_like(union))
        value = _array.where(present > 0, _math.reduce_sum(iou, name="mean_iou") / present, 0.0)
        return _collect(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(labels, predictions, num_classes, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):
    """The mean of the classes' accuracies; the update gives those of each."""
    with _variable_scope(name, "mean_accuracy", [labels, predictions, weights]):
        labels = _math.cast(labels, _INT64)
        labels, predictions = _flat(labels), _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total, count = _local([num_classes], _FLOAT, "total"), _local([num_classes], _FLOAT, "count")
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
        return _collect(value, update, metrics_collections, updates_collections)


# The best k.

_NOTHING = -2 ** 63  # no label: fills what a sparse row lacks


def _at_k_name(name, k=None, class_id=None):
    name = name if k is None else f"{name}_at_{k}"
    return name if class_id is None else f"{name}_class{class_id}"


def _rows(labels, predictions_idx):
    """Labels [..., n], dense, of labels or ids that may lack the last dimension; and whether they were sparse."""
    sparse = isinstance(labels, sparse_ops.SparseTensor)
    if sparse:
        labels = sparse_ops.sparse_tensor_to_dense(
            sparse_ops.SparseTensor(labels.indices, _math.cast(labels.values, _INT64), labels.dense_shape), _NOTHING,
            validate_indices=False)
    labels = _math.cast(labels, _INT64)
    ranks = labels.shape.ndims, predictions_idx.shape.ndims
    if None not in ranks:
        return (_array.expand_dims(labels, -1) if ranks[1] - ranks[0] == 1 else labels), sparse
    sizes = _array.concat([_array.shape(labels), [1]], 0)
    labels = _array.reshape(labels, _array.slice(sizes, [0], [_array.rank(predictions_idx)]))
    if ranks[1] is not None:
        labels.set_shape([None] * ranks[1])
    return labels, sparse


def _firsts(ids):
    """Where an id is one, and the first of its kind in its row."""
    n = _array.shape(ids)[-1]
    places = _math.range(n)
    earlier = _math.less(_array.expand_dims(places, 0), _array.expand_dims(places, 1))
    same = _math.equal(_array.expand_dims(ids, -1), _array.expand_dims(ids, -2))
    repeated = _math.reduce_any(_math.logical_and(same, earlier), -1)
    return _math.logical_and(_math.not_equal(ids, _NOTHING), _math.logical_not(repeated))


def _selected(ids, class_id):
    if class_id is None:
        return ids
    return _array.where(_math.equal(ids, class_id), ids, _array.zeros_like(ids) + _NOTHING)


def _common(labels, predictions_idx):
    """(which predictions are among the labels, which labels among the predictions)."""
    same = _math.equal(_array.expand_dims(predictions_idx, -1), _array.expand_dims(labels, -2))
    return _math.reduce_any(same, -1), _math.reduce_any(same, -2)


def _set_count(which, labels, predictions_idx, class_id):
    """How many of a row are true positives, false positives or false negatives."""
    labels, predictions_idx = _selected(labels, class_id), _selected(predictions_idx, class_id)
    found, hit = _common(labels, predictions_idx)
    if which == "false_negative":
        holds = _math.logical_and(_firsts(labels), _math.logical_not(hit))
    else:
        holds = _math.logical_and(_firsts(predictions_idx),
                                  found if which == "true_positive" else _math.logical_not(found))
    return _math.reduce_sum(_math.cast(holds, _DOUBLE), -1)


def _streaming_count(which, labels, predictions_idx, k, class_id, weights):
    with _name_scope(None, _at_k_name(which, k, class_id), [labels, predictions_idx, weights]) as scope:
        counts = _set_count(which, labels, predictions_idx, class_id)
        if weights is not None:
            weights = _math.cast(weights, _DOUBLE)
            counts = _math.multiply(counts, _broadcast_weights(weights, counts))
        variable = _local([], _DOUBLE, scope)
        return variable, _state.assign_add(variable, _math.reduce_sum(counts), name="update")


def _ratio_at_top_k(default, wrong):
    def metric(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
               updates_collections=None, name=None):
        with _name_scope(name, _at_k_name(default, k, class_id), [predictions_idx, labels, weights]):
            predictions_idx = _math.cast(predictions_idx, _INT64)
            labels, _ = _rows(labels, predictions_idx)
            hits, update_hits = _streaming_count("true_positive", labels, predictions_idx, k, class_id, weights)
            misses, update_misses = _streaming_count(wrong, labels, predictions_idx, k, class_id, weights)
            return _collect(_math.divide(hits, hits + misses, name=default),
                            _math.divide(update_hits, update_hits + update_misses, name="update"), metrics_collections,
                            updates_collections)

    metric.__name__ = metric.__qualname__ = f"{default}_at_top_k"
    return metric


precision_at_top_k = _ratio_at_top_k("precision", "false_positive")
recall_at_top_k = _ratio_at_top_k("recall", "false_negative")


def _ratio_at_k(default, of_indices):
    def metric(labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with _name_scope(name, _at_k_name(default, k, class_id), [predictions, labels, weights]) as scope:
            best = nn_ops.top_k(predictions, k).indices
            return of_indices(labels, best, k, class_id, weights, metrics_collections, updates_collections, scope)

    metric.__name__ = metric.__qualname__ = f"{default}_at_k"
    return metric


precision_at_k = sparse_precision_at_k = _ratio_at_k("precision", precision_at_top_k)
recall_at_k = _ratio_at_k("recall", recall_at_top_k)


def average_precision_at_k(labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None,
                           name=None):
    """The mean, over the examples, of precision averaged over the places of the relevant among the best k."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with _name_scope(name, _at_k_name("average_precision", k), [predictions, labels, weights]):
        predictions = _tensor(predictions)
        best = _math.cast(nn_ops.top_k(predictions, k).indices, _INT64)
        labels, sparse = _rows(labels, best)
        classes = _math.cast(_array.shape(predictions)[-1], _INT64)
        known = _math.logical_and(labels >= 0, labels < classes)
        labels = _array.where(known, labels, _array.zeros_like(labels) + _NOTHING)
        found = _math.cast(_common(labels, best)[0], _DOUBLE)
        precisions = _math.cumsum(found, -1) / _math.cumsum(_array.ones_like(found), -1)
        total = _math.reduce_sum(precisions * found, -1)
        if sparse:
            relevant = _math.reduce_sum(_math.cast(_firsts(labels), _INT64), -1)
        else:
            relevant = _math.reduce_sum(_array.ones_like(labels), -1)
        average = _math.divide(total, _math.cast(_math.minimum(relevant, k), _DOUBLE), name="average_precision")
        if weights is None:
            number = _math.cast(_array.size(average), _DOUBLE)
        else:
            weights = _broadcast_weights(_math.cast(weights, _DOUBLE), average)
            average, number = _math.multiply(average, weights), _math.reduce_sum(weights)
        with _name_scope(None, "max_1") as scope:
            most = _local([], _DOUBLE, scope)
            update_most = _state.assign_add(most, number, name="update")
        with _name_scope(None, "total") as scope:
            summed = _local([], _DOUBLE, scope)
            update_summed = _state.assign_add(summed, _math.reduce_sum(average), name="update")
        return _collect(_math.div_no_nan(summed, most, name="mean"),
                        _math.div_no_nan(update_summed, update_most, name="update"), metrics_collections,
                        updates_collections)


sparse_average_precision_at_k = average_precision_at_k
