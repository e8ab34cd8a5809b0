"""Losses as TensorFlow had them before tf.losses: predictions before labels, weights for examples."""

from weir.contrib.framework.arg_scopes import add_arg_scope
from weir.core import dtypes
from weir.core.graph import GraphKeys, add_to_collection, convert_to_tensor, get_collection, name_scope
from weir.ops import array_ops, math_ops, nn_ops

_NOT_GIVEN = object()  # "weight" is what "weights" was called in TensorFlow 0.x


def _one_of(first, second, new_name):
    """An argument that had another name in TensorFlow 0.x."""
    if first is None and second is None:
        raise ValueError(f"Missing {new_name}")
    return second if first is None else first


def _scaled(losses, weights):
    """The sum of losses, each times the weight of its example or element."""
    axes = list(range(max(0, weights.get_shape().ndims), losses.get_shape().ndims))
    return math_ops.reduce_sum(math_ops.multiply(math_ops.reduce_sum(losses, axis=axes), weights))


def _present(losses, weights, per_batch=False):
    """How many losses count: those whose weight is not 0."""
    ndims = weights.get_shape().ndims
    if ndims == 0:
        batch = array_ops.reshape(array_ops.slice(array_ops.shape(losses), [0], [1]), [])
        each = math_ops.div(math_ops.cast(array_ops.size(losses), dtypes.float32), math_ops.cast(batch, dtypes.float32))
        each = array_ops.where(math_ops.equal(weights, 0), array_ops.zeros_like(each), each)
        counts = math_ops.multiply(array_ops.ones(array_ops.reshape(batch, [1])), each)
    else:
        nonzero = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(weights, 0), dtypes.float32),
                                      axis=list(range(1, ndims)))
        inner = array_ops.slice(array_ops.shape(losses), [ndims], [-1])
        counts = math_ops.multiply(nonzero, math_ops.cast(math_ops.reduce_prod(inner), dtypes.float32))
    return counts if per_batch else math_ops.reduce_sum(counts)


def _known_rank(tensor, what):
    if tensor.get_shape().ndims is None:
        raise ValueError(f"{what}.get_shape().ndims cannot be None")


def compute_weighted_loss(losses, weights=1.0, scope=None, weight=_NOT_GIVEN):
    """The mean of the losses that count, weighted; it joins the losses of the graph."""
    weights = weights if weight is _NOT_GIVEN else weight
    if weights is None:
        raise ValueError("`weights` cannot be None")
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype
        losses = math_ops.cast(losses, dtypes.float32)
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        _known_rank(losses, "losses")
        _known_rank(weights, "weights")
        shape = weights.get_shape()
        if shape.ndims > 1 and shape.dims[-1].is_compatible_with(1):
            weights = array_ops.squeeze(weights, [-1])
        total = math_ops.reduce_sum(_scaled(losses, weights))
        mean = math_ops.cast(math_ops.div_no_nan(total, _present(losses, weights), name="value"), dtype)
        add_loss(mean)
        return mean


@add_arg_scope
def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_total_loss(add_regularization_losses=True, name="total_loss"):
    losses = get_losses()
    if add_regularization_losses:
        losses = losses + get_regularization_losses()
    return math_ops.add_n(losses, name=name)


def _floats(predictions, labels):
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)


def absolute_difference(predictions, labels=None, weights=1.0, scope=None, targets=None, weight=_NOT_GIVEN):
    labels = _one_of(labels, targets, "labels")
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(math_ops.abs(math_ops.subtract(predictions, labels)), weights, scope, weight)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None, weight=_NOT_GIVEN):
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_ops.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, weight)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None, weight=_NOT_GIVEN):
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = math_ops.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = nn_ops.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, weight)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None, weight=_NOT_GIVEN):
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = array_ops.reshape(labels, shape=[array_ops.shape(labels)[0]])
        losses = nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, weight)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None, targets=None, weight=_NOT_GIVEN):
    labels = _one_of(labels, targets, "labels")
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = (-math_ops.multiply(labels, math_ops.log(predictions + epsilon))
                  - math_ops.multiply(1 - labels, math_ops.log(1 - predictions + epsilon)))
        return compute_weighted_loss(losses, weights, scope, weight)


def hinge_loss(logits, labels=None, scope=None, target=None):
    """The losses themselves: neither weighted nor collected."""
    labels = _one_of(labels, target, "labels")
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = math_ops.cast(labels, dtypes.float32)
        ones = array_ops.ones_like(labels)
        labels = math_ops.subtract(2 * labels, ones)
        return nn_ops.relu(math_ops.subtract(ones, math_ops.multiply(labels, logits)))


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None, targets=None, weight=_NOT_GIVEN):
    labels = _one_of(labels, targets, "labels")
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(math_ops.squared_difference(predictions, labels), weights, scope, weight)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None, targets=None, weight=_NOT_GIVEN):
    """Compares the differences between the elements of an example with those of its labels."""
    labels = _one_of(labels, targets, "labels")
    weights = weights if weight is _NOT_GIVEN else weight
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        if weights is None:
            raise ValueError("`weights` cannot be None")
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        differences = math_ops.subtract(predictions, labels)
        _known_rank(differences, "diffs")
        _known_rank(weights, "weights")
        axes = list(range(1, differences.get_shape().ndims))
        squares = math_ops.reduce_sum(math_ops.square(differences), axis=axes)
        present = _present(differences, weights, per_batch=True)
        first = 2.0 * math_ops.div_no_nan(squares, present, name="value")
        sums = math_ops.reduce_sum(differences, axis=axes)
        second = 2.0 * math_ops.div_no_nan(math_ops.square(sums), math_ops.square(present), name="value")
        loss = _scaled(first - second, weights)
        mean = array_ops.where(math_ops.reduce_sum(present) > 0, loss, array_ops.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None, targets=None, weight=_NOT_GIVEN):
    labels = _one_of(labels, targets, "labels")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = 1 - math_ops.reduce_sum(math_ops.multiply(predictions, labels), axis=[axis])
        return compute_weighted_loss(losses, weights, scope, weight)
