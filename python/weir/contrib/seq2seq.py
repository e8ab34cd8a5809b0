"""tf.contrib.seq2seq: the loss of sequences; decoders and attention are not there yet."""

from weir import names as _names
from weir.core.graph import name_scope as _name_scope
from weir.ops import array_ops as _array_ops, math_ops as _math_ops, nn_ops as _nn_ops


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  sum_over_timesteps=False, sum_over_batch=False, softmax_loss_function=None, name=None):
    """The weighted cross entropy of logits [batch, time, classes]: means, sums or single numbers over batch and time."""
    if len(logits.shape) != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if len(targets.shape) != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if len(weights.shape) != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at the same time.")
    if average_across_batch and sum_over_timesteps or average_across_timesteps and sum_over_batch:
        raise ValueError("Batch and timesteps must both be averaged or both be summed.")
    with _name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat = _array_ops.reshape(logits, [-1, _array_ops.shape(logits)[2]])
        softmax_loss_function = softmax_loss_function or _nn_ops.sparse_softmax_cross_entropy_with_logits
        loss = softmax_loss_function(labels=_array_ops.reshape(targets, [-1]), logits=flat)
        loss *= _array_ops.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return _math_ops.div_no_nan(_math_ops.reduce_sum(loss), _math_ops.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            count = _math_ops.cast(_math_ops.count_nonzero(weights), loss.dtype)
            return _math_ops.div_no_nan(_math_ops.reduce_sum(loss), count)
        loss = _array_ops.reshape(loss, _array_ops.shape(logits)[0:2])
        for average, total, axis in ((average_across_timesteps, sum_over_timesteps, 1),
                                     (average_across_batch, sum_over_batch, 0)):
            if average or total:
                size = (_math_ops.reduce_sum(weights, axis=[axis]) if average else
                        _math_ops.cast(_math_ops.count_nonzero(weights, axis=[axis]), loss.dtype))
                loss = _math_ops.div_no_nan(_math_ops.reduce_sum(loss, axis=[axis]), size)
        return loss


__getattr__, __dir__ = _names.namespace(__name__)
