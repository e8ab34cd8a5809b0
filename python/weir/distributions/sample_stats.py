"""What samples and streams of values say of their distribution."""

import numpy as np

import weir as tf
from weir.distributions.continuous import Normal


def auto_correlation(x, axis=-1, max_lags=None, center=True, normalize=True, name="auto_correlation"):
    """How values of a sequence go with those a few steps later: one number for each lag from 0 to ``max_lags``, computed with
    Fourier transforms. ``center`` takes the mean away first; ``normalize`` divides by what lag 0 gives."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        rank = x.shape.ndims
        if rank is None:
            places = tf.range(tf.rank(x))
            back = axis % tf.rank(x)
            others = tf.boolean_mask(places, tf.not_equal(places, back))
            last = tf.concat([others, [back]], 0)
        else:
            last = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        moved = tf.transpose(x, last)
        length = moved.shape[-1].value if rank is not None else None
        steps = tf.shape(moved)[-1] if length is None else length
        if max_lags is None:
            lags = steps - 1
        elif isinstance(max_lags, (int, np.integer)) and length is not None:
            lags = min(int(max_lags), length - 1)
        else:
            lags = tf.minimum(tf.cast(max_lags, tf.int32), steps - 1)
        if center:
            moved -= tf.reduce_mean(moved, axis=-1, keepdims=True)
        products = _lagged_products(moved, steps)[..., :lags + 1]
        counts = tf.cast(steps, moved.dtype.real_dtype) - tf.range(tf.cast(lags + 1, moved.dtype.real_dtype))
        result = products / tf.cast(counts, moved.dtype)
        if normalize:
            result /= result[..., :1]
        result = tf.transpose(result, tf.invert_permutation(last))
        if rank is not None:
            shape = x.shape.as_list()
            shape[axis % rank] = lags + 1 if isinstance(lags, int) else None
            result.set_shape(shape)
        return result


def _lagged_products(x, steps):
    """For every lag the sum of the products of values that far apart."""
    size = tf.cast(tf.pow(2.0, tf.ceil(tf.log(tf.cast(2 * steps, tf.float64)) / np.log(2.0))), tf.int32)
    zeros = tf.concat([tf.zeros([tf.rank(x) - 1, 2], tf.int32), [[0, size - steps]]], 0)
    spectrum = tf.fft(tf.cast(tf.pad(x, zeros), tf.complex128 if x.dtype.real_dtype == tf.float64 else tf.complex64))
    products = tf.ifft(spectrum * tf.conj(spectrum))
    return products if x.dtype.is_complex else tf.cast(tf.real(products), x.dtype)


def _checked(variable, other):
    if not variable.dtype.base_dtype.is_floating:
        raise TypeError(f"mean_var.base_dtype({variable.dtype.base_dtype.name}) does not have float type `dtype`.")
    if variable.dtype.base_dtype != other.dtype.base_dtype:
        raise TypeError(f"mean_var.base_dtype({variable.dtype.base_dtype.name}) != "
                        f"variance_var.base_dtype({other.dtype.base_dtype.name})")


def assign_moving_mean_variance(mean_var, variance_var, value, decay, name=None):
    """Takes a value into a moving mean and variance: (the mean, the variance) after it."""
    with tf.name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        _checked(mean_var, variance_var)
        kind = mean_var.dtype.base_dtype
        value, decay = tf.convert_to_tensor(value, kind), tf.convert_to_tensor(decay, kind)
        delta = tf.identity(value - mean_var)
        with tf.control_dependencies([delta]):
            mean = mean_var.assign_add((1 - decay) * delta)
            variance = variance_var.assign_sub((1 - decay) * (variance_var - decay * tf.square(delta)))
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var, log_value, decay, name=None):
    """Takes a value into the logarithm of the moving mean of the exponentials of such values."""
    with tf.name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        kind = log_mean_exp_var.dtype.base_dtype
        if not kind.is_floating:
            raise TypeError(f"log_mean_exp_var.base_dtype({kind.name}) does not have float type `dtype`.")
        log_value, decay = tf.convert_to_tensor(log_value, kind), tf.convert_to_tensor(decay, kind)
        parts = tf.stack([tf.log(decay) + log_mean_exp_var, tf.log1p(-decay) + log_value])
        return log_mean_exp_var.assign(tf.reduce_logsumexp(parts, axis=0))


def moving_mean_variance(value, decay, collections=None, name=None):
    """The moving mean and variance of what ``value`` is run after run, in variables of their own."""
    if collections is None:
        collections = [tf.GraphKeys.GLOBAL_VARIABLES]
    with tf.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = tf.convert_to_tensor(value)
        mean, variance = (tf.get_variable(part, initializer=tf.zeros_initializer(), dtype=value.dtype, shape=value.shape,
                                          trainable=False, collections=collections)
                          for part in ("moving_mean", "moving_variance"))
        return assign_moving_mean_variance(mean, variance, value, decay)


def _conjugate(prior, scale, s):
    """The precisions of a normal prior of a mean and of observations of a known deviation."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    return 1 / tf.square(prior.scale), 1 / tf.square(tf.cast(scale, prior.dtype))


def normal_conjugates_known_scale_posterior(prior, scale, s, n):
    """The distribution of a mean with a normal prior after ``n`` observations of deviation ``scale`` and sum ``s``."""
    of_prior, of_one = _conjugate(prior, scale, s)
    precision = of_prior + of_one * tf.cast(n, prior.dtype)
    return Normal(loc=(prior.loc * of_prior + s * of_one) / precision, scale=tf.rsqrt(precision))


def normal_conjugates_known_scale_predictive(prior, scale, s, n):
    """The distribution of the next observation after those."""
    posterior = normal_conjugates_known_scale_posterior(prior, scale, s, n)
    return Normal(loc=posterior.loc, scale=tf.sqrt(tf.square(posterior.scale) + tf.square(tf.cast(scale, prior.dtype))))
