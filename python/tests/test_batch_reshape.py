"""tf.contrib.distributions.BatchReshape: the same distributions in another shape."""

import numpy as np
import pytest

import weir as tf

BatchReshape = tf.contrib.distributions.BatchReshape
LOC = np.arange(6, dtype=np.float32)


def _normals(known):
    loc = tf.constant(LOC) if known else tf.placeholder_with_default(LOC, None)
    return tf.distributions.Normal(loc, 1.0)


def _shape(sizes, known):
    return sizes if known else tf.placeholder_with_default(np.array(sizes, np.int32), None)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sizes", [[2, 3], [3, -1], [6, 1], [-1]])
def test_values_are_those_of_the_distribution_in_the_new_shape(sizes, known):
    with tf.Graph().as_default(), tf.Session() as session:
        plain = _normals(known)
        reshaped = BatchReshape(plain, _shape(sizes, known), validate_args=True)
        expected = LOC.reshape(sizes)
        if known:
            assert reshaped.batch_shape == expected.shape
        x = np.random.RandomState(1).normal(size=(5, *expected.shape)).astype(np.float32)
        log_prob, cdf, mean, entropy, batch, event = session.run([
            reshaped.log_prob(x), reshaped.cdf(x), reshaped.mean(), reshaped.entropy(), reshaped.batch_shape_tensor(),
            reshaped.event_shape_tensor()])
        np.testing.assert_allclose(log_prob, -0.5 * (x - expected) ** 2 - 0.5 * np.log(2 * np.pi), rtol=1e-4, atol=1e-5)
        assert cdf.shape == x.shape and entropy.shape == expected.shape
        np.testing.assert_allclose(mean, expected)
        assert list(batch) == list(expected.shape) and list(event) == []
        drawn = session.run([reshaped.sample(4, seed=7), plain.sample(4, seed=7)])
        assert drawn[0].shape == (4, *expected.shape)


def test_events_stay_what_they_are():
    with tf.Graph().as_default(), tf.Session() as session:
        plain = tf.contrib.distributions.MultivariateNormalDiag(np.arange(12, dtype=np.float32).reshape(4, 3))
        reshaped = BatchReshape(plain, [2, 2])
        mean, covariance = session.run([reshaped.mean(), reshaped.covariance()])
    np.testing.assert_allclose(mean, np.arange(12).reshape(2, 2, 3))
    assert covariance.shape == (2, 2, 3, 3)


def test_what_does_not_fit_is_refused_when_it_is_known():
    with tf.Graph().as_default():
        plain = _normals(True)
        for sizes, message in (([2, 2], r"`batch_shape` size \(4\) must match `distribution\.batch_shape` size \(6\)"),
                               ([-2, 3], "must be >=-1"), (6, "must be a vector")):
            with pytest.raises(ValueError, match=message):
                BatchReshape(plain, sizes, validate_args=True)
        reshaped = BatchReshape(plain, [2, 3])
        for value, message in ((np.zeros(3, np.float32), "too few batch and event dims"),
                               (np.zeros((3, 1), np.float32), "unexpected batch and event shape")):
            with pytest.raises(NotImplementedError, match=message):
                reshaped.log_prob(value)


def test_what_does_not_fit_is_refused_in_the_run():
    with tf.Graph().as_default(), tf.Session() as session:
        for sizes, message in (([2, 2], "Shape sizes do not match"), ([-2, -3], "must be >=-1"), (6, "must be a vector")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(BatchReshape(_normals(False), _shape(sizes, False), validate_args=True).sample())
        reshaped = BatchReshape(_normals(False), _shape([2, 3], False), validate_args=True)
        for value, message in ((np.zeros(3, np.float32), "too few batch and event dims"),
                               (np.zeros((3, 1), np.float32), "unexpected batch and event shape")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(reshaped.log_prob(value))
