"""tf.losses: losses with weights, collected for the total."""

from weir import _lazy
from weir.framework import dtypes as _dtypes
from weir.framework.graph import (GraphKeys as _GraphKeys, add_to_collection as _add_to_collection,
                                  convert_to_tensor as _tensor, control_dependencies as _control_dependencies,
                                  get_collection as _get_collection, name_scope as _name_scope)
from weir.ops import array_ops as _array, control_flow_ops as _control, math_ops as _math, nn_ops as _nn, simple as _simple


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


def _assert_broadcastable(weights, values):
    """An operation to wait for. Weights have no dimensions, or as many as the values with sizes equal or one.

    The nodes are TensorFlow's, so that seeds, which count nodes, draw the same numbers after a loss.
    """
    with _name_scope(None, "assert_broadcastable", [weights, values]):
        with _name_scope(None, "weights", [weights]) as scope:
            weights = _tensor(weights, name=scope)
            weights_shape, _ = _array.shape(weights, name="shape"), _array.rank(weights, name="rank")
        with _name_scope(None, "values", [values]) as scope:
            values_shape, _ = _array.shape(values, name="shape"), _array.rank(values, name="rank")
        have, want = weights.shape, values.shape
        if have.ndims == 0:
            return _control.no_op(name="static_scalar_check_success")
        message = "weights can not be broadcast to values."
        if None not in (have.ndims, want.ndims):
            if have.ndims != want.ndims:
                raise ValueError(f"{message} values.rank={want.ndims}. weights.rank={have.ndims}. values.shape={want}. "
                                 f"weights.shape={have}.")
            for i, (a, b) in enumerate(zip(have.as_list(), want.as_list())):
                if None not in (a, b) and a not in (1, b):
                    raise ValueError(f"{message} Mismatch at dim {i}. values.shape={want} weights.shape={have}.")
            if have.is_fully_defined() and want.is_fully_defined():
                return _control.no_op(name="static_dims_check_success")
            valid = _math.logical_or(_math.equal(weights_shape, 1), _math.equal(weights_shape, values_shape))
            return _control.Assert(_math.reduce_all(valid), [message, "weights.shape=", weights_shape, "values.shape=",
                                                             values_shape])
        return _control.no_op()


def _broadcast_weights(weights, values):
    with _name_scope(None, "broadcast_weights", [weights, values]) as scope:
        if weights.shape.is_fully_defined() and values.shape.is_fully_defined() and (
                weights.shape.is_compatible_with(values.shape)):
            return weights
        with _control_dependencies([_assert_broadcastable(weights, values)]):
            return _math.multiply(weights, _array.ones_like(values), name=scope)


def _safe_mean(total, count):
    return _math.div_no_nan(_math.reduce_sum(total), count, name="value")


def _num_present(losses, weights, axes=None):
    """How many losses have a weight that is not zero: of all, or of each example."""
    with _name_scope(None, "num_present", [losses, weights]) as scope:
        present = _array.where(_math.equal(weights, 0.0), _array.zeros_like(weights), _array.ones_like(weights))
        present = _broadcast_weights(present, losses)
        if axes is not None:
            return _math.reduce_sum(present, axis=axes, keepdims=True, name=scope)
        return _math.reduce_sum(present, name=scope)


def _num_elements(losses):
    with _name_scope(None, "num_elements", [losses]) as scope:
        return _math.cast(_array.size(losses, name=scope), losses.dtype)


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    Reduction.validate(reduction)
    with _name_scope(scope, "weighted_loss", [losses, weights]):
        losses = _tensor(losses)
        with _control_dependencies([_assert_broadcastable(weights, losses)]):
            dtype = losses.dtype.base_dtype
            losses = _math.cast(losses, _dtypes.float32)
            weights = _math.cast(weights, _dtypes.float32)
            loss = _math.multiply(losses, weights)
            if reduction != Reduction.NONE:
                loss = _math.reduce_sum(loss)
                if reduction == Reduction.MEAN:
                    loss = _safe_mean(loss, _math.reduce_sum(_array.ones_like(losses) * weights))
                elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                    loss = _safe_mean(loss, _num_present(losses, weights))
                elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                    loss = _safe_mean(loss, _num_elements(losses))
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
    predictions = _math.cast(predictions, _dtypes.float32)
    labels = _math.cast(labels, _dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                        reduction=_DEFAULT):
    with _name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = _math.abs(_math.subtract(predictions, labels))
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
        error = _math.abs(_math.subtract(predictions, labels))
        quadratic = _math.minimum(error, delta)
        linear = _math.subtract(error, quadratic)
        half = _tensor(0.5, dtype=quadratic.dtype)
        losses = _math.add(_math.multiply(half, _math.multiply(quadratic, quadratic)), _math.multiply(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=_GraphKeys.LOSSES,
             reduction=_DEFAULT):
    with _name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = -_math.multiply(labels, _math.log(predictions + epsilon)) - _math.multiply(
            1 - labels, _math.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    with _name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        labels, logits = _pair(labels, logits)
        ones = _array.ones_like(labels)
        labels = _math.subtract(2 * labels, ones)
        losses = _nn.relu(_math.subtract(ones, _math.multiply(labels, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                    reduction=_DEFAULT, dim=None):
    axis = _simple.either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with _name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _pair(labels, predictions)
        losses = 1 - _math.reduce_sum(_math.multiply(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES):
    """The mean squared difference between pairs of errors of one example."""
    with _name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = _math.cast(weights, _dtypes.float32)
        labels, predictions = _pair(labels, predictions)
        with _control_dependencies([_assert_broadcastable(weights, labels)]):
            error = _math.subtract(predictions, labels)
            axes = list(range(1, error.shape.ndims))
            squares = _math.reduce_sum(_math.square(error), axis=axes, keepdims=True)
            count = _num_present(error, weights, axes)
            first = 2.0 * _math.div_no_nan(squares, _math.maximum(count - 1, 0), name="value")
            total = _math.reduce_sum(error, axis=axes, keepdims=True)
            second = 2.0 * _math.div_no_nan(_math.square(total), _math.maximum(_math.multiply(count, count - 1), 0),
                                            name="value")
            loss = _math.reduce_sum(_math.multiply(first - second, weights))
            mean_loss = _array.where(_math.reduce_sum(count) > 0, loss, _array.zeros_like(loss), name="value")
            add_loss(mean_loss, loss_collection)
            return mean_loss


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=_GraphKeys.LOSSES, reduction=_DEFAULT):
    if multi_class_labels is None or logits is None:
        raise ValueError(f"{'multi_class_labels' if multi_class_labels is None else 'logits'} must not be None.")
    with _name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits = _tensor(logits)
        labels = _math.cast(multi_class_labels, logits.dtype.base_dtype)
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
        labels = _math.cast(onehot_labels, logits.dtype.base_dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            negatives = label_smoothing / _math.cast(_array.shape(labels)[-1], logits.dtype.base_dtype)
            labels = labels * (1.0 - label_smoothing) + negatives
        labels = _array.stop_gradient(labels, name="labels_stop_gradient")
        losses = _nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _without_last(tensor, rank):
    """Drops a last dimension of size one where ``tensor`` has one more than ``rank``."""
    if None not in (rank, tensor.shape.ndims) and tensor.shape.ndims == rank + 1 and tensor.shape.as_list()[-1] in (1, None):
        return _array.squeeze(tensor, [-1])
    return tensor


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=_GraphKeys.LOSSES,
                                 reduction=_DEFAULT):
    if labels is None or logits is None:
        raise ValueError(f"{'labels' if labels is None else 'logits'} must not be None.")
    with _name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        logits = _tensor(logits)
        rank = None if logits.shape.ndims is None else logits.shape.ndims - 1
        with _name_scope(None, "remove_squeezable_dimensions", [labels, logits]):
            labels = _without_last(_tensor(labels), rank)
        weights = _without_last(_tensor(weights), rank)
        losses = _nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


__getattr__ = _lazy.resolver(__name__, {})
