"""tf.contrib.losses.metric_learning: losses of embeddings that shall be near each other where labels are the same."""

from weir import names
from weir.core import dtypes
from weir.core.graph import name_scope
from weir.ops import array_ops, math_ops, nn_ops, sparse_functions
from weir.ops.control_flow_ops import Print
from weir.ops.sparse_ops import SparseTensor


def _same_labels(labels):
    """Whether two examples have one label, for each pair."""
    if labels.get_shape().ndims not in (None, 1):
        raise AssertionError(f"labels must be a vector, got shape {labels.get_shape()}")
    column = array_ops.reshape(labels, [-1, 1])
    return math_ops.equal(column, array_ops.transpose(column))


def _others(value):
    """A matrix of pairs without those of an example and itself."""
    return array_ops.matrix_set_diag(value, array_ops.zeros_like(array_ops.matrix_diag_part(value)))


def _distances(embeddings, squared=False):
    """The distance of each pair; its gradient is zero where it is."""
    squares = math_ops.reduce_sum(math_ops.square(embeddings), 1, keepdims=True)
    distances = squares + array_ops.transpose(squares) - 2.0 * math_ops.matmul(embeddings, embeddings, transpose_b=True)
    distances = math_ops.maximum(distances, 0.0)
    if not squared:
        zero = math_ops.cast(math_ops.less_equal(distances, 0.0), distances.dtype)
        distances = math_ops.sqrt(distances + zero * 1e-16) * (1.0 - zero)
    return _others(distances)


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """Pairs with label 1 shall be near, those with 0 at least ``margin`` apart."""
    distances = math_ops.sqrt(math_ops.reduce_sum(math_ops.squared_difference(embeddings_anchor, embeddings_positive), 1))
    same = math_ops.cast(labels, distances.dtype)
    return math_ops.reduce_mean(same * math_ops.square(distances)
                                + (1.0 - same) * math_ops.square(math_ops.maximum(margin - distances, 0.0)),
                                name="contrastive_loss")


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """For each pair with one label, the nearest example of another label that is farther away than the pair (or else the
    farthest of all others) shall be farther by ``margin``."""
    distances, same = _distances(embeddings, squared=True), _same_labels(labels)
    size = array_ops.size(labels)
    # [anchor, positive, negative]
    negatives = array_ops.tile(array_ops.expand_dims(distances, 1), [1, size, 1])
    farther = math_ops.cast(math_ops.logical_and(
        array_ops.tile(array_ops.expand_dims(math_ops.logical_not(same), 1), [1, size, 1]),
        math_ops.greater(negatives, array_ops.expand_dims(distances, 2))), distances.dtype)
    largest = math_ops.reduce_max(negatives, 2, keepdims=True)
    nearest = array_ops.squeeze(math_ops.reduce_min((negatives - largest) * farther, 2, keepdims=True) + largest, [2])
    smallest = math_ops.reduce_min(distances, 1, keepdims=True)
    other = 1.0 - math_ops.cast(same, distances.dtype)
    farthest = math_ops.reduce_max((distances - smallest) * other, 1, keepdims=True) + smallest
    chosen = array_ops.where(math_ops.greater(math_ops.reduce_max(farther, 2), 0.0), nearest,
                             array_ops.tile(farthest, [1, size]))
    positives = _others(math_ops.cast(same, distances.dtype))
    losses = math_ops.maximum((margin + distances - chosen) * positives, 0.0)
    return math_ops.truediv(math_ops.reduce_sum(losses), math_ops.reduce_sum(positives), name="triplet_semihard_loss")


def _npairs(weights, embeddings_anchor, embeddings_positive, reg_lambda, print_losses):
    """Softmax cross entropy of similarities, with what pairs have in common as weights; and the embeddings' size."""
    sizes = [math_ops.reduce_mean(math_ops.reduce_sum(math_ops.square(embeddings), 1))
             for embeddings in (embeddings_anchor, embeddings_positive)]
    l2loss = math_ops.multiply(0.25 * reg_lambda, sizes[0] + sizes[1], name="l2loss")
    similarity = math_ops.matmul(embeddings_anchor, embeddings_positive, transpose_b=True)
    weights = weights / math_ops.reduce_sum(weights, 1, keepdims=True)
    entropy = math_ops.reduce_mean(nn_ops.softmax_cross_entropy_with_logits(logits=similarity, labels=weights),
                                   name="xentropy")
    if print_losses:
        entropy = Print(entropy, ["cross entropy:", entropy, "l2loss:", l2loss])
    return l2loss + entropy


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """Each anchor shall be more similar to the positives with its label than to the others."""
    same = math_ops.cast(_same_labels(labels), dtypes.float32)
    return _npairs(same, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def npairs_loss_multilabel(sparse_labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """``npairs_loss`` for examples with several labels, a SparseTensor each: what they have in common counts."""
    if not all(isinstance(labels, SparseTensor) for labels in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with name_scope("NpairsLossMultiLabel"):
        common = [[math_ops.cast(sparse_functions.sparse_reduce_sum(sparse_functions.sparse_minimum(one, other)),
                                 dtypes.float32) for other in sparse_labels] for one in sparse_labels]
        return _npairs(array_ops.stack([array_ops.stack(row) for row in common]), embeddings_anchor, embeddings_positive,
                       reg_lambda, print_losses)


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """Each pair with one label shall be nearer than ``margin`` below all examples of other labels near either of the two."""
    distances, same = _distances(embeddings), _same_labels(labels)
    size, other = array_ops.size(labels), 1.0 - math_ops.cast(same, distances.dtype)
    closeness = margin - distances
    smallest = math_ops.reduce_min(closeness, 1, keepdims=True)
    largest = math_ops.reduce_max((closeness - smallest) * other, 1, keepdims=True) + smallest
    largest = math_ops.maximum(largest, array_ops.transpose(largest))  # of the pair
    # [first, second, negative]: exponentials of what is close to the first, below the pair's largest
    close = array_ops.tile(array_ops.expand_dims(closeness, 1), [1, size, 1])
    sums = math_ops.reduce_sum(math_ops.exp(close - array_ops.expand_dims(largest, 2)) * array_ops.expand_dims(other, 1), 2)
    losses = largest + math_ops.log(sums + array_ops.transpose(sums)) + distances
    positives = _others(math_ops.cast(same, distances.dtype))
    total = math_ops.reduce_sum(math_ops.square(math_ops.maximum(losses * positives, 0.0)))
    return math_ops.truediv(0.25 * total, math_ops.reduce_sum(positives) / 2.0, name="liftedstruct_loss")


__getattr__, __dir__ = names.namespace(__name__)
