"""tf.losses: losses with weights, collected for the total."""

from weir import _lazy
from weir.framework import dtypes as _dtypes
from weir.framework.graph import (GraphKeys as _GraphKeys, add_to_collection as _add_to_collection,
                                  convert_to_tensor as _tensor, get_collection as _get_collection,
                                  name_scope as _name_scope)
from weir.ops import array_ops as _array, math_ops as _math, nn_ops as _nn


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


def _check_weights(weights, losses):
    """Weights have no dimensions, or as many as the losses with sizes equal or one."""
    have, want = weights.shape, losses.shape
    if have.ndims in (None, 0) or want.ndims is None:
        return
    if have.ndims != want.ndims:
        raise ValueError(f"weights can not be broadcast to values. values.rank={want.ndims}. weights.rank={have.ndims}. "
                         f"values.shape={want}. weights.shape={have}.")
    for a, b in zip(have.as_list(), want.as_list()):
        if None not in (a, b) and a not in (1, b):
            raise ValueError(f"weights can not be broadcast to values. values.shape={want}. weights.shape={have}.")


def _safe_mean(total, count):
    return _math.div_no_nan(total, count, name="value")


def _num_present(losses, weights):
    """How many losses have a weight that is not zero."""
    with _name_scope(None, "num_present", [losses, weights]):
        if weights.shape.ndims == 0 and _value(weights) == 1.0:
            return _math.cast(_array.size(losses), losses.dtype)
        present = _math.cast(_math.not_equal(weights, _tensor(0.0, dtype=weights.dtype)), losses.dtype)
        return _math.reduce_sum(present * _array.ones_like(losses))


def _value(tensor):
    from weir import _weir

    value = _weir.constant_value(tensor)
    return None if value is None else float(value)


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    Reduction.validate(reduction)
    with _name_scope(scope, "weighted_loss", [losses, weights]):
        losses = _tensor(losses)
        dtype = losses.dtype.base_dtype
        losses = _math.cast(losses, _dtypes.float32)
        weights = _math.cast(_tensor(weights), _dtypes.float32)
        _check_weights(weights, losses)
        loss = losses * weights
        if reduction != Reduction.NONE:
            total = _math.reduce_sum(loss)
            if reduction == Reduction.MEAN:
                total = _safe_mean(total, _math.reduce_sum(_array.ones_like(losses) * weights))
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                total = _safe_mean(total, _num_present(losses, weights))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                total = _safe_mean(total, _math.cast(_array.size(losses), _dtypes.float32))
            loss = total
        loss = _math.cast(loss, dtype)
        add_loss(loss, loss_collection)
        return loss


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


def _pair(labels, predictions):
    if labels is None:
        raise ValueError("labels must not be None.")
    if predictions is None:
        raise ValueError("predictions must not be None.")
    predictions = _math.cast(_tensor(predictions), _dtypes.float32)
    labels = _math.cast(_tensor(labels), _dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                        reduction=_DEFAULT):
    with _name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = _math.abs(predictions - labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                       reduction=_DEFAULT):
    with _name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = _math.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
               reduction=_DEFAULT):
    with _name_scope(scope, "huber_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        error = _math.abs(predictions - labels)
        quadratic = _math.minimum(error, delta)
        losses = 0.5 * quadratic * quadratic + delta * (error - quadratic)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=_GraphKeys.LOSSES,
             reduction=_DEFAULT):
    with _name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = -labels * _math.log(predictions + epsilon) - (1 - labels) * _math.log(1 - predictions + epsilon)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    with _name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        labels, logits = _pair(labels, logits)
        losses = _nn.relu(1 - (2 * labels - 1) * logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                    reduction=_DEFAULT, dim=None):
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with _name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = 1 - _math.reduce_sum(predictions * labels, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES):
    """The mean squared difference between pairs of errors of one example."""
    with _name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        weights = _math.cast(_tensor(weights), _dtypes.float32)
        error = predictions - labels
        axes = list(range(1, error.shape.ndims))
        squares = _math.reduce_sum(_math.square(error), axis=axes, keepdims=True)
        count = _math.reduce_sum(_array.ones_like(error) * _math.cast(_math.not_equal(weights, 0.0), _dtypes.float32),
                                 axis=axes, keepdims=True)
        first = 2.0 * _math.div_no_nan(squares, _math.maximum(count - 1, 0.0), name="value")
        total = _math.reduce_sum(error, axis=axes, keepdims=True)
        second = 2.0 * _math.div_no_nan(_math.square(total), count * _math.maximum(count - 1, 0.0), name="value")
        weighted = (first - second) * weights
        loss = _math.reduce_sum(weighted)
        present = _math.reduce_sum(_math.cast(_math.greater(count, 0.0), _dtypes.float32))
        mean_loss = _array.where(present > 0, loss, _array.zeros_like(loss), name="value")
        add_loss(mean_loss, loss_collection)
        return mean_loss


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    if multi_class_labels is None or logits is None:
        raise ValueError(f"{'multi_class_labels' if multi_class_labels is None else 'logits'} must not be None.")
    with _name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits = _tensor(logits)
        labels = _math.cast(_tensor(multi_class_labels), logits.dtype.base_dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = _nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    if onehot_labels is None or logits is None:
        raise ValueError(f"{'onehot_labels' if onehot_labels is None else 'logits'} must not be None.")
    with _name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits = _tensor(logits)
        labels = _math.cast(_tensor(onehot_labels), logits.dtype.base_dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = _math.cast(_array.shape(labels)[1], logits.dtype.base_dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = _array.stop_gradient(labels, name="labels_stop_gradient")
        losses = _nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _without_last(tensor, rank):
    """Drops a last dimension of size one where ``tensor`` has one more than ``rank``."""
    if tensor.shape.ndims is not None and tensor.shape.ndims == rank + 1 and tensor.shape.as_list()[-1] in (1, None):
        return _array.squeeze(tensor, [-1])
    return tensor


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                                 reduction=_DEFAULT):
    if labels is None or logits is None:
        raise ValueError(f"{'labels' if labels is None else 'logits'} must not be None.")
    with _name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels, logits, weights = _tensor(labels), _tensor(logits), _tensor(weights)
        if logits.shape.ndims is not None:
            labels = _without_last(labels, logits.shape.ndims - 1)
            weights = _without_last(weights, logits.shape.ndims - 1)
        losses = _nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


__getattr__ = _lazy.resolver(__name__, {})
