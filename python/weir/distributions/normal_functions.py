"""The normal distribution function in its tails, and its inverse."""

import math

import numpy as np

import weir as tf


LOGNDTR_FLOAT32_LOWER, LOGNDTR_FLOAT32_UPPER = np.float32(-10), np.float32(5)
LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER = np.float64(-20), np.float64(8)


def _of_normal(x):
    x = tf.convert_to_tensor(x, name="x")
    if x.dtype.base_dtype not in (tf.float32, tf.float64):
        raise TypeError(f"x.dtype={x.dtype} is not handled, see docstring for supported types.")
    return x


def ndtr(x, name="ndtr"):
    """The normal distribution function: the probability of a number below ``x``."""
    with tf.name_scope(name, values=[x]):
        return 0.5 * tf.erfc(-math.sqrt(0.5) * _of_normal(x))


def log_ndtr(x, series_order=3, name="log_ndtr"):
    """Its logarithm, exact in both tails and with a gradient there; the lower tail is a series of so many terms."""
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if not 0 <= series_order <= 30:
        raise ValueError("series_order must be non-negative." if series_order < 0 else "series_order must be <= 30.")
    with tf.name_scope(name, values=[x]):
        x = _of_normal(x)
        single = x.dtype.base_dtype == tf.float32
        lower = LOGNDTR_FLOAT32_LOWER if single else LOGNDTR_FLOAT64_LOWER
        upper = LOGNDTR_FLOAT32_UPPER if single else LOGNDTR_FLOAT64_UPPER
        middle = tf.log(ndtr(tf.maximum(x, lower)))
        return tf.where(x > upper, -ndtr(-x), tf.where(x > lower, middle, _lower_tail(tf.minimum(x, lower), series_order)))


def _lower_tail(x, series_order):
    square = 1.0 / tf.square(x)
    series, term = 1.0, 1.0
    for n in range(series_order):
        term *= -(2 * n + 1) * square
        series += term
    return -0.5 * tf.square(x) - tf.log(-x) - 0.5 * math.log(2.0 * math.pi) + tf.log(series)


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
