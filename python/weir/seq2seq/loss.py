"""The loss of sequences."""

from weir import _weir
from weir.core.stack import get_default_graph as _graph


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  sum_over_timesteps=False, sum_over_batch=False, softmax_loss_function=None, name=None):
    """The weighted cross entropy of logits [batch, time, classes]: means, sums or single numbers over batch and time."""
    loss = softmax_loss_function and (lambda labels, logits: softmax_loss_function(labels=labels, logits=logits))
    return _weir.sequence_loss(_graph(), logits, targets, weights,
                               (average_across_timesteps, average_across_batch, sum_over_timesteps, sum_over_batch),
                               loss, name)
