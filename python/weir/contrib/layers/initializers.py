"""Initializers of tf.contrib.layers."""

import math

from weir.core import dtypes
from weir.ops import random_ops


def xavier_initializer(uniform=True, seed=None, dtype=dtypes.float32):
    """Keeps the variance of the activations from layer to layer (Glorot and Bengio)."""
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=dtypes.float32):
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape, dtype=dtype, partition_info=None):
        if not dtypes.as_dtype(dtype).is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        shape = [int(size) for size in shape]
        fan_in = fan_out = float(shape[-1]) if shape else 1.0
        if len(shape) > 1:
            fan_in = float(shape[-2])
        for size in shape[:-2]:
            fan_in *= size
            fan_out *= size
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_ops.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # The deviation of a normal distribution cut off at two deviations is smaller by about 1.3.
        return random_ops.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return initializer
