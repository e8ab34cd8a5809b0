"""What samples say of their distribution, and distributions that are others stretched."""

import numpy as np
import pytest

import weir as tf

ds = tf.contrib.distributions


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64])
def test_auto_correlation_is_the_mean_product_of_values_a_lag_apart(kind):
    x = np.random.RandomState(0).randn(3, 10).astype(kind)
    if kind is np.complex64:
        x = x + 1j * x[::-1]
    found = run(ds.auto_correlation(x, axis=1, max_lags=4, normalize=False))
    centered = x - x.mean(axis=1, keepdims=True)
    expected = [(centered[:, lag:] * np.conj(centered[:, :10 - lag])).sum(axis=1) / (10 - lag) for lag in range(5)]
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-4, atol=1e-5)


def test_moving_statistics_follow_a_stream():
    value = tf.placeholder(tf.float64, [])
    both = ds.moving_mean_variance(value, decay=0.5)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(both, {value: 4.0})
        mean, variance = session.run(both, {value: 4.0})
    assert (mean, variance) == (3.0, 3.0)


def test_observations_narrow_a_normal_prior():
    posterior = ds.normal_conjugates_known_scale_posterior(tf.distributions.Normal(0.0, 1.0), 1.0, tf.constant(6.0), 2)
    mean, deviation = run([posterior.mean(), posterior.stddev()])
    np.testing.assert_allclose([mean, deviation], [2.0, 3 ** -0.5], rtol=1e-6)


def test_sinh_arcsinh_without_skew_or_tails_is_normal():
    ours, normal = ds.SinhArcsinh([1.0, 2.0], 3.0), tf.distributions.Normal([1.0, 2.0], 3.0)
    assert ours.batch_shape.as_list() == [2]
    np.testing.assert_allclose(*run([ours.log_prob([0.5, 4.0]), normal.log_prob([0.5, 4.0])]), rtol=1e-5)
    vector = ds.VectorSinhArcsinhDiag(loc=[1.0, 2.0], scale_diag=[3.0, 3.0])
    both = run([vector.log_prob([0.5, 4.0]), tf.reduce_sum(normal.log_prob([0.5, 4.0]))])
    np.testing.assert_allclose(*both, rtol=1e-5)


def test_vectors_of_exponential_numbers_have_the_statistics_of_their_scale():
    vector = ds.VectorExponentialDiag(loc=[1.0, -1.0], scale_diag=[2.0, 3.0])
    mean, deviation, density = run([vector.mean(), vector.stddev(), vector.prob([2.0, 2.0])])
    np.testing.assert_allclose(mean, [3.0, 2.0])
    np.testing.assert_allclose(deviation, [2.0, 3.0])
    np.testing.assert_allclose(density, np.exp(-0.5) / 2 * np.exp(-1.0) / 3, rtol=1e-5)
    with pytest.raises(ValueError, match="at least 1 dimension"):
        ds.VectorExponentialDiag(loc=1.0)
