"""Expectations, estimated from samples along the first dimension: tf.contrib.bayesflow.monte_carlo.

Samples are given (``z``) or drawn (``n`` of them)."""

import weir as tf


def expectation(f, p, z=None, n=None, seed=None, name="expectation"):
    """The mean of ``f`` over samples of ``p``."""
    with tf.name_scope(name, values=[n, z]):
        return _sample_mean(f(_get_samples(p, z, n, seed)))


def expectation_importance_sampler(f, log_p, sampling_dist_q, z=None, n=None, seed=None,
                                   name="expectation_importance_sampler"):
    """The mean of ``f`` under p, exp(log_p), from samples of q: the mean of f p / q."""
    q = sampling_dist_q
    with tf.name_scope(name, values=[z, n]):
        z = _get_samples(q, z, n, seed)
        log_ratio, value = log_p(z) - q.log_prob(z), f(z)

        # In logarithms, for what is above zero and what is below; the one that both have more cancels and keeps log finite.
        def mean(part):
            return tf.exp(_logspace_mean(tf.log(tf.nn.relu(part) + 1.0) + log_ratio))

        return mean(value) - mean(-value)


def expectation_importance_sampler_logspace(log_f, log_p, sampling_dist_q, z=None, n=None, seed=None,
                                            name="expectation_importance_sampler_logspace"):
    """The logarithm of the mean of exp(log_f) under p, exp(log_p), from samples of q."""
    q = sampling_dist_q
    with tf.name_scope(name, values=[z, n]):
        z = _get_samples(q, z, n, seed)
        return _logspace_mean(log_f(z) + log_p(z) - q.log_prob(z))


def _logspace_mean(log_values):
    """log(mean(exp(x))) without overflow."""
    center = tf.stop_gradient(tf.reduce_max(log_values, axis=[0]))
    return tf.log(_sample_mean(tf.exp(log_values - center))) + center


def _sample_mean(values):
    return tf.reduce_mean(values, axis=[0])


def _get_samples(dist, z, n, seed):
    with tf.name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
        return tf.convert_to_tensor(z, name="z") if n is None else dist.sample_n(n=n, seed=seed)
