"""The normal distribution function in its tails, and its inverse."""

import math

import numpy as np

import weir as tf


def _log_ndtr(x):
    """The logarithm of the normal distribution function, exact in both tails."""
    low = -10.0 if x.dtype == tf.float32 else -20.0
    safe = tf.maximum(x, low)
    middle = tf.log(0.5 * tf.erfc(-safe / math.sqrt(2.0)))
    far = tf.minimum(x, low)
    square = 1.0 / tf.square(far)
    series = 1.0 - square * (1.0 - 3.0 * square * (1.0 - 5.0 * square))
    tail = -0.5 * tf.square(far) - tf.log(-far) - 0.5 * math.log(2.0 * math.pi) + tf.log(series)
    return tf.where(x > low, middle, tail)


_NDTRI = (  # Acklam's rational approximation: (numerator, denominator) in the middle and in the tails
    ([-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02, 1.383577518672690e+02,
      -3.066479806614716e+01, 2.506628277459239e+00],
     [-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
      -1.328068155288572e+01, 1.0]),
    ([-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00, -2.549732539343734e+00,
      4.374664141464968e+00, 2.938163982698783e+00],
     [7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1.0]))


def _ndtri(p):
    """The inverse of the normal distribution function; one step of Newton after a rational approximation."""
    def polynomial(coefficients, x):
        value = tf.zeros_like(x)
        for c in coefficients:
            value = value * x + c
        return value

    smaller = tf.minimum(p, 1.0 - p)
    q = tf.clip_by_value(p, 0.02425, 1 - 0.02425) - 0.5
    middle = q * polynomial(_NDTRI[0][0], q * q) / polynomial(_NDTRI[0][1], q * q)
    t = tf.sqrt(-2.0 * tf.log(tf.maximum(tf.minimum(smaller, 0.02425), np.finfo(p.dtype.as_numpy_dtype).tiny)))
    tail = polynomial(_NDTRI[1][0], t) / polynomial(_NDTRI[1][1], t)
    x = tf.where(smaller < 0.02425, tf.where(p < 0.5, tail, -tail), middle)
    error = 0.5 * tf.erfc(-x / math.sqrt(2.0)) - p
    x = x - error * math.sqrt(2.0 * math.pi) * tf.exp(0.5 * x * x)
    infinite = np.inf * tf.ones_like(p)
    return tf.where(tf.equal(p, 0.0), -infinite, tf.where(tf.equal(p, 1.0), infinite, x))
