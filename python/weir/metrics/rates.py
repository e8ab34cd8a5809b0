"""Metrics of tf.contrib.metrics that follow from true and false positives and negatives at thresholds."""

import collections

from weir.core import dtypes
from weir.core.graph import control_dependencies, convert_to_tensor, name_scope
from weir.core.variable_scope import get_variable, variable_scope
from weir.metrics.counts import _at_thresholds, _spread, false_negatives, false_positives, true_negatives, true_positives
from weir.metrics.state import collect, metric_variable, shaped_alike, truth_values
from weir.ops import array_ops, check_ops, init_ops, math_ops, state_ops
from weir.ops.control_flow_ops import cond, group

_EPSILON = 1e-7
_COUNTS = {"tp": "true_positives", "fp": "false_positives", "tn": "true_negatives", "fn": "false_negatives"}


def _thresholded(labels, predictions, thresholds, weights, *wanted):
    """Counts by their short names: ({name: variable}, {name: update})."""
    in_order = [_COUNTS[name] for name in ("tp", "fn", "tn", "fp") if name in wanted]
    values, updates = _at_thresholds(labels, predictions, thresholds, weights, in_order)
    return ({name: values[_COUNTS[name]] for name in wanted}, {name: updates[_COUNTS[name]] for name in wanted})


def _rate(scope, wrong, right):
    """wrong / (wrong + right), where both are counts of truth values."""

    def metric(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
        with variable_scope(name, scope, [predictions, labels, weights]):
            labels, predictions, weights = truth_values(labels, predictions, weights)
            missed, update_missed = wrong(labels, predictions, weights)
            hit, update_hit = right(labels, predictions, weights)
            return collect(math_ops.div_no_nan(missed, missed + hit, name="value"),
                           math_ops.div_no_nan(update_missed, update_missed + update_hit, name="update_op"),
                           metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = "streaming_" + scope
    return metric


streaming_false_positive_rate = _rate("false_positive_rate", false_positives, true_negatives)
streaming_false_negative_rate = _rate("false_negative_rate", false_negatives, true_positives)


def _rate_at_thresholds(scope, wrong, right):
    def metric(predictions, labels, thresholds, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with variable_scope(name, scope, [predictions, labels, weights]):
            values, updates = _thresholded(labels, predictions, thresholds, weights, wrong, right)

            def rate(counts, node):
                return math_ops.divide(counts[wrong], _EPSILON + counts[wrong] + counts[right], name=f"{wrong}r_{node}")

            return collect(rate(values, "value"), rate(updates, "update_op"), metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = "streaming_" + scope
    return metric


streaming_false_positive_rate_at_thresholds = _rate_at_thresholds("false_positive_rate_at_thresholds", "fp", "tn")
streaming_false_negative_rate_at_thresholds = _rate_at_thresholds("false_negative_rate_at_thresholds", "fn", "tp")


def _count_at_thresholds(count):
    def metric(predictions, labels, thresholds, weights=None):
        values, updates = _thresholded(labels, predictions, thresholds, weights, count)
        return values[count], updates[count]

    metric.__name__ = metric.__qualname__ = f"streaming_{_COUNTS[count]}_at_thresholds"
    return metric


streaming_true_positives_at_thresholds = _count_at_thresholds("tp")
streaming_false_positives_at_thresholds = _count_at_thresholds("fp")
streaming_true_negatives_at_thresholds = _count_at_thresholds("tn")
streaming_false_negatives_at_thresholds = _count_at_thresholds("fn")


def streaming_curve_points(labels=None, predictions=None, weights=None, num_thresholds=200, metrics_collections=None,
                           updates_collections=None, curve="ROC", name=None):
    """The points of a curve of operating points."""
    with variable_scope(name, "curve_points", [labels, predictions, weights]):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = _thresholded(labels, predictions, _spread(num_thresholds), weights, "tp", "fn", "tn", "fp")
        tp, fn, tn, fp = (values[name] for name in ("tp", "fn", "tn", "fp"))
        hit_rate = (tp + 1e-6) / (tp + fn + 1e-6)
        if curve == "ROC":
            x, y = fp / (fp + tn + 1e-6), hit_rate
        else:
            x, y = hit_rate, (tp + 1e-6) / (tp + fp + 1e-6)
        return collect(array_ops.stack([x, y], axis=1), group(*updates.values()), metrics_collections,
                       updates_collections)


def f1_score(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
             name=None):
    """The best F1 score over all thresholds."""
    with variable_scope(name, "f1", [labels, predictions, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        values, updates = _thresholded(labels, predictions, _spread(num_thresholds), weights, "tp", "fp", "fn")

        def best(counts, node):
            precision = math_ops.divide(counts["tp"], _EPSILON + counts["tp"] + counts["fp"], name="precision_" + node)
            recall = math_ops.divide(counts["tp"], _EPSILON + counts["tp"] + counts["fn"], name="recall_" + node)
            return math_ops.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))

        return collect(best(values, "value"), best(updates, "update"), metrics_collections, updates_collections)


def recall_at_precision(labels, predictions, precision, weights=None, num_thresholds=200, metrics_collections=None,
                        updates_collections=None, name=None, strict_mode=False):
    """The recall at the threshold whose precision is nearest to ``precision``; strictly: not below it."""
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    with variable_scope(name, "recall_at_precision", [predictions, labels, weights]):
        values, updates = _thresholded(labels, predictions, _spread(num_thresholds), weights, "tp", "fn", "tn", "fp")

        def recall(counts, node):
            tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
            precisions = math_ops.divide(tp, tp + fp + _EPSILON)
            if strict_mode:
                nearest = math_ops.argmax(1.0 / (precisions - precision + _EPSILON), 0, output_type=dtypes.int32)
            else:
                nearest = math_ops.argmin(math_ops.abs(precisions - precision), 0, output_type=dtypes.int32)

            def there():
                return math_ops.divide(tp[nearest], tp[nearest] + fn[nearest] + _EPSILON, name=node)

            return cond(precisions[nearest] >= precision, there, lambda: 0.) if strict_mode else there()

        return collect(recall(values, "value"), recall(updates, "update_op"), metrics_collections, updates_collections)


def precision_at_recall(labels, predictions, target_recall, weights=None, num_thresholds=200, metrics_collections=None,
                        updates_collections=None, name=None):
    """The precision at the highest threshold whose recall is at least ``target_recall``."""
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    with variable_scope(name, "precision_at_recall", [predictions, labels, weights]):
        values, updates = _thresholded(labels, predictions, _spread(num_thresholds), weights, "tp", "fn", "tn", "fp")

        def precision(counts, node):
            tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
            enough = math_ops.greater_equal(math_ops.divide(tp, tp + fn + _EPSILON), target_recall)
            last = math_ops.reduce_sum(math_ops.cast(enough, dtypes.int64)) - 1
            return math_ops.divide(tp[last] + _EPSILON, tp[last] + fp[last] + _EPSILON, name=node)

        return collect(precision(values, "value"), precision(updates, "update_op"), metrics_collections,
                       updates_collections)


_PrecisionRecallData = collections.namedtuple(
    "PrecisionRecallData", ("tp", "fp", "tn", "fn", "precision", "recall", "thresholds"))


def precision_recall_at_equal_thresholds(labels, predictions, weights=None, num_thresholds=None, use_locking=None,
                                         name=None):
    """Counts at thresholds of equal distance, in time that does not grow with their number."""
    num_thresholds = 201 if num_thresholds is None else num_thresholds
    check_ops.assert_type(labels, dtypes.bool)
    with variable_scope(name, "precision_recall_at_equal_thresholds", [labels, predictions, weights]):
        predictions = convert_to_tensor(predictions)
        in_range = [check(predictions, math_ops.cast(limit, predictions.dtype), message="predictions must be in [0, 1]")
                    for check, limit in ((check_ops.assert_greater_equal, 0.0), (check_ops.assert_less_equal, 1.0))]
        with control_dependencies(in_range):
            predictions, labels, weights = shaped_alike(predictions, labels, 1.0 if weights is None else weights)
        weights, truth = math_ops.cast(weights, dtypes.float64), math_ops.cast(labels, dtypes.float64)
        flat = array_ops.reshape(predictions, [-1])
        buckets = math_ops.cast(math_ops.floor(flat * (num_thresholds - 1)), dtypes.int32)
        with name_scope("variables"):
            variables = [metric_variable([num_thresholds], dtypes.float64, kind) for kind in ("tp_buckets", "fp_buckets")]
        with name_scope("update_op"):
            updates = [state_ops.scatter_add(variable, buckets, array_ops.reshape(hits, [-1]),
                                             use_locking=True if use_locking is None else use_locking)
                       for variable, hits in zip(variables, (truth * weights, (1.0 - truth) * weights))]
        tp, fp = (math_ops.cumsum(variable, reverse=True, name=kind) for variable, kind in zip(variables, ("tp", "fp")))
        tn, fn = fp[0] - fp, tp[0] - tp
        epsilon = convert_to_tensor(1e-7, dtype=dtypes.float64)
        data = [tp, fp, tn, fn, tp / math_ops.maximum(epsilon, tp + fp), tp / math_ops.maximum(epsilon, tp + fn),
                math_ops.lin_space(0.0, 1.0, num_thresholds)]
        return _PrecisionRecallData(*(math_ops.cast(each, predictions.dtype) for each in data)), group(*updates)


def auc_using_histogram(boolean_labels, scores, score_range, nbins=100, collections=None, check_shape=True, name=None):
    """The area under the receiver operating characteristic, of scores that are counted in ``nbins`` bins."""
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, boolean_labels, _ = shaped_alike(scores, boolean_labels, None)
        if boolean_labels.dtype != dtypes.bool:
            raise ValueError(f"Argument boolean_labels should have dtype bool.  Found: {boolean_labels.dtype}")
        low, high = (math_ops.cast(each, scores.dtype) for each in array_ops.unstack(convert_to_tensor(score_range), 2))
        bins = math_ops.cast(math_ops.floor((scores - low) / (high - low) * nbins), dtypes.int32)
        bins = array_ops.reshape(math_ops.minimum(math_ops.maximum(bins, 0), nbins - 1), [-1])
        sums, updates = [], []
        for kind, chosen in (("true", boolean_labels), ("false", math_ops.logical_not(boolean_labels))):
            variable = get_variable(f"hist_accumulate/hist_{kind}_acc", shape=[nbins], dtype=dtypes.int64,
                                    trainable=False, initializer=init_ops.zeros_initializer(),
                                    collections=collections or ["local_variables"])
            hits = math_ops.unsorted_segment_sum(math_ops.cast(array_ops.reshape(chosen, [-1]), dtypes.int64), bins, nbins)
            updates.append(state_ops.assign_add(variable, hits))
            share = math_ops.truediv(variable, math_ops.reduce_sum(variable))
            sums.append(math_ops.cast(array_ops.reverse(share, [0]), dtypes.float32))
        height = math_ops.cumsum(sums[0])
        first, rest = sums[1][0] * height[0] / 2.0, sums[1][1:] * (height[1:] + height[:nbins - 1]) / 2.0
        return math_ops.add(first, math_ops.reduce_sum(rest), name="auc"), group(*updates, name="update_op")
