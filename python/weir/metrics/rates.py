"""Metrics of tf.contrib.metrics that follow from true and false positives and negatives at thresholds."""

import collections

from weir import _weir
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.variable_scope import get_variable, variable_scope
from weir.inner.weights_broadcast_ops import broadcast_weights
from weir.metrics.counts import _at_thresholds, _spread, false_negatives, false_positives, true_negatives, true_positives
from weir.metrics.state import collect, shaped_alike, truth_values
from weir.ops import array_ops, check_ops, init_ops, math_ops, state_ops
from weir.ops.control_flow_ops import group

_EPSILON = 1e-7
_COUNTS = {"tp": "true_positives", "fp": "false_positives", "tn": "true_negatives", "fn": "false_negatives"}


def _thresholded(labels, predictions, thresholds, weights, *wanted):
    """Counts by their short names: ({name: variable}, {name: update})."""
    in_order = [_COUNTS[name] for name in ("tp", "fn", "tn", "fp") if name in wanted]
    values, updates = _at_thresholds(labels, predictions, thresholds, weights, in_order)
    return ({name: values[_COUNTS[name]] for name in wanted}, {name: updates[_COUNTS[name]] for name in wanted})


def _all(labels, predictions, num_thresholds, weights):
    """(tp, fn, tn, fp) as values, and as updates."""
    values, updates = _thresholded(labels, predictions, _spread(num_thresholds), weights, "tp", "fn", "tn", "fp")
    return tuple(values.values()), tuple(updates.values())


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
        values, updates = _all(labels, predictions, num_thresholds, weights)
        return collect(_weir.curve_points_of(_graph(), values, curve == "ROC"), group(*updates), metrics_collections,
                       updates_collections)


def f1_score(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
             name=None):
    """The best F1 score over all thresholds."""
    with variable_scope(name, "f1", [labels, predictions, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        values, updates = _thresholded(labels, predictions, _spread(num_thresholds), weights, "tp", "fn", "fp")

        def best(counts, node):
            return _weir.f1_of(_graph(), (counts["tp"], counts["fn"], None, counts["fp"]), node)

        return collect(best(values, "value"), best(updates, "update"), metrics_collections, updates_collections)


def recall_at_precision(labels, predictions, precision, weights=None, num_thresholds=200, metrics_collections=None,
                        updates_collections=None, name=None, strict_mode=False):
    """The recall at the threshold whose precision is nearest to ``precision``; strictly: not below it."""
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    with variable_scope(name, "recall_at_precision", [predictions, labels, weights]):
        values, updates = _all(labels, predictions, num_thresholds, weights)
        return collect(_weir.recall_near_precision(_graph(), values, precision, strict_mode, "value"),
                       _weir.recall_near_precision(_graph(), updates, precision, strict_mode, "update_op"),
                       metrics_collections, updates_collections)


def precision_at_recall(labels, predictions, target_recall, weights=None, num_thresholds=200, metrics_collections=None,
                        updates_collections=None, name=None):
    """The precision at the highest threshold whose recall is at least ``target_recall``."""
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    with variable_scope(name, "precision_at_recall", [predictions, labels, weights]):
        values, updates = _all(labels, predictions, num_thresholds, weights)
        return collect(_weir.precision_near_recall(_graph(), values, target_recall, "value"),
                       _weir.precision_near_recall(_graph(), updates, target_recall, "update_op"),
                       metrics_collections, updates_collections)


_PrecisionRecallData = collections.namedtuple(
    "PrecisionRecallData", ("tp", "fp", "tn", "fn", "precision", "recall", "thresholds"))


def precision_recall_at_equal_thresholds(labels, predictions, weights=None, num_thresholds=None, use_locking=None,
                                         name=None):
    """Counts at thresholds of equal distance, in time that does not grow with their number."""
    num_thresholds = 201 if num_thresholds is None else num_thresholds
    check_ops.assert_type(labels, dtypes.bool)
    with variable_scope(name, "precision_recall_at_equal_thresholds", [labels, predictions, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, predictions)
        data, update = _weir.equal_thresholds_part(_graph(), labels, predictions, weights, num_thresholds, use_locking)
        return _PrecisionRecallData(*data), update


def auc_using_histogram(boolean_labels, scores, score_range, nbins=100, collections=None, check_shape=True, name=None):
    """The area under the receiver operating characteristic, of scores that are counted in ``nbins`` bins."""
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, boolean_labels, _ = shaped_alike(scores, boolean_labels, None)
        if boolean_labels.dtype != dtypes.bool:
            raise ValueError(f"Argument boolean_labels should have dtype bool.  Found: {boolean_labels.dtype}")
        low, high = array_ops.unstack(convert_to_tensor(score_range), 2)
        bins = _weir.histogram_bins(_graph(), scores, low, high, nbins)
        counted, updates = [], []
        for kind, chosen in (("true", boolean_labels), ("false", math_ops.logical_not(boolean_labels))):
            variable = get_variable(f"hist_accumulate/hist_{kind}_acc", shape=[nbins], dtype=dtypes.int64,
                                    trainable=False, initializer=init_ops.zeros_initializer(),
                                    collections=collections or ["local_variables"])
            hits = math_ops.unsorted_segment_sum(math_ops.cast(array_ops.reshape(chosen, [-1]), dtypes.int64), bins, nbins)
            updates.append(state_ops.assign_add(variable, hits))
            counted.append(variable)
        return _weir.histogram_area(_graph(), *counted), group(*updates, name="update_op")
