"""Regularizers of tf.contrib.layers."""

import numbers

from weir.core.graph import GraphKeys, add_to_collection, convert_to_tensor, get_collection, name_scope
from weir.ops import math_ops, nn_ops


def _scale(scale, name):
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
    return scale


def _regularizer(scale, scope, default, penalty):
    scale = _scale(scale, default)
    if scale == 0.0:
        return lambda _: None

    def regularize(weights, name=None):
        with name_scope(scope, default, [weights]) as name:
            weights = convert_to_tensor(weights)
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return math_ops.multiply(factor, penalty(weights), name=name)

    return regularize


def l1_regularizer(scale, scope=None):
    return _regularizer(scale, scope, "l1_regularizer", lambda w: math_ops.reduce_sum(math_ops.abs(w)))


def l2_regularizer(scale, scope=None):
    return _regularizer(scale, scope, "l2_regularizer", lambda w: nn_ops.l2_loss(w))


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope or "l1_l2_regularizer")


def sum_regularizer(regularizer_list, scope=None):
    regularizer_list = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizer_list:
        return None

    def sum_reg(weights):
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            terms = [term for term in (regularizer(weights) for regularizer in regularizer_list) if term is not None]
            return math_ops.add_n(terms, name=name)

    return sum_reg


def apply_regularization(regularizer, weights_list=None):
    """The sum of a regularizer over variables, collected as a regularization loss."""
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(weights) for weights in weights_list]
        penalties = [convert_to_tensor(0.0) if penalty is None else penalty for penalty in penalties]
        total = math_ops.add_n(penalties, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
