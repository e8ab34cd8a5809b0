"""Heads by functions: the names of before they were classes."""

from weir.estimator.head.class_heads import BinaryClassHead, MultiClassHead, MultiLabelHead
from weir.estimator.head.regression_heads import (LogisticRegressionHead, MultiHead, PoissonRegressionHead,
                                                  RegressionHead)

_SUM, _MEAN = "weighted_sum", "weighted_sum_over_batch_size"


def _as_before(head):
    """The head with the sums of its metrics as they were until TensorFlow 1.14."""
    head._pr_summation = "trapezoidal"
    return head


def _multi_class_head_with_softmax_cross_entropy_loss(n_classes, weight_column=None, label_vocabulary=None,
                                                      loss_reduction=_SUM, loss_fn=None, name=None):
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(weight_column=None, thresholds=None, label_vocabulary=None,
                                                          loss_reduction=_SUM, loss_fn=None, name=None):
    return _as_before(BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name))


def _regression_head(weight_column=None, label_dimension=1, loss_reduction=_SUM, loss_fn=None, inverse_link_fn=None,
                     name=None):
    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


_regression_head_with_mean_squared_error_loss = _regression_head


def multi_class_head(n_classes, weight_column=None, label_vocabulary=None, loss_reduction=_MEAN, loss_fn=None, name=None):
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def binary_classification_head(weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=_MEAN,
                               loss_fn=None, name=None):
    return _as_before(BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name))


def multi_label_head(n_classes, weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=_MEAN,
                     loss_fn=None, classes_for_class_based_metrics=None, name=None):
    return _as_before(MultiLabelHead(n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn,
                                     classes_for_class_based_metrics, name))


def regression_head(weight_column=None, label_dimension=1, loss_reduction=_MEAN, loss_fn=None, inverse_link_fn=None,
                    name=None):
    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(weight_column=None, label_dimension=1, loss_reduction=_MEAN, compute_full_loss=True,
                            name=None):
    return PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)


def logistic_regression_head(weight_column=None, loss_reduction=_MEAN, name=None):
    return LogisticRegressionHead(weight_column, loss_reduction, name)


def multi_head(heads, head_weights=None):
    return MultiHead(heads, head_weights)
