"""The streaming metrics of tf.contrib.metrics that tf.metrics has too, with the predictions before the labels."""

import inspect

from weir.core import dtypes
from weir.core.graph import name_scope
from weir.metrics import best_k, classes, counts, means
from weir.ops import math_ops, nn_ops


def _renamed(metric, name, *first):
    """A metric under another name, whose first parameters stand in another order."""
    parameters = inspect.signature(metric).parameters
    order = list(first) + [each for each in parameters if each not in first]
    signature = inspect.Signature([parameters[each] for each in order])

    def streaming(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        return metric(**bound.arguments)

    streaming.__name__ = streaming.__qualname__ = name
    streaming.__signature__, streaming.__doc__ = signature, metric.__doc__
    return streaming


def _swapped(metric, name):
    return _renamed(metric, name, "predictions", "labels")


streaming_true_positives = _swapped(counts.true_positives, "streaming_true_positives")
streaming_true_negatives = _swapped(counts.true_negatives, "streaming_true_negatives")
streaming_false_positives = _swapped(counts.false_positives, "streaming_false_positives")
streaming_false_negatives = _swapped(counts.false_negatives, "streaming_false_negatives")
streaming_accuracy = _swapped(means.accuracy, "streaming_accuracy")
streaming_precision = _swapped(counts.precision, "streaming_precision")
streaming_recall = _swapped(counts.recall, "streaming_recall")
streaming_precision_at_thresholds = _swapped(counts.precision_at_thresholds, "streaming_precision_at_thresholds")
streaming_recall_at_thresholds = _swapped(counts.recall_at_thresholds, "streaming_recall_at_thresholds")
streaming_mean_absolute_error = _swapped(means.mean_absolute_error, "streaming_mean_absolute_error")
streaming_mean_squared_error = _swapped(means.mean_squared_error, "streaming_mean_squared_error")
streaming_root_mean_squared_error = _swapped(means.root_mean_squared_error, "streaming_root_mean_squared_error")
streaming_mean_relative_error = _swapped(means.mean_relative_error, "streaming_mean_relative_error")
streaming_mean_cosine_distance = _swapped(means.mean_cosine_distance, "streaming_mean_cosine_distance")
streaming_mean_iou = _swapped(classes.mean_iou, "streaming_mean_iou")
streaming_sparse_recall_at_k = _swapped(best_k.recall_at_k, "streaming_sparse_recall_at_k")
streaming_sparse_precision_at_k = _swapped(best_k.precision_at_k, "streaming_sparse_precision_at_k")
streaming_sparse_average_precision_at_k = _swapped(best_k.average_precision_at_k,
                                                   "streaming_sparse_average_precision_at_k")
streaming_mean = _renamed(means.mean, "streaming_mean")
streaming_mean_tensor = _renamed(means.mean_tensor, "streaming_mean_tensor")
streaming_percentage_less = _renamed(means.percentage_below, "streaming_percentage_less")


def streaming_auc(predictions, labels, weights=None, num_thresholds=200, metrics_collections=None,
                  updates_collections=None, curve="ROC", name=None):
    return counts.auc(labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, curve, name)


def streaming_specificity_at_sensitivity(predictions, labels, sensitivity, weights=None, num_thresholds=200,
                                         metrics_collections=None, updates_collections=None, name=None):
    return counts.specificity_at_sensitivity(labels, predictions, sensitivity, weights, num_thresholds,
                                             metrics_collections, updates_collections, name)


def streaming_sensitivity_at_specificity(predictions, labels, specificity, weights=None, num_thresholds=200,
                                         metrics_collections=None, updates_collections=None, name=None):
    return counts.sensitivity_at_specificity(labels, predictions, specificity, weights, num_thresholds,
                                             metrics_collections, updates_collections, name)


def streaming_recall_at_k(predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None,
                          name=None):
    """How often the label is among the k best predictions."""
    found = math_ops.cast(nn_ops.in_top_k(predictions, labels, k), dtypes.float32)
    return means.mean(found, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


def streaming_sparse_precision_at_top_k(top_k_predictions, labels, class_id=None, weights=None,
                                        metrics_collections=None, updates_collections=None, name=None):
    with name_scope(name, "precision_at_k" if class_id is None else f"precision_at_k_class{class_id}") as scope:
        return best_k.precision_at_top_k(labels, top_k_predictions, None, class_id, weights, metrics_collections,
                                         updates_collections, scope)


def sparse_recall_at_top_k(labels, top_k_predictions, class_id=None, weights=None, metrics_collections=None,
                           updates_collections=None, name=None):
    with name_scope(name, "recall_at_k" if class_id is None else f"recall_at_k_class{class_id}") as scope:
        return best_k.recall_at_top_k(labels, top_k_predictions, None, class_id, weights, metrics_collections,
                                      updates_collections, scope)


def streaming_sparse_average_precision_at_top_k(top_k_predictions, labels, weights=None, metrics_collections=None,
                                                updates_collections=None, name=None):
    return best_k._average_precision_at_top_k(labels, top_k_predictions, weights, metrics_collections,
                                              updates_collections, name)
