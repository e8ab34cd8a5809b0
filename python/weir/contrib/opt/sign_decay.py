"""How the sign's part in AddSign and PowerSign fades: functions of the step."""

import math

import weir as tf


def _share(global_step, decay_steps, what):
    """How much of the steps has passed, at most all."""
    if global_step is None:
        raise ValueError(f"global_step is required for {what}.")
    step = tf.minimum(global_step, decay_steps)
    return tf.cast(step, tf.float32) / tf.cast(decay_steps, tf.float32)


def _zero_from(limit, passed, value):
    return value if limit is None else tf.where(passed >= limit, tf.zeros_like(value), value)


def get_linear_decay_fn(decay_steps):
    return lambda global_step: tf.maximum(0.0, 1.0 - _share(global_step, decay_steps, "linear_decay"))


def get_cosine_decay_fn(decay_steps, num_periods=0.5, zero_after=None):
    def decay(global_step):
        periods = num_periods * _share(global_step, decay_steps, "cosine_decay")
        return _zero_from(zero_after, periods, 0.5 * (1.0 + tf.cos(2.0 * math.pi * periods)))

    return decay


def get_restart_decay_fn(decay_steps, num_periods=1, zero_after=None):
    """Half a cosine again and again."""
    def decay(global_step):
        periods = num_periods * _share(global_step, decay_steps, "cosine_decay")
        return _zero_from(zero_after, periods, 0.5 * (1.0 + tf.cos(math.pi * tf.mod(periods, 1.0))))

    return decay
