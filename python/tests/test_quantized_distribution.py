"""tf.contrib.distributions.QuantizedDistribution: numbers rounded up, with the ends counted together."""

import numpy as np
import pytest

import weir as tf

ds = tf.contrib.distributions


def _cdf(x):
    return 1 / (1 + np.exp(-(np.asarray(x, np.float64) - 0.3) / 1.7))  # of the logistic distribution


@pytest.mark.parametrize("low, high", [(None, None), (-2.0, None), (None, 3.0), (-2.0, 3.0)])
def test_probabilities_are_differences_of_the_distributions(low, high):
    y = np.arange(-5.0, 7.0, dtype=np.float32)
    cdf = _cdf(y)
    cdf[y < (-np.inf if low is None else low)] = 0
    cdf[y >= (np.inf if high is None else high)] = 1
    before = np.concatenate([[_cdf(-6.0) if low is None else 0], cdf[:-1]])
    with tf.Graph().as_default(), tf.Session() as session:
        quantized = ds.QuantizedDistribution(ds.Logistic(0.3, 1.7), low, high)
        found = session.run([quantized.prob(y), tf.exp(quantized.log_prob(y)), quantized.cdf(y), tf.exp(quantized.log_cdf(y)),
                             quantized.survival_function(y), tf.exp(quantized.log_survival_function(y)),
                             quantized.cdf(y + 0.5)])
    for value, expected in zip(found, [cdf - before, cdf - before, cdf, cdf, 1 - cdf, 1 - cdf, cdf]):
        np.testing.assert_allclose(value, expected, atol=1e-5)


def test_samples_are_whole_and_inside():
    with tf.Graph().as_default(), tf.Session() as session:
        quantized = ds.QuantizedDistribution(ds.Logistic([0.3, 1.0], 1.7), low=-2.0, high=3.0, validate_args=True)
        drawn = session.run(quantized.sample(5000, seed=3))
    assert drawn.shape == (5000, 2) and sorted(set(drawn.ravel())) == [-2, -1, 0, 1, 2, 3]
    for y in range(-2, 4):
        expected = (1 if y == 3 else _cdf(y)) - (0 if y == -2 else _cdf(y - 1))
        np.testing.assert_allclose((drawn[:, 0] == y).mean(), expected, atol=0.03)


def test_gradients_are_finite_far_from_the_mean():
    with tf.Graph().as_default(), tf.Session() as session:
        loc = tf.constant(0.0)
        quantized = ds.QuantizedDistribution(ds.Normal(loc, 1.0), -20.0, 20.0)
        log_prob = quantized.log_prob(np.arange(-5.0, 6.0, dtype=np.float32))
        values, gradient = session.run([log_prob, tf.gradients(log_prob, loc)[0]])
        assert np.isfinite(values).all() and np.isfinite(gradient)


def test_cutoffs_are_checked_when_asked():
    with tf.Graph().as_default(), tf.Session() as session:
        normal = ds.Normal(0.0, 1.0)
        for low, high, message in ((1.0, 1.0, "must be strictly less"), (1.5, 4.0, "non-integer")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(ds.QuantizedDistribution(normal, low, high, validate_args=True).sample())
        session.run(ds.QuantizedDistribution(normal, 1.5, 10.1).sample())
