"""tf.contrib.sparsemax: probabilities of which many are zero, the projection of logits onto the simplex."""

from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.ops import array_ops, math_ops, nn_ops


def sparsemax(logits, name=None):
    """max(logits - tau, 0), with the tau for each row of ``[batch, classes]`` that makes the sum of the row 1. Undefined
    where a row has an infinite or undefined value."""
    with name_scope(name, "sparsemax", [logits]):
        z = convert_to_tensor(logits, name="logits")
        rows, classes = array_ops.unstack(array_ops.shape(z), num=2)
        ordered, _ = nn_ops.top_k(z, k=classes)
        sums = math_ops.cumsum(ordered, axis=1)
        rank = math_ops.cast(math_ops.range(1, classes + 1), z.dtype)
        # The support: the first classes of each row, in this order, for which this holds.
        size = math_ops.reduce_sum(math_ops.cast(1 + rank * ordered > sums, dtypes.int32), axis=1)
        last = array_ops.stack([math_ops.range(rows), math_ops.maximum(size, 1) - 1], axis=1)
        tau = (array_ops.gather_nd(sums, last) - 1) / math_ops.cast(size, z.dtype)
        probabilities = math_ops.maximum(z - array_ops.expand_dims(tau, 1), math_ops.cast(0, z.dtype))
        undefined = math_ops.logical_or(math_ops.equal(size, 0), math_ops.is_nan(sums[:, -1]))
        return array_ops.where(undefined, array_ops.fill([rows, classes], math_ops.cast(float("nan"), z.dtype)),
                               probabilities)


def sparsemax_loss(logits, sparsemax, labels, name=None):
    """The loss of each row whose gradient is sparsemax(logits) - labels."""
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        z = convert_to_tensor(logits, name="logits")
        p = convert_to_tensor(sparsemax, name="sparsemax")
        q = convert_to_tensor(labels, name="labels")
        # Terms of classes without any probability are zero even where their logit is infinite.
        has_part = math_ops.logical_or(p > 0, math_ops.is_nan(p))
        of_support = array_ops.where(has_part, p * (z - 0.5 * p), array_ops.zeros_like(p))
        left_out = math_ops.logical_and(math_ops.equal(q, 0), math_ops.is_inf(z))
        of_labels = array_ops.where(left_out, array_ops.zeros_like(z), q * (0.5 * q - z))
        return math_ops.reduce_sum(of_support + of_labels, axis=1)
