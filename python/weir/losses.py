"""tf.losses: losses with weights, collected for the total. The C++ functions make the nodes."""

from weir import _weir, names as _names
from weir.core.graph import (GraphKeys as _GraphKeys, add_to_collection as _add_to_collection,
                             get_collection as _get_collection)
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops as _array, math_ops as _math, simple as _simple


class Reduction:
    """How the losses of single examples become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls):
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS
_CODES = {key: code for code, key in enumerate((Reduction.NONE, Reduction.SUM, Reduction.MEAN,
                                                Reduction.SUM_OVER_BATCH_SIZE, Reduction.SUM_BY_NONZERO_WEIGHTS))}


def _code(reduction):
    Reduction.validate(reduction)
    return _CODES[reduction]


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    return _weir.compute_weighted_loss(_graph(), losses, weights, scope, loss_collection, _code(reduction))


def add_loss(loss, loss_collection=_GraphKeys.LOSSES):
    if loss_collection:
        _add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=_GraphKeys.LOSSES):
    return _get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    return _get_collection(_GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    losses = get_regularization_losses(scope)
    return _math.add_n(losses, name=name) if losses else _array.constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope=scope)
    return _math.add_n(losses, name=name)


def _loss(function, labels, predictions, number, weights, scope, loss_collection, reduction, names):
    for name, value in zip(names, (labels, predictions)):
        if value is None:
            raise ValueError(f"{name} must not be None.")
    return function(_graph(), labels, predictions, number, weights, scope, loss_collection, _code(reduction))


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                        reduction=_DEFAULT):
    return _loss(_weir.absolute_difference, labels, predictions, None, weights, scope, loss_collection, reduction,
                 ("labels", "predictions"))


def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                       reduction=_DEFAULT):
    return _loss(_weir.mean_squared_error, labels, predictions, None, weights, scope, loss_collection, reduction,
                 ("labels", "predictions"))


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
               reduction=_DEFAULT):
    return _loss(_weir.huber_loss, labels, predictions, delta, weights, scope, loss_collection, reduction,
                 ("labels", "predictions"))


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=_GraphKeys.LOSSES,
             reduction=_DEFAULT):
    return _loss(_weir.log_loss, labels, predictions, epsilon, weights, scope, loss_collection, reduction,
                 ("labels", "predictions"))


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    return _loss(_weir.hinge_loss, labels, logits, None, weights, scope, loss_collection, reduction,
                 ("labels", "logits"))


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                    reduction=_DEFAULT, dim=None):
    axis = _simple.either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    return _loss(_weir.cosine_distance, labels, predictions, axis, weights, scope, loss_collection, reduction,
                 ("labels", "predictions"))


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES):
    """The mean squared difference between pairs of errors of one example."""
    return _weir.mean_pairwise_squared_error(_graph(), labels, predictions, weights, scope, loss_collection)


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    return _loss(_weir.sigmoid_cross_entropy, multi_class_labels, logits, label_smoothing, weights, scope,
                 loss_collection, reduction, ("multi_class_labels", "logits"))


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    return _loss(_weir.softmax_cross_entropy, onehot_labels, logits, label_smoothing, weights, scope, loss_collection,
                 reduction, ("onehot_labels", "logits"))


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                                 reduction=_DEFAULT):
    return _loss(_weir.sparse_softmax_cross_entropy, labels, logits, None, weights, scope, loss_collection, reduction,
                 ("labels", "logits"))


__getattr__, __dir__ = _names.namespace(__name__)
