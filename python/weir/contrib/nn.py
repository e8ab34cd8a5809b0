"""tf.contrib.nn: variants of functions of tf.nn."""

import numbers

from weir import names as _names
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_util import constant_value
from weir.ops import array_ops, candidate_sampling_ops, math_ops, nn_ops, random_ops

_SELU_FLOOR = -1.7580993408473766  # what scaled exponential linear units tend to: -scale * alpha


def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout for self-normalizing networks: what is dropped becomes their lowest value, and mean and variance stay."""
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1.:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.get_shape().assert_has_rank(0)
        if constant_value(keep_prob) == 1:
            return x
        noise_shape = array_ops.shape(x) if noise_shape is None else noise_shape
        draws = random_ops.random_uniform(noise_shape, seed=seed, dtype=x.dtype)
        kept = math_ops.cast(math_ops.greater_equal(draws, 1 - keep_prob), x.dtype)
        mixed = x * kept + _SELU_FLOOR * (1 - kept)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _SELU_FLOOR ** 2) ** -0.5
        return scale * mixed - scale * _SELU_FLOOR * (1 - keep_prob)


def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    return nn_ops.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    return nn_ops.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def nth_element(input, n, reverse=False, name=None):
    """The n-th smallest element of each row, or the n-th largest."""
    return apply("NthElement", (input, n), {"reverse": bool(reverse)}, name)


def sampled_sparse_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, sampled_values=None,
                                remove_accidental_hits=True, partition_strategy="mod", name="sampled_sparse_softmax_loss"):
    """tf.nn.sampled_softmax_loss for one true class a row."""
    return candidate_sampling_ops.sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values, remove_accidental_hits,
        partition_strategy, name)


def scaled_softplus(x, alpha, clip=None, name=None):
    """alpha * log(1 + exp(x / alpha)), a smooth relu, at most ``clip``."""
    with name_scope(name, "scaled_softplus", [x, alpha] if clip is None else [x, alpha, clip]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * nn_ops.softplus(x / alpha)
        return y if clip is None else math_ops.minimum(y, convert_to_tensor(clip, dtype=x.dtype, name="clip"))


__getattr__, __dir__ = _names.namespace(__name__)
