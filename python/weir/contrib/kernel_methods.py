"""tf.contrib.kernel_methods: the loss of machines with a margin between several classes."""

from weir import losses
from weir.core import dtypes
from weir.core.graph import GraphKeys, control_dependencies, convert_to_tensor, name_scope
from weir.ops import array_ops, check_ops, math_ops, nn_ops


def sparse_multiclass_hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                                 reduction=losses.Reduction.SUM_BY_NONZERO_WEIGHTS):
    """The margin of 1 by which the logit of the right class must lead, less what it leads the best of the others by."""
    with name_scope(scope, "sparse_multiclass_hinge_loss", [logits, labels]) as scope:
        if logits.shape.ndims != 2:
            raise ValueError("logits should have rank 2 ([batch_size, num_classes]). Given rank is "
                             f"{logits.shape.ndims}")
        if labels.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64")
        if labels.shape.ndims not in (1, 2):
            raise ValueError("labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is "
                             f"{labels.shape.ndims}")
        logits = math_ops.cast(logits, dtypes.float32)
        classes = array_ops.shape(logits)[1]
        with control_dependencies([check_ops.assert_less(labels, math_ops.cast(classes, labels.dtype))]):
            labels = array_ops.reshape(labels, [-1])
        weights = convert_to_tensor(weights)
        if weights.shape.ndims not in (0, 1, 2):
            raise ValueError("non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank "
                             f"is {weights.shape.ndims}")
        if weights.shape.ndims > 0:
            weights = array_ops.reshape(weights, [-1])
            weights.shape.assert_is_compatible_with(labels.shape)
        wrong = array_ops.one_hot(labels, classes, on_value=0.0, off_value=1.0)
        right_logits = math_ops.reduce_sum(logits * (1 - wrong), axis=1, keepdims=True)
        margins = nn_ops.relu(logits - right_logits + wrong)
        return losses.compute_weighted_loss(math_ops.reduce_max(margins, axis=1), weights, scope, loss_collection,
                                            reduction=reduction)
