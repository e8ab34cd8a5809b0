"""True and false positives and negatives over many batches, and what follows from them."""

from weir import _weir
from weir.core import dtypes as _dtypes
from weir.core.stack import get_default_graph as _graph
from weir.core.variable_scope import variable_scope as _variable_scope
from weir.inner.weights_broadcast_ops import broadcast_weights as _broadcast_weights
from weir.metrics.state import collect, metric_variable, ratio_of, shaped_alike, truth_values
from weir.ops import array_ops as _array, math_ops as _math, state_ops as _state

_FLOAT, _INT64, _BOOL = _dtypes.float32, _dtypes.int64, _dtypes.as_dtype("bool")


# Counts of truth values.


def _count(holds, weights, metrics_collections, updates_collections):
    """How often ``holds`` was true, by weight."""
    count = metric_variable([], _FLOAT, "count")
    hits = _math.cast(holds, _FLOAT)
    if weights is not None:
        hits, _, weights = shaped_alike(hits, None, weights)
        hits = _math.multiply(hits, _broadcast_weights(_math.cast(weights, _FLOAT), hits))
    return collect(_array.identity(count), _state.assign_add(count, _math.reduce_sum(hits)), metrics_collections,
                   updates_collections)


def _counter(default, holds):
    """A count of the examples for which ``holds(label, prediction)``, both as truth values."""

    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with _variable_scope(name, default, [labels, predictions, weights]):
            labels, predictions, weights = truth_values(labels, predictions, weights)
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
            labels, predictions, weights = truth_values(labels, predictions, weights)
            hits, update_hits = true_positives(labels, predictions, weights)
            misses, update_misses = wrong(labels, predictions, weights)
            return collect(ratio_of(hits, hits + misses, "value"),
                           ratio_of(update_hits, update_hits + update_misses, "update_op"), metrics_collections,
                           updates_collections)

    metric.__name__ = metric.__qualname__ = default
    return metric


precision, recall = _ratio("precision", false_positives), _ratio("recall", false_negatives)


# Counts at thresholds.


def _at_thresholds(labels, predictions, thresholds, weights, wanted):
    """Of each wanted count, for each threshold: ({name: value}, {name: update})."""
    predictions, labels, weights = shaped_alike(_math.cast(predictions, _FLOAT), _math.cast(labels, _BOOL), weights)
    if weights is not None:
        weights = _broadcast_weights(_math.cast(weights, _FLOAT), predictions)
    counts = _weir.counts_at_thresholds(_graph(), labels, predictions, list(thresholds), weights, list(wanted))
    return ({name: value for name, (value, _) in zip(wanted, counts)},
            {name: update for name, (_, update) in zip(wanted, counts)})


def _counter_at_thresholds(count):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with _variable_scope(name, count, [labels, predictions, weights]):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, [count])
            return collect(_array.identity(values[count]), updates[count], metrics_collections, updates_collections)

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

            return collect(ratio(values, "value"), ratio(updates, "update_op"), metrics_collections, updates_collections)

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

        return collect(area(values, "value"), area(updates, "update_op"), metrics_collections, updates_collections)


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

        return collect(sensitivity(values, "value"), sensitivity(updates, "update_op"), metrics_collections,
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

        return collect(specificity(values, "value"), specificity(updates, "update_op"), metrics_collections,
                       updates_collections)
