"""tf.contrib.layers: initializers and regularizers; the layers themselves are not there yet."""

import math as _math
import numbers as _numbers

from weir import names as _names
from weir.core import dtypes as _dtypes
from weir.core.graph import (GraphKeys as _GraphKeys, add_to_collection as _add_to_collection,
                             convert_to_tensor as _tensor, get_collection as _get_collection,
                             name_scope as _name_scope)
from weir.ops import math_ops as _math_ops, nn_ops as _nn_ops, random_ops as _random_ops


def xavier_initializer(uniform=True, seed=None, dtype=_dtypes.float32):
    """Keeps the variance of the activations from layer to layer (Glorot and Bengio)."""
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=_dtypes.float32):
    if not _dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape, dtype=dtype, partition_info=None):
        shape = [int(size) for size in shape]
        fan_in = float(shape[-2]) if len(shape) > 1 else float(shape[-1])
        fan_out = float(shape[-1])
        for size in shape[:-2]:
            fan_in *= size
            fan_out *= size
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = _math.sqrt(3.0 * factor / n)
            return _random_ops.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # The deviation of a normal distribution cut off at two deviations is smaller by about 1.3.
        return _random_ops.truncated_normal(shape, 0.0, _math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return initializer


def _scale(scale, name):
    if isinstance(scale, _numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, _numbers.Real) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
    return scale


def _regularizer(scale, scope, default, penalty):
    scale = _scale(scale, default)
    if scale == 0.0:
        return lambda _: None

    def regularize(weights, name=None):
        with _name_scope(scope, default, [weights]) as name:
            weights = _tensor(weights)
            factor = _tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return _math_ops.multiply(factor, penalty(weights), name=name)

    return regularize


def l1_regularizer(scale, scope=None):
    return _regularizer(scale, scope, "l1_regularizer", lambda w: _math_ops.reduce_sum(_math_ops.abs(w)))


def l2_regularizer(scale, scope=None):
    return _regularizer(scale, scope, "l2_regularizer", lambda w: _nn_ops.l2_loss(w))


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope or "l1_l2_regularizer")


def sum_regularizer(regularizer_list, scope=None):
    regularizer_list = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizer_list:
        return None

    def sum_reg(weights):
        with _name_scope(scope, "sum_regularizer", [weights]) as name:
            terms = [term for term in (regularizer(weights) for regularizer in regularizer_list) if term is not None]
            return _math_ops.add_n(terms, name=name)

    return sum_reg


def apply_regularization(regularizer, weights_list=None):
    """The sum of a regularizer over variables, collected as a regularization loss."""
    weights_list = weights_list or _get_collection(_GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with _name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [penalty for penalty in (regularizer(w) for w in weights_list) if penalty is not None]
        total = _math_ops.add_n(penalties, name=scope)
        _add_to_collection(_GraphKeys.REGULARIZATION_LOSSES, total)
        return total


__getattr__, __dir__ = _names.namespace(__name__)
